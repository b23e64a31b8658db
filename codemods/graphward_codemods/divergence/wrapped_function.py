"""GW908: decorators that the compiler looks through."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import all_arguments, defaults_of, dotted
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, step_of


class WrappedFunction(Rule):
    """A decorator that uses `functools.wraps` is not compiled.

    ## What it finds

    A function of a graph region under a decorator of the project whose wrapper carries `functools.wraps`, or goes
    through `functools.update_wrapper`; also where the decorator is written as `functools.partial(decorator, ...)`, and
    where the decorated function is kept under a name (`scaled = decorator(step)` at module level, called in the graph).
    A wrapper that only calls the function and gives its result back is left alone, and so are decorators without
    `wraps`, which compile.

    ## Why

    `wraps` sets `__wrapped__`, and the compiler reads the source of the function behind it: what the wrapper does
    before and after is dropped, without a word.

    ## Example

        @scaled                              # a wrapper that returns function(*args, **kwargs) * 2
        def construct(self, x):
            return x + 1

    becomes

        def construct(self, x):
            return self._undecorated_construct(x) * 2

        def _undecorated_construct(self, x):
            return x + 1

    ## What the rewrite assumes

    That the wrapper hands its arguments on as they are, and is written in the same file.

    ## When it is unsafe

    Always: what the decorator does later on (a counter in it, a change of it) is not followed, and what the wrapper
    says now belongs to the graph.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW908"
    name = "wrapped-function"
    consequence = Consequence.DIVERGENCE
    triggers = (b"@", b"wraps", b"update_wrapper")
    nodes = (ast.Call,)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        for node in function.node.decorator_list:
            wrapper = _wrapper(context, node)
            if wrapper is None or wrapper.is_plain:
                continue
            message = f"the compiler looks through this decorator: {function.name} runs without it"
            yield context.finding(self, node, message, fixes=(_fix(context, node, wrapper),))

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        made = context.module.assignments.get(name)
        if not (isinstance(made, ast.Call) and len(made.args) == 1) or context.function.names.is_local(name):
            return
        decorator = _definition(context, made.func)
        wrapper = _made_by(decorator, {k.arg: k.value for k in made.keywords if k.arg}) if decorator else None
        if wrapper is None or wrapper.is_plain:
            return
        inner = context.text(made.args[0])
        advice = (
            f"define {name} as a function that calls {inner} and takes the wrapper's steps itself, or leave "
            "`functools.wraps` out of the wrapper, which then compiles"
        )
        fix = context.rewrite().manual("Do without the decorator", advice)
        message = f"the compiler looks through what {context.text(made.func)} made of {inner}: it runs without it"
        yield context.finding(self, node, message, fixes=(fix,))


@dataclass
class _Wrapper:
    """`inner` is what callers get, `called` its name for the decorated function, `given` the arguments of the decorator
    by parameter."""

    inner: FunctionInfo
    called: str
    given: dict[str, ast.expr]

    @property
    def is_plain(self) -> bool:
        """Whether it does nothing but call the function."""
        body = _without_docstring(self.inner.node.body)
        value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        return value is not None and _passes_on(value, self)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    value = first.value if isinstance(first, ast.Expr) else None
    return body[1:] if isinstance(value, ast.Constant) and isinstance(value.value, str) else body


def _wrapper(context: FunctionContext, node: ast.expr) -> _Wrapper | None:
    callee = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Call) and len(node.args) == 1 and context.resolve(callee) == "functools.partial":
        decorator = _definition(context, node.args[0])
        return _made_by(decorator, {k.arg: k.value for k in node.keywords if k.arg}) if decorator else None
    decorator = _definition(context, callee)
    if decorator is None:
        return None
    given: dict[str, ast.expr] = {}
    if isinstance(node, ast.Call):
        names = [a.arg for a in all_arguments(decorator.node.args)]
        given = dict(zip(names, node.args, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        for made in decorator.locals.values():
            found = _inner(made)
            if found is not None:
                return _Wrapper(found, _first_parameter(made), {**defaults_of(decorator.node.args), **given})
        return None
    return _made_by(decorator, given)


def _made_by(decorator: FunctionInfo, given: dict[str, ast.expr]) -> _Wrapper | None:
    """What a decorator makes that takes the function itself, first of its parameters."""
    found = _inner(decorator)
    values = {**defaults_of(decorator.node.args), **given}
    return _Wrapper(found, _first_parameter(decorator), values) if found else None


def _definition(context: FunctionContext, callee: ast.expr) -> FunctionInfo | None:
    outer = context.function.outer
    name = dotted(callee)
    if name is None:
        return None
    qualified = (outer.names if outer else context.module.names).qualify(name)
    if qualified is not None:
        found: FunctionInfo | ClassInfo | None = context.project.definition(qualified)
    elif "." in name:
        return None
    else:
        found = context.project.visible(outer, name) if outer else context.project.named(context.module, name)
    return found if isinstance(found, FunctionInfo) else None


def _inner(decorator: FunctionInfo) -> FunctionInfo | None:
    """The function under `functools.wraps` or `functools.update_wrapper` that a decorator returns."""
    for statement in decorator.node.body:
        value = statement.value if isinstance(statement, ast.Return) else None
        updated = isinstance(value, ast.Call) and decorator.names.resolve(value.func) == "functools.update_wrapper"
        if isinstance(value, ast.Call) and updated and value.args:
            value = value.args[0]
        function = decorator.locals.get(value.id) if isinstance(value, ast.Name) else None
        if function and (updated or any(d in ("functools.wraps", "wraps") for d, _ in function.decorators)):
            return function
    return None


def _first_parameter(function: FunctionInfo) -> str:
    arguments = all_arguments(function.node.args)
    return arguments[0].arg if arguments else ""


def _passes_on(node: ast.AST, wrapper: _Wrapper) -> bool:
    """Whether a call hands all of the wrapper's own arguments on to the function, in order."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == wrapper.called):
        return False
    arguments = wrapper.inner.node.args
    wanted = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    star = [arguments.vararg.arg] if arguments.vararg else []
    passed = [a.id if isinstance(a, ast.Name) else "" for a in node.args if not isinstance(a, ast.Starred)]
    stars = [a.value.id for a in node.args if isinstance(a, ast.Starred) and isinstance(a.value, ast.Name)]
    doubled = [k.value.id for k in node.keywords if k.arg is None and isinstance(k.value, ast.Name)]
    kwarg = [arguments.kwarg.arg] if arguments.kwarg else []
    return not arguments.kwonlyargs and passed == wanted and stars == star and doubled == kwarg and len(
        node.keywords
    ) == len(doubled)


class _Inline(ast.NodeTransformer):
    """The body of a wrapper as a function of its own: the call of the decorated function, and the names."""

    def __init__(self, wrapper: _Wrapper, call: ast.expr, renamed: dict[str, str]):
        self._wrapper, self._call, self._renamed = wrapper, call, renamed

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _passes_on(node, self._wrapper):
            return copy.deepcopy(self._call)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._wrapper.given:
            return copy.deepcopy(self._wrapper.given[node.id])
        if node.id in self._renamed:
            return ast.Name(self._renamed[node.id], node.ctx)
        if node.id == self._wrapper.called or node.id in self._stars:
            raise CannotRewrite("the wrapper does not hand its arguments on as they are")
        return node

    @property
    def _stars(self) -> set[str]:
        arguments = self._wrapper.inner.node.args
        return {a.arg for a in (arguments.vararg, arguments.kwarg) if a}


def _fix(context: FunctionContext, node: ast.expr, wrapper: _Wrapper) -> Fix:
    try:
        return _inlined(context, node, wrapper)
    except CannotRewrite as reason:
        advice = (
            f"{reason}; call the wrapper's steps from the function itself, or leave `functools.wraps` out of the "
            "wrapper, which then compiles"
        )
        return context.rewrite().manual("Do without the decorator", advice)


def _inlined(context: FunctionContext, node: ast.expr, wrapper: _Wrapper) -> Fix:
    function, module = context.function, context.module
    arguments = function.node.args
    if node is not function.node.decorator_list[-1]:
        raise CannotRewrite("the decorator below it comes first")
    if wrapper.inner.module is not module:
        raise CannotRewrite("the decorator stands in another file")
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise CannotRewrite("the function takes stars or keyword-only parameters")
    if any(not isinstance(v, ast.Constant) for v in wrapper.given.values()):
        raise CannotRewrite("the decorator takes arguments that are no constants")
    inside = {n.name for n in wrapper.inner.nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    free = {n.id for n in wrapper.inner.nodes if isinstance(n, ast.Name)}
    around = wrapper.inner.outer
    closed = {name for name in free if around and around.names.is_local(name)}
    if closed - {wrapper.called} - set(wrapper.given) - wrapper.inner.names.hidden or inside:
        raise CannotRewrite("the wrapper uses more of its decorator than the function")
    parameters = [a.arg for a in arguments.args]
    own = [a.arg for a in wrapper.inner.node.args.args]
    bound = wrapper.inner.names.hidden - {a.arg for a in all_arguments(wrapper.inner.node.args)}
    if bound & set(parameters) or len(own) > len(parameters):
        raise CannotRewrite("the names of the wrapper and of the function collide")
    name = first = f"_undecorated_{function.name.lstrip('_')}"
    taken = function.owner.methods if function.owner else module.global_names | set(module.definitions)
    number = 2
    while name in taken:
        name, number = f"{first}_{number}", number + 1
    method = function.owner is not None and not function.is_static
    head = f"{parameters[0]}.{name}" if method else name
    call = ast.parse(f"{head}({', '.join(parameters[1:] if method else parameters)})", mode="eval").body
    inline = _Inline(wrapper, call, dict(zip(own, parameters, strict=False)))
    steps = copy.deepcopy(_without_docstring(wrapper.inner.node.body))
    body = [ast.fix_missing_locations(inline.visit(s)) for s in steps]
    rewrite = context.rewrite()
    source = module.source
    indent, newline = source.indent(function.first_line), source.newline
    step = step_of(function)
    lines = [line for s in body for line in ast.unparse(s).split("\n")]
    # From `def` to the colon, as it is written.
    start = source.offset(function.node.lineno, function.node.col_offset)
    colon = source.utf8.rindex(b":", start, module.start(function.node.body[0]))
    signature = source.utf8[start : colon + 1].decode()
    text = [f"{signature}", *(f"{indent}{step}{line}" if line else "" for line in lines), ""]
    if function.owner is None:
        text.append("")
    # The decorator's line makes place for the function as callers see it.
    decorator = source.offset(node.lineno, 0) + len(indent.encode())
    rewrite.replace_span(decorator, start, newline.join(text) + newline + indent)
    at = source.utf8.index(function.name.encode(), start + 3)
    rewrite.replace_span(at, at + len(function.name.encode()), name)
    reason = "the wrapper's steps are copied into the function: later changes of the decorator do not reach it"
    return rewrite.unsafe("Write the wrapper out", reason)
