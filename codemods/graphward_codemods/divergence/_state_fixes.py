"""Ways out for state on self: set once in `__init__`, handed out as a result, or kept in a Parameter."""

from __future__ import annotations

import ast

from graphward.analysis.kinds import Kind, Tag
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.ownership import Source
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, remove_statement
from .._python import literal_number, self_attribute
from ..cells._initializer import Initializer
from ._carried import carry
from ._carriers import Outgoing, assign_text, check_arithmetic, local_name, parameter_text, tensor_text
from ._globals import item_place
from ._grown import move_appends
from ._state import (
    Attribute,
    Write,
    attribute_of,
    literal_item,
    number_dtype,
    reads_of,
    writes_in,
)
from ._writes import insert_after


class StatePlan:
    """The fixes for the attributes that one function writes; attributes with the same way out share one fix."""

    def __init__(self, context: FunctionContext, cell: ClassInfo):
        self._context, self._cell = context, cell
        self._function = context.function
        self._handed_out: Fix | None = None
        self._out: dict[str, list[Store]] | None = None

    def fixes(self, name: str) -> tuple[Fix, ...]:
        """The fixes for one attribute, likeliest first."""
        found: list[Fix] = []
        reasons: list[str] = []
        for way in (self._once, self._result, self.parameter, self._item, self._grown):
            try:
                fix = way(name)
                if fix not in found:
                    found.append(fix)
            except CannotRewrite as reason:
                reasons.append(str(reason))
        if found:
            return tuple(found)
        advice = (
            f"{reasons[-1]}; keep the state in a Parameter of known shape (`requires_grad=False`) and write it with "
            "ops.assign, or give the new value back and keep it in the caller"
        )
        return (self._context.rewrite().manual("Keep the state outside of the graph", advice),)

    # Set once

    def _once(self, name: str) -> Fix:
        context = self._context
        stores = self._stores(name)
        if len(stores) != 1 or stores[0].key is not None or stores[0].value is None:
            raise CannotRewrite(f"self.{name} is not written once")
        store = stores[0]
        if not isinstance(store.value, ast.Constant) or store.operator is not None:
            raise CannotRewrite(f"what self.{name} gets is not a constant")
        self._check_written_first(name, store)
        attribute = attribute_of(context, self._cell, name)
        if len(attribute.writes) != 1:
            raise CannotRewrite(f"other methods write self.{name} too")
        rewrite = context.rewrite()
        text = context.text(store.value)
        if attribute.start is None:
            place = Initializer(context.project, self._cell)
            line = f"{place.receiver}.{name} = {text}"
            place.add(rewrite, context.module.start(store.statement) + 1, [line], set())
        else:
            if attribute.constructor is None or attribute.constructor.module is not context.module:
                raise CannotRewrite(f"self.{name} starts in another file")
            rewrite.replace(attribute.start, text, attribute.constructor.parents.get(attribute.start))
        remove_statement(context, rewrite, store.statement)
        reason = f"self.{name} has its value before the first call already"
        return rewrite.unsafe(f"Set self.{name} in __init__", reason)

    # Handed out

    def _result(self, name: str) -> Fix:
        candidates = self._candidates_for_results()
        if name not in candidates:
            self._check_result(name)
        if self._handed_out is None:
            self._handed_out = self._hand_out(candidates)
        return self._handed_out

    def _candidates_for_results(self) -> dict[str, list[Store]]:
        """The attributes that may all leave as results."""
        if self._out is None:
            self._out = {}
            for name in dict.fromkeys(s.name for s in _stores(self._context)):
                try:
                    self._check_result(name)
                except CannotRewrite:
                    continue
                self._out[name] = self._stores(name)
        return self._out

    def _check_result(self, name: str) -> None:
        context = self._context
        outgoing = Outgoing(context)
        stores = self._stores(name)
        if len({s.key for s in stores}) != len(stores) or any(s.value is None or s.operator for s in stores):
            raise CannotRewrite(f"self.{name} is not written once")
        for store in stores:
            if not outgoing.after(store.statement):
                raise CannotRewrite(f"self.{name} is not written at each call")
            if isinstance(store.value, ast.Constant):
                raise CannotRewrite("a constant needs no result")
            self._check_written_first(name, store)

    def _hand_out(self, candidates: dict[str, list[Store]]) -> Fix:
        context, rewrite = self._context, self._context.rewrite()
        names: list[str] = []
        targets: list[str] = []
        for name, stores in candidates.items():
            for store in stores:
                wanted = name.strip("_") or "value"
                key = store.key
                wanted = f"{wanted}_{key}" if isinstance(key, str) and key.isidentifier() else wanted
                local = local_name(context, wanted, names)
                names.append(local)
                receiver = self._function.receiver
                targets.append(f"{receiver}.{name}" + (f"[{key!r}]".replace("'", '"') if key is not None else ""))
                self._write_local(rewrite, store, local)
                for read in self._reads(name, store):
                    rewrite.replace(read, local, context.parent(read))
        Outgoing(context).add(rewrite, names, targets, [], [])
        which = " and ".join(targets)
        reason = "construct gives it back as a further result, which only __call__ takes off again"
        return rewrite.unsafe(f"Keep {which} in __call__", reason)

    def _write_local(self, rewrite: Rewrite, store: Store, local: str) -> None:
        module = self._context.module
        if isinstance(store.node, ast.Call):  # setattr(self, "name", value)
            assert store.value is not None
            text = f"{local} = {module.text(store.value)}"
            rewrite.replace_span(module.start(store.node), module.end(store.node), text)
        else:
            rewrite.replace_span(module.start(store.node), module.end(store.node), local)

    def _check_written_first(self, name: str, store: Store) -> None:
        """Raises CannotRewrite unless the store comes before every read, which all stand in this function."""
        if store.statement not in self._function.node.body:
            raise CannotRewrite(f"self.{name} is written in a branch or loop")
        if any(r.lineno <= store.statement.lineno and r not in store.own for r in reads_of(self._function, name)):
            raise CannotRewrite(f"self.{name} is read before it is written")
        for other in self._graph_functions():
            if other is not self._function and (reads_of(other, name) or writes_in(other, name)):
                raise CannotRewrite(f"{other.name} uses self.{name} too")
        if store.key is not None and len(self._reads(name, store)) != sum(
            1 for r in reads_of(self._function, name) if r not in store.own
        ):
            raise CannotRewrite(f"self.{name} is read as a whole")

    def _reads(self, name: str, store: Store) -> list[ast.expr]:
        """The expressions that read what was stored."""
        found: list[ast.expr] = []
        for read in reads_of(self._function, name):
            if read in store.own:
                continue
            parent = self._function.parents.get(read)
            if store.key is None:
                found.append(read)
            elif isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load):
                if isinstance(parent.slice, ast.Constant) and parent.slice.value == store.key:
                    found.append(parent)
        return found

    # Kept in a Parameter

    def parameter(self, name: str) -> Fix:
        context = self._context
        attribute = attribute_of(context, self._cell, name)
        if attribute.start is None or attribute.constructor is None:
            raise CannotRewrite(f"__init__ does not give self.{name} one first value of a known shape")
        if attribute.constructor.module is not context.module:
            raise CannotRewrite(f"self.{name} starts in another file")
        start = context.inference.kind(attribute.constructor, attribute.start)
        tensor = start.tag is Tag.TENSOR
        if not tensor and any(s.key is not None for s in self._stores(name)):
            raise CannotRewrite(f"self.{name} is a container, of which a graph keeps no change")
        dtype = None
        if not tensor:
            dtype = number_dtype([start, *self._written_kinds(attribute, start)])
            if dtype is None or (literal_number(attribute.start) is None and start.tag is not Tag.CONSTANT):
                raise CannotRewrite(f"self.{name} starts as something else than a number or a Tensor")
            self._check_numbers(name)
        rewrite = context.rewrite()
        made = parameter_text(rewrite, context.text(attribute.start), name, dtype)
        rewrite.replace(attribute.start, made, None)
        for write in attribute.writes:
            if not self._keep_local(rewrite, name, write):
                self._write(rewrite, name, write, dtype)
        reasons = ["it is saved in checkpoints, and who reads it from outside gets a Parameter"]
        if dtype:
            reasons.append(f"its numbers are {dtype.rstrip('_')}")
        return rewrite.unsafe(f"Keep self.{name} in a Parameter", "; ".join(reasons))

    def _keep_local(self, rewrite: Rewrite, name: str, write: Write) -> bool:
        """Write a Tensor by way of a local variable, which is what the rest of the function reads: a Parameter has no
        gradient of what was put into it."""
        function, context = self._function, self._context
        if write.function is not function or write.statement not in function.node.body:
            return False
        if not isinstance(write.statement, ast.Assign) or len(write.statement.targets) != 1 or write.value is None:
            return False
        later = [r for r in reads_of(function, name) if r.lineno > (write.statement.end_lineno or 0)]
        traced = any(context.kind(n).is_tensor and context.kind(n).variable for n in ast.walk(write.value))
        if not later or not traced or len(self._stores(name)) != 1:
            return False
        local = local_name(context, name.strip("_") or "value", [])
        module = context.module
        rewrite.replace_span(module.start(write.node), module.end(write.node), local)
        insert_after(context, rewrite, write.statement, [f"{function.receiver}.{name} = {local}"])
        for read in later:
            rewrite.replace(read, local, context.parent(read))
        return True

    def _written_kinds(self, attribute: Attribute, start: Kind) -> list[Kind]:
        found = []
        for write in attribute.writes:
            if write.value is None:
                raise CannotRewrite(f"self.{attribute.name} is written by unpacking")
            kind = self._context.inference.kind(write.function, write.value)
            if isinstance(write.operator, ast.Div):
                kind = Kind(Tag.CONSTANT, name="float")
            elif write.function not in self._context.inference.reached and kind.tag is not Tag.CONSTANT:
                kind = start
            elif kind.tag is Tag.UNKNOWN:
                # `self.k + 1` before anything is known of self.k: what is in it beside it decides.
                kind = _of_parts(self._context, write, attribute.name, start)
            if kind.is_tensor and kind.rank not in (None, 0):
                raise CannotRewrite(f"self.{attribute.name} becomes a Tensor with dimensions")
            found.append(kind)
        return found

    def _check_numbers(self, name: str) -> None:
        for function in self._graph_functions():
            context = self._context if function is self._function else _context_of(self._context, function)
            check_arithmetic(context, list(reads_of(function, name)), f"self.{name}")

    def _write(self, rewrite: Rewrite, name: str, write: Write, dtype: str | None) -> None:
        module, function = self._context.module, write.function
        if function.module is not module:
            raise CannotRewrite(f"{function.qualname} writes self.{name} in another file")
        if write.value is None:
            raise CannotRewrite(f"self.{name} is written by unpacking")
        receiver = f"{function.receiver}.{name}"
        value = module.text(write.value)
        start, end = module.start(write.statement), module.end(write.statement)
        if function not in self._context.inference.reached:
            if write.operator is not None:
                return
            text = tensor_text(rewrite, value, dtype) if dtype else value
            # Not set_data, which a graph behind `jit(net)` does not see.
            rewrite.replace_span(start, end, assign_text(rewrite, receiver, text))
            return
        plain = isinstance(write.statement, (ast.Assign, ast.AugAssign))
        own = any(self_attribute(n, function.receiver) == name for n in ast.walk(write.value))
        tensor = write.operator is not None or self._context.inference.kind(function, write.value).is_tensor
        if plain and (own or tensor):
            if not isinstance(write.statement, ast.Assign) or len(write.statement.targets) == 1:
                return
        rewrite.replace_span(start, end, assign_text(rewrite, receiver, value))

    # A number inside of a container

    def _item(self, name: str) -> Fix:
        """A number in a dict or list of self, that is the only thing used of it."""
        context = self._context
        stores = self._stores(name)
        attribute = attribute_of(context, self._cell, name)
        keys = {s.key for s in stores}
        target = stores[0].node
        if len(keys) != 1 or not isinstance(target, ast.Subscript) or stores[0].key in (None, ...):
            raise CannotRewrite(f"more than one item of self.{name} is written")
        used = sum(1 for r in reads_of(self._function, name) if _key_of(self._function.parents.get(r)) == stores[0].key)
        if used != len(reads_of(self._function, name)):
            raise CannotRewrite(f"self.{name} is read as a whole")
        place = item_place(context, target, literal_item(attribute.start, stores[0].key))
        place.wanted = place.wanted.removeprefix(f"{self._function.receiver}_")
        return carry(context, place, [])

    def _grown(self, name: str) -> Fix:
        """A list that `+=` makes longer."""
        if any(not isinstance(s.operator, ast.Add) or s.key is not None for s in self._stores(name)):
            raise CannotRewrite(f"self.{name} starts as something else than a number or a Tensor")
        return move_appends(self._context, Source("attribute", f"{self._function.receiver}.{name}"))

    # What the class looks like

    def _stores(self, name: str) -> list[Store]:
        return [s for s in _stores(self._context) if s.name == name]

    def _graph_functions(self) -> list[FunctionInfo]:
        """The methods of the class and its bases that a graph compiles."""
        reached = self._context.inference.reached
        classes = self._context.project.mro(self._context.cell or self._cell)
        return [m for c in classes for m in c.methods.values() if m in reached]


class Store:
    """One write of `self.<name>`, or of `self.<name>[key]` with a literal key."""

    def __init__(self, name: str, write: Write, key: object = None, own: frozenset[ast.AST] = frozenset()):
        self.name, self.key, self.own = name, key, own
        self.statement, self.node, self.value, self.operator = write.statement, write.node, write.value, write.operator


def _stores(context: FunctionContext) -> list[Store]:
    function = context.function
    found = [Store(name, write) for name, write in writes_in(function)]
    for node in function.nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if not isinstance(target, ast.Subscript):
                    continue
                name = self_attribute(target.value, function.receiver)
                if name:
                    literal = isinstance(target.slice, ast.Constant)
                    value = node.value if literal and isinstance(node, ast.Assign) and len(node.targets) == 1 else None
                    key = target.slice.value if isinstance(target.slice, ast.Constant) else ...
                    found.append(Store(name, Write(function, node, target, value), key, frozenset({target.value})))
    return found


def _key_of(node: ast.AST | None) -> object:
    return node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else ...


def _of_parts(context: FunctionContext, write: Write, name: str, start: Kind) -> Kind:
    assert write.value is not None
    parts = [
        context.inference.kind(write.function, n) for n in ast.walk(write.value)
        if isinstance(n, (ast.Name, ast.Constant, ast.Call))
        and not (isinstance(n, ast.Name) and n.id == write.function.receiver)
    ]  # fmt: skip
    tensors = [p for p in parts if p.is_tensor]
    if tensors and any(p.rank not in (None, 0) for p in tensors):
        return tensors[0]
    dtype = number_dtype([start, *(p for p in parts if p.tag is Tag.CONSTANT)])
    if dtype is None or any(p.tag is Tag.UNKNOWN for p in parts):
        raise CannotRewrite(f"what self.{name} becomes is not known to be a number")
    return Kind(Tag.CONSTANT, name="float" if tensors or dtype == "float32" else dtype.rstrip("32_"))


def _context_of(context: FunctionContext, function: FunctionInfo) -> FunctionContext:
    return FunctionContext(context.inference.reached[function], context.inference, context.options)
