"""Every error of `fixtures/errors` is raised by the real compiler, and explained by the entry of its folder.

`# here` marks the line that the diagnosis has to name as the user's own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.diagnosis.explain import diagnose
from graphward.knowledge.errors import entry, entry_for

from .conftest import SCRIPTS

# What MindSpore says without an exception.
WARNINGS = {"ME817", "ME819"}


@pytest.mark.parametrize("script", SCRIPTS, ids=[f"{s.parent.name}/{s.stem}" for s in SCRIPTS])
def test_an_error_is_named_by_its_entry(script: Path, raised: dict[Path, str]):
    text = raised[script]
    assert text, "nothing was raised"
    found = diagnose(text)
    assert [d.entry for d in found] == [script.parent.name], text
    (diagnosis,) = found
    marked = [n for n, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1) if "# here" in line]
    if marked:
        assert (diagnosis.file, diagnosis.line) == (str(script), marked[0])
        assert diagnosis.place is not None
        if diagnosis.place.code:  # IPython and old versions show none
            assert "# here" in diagnosis.place.code
    assert diagnosis.message
    assert diagnosis.exception or diagnosis.entry in WARNINGS
    wanted = entry(script.parent.name)
    assert wanted is not None and "never" not in wanted.raised


@pytest.mark.parametrize("script", SCRIPTS, ids=[f"{s.parent.name}/{s.stem}" for s in SCRIPTS])
def test_the_bare_message_is_enough(script: Path, raised: dict[Path, str]):
    """What somebody pastes is often the one line, in a sentence of his own."""
    (diagnosis,) = diagnose(raised[script])
    for pasted in (
        diagnosis.message,
        f"{diagnosis.exception}: {diagnosis.message}",
        f"My network stops with {diagnosis.exception}: {diagnosis.message}\nWhat can I do?",
    ):
        assert [d.entry for d in diagnose(pasted)] == [script.parent.name], pasted


def test_the_repair_loop_sees_the_same_entries(raised: dict[Path, str]):
    """`migrate` asks the registry with the exception's text alone."""
    wrong = {}
    for script, text in raised.items():
        (diagnosis,) = diagnose(text)
        found = entry_for(diagnosis.message)
        if found is None or found.id != script.parent.name:
            wrong[script.parent.name] = found and found.id
    assert wrong == {}


def test_logs_of_all_of_them_at_once(raised: dict[Path, str]):
    """A log with all errors names all entries, and the lines on which they begin."""
    log, begins = "", {}
    for script, text in raised.items():
        begins[script.parent.name, str(script)] = log.count("\n") + 1
        log += text.rstrip("\n") + "\n"
        log += "".join(f"epoch: 1 step: {i}, loss is {2.0 / (i + 1)}\n" for i in range(20))
    found = diagnose(log)
    assert {d.entry for d in found} == {script.parent.name for script in raised}
    for diagnosis in found:
        if (diagnosis.entry, diagnosis.file) in begins:
            assert diagnosis.log_line >= begins[diagnosis.entry, diagnosis.file]
