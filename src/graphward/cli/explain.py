"""`graphward explain`: a rule's page, an error's page, or what the errors of a log mean."""

from __future__ import annotations

import re
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ..diagnosis.explain import diagnose
from ..diagnosis.lines import decode
from ..diagnosis.pages import error_page
from ..diagnosis.project import Treatments, treat
from ..diagnosis.texts import Texts, language_of_the_locale, texts
from ..errors import GraphwardError
from ..knowledge.errors import entry
from ..report.diagnoses import render_diagnoses, render_json, render_treatment
from ..report.diff import render_diff
from ..rules.registry import rule
from .console import err, out, print_diff, print_machine
from .options import Format, settings

# A name of a rule or an error is one word; whatever holds a space is a message.
_WORD = re.compile(r"\S*")


class Language(str, Enum):
    """In which language errors are explained."""

    en = "en"
    zh = "zh"


def explain(
    subject: Annotated[
        str | None,
        typer.Argument(metavar="[CODE|FILE|-|MESSAGE]", show_default=False,
                       help="A rule (GW101, or its name), an error (ME301, or its name), a file with a log, - for "
                       "standard input, or a message in quotes."),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option("--project", metavar="PATH", show_default=False,
                     help="Also look the error's place up in this file or folder, and show the fix as a diff."),
    ] = None,
    lang: Annotated[
        Language | None, typer.Option("--lang", help="The language \\[default: that of the locale].",
                                      show_default=False),
    ] = None,
    output_format: Annotated[
        Format, typer.Option("--output-format", help="How diagnoses are printed.")
    ] = Format.text,
) -> None:  # fmt: skip
    """Show a rule's page, or say what an error of MindSpore means: its cause, your own line, the cure, the rules that
    mend it and the command to run. Runs nothing of the code.

    Takes a message, a traceback or a whole training log: colours, time stamps and the marks of many processes do not
    matter. Exit status: 0 every error is known, 1 one is not or there is none, 2 usage or internal error.

    Examples:

      graphward explain GW301                        a rule's page

      python train.py 2>&1 | graphward explain -     what went wrong

      graphward explain train.log --project src      and the fix as a diff
    """
    words = texts(lang.value if lang else language_of_the_locale())
    text = _log(subject, words)
    if text is None:
        assert subject is not None
        _show_page(_page(subject, words))
        return
    diagnoses = diagnose(text, language=words.language, message=text == subject)
    treatments, diff = None, ""
    if project is not None and any(d.known for d in diagnoses):
        treatments = treat(diagnoses, project, settings([project]))
        diff = render_diff(treatments.changes)
    if output_format is Format.json:
        print_machine(render_json(diagnoses, treatments, diff))
    elif diagnoses:
        out.print(render_diagnoses(diagnoses, words))
        if treatments is not None and project is not None:
            _show_treatments(treatments, words, project, diff)
    else:
        out.print(words.say("nothing-found", lines=text.count("\n") + bool(text and not text.endswith("\n"))))
        err.print(words.say("nothing-found-hint"))
    raise typer.Exit(0 if diagnoses and all(d.known for d in diagnoses) else 1)


def _log(subject: str | None, words: Texts) -> str | None:
    """The text with errors that is asked about, None when it is a page. Raises GraphwardError when there is none."""
    if subject is None and sys.stdin.isatty():
        raise GraphwardError("nothing to explain", hint="give a code, a file, a message in quotes, or - to paste one")
    if subject is None or subject == "-":
        if sys.stdin.isatty():
            err.print(words.say("paste"))
        return decode(sys.stdin.buffer.read())
    path = Path(subject)
    if subject and not _is_a_page(subject) and path.is_file():
        try:
            return decode(path.read_bytes())
        except OSError as error:
            message = f"cannot be read: {error.strerror}"
            raise GraphwardError(message, path=path, hint="change its permissions") from None
    if not _WORD.fullmatch(subject):
        return subject
    if path.suffix or "/" in subject:
        hint = "a message goes in quotes; - reads standard input"
        raise GraphwardError("there is no such file", path=path, hint=hint)
    return None


def _is_a_page(subject: str) -> bool:
    return bool(re.fullmatch(r"(?i:GW|ME)\d{3}", subject))


def _page(subject: str, words: Texts) -> str:
    found = entry(subject) if subject else None
    if found is not None:
        return error_page(found, words)
    if _is_a_page(subject) and subject.upper().startswith("ME"):
        raise GraphwardError(f"there is no error {subject!r}", hint="docs/errors/index.md lists them all")
    wanted = rule(subject)
    page, summary = wanted.page(), wanted.summary()
    translated = words.of_rule(wanted.code, summary)
    if translated != summary:
        page = f"{words.say('sentence', text=translated)}\n\n{page}"
    return f"# {wanted.code} {wanted.name}\n\n{page}\n"


def _show_page(page: str) -> None:
    if out.is_terminal:
        from rich.markdown import Markdown

        out.print(Markdown(page), soft_wrap=False)
    else:
        print_machine(page)


def _show_treatments(treatments: Treatments, words: Texts, project: Path, diff: str) -> None:
    for treatment in treatments.of:
        out.print()
        out.print(render_treatment(treatment, words, str(project)))
    if diff:
        out.print()
        out.print(words.say("project-diff"))
        print_diff(diff)
