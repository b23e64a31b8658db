"""Records: named tuples and dataclasses, with the fields that they are made of."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from graphward.analysis.module import ClassInfo
from graphward.rules.context import FunctionContext

_NAMED = frozenset({"collections.namedtuple", "typing.NamedTuple"})
_BUILTINS = frozenset(dir(builtins))
_NOT_OF_THE_PROJECT = ("mindspore.", "numpy.", "math.")
_DATACLASSES = frozenset({"dataclasses.dataclass", "dataclass"})


@dataclass(frozen=True)
class Record:
    """A record class: its name, the names of its fields in order, and the default of each that has one."""

    name: str
    fields: tuple[str, ...]
    defaults: dict[str, ast.expr]


@dataclass(frozen=True)
class Made:
    """A record that a call makes: the value of each field, by name."""

    record: Record
    values: dict[str, ast.expr]


def made_by(node: ast.Call, context: FunctionContext) -> Made | None:
    """The record that a call makes, where its class and its arguments are seen; else None."""
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    record = _record(node.func, context)
    if record is None or len(node.args) > len(record.fields):
        return None
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg not in record.fields for k in node.keywords):
        return None
    values: dict[str, ast.expr] = dict(zip(record.fields, node.args))
    values |= {k.arg: k.value for k in node.keywords if k.arg}
    for field in record.fields:
        if field not in values:
            default = record.defaults.get(field)
            if not isinstance(default, ast.Constant):
                return None
            values[field] = default
    return Made(record, {field: values[field] for field in record.fields})


def _record(func: ast.Name | ast.Attribute, context: FunctionContext) -> Record | None:
    found = None
    if isinstance(func, ast.Attribute) and not isinstance(func.value, ast.Name):
        return None
    if isinstance(func, ast.Name):
        if func.id in _BUILTINS:
            return None
        found = context.project.visible(context.function, func.id)
        if found is None and not context.function.names.is_local(func.id):
            value = context.module.assignments.get(func.id)
            if isinstance(value, ast.Call) and context.module.names.resolve(value.func) in _NAMED:
                return _from_call(func.id, value)
    if found is None:
        qualified = context.resolve(func)
        if qualified is not None and not qualified.startswith(_NOT_OF_THE_PROJECT):
            found = context.project.definition(qualified)
    if not isinstance(found, ClassInfo):
        return None
    known = found
    return context.once((_record, found.module.name, found.qualname), lambda: _from_class(known, context))


def _from_call(name: str, call: ast.Call) -> Record | None:
    """`namedtuple("Out", ["a", "b"])`, `namedtuple("Out", "a b")`, `NamedTuple("Out", [("a", Tensor)])`."""
    if len(call.args) != 2 or call.keywords:
        return None
    fields = call.args[1]
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        return Record(name, tuple(fields.value.replace(",", " ").split()), {})
    if not isinstance(fields, (ast.List, ast.Tuple)):
        return None
    names = [e.elts[0] if isinstance(e, ast.Tuple) and e.elts else e for e in fields.elts]
    texts = [n.value for n in names if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return Record(name, tuple(texts), {}) if len(texts) == len(names) else None


def _from_class(info: ClassInfo, context: FunctionContext) -> Record | None:
    """A class that derives from NamedTuple or is decorated as a dataclass, with no `__init__` of its own."""
    decorators = [d.func if isinstance(d, ast.Call) else d for d in info.node.decorator_list]
    is_dataclass = any((info.names.resolve(d) or "") in _DATACLASSES for d in decorators)
    if not is_dataclass and "typing.NamedTuple" not in context.project.bases(info):
        return None
    fields: dict[str, ast.expr | None] = {}
    for known in reversed(context.project.mro(info)):
        if "__init__" in known.methods or "__new__" in known.methods:
            return None
        for statement in known.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                fields[statement.target.id] = statement.value
    return Record(info.name, tuple(fields), {k: v for k, v in fields.items() if v is not None})
