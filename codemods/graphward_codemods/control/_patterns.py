"""Patterns of a `match` as conditions: what has to hold, and which names are bound then."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from .._blocks import CannotRewrite

_PLAIN_CLASSES = frozenset({"int", "float", "str", "bool", "bytes", "list", "tuple", "dict"})


@dataclass
class Condition:
    """`tests` have to hold together; `bindings` are (name, expression) in order. Nothing to test: it always matches."""

    tests: list[str] = field(default_factory=list)
    bindings: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: Condition) -> None:
        self.tests += other.tests
        self.bindings += other.bindings


def condition(
    pattern: ast.pattern, subject: str, text: Callable[[ast.AST], str], *, is_sequence: bool = False
) -> Condition:
    """What `pattern` asks of the expression `subject`; `is_sequence` where it is known to be a tuple or list. Raises
    CannotRewrite for patterns that need more than one evaluation of something else."""
    if isinstance(pattern, ast.MatchValue):
        return Condition([f"{subject} == {text(pattern.value)}"])
    if isinstance(pattern, ast.MatchSingleton):
        return Condition([f"{subject} is {pattern.value}"])
    if isinstance(pattern, ast.MatchAs):
        found = Condition() if pattern.pattern is None else condition(pattern.pattern, subject, text)
        if pattern.name is not None:
            found.bindings.append((pattern.name, subject))
        return found
    if isinstance(pattern, ast.MatchOr):
        return _alternatives(pattern, subject, text)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(pattern, subject, text, is_sequence)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(pattern, subject, text)
    if isinstance(pattern, ast.MatchClass):
        return _class(pattern, subject, text)
    raise CannotRewrite("a pattern is not simple")


def _alternatives(pattern: ast.MatchOr, subject: str, text: Callable[[ast.AST], str]) -> Condition:
    if all(isinstance(p, ast.MatchValue) for p in pattern.patterns):
        values = ", ".join(text(p.value) for p in pattern.patterns if isinstance(p, ast.MatchValue))
        return Condition([f"{subject} in ({values})"])
    parts = [condition(p, subject, text) for p in pattern.patterns]
    if any(p.bindings for p in parts):
        raise CannotRewrite("alternatives bind names")
    if not all(p.tests for p in parts):
        return Condition()
    joined = " or ".join(" and ".join(p.tests) for p in parts)
    return Condition([f"({joined})"])


def _sequence(
    pattern: ast.MatchSequence, subject: str, text: Callable[[ast.AST], str], is_sequence: bool
) -> Condition:
    found = Condition([] if is_sequence else [f"isinstance({subject}, (tuple, list))"])
    stars = [i for i, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)]
    count = len(pattern.patterns) - len(stars)
    found.tests.append(f"len({subject}) {'>=' if stars else '=='} {count}")
    for i, part in enumerate(pattern.patterns):
        if isinstance(part, ast.MatchStar):
            behind = len(pattern.patterns) - 1 - i
            if part.name is not None:
                end = f"-{behind}" if behind else ""
                found.bindings.append((part.name, f"list({subject}[{i}:{end}])"))
            continue
        index = i if not stars or i < stars[0] else i - len(pattern.patterns)
        found.add(condition(part, f"{subject}[{index}]", text))
    return found


def _mapping(pattern: ast.MatchMapping, subject: str, text: Callable[[ast.AST], str]) -> Condition:
    if pattern.rest is not None:
        raise CannotRewrite("the rest of a mapping is bound")
    found = Condition([f"isinstance({subject}, dict)"])
    for key, value in zip(pattern.keys, pattern.patterns, strict=True):
        found.tests.append(f"{text(key)} in {subject}")
        found.add(condition(value, f"{subject}[{text(key)}]", text))
    return found


def _class(pattern: ast.MatchClass, subject: str, text: Callable[[ast.AST], str]) -> Condition:
    name = text(pattern.cls)
    found = Condition([f"isinstance({subject}, {name})"])
    if pattern.patterns:
        if name not in _PLAIN_CLASSES or len(pattern.patterns) > 1:
            raise CannotRewrite(f"what {name} gives by position is not seen")
        found.add(condition(pattern.patterns[0], subject, text))
    for attribute, value in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        found.add(condition(value, f"{subject}.{attribute}", text))
    return found
