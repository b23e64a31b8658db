"""GW210."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._from_init import Keeper
from ._moving import CannotMove

_MODULE = "mindspore.common.initializer."
_FILLS = {"ones": "ones", "one": "ones", "zeros": "zeros", "zero": "zeros"}


class InitializerInConstruct(Rule):
    """An initializer is used inside graph code.

    ## What it finds

    `initializer("ones", shape, dtype)`, `One()`, `Normal(0.02)` and `Tensor(shape=..., dtype=..., init=...)` in a graph
    region, with or without `.init_data()`.

    ## Why

    The module `mindspore.common.initializer` is closed to the compiler (MindSpore 2.7 to 2.10): `RuntimeError: Failed
    to compile in GRAPH_MODE because the method or function 'mindspore.common.initializer.initializer' is not supported
    in 'construct' or function with @jit decorator.`

    ## Example

        z = initializer("ones", x.shape, x.dtype).init_data()

    becomes

        z = ops.ones(x.shape, x.dtype)

    Random initializers with a shape that `__init__` knows are drawn there.

    ## What the rewrite assumes

    Nothing for constants.

    ## When it is unsafe

    For random ones: the values are drawn once, where the original draws anew at each PyNative call.

    ## References

    API of `mindspore.common.initializer.initializer`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW210"
    name = "initializer-in-construct"
    consequence = Consequence.ERROR
    triggers = (b"initializer",)
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        spelled = _spelled(node, context)
        if spelled is None:
            return
        what, shape, dtype = spelled
        target = _target(node, context)
        message = f"{context.text(node.func)} inside graph code does not compile"
        yield context.finding(self, target, message, fixes=(_fix(target, what, shape, dtype, context),))


def _spelled(
    node: ast.Call, context: FunctionContext
) -> tuple[ast.expr, ast.expr | None, ast.expr | None] | None:
    """What fills, the shape and the dtype of `initializer(...)` and of `Tensor(..., init=...)`."""
    name = _qualified(node.func, context)
    keywords = {k.arg: k.value for k in node.keywords if k.arg}
    if name == f"{_MODULE}initializer":
        given = dict(zip(("init", "shape", "dtype"), node.args, strict=False)) | keywords
    elif name == "mindspore.Tensor" and "init" in keywords:
        given = dict(zip(("input_data", "dtype", "shape"), node.args, strict=False)) | keywords
    else:
        return None
    return (given["init"], given.get("shape"), given.get("dtype")) if "init" in given else None


def _qualified(node: ast.expr, context: FunctionContext) -> str:
    name = context.resolve(node) or ""
    # `mindspore.common` is also a way to spell the public names, which the names below are not.
    known = ".initializer." in f"{name}." or name.endswith("initializer")
    return f"{_MODULE}{name.rpartition('.')[2]}" if known else name


def _target(node: ast.Call, context: FunctionContext) -> ast.expr:
    """The whole of `initializer(...).init_data()`."""
    parent = context.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr == "init_data":
        call = context.parent(parent)
        if isinstance(call, ast.Call) and not call.args and not call.keywords:
            return call
    return node


def _fix(
    target: ast.expr, what: ast.expr, shape: ast.expr | None, dtype: ast.expr | None, context: FunctionContext
) -> Fix:
    rewrite = context.rewrite()
    title = "Use an operator"
    if shape is not None:
        new = _operator(what, shape, dtype, context, rewrite)
        if new is not None:
            _put(target, new, context, rewrite)
            _drop_init_data(target, context, rewrite)
            return rewrite.safe(title)
    rewrite = context.rewrite()
    title = "Draw it in __init__"
    try:
        keeper = Keeper(context)
        form = "{}" if isinstance(target, ast.Call) and target.func.__class__ is ast.Attribute else "{}.init_data()"
        new = keeper.keep(rewrite, target, "initial", form)
    except CannotMove as reason:
        advice = "draw it with ops.normal, ops.uniform or ops.StandardNormal, or make it in __init__"
        return context.rewrite().manual(title, f"not moved by itself: {reason}; {advice}")
    _put(target, new, context, rewrite)
    _drop_init_data(target, context, rewrite)
    return rewrite.unsafe(title, "it is drawn once, where the original draws it at each PyNative call")


def _put(target: ast.expr, new: str, context: FunctionContext, rewrite: Rewrite) -> None:
    text = context.text(target)
    if "\n" in text or "#" in text:
        rewrite.replace(target, new, context.parent(target))
    else:
        rewrite.replace_span(context.module.start(target), context.module.end(target), new)


def _drop_init_data(target: ast.expr, context: FunctionContext, rewrite: Rewrite) -> None:
    """Leave out `.init_data()` of the variable that holds it: it is a Tensor with its values by now."""
    statement = context.parent(target)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    name = statement.targets[0]
    if not isinstance(name, ast.Name):
        return
    inside = list(ast.walk(context.function.node))
    uses = [n for n in inside if _is_init_data(n, name.id)]
    written = [n for n in inside if isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store)]
    again = [context.parent(n) for n in written if n is not name]
    # Another value under this name may need its own.
    if not all(isinstance(s, ast.Assign) and s.value in uses for s in again):
        return
    for call in uses:
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        rewrite.replace_span(context.module.end(call.func.value), context.module.end(call), "")


def _is_init_data(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Call) and not node.args and not node.keywords
        and isinstance(node.func, ast.Attribute) and node.func.attr == "init_data"
        and isinstance(node.func.value, ast.Name) and node.func.value.id == name
    )  # fmt: skip


def _operator(
    what: ast.expr, shape: ast.expr, dtype: ast.expr | None, context: FunctionContext, rewrite: Rewrite
) -> str | None:
    """`ops.ones`, `ops.zeros` or `ops.full`; None for what is drawn."""
    value: str | None = None
    fill = ""
    if isinstance(what, ast.Constant):
        if isinstance(what.value, str):
            fill = _FILLS.get(what.value.lower(), "")
        else:
            value = context.text(what)
    elif isinstance(what, ast.Call):
        last = _qualified(what.func, context).rpartition(".")[2]
        fill = _FILLS.get(last.lower(), "")
        if last == "Constant" and len(what.args) == 1:
            value = context.text(what.args[0])
    given = context.text(dtype) if dtype is not None else rewrite.spell("mindspore.float32")
    if fill:
        return f"{rewrite.spell(f'mindspore.ops.{fill}')}({context.text(shape)}, {given})"
    if value is not None:
        return f"{rewrite.spell('mindspore.ops.full')}({context.text(shape)}, {value}, dtype={given})"
    return None
