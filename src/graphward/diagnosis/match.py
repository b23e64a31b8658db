"""Which entry of the registry an error is, and which come near when it is none."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from ..knowledge.errors import ErrorEntry, registry
from .reports import Report
from .texts import texts

Match = tuple[ErrorEntry, re.Match[str]]
"""An entry, and where its pattern was found."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z_]+|[\u4e00-\u9fff]+")
_COMMON = frozenset(
    ["the", "is", "are", "not", "in", "of", "to", "and", "or", "for", "but", "got", "with", "it", "be", "by", "at",
     "as", "on", "this", "that", "should", "please"]
)  # fmt: skip
# Below this two texts share no more than the words of every error.
_NEAR = 0.16


def entry_of(report: Report) -> Match | None:
    """The entry whose pattern the message holds; the sections below the message decide only where it has none."""
    for text in (f"{report.exception}: {report.message}" if report.exception else report.message, report.text):
        for entry in registry():
            match = entry.pattern.search(text)
            if match:
                return entry, match
    return None


def entries_in(text: str) -> Iterator[Match]:
    """The first line of a text that each entry's pattern matches, general entries left out. A line belongs to the
    first entry that matches it."""
    taken: set[int] = set()
    for entry in registry():
        for match in () if entry.general else entry.pattern.finditer(text):
            line = text.rfind("\n", 0, match.start())
            if line not in taken:
                taken.add(line)
                yield entry, match
                break


def nearest(text: str, limit: int = 3) -> list[ErrorEntry]:
    """The entries whose messages and texts share most with a message, the closest first; none if all are far."""
    asked = Counter(_words(text))
    weights, documents = _index()
    own = math.sqrt(sum(weights.get(word, 1.0) ** 2 for word in asked))
    scored = []
    for entry, words, norm in documents:
        shared = sum(weights[word] ** 2 for word in asked if word in words)
        score = shared / (own * norm) if own else 0.0
        if score >= _NEAR:
            scored.append((score, entry))
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [entry for _, entry in scored[:limit]]


@lru_cache(maxsize=1)
def _index() -> tuple[dict[str, float], list[tuple[ErrorEntry, frozenset[str], float]]]:
    """The weight of each word (rare ones count more), and the words of each entry with their norm."""
    chinese = texts("zh")
    words = {
        entry: frozenset(_words(f"{entry.title} {entry.message} {entry.name} {chinese.of(entry, 'title')}"))
        for entry in registry()
    }
    seen = Counter(word for found in words.values() for word in found)
    weights = {word: math.log(1 + len(words) / count) for word, count in seen.items()}
    return weights, [(e, w, math.sqrt(sum(weights[x] ** 2 for x in w)) or 1.0) for e, w in words.items()]


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word[0] >= "\u4e00":  # Chinese has no spaces: pairs of characters do as words
            yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            yield from (part for part in word.lower().split("_") if part not in _COMMON)
