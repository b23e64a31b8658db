"""The registry of errors: stable ids, patterns that match their own messages, texts in both languages."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from graphward.diagnosis.explain import known_rules
from graphward.diagnosis.pages import error_page
from graphward.diagnosis.texts import LANGUAGES, texts
from graphward.knowledge.errors import ELSEWHERE, FAMILIES, STAGES, entry, entry_for, registry
from graphward.rules.registry import all_rules
from graphward.rules.selection import covers

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
ENTRIES = sorted(registry(), key=lambda e: e.id)
TEXTS = ROOT / "src" / "graphward" / "diagnosis" / "texts"


def test_ids_and_names_are_unique_and_in_their_families():
    assert len({e.id for e in ENTRIES}) == len({e.name for e in ENTRIES}) == len(ENTRIES) > 100
    assert all(re.fullmatch(r"ME[1-9]\d\d", e.id) and e.id[:3] in FAMILIES for e in ENTRIES)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]+", e.name) for e in ENTRIES)
    assert all(entry(e.id) is e and entry(e.name) is e and entry(e.id.lower()) is e for e in ENTRIES)
    assert entry("ME000") is None and entry_for("all is well") is None


@pytest.mark.parametrize("e", ENTRIES, ids=[e.id for e in ENTRIES])
def test_an_entry_is_whole(e):
    assert entry_for(e.message) is e, "another entry takes its message"
    assert e.raised and set(e.raised) <= set(STAGES)
    assert e.title and e.cause and e.cure and e.construct
    assert e.title[-1] not in ".:" and e.cause.endswith(".") and e.cure.endswith((".", "`"))
    assert all(entry(near) is not None for near in e.nearest) and bool(e.nearest) == ("never" in e.raised)
    assert not (e.command and e.rules)
    assert "never" in e.raised or e.versions
    if e.versions:
        assert isinstance(covers(e.versions, "2.10"), bool)


@pytest.mark.parametrize("e", ENTRIES, ids=[e.id for e in ENTRIES])
def test_the_rules_of_an_entry_exist(e):
    assert known_rules(e.repairs) == e.repairs
    assert {rule for rule, _ in e.hints} <= set(e.rules) and e.rules_for("") == e.rules


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("e", ENTRIES, ids=[e.id for e in ENTRIES])
def test_braces_are_filled_with_what_the_pattern_finds(e, language):
    """Each brace of a text is a group of the pattern, in every language."""
    words = texts(language)
    groups = set(e.pattern.groupindex)
    for field in ("title", "construct", "cause", "cure"):
        assert set(re.findall(r"\{([a-z_]+)\}", words.of(e, field))) <= groups
        assert not re.search(r"\{[a-z_]+\}", words.of_its_message(e, field))


def test_every_language_says_everything():
    loaded = {name: tomllib.loads((TEXTS / f"{name}.toml").read_text(encoding="utf-8")) for name in LANGUAGES}
    for name, data in loaded.items():
        assert set(data["messages"]) == set(loaded["en"]["messages"]), name
        for key, text in data["messages"].items():
            wanted = set(re.findall(r"\{\w+\}", loaded["en"]["messages"][key]))
            assert set(re.findall(r"\{\w+\}", text)) == wanted, (name, key)
    assert {path.stem for path in TEXTS.glob("*.toml")} == set(LANGUAGES)


def test_chinese_has_every_entry():
    entries = tomllib.loads((TEXTS / "zh.toml").read_text(encoding="utf-8"))["entries"]
    assert set(entries) == {e.id for e in ENTRIES}
    for id, fields in entries.items():
        assert {"title", "cause", "cure"} <= set(fields) <= {"title", "construct", "cause", "cure"}
        for field in ("title", "cause", "cure"):
            assert re.search(r"[\u4e00-\u9fff]", fields[field]), (id, field)


def test_chinese_has_every_rule_that_an_entry_names():
    words = texts("zh")
    named = {rule.code: rule.summary() for rule in all_rules() if any(rule.code in e.rules for e in ENTRIES)}
    assert [code for code, summary in named.items() if words.of_rule(code, summary) == summary] == []
    translated = tomllib.loads((TEXTS / "zh.toml").read_text(encoding="utf-8"))["rules"]
    assert set(translated) <= {rule.code for rule in all_rules()}


def test_the_sources_of_the_translations_are_used():
    """A key that nobody asks for is a sentence that nobody sees."""
    code = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "src" / "graphward").rglob("*.py"))
    keys = tomllib.loads((TEXTS / "en.toml").read_text(encoding="utf-8"))["messages"]
    computed = ("raised-", "unknown-", "elsewhere-")
    unused = [k for k in keys if f'"{k}"' not in code and not k.startswith(computed) and f"'{k}'" not in code]
    assert unused == []


@pytest.mark.parametrize("e", ENTRIES, ids=[e.id for e in ENTRIES])
def test_an_error_has_a_script_that_raises_it_or_a_reason_why_not(e):
    """And the reason stands on its page, in every language."""
    scripts = list((ROOT / "fixtures" / "errors" / e.id).glob("*.py"))
    assert bool(scripts) + bool(e.elsewhere) + ("never" in e.raised) == 1
    if e.elsewhere:
        assert e.elsewhere in ELSEWHERE
        for language in LANGUAGES:
            assert texts(language).say(f"elsewhere-{e.elsewhere}") in error_page(e, texts(language))
