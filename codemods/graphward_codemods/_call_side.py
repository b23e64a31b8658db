"""A `__call__` beside `construct`: what has to happen in Python, once for each call and outside of the graph."""

from __future__ import annotations

import ast

from graphward.analysis.names import all_arguments
from graphward.analysis.project import Project
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._blocks import CannotRewrite, step_of

# Behind whatever an `__init__` gets that ends right above `construct`; two of these never go together.
_BELOW_INIT = 6 << 32


def check_call_side(context: FunctionContext) -> None:
    """Raises CannotRewrite where the class can get no `__call__`, or a graph would go around it."""
    check_own_call(context)
    if context.reached.sites:
        raise CannotRewrite("another graph calls this one, and goes around its __call__: do it where the outermost "
                            "Cell is called, and pass the value in")  # fmt: skip


def check_own_call(context: FunctionContext) -> None:
    """Raises CannotRewrite where the class can get no `__call__`."""
    function = context.function
    owner = function.owner
    if owner is None or function.name != "construct" or function.is_static:
        raise CannotRewrite("do it where the function is called, and pass the value in")
    project: Project = context.project
    if any("__call__" in info.methods for info in project.mro(owner)):
        raise CannotRewrite("the class has a __call__ of its own: do it there")
    if function.node.decorator_list:
        raise CannotRewrite("construct is decorated")


def insert_call_side(context: FunctionContext, rewrite: Rewrite, signature: str, body: list[str]) -> None:
    """Put `def __call__(<signature>)` above `construct`; the lines of the body come without indentation."""
    function = context.function
    source = context.module.source
    indent = source.indent(function.first_line)
    lines = [f"{indent}def __call__({signature}):", *(f"{indent}{step_of(function)}{line}" for line in body), ""]
    text = "".join(f"{line}{source.newline}" for line in lines)
    rewrite.insert(source.offset(function.first_line, 0), text, _BELOW_INIT)


def plain_parameters(context: FunctionContext) -> list[str]:
    """The parameters of `construct` after the instance; raises CannotRewrite for stars and keyword-only ones."""
    arguments = context.function.node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise CannotRewrite("construct takes stars or keyword-only parameters")
    return [a.arg for a in all_arguments(arguments)][1:]


def signature_text(context: FunctionContext) -> str:
    """The parameters of `construct` as they are written."""
    arguments = context.function.node.args
    nodes: list[ast.AST] = [*all_arguments(arguments), *arguments.defaults]
    module = context.module
    return module.source.utf8[min(map(module.start, nodes)) : max(map(module.end, nodes))].decode()
