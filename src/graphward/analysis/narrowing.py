"""What a condition tells of the names in it, and whether it is decided while compiling."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from .kinds import NO_VALUE, NONE, STRING, UNKNOWN, Kind, Tag
from .names import dotted

Environment = dict[str, Kind]

_TYPES = {
    "int": Kind(Tag.CONSTANT, name="int"), "float": Kind(Tag.CONSTANT, name="float"), "str": STRING,
    "bool": Kind(Tag.CONSTANT, name="bool"), "tuple": Kind(Tag.SEQUENCE, name="tuple"),
    "list": Kind(Tag.SEQUENCE, name="list"), "dict": Kind(Tag.DICT), "Tensor": Kind(Tag.TENSOR, variable=True),
    "Parameter": Kind(Tag.PARAMETER, variable=True), "ndarray": Kind(Tag.NDARRAY),
}  # fmt: skip
_NUMBER_TYPES = frozenset({"int", "float", "bool"})


def truth(kind: Kind) -> bool | None:
    """Whether a condition of that kind holds, where the compiler knows it and the tool does not guess."""
    if not kind.certain or kind.variable or kind.optional:
        return None
    if kind.value is not NO_VALUE and kind.tag is Tag.CONSTANT and (kind.value is None or kind.name != "dtype"):
        return bool(kind.value) if isinstance(kind.value, (bool, int, float, str, type(None))) else None
    if kind.tag in (Tag.CELL, Tag.PRIMITIVE, Tag.FUNCTION):
        return True
    return None


def narrowed(test: ast.expr, env: Environment, holds: bool, kind_of: Callable[[ast.expr], Kind]) -> Environment:
    """What is known where `test` holds, or where it does not; `env` itself when the test says nothing new.
    `kind_of` gives the kinds of names and attributes that the environment lacks."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrowed(test.operand, env, not holds, kind_of)
    if isinstance(test, ast.BoolOp):
        # Of `a and b` both hold, or any one does not; of `a or b` the other way round.
        if isinstance(test.op, ast.And) is holds:
            for value in test.values:
                env = narrowed(value, env, holds, kind_of)
        return env
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _by_none(test, env, holds, kind_of)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        if test.func.id == "isinstance" and len(test.args) == 2 and "isinstance" not in env:
            return _by_type(test, env, holds, kind_of)
        return env
    if isinstance(test, (ast.Name, ast.Attribute)):
        key = dotted(test)
        if key is not None and holds:
            kind = env.get(key) or kind_of(test)
            if kind.optional:
                return {**env, key: kind._replace(optional=False)}
    return env


def _by_none(test: ast.Compare, env: Environment, holds: bool, kind_of: Callable[[ast.expr], Kind]) -> Environment:
    op, other = test.ops[0], test.comparators[0]
    if not (isinstance(op, (ast.Is, ast.IsNot)) and isinstance(other, ast.Constant) and other.value is None):
        return env
    key = dotted(test.left)
    if key is None:
        return env
    kind = env.get(key) or kind_of(test.left)
    if isinstance(op, ast.Is) is holds:
        return env if kind.value is None else {**env, key: NONE}
    return {**env, key: kind._replace(optional=False)} if kind.optional else env


def _by_type(test: ast.Call, env: Environment, holds: bool, kind_of: Callable[[ast.expr], Kind]) -> Environment:
    key = dotted(test.args[0])
    if key is None:
        return env
    kind = env.get(key) or kind_of(test.args[0])
    wanted = type_names(test.args[1])
    if not holds:
        # What was taken for a Tensor and is none is anything.
        if kind.is_tensor and not kind.certain and "Tensor" in wanted:
            return {**env, key: UNKNOWN.because(kind.evidence)._replace(variable=kind.variable)}
        return env
    if fits(kind, wanted) and not kind.optional:
        return {**env, key: kind._replace(certain=True)} if not kind.certain and len(wanted) == 1 else env
    if kind.optional and fits(kind._replace(optional=False), wanted):
        return {**env, key: kind._replace(optional=False)}
    found = [_TYPES[name] for name in wanted if name in _TYPES]
    if not found or len(found) != len(wanted):
        return {**env, key: UNKNOWN._replace(variable=kind.variable)} if not kind.certain else env
    first = found[0]
    if any(f.tag is not first.tag for f in found):
        return env
    evidence = f"isinstance({key}, {ast.unparse(test.args[1])})"
    variable = first.variable or (kind.variable and first.tag in (Tag.SEQUENCE, Tag.DICT))
    name = first.name if len(found) == 1 else ""
    return {**env, key: first._replace(variable=variable, name=name, evidence=evidence)}


def type_names(node: ast.expr) -> tuple[str, ...]:
    """The last parts of the names of the types in `isinstance(x, node)`."""
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    return tuple((dotted(n) or "?").rpartition(".")[2] for n in nodes)


def fits(kind: Kind, wanted: tuple[str, ...]) -> bool:
    """Whether a value of that kind is sure to be an instance of one of the named types."""
    tag = kind.tag
    if tag is Tag.TENSOR:
        return "Tensor" in wanted
    if tag is Tag.PARAMETER:
        return "Tensor" in wanted or "Parameter" in wanted
    if tag is Tag.SHAPE:
        return "tuple" in wanted
    if tag in (Tag.SEQUENCE, Tag.CONSTANT):
        name = kind.python_type
        return bool(name) and (name in wanted or (name == "bool" and "int" in wanted) or
                               (tag is Tag.SEQUENCE and {"tuple", "list"} <= set(wanted)))  # fmt: skip
    if tag is Tag.DICT:
        return "dict" in wanted
    if tag is Tag.NDARRAY:
        return "ndarray" in wanted
    return False


def excludes(kind: Kind, wanted: tuple[str, ...], classes: Mapping[str, object]) -> bool:
    """Whether a value of that kind is sure to be no instance of any of the named types."""
    if kind.tag in (Tag.UNKNOWN, Tag.OBJECT, Tag.CELL, Tag.PRIMITIVE, Tag.FUNCTION) or kind.optional:
        return False
    if any(name not in _TYPES or name in classes for name in wanted):
        return False
    if kind.tag is Tag.TENSOR:
        return not {"Tensor", "Parameter"} & set(wanted)
    if kind.tag in (Tag.CONSTANT, Tag.SEQUENCE) and not kind.python_type:
        kinds = {_TYPES[name].tag for name in wanted}
        return kind.tag not in kinds
    if kind.tag is Tag.SCALAR:
        return not _NUMBER_TYPES & set(wanted) and "Tensor" not in wanted
    return not fits(kind, wanted)
