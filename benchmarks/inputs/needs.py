"""What a Cell needs to be made and called, read off its source: the denominator of the measurement.

It is deliberately independent of what the worker can guess: a Cell counts as one that needs only tensors and plain
arguments although nothing tells which numbers would do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import dotted
from graphward.analysis.project import Project

PLAIN = "tensors and plain arguments"
CONFIG = "a configuration object"
OTHER = "Cells, classes, functions or other objects"
ABSTRACT = "nothing: it does not implement construct"
KINDS = (PLAIN, CONFIG, OTHER, ABSTRACT)

_PLAIN_NAMES = frozenset((
    "int", "float", "bool", "str", "bytes", "None", "NoneType", "Number", "tuple", "list", "dict", "Tuple", "List",
    "Dict", "Sequence", "Iterable", "Mapping", "Set", "set", "Optional", "Union", "Literal", "Any", "Final",
    "Annotated", "Tensor", "Parameter", "ndarray", "array", "Type", "dtype", "Dtype", "Initializer", "int8",
    "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16", "ArrayLike", "_ListOrTupleOf"
))  # fmt: skip
_CLASSES = frozenset(("Cell", "Module", "Callable", "type", "Type"))
_OF_VALUES = frozenset((
    "lower", "upper", "split", "strip", "startswith", "endswith", "append", "extend", "insert", "items", "keys",
    "values", "get", "pop", "copy", "update", "index", "count", "setdefault", "format", "replace", "join", "remove"
))  # fmt: skip
"""Methods of plain values; any other attribute of a constructor's parameter makes it an object."""
_OBJECTS = frozenset(("config", "cfg", "configs", "opt", "opts", "hparams"))
_DEPTH = 3


@dataclass(frozen=True)
class Needs:
    """`kind` is one of KINDS; `names` are the parameters that make it more than plain."""

    kind: str
    names: tuple[str, ...]


def needs(project: Project, cell: ClassInfo) -> Needs:
    """What the required parameters of the constructor and of `construct` are."""
    configs: list[str] = []
    others: list[str] = []
    made = project.method(cell, "__init__")
    for name, annotation in _required(made):
        kind = _of_constructor(project, cell, made, name, annotation, _DEPTH)
        if kind != PLAIN:
            (configs if kind == CONFIG else others).append(name)
    called = project.method(cell, "construct")
    if called is not None and _is_abstract(called):
        return Needs(ABSTRACT, ())
    for name, annotation in _required(called):
        if _of_call(project, called, name, annotation) != PLAIN:
            others.append(name)
    if others:
        return Needs(OTHER, tuple(others))
    return Needs(CONFIG, tuple(configs)) if configs else Needs(PLAIN, ())


def _is_abstract(function: FunctionInfo) -> bool:
    """Whether a method does nothing, or only says that a class below has to implement it."""
    body = [s for s in function.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if not body or all(isinstance(statement, ast.Pass) for statement in body):
        return True
    raised = body[0].exc if isinstance(body[0], ast.Raise) else None
    return raised is not None and ast.unparse(raised).startswith("NotImplementedError")


def _required(function: FunctionInfo | None) -> list[tuple[str, ast.expr | None]]:
    if function is None:
        return []
    given = function.node.args
    positional = [*given.posonlyargs, *given.args]
    if not function.is_static:
        positional = positional[1:]
    without = positional[: max(0, len(positional) - len(given.defaults))]
    keywords = [a for a, default in zip(given.kwonlyargs, given.kw_defaults) if default is None]
    return [(a.arg, a.annotation) for a in (*without, *keywords)]


def _of_constructor(
    project: Project, cell: ClassInfo, function: FunctionInfo | None, name: str, annotation: ast.expr | None, depth: int
) -> str:
    if annotation is not None:
        kind = _annotated(project, function, annotation)
        if kind is not None:
            return kind
    if function is None:
        return PLAIN
    kept = {attribute for attribute, value in function.self_assignments if _is(value, name)}
    found = PLAIN
    for node in function.nodes:
        if isinstance(node, ast.Attribute) and _is(node.value, name) and node.attr not in _OF_VALUES:
            found = CONFIG if name in _OBJECTS or name.endswith(("config", "cfg", "args")) else OTHER
        elif isinstance(node, ast.Subscript) and _is(node.value, name) and _is_text(node.slice):
            found = CONFIG
        elif isinstance(node, ast.Call) and _is(node.func, name):
            return OTHER
        elif isinstance(node, ast.Call) and depth:
            for callee, parameter in _handed(project, cell, function, node, name):
                kind = _of_constructor(project, cell, callee, parameter.arg, parameter.annotation, depth - 1)
                if kind != PLAIN:
                    return kind
    if found == PLAIN and kept and any(_is_used_as_object(project, cell, attribute) for attribute in kept):
        return CONFIG if name in _OBJECTS or name.endswith(("config", "cfg")) else OTHER
    if found == PLAIN and (name in _OBJECTS or name.endswith(("config", "cfg"))):
        return CONFIG
    return found


def _handed(
    project: Project, cell: ClassInfo, function: FunctionInfo, call: ast.Call, name: str
) -> Iterator[tuple[FunctionInfo, ast.arg]]:
    """The constructors that get the parameter `name`, each with the parameter that it becomes there."""
    if not any(_is(value, name) for value in (*call.args, *(k.value for k in call.keywords))):
        return
    callee: FunctionInfo | None = None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
        callee = project.method(cell, "__init__", after=function.owner)
    else:
        made = project.called_class(function, call)
        callee = project.method(made, "__init__") if made is not None else None
    if callee is None or callee is function:
        return
    arguments = [*callee.node.args.posonlyargs, *callee.node.args.args][1:]
    named = {a.arg: a for a in (*arguments, *callee.node.args.kwonlyargs)}
    for value, parameter in zip(call.args, arguments):
        if _is(value, name):
            yield callee, parameter
    for keyword in call.keywords:
        if _is(keyword.value, name) and keyword.arg in named:
            yield callee, named[keyword.arg]


def _is_used_as_object(project: Project, cell: ClassInfo, attribute: str) -> bool:
    called = project.method(cell, "construct")
    if called is None:
        return False
    for node in called.nodes:
        held = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Attribute) else None
        if isinstance(held, ast.Attribute) and held.attr == attribute and _is(held.value, called.receiver or ""):
            return True
    return False


def _of_call(project: Project, function: FunctionInfo | None, name: str, annotation: ast.expr | None) -> str:
    if annotation is not None:
        kind = _annotated(project, function, annotation)
        if kind is not None:
            return kind
    for node in function.nodes if function is not None else ():
        if isinstance(node, ast.Call) and _is(node.func, name):
            return OTHER
    return PLAIN


def _annotated(project: Project, function: FunctionInfo | None, node: ast.expr) -> str | None:
    """None when the annotation says nothing."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _annotated(project, function, ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return None
    if isinstance(node, ast.Subscript) and (dotted(node.value) or "").endswith("Literal"):
        return PLAIN
    names = [dotted(n) for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))]
    inner = {dotted(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    heads = [n.rpartition(".")[2] for n in names if n is not None and n not in inner]
    if not heads or heads == ["Any"]:
        return None
    if any(h in _CLASSES and h != "Type" for h in heads) or heads[0] == "Type":
        return OTHER if "mstype" not in ast.unparse(node) and "mindspore" not in ast.unparse(node) else PLAIN
    unknown = [h for h in heads if h not in _PLAIN_NAMES]
    if not unknown:
        return PLAIN
    if any(h.lower().endswith(("config", "cfg", "arguments", "args")) for h in unknown):
        return CONFIG
    resolved = [project.named(function.module, h) for h in unknown] if function is not None else []
    if all(isinstance(r, ClassInfo) and project.is_cell(r) is False and _is_data(r) for r in resolved):
        return CONFIG
    return OTHER


def _is_data(info: ClassInfo) -> bool:
    return any("dataclass" in ast.unparse(d) for d in info.node.decorator_list)


def _is(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
