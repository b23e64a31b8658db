"""Definite assignment as the compiler sees it: which names a function may read unbound.

The compiler binds names while it parses, before it knows any value (MindSpore 2.7 to 2.10): a name that one arm of an
`if` binds is unbound behind it, whatever the condition, unless the condition only asks for attributes of `self`; what
the body of a loop binds is unbound behind the loop, and in its next round.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .module import FunctionInfo
from .names import all_arguments
from .tree import children, preorder

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While)
# Statements that the compiler refuses anyway, or that hold others of their own: nothing is said about names in them.
_OPAQUE = (ast.Try, ast.Match, ast.With, ast.AsyncWith)


@dataclass(frozen=True)
class Unbound:
    """A read of a name that may be unbound. `inside` is the statement that binds it on some ways only: the `if` or
    loop before whose start the name needs a value."""

    name: ast.Name
    inside: ast.stmt


def maybe_unbound(function: FunctionInfo) -> list[Unbound]:
    """The first read of each name that an `if` or loop before it binds on some ways only, in source order."""
    candidates = _candidates(function)
    if not candidates:
        return []
    flow = _Flow(function, candidates)
    flow.block(function.node.body, set())
    return flow.found


def _candidates(function: FunctionInfo) -> set[str]:
    """Names bound inside an `if` or loop, and not before it by a statement of the function's own block."""
    body = function.node.body
    compound = [i for i, statement in enumerate(body) if isinstance(statement, _COMPOUND)]
    if not compound:
        return set()
    bound = {a.arg for a in all_arguments(function.node.args)}
    found: set[str] = set()
    # Behind the last of them no name becomes a candidate.
    for statement in body[: compound[-1] + 1]:
        names = {
            n.id for n in preorder(statement)
            if n.__class__ is ast.Name and n.ctx.__class__ is ast.Store
        }  # fmt: skip
        if isinstance(statement, _COMPOUND):
            found |= names - bound
        elif isinstance(statement, _OPAQUE):
            # The way through them is not followed.
            bound |= names
        elif not isinstance(statement, _SCOPES):
            bound |= names
    if found:
        for node in function.nodes:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                found -= set(node.names)
    return found


class _Flow:
    """Walks statements with the set of candidates that are bound for sure. `_partly` holds, for a name bound on some
    ways, the statement that did it."""

    def __init__(self, function: FunctionInfo, candidates: set[str]):
        self.receiver = function.receiver
        self.candidates = candidates
        self.found: list[Unbound] = []
        self._reported: set[str] = set()
        self._partly: dict[str, ast.stmt] = {}

    def block(self, body: list[ast.stmt], bound: set[str]) -> bool:
        """Follow a block; True when its end is reached."""
        return all(self.statement(statement, bound) for statement in body)

    def statement(self, node: ast.stmt, bound: set[str]) -> bool:
        if isinstance(node, ast.If):
            return self._if(node, bound)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self._loop(node, bound)
            return True
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._read(item.context_expr, bound)
                bound |= self._stored(item.optional_vars) if item.optional_vars is not None else set()
            return self.block(node.body, bound)
        if isinstance(node, _OPAQUE):
            bound |= self._stored(node)
            return True
        if isinstance(node, _SCOPES):
            bound.add(node.name)
            return True
        self._read(node, bound)
        bound |= self._stored(node)
        return not isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))

    def _if(self, node: ast.If, bound: set[str]) -> bool:
        self._read(node.test, bound)
        known = mentions_self_attribute(node.test, self.receiver)
        first, second = set(bound), set(bound)
        ends = self.block(node.body, first), self.block(node.orelse, second)
        open_ = [names for names, end in zip((first, second), ends, strict=True) if end]
        if not open_:
            return known
        after = set.union(*open_) if known else set.intersection(*open_)
        for name in set.union(*open_) - after:
            self._partly[name] = node
        bound |= after
        return True

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, bound: set[str]) -> None:
        inner = set(bound)
        for name in self._stored(node) - bound:
            self._partly[name] = node
        if isinstance(node, ast.While):
            self._read(node.test, inner)
        else:
            self._read(node.iter, bound)
            inner |= self._stored(node.target)
        self.block(node.body, inner)
        self.block(node.orelse, set(bound))

    def _read(self, node: ast.AST, bound: set[str]) -> None:
        stack: list[ast.AST] = [node]
        while stack:
            current = stack.pop()
            if isinstance(current, _SCOPES):
                continue
            if isinstance(current, _COMPREHENSIONS):
                own = {n.id for g in current.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
                if own & self.candidates:
                    # Its variables hide the function's, whatever they are.
                    continue
            if isinstance(current, ast.Name) and current.id in self.candidates and current.id not in bound:
                augmented = isinstance(node, ast.AugAssign) and current is node.target
                if isinstance(current.ctx, ast.Load) or augmented:
                    self._report(current)
            stack += children(current)

    def _report(self, name: ast.Name) -> None:
        inside = self._partly.get(name.id)
        if inside is not None and name.id not in self._reported:
            self._reported.add(name.id)
            self.found.append(Unbound(name, inside))

    def _stored(self, node: ast.AST) -> set[str]:
        return {
            n.id for n in preorder(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in self.candidates
        }  # fmt: skip


def mentions_self_attribute(test: ast.expr, receiver: str | None) -> bool:
    """Whether a condition, or a part of it joined by `and` or `or`, asks for nothing but an attribute of self and
    literals: the compiler then takes one arm while it parses, and never sees the other."""
    if isinstance(test, ast.BoolOp):
        return any(mentions_self_attribute(value, receiver) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return mentions_self_attribute(test.operand, receiver)
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        return any(_is_own(s, receiver) for s in sides) and all(
            _is_own(s, receiver) or isinstance(s, ast.Constant) for s in sides
        )
    return _is_own(test, receiver)


def _is_own(node: ast.expr, receiver: str | None) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver
