"""The page of an error: what `graphward explain ME101` shows and the site holds."""

from __future__ import annotations

from ..knowledge.errors import ErrorEntry, entry
from .explain import described, known_rules
from .texts import Texts


def error_page(found: ErrorEntry, words: Texts) -> str:
    """A page in Markdown. Its headings are words of that language."""
    raised = ", ".join(words.say(f"raised-{stage}") for stage in found.raised)
    parts = [
        f"# {found.id} {found.name}",
        words.say("sentence", text=words.of_its_message(found, "title")),
        f"    {found.message}",
        words.say("sentence", text=f"{words.say('raised')}: {raised}"),
    ]
    if found.versions:
        parts[-1] += f" MindSpore {found.versions}"
    if found.elsewhere:
        parts.append(words.say("sentence", text=words.say(f"elsewhere-{found.elsewhere}")))
    for key in ("construct", "cause", "cure"):
        text = words.of_its_message(found, key)
        if text:
            parts.append(f"## {words.say(key)}\n\n{text}")
    rules = known_rules(found.rules)
    if rules:
        lines = (f"- {code or ''} {text}".replace("-  ", "- ") for code, text in described(rules, words))
        parts.append(f"## {words.say('rules')}\n\n" + "\n".join(lines))
    if found.command:
        parts.append(f"## {words.say('run')}\n\n    {found.command}")
    near = [e for e in map(entry, found.nearest) if e is not None]
    if near:
        lines = (f"- {e.id} {words.of_its_message(e, 'title')}" for e in near)
        parts.append(f"## {words.say('meant')}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"
