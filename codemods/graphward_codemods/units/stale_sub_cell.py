"""GW920: a sub-Cell that is exchanged after the graph that calls it was compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo, Module
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from ._references import Reference, references
from ._roots import Root, jit_roots
from ._splits import split_of_part
from ._writing import Writer


class StaleSubCell(Rule):
    """A sub-Cell is exchanged, and the graph that calls it goes on with the old one.

    ## What it finds

    A `construct` or method under `jit` that calls `self.head`, where other code gives the instance another `head`: a
    method that does not belong to its construction (`def use(self, head): self.head = head`), or code that called the
    instance before (`net(x)`, then `net.head = Head(5)`).

    ## Why

    The key of a graph holds the instance whose method is compiled, the phase and the shapes, and nothing of what the
    instance consists of. Measured on MindSpore 2.10: after `net.head = Head(classes=7)` a `jit` method that runs the
    whole network, and one that only calls `self.head`, both give the shape and the values of the old head. No error, no
    warning, and `trainable_params()` has the new weights. With `jit` on `Head.construct` itself the new head is
    compiled, alone, and is right.

    ## Example

        @jit
        def classify(self, h):
            return self.head(h)

    becomes a plain method, and `@jit` stands on `Head.construct`.

    ## What the rewrite assumes

    That the new Cell is of the same class, or of one whose `construct` is compiled as well.

    ## When it is unsafe

    Always: what stands around the calls runs in PyNative, operator by operator.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW920"
    name = "stale-sub-cell"
    consequence = Consequence.DIVERGENCE
    triggers = (b"jit",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        root = next((r for r in jit_roots(context.inference) if r.function is context.function), None)
        if root is None or root.cell is None or context.function.receiver is None:
            return
        seen: set[str] = set()
        for reference in references(context.inference, root.function, root.cell):
            if not _own(reference, root.function) or reference.name in seen:
                continue
            seen.add(reference.name)
            exchange = _exchange(context.inference, root, reference.name)
            if exchange is not None:
                name = reference.name
                message = f"self.{name} is what it was when {root.function.name} was compiled: {exchange}"
                yield context.finding(self, reference.node, message, fixes=(_fix(context, root, reference),))


def _own(reference: Reference, function: FunctionInfo) -> bool:
    """Whether it is a Cell that `self` holds."""
    node = reference.node
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == function.receiver
    return own and (reference.is_cell or bool(reference.library) or reference.unknown)


def _exchange(inference: Inference, root: Root, name: str) -> str | None:
    """Where the attribute gets another Cell although the graph may be there."""
    assert root.cell is not None
    building = _building(inference, root.cell)
    for info in inference.project.mro(root.cell):
        for method in info.methods.values():
            if method.name in building or method in inference.reached:
                continue
            if any(attribute == name for attribute, _ in method.self_assignments):
                return f"{method.name} sets another one, which it does not see"
    for module in list(inference.project.modules.values()):
        if f".{name} =".encode() in module.source.utf8:
            line = _outside(inference, module, root.cell, name)
            if line:
                return f"{module.path.name}:{line} sets another one, which it does not see"
    return None


def _building(inference: Inference, cell: ClassInfo) -> set[str]:
    """`__init__` and what it calls."""
    found, stack = {"__init__"}, ["__init__"]
    while stack:
        method = inference.project.method(cell, stack.pop())
        for node in method.loads if method else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and method is not None:
                if node.value.id == method.receiver and node.attr not in found:
                    found.add(node.attr)
                    stack.append(node.attr)
    return found


def _outside(inference: Inference, module: Module, cell: ClassInfo, name: str) -> int:
    """The line where `instance.name = ...` follows a call of the instance, else 0."""
    for nodes, scope in _scopes(module):
        assigned = [
            (t.value.id, n.lineno) for n in nodes if isinstance(n, ast.Assign) for t in n.targets
            if isinstance(t, ast.Attribute) and t.attr == name and isinstance(t.value, ast.Name)
        ]  # fmt: skip
        for variable, line in assigned:
            if not _is_instance(inference, module, scope, variable, cell):
                continue
            calls = [n.lineno for n in nodes if isinstance(n, ast.Call) and _called(n.func) == variable]
            if any(call < line for call in calls):
                return line
    return 0


def _scopes(module: Module) -> Iterator[tuple[list[ast.AST], FunctionInfo | None]]:
    """The nodes of each function, and of the module's own statements."""
    for function in module.functions:
        yield function.nodes, function
    own = [s for s in module.tree.body if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    yield preorder(*own), None


def _called(func: ast.expr) -> str:
    """`net` of `net(x)` and of `net.forward(x)`."""
    if isinstance(func, ast.Attribute):
        func = func.value
    return func.id if isinstance(func, ast.Name) else ""


def _is_instance(
    inference: Inference, module: Module, scope: FunctionInfo | None, variable: str, cell: ClassInfo
) -> bool:
    """Whether a variable of the scope, or of the module, is given an instance of the class."""
    project = inference.project
    values: list[tuple[FunctionInfo | None, ast.expr]] = []
    around = scope
    while around is not None:
        values += [
            (around, n.value) for n in around.statements if isinstance(n, ast.Assign)
            for t in n.targets if isinstance(t, ast.Name) and t.id == variable
        ]  # fmt: skip
        around = around.outer
    if not values and variable in module.assignments:
        values.append((None, module.assignments[variable]))
    for function, value in values:
        if not isinstance(value, ast.Call):
            continue
        if function is not None:
            made = project.called_class(function, value)
        else:
            name = value.func.id if isinstance(value.func, ast.Name) else ""
            found = project.named(module, name) if name else None
            made = found if isinstance(found, ClassInfo) else None
        if made is not None and cell in project.mro(made):
            return True
    return False


def _fix(context: FunctionContext, root: Root, reference: Reference) -> Fix:
    title = f"Compile {reference.name} by itself"
    split = split_of_part(context.inference, root, reference.name)
    try:
        if split.problem or not split.levels:
            raise CannotRewrite(split.problem)
        if any(u.function.module is not context.module for u in split.units):
            raise CannotRewrite("its class stands in another file: put @jit on its construct, and take it off here")
        rewrite = Writer(context, split, context.options.unit_names).write()
    except CannotRewrite as reason:
        advice = f"make a new instance around the new {reference.name}, or put @jit on the construct of its class"
        return context.rewrite().manual(title, f"{reason}; {advice}")
    eager = "what stands between the graphs runs in PyNative, operator by operator"
    return rewrite.unsafe(title, eager, compile_units=True)
