"""Functions made inside of others: what they read there, and which of it is bound again before they are used.

A graph gives a nested function the values that its variables have where it is made; Python looks them up when it runs
(MindSpore 2.7 to 2.10). To the graph a changed list, dict or Tensor item is a new value under the name, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphward.analysis.kinds import Tag
from graphward.analysis.names import all_arguments, defaults_of
from graphward.analysis.tree import children
from graphward.knowledge.names import WRAPPER_NAMES
from graphward.rules.context import FunctionContext

from .._python import is_builtin
from ._mutations import mutation_at

FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
COMPREHENSIONS = (*_COMPREHENSIONS, ast.GeneratorExp)
_SCOPES = (*FUNCTIONS, ast.AsyncFunctionDef, ast.ClassDef, *COMPREHENSIONS)
# They keep a function and call it later.
_LAZY = frozenset({"map", "filter"})
_ADDERS = frozenset({"append", "insert", "extend", "add"})
_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Making:
    """A place that makes a function. `reads` are the variables of the function around it that it reads; `variable` is
    the one that is given it, or something that holds it, and `direct` says that it is the function itself."""

    node: ast.FunctionDef | ast.Lambda | ast.GeneratorExp
    statement: ast.stmt
    reads: frozenset[str]
    variable: str | None
    direct: bool


@dataclass(eq=False)
class Late:
    """A function that is used after something that it reads was bound again. `bindings` has the first such place of
    each variable; `unbound` are those that had no value at all where it was made."""

    making: Making
    bindings: dict[str, ast.AST] = field(default_factory=dict)
    unbound: set[str] = field(default_factory=set)


# A function as a variable holds it, with what was bound again since it was made.
_Held = frozenset[tuple[Making, frozenset[tuple[str, ast.AST]]]]
_NOTHING: _Held = frozenset()


class _State:
    """What each variable holds, and the names that may be bound."""

    def __init__(self, held: dict[str, _Held], bound: set[str]):
        self.held = held
        self.bound = bound

    def copy(self) -> _State:
        return _State(dict(self.held), set(self.bound))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _State) and self.held == other.held and self.bound == other.bound

    __hash__ = None  # type: ignore[assignment]


def _join(states: Iterable[_State | None]) -> _State | None:
    known = [s for s in states if s is not None]
    if not known:
        return None
    joined = known[0].copy()
    for state in known[1:]:
        joined.bound |= state.bound
        for name, held in state.held.items():
            joined.held[name] = joined.held.get(name, _NOTHING) | held
    return joined


def keeps_functions(call: ast.Call, context: FunctionContext) -> bool:
    """Whether a call gives something that calls the functions it is given later on, and does nothing else."""
    func = call.func
    if context.resolve(func) in WRAPPER_NAMES:
        return True
    return isinstance(func, ast.Name) and func.id in _LAZY and is_builtin(func, context)


def free_names(node: ast.AST) -> set[str]:
    """The names that a lambda, a nested function or a generator reads of what is around it when it runs."""
    if isinstance(node, ast.Lambda):
        return _free([node.body]) - {a.arg for a in all_arguments(node.args)}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _free(node.body) - {a.arg for a in all_arguments(node.args)}
    if isinstance(node, ast.ClassDef):
        return _free(node.body)
    assert isinstance(node, COMPREHENSIONS)
    own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    return _free([c for c in children(node) if c is not node.generators[0]] + [*node.generators[0].ifs]) - own


def _free(body: Sequence[ast.AST]) -> set[str]:
    reads: set[str] = set()
    bound: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, _SCOPES):
            reads |= free_names(node)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
                stack += node.decorator_list
            if isinstance(node, (*FUNCTIONS, ast.AsyncFunctionDef)):
                stack += defaults_of(node.args).values()
            if isinstance(node, COMPREHENSIONS):
                stack.append(node.generators[0].iter)
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            # What it declares is read and bound further out, and refused by the compiler or a matter of its own.
            bound |= set(node.names)
        elif isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        stack += children(node)
    return reads - bound


class Closures:
    """What the nested functions of one function meet: `late` in source order, and `writes`, all places that bind a
    variable or change what it holds."""

    def __init__(self, context: FunctionContext):
        self._context = context
        names = context.function.names
        self._locals = set(names.hidden)
        self._makings: dict[ast.AST, Making] = {}
        self._found: dict[Making, Late] = {}
        self._unbound: dict[Making, set[str]] = {}
        self._leaving: list[tuple[list[_State], list[_State]]] = []
        self._seen: set[tuple[str, ast.AST]] = set()
        arguments = {a.arg for a in all_arguments(context.function.node.args)}
        self._block(context.function.node.body, _State({}, arguments))
        for making, late in self._found.items():
            late.unbound = self._unbound[making] & late.bindings.keys()

    @property
    def late(self) -> list[Late]:
        return sorted(self._found.values(), key=lambda late: self._context.module.start(late.making.node))

    @property
    def writes(self) -> list[tuple[str, ast.AST]]:
        return list(self._seen)

    # Statements: each gives the state behind it, None where the way ends.

    def _block(self, body: list[ast.stmt], state: _State | None) -> _State | None:
        for statement in body:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: _State) -> _State | None:
        if isinstance(node, ast.FunctionDef):
            for part in (*node.decorator_list, *defaults_of(node.args).values()):
                self._use(self._value(part, state))
            made = self._made(node, node, state)
            self._bind(node.name, node, state)
            state.held[node.name] = made
        elif isinstance(node, ast.Assign):
            value = self._value(node.value, state)
            for target in node.targets:
                self._target(target, node.value, value, state)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._target(node.target, node.value, self._value(node.value, state), state)
        elif isinstance(node, ast.AugAssign):
            self._value(node.value, state)
            # The graph writes into a Tensor, which the function sees.
            if isinstance(node.target, ast.Name):
                if self._context.kind(node.target).tag not in (Tag.TENSOR, Tag.PARAMETER, Tag.UNKNOWN):
                    self._write(node.target.id, node.target, state)
            else:
                self._target(node.target, node.value, _NOTHING, state)
        elif isinstance(node, ast.If):
            self._value(node.test, state)
            decided = self._context.inference.decided(self._context.function, node)
            arms = [node.body, node.orelse] if decided is None else [node.body if decided else node.orelse]
            return _join([self._block(arm, state.copy()) for arm in arms])
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(node, state)
        elif isinstance(node, (ast.Return, ast.Raise)):
            for given in children(node):
                self._use(self._value(given, state))
            return None
        elif isinstance(node, (ast.Break, ast.Continue)):
            if self._leaving:
                self._leaving[-1][isinstance(node, ast.Continue)].append(state)
            return None
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._use(self._value(item.context_expr, state))
                if item.optional_vars is not None:
                    self._target(item.optional_vars, item.context_expr, _NOTHING, state)
            return self._block(node.body, state)
        elif isinstance(node, ast.Try):
            done = self._block(node.body, state.copy())
            ways = [self._block(h.body, _join([state, done]) or state) for h in node.handlers]
            joined = _join([self._block(node.orelse, done), *ways])
            return self._block(node.finalbody, joined)
        elif isinstance(node, ast.Match):
            self._use(self._value(node.subject, state))
            return _join([state, *(self._block(case.body, state.copy()) for case in node.cases)])
        elif not isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef)):
            for given in children(node):
                self._value(given, state)
        return state

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: _State) -> _State | None:
        elements = _NOTHING
        if not isinstance(node, ast.While):
            elements = self._value(node.iter, state)
            self._use(elements)
        ends: list[_State] = []
        for _ in range(_ROUNDS):
            before = state.copy()
            leaving: tuple[list[_State], list[_State]] = (ends, [])
            self._leaving.append(leaving)
            inner = state.copy()
            if isinstance(node, ast.While):
                self._value(node.test, inner)
            else:
                self._target(node.target, node.iter, elements, inner)
            behind = self._block(node.body, inner)
            self._leaving.pop()
            state = _join([state, behind, *leaving[1]]) or state
            if state == before:
                break
        return _join([self._block(node.orelse, state), *ends])

    # Bindings

    def _target(self, target: ast.expr, source: ast.expr, value: _Held, state: _State) -> None:
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Name):
            if not (isinstance(source, ast.Name) and source.id == target.id):
                self._bind(target.id, target, state)
                state.held[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
            paired = len(parts) == len(target.elts) and not any(
                isinstance(e, ast.Starred) for e in (*parts, *target.elts)
            )
            for i, element in enumerate(target.elts):
                part = parts[i] if paired else source
                self._target(element, part, self._value(part, state) if paired else value, state)
        elif isinstance(target, ast.Subscript):
            self._value(target.slice, state)
            root = _root(target)
            if root is not None and root in self._locals:
                self._write(root, target, state)
                state.held[root] = state.held.get(root, _NOTHING) | value
        else:
            self._use(value)

    def _bind(self, name: str, node: ast.AST, state: _State) -> None:
        self._write(name, node, state)
        state.bound.add(name)

    def _write(self, name: str, node: ast.AST, state: _State) -> None:
        self._seen.add((name, node))
        for variable, held in state.held.items():
            if held:
                state.held[variable] = frozenset((m, _after(m, since, name, node)) for m, since in held)

    # Expressions: each gives the functions that its value is, or holds.

    def _value(self, node: ast.AST, state: _State) -> _Held:
        if isinstance(node, ast.Name):
            return state.held.get(node.id, _NOTHING) if isinstance(node.ctx, ast.Load) else _NOTHING
        if isinstance(node, ast.Constant):
            return _NOTHING
        if isinstance(node, ast.Lambda):
            for part in defaults_of(node.args).values():
                self._use(self._value(part, state))
            return self._made(node, self._context.statement(node), state)
        if isinstance(node, ast.GeneratorExp):
            self._use(self._value(node.generators[0].iter, state))
            return self._made(node, self._context.statement(node), state)
        if isinstance(node, ast.Call):
            return self._call(node, state)
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node, state)
        if isinstance(node, ast.IfExp):
            self._value(node.test, state)
            return self._value(node.body, state) | self._value(node.orelse, state)
        if isinstance(node, ast.NamedExpr):
            value = self._value(node.value, state)
            self._target(node.target, node.value, value, state)
            return value
        if isinstance(node, ast.Subscript):
            self._value(node.slice, state)
            return self._value(node.value, state)
        parts = [self._value(part, state) for part in children(node)]
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.BoolOp, ast.BinOp)):
            return _NOTHING.union(*parts)
        return _NOTHING

    def _made(self, node: ast.FunctionDef | ast.Lambda | ast.GeneratorExp, statement: ast.stmt, state: _State) -> _Held:
        making = self._makings.get(node)
        if making is None:
            reads = frozenset(free_names(node) & self._reach(node))
            making = self._makings[node] = Making(node, statement, reads, *_variable(node, statement))
        if isinstance(node, ast.FunctionDef):
            unbound = making.reads - state.bound - {node.name}
        else:
            unbound = making.reads - state.bound
        self._unbound.setdefault(making, set(unbound)).intersection_update(unbound)
        inner = _NOTHING.union(*(state.held.get(name, _NOTHING) for name in making.reads))
        return frozenset({(making, frozenset())}) | inner

    def _reach(self, node: ast.AST) -> set[str]:
        """The variables that a function made here sees and that may change: the function's, and those of
        comprehensions around it."""
        seen = set(self._locals)
        for outer in self._context.around(node):
            if isinstance(outer, _COMPREHENSIONS):
                seen |= _targets(outer)
        return seen

    def _call(self, node: ast.Call, state: _State) -> _Held:
        func = node.func
        callee = self._value(func.value if isinstance(func, ast.Attribute) else func, state)
        given = [self._value(a, state) for a in node.args] + [self._value(k.value, state) for k in node.keywords]
        values = _NOTHING.union(*given)
        if keeps_functions(node, self._context):
            return values
        self._use(callee)
        if isinstance(func, ast.Attribute):
            mutation = mutation_at(node, self._context)
            root = _root(func.value)
            if root is not None and root in self._locals:
                if mutation is not None:
                    self._write(root, node, state)
                if func.attr in _ADDERS and values:
                    state.held[root] = state.held.get(root, _NOTHING) | values
                    return _NOTHING
        self._use(values)
        return _NOTHING

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp, state: _State) -> _Held:
        inner = state.copy()
        own = _targets(node)
        for generator in node.generators:
            elements = self._value(generator.iter, inner)
            self._use(elements)
            names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            for name in names:
                inner.held[name] = elements
            inner.bound |= names
            for test in generator.ifs:
                self._value(test, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = _NOTHING.union(*(self._value(part, inner) for part in parts))
        # The next round binds its variables again.
        for name in own:
            target = node.generators[0].target
            values = frozenset((m, _after(m, since, name, target)) for m, since in values)
        return values

    def _use(self, held: _Held) -> None:
        for making, since in held:
            if since:
                late = self._found.setdefault(making, Late(making))
                for name, node in since:
                    known = late.bindings.get(name)
                    if known is None or self._context.module.start(node) < self._context.module.start(known):
                        late.bindings[name] = node


def _after(
    making: Making, since: frozenset[tuple[str, ast.AST]], name: str, node: ast.AST
) -> frozenset[tuple[str, ast.AST]]:
    """`since`, with a variable bound again if the function reads it; of each variable the first place is kept."""
    if name not in making.reads or any(n == name for n, _ in since):
        return since
    return since | {(name, node)}


def _variable(node: ast.AST, statement: ast.stmt) -> tuple[str | None, bool]:
    if isinstance(node, ast.FunctionDef):
        return node.name, True
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id, statement.value is node
    return None, False


def _targets(node: ast.ListComp | ast.SetComp | ast.DictComp) -> set[str]:
    return {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
