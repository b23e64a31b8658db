"""GW213."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import FunctionInfo
from graphward.analysis.tree import preorder
from graphward.rules.context import CellContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._attributes import subclasses
from ._moving import CannotMove


class MethodReceiver(Rule):
    """A method that graph code calls does not take `self`: a class method, or one that calls it another name.

    ## What it finds

    In a Cell: a `@classmethod` that graph code calls, and a first parameter that is not called `self` in a method that
    graph code reaches. Static methods are left alone.

    ## Why

    The compiler hands over no class, and knows the instance by the name `self` (MindSpore 2.7 to 2.10):

        TypeError: The parameters number of the function is 2, but the number of provided arguments is 1.

    ## Example

        @classmethod
        def scale(cls, x):
            return x * 2

    becomes

        @staticmethod
        def scale(x):
            return x * 2

    A class method that reads `cls` becomes a method of the instance.

    ## What the rewrite assumes

    That `cls` means the class of the instance.

    ## When it is unsafe

    For a class method that reads `cls`: it can no longer be called on the class.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW213"
    name = "method-receiver"
    consequence = Consequence.ERROR
    triggers = (b"classmethod", b"def construct(")

    def visit_cell(self, context: CellContext) -> Iterable[Finding]:
        for method in context.cell.methods.values():
            found = _problem(method, context)
            if found is not None:
                message, fix = found
                yield context.finding(self, _place(method), message, fixes=(fix,))


def _place(method: FunctionInfo) -> ast.AST:
    arguments = method.node.args.posonlyargs + method.node.args.args
    return arguments[0] if arguments else method.node.args.vararg or method.node


def _problem(method: FunctionInfo, context: CellContext) -> tuple[str, Fix] | None:
    if method not in context.inference.reached:
        return None
    decorators = {name for name, _ in method.decorators}
    if "classmethod" in decorators:
        return f"{method.name} is a class method, which graph code cannot call", _class_method(method, context)
    arguments = method.node.args.posonlyargs + method.node.args.args
    if method.is_static or not arguments or arguments[0].arg == "self":
        return None
    return f"the first parameter of {method.name} is not called self", _renamed(method, context)


def _decorator_lines(method: FunctionInfo, name: str) -> tuple[ast.expr, int, int]:
    """A decorator, with the bytes of its line."""
    node = next(d for n, d in method.decorators if n == name)
    source = method.module.source
    start = source.offset(node.lineno, 0)
    return node, start, start + len(source.line_bytes(node.lineno))


def _class_method(method: FunctionInfo, context: CellContext) -> Fix:
    module = method.module
    rewrite = context.rewrite(method)
    arguments = method.node.args.args
    try:
        if method.node.args.posonlyargs or not arguments:
            raise CannotMove("its parameters are not plain")
        first = arguments[0]
        uses = [n for n in method.nodes if isinstance(n, ast.Name) and n.id == first.arg]
        node, _, _ = _decorator_lines(method, "classmethod")
        if not uses and not _calls_super(method):
            rewrite.replace_span(module.start(node), module.end(node), "staticmethod")
            end = module.start(arguments[1]) if len(arguments) > 1 else module.end(first)
            rest = method.node.args
            if len(arguments) == 1 and (rest.vararg or rest.kwonlyargs or rest.kwarg):
                raise CannotMove("its parameters are not plain")
            rewrite.replace_span(module.start(first), end, "")
            return rewrite.safe(f"Make {method.name} a static method")
        _check_not_on_class(method, context)
        _, start, end = _decorator_lines(method, "classmethod")
        rewrite.replace_span(start, end, "")
        _rename(method, first, uses, rewrite)
    except CannotMove as reason:
        advice = "make it a function of the module, and hand it what it reads of the class"
        return context.rewrite(method).manual(f"Make {method.name} a plain method", f"not changed: {reason}; {advice}")
    return rewrite.unsafe(f"Make {method.name} a method of the instance", "it can no longer be called on the class")


def _calls_super(method: FunctionInfo) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "super" for n in method.nodes)


def _check_not_on_class(method: FunctionInfo, context: CellContext) -> None:
    """Raises CannotMove where the project calls the method on the class."""
    names = {context.cell.name, *(c.name for c in subclasses(context.project, context.cell)), "cls"}
    for module in list(context.project.modules.values()):
        if method.name.encode() not in module.source.utf8:
            continue
        for node in preorder(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == method.name and isinstance(node.value, ast.Name):
                if node.value.id in names:
                    raise CannotMove(f"{module.path.name}, line {node.lineno}, calls it on the class")


def _renamed(method: FunctionInfo, context: CellContext) -> Fix:
    rewrite = context.rewrite(method)
    title = "Call the first parameter self"
    first = (method.node.args.posonlyargs + method.node.args.args)[0]
    uses = [n for n in method.nodes if isinstance(n, ast.Name) and n.id == first.arg]
    try:
        _rename(method, first, uses, rewrite)
    except CannotMove as reason:
        return context.rewrite(method).manual(title, f"not changed by itself: {reason}")
    return rewrite.safe(title)


def _rename(method: FunctionInfo, first: ast.arg, uses: list[ast.Name], rewrite: Rewrite) -> None:
    module = method.module
    if any(isinstance(n, (ast.Name, ast.arg)) and getattr(n, "id", getattr(n, "arg", "")) == "self"
           for n in [*method.nodes, *ast.walk(method.node.args)]):  # fmt: skip
        raise CannotMove("it uses the name self for something else")
    if any(isinstance(n, ast.arg) and n.arg == first.arg for n in method.nodes):
        raise CannotMove(f"a function in it has a parameter {first.arg} too")
    start = module.start(first)
    rewrite.replace_span(start, start + len(first.arg.encode()), "self")
    for use in uses:
        rewrite.replace_span(module.start(use), module.end(use), "self")
