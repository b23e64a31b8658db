"""Lambdas and partial objects written as what `jit` can read: functions of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.analysis.module import FunctionInfo, Module
from graphward.analysis.names import all_arguments
from graphward.rules.module_context import ModuleContext
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, comments_of, insert_before, replace_statement
from .._outside import visible

_INNER = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def lambda_to_function(context: ModuleContext, function: ast.Lambda, call: ast.Call | None = None) -> Fix:
    """`def` for a lambda; with `call`, a `jit(lambda ...)`, the decorator stands on it where a variable gets it."""
    title = "Make it a function"
    rewrite = context.rewrite()
    statement = context.statement(function)
    module = context.module
    try:
        _movable(context, function, statement)
        parameters = module.source.utf8[module.start(function) + 6 : module.start(function.body)].decode()
        head = parameters.rpartition(":")[0].strip()
        text = context.text(function.body)
        body = f"return ({text})" if "\n" in text else f"return {text}"
        name = _target(statement, call) if call is not None else ""
        if call is not None and name:
            lines = [f"@{_decorator(context, call, function)}", *_definition(module, name, head, body)]
            indent = module.source.indent(statement.lineno)
            replace_statement(context, rewrite, statement, [indent + line for line in lines])
        else:
            _insert(context, rewrite, statement, function, _called(statement, call), head, body)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.safe(title)


def partial_to_function(context: ModuleContext, made: ast.Call) -> Fix:
    """`def` for `functools.partial(function, ...)`, which takes what the function takes besides."""
    title = "Make it a function"
    rewrite = context.rewrite()
    statement = context.statement(made)
    try:
        _movable(context, made, statement)
        head, body = _applied(context, made)
        if name := _target(statement, made):
            indent = context.module.source.indent(statement.lineno)
            lines = _definition(context.module, name, head, body)
            replace_statement(context, rewrite, statement, [indent + line for line in lines])
        else:
            _insert(context, rewrite, statement, made, "compiled", head, body)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.unsafe(title, "what is bound is read at each call, and was read once")


def _applied(context: ModuleContext, made: ast.Call) -> tuple[str, str]:
    """The parameters that a partial object takes, and the statement that gives its value."""
    if not made.args or any(isinstance(a, ast.Starred) for a in made.args):
        raise CannotRewrite("it is made with stars")
    name = made.args[0]
    bound = [k for k in made.keywords if k.arg is not None]
    if len(bound) != len(made.keywords):
        raise CannotRewrite("it is made with stars")
    known = visible(context, name) if isinstance(name, ast.Name) else None
    if not isinstance(known, FunctionInfo) or known.node.args.vararg or known.node.args.kwarg:
        raise CannotRewrite("its function is not known here")
    taken = known.node.args
    if taken.posonlyargs or taken.kwonlyargs:
        raise CannotRewrite("its function has parameters by position or by name alone")
    given = {k.arg for k in bound}
    free = [a.arg for a in taken.args[len(made.args) - 1 :] if a.arg not in given]
    if any(a.arg in given for a in taken.args[: len(made.args) - 1]):
        raise CannotRewrite("a parameter is bound twice")
    defaults = dict(zip([a.arg for a in taken.args][len(taken.args) - len(taken.defaults) :], taken.defaults))
    if any(not isinstance(defaults[n], ast.Constant) for n in free if n in defaults):
        raise CannotRewrite("its function has defaults that are computed")
    head = ", ".join(f"{n}={known.module.text(defaults[n])}" if n in defaults else n for n in free)
    first = [context.text(a) for a in made.args[1:]]
    # What follows a parameter bound by its name goes by name too.
    names = [a.arg for a in taken.args][len(first) :]
    by_position = names[: next((i for i, n in enumerate(names) if n in given), len(names))]
    rest = [n if n in by_position else f"{n}={n}" for n in free]
    return head, f"return {context.text(name)}({', '.join([*first, *rest, *(context.text(k) for k in bound)])})"


def _insert(
    context: ModuleContext, rewrite: Rewrite, statement: ast.stmt, node: ast.expr, wanted: str, head: str, body: str
) -> None:  # fmt: skip
    """Define a function before the statement, and name it in the place of `node`."""
    name = _fresh(context, wanted)
    insert_before(context, rewrite, statement, _definition(context.module, name, head, body))
    rewrite.replace_span(context.module.start(node), context.module.end(node), name)


def _called(statement: ast.stmt, call: ast.Call | None) -> str:
    """What a lambda is called: after the variable that gets it, or what is made of it."""
    if call is not None:
        return "compiled"
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    return f"{name.strip('_')}_function" if name.strip("_") else "function"


def _definition(module: Module, name: str, head: str, body: str) -> list[str]:
    step = "\t" if "\n\t" in module.source.text else "    "
    return [f"def {name}({head}):", step + body]


def _movable(context: ModuleContext, node: ast.expr, statement: ast.stmt) -> None:
    """Raises CannotRewrite where what is around a node does not let it be made before the statement."""
    if any(isinstance(n, _INNER) for n in _between(context, node, statement)):
        raise CannotRewrite("it stands in a comprehension or another lambda")
    if any(line in comments_of(context.module) for line in range(node.lineno, node.end_lineno or 0)):
        raise CannotRewrite("there are comments in it")


def _between(context: ModuleContext, node: ast.AST, statement: ast.stmt) -> Iterator[ast.AST]:
    for outer in context.around(node):
        if outer is statement:
            return
        yield outer


def _target(statement: ast.stmt, call: ast.Call) -> str:
    """The variable that a plain assignment gives what `call` makes, else empty."""
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _decorator(context: ModuleContext, call: ast.Call, function: ast.Lambda) -> str:
    """`jit` with its other arguments, as a decorator."""
    if isinstance(call.func, ast.Call):
        return context.text(call.func)
    keywords = [context.text(k) for k in call.keywords if k.value is not function]
    return context.text(call.func) + (f"({', '.join(keywords)})" if keywords else "")


def _fresh(context: ModuleContext, wanted: str) -> str:
    """A name that nothing in the file has, other fixes of the file included."""
    taken = context.module.global_names | set(context.module.definitions) | set(context.module.names.aliases)
    taken |= {a.arg for f in context.module.functions for a in all_arguments(f.node.args)} | context.bound
    given: set[str] = context.once_here(_fresh, set)
    names = [wanted, *(f"{wanted}_{number}" for number in range(2, 100))]
    found = next(name for name in names if name not in taken and name not in given)
    given.add(found)
    return found
