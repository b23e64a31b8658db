"""Write the pages of rules and errors under docs/: `python scripts/generate_docs.py`.

A rule's page is its docstring, with the rewrites of its fixtures as diffs; an error's page is its entry in the
registry, with the script of `fixtures/errors` that raises it. `--check` writes nothing, names the pages that are
missing, stale or left over, and exits with status 1 when there are any.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from graphward.diagnosis.pages import error_page
from graphward.diagnosis.texts import texts
from graphward.knowledge.errors import FAMILIES as ERROR_FAMILIES
from graphward.knowledge.errors import ErrorEntry, registry
from graphward.rules.registry import all_rules
from graphward.rules.rule import FAMILIES, Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
# Enough to see what a rule does; the others are in the repository.
_DIFFS, _NOOPS = 5, 3
_CODE = re.compile(r"\b(GW[1-9]\d\d)\b")
_ERROR = re.compile(r"\b(ME[1-9]\d\d)\b")
_VERDICTS = {
    "fails": "does not compile", "falls-back": "runs in the Python interpreter", "diverges": "computes something else",
    "recompiles": "compiles again at each call", "slow": "is slower than it need be", "deprecated": "is deprecated",
    "clean": "is left alone",
}  # fmt: skip
_NOTE = "<!-- Written by scripts/generate_docs.py; edit its sources. -->\n\n"


def pages() -> dict[str, str]:
    """The text of every page, by its path under docs/."""
    rules = sorted(all_rules(), key=lambda rule: rule.code)
    entries = sorted(registry(), key=lambda entry: entry.id)
    found = {f"rules/{rule.code}.md": rule_page(rule, entries) for rule in rules}
    found |= {f"errors/{entry.id}.md": page_of_error(entry) for entry in entries}
    found["rules/index.md"] = index_of_rules(rules)
    found["errors/index.md"] = index_of_errors(entries)
    found["errors/by-text.md"] = index_by_text(entries)
    found["zh/errors.md"] = chinese_errors(entries)
    return {path: _NOTE + text for path, text in found.items()}


def rule_page(rule: Rule, entries: Iterable[ErrorEntry]) -> str:
    """A rule's docstring, what MindSpore says of such code, and the rule's fixtures."""
    facts = f"Family: {rule.family()}. Consequence: {rule.consequence.value}. MindSpore {rule.targets}."
    parts = [f"# {rule.code} {rule.name}", facts, rule.page()]
    mended = [entry for entry in entries if rule.code in entry.rules]
    if mended:
        lines = (f"- [{e.id}](../errors/{e.id}.md) {texts().of_its_message(e, 'title')}" for e in mended)
        parts.append("## Errors\n\nMindSpore's errors that this rule mends:\n\n" + "\n".join(lines))
    cases = list(_cases(rule.code))
    rewrites = [text for text, rewritten in cases if rewritten]
    if rewrites:
        rest = len(rewrites) - _DIFFS
        more = f"\n\nThere are {rest} more in `fixtures/{rule.code}`." if rest > 0 else ""
        shown = "\n\n".join(rewrites[:_DIFFS])
        parts.append(f"## Rewrites\n\nFixtures of this rule, proven by the compiler.\n\n{shown}{more}")
    left = [text for text, rewritten in cases if not rewritten]
    if left:
        parts.append("## Left as it is\n\n" + "\n\n".join(left[:_NOOPS]))
    return "\n\n".join(parts) + "\n"


def page_of_error(entry: ErrorEntry) -> str:
    """An error's entry with links, and a script that raises it."""
    page = _CODE.sub(r"[\1](../rules/\1.md)", error_page(entry, texts()).replace("`GW", "`\0GW")).replace("\0", "")
    head, newline, rest = page.partition("\n")
    parts = [head + newline + _ERROR.sub(r"[\1](\1.md)", rest).rstrip("\n")]
    scripts = sorted((FIXTURES / "errors" / entry.id).glob("*.py"))
    if scripts:
        codes = (_fenced(script.read_text(encoding="utf-8")) for script in scripts)
        text = "Raised by MindSpore 2.10 on the CPU; `# here` marks the line that is named."
        parts.append(f"## Example\n\n{text}\n\n" + "\n\n".join(codes))
    elif "never" not in entry.raised:
        text = "None: known from documentation and reports, not raised by MindSpore 2.10 on the CPU."
        parts.append(f"## Example\n\n{text}")
    return "\n\n".join(parts) + "\n"


def index_of_rules(rules: Iterable[Rule]) -> str:
    """All rules by family."""
    lines = ["# Rules", ""]
    family = ""
    for rule in rules:
        if rule.code[:3] != family:
            family = rule.code[:3]
            lines += ["", f"## {family}xx: {FAMILIES[family]}", "", "| rule | consequence | finds |", "|---|---|---|"]
        summary = rule.summary().replace("|", "\\|")
        lines.append(f"| [{rule.code}]({rule.code}.md) {rule.name} | {rule.consequence.value} | {summary} |")
    return "\n".join(lines) + "\n"


def index_of_errors(entries: Iterable[ErrorEntry]) -> str:
    """All errors by family."""
    lines = ["# Errors", "", "What MindSpore's errors mean. `graphward explain -` names the entry of any message, "
             "traceback or log; [by text](by-text.md) is the same list by what MindSpore says."]  # fmt: skip
    family = ""
    for entry in entries:
        if entry.id[:3] != family:
            family = entry.id[:3]
            lines += ["", f"## {family}xx: {ERROR_FAMILIES[family]}", "", "| error | means | rules |", "|---|---|---|"]
        title = texts().of_its_message(entry, "title").replace("|", "\\|")
        lines.append(f"| [{entry.id}]({entry.id}.md) | {title} | {_rules(entry)} |")
    return "\n".join(lines) + "\n"


def index_by_text(entries: Iterable[ErrorEntry]) -> str:
    """All errors by what MindSpore says."""
    lines = ["# Errors by text", "", "| MindSpore says | error |", "|---|---|"]
    for entry in sorted(entries, key=lambda e: re.sub(r"^\W+", "", e.message).lower()):
        message = entry.message.replace("|", "\\|")
        lines.append(f"| `` {message} `` | [{entry.id}]({entry.id}.md) {entry.name} |")
    return "\n".join(lines) + "\n"


def chinese_errors(entries: Iterable[ErrorEntry]) -> str:
    """All errors in Chinese, on one page."""
    words = texts("zh")
    lines = ["# MindSpore 报错一览", "", "`graphward explain - --lang zh` 可以识别任何报错、调用栈或训练日志。"]
    for entry in entries:
        lines += ["", f"## {entry.id} {words.of_its_message(entry, 'title')}", "", f"    {entry.message}", ""]
        lines += [f"- {words.say(key)}:{words.of_its_message(entry, key)}" for key in ("construct", "cause", "cure")]
        if _rules(entry):
            lines.append(f"- {words.say('rules')}:{_rules(entry)}")
        lines.append(f"- [{entry.id}](../errors/{entry.id}.md)")
    return "\n".join(lines) + "\n"


def _rules(entry: ErrorEntry) -> str:
    """The rules of an entry that exist, with links to their pages."""
    known = {rule.code for rule in all_rules()}
    linked = (f"[{code}](../rules/{code}.md)" if code in known else f"{code}xx" for code in entry.rules)
    return ", ".join(text for text, code in zip(linked, entry.rules) if any(k.startswith(code) for k in known))


def _cases(code: str) -> Iterator[tuple[str, bool]]:
    """`(Markdown, whether it is rewritten)` of each fixture of a rule."""
    for path in sorted((FIXTURES / code).glob("*/case.toml")):
        text = path.read_text(encoding="utf-8")
        verdict = _VERDICTS[tomllib.loads(text)["before"]]
        remarks = [line[1:].strip() for line in text.splitlines() if line.startswith("#")]
        name = path.parent.name.removeprefix("noop_").replace("_", " ")
        remark = f" {' '.join(remarks)}" if remarks else ""
        before = (path.parent / "before.py").read_text(encoding="utf-8")
        after = path.parent / "after.py"
        title = f"**{name}**: the original {verdict}.{remark}"
        if after.exists():
            yield f"{title}\n\n{_fenced(_diff(before, after.read_text(encoding='utf-8')), 'diff')}", True
        else:
            yield f"{title}\n\n{_fenced(before)}", False


def _diff(before: str, after: str) -> str:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=4))
    return "\n".join(lines[2:])  # without the names of the files


def _fenced(code: str, language: str = "python") -> str:
    return f"```{language}\n{code.rstrip()}\n```"


def problems(folder: Path, wanted: dict[str, str]) -> list[str]:
    """What is wrong with the pages in a folder."""
    said = []
    for path, text in wanted.items():
        file = folder / path
        if not file.exists():
            said.append(f"{path} is missing")
        elif file.read_text(encoding="utf-8") != text:
            said.append(f"{path} is stale")
    return said + [f"{path} is left over" for path in _present(folder) if path not in wanted]


def write(folder: Path, wanted: dict[str, str]) -> int:
    """Write what differs and remove what is left over; how many files that were."""
    changed = 0
    for path, text in wanted.items():
        file = folder / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
            changed += 1
    for path in _present(folder):
        if path not in wanted:
            (folder / path).unlink()
            changed += 1
    return changed


def _present(folder: Path) -> list[str]:
    """The pages in the folders that hold nothing but generated ones."""
    files = sorted(path for part in ("rules", "errors") for path in (folder / part).glob("*.md"))
    return [path.relative_to(folder).as_posix() for path in files]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is not up to date")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs", help="where the pages are")
    options = parser.parse_args()
    wanted = pages()
    if options.check:
        wrong = problems(options.folder, wanted)
        for line in wrong:
            sys.stdout.write(f"{line}\n")
        if wrong:
            sys.stderr.write("run `python scripts/generate_docs.py`\n")
        return 1 if wrong else 0
    sys.stdout.write(f"{write(options.folder, wanted)} of {len(wanted)} pages written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
