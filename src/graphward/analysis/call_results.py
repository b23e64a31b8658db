"""The kinds of what calls give back."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ..knowledge import signatures as known
from ..knowledge.api import Result
from .arithmetic import binary, promoted
from .kinds import BOOLEAN, CONSTANT, INTEGER, NO_VALUE, NONE, STRING, UNKNOWN, Kind, Tag, join_all, literal, sequence
from .module import ClassInfo, FunctionInfo
from .narrowing import Environment, excludes, fits, type_names
from .parts import dict_value, part

if TYPE_CHECKING:
    from .evaluation import Evaluator

_LIST_COPIES = frozenset({"tuple", "list", "sorted", "reversed", "set", "frozenset"})
_ARITHMETIC = frozenset({"abs", "sum", "max", "min", "pow", "round", "divmod"})
_INTEGER_BUILTINS = frozenset({"len", "id", "hash", "ord"})
_BOOLEAN_BUILTINS = frozenset({"hasattr", "callable", "issubclass", "isinstance"})
_INSTANCE_HOLDERS = frozenset({"mindspore.nn.SequentialCell", "mindspore.mint.nn.Sequential"})
_STRING_LISTS = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition"})
_STRING_NUMBERS = frozenset({"find", "rfind", "index", "count"})
_STRING_TESTS = frozenset({"startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isidentifier"})
_GROWING = frozenset({"append", "extend", "insert"})
_SAME_SHAPE_MAKERS = frozenset({"zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like"})
_RESHAPES = frozenset({"reshape", "view", "broadcast_to"})


class CallResults:
    """What the calls in one function give back; `owner` evaluates their parts."""

    def __init__(self, owner: Evaluator):
        self.owner = owner
        self.inference = owner.inference
        self.project = owner.project
        self.api = owner.inference.api

    def outside(self, name: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind | None:
        """The result of calling something of MindSpore, NumPy or the standard library; None for the project's."""
        head = name.partition(".")[0]
        if head == "mindspore":
            return self._mindspore(name, node, arguments, variable, evidence)
        last = name.rpartition(".")[2]
        if head == "numpy":
            return self._numpy(last, node, arguments, variable, evidence)
        if head in ("math", "scipy", "cmath"):
            tag = Tag.SCALAR if variable else Tag.CONSTANT
            return Kind(tag, variable, name="" if head == "scipy" else "float", evidence=evidence)
        if name in ("functools.partial", "typing.cast") and len(arguments) > (name == "typing.cast"):
            return arguments[0] if name == "functools.partial" else arguments[1]
        if name == "copy.deepcopy" or name == "copy.copy":
            return arguments[0] if arguments else UNKNOWN
        if name in ("collections.OrderedDict", "collections.defaultdict"):
            return Kind(Tag.DICT, variable, evidence=evidence)
        return None

    def _mindspore(
        self, name: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str
    ) -> Kind:
        group, last = _group(name)
        if group == "function":
            result = self.api.get(name)
            if result is not None:
                return self._by_rule(result, last, node, arguments, variable, evidence)
            dtype = self.dtype_argument(node, arguments)
            if dtype is None and last in known.DTYPE_KEEPING:
                dtype = _first_dtype(arguments)
            return Kind(Tag.TENSOR, variable, True, dtype, evidence=evidence or f"{last}(...) gives a Tensor")
        if group == "layer":
            return self._layer(name, last, node, arguments)
        if group == "tensor":
            return self._tensor(last, node, arguments, variable, evidence)
        if group == "primitive":
            return Kind(Tag.PRIMITIVE, name=name, evidence=f"{last}(...) makes a Primitive")
        if group == "parameter":
            first = arguments[0] if arguments else UNKNOWN
            return Kind(Tag.PARAMETER, True, True, first.dtype, first.rank, evidence="a Parameter")
        if group == "shape":
            return Kind(Tag.SHAPE, rank=arguments[0].rank if arguments else None)
        if group == "constant":
            return CONSTANT
        if group == "mutable":
            return _mutable(arguments[0] if arguments else UNKNOWN)
        return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)

    def _tensor(self, last: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        dtype, rank = self.dtype_argument(node, arguments), None
        first = arguments[0] if arguments and node.args else None
        if first is not None:
            if first.is_tensor or first.tag is Tag.NDARRAY:
                dtype, rank = dtype or first.dtype, first.rank
            elif first.tag is Tag.CONSTANT:
                rank = 0
                dtype = dtype or {"int": "int64", "float": "float32", "bool": "bool"}.get(first.python_type)
            elif first.tag is Tag.SEQUENCE and first.exact:
                inner = join_all(list(first.elements or ()))
                rank = 1 if inner.tag in (Tag.CONSTANT, Tag.SCALAR) else None
                if dtype is None and inner.tag is Tag.CONSTANT:
                    dtype = {"int": "int64", "float": "float32", "bool": "bool"}.get(inner.python_type)
        return Kind(Tag.TENSOR, variable, True, dtype, rank, evidence=evidence or f"{last}(...) makes a Tensor")

    @staticmethod
    def _layer(name: str, last: str, node: ast.Call, arguments: list[Kind]) -> Kind:
        plain = layer(name)
        if plain is not None:
            return plain
        tag = Tag.CELLS if name in known.CELL_CONTAINERS else Tag.CELL
        elements: tuple[Kind, ...] | None = None
        keys: tuple[object, ...] | None = None
        exact = False
        first = arguments[0] if len(node.args) == 1 else None
        if first is not None and first.tag in (Tag.SEQUENCE, Tag.DICT):
            elements, keys, exact = first.elements, first.keys, first.exact
        elif node.args and not any(isinstance(a, ast.Starred) for a in node.args):
            elements, exact = tuple(arguments[: len(node.args)]), True
        return Kind(tag, name=name, elements=elements, keys=keys, exact=exact,
                    evidence=f"{last}(...) makes a {tag.value}")  # fmt: skip

    def _by_rule(
        self, result: Result, last: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str
    ) -> Kind:
        """What the table says of a function, method or instance when it is called with `arguments`."""
        form = result.form
        if form == "python":
            return Kind(Tag.CONSTANT, name=result.dtypes[0])
        if form == "shape":
            return Kind(Tag.SHAPE, rank=arguments[0].rank if arguments else None)
        if form == "number":
            return Kind(Tag.SCALAR if variable else Tag.CONSTANT, variable, evidence=evidence)
        if form == "none":
            return NONE
        evidence = evidence or f"{last}(...) gives a Tensor"
        stated = self.dtype_argument(node, arguments)
        rank = self._rank(result.rank, last, node, arguments)
        made = [
            Kind(Tag.TENSOR, variable, True, stated or _dtype(rule, arguments), rank, evidence=evidence)
            for rule in result.dtypes
        ]
        if form == "tensor":
            return made[0]
        if form == "tuple":
            return sequence(tuple(made), "tuple")
        return Kind(Tag.SEQUENCE, variable, True, elements=(made[0],), name="tuple", evidence=evidence)

    @staticmethod
    def _rank(rule: str, last: str, node: ast.Call, arguments: list[Kind]) -> int | None:
        if rule == "same":
            ranks = [a.rank for a in arguments if a.is_tensor]
            return max(ranks) if ranks and None not in ranks else None  # type: ignore[type-var]
        if rule.isdigit():
            return int(rule)
        if last in ("reshape", "broadcast_to", "zeros", "ones", "full"):
            target = next((a for a in arguments if a.tag in (Tag.SHAPE, Tag.SEQUENCE)), None)
            if target is not None:
                return len(target.elements or ()) if target.exact else target.rank
        return None

    def _numpy(self, last: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        if last in known.DTYPES and not variable:
            return CONSTANT
        dtype = self.dtype_argument(node, arguments)
        if dtype is None and variable:
            dtype = next((a.dtype for a in arguments if a.dtype in known.FLOAT_DTYPES), None)
        tag = Tag.SCALAR if last in known.DTYPES else Tag.NDARRAY
        return Kind(tag, variable, all(a.certain for a in arguments if a.variable), dtype,
                    evidence=evidence or f"numpy.{last} gives a NumPy array")  # fmt: skip

    def dtype_argument(self, node: ast.Call, arguments: list[Kind]) -> str | None:
        """The dtype that a call names, as `dtype=` or as any positional argument."""
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                return _as_dtype(self.owner.record.get(keyword.value, UNKNOWN))
        for kind in reversed(arguments):
            if kind.value.__class__ is str:
                found = _as_dtype(kind)
                if found is not None:
                    return found
        return None

    # The project's own

    def project_call(
        self, found: FunctionInfo | ClassInfo | None, arguments: list[Kind], variable: bool, evidence: str,
        node: ast.Call | None = None,
    ) -> Kind:  # fmt: skip
        if isinstance(found, FunctionInfo):
            kind = self.inference.function(found).returns
            if kind.tag is Tag.UNKNOWN and not kind.variable:
                return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)
            if kind.variable:
                kind = kind.because(f"{found.name}(...) returns a {kind.tag.value}")
            return kind
        if isinstance(found, ClassInfo):
            if self.project.is_cell(found):
                return project_cell(found)
            fields = self.inference.fields(found)
            elements = _by_field(fields, node, arguments) if fields and node is not None else None
            return Kind(Tag.OBJECT, variable, name=found.qualname, evidence=evidence or f"an instance of {found.name}",
                        elements=elements, keys=fields, info=found)  # fmt: skip
        return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)

    def value(self, callee: Kind, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        """The result of calling a value: a Cell, a Primitive, a function held in a variable."""
        if callee.tag is Tag.CELL:
            return self._cell(callee, node, arguments, evidence)
        if callee.tag is Tag.PRIMITIVE:
            return self._primitive(callee, node, arguments, variable, evidence)
        if callee.tag is Tag.FUNCTION:
            if isinstance(callee.info, FunctionInfo):
                return self.project_call(callee.info, arguments, variable, evidence)
            if isinstance(callee.info, ast.Lambda):
                return self.owner.call_lambda(callee.info, arguments)
        if callee.tag is Tag.OBJECT and callee.info is not None and not callee.variable:
            if isinstance(callee.info, ClassInfo) and callee.elements is None and callee.name == callee.info.qualname:
                method = self.project.method(callee.info, "__call__")
                if method is not None:
                    return self.project_call(method, arguments, variable, evidence)
        return Kind(Tag.UNKNOWN, variable or callee.variable, False, evidence=evidence or callee.evidence)

    def _cell(self, callee: Kind, node: ast.Call, arguments: list[Kind], evidence: str) -> Kind:
        if isinstance(callee.info, ClassInfo):
            method = self.project.method(callee.info, "construct")
            if method is not None:
                kind = self.inference.function(method).returns
                if kind.tag is not Tag.UNKNOWN:
                    evidence = f"{callee.info.name}(...) returns a {kind.tag.value}"
                    return kind.because(evidence) if kind.variable else kind
                return Kind(Tag.UNKNOWN, True, False, evidence=f"{callee.info.name} is a Cell")
        if callee.name in _INSTANCE_HOLDERS and callee.exact and callee.elements:
            return self.value(callee.elements[-1], node, [], True, evidence)
        result = self.api.get(callee.name)
        if result is not None:
            return self._by_rule(result, callee.name.rpartition(".")[2], node, arguments, True, "")
        made = callee.name.rpartition(".")[2]
        return Kind(Tag.TENSOR, True, True, evidence=f"{made or 'a Cell'}(...) gives a Tensor")

    def _primitive(self, callee: Kind, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        if callee.name in known.SHAPE_FUNCTIONS:
            return Kind(Tag.SHAPE, rank=arguments[0].rank if arguments else None)
        if callee.name in known.CONSTANT_FUNCTIONS:
            return CONSTANT
        last = callee.name.rpartition(".")[2]
        result = self.api.get(callee.name)
        if result is not None:
            return self._by_rule(result, last.lower(), node, arguments, variable, evidence or callee.evidence)
        dtype = _first_dtype(arguments) if last.lower() in known.DTYPE_KEEPING else None
        return Kind(Tag.TENSOR, variable, True, dtype, evidence=evidence or callee.evidence)

    # Built-ins

    def builtin(
        self, name: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str, env: Environment
    ) -> Kind:
        if name == "isinstance":
            return self._isinstance(node, arguments)
        if name in _BOOLEAN_BUILTINS:
            return BOOLEAN
        if name in _INTEGER_BUILTINS:
            return self._length(arguments[0]) if name == "len" and arguments else INTEGER
        if name == "getattr" and len(node.args) >= 2:
            return self._getattr(node, arguments)
        if name == "range":
            return _range(arguments, variable, evidence)
        if name in known.CONSTANT_BUILTINS:
            return NONE if name == "print" else CONSTANT
        if name in known.HOST_SCALAR_BUILTINS:
            return _conversion(name, arguments, variable, evidence)
        if name in _LIST_COPIES:
            return _copied(name, arguments, variable, evidence)
        if name in ("zip", "enumerate", "map", "filter"):
            return self._iterated(name, node, arguments, variable, evidence)
        if name in _ARITHMETIC:
            return _arithmetic(name, node, arguments)
        if name in ("any", "all"):
            return Kind(Tag.SCALAR if variable else Tag.CONSTANT, variable, name="bool", evidence=evidence)
        if name == "dict":
            return self._dict(node, arguments, variable, evidence)
        if name == "slice":
            return Kind(Tag.OBJECT, variable, evidence=evidence)
        if name == "next":
            return part(arguments[0]) if arguments else UNKNOWN
        if name == "iter":
            return arguments[0] if arguments else UNKNOWN
        return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)

    def _isinstance(self, node: ast.Call, arguments: list[Kind]) -> Kind:
        if len(node.args) == 2 and arguments[0].tag is not Tag.UNKNOWN:
            wanted, kind = type_names(node.args[1]), arguments[0]
            if fits(kind, wanted) and not kind.optional:
                return literal(True)._replace(certain=kind.certain)
            if excludes(kind, wanted, self.owner.function.module.definitions):
                return literal(False)._replace(certain=kind.certain)
        return BOOLEAN

    @staticmethod
    def _length(kind: Kind) -> Kind:
        if kind.exact and kind.elements is not None and kind.certain:
            return literal(len(kind.elements))
        if kind.tag is Tag.SHAPE and kind.rank is not None and kind.certain:
            return literal(kind.rank)
        return INTEGER

    def _getattr(self, node: ast.Call, arguments: list[Kind]) -> Kind:
        name = arguments[1].value
        if not isinstance(name, str):
            return UNKNOWN
        found = self.owner.attribute_of(arguments[0], name)
        if found.tag is Tag.UNKNOWN and len(node.args) == 3:
            return arguments[2].assumed()._replace(value=NO_VALUE)
        return found

    def _iterated(self, name: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        if name == "enumerate" and arguments:
            pair = sequence((INTEGER, self.element(arguments[0])), "tuple")
            return Kind(Tag.SEQUENCE, variable, elements=(pair,), evidence=evidence)
        if name == "zip":
            items = tuple(self.element(a) for a in arguments)
            return Kind(Tag.SEQUENCE, variable, elements=(sequence(items, "tuple"),), evidence=evidence)
        if name == "map" and len(arguments) >= 2:
            made = self.value(arguments[0], node, [self.element(a) for a in arguments[1:]], variable, evidence)
            return Kind(Tag.SEQUENCE, variable, certain=made.certain, elements=(made,), evidence=evidence)
        inside = arguments[-1] if arguments else UNKNOWN
        return Kind(Tag.SEQUENCE, variable, elements=(self.element(inside),), evidence=evidence)

    def element(self, kind: Kind) -> Kind:
        """What iterating over a value gives."""
        return part(kind)

    def _dict(self, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        names = [k.arg for k in node.keywords]
        if not node.args and None not in names:
            return Kind(Tag.DICT, variable, elements=tuple(arguments), keys=tuple(names), exact=True,
                        evidence=evidence)  # fmt: skip
        if len(node.args) == 1 and not names and arguments[0].tag is Tag.DICT:
            return arguments[0]
        return Kind(Tag.DICT, variable, evidence=evidence)

    # Methods of values

    def method(self, base: Kind, node: ast.Call, arguments: list[Kind], env: Environment) -> Kind:
        name = node.func.attr  # type: ignore[attr-defined]
        variable = base.variable or any(a.variable for a in arguments)
        handler = _METHODS.get(base.tag)
        if handler is not None:
            return handler(self, base, name, node, arguments, variable, env)
        return Kind(Tag.UNKNOWN, variable, False, evidence=base.evidence)

    def _tensor_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        if name in known.TENSOR_HOST_ARRAY_METHODS:
            return Kind(Tag.NDARRAY, base.variable, True, base.dtype, base.rank,
                        evidence=f".{name}() hands the Tensor to the host")  # fmt: skip
        if name in known.TENSOR_HOST_VALUE_METHODS:
            tag = Tag.SCALAR if name == "item" else Tag.SEQUENCE
            return Kind(tag, base.variable, evidence=f".{name}() hands the Tensor to the host")
        if name == "size":
            return INTEGER if arguments else Kind(Tag.SHAPE, rank=base.rank)
        if name in known.TENSOR_CONSTANT_METHODS:
            return literal(base.rank) if name in ("dim", "ndimension") and base.rank is not None and base.certain else (
                BOOLEAN if name.startswith("is_") else INTEGER)  # fmt: skip
        dtype = known.DTYPE_METHODS.get(name)
        if dtype is not None:
            return Kind(Tag.TENSOR, variable, base.certain, dtype, base.rank, evidence=base.evidence)
        if name in ("to", "astype", "type", "cast"):
            return Kind(Tag.TENSOR, variable, base.certain, self.dtype_argument(node, arguments), base.rank,
                        evidence=base.evidence)  # fmt: skip
        result = self.api.get(f"mindspore.Tensor.{name}")
        if result is not None:
            kind = self._by_rule(result, name, node, [base, *arguments], variable, base.evidence)
            return kind if base.certain else kind.assumed()
        dtype = self.dtype_argument(node, arguments)
        if dtype is None and name in known.DTYPE_KEEPING:
            dtype = base.dtype
        return Kind(Tag.TENSOR, variable, base.certain, dtype, evidence=base.evidence)

    def _array_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        dtype = self.dtype_argument(node, arguments) if name == "astype" else base.dtype
        tag = Tag.SCALAR if name in ("item", "tolist") else Tag.NDARRAY
        return Kind(tag, variable, base.certain, dtype, evidence=base.evidence)

    def _dict_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        if name in ("get", "pop", "setdefault"):
            key = arguments[0].value if arguments else NO_VALUE
            if base.keys is not None and base.elements is not None and key is not NO_VALUE and key in base.keys:
                return base.elements[base.keys.index(key)]
            missing = arguments[1] if len(arguments) > 1 else NONE
            if base.keys is not None and base.exact and key is not NO_VALUE:
                return missing
            value = dict_value(base)
            return value if value.tag is Tag.UNKNOWN else join_all([value, missing])
        if name == "values":
            return Kind(Tag.SEQUENCE, base.variable, elements=base.elements or None, exact=base.exact,
                        certain=base.elements is not None, evidence=base.evidence)  # fmt: skip
        if name == "keys":
            return Kind(Tag.SEQUENCE, elements=(part(base),), evidence=base.evidence)
        if name == "items":
            pair = sequence((part(base), dict_value(base)), "tuple")
            return Kind(Tag.SEQUENCE, base.variable, pair.certain, elements=(pair,), evidence=base.evidence)
        if name == "update":
            target = node.func.value  # type: ignore[attr-defined]
            if isinstance(target, ast.Name):
                env[target.id] = Kind(Tag.DICT, variable, evidence=base.evidence)
            return NONE
        if name == "copy":
            return base
        return Kind(Tag.UNKNOWN, variable, False, evidence=base.evidence)

    def _sequence_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        if name == "pop":
            return part(base)
        if name in _GROWING:
            _grow(name, node, base, arguments, env)
            return NONE
        if name in ("index", "count"):
            return Kind(Tag.SCALAR if variable else Tag.CONSTANT, variable, name="int", evidence=base.evidence)
        if name == "copy":
            return base
        if name in ("sort", "reverse", "remove", "clear"):
            return NONE
        return Kind(Tag.UNKNOWN, variable, False, evidence=base.evidence)

    def _constant_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        if base.python_type != "str":
            if variable:
                return Kind(Tag.UNKNOWN, True, False, evidence=base.evidence)
            return CONSTANT.assumed()
        evidence = next((a.evidence for a in arguments if a.variable), base.evidence)
        if name in _STRING_LISTS:
            return Kind(Tag.SEQUENCE, variable, elements=(STRING,), name="list", evidence=evidence)
        kind = INTEGER if name in _STRING_NUMBERS else BOOLEAN if name in _STRING_TESTS else STRING
        return kind._replace(variable=variable, evidence=evidence)

    def _scalar_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        return Kind(Tag.SCALAR, variable, base.certain, evidence=base.evidence)

    def _shape_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        return INTEGER

    def _cells_method(
        self, base: Kind, name: str, node: ast.Call, arguments: list[Kind], variable: bool, env: Environment
    ) -> Kind:
        if name in ("values", "cells", "construct"):
            return Kind(Tag.SEQUENCE, elements=base.elements or (part(base),), exact=base.exact, evidence=base.evidence)
        if name == "keys":
            return Kind(Tag.SEQUENCE, elements=(STRING,))
        if name == "items":
            inside = join_all(list(base.elements)) if base.elements else Kind(Tag.CELL, evidence=base.evidence)
            return Kind(Tag.SEQUENCE, elements=(sequence((STRING, inside), "tuple"),), evidence=base.evidence)
        return Kind(Tag.UNKNOWN, variable, False, evidence=base.evidence)


_METHODS: dict[Tag, Callable[..., Kind]] = {
    Tag.TENSOR: CallResults._tensor_method, Tag.PARAMETER: CallResults._tensor_method,
    Tag.NDARRAY: CallResults._array_method, Tag.DICT: CallResults._dict_method,
    Tag.SEQUENCE: CallResults._sequence_method, Tag.CONSTANT: CallResults._constant_method,
    Tag.SCALAR: CallResults._scalar_method, Tag.SHAPE: CallResults._shape_method,
    Tag.CELLS: CallResults._cells_method,
}  # fmt: skip


@cache
def layer(name: str) -> Kind | None:
    """The instance that a class of MindSpore makes, where it is a layer whose kind no argument changes."""
    group, last = _group(name)
    if group != "layer" or name in known.CELL_CONTAINERS or name in _INSTANCE_HOLDERS:
        return None
    return Kind(Tag.CELL, name=name, evidence=f"{last}(...) makes a {Tag.CELL.value}")


def project_cell(info: ClassInfo) -> Kind:
    """An instance of a Cell of the project."""
    return Kind(Tag.CELL, name=info.qualname, evidence=f"{info.name} is a Cell", info=info)


@cache
def _group(name: str) -> tuple[str, str]:
    """What a name of MindSpore's is, and its last part."""
    last = name.rpartition(".")[2]
    if name in known.TENSOR_CONSTRUCTORS:
        return "tensor", last
    if name in known.PARAMETER_CONSTRUCTORS:
        return "parameter", last
    if name == "mindspore.mutable":
        return "mutable", last
    if name in known.SHAPE_FUNCTIONS and last[0].islower():
        return "shape", last
    if (name in known.CONSTANT_FUNCTIONS and last[0].islower()) or (
        last in known.DTYPES and name == f"mindspore.{last}"
    ):
        return "constant", last
    if name.startswith(known.CELL_MODULES) and last[:1].isupper():
        return "layer", last
    if name.startswith(known.TENSOR_MODULES):
        if last[:1].isupper():
            return "primitive", last
        if name == f"mindspore.ops.{last}" or name.startswith(("mindspore.mint.", "mindspore.numpy.")):
            return "function", last
    return "", last


def _as_dtype(kind: Kind) -> str | None:
    value = kind.value
    if value.__class__ is not str:
        return None
    found = known.DTYPES.get(value)
    # `float` is what a dtype may be called, and what a type may be; as a string only the exact names count.
    return str(value) if found == value else None


def _first_dtype(arguments: list[Kind]) -> str | None:
    for argument in arguments:
        if argument.is_tensor:
            return argument.dtype
        if argument.tag is Tag.SEQUENCE and argument.elements:
            inner = _first_dtype(list(argument.elements))
            if inner is not None:
                return inner
    return None


def _dtype(rule: str, arguments: list[Kind]) -> str | None:
    if rule == "same":
        return _first_dtype(arguments)
    if rule == "floating":
        found = _first_dtype(arguments)
        return found if found is None or found in known.FLOAT_DTYPES else "float32"
    if rule == "same-float":
        found = _first_dtype(arguments)
        return found if found in known.FLOAT_DTYPES else None
    if rule != "promoted":
        return rule or None
    tensors = [a for a in arguments if a.is_tensor]
    if not tensors:
        return None
    found = tensors[0].dtype
    for tensor in tensors[1:]:
        found = promoted(found, tensor.dtype)
    if found in known.FLOAT_DTYPES or len(tensors) == len(arguments):
        return found
    numbers = [a for a in arguments if a.tag is Tag.CONSTANT]
    return found if all(n.python_type in ("int", "bool") for n in numbers) and found != "bool" else None


def _mutable(kind: Kind) -> Kind:
    """`mutable(x)`: the compiler takes it for a variable, whatever it is."""
    if kind.tag is Tag.CONSTANT:
        return Kind(Tag.SCALAR, True, name=kind.python_type, evidence="mutable(...) makes it a variable")
    elements = kind.elements and tuple(map(_mutable, kind.elements))
    return kind._replace(variable=True, value=NO_VALUE, elements=elements, evidence="mutable(...) makes it a variable")


def _range(arguments: list[Kind], variable: bool, evidence: str) -> Kind:
    item = Kind(Tag.SCALAR, True, name="int", evidence=evidence) if variable else INTEGER
    return Kind(Tag.SEQUENCE, variable, elements=(item,), name="range", evidence=evidence)


def _conversion(name: str, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
    if name == "str":
        return Kind(Tag.CONSTANT, variable, name="str", evidence=evidence)
    if variable:
        return Kind(Tag.SCALAR, True, name=name, evidence=evidence)
    value = arguments[0].value if len(arguments) == 1 and arguments[0].certain else NO_VALUE
    if value.__class__ in (int, bool, float):
        try:
            return literal({"int": int, "float": float, "bool": bool, "complex": complex}[name](value))
        except (ArithmeticError, ValueError):
            return Kind(Tag.CONSTANT, name=name)
    return Kind(Tag.CONSTANT, name=name)


def _copied(name: str, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
    if not arguments:
        return Kind(Tag.SEQUENCE, elements=(), name=name, exact=True)
    first = arguments[0]
    if first.tag is Tag.SHAPE:
        return first
    made = "list" if name in ("sorted", "reversed") else name
    if first.tag is Tag.SEQUENCE:
        exact = first.exact and name in ("tuple", "list")
        elements = first.elements
        if not exact and elements:
            elements = (join_all(list(elements)),)
        return Kind(Tag.SEQUENCE, variable, first.certain, elements=elements or (() if exact else None), name=made,
                    evidence=evidence, exact=exact)  # fmt: skip
    inner = part(first)
    elements = None if inner.tag is Tag.UNKNOWN else (inner,)
    return Kind(Tag.SEQUENCE, variable, first.certain, elements=elements, name=made, evidence=evidence)


def _arithmetic(name: str, node: ast.Call, arguments: list[Kind]) -> Kind:
    if not arguments:
        return CONSTANT
    if name == "round" and len(node.args) == 2:
        return arguments[0]._replace(value=NO_VALUE)
    whole = len(arguments) == 1 and name in ("sum", "max", "min")
    kinds = [part(arguments[0])] if whole else [part(a) if a.tag is Tag.SEQUENCE else a for a in arguments]
    result = kinds[0]
    for kind in kinds[1:]:
        result = binary(result, kind)
    result = result._replace(value=NO_VALUE) if result.tag is Tag.CONSTANT else result
    if name == "divmod":
        return sequence((result, result), "tuple")
    return result


def _by_field(fields: tuple[str, ...], node: ast.Call, arguments: list[Kind]) -> tuple[Kind, ...]:
    given = dict(zip(fields, arguments[: len(node.args)]))
    given |= {k.arg: a for k, a in zip(node.keywords, arguments[len(node.args) :]) if k.arg}
    return tuple(given.get(name, CONSTANT.assumed()) for name in fields)


def _grow(name: str, node: ast.Call, base: Kind, arguments: list[Kind], env: Environment) -> None:
    """A local list holds what is appended to it from here on."""
    target = node.func.value  # type: ignore[attr-defined]
    if not arguments or not isinstance(target, ast.Name):
        return
    added = part(arguments[-1]) if name == "extend" else arguments[-1]
    elements = base.elements or ()
    if name == "append" and base.exact and len(elements) < 8:
        env[target.id] = sequence((*elements, added), "list")
        return
    element = join_all([*elements, added])
    env[target.id] = Kind(Tag.SEQUENCE, base.variable or added.variable, added.certain, elements=(element,),
                          name="list", evidence=added.evidence or base.evidence)  # fmt: skip
