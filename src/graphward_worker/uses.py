"""What the source of a function does with its parameters, through the Cells and functions that it hands them to.

Names are followed as written, not as they flow: all of this only orders guesses that PyNative then accepts or not.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType
from typing import Any, Callable

import mindspore as ms

from . import graph
from .signatures import constructor_of, source_of

_SHAPING = ("reshape", "view", "expand", "broadcast_to", "tile", "repeat")
_JOINS = ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "meshgrid")
_LOOKUPS = {"gather": 1, "embedding": 0, "one_hot": 0, "index_select": 2, "gather_elements": 2, "take": 1}
"""Operator -> position of its indices when it is called as a function."""


@dataclass
class Uses:
    """What a parameter is used as.

    `rank` of a tensor; `count`: a Python integer (`range(n)`, a size); `index`: into something, `of_cells` when that is
    a list of Cells; `one`: a value of one element (`int(n)`, `n.item()`, `while n > 0`); `flag`: the condition of an
    `if`; `keys` of a dict; `items` that it is unpacked into; `grows`: a list that is appended to; `lookup`: integers;
    `bound` of these, where a table tells it; `mask`: booleans; `number`: something to calculate or compare with;
    `called`: as a function; `values`: literals that it is compared with, or keys of a table that it picks from;
    `roles`: the parameters that it becomes elsewhere, nearest first.
    """

    rank: int | None = None
    count: bool = False
    index: bool = False
    of_cells: bool = False
    one: bool = False
    flag: bool = False
    keys: list[str] = field(default_factory=list)
    items: int | None = None
    grows: bool = False
    lookup: bool = False
    bound: int | None = None
    mask: bool = False
    number: bool = False
    called: bool = False
    values: list[Any] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)

    def add(self, other: Uses) -> None:
        """Take over what is not known yet."""
        for name, value in vars(other).items():
            if name == "roles":
                self.roles = [*dict.fromkeys([*self.roles, *value])]
            elif not getattr(self, name):
                setattr(self, name, value)


Known = dict[tuple[int, Any], "dict[str, Uses]"]
"""Owner and code of a function that was read, or is being read, -> its parameters."""


def uses_of(function: Callable[..., Any], known: Known | None = None) -> dict[str, Uses]:
    """Parameter -> uses; empty when there is no source."""
    function = graph.bare(function)
    known = {} if known is None else known
    key = (id(getattr(function, "__self__", None)), getattr(function, "__code__", None))
    if key not in known:
        known[key] = {}
        known[key] = _read(function, known)
    return known[key]


def uses_of_constructor(cls: type) -> dict[str, Uses]:
    """The same for the parameters of a class's constructor, through the constructors that it calls."""
    found: dict[str, Uses] = {}
    for one in cls.__mro__[: cls.__mro__.index(ms.nn.Cell)] if issubclass(cls, ms.nn.Cell) else (cls,):
        for name, use in uses_of(constructor_of(one)).items():
            found.setdefault(name, Uses()).add(use)
    return found


def _read(function: Callable[..., Any], known: Known) -> dict[str, Uses]:
    try:
        tree = ast.parse(source_of(function) or "")
    except SyntaxError:
        return {}
    definition = tree.body[0] if tree.body else None
    if not isinstance(definition, ast.FunctionDef):
        return {}
    names = [a.arg for a in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs)]
    reader = _Reader(function, names, known)
    for statement in definition.body:
        reader.visit(statement)
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self, function: Callable[..., Any], names: list[str], known: Known):
        self.found = {name: Uses() for name in names}
        self.known = known
        inner = getattr(function, "__func__", function)
        self.objects: dict[str, Any] = dict(getattr(inner, "__globals__", {}))
        self.objects["__class__"] = _above(function)
        if isinstance(function, MethodType) and names:
            self.found.pop(names[0])
            self.objects[names[0]] = function.__self__

    def of(self, node: ast.AST) -> Uses | None:
        """The uses of the parameter that a node names."""
        return self.found.get(node.id) if isinstance(node, ast.Name) else None

    def within(self, *nodes: ast.AST) -> list[Uses]:
        """The uses of all parameters that arithmetic of names consists of."""
        leaves: list[ast.AST] = []
        for node in nodes:
            if isinstance(node, ast.BinOp):
                leaves += [node.left, node.right]
            elif isinstance(node, (ast.Tuple, ast.List)):
                leaves += node.elts
            else:
                leaves.append(node)
        return [use for use in map(self.of, leaves) if use is not None]

    def resolve(self, node: ast.AST) -> Any:
        """The live object that a chain of names stands for, or None."""
        if isinstance(node, ast.Name):
            return self.objects.get(node.id)
        if isinstance(node, ast.Attribute):
            with contextlib.suppress(Exception):  # a property of the user's may raise anything
                return getattr(self.resolve(node.value), node.attr, None)
        if isinstance(node, ast.Subscript):
            return _first(self.resolve(node.value))
        return None

    def visit_For(self, node: ast.For) -> None:
        iterated, target = node.iter, node.target
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.args:
            if iterated.func.id == "enumerate" and isinstance(target, ast.Tuple):
                iterated, target = iterated.args[0], target.elts[-1]
        use = self.of(iterated)
        if use is not None:
            use.items = use.items or 2
        if isinstance(target, ast.Name):
            self.objects[target.id] = _first(self.resolve(iterated))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        target, value = node.targets[0], node.value
        if isinstance(target, (ast.Tuple, ast.List)):
            use = self.of(value)
            if use is not None:
                use.items = use.items or len(target.elts)
            elif isinstance(value, ast.Attribute) and value.attr == "shape":
                self.ranked(value.value, len(target.elts))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        use = self.of(node.value)
        if use is not None and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            use.keys = [*dict.fromkeys([*use.keys, node.slice.value])]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if use is not None and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            at = node.slice.value
            use.items = max(use.items or 0, at + 1 if at >= 0 else 2)
        elif use is not None and isinstance(node.slice, ast.Name):
            use.items = use.items or 2
        elif self.of(node.slice) is not None and self.of(node.value) is None:
            table = self.resolve(node.value)
            if type(table) is dict and table:
                self.among(node.slice, list(table))
        for part in parts:
            if isinstance(part, ast.Slice):
                for use in self.within(*(bound for bound in (part.lower, part.upper) if bound is not None)):
                    use.count = True
            for use in self.within(part):
                use.index = True
                use.of_cells = use.of_cells or isinstance(_first(self.resolve(node.value)), ms.nn.Cell)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    def condition(self, test: ast.expr) -> None:
        test = test.operand if isinstance(test, ast.UnaryOp) else test
        use = self.of(test)
        if use is not None:
            use.flag = True
        elif isinstance(test, ast.Compare) and not isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            for use in self.within(test.left, *test.comparators):
                use.one = True

    def among(self, node: ast.expr, values: list[Any]) -> None:
        use = self.of(node)
        if use is not None:
            use.values = [*use.values, *(v for v in values if isinstance(v, (str, int)) and type(v) is not bool)]

    def visit_Compare(self, node: ast.Compare) -> None:
        other = node.comparators[0]
        if isinstance(other, ast.Constant) and isinstance(node.ops[0], ast.Eq) and isinstance(other.value, str):
            self.among(node.left, [other.value])
        elif isinstance(other, (ast.List, ast.Tuple, ast.Set)) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            self.among(node.left, [item.value for item in other.elts if isinstance(item, ast.Constant)])
        elif isinstance(node.ops[0], (ast.In, ast.NotIn)) and type(self.resolve(other)) in (dict, list, tuple):
            self.among(node.left, list(self.resolve(other)))
        if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            self.calculated(node.left, *node.comparators)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.calculated(node.left, node.right)
        self.generic_visit(node)

    def calculated(self, *operands: ast.expr) -> None:
        for operand in operands:
            while isinstance(operand, (ast.Call, ast.Attribute, ast.Subscript)):
                operand = operand.func if isinstance(operand, ast.Call) else operand.value
            use = self.of(operand)
            if use is not None:
                use.number = True

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        called = self.resolve(node.func)
        itself = self.of(node.func)
        if itself is not None:
            itself.called = True
        if isinstance(node.func, ast.Name) and name in ("len", "zip", "sum", "enumerate", "map", "max", "min"):
            for use in map(self.of, node.args):
                if use is not None and (name in ("len", "zip", "enumerate") or len(node.args) == 1):
                    use.items = use.items or 2
        elif isinstance(node.func, ast.Attribute) and name == "__init__":
            self.inherit(node)
        if isinstance(node.func, ast.Name) and name == "range":
            for use in self.within(*node.args):
                use.count = True
        elif isinstance(node.func, ast.Name) and name in ("int", "float"):
            for use in self.within(*node.args):
                use.one = True
        elif isinstance(node.func, ast.Attribute) and not isinstance(called, ms.nn.Cell):
            self.method(node.func, name, node.args)
        if callable(called):
            self.follow(called, node)
        self.generic_visit(node)

    def method(self, func: ast.Attribute, name: str, args: list[ast.expr]) -> None:
        use = self.of(func.value)
        functional = isinstance(self.resolve(func.value), ModuleType)
        rest = args[1:] if functional else args
        if use is not None and name == "item":
            use.one = True
        elif use is not None and name in ("append", "extend", "insert"):
            use.grows = True
        elif name in _JOINS and functional:
            for joined in map(self.of, args[:1]):
                if joined is not None:
                    joined.items = joined.items or 2
        elif name in ("transpose", "permute") and rest:
            axes = rest[0].elts if isinstance(rest[0], (ast.Tuple, ast.List)) else rest
            if len(axes) > 2:
                self.ranked(args[0] if functional else func.value, len(axes))
        elif name in _SHAPING:
            for size in self.within(*rest):
                size.count = True
        elif name == "masked_fill":
            for mask in self.within(*rest[:1]):
                mask.mask = True
        elif name in ("where", "select") and functional:
            for mask in self.within(*args[:1]):
                mask.mask = True
        elif name in _LOOKUPS:
            at = _LOOKUPS[name] - (not functional)
            for indices in self.within(*args[max(0, at) : max(0, at) + 1]):
                indices.lookup = True

    def ranked(self, node: ast.AST, rank: int) -> None:
        use = self.of(node)
        if use is not None:
            use.rank = use.rank or rank

    def inherit(self, node: ast.Call) -> None:
        """The constructor of the class above, in the calls that are written as `super().__init__(...)`."""
        above = self.objects.get("__class__")
        if above is not None:
            self.hand(node, getattr(above, "__init__", None), skip=1)

    def follow(self, called: Any, node: ast.Call) -> None:
        """What the callee does with what it is given."""
        if isinstance(called, ms.nn.Cell):
            vocabulary = getattr(called, "vocab_size", None)
            if isinstance(vocabulary, int) and node.args:
                for use in self.within(node.args[0]):
                    use.lookup, use.bound = True, use.bound or vocabulary
            called = called.construct
        if isinstance(called, type):
            if issubclass(called, ms.nn.Cell):
                self.hand(node, constructor_of(called), skip=1)
            return
        self.hand(node, called, skip=0)

    def hand(self, node: ast.Call, called: Any, skip: int) -> None:
        inner = getattr(called, "__func__", called)
        if not isinstance(graph.bare(inner), FunctionType):
            return
        names = list(inspect.signature(called).parameters)[skip:]
        own = not (inner.__module__ or "").startswith("mindspore.")
        for given, value in [*zip(names, node.args), *((k.arg, k.value) for k in node.keywords if k.arg)]:
            handed = self.of(value)
            if handed is not None:
                handed.roles = [*dict.fromkeys([*handed.roles, given])]
                if own:
                    handed.add(uses_of(called, self.known).get(given, Uses()))


def _above(function: Callable[..., Any]) -> type | None:
    """The class whose methods `super()` means in a function, where the function says which class it belongs to."""
    inner = getattr(function, "__func__", function)
    names = getattr(getattr(inner, "__code__", None), "co_freevars", ())
    cells = getattr(inner, "__closure__", None) or ()
    for name, cell in zip(names, cells):
        if name == "__class__":
            with contextlib.suppress(ValueError):  # not filled yet
                mro = cell.cell_contents.__mro__
                return mro[1] if len(mro) > 1 else None
    return None


def _first(items: Any) -> Any:
    """The first item of a container of Cells; all are taken to be alike."""
    if isinstance(items, (list, tuple, ms.nn.CellList, ms.nn.SequentialCell)) and len(items):
        return items[0]
    return None
