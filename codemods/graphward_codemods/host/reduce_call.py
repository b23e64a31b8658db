"""GW115: `functools.reduce`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._blocks import CannotRewrite, fresh, insert_before, step_of
from .._python import is_later, traced_name

_OPERATORS = {"add": "+", "mul": "*", "sub": "-", "truediv": "/", "matmul": "@", "and_": "&", "or_": "|", "concat": "+"}


class ReduceCall(Rule):
    """`functools.reduce` over Tensors is left to the Python interpreter.

    ## What it finds

    `functools.reduce(f, values)` in a graph region where `values` holds Tensors, or `f` is a function of `operator`.
    Of constants with a function of the project it is folded, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10:

        ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should be constant
        NameError: name '__input_0__' is not defined

    ## Example

        return functools.reduce(lambda a, b: a + b, (x, y, z))

    becomes

        result = x
        for value in (y, z):
            result = result + value
        return result

    ## What the rewrite assumes

    That the values have an index, when they are no tuple or list in the call.

    ## When it is unsafe

    When the values are evaluated earlier than other parts of the statement, which call something.

    ## References

    `functools.reduce`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW115"
    name = "reduce-call"
    consequence = Consequence.FALLBACK
    triggers = (b"reduce(",)
    nodes = (ast.Call,)
    names = frozenset({"reduce"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, (ast.Name, ast.Attribute)) or len(node.args) not in (2, 3) or node.keywords:
            return
        if context.resolve(node.func) != "functools.reduce":
            return
        operator = context.resolve(node.args[0]) or ""
        builtin = operator.startswith("operator.")
        values = [context.kind(a) for a in node.args[1:]]
        traced = next((k.evidence for k in values if k.variable), "") or traced_name(node.args[0], context)
        if not builtin and not any(k.variable for k in values):
            return
        message = "functools.reduce has no graph form: the Python interpreter calls it"
        consequence = Consequence.ERROR if builtin else Consequence.FALLBACK
        yield context.finding(self, node, message, evidence=(traced,), fixes=(_fix(node, context),),
                              consequence=consequence)  # fmt: skip


def _fix(node: ast.Call, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    values = node.args[1]
    if is_later(node, context):
        return rewrite.manual("Write a loop", "it stands in a lambda or comprehension, where no loop can stand")
    result, value = fresh(context, "result"), fresh(context, "value")
    step = _step(node.args[0], result, value, context)
    lines = []
    if len(node.args) == 3:
        lines.append(f"{result} = {context.text(node.args[2])}")
        lines.append(f"for {value} in {context.text(values)}:")
    elif isinstance(values, (ast.Tuple, ast.List)) and len(values.elts) > 1 and not _starred(values):
        rest = ", ".join(context.text(e) for e in values.elts[1:])
        lines.append(f"{result} = {context.text(values.elts[0])}")
        lines.append(f"for {value} in ({rest}{',' if len(values.elts) == 2 else ''}):")
    else:
        text = guarded(context.text(values), values, ast.Attribute(values, "x", ast.Load()))
        if isinstance(values, ast.GeneratorExp):
            text = f"[{text[1:-1]}]"
        lines.append(f"{result} = {text}[0]")
        lines.append(f"for {value} in {text}[1:]:")
    lines.append(f"{step_of(context.function)}{result} = {step}")
    try:
        insert_before(context, rewrite, context.statement(node), lines)
    except CannotRewrite as reason:
        return rewrite.manual("Write a loop", str(reason))
    rewrite.replace(node, result, context.parent(node))
    certain = context.kind(values).tag in (Tag.SEQUENCE, Tag.SHAPE)
    if certain and isinstance(context.parent(node), (ast.Assign, ast.Return, ast.Expr)):
        return rewrite.safe("Write a loop")
    return rewrite.unsafe("Write a loop", "the loop runs before the statement, over what is taken for a tuple or list")


def _starred(values: ast.Tuple | ast.List) -> bool:
    return any(isinstance(e, ast.Starred) for e in values.elts)


def _step(function: ast.expr, result: str, value: str, context: FunctionContext) -> str:
    """The text of one call of the function."""
    name = context.resolve(function) or ""
    sign = _OPERATORS.get(name.removeprefix("operator.")) if name.startswith("operator.") else None
    if sign:
        return f"{result} {sign} {value}"
    if isinstance(function, ast.Lambda):
        arguments = [a.arg for a in function.args.args]
        body = function.body
        if len(arguments) == 2 and not any(isinstance(n, _SCOPES) for n in ast.walk(body)):
            return _renamed(body, dict(zip(arguments, (result, value))), context)
        return f"({context.text(function)})({result}, {value})"
    return f"{context.text(function)}({result}, {value})"


def _renamed(body: ast.expr, names: dict[str, str], context: FunctionContext) -> str:
    """The text of an expression with other names in the place of some."""
    module = context.module
    start = module.start(body)
    text = context.text(body).encode()
    found = [n for n in ast.walk(body) if isinstance(n, ast.Name) and n.id in names]
    for node in sorted(found, key=module.start, reverse=True):
        text = text[: module.start(node) - start] + names[node.id].encode() + text[module.end(node) - start :]
    return text.decode()


_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
