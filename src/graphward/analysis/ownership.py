"""Who else holds a value: names for one object, views of one memory, containers, arguments, attributes and globals.

An abstract run over the statements of a function: each variable holds objects, each object is known by where it came
from. Identity and memory are told apart, because a view is another object over the same memory.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from .inference import Inference
from .kinds import Tag
from .module import FunctionInfo
from .names import all_arguments
from .tree import preorder

# Methods and functions that give back their first operand itself, or may (a cast to the dtype that it has, dropout
# outside of training). Measured on MindSpore 2.10 CPU.
_SAME = frozenset(
    {"contiguous", "value", "type_as", "stop_gradient", "identity", "depend", "dropout", "dropout1d", "dropout2d",
     "dropout3d"}
)  # fmt: skip
_SAME_CELLS = frozenset({"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Identity"})
# Those that give another object over the same memory in PyNative. Measured likewise.
_VIEWS = frozenset(
    {"reshape", "view", "transpose", "permute", "swapaxes", "swapdims", "squeeze", "expand_dims", "unsqueeze",
     "flatten", "ravel", "broadcast_to", "expand", "expand_as", "split", "chunk", "unbind", "unstack", "narrow",
     "select", "diagonal", "astype", "to", "float", "view_as", "reshape_as", "t", "movedim", "moveaxis", "type", "cast",
     "tensor_split", "hsplit", "vsplit", "dsplit", "adjoint", "strided_slice", "slice", "Tensor", "tensor"}
)  # fmt: skip
# The function `flatten` copies, its method does not.
_COPYING_FUNCTIONS = frozenset({"mindspore.ops.flatten", "mindspore.ops.select"})
VIEW_ATTRIBUTES = frozenset({"T", "mT", "H"})
# Views whose items stand in another order than their memory, and those that copy such a Tensor. Measured likewise.
_SCATTERING = frozenset(
    {"transpose", "permute", "swapaxes", "swapdims", "t", "movedim", "moveaxis", "broadcast_to", "expand", "expand_as"}
)  # fmt: skip
_GATHERING = frozenset(
    {"reshape", "view", "view_as", "reshape_as", "flatten", "ravel", "contiguous", "astype", "to", "float", "type"}
)  # fmt: skip
_CONTAINERS = frozenset({Tag.SEQUENCE, Tag.DICT})
_ADDERS = frozenset({"append", "insert", "extend", "add", "setdefault"})
_MAX_DEPTH = 4


class Source(NamedTuple):
    """Where an object came from: `kind` is argument, attribute, global or new; `name` how it is written; `node` the
    expression that made it."""

    kind: str
    name: str
    node: ast.AST | None = None


class Value(NamedTuple):
    """The objects that an expression may be, and those with whose memory it may share its own (itself included)."""

    objects: frozenset[Source] = frozenset()
    memory: frozenset[Source] = frozenset()

    def __or__(self, other: Value) -> Value:
        return Value(self.objects | other.objects, self.memory | other.memory)

    def renamed(self, old: Source, new: Source) -> Value:
        """The same with one object under another name."""
        if old not in self.memory:
            return self
        return Value(*(part - {old} | {new} if old in part else part for part in self))


NOTHING = Value()


@dataclass(frozen=True)
class Holder:
    """Another way to a written object: a variable that is read later, or what stands around the function. `same` says
    that it is the object itself, not a view of its memory; `inside` that it is a container that holds it."""

    kind: str
    name: str
    same: bool
    inside: bool = False


@dataclass
class _State:
    names: dict[str, Value]
    contents: dict[Source, Value]

    def copy(self) -> _State:
        return _State(dict(self.names), dict(self.contents))

    def join(self, other: _State) -> None:
        for name, value in other.names.items():
            self.names[name] = self.names.get(name, NOTHING) | value
        for source, value in other.contents.items():
            self.contents[source] = self.contents.get(source, NOTHING) | value

    def rename(self, old: Source, new: Source) -> None:
        """Let everything that holds one object hold another."""
        for name, value in self.names.items():
            self.names[name] = value.renamed(old, new)
        for source, value in self.contents.items():
            self.contents[source] = value.renamed(old, new)
        if old in self.contents:
            self.contents[new] = self.contents.get(new, NOTHING) | self.contents.pop(old)


@dataclass
class Ownership:
    """What was learned of one function. `returned` is what it may give back."""

    function: FunctionInfo
    before: dict[ast.stmt, _State] = field(default_factory=dict)
    values: dict[ast.AST, Value] = field(default_factory=dict)
    returned: Value = NOTHING

    def value(self, node: ast.AST) -> Value:
        """The objects that an expression may be when it is evaluated."""
        return self.values.get(node, NOTHING)

    def holders(
        self, statement: ast.stmt, written: Value, name: str | None, *, views: bool, at: ast.expr | None = None
    ) -> list[Holder]:
        """Who, besides the variable `name`, still sees the written objects after `statement`, or after the part `at` of
        it; with `views`, also who sees their memory."""
        state = self.before.get(statement)
        if state is None:
            return []
        found: list[Holder] = []
        reach = written.memory if views else written.objects
        for source in sorted(reach, key=lambda s: (s.kind, s.name)):
            if source.kind != "new":
                found.append(Holder(source.kind, source.name, source in written.objects))
        rebound = _targets(statement)
        for other, value in state.names.items():
            beyond = at is not None and _reads_beyond(statement, at, other)
            if other == name or (other in rebound and not beyond):
                continue
            if not value.memory & reach and not self._contains(state, value, reach):
                continue
            if not beyond and not reads_later(self.function, statement, other):
                continue
            if value.objects & written.objects:
                found.append(Holder("variable", other, True))
            elif views and value.memory & written.memory:
                found.append(Holder("variable", other, False))
            elif self._contains(state, value, reach):
                found.append(Holder("variable", other, False, inside=True))
        return found

    @staticmethod
    def _contains(state: _State, value: Value, wanted: frozenset[Source]) -> bool:
        seen: set[Source] = set()
        stack = list(value.objects)
        while stack:
            source = stack.pop()
            if source in seen:
                continue
            seen.add(source)
            held = state.contents.get(source, NOTHING)
            if held.memory & wanted:
                return True
            stack += held.objects
        return False


def reads_later(function: FunctionInfo, statement: ast.stmt, name: str) -> bool:
    """Whether the value that `name` has after `statement` may be read: later on, in the next round of a loop around it,
    or by a nested function."""
    parents = function.parents
    current: ast.AST = statement
    while current is not function.node:
        parent = parents[current]
        for block in ("body", "orelse", "finalbody"):
            body = getattr(parent, block, None)
            if isinstance(body, list) and current in body:
                outcome = _first_use(body[body.index(current) + 1 :], name)
                if outcome is not None:
                    return outcome
                if isinstance(parent, (ast.For, ast.While)) and block == "body":
                    around = [parent.test] if isinstance(parent, ast.While) else [parent.target]
                    outcome = _first_use([*around, *body[: body.index(current) + 1]], name)
                    if outcome is True:
                        return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        current = parent
    return False


def _first_use(nodes: list[ast.AST] | list[ast.stmt], name: str) -> bool | None:
    """True when some node may read `name` before anything binds it for certain, False when it is bound first (or the
    block is left), None when neither happens."""
    for node in nodes:
        if isinstance(node, (ast.If, ast.For, ast.While)):
            head = node.iter if isinstance(node, ast.For) else node.test
            if _reads(head, name):
                return True
            if isinstance(node, ast.For) and _binds(node.target, name):
                return False
            arms = [_first_use(node.body, name), _first_use(node.orelse, name)]
            if True in arms:
                return True
            if isinstance(node, ast.If) and arms == [False, False]:
                return False
            continue
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return True
        if isinstance(node, ast.Assign):
            if _reads(node.value, name) or any(_reads(t, name) for t in node.targets):
                return True
            if any(_binds(t, name) for t in node.targets):
                return False
            continue
        if _reads(node, name):
            return True
        if _binds(node, name) or isinstance(node, (ast.Return, ast.Raise)):
            return False
    return None


def _reads_beyond(statement: ast.stmt, part: ast.expr, name: str) -> bool:
    """Whether a simple statement reads `name` behind one of its parts."""
    end = (part.end_lineno or 0, part.end_col_offset or 0)
    return not hasattr(statement, "body") and any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and (n.lineno, n.col_offset) >= end
        for n in preorder(statement)
    )


def _targets(statement: ast.stmt) -> frozenset[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return frozenset(n.id for t in targets for n in preorder(t) if isinstance(n, ast.Name) and _is_store(n))


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in preorder(node))


def _binds(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in preorder(node))


def ownership(inference: Inference, function: FunctionInfo) -> Ownership:
    """What is known of a function, computed when first asked for."""
    return _ownership(inference, function, 0)


def _ownership(inference: Inference, function: FunctionInfo, depth: int) -> Ownership:
    known: dict[FunctionInfo, Ownership] = inference.once(Ownership, dict)
    if function not in known:
        known[function] = Ownership(function)  # what recursion sees
        if depth <= _MAX_DEPTH:
            _Run(inference, known[function], depth).run()
        else:
            return known.pop(function)
    return known[function]


class _Run:
    def __init__(self, inference: Inference, found: Ownership, depth: int):
        self._inference, self._found, self._depth = inference, found, depth
        self._function = found.function
        self._made: set[ast.AST] = set()
        self._scattered: set[Source] = set()

    def run(self) -> None:
        names = {}
        arguments = self._function.node.args
        # What stars collect is new at each call.
        collected = {a.arg for a in (arguments.vararg, arguments.kwarg) if a}
        for argument in all_arguments(arguments):
            if argument.arg != self._function.receiver and argument.arg not in collected:
                names[argument.arg] = _of(Source("argument", argument.arg))
        self._block(self._function.node.body, _State(names, {}))

    # Statements

    def _block(self, body: list[ast.stmt], state: _State) -> None:
        for statement in body:
            self._remember(statement, state)
            self._statement(statement, state)

    def _remember(self, statement: ast.stmt, state: _State) -> None:
        before = self._found.before.get(statement)
        if before is None:
            self._found.before[statement] = state.copy()
        else:
            before.join(state)

    def _statement(self, node: ast.stmt, state: _State) -> None:
        if isinstance(node, ast.Assign):
            value = self._value(node.value, state)
            for target in node.targets:
                self._bind(target, node.value, value, state)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, node.value, self._value(node.value, state), state)
        elif isinstance(node, ast.AugAssign):
            self._augmented(node, state)
        elif isinstance(node, ast.If):
            self._value(node.test, state)
            other = state.copy()
            self._block(node.body, state)
            self._block(node.orelse, other)
            if not _leaves(node.body):
                state.join(other) if not _leaves(node.orelse) else None
            else:
                state.names, state.contents = other.names, other.contents
        elif isinstance(node, (ast.For, ast.While)):
            self._loop(node, state)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self._found.returned |= self._value(node.value, state)
        elif isinstance(node, ast.Expr):
            self._value(node.value, state)
        elif isinstance(node, (ast.With, ast.Try)):
            for name in ("body", "orelse", "finalbody"):
                self._block(getattr(node, name, None) or [], state)

    def _loop(self, node: ast.For | ast.While, state: _State) -> None:
        # Twice, for what one round leaves to the next; that no round runs at all is left out.
        before = state.copy()
        for _ in range(2):
            state.join(before)
            if isinstance(node, ast.For):
                items = self._value(node.iter, state)
                self._bind(node.target, None, self._item(node.iter, items, state), state)
            else:
                self._value(node.test, state)
            self._block(node.body, state)
        self._block(node.orelse, state)

    def _augmented(self, node: ast.AugAssign, state: _State) -> None:
        added = self._value(node.value, state)
        target = node.target
        if not isinstance(target, ast.Name):
            self._value(target, state)
            return
        held = self._load(target.id, state)
        self._found.values[target] = self._found.value(target) | held
        tag = self._inference.kind(self._function, target).tag
        if tag in _CONTAINERS or self._inference.kind(self._function, node.value).tag in _CONTAINERS:
            contents = self._inside(held, state) | self._inside(added, state)
            made = self._new(node, state)
            state.contents[made] = contents
            for source in held.objects:
                state.contents[source] = state.contents.get(source, NOTHING) | contents
            state.names[target.id] = held | _of(made)
        else:
            # The same object in the graph, which writes into it; its own memory in PyNative, which does not.
            own = held.objects or frozenset({self._new(node, state)})
            state.names[target.id] = Value(own, own)

    def _bind(self, target: ast.expr, node: ast.expr | None, value: Value, state: _State) -> None:
        if isinstance(target, ast.Name):
            state.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
            if len(parts) == len(target.elts) and not any(isinstance(e, ast.Starred) for e in target.elts):
                values = [self._found.value(part) for part in parts]
                for element, part, held in zip(target.elts, parts, values, strict=True):
                    self._bind(element, part, held, state)
                return
            held = self._inside(value, state) or NOTHING
            for element in target.elts:
                inner = element.value if isinstance(element, ast.Starred) else element
                fresh = self._new(inner, state)
                one = held if held.objects else Value(frozenset({fresh}), value.memory - value.objects | {fresh})
                self._bind(inner, None, one, state)
        elif isinstance(target, ast.Subscript):
            holder = self._value(target.value, state)
            self._value(target.slice, state)
            if self._is_container(target.value):
                for source in holder.objects:
                    state.contents[source] = state.contents.get(source, NOTHING) | value

    # Expressions

    def _value(self, node: ast.expr, state: _State) -> Value:
        value = self._evaluate(node, state)
        self._found.values[node] = self._found.value(node) | value
        return value

    def _new(self, node: ast.AST, state: _State, name: str = "") -> Source:
        """The object that an expression makes. One that it made in an earlier round of a loop is another."""
        made = Source("new", name, node)
        if node in self._made:
            earlier = Source("new", "earlier", node)
            state.rename(made, earlier)
        self._made.add(node)
        return made

    def _view(self, node: ast.AST, base: Value, state: _State) -> Value:
        made = self._new(node, state)
        return Value(frozenset({made}), base.memory | {made})

    def _scattering(self, node: ast.AST, base: Value, state: _State) -> Value:
        """A view in another order than the memory; one of such a view may be in order again."""
        view = self._view(node, base, state)
        if not base.objects & self._scattered:
            self._scattered |= view.objects
        return view

    def _load(self, name: str, state: _State) -> Value:
        if name in state.names:
            return state.names[name]
        if self._function.names.is_local(name) or name in self._function.module.definitions:
            return NOTHING
        if name in self._function.module.assignments:
            return _of(Source("global", name))
        return NOTHING

    def _evaluate(self, node: ast.expr, state: _State) -> Value:
        if isinstance(node, ast.Name):
            return self._load(node.id, state)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, state)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, state)
        if isinstance(node, ast.Call):
            return self._call(node, state)
        if isinstance(node, ast.IfExp):
            self._value(node.test, state)
            return self._value(node.body, state) | self._value(node.orelse, state)
        if isinstance(node, ast.BoolOp):
            values = [self._value(v, state) for v in node.values]
            return _union(values)
        if isinstance(node, ast.NamedExpr):
            value = self._value(node.value, state)
            self._bind(node.target, node.value, value, state)
            return value
        made = self._new(node, state)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            state.contents[made] = _union([self._element(e, state) for e in node.elts])
        elif isinstance(node, ast.Dict):
            state.contents[made] = _union([self._value(v, state) for v in node.values])
        elif isinstance(node, ast.BinOp):
            left, right = self._value(node.left, state), self._value(node.right, state)
            state.contents[made] = self._inside(left, state) | self._inside(right, state)
        elif isinstance(node, (ast.Compare, ast.UnaryOp, ast.Starred)):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    self._value(part, state)
        return _of(made)

    def _element(self, node: ast.expr, state: _State) -> Value:
        if isinstance(node, ast.Starred):
            return self._inside(self._value(node.value, state), state)
        return self._value(node, state)

    def _attribute(self, node: ast.Attribute, state: _State) -> Value:
        base = node.value
        if isinstance(base, ast.Name) and base.id == self._function.receiver:
            return _of(Source("attribute", f"{base.id}.{node.attr}"))
        held = self._value(base, state)
        if node.attr in VIEW_ATTRIBUTES:
            return self._scattering(node, held, state)
        return _of(self._new(node, state))

    def _subscript(self, node: ast.Subscript, state: _State) -> Value:
        base = self._value(node.value, state)
        self._value(node.slice, state)
        if self._is_container(node.value) and isinstance(node.slice, ast.Slice):
            made = self._new(node, state)
            state.contents[made] = self._inside(base, state)
            return _of(made)
        if self._is_container(node.value):
            return self._item(node.value, base, state) or _of(self._new(node, state))
        if _is_column(node.slice):
            return self._scattering(node, base, state)
        return self._view(node, base, state)

    def _item(self, node: ast.expr, holder: Value, state: _State) -> Value:
        """An element of a container, or of a Tensor that is iterated over."""
        inside = self._inside(holder, state)
        if inside.objects:
            return inside
        if self._inference.kind(self._function, node).is_tensor:
            return self._view(node, holder, state)
        shared = holder.memory - holder.objects
        made = self._new(node, state)
        return Value(frozenset({made}), shared | {made})

    @staticmethod
    def _inside(holder: Value, state: _State) -> Value:
        return _union([state.contents.get(source, NOTHING) for source in holder.objects])

    def _is_container(self, node: ast.expr) -> bool:
        return self._inference.kind(self._function, node).tag in _CONTAINERS

    def _call(self, node: ast.Call, state: _State) -> Value:
        callee = node.func
        arguments = [self._value(a.value if isinstance(a, ast.Starred) else a, state) for a in node.args]
        named = {k.arg: self._value(k.value, state) for k in node.keywords}
        method = callee.attr if isinstance(callee, ast.Attribute) else ""
        resolved = self._function.names.resolve(callee) or ""
        receiver = NOTHING
        if isinstance(callee, ast.Attribute) and not resolved:
            receiver = self._value(callee.value, state)
        own = self._into_project(node, arguments, named, state)
        if own is not None:
            return own
        kind = self._inference.kind(self._function, callee)
        if kind.tag is Tag.CELL and kind.name.rpartition(".")[2] in _SAME_CELLS and arguments:
            return arguments[0]
        name = resolved.rpartition(".")[2] if resolved.startswith("mindspore.") else method
        operand = arguments[0] if resolved and arguments else receiver
        if resolved in _COPYING_FUNCTIONS:
            return _of(self._new(node, state))
        if resolved.startswith("mindspore.") or (
            isinstance(callee, ast.Attribute) and self._inference.kind(self._function, callee.value).is_tensor
        ):
            if name in _GATHERING and operand.objects and operand.objects <= self._scattered:
                return _of(self._new(node, state))
            if name in _SAME:
                return operand
            if name in _SCATTERING:
                return self._scattering(node, operand, state)
            if name in _VIEWS:
                return self._view(node, operand, state)
        elif method in _ADDERS:
            for source in receiver.objects:
                held = _union(arguments)
                added = self._inside(held, state) if method == "extend" else held
                state.contents[source] = state.contents.get(source, NOTHING) | added
        made = self._new(node, state)
        if not resolved and method in ("copy", "") and isinstance(callee, (ast.Name, ast.Attribute)):
            # `list(a)` and `a.copy()` hold what `a` holds; zip and enumerate hand it on.
            state.contents[made] = self._inside(receiver | _union(arguments), state)
        return _of(made)

    def _into_project(
        self, node: ast.Call, arguments: list[Value], named: dict[str | None, Value], state: _State
    ) -> Value | None:
        """What a function of the project gives back: its arguments themselves, where it may return those."""
        callee = called_function(self._inference, node)
        if callee is None:
            return None
        summary = _ownership(self._inference, callee, self._depth + 1)
        passed = _passed(callee, arguments, named)
        objects: frozenset[Source] = frozenset()
        memory: frozenset[Source] = frozenset()
        for source in summary.returned.memory:
            if source.kind == "argument":
                objects |= passed.get(source.name, NOTHING).objects if source in summary.returned.objects else objects
                memory |= passed.get(source.name, NOTHING).memory
        made = self._new(node, state)
        return Value(objects | {made}, memory | {made})


def called_function(inference: Inference, node: ast.Call) -> FunctionInfo | None:
    """The project's function that a call in graph code runs, a Cell's `construct` included; None for all others."""
    return inference.once(called_function, lambda: _callees(inference)).get(node.func)


def _callees(inference: Inference) -> dict[ast.AST, FunctionInfo]:
    return {site: callee for callee, reached in inference.reached.items() for _, site in reached.sites}


def passed_arguments(callee: FunctionInfo, node: ast.Call) -> dict[str, ast.expr]:
    """What a call hands to each parameter of `callee`, as far as it is spelled out."""
    return _passed(callee, node.args, {k.arg: k.value for k in node.keywords})


def _passed(callee: FunctionInfo, arguments: list, named: dict) -> dict:
    names = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
    if callee.owner is not None and not callee.is_static:
        names = names[1:]
    found = dict(zip(names, arguments, strict=False))
    found.update({name: value for name, value in named.items() if name is not None})
    return found


def _of(source: Source) -> Value:
    return Value(frozenset({source}), frozenset({source}))


def _union(values: list[Value]) -> Value:
    result = NOTHING
    for value in values:
        result |= value
    return result


def _is_column(index: ast.expr) -> bool:
    """Whether an index takes a part out of each item of the first dimension."""
    if not isinstance(index, ast.Tuple) or not all(isinstance(e, ast.Slice) for e in index.elts):
        return False
    whole = [isinstance(e, ast.Slice) and not (e.lower or e.upper or e.step) for e in index.elts]
    return whole[0] and not all(whole)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
