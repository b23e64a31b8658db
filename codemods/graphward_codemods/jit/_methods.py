"""Decorators that do not go with `jit` on a method, put so that they do."""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.rules.module_context import ModuleContext
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, step_of


def static_above(context: ModuleContext, function: FunctionInfo) -> Fix:
    """`@staticmethod` and `@jit` change places."""
    above, below = function.node.decorator_list
    rewrite = context.rewrite()
    module = context.module
    rewrite.replace_span(module.start(above), module.end(above), context.text(below))
    rewrite.replace_span(module.start(below), module.end(below), context.text(above))
    return rewrite.unsafe("Put jit below staticmethod", "it was run in Python, and is compiled then")


def class_method_to_static(context: ModuleContext, function: FunctionInfo, jit: ast.expr) -> Fix:
    """A class method under `jit` becomes a static method that names its class."""
    title = "Make it a static method"
    module, node = context.module, function.node
    rewrite = context.rewrite()
    try:
        owner, given = function.owner, node.args.args
        if owner is None or not given or node.args.posonlyargs or len(node.decorator_list) != 2:
            raise CannotRewrite("it has other decorators, or parameters by position alone")
        reads = [n for n in function.nodes if isinstance(n, ast.Name) and n.id == given[0].arg]
        if any(not isinstance(n.ctx, ast.Load) for n in reads):
            raise CannotRewrite(f"it assigns to {given[0].arg}")
        if reads and module.definitions.get(owner.name) is not owner:
            raise CannotRewrite("its class has no name at module level")
        above, below = node.decorator_list
        rewrite.replace_span(module.start(above), module.end(above), "staticmethod")
        rewrite.replace_span(module.start(below), module.end(below), context.text(jit))
        first = given[0]
        after = module.start(given[1]) if len(given) > 1 else module.end(first)
        rewrite.replace_span(module.start(first), after, "")
        for name in reads:
            rewrite.replace_span(module.start(name), module.end(name), owner.name)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.unsafe(title, "a subclass that calls it gets the class that it stands in")


def property_over_method(context: ModuleContext, function: FunctionInfo) -> Fix:
    """A property under which `jit` stands calls a compiled method instead."""
    title = "Let the property call a compiled method"
    module, node = context.module, function.node
    source = module.source
    try:
        owner = function.owner
        name = f"compute_{function.name.strip('_')}"
        if owner is None or len(node.decorator_list) != 2 or name in owner.methods:
            raise CannotRewrite("it has other decorators, or its class has such a method")
        above, below = node.decorator_list
        if above.lineno == below.lineno:
            raise CannotRewrite("its decorators share a line")
        rewrite = context.rewrite()
        begin = source.offset(above.lineno, 0)
        rewrite.replace_span(begin, source.offset(below.lineno, 0), "")
        start = source.offset(node.lineno, node.col_offset)
        at = source.utf8.index(function.name.encode(), start + 3)
        rewrite.replace_span(at, at + len(function.name.encode()), name)
        indent, step = source.indent(node.lineno), step_of(function)
        receiver = function.receiver or "self"
        lines = ["", f"{indent}@{context.text(above)}", f"{indent}def {function.name}({receiver}):",
                 f"{indent}{step}return {receiver}.{name}()"]  # fmt: skip
        last = node.end_lineno or node.lineno
        end = source.offset(last, 0) + len(source.line_bytes(last).rstrip(b"\r\n"))
        rewrite.insert(end, "".join(source.newline + line for line in lines))
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.safe(title)


def call_it_self(context: ModuleContext, function: FunctionInfo) -> Fix:
    """The first parameter of a method gets the name that the compiler knows the instance by."""
    title = "Call it self"
    module, first = context.module, function.node.args.args[0]
    names = [n for n in function.nodes if isinstance(n, ast.Name)]
    inner = {n.arg for n in function.nodes if isinstance(n, ast.arg)}
    if "self" in inner | {n.id for n in names} or first.arg in inner:
        return context.rewrite().manual(title, "not changed by itself: the name means something else in it too")
    rewrite = context.rewrite()
    rewrite.replace_span(module.start(first), module.start(first) + len(first.arg.encode()), "self")
    for name in names:
        if name.id == first.arg:
            rewrite.replace_span(module.start(name), module.end(name), "self")
    return rewrite.safe(title)
