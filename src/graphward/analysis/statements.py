"""Statements, run abstractly and in order over an environment of kinds."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from .arithmetic import binary
from .evaluation import Evaluator
from .kinds import NONE, UNKNOWN, Kind, Tag, join
from .names import dotted
from .narrowing import Environment
from .parts import part

if TYPE_CHECKING:
    from .inference import FunctionKinds, Inference
    from .module import FunctionInfo

# A body is run at most so often, however many loops are around it: what has not settled by then rarely matters.
_MAX_ROUNDS = 3


class Interpreter:
    """One pass over one function, in as many steps as it is asked for."""

    def __init__(self, inference: Inference, function: FunctionInfo, result: FunctionKinds, environment: Environment):
        self.inference = inference
        self.function = function
        self.result = result
        self.evaluator = Evaluator(inference, function, result.kinds)
        self._evaluate = self.evaluator.evaluate
        self._rounds: dict[ast.stmt, int] = {}
        self._heads: dict[ast.stmt, Environment] = {}
        self._exits: dict[ast.stmt, Environment] = {}
        self._leaving: list[Environment] = []
        self._environment = environment
        self._next = 0

    def run(self, last: int | None) -> None:
        """Run the statements of the body that begin up to the line `last`, from where an earlier call stopped; all that
        are left when that is None."""
        body, env = self.function.node.body, self._environment
        while self._next < len(body):
            node = body[self._next]
            if last is not None and node.lineno > last:
                return
            self._next += 1
            if self.statement(node, env):
                self.result.begun = None
                return
        self.result.begun = None
        self.result.returned[self.function.node] = NONE

    def block(self, body: list[ast.stmt], env: Environment) -> bool:
        """Whether no path leaves the block at its end."""
        return any(self.statement(node, env) for node in body)

    def statement(self, node: ast.stmt, env: Environment) -> bool:
        handler = _STATEMENTS.get(node.__class__)
        if handler is not None:
            return bool(handler(self, node, env))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._evaluate(child, env)
        return False

    def _expression(self, node: ast.Expr, env: Environment) -> None:
        self._evaluate(node.value, env)

    def _assign(self, node: ast.Assign, env: Environment) -> None:
        kind = self._evaluate(node.value, env)
        for target in node.targets:
            self.evaluator.bind(target, kind, env)
            if target.__class__ is ast.Tuple:
                self._learn_rank(target, node.value, env)

    def _learn_rank(self, target: ast.Tuple, value: ast.expr, env: Environment) -> None:
        """`b, n, d = x.shape` tells how many dimensions x has."""
        if isinstance(value, ast.Attribute) and value.attr == "shape" and isinstance(value.value, ast.Name):
            kind = env.get(value.value.id)
            if kind is not None and kind.is_tensor and kind.rank is None:
                if not any(isinstance(t, ast.Starred) for t in target.elts):
                    env[value.value.id] = kind._replace(rank=len(target.elts))

    def _annotated(self, node: ast.AnnAssign, env: Environment) -> None:
        if node.value is not None:
            self.evaluator.bind(node.target, self._evaluate(node.value, env), env)

    def _augmented(self, node: ast.AugAssign, env: Environment) -> None:
        load = self._evaluate(node.target, env)
        kind = binary(load, self._evaluate(node.value, env), node.op)
        self.evaluator.bind(node.target, kind, env)

    def _return(self, node: ast.Return, env: Environment) -> bool:
        self.result.returned[node] = self._evaluate(node.value, env) if node.value else NONE
        return True

    def _raise(self, node: ast.Raise, env: Environment) -> bool:
        for part_ in (node.exc, node.cause):
            if part_ is not None:
                self._evaluate(part_, env)
        return True

    def _leave_loop(self, node: ast.Break | ast.Continue, env: Environment) -> bool:
        self._leaving.append(dict(env))
        return True

    def _assert(self, node: ast.Assert, env: Environment) -> None:
        _, holds, _ = self.evaluator.condition(node.test, env)
        if node.msg is not None:
            self._evaluate(node.msg, env)
        if holds is not env:
            env.update(holds)

    def _if(self, node: ast.If, env: Environment) -> bool:
        decided, holds, fails = self.evaluator.condition(node.test, env)
        if decided is not None:
            taken, inner = (node.body, holds) if decided else (node.orelse, fails)
            if inner is not env:
                env.update(inner)
            self.result.decided[node] = decided
            return self.block(taken, env)
        one, other = dict(holds), dict(fails)
        ends, otherwise = self.block(node.body, one), self.block(node.orelse, other)
        if ends and otherwise:
            return True
        if ends or otherwise:
            _replace(env, other if ends else one)
            return False
        self._merge(env, one, other, self.result.kinds.get(node.test, UNKNOWN))
        return False

    def _merge(self, env: Environment, one: Environment, other: Environment, test: Kind) -> None:
        for name in one.keys() | other.keys():
            first, second = one.get(name), other.get(name)
            if first is None or second is None:
                # Bound on one way only. An attribute keeps its value from `__init__` on the other.
                if "." in name:
                    env.pop(name, None)
                else:
                    env[name] = first or second  # type: ignore[assignment]
            elif first is second:
                env[name] = first
            else:
                env[name] = self.evaluator.chosen(first, second, test)

    def _match(self, node: ast.Match, env: Environment) -> bool:
        kind = self._evaluate(node.subject, env)
        outcomes = [dict(env)]
        for case in node.cases:
            inner = dict(env)
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    inner[name] = part(kind) if kind.tag is Tag.SEQUENCE else kind
            if case.guard is not None:
                self._evaluate(case.guard, inner)
            if not self.block(case.body, inner):
                outcomes.append(inner)
        for outcome in outcomes:
            self._merge(env, dict(env), outcome, kind)
        return False

    def _with(self, node: ast.With | ast.AsyncWith, env: Environment) -> bool:
        for one in node.items:
            kind = self._evaluate(one.context_expr, env)
            if one.optional_vars is not None:
                self.evaluator.bind(one.optional_vars, kind, env)
        return self.block(node.body, env)

    def _try(self, node: ast.Try, env: Environment) -> bool:
        before = dict(env)
        ends = self.block(node.body, env) or self.block(node.orelse, env)
        outcomes = [] if ends else [dict(env)]
        for handler in node.handlers:
            inner = dict(before)
            if handler.name:
                inner[handler.name] = Kind(Tag.OBJECT, evidence="an exception")
            if not self.block(handler.body, inner):
                outcomes.append(inner)
        if outcomes:
            _replace(env, outcomes[0])
            for outcome in outcomes[1:]:
                self._merge(env, dict(env), outcome, UNKNOWN)
        return self.block(node.finalbody, env) or not outcomes

    def _for(self, node: ast.For | ast.AsyncFor, env: Environment) -> None:
        over = self._evaluate(node.iter, env)
        self._loop(node, env, UNKNOWN, node.target, part(over))

    def _while(self, node: ast.While, env: Environment) -> None:
        self._evaluate(node.test, env)
        self._loop(node, env, self.result.kinds[node.test])

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, env: Environment, test: Kind,
        target: ast.expr | None = None, element: Kind = UNKNOWN,
    ) -> None:  # fmt: skip
        """Rounds until nothing changes: what one leaves in a variable is what the next starts with. A loop that is
        inside another goes on from where it stood."""
        head = self._heads.get(node)
        entry = dict(env) if head is None else _joined(head, env)
        settled = head is not None and entry == head
        outer, self._leaving = self._leaving, []
        while not settled and self._rounds.get(node, 0) < _MAX_ROUNDS:
            self._rounds[node] = self._rounds.get(node, 0) + 1
            self._leaving.clear()
            inner = dict(entry)
            if target is not None:
                self.evaluator.bind(target, element, inner)
            else:
                _, inner, _ = self.evaluator.condition(node.test, inner)  # type: ignore[union-attr]
                inner = dict(inner)
            ended = self.block(node.body, inner)
            outcome = entry
            for left in (*(() if ended else (inner,)), *self._leaving):
                outcome = self._carried(outcome, left, test)
            settled = outcome == entry
            entry = outcome
        self._leaving = outer
        self._heads[node] = entry
        _replace(env, entry)
        self.block(node.orelse, env)

    def _carried(self, before: Environment, after: Environment, test: Kind) -> Environment:
        """The join of two rounds; a number that a loop over Tensors changes is no constant any more."""
        if not test.variable:
            return _joined(before, after)
        found = dict(before)
        for name, kind in after.items():
            known = found.get(name)
            found[name] = kind if known is None else self.evaluator.chosen(known, kind, test)
        return found

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, env: Environment) -> None:
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self._evaluate(default, env)
        info = self.function.locals.get(node.name)
        env[node.name] = Kind(Tag.FUNCTION, evidence=f"{node.name} is defined here", info=info,
                              name=info.qualname if info else "")  # fmt: skip

    def _class(self, node: ast.ClassDef, env: Environment) -> None:
        env[node.name] = Kind(Tag.OBJECT)

    def _delete(self, node: ast.Delete, env: Environment) -> None:
        for target in node.targets:
            self._evaluate(target, env)
            name = dotted(target)
            if name is not None:
                env.pop(name, None)

    def _nothing(self, node: ast.stmt, env: Environment) -> None:
        return None


def _joined(first: Environment, second: Environment) -> Environment:
    found = dict(first)
    for name, kind in second.items():
        known = found.get(name)
        if known is None:
            found[name] = kind
        elif known is not kind:
            found[name] = join(known, kind)
    return found


def _replace(env: Environment, other: Environment) -> None:
    if env is not other:
        env.clear()
        env.update(other)


_STATEMENTS: dict[type[ast.stmt], Callable[..., bool | None]] = {
    ast.Expr: Interpreter._expression, ast.Assign: Interpreter._assign, ast.AnnAssign: Interpreter._annotated,
    ast.AugAssign: Interpreter._augmented, ast.Return: Interpreter._return, ast.Raise: Interpreter._raise,
    ast.Break: Interpreter._leave_loop, ast.Continue: Interpreter._leave_loop, ast.Assert: Interpreter._assert,
    ast.If: Interpreter._if, ast.For: Interpreter._for, ast.AsyncFor: Interpreter._for,
    ast.While: Interpreter._while, ast.With: Interpreter._with, ast.AsyncWith: Interpreter._with,
    ast.Try: Interpreter._try, ast.Match: Interpreter._match, ast.FunctionDef: Interpreter._function,
    ast.AsyncFunctionDef: Interpreter._function, ast.ClassDef: Interpreter._class, ast.Delete: Interpreter._delete,
    ast.Pass: Interpreter._nothing, ast.Import: Interpreter._nothing, ast.ImportFrom: Interpreter._nothing,
    ast.Global: Interpreter._nothing, ast.Nonlocal: Interpreter._nothing,
}  # fmt: skip
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Interpreter._try
