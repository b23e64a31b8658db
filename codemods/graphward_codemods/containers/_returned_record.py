"""Which `return` of a `construct` gives a record and which a tuple, and the `__call__` that makes the record of it."""

from __future__ import annotations

import ast

from graphward.analysis.names import all_arguments
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext

from .._blocks import CannotRewrite, step_of


def switch(plain: list[ast.Return], records: list[ast.Return], context: FunctionContext) -> list[str]:
    """The lines for `__call__` that hand the other returns on as they are: `if not return_dict: return outputs`.

    Raises CannotRewrite where the arguments of the call do not tell the returns apart.
    """
    if not plain:
        return []
    body = context.function.node.body
    name = _tested(plain, body, negated=True, context=context) or _tested(records, body, negated=False, context=context)
    if not name or name not in [a.arg for a in _parameters(context)]:
        raise CannotRewrite("construct returns something else elsewhere: return a tuple everywhere, with "
                            "return_dict=False where there is such an option")  # fmt: skip
    lines = []
    for node in context.function.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            lines.append(_repeated(context.parent(node), name, context))
    return [*lines, f"if not {name}:", f"{step_of(context.function)}return outputs"]


def call_of(context: FunctionContext) -> tuple[str, str]:
    """The parameters of `construct` as they are written, and the arguments that hand all of them on."""
    arguments = context.function.node.args
    module = context.module
    data = module.source.utf8
    nodes: list[ast.AST] = [*_parameters(context), *arguments.defaults, *(d for d in arguments.kw_defaults if d)]
    start = data.index(b"(", module.start(context.function.node)) + 1
    end = data.index(b")", max(map(module.end, nodes)))
    text = data[start:end].decode()
    if "#" in text:
        raise CannotRewrite("the parameters of construct have comments: write the __call__ by hand")
    every = all_arguments(arguments)
    handed = [a.arg for a in [*arguments.posonlyargs, *arguments.args]][1:]
    handed += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    handed += [f"{a.arg}={a.arg}" for a in arguments.kwonlyargs]
    handed += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    if not every:
        raise CannotRewrite("construct has no parameters")
    return text, ", ".join(handed)


def _parameters(context: FunctionContext) -> list[ast.arg]:
    arguments = context.function.node.args
    stars = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *stars]


def _tested(returns: list[ast.Return], body: list[ast.stmt], *, negated: bool, context: FunctionContext) -> str:
    """The one name by which an `if` of the function's own block decides on all these; "" where there is none."""
    names = set()
    for found in returns:
        holder = context.parent(found)
        if not isinstance(holder, ast.If) or holder not in body or found not in holder.body:
            return ""
        test = holder.test
        if negated:
            if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
                return ""
            test = test.operand
        names.add(test.id if isinstance(test, ast.Name) else "")
    return names.pop() if len(names) == 1 else ""


def _repeated(statement: ast.AST | None, name: str, context: FunctionContext) -> str:
    """An assignment that `__call__` can repeat, since it needs only what is there before `construct` runs."""
    function = context.function
    if not isinstance(statement, ast.Assign) or statement not in function.node.body or len(statement.targets) != 1:
        raise CannotRewrite(f"{name} is changed on the way")
    used = {n.id for n in preorder(statement.value) if isinstance(n, ast.Name)}
    changed = {n.id for n in function.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - {name}
    if used & changed or any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in preorder(statement.value)):
        raise CannotRewrite(f"{name} is changed on the way")
    return ast.unparse(statement)
