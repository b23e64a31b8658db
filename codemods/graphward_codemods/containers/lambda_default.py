"""GW418: defaults of nested functions that the compiler cannot evaluate."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.names import all_arguments, defaults_of
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, own_nodes, put_call
from .._lambdas import loop_cut_by
from .._python import is_later
from ._defaults import COMPREHENSIONS, depends_on_graph, names_in

_ADVICE = "write a function that makes it (`def scaled(i): def step(v): return v * i` and `return step`) and call that"
_Function = ast.Lambda | ast.FunctionDef
# What means the same at a call as where the function is made, while no name in it is bound again.
_PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator,
    ast.unaryop, ast.expr_context,
)  # fmt: skip


class LambdaDefault(Rule):
    """A nested function has a default that the compiler cannot evaluate.

    ## What it finds

    `def f(v, k=n): ...` and `lambda v, i=i: ...` in a graph region, where the default reads an argument of the function
    around it or what was computed from one (a Tensor, a shape), the variable of a loop, a variable from before a loop
    or one that a condition binds, or a name that a parameter of the function itself has (`k=k`). Left alone are
    literals, globals, attributes of self and variables that only constants go into, and functions whose calls all give
    the argument.

    ## Why

    MindSpore 2.7 to 2.10:

        RuntimeError: Illegal AnfNode for evaluating

    The compiler looks the names of a default up inside the function. Where another parameter has the name
    (`lambda v, k=v: ...`), the default is silently that argument.

    ## Example

        n = x.shape[0]
        def scaled(v, k=n):
            return v * k
        steps = [lambda v, i=i: v * i for i in range(3)]
        return scaled(x) + steps[1](x)

    becomes

        n = x.shape[0]
        def scaled(v, k=n):
            return v * k
        steps = [(lambda i: lambda v: v * i)(i) for i in range(3)]
        return scaled(x, k=n) + steps[1](x)

    A lambda that is used otherwise than by calls is bound with `functools.partial`. Where a loop collects functions
    (`steps.append(step)`) the compiler takes none of these, and the finding has no rewrite: a named function that makes
    the function compiles. Lambdas in the body of a `for` loop are a matter of GW913 first.

    ## What the rewrite assumes

    Of calls that are given the default: nothing, since the variable is not bound again in between. Of the others: that
    nobody gives the parameter by position.

    ## When it is unsafe

    Where a lambda is bound: for that reason.

    ## References

    `functools.partial`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW418"
    name = "lambda-default"
    consequence = Consequence.ERROR
    triggers = (b"lambda", b"=")
    nodes = (ast.Lambda, ast.FunctionDef)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, _Function)
        if isinstance(node, ast.Lambda) and loop_cut_by(node, context) is not None:
            return  # GW913 makes a `def` of it first
        given = _refused(node, context)
        if not given:
            return
        what = "a lambda" if isinstance(node, ast.Lambda) else node.name
        where = node if isinstance(node, ast.Lambda) else defaults_of(node.args)[next(iter(given))]
        consequence = Consequence.ERROR
        other = _other_parameter(node, given)
        if other:
            message = f"the {other} in the default of {what} is the parameter {other} in the graph"
            consequence = Consequence.DIVERGENCE
        else:
            message = f"the default of {', '.join(given)} of {what} does not compile"
        fix = _fix(node, given, context)
        yield context.finding(self, where, message, fixes=(fix,), consequence=consequence)


def _refused(node: _Function, context: FunctionContext) -> dict[str, ast.expr]:
    """The parameters whose defaults the compiler cannot evaluate and some use needs."""
    if not _is_own(node, context):
        return {}
    own = [a.arg for a in all_arguments(node.args)]
    defaults = defaults_of(node.args)
    found = {
        name: defaults[name] for name in own
        if name in defaults
        and any(n in own or depends_on_graph(n, node, context.function) for n in names_in(defaults[name]))
    }  # fmt: skip
    if not found:
        return {}
    try:
        calls = _calls(node, context)
    except CannotRewrite:
        return found
    return {name: d for name, d in found.items() if not all(_gives(call, name, node) for call in calls)}


def _is_own(node: _Function, context: FunctionContext) -> bool:
    """Whether the function stands in this one, and not in a further function in it."""
    function = context.function.node
    return not any(isinstance(a, ast.FunctionDef) and a is not function for a in context.around(node))


def _other_parameter(node: _Function, given: dict[str, ast.expr]) -> str:
    names = {a.arg for a in all_arguments(node.args)}
    return next((n for p, d in given.items() for n in sorted(names_in(d)) if n in names and n not in given), "")


def _calls(node: _Function, context: FunctionContext) -> list[ast.Call]:
    """The calls of a function. Raises CannotRewrite where it is used otherwise, or has no name of its own."""
    own: ast.expr | None = None
    if isinstance(node, ast.FunctionDef):
        name = node.name
        if node.decorator_list:
            raise CannotRewrite("it is decorated")
    else:
        parent = context.parent(node)
        own = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
        if not isinstance(own, ast.Name):
            raise CannotRewrite("it has no name of its own")
        name = own.id
    reached = set(own_nodes(context.function.node.body))
    calls = []
    for mention in context.function.nodes:
        if isinstance(mention, ast.FunctionDef) and mention.name == name and mention is not node:
            raise CannotRewrite("its name is bound again")
        if not isinstance(mention, ast.Name) or mention.id != name or mention is own:
            continue
        call = context.parent(mention)
        if not (isinstance(call, ast.Call) and call.func is mention) or not isinstance(mention.ctx, ast.Load):
            raise CannotRewrite("it is used otherwise than by calls")
        if mention not in reached or any(isinstance(a, ast.Lambda) for a in context.around(call)):
            raise CannotRewrite("it is called inside of another function")
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise CannotRewrite("a call of it spreads its arguments")
        calls.append(call)
    return calls


def _gives(call: ast.Call, parameter: str, node: _Function) -> bool:
    positional = [a.arg for a in node.args.posonlyargs + node.args.args]
    return parameter in positional[: len(call.args)] or any(k.arg == parameter for k in call.keywords)


def _fix(node: _Function, given: dict[str, ast.expr], context: FunctionContext) -> Fix:
    try:
        return _at_calls(node, given, context).safe(f"Give {', '.join(given)} at the calls")
    except CannotRewrite as reason:
        in_loop = any(isinstance(a, (ast.For, ast.While)) for a in context.around(node))
        if isinstance(node, ast.Lambda) and not node.args.kwonlyargs and not in_loop:
            return _bound(node, context)
        return context.rewrite().manual("Make it in a function", f"not changed by itself: {reason}; {_ADVICE}")


def _at_calls(node: _Function, given: dict[str, ast.expr], context: FunctionContext) -> Rewrite:
    """The defaults written out at the calls that leave them. Raises CannotRewrite."""
    module, function = context.module, context.function
    if any(p.arg in given for p in node.args.posonlyargs):
        raise CannotRewrite("the parameter has no name for a caller")
    calls = _calls(node, context)
    names: set[str] = set().union(*map(names_in, given.values()))
    for default in given.values():
        if not all(isinstance(n, _PLAIN) for n in ast.walk(default)):
            raise CannotRewrite("the default is computed once")
    if any(module.start(call) < module.start(node) for call in calls):
        raise CannotRewrite("it is called above")
    last = max(map(module.end, calls), default=0)
    for n in function.nodes:
        if not isinstance(n, ast.Name) or isinstance(n.ctx, ast.Load) or n.id not in names:
            continue
        if module.end(node) <= module.start(n) and not _is_behind(n, last, node, calls, context):
            raise CannotRewrite("what the default reads is bound again")
    rewrite = context.rewrite()
    for call in calls:
        left = [f"{p}={context.text(d)}" for p, d in given.items() if not _gives(call, p, node)]
        if not left:
            continue
        if any(isinstance(a, COMPREHENSIONS) for a in context.around(call)):
            raise CannotRewrite("it is called in a comprehension")
        end = module.end(call)
        rest = module.source.utf8[module.end(call.func) : end]
        if rest.rstrip(b") \t\r\n").endswith(b",") or b"\n" in rest:
            raise CannotRewrite("a call of it stands on several lines")
        empty = not call.args and not call.keywords
        rewrite.insert(end - 1, f"{'' if empty else ', '}{', '.join(left)}")
    return rewrite


def _is_behind(bound: ast.Name, last: int, node: _Function, calls: list[ast.Call], context: FunctionContext) -> bool:
    """Whether a variable is bound again only when all calls are done: as the target of their own statement, or below
    it, in the same round of a loop around the function."""
    if context.module.start(bound) > last:
        loops = [a for a in context.around(node) if isinstance(a, (ast.For, ast.While))]
        return all(any(a is loop for a in context.around(call)) for call in calls for loop in loops) and not any(
            isinstance(a, (ast.For, ast.While)) and a not in loops for call in calls for a in context.around(call)
        )
    statement = context.statement(bound)
    simple = isinstance(statement, ast.Assign) and context.module.end(statement) >= last
    return simple and not any(
        isinstance(a, (ast.For, ast.While)) and a not in set(context.around(node)) for a in context.around(bound)
    )


def _bound(node: ast.Lambda, context: FunctionContext) -> Fix:
    arguments, defaults = node.args, node.args.defaults
    bound = arguments.args[len(arguments.args) - len(defaults) :]
    rewrite = context.rewrite()
    if len(bound) != len(defaults) or arguments.vararg or arguments.posonlyargs:
        return rewrite.manual("Make it in a function", _ADVICE)
    names, values = [a.arg for a in bound], [context.text(d) for d in defaults]
    free = [a.arg for a in arguments.args[: len(arguments.args) - len(defaults)]]
    rest = [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    body = context.text(node.body)
    if is_later(node, context):
        # In a comprehension every partial gets the last of the values.
        inner = f"lambda {', '.join(free + rest)}".rstrip()
        text = f"(lambda {', '.join(names)}: {inner}: {body})({', '.join(values)})"
        put_call(context, rewrite, node, text)
        return rewrite.unsafe("Bind it with a lambda around it", "a call that gives the parameter fails")
    given = ", ".join(f"{n}={v}" for n, v in zip(names, values, strict=True))
    text = f"{rewrite.spell('functools.partial')}(lambda {', '.join(free + names + rest)}: {body}, {given})"
    rewrite.replace(node, text, context.parent(node))
    return rewrite.unsafe("Bind it with partial", "a call that gives the parameter by position fails")
