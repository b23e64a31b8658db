"""Statements of a function that can become a function of their own, and the values that go in and out."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from graphward.analysis.inference import Inference
from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import all_arguments
from graphward.analysis.tree import preorder

from .._blocks import own_nodes, stands_alone
from .._python import literal_number
from ._boundaries import crosses, leak_of

MOST_VALUES = 6
"""Values that go into a unit, or out of it: where more are live, it is no place to cut."""

_REFUSED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Delete, ast.Yield, ast.YieldFrom,
    ast.Await, ast.Import, ast.ImportFrom, ast.NamedExpr, ast.Try, ast.With,
)  # fmt: skip


@dataclass(eq=False)
class Run:
    """`statements` of `function` in a row, the values `inputs` that they need and `outputs` that are needed later;
    `returns` when the last of them returns."""

    function: FunctionInfo
    statements: list[ast.stmt]
    inputs: list[str]
    outputs: list[str]
    returns: bool
    size: int = 0


def body_of(function: FunctionInfo) -> list[ast.stmt]:
    """The statements of a function behind its docstring."""
    body = function.node.body
    first = body[0].value if isinstance(body[0], ast.Expr) else None
    return body[1:] if isinstance(first, ast.Constant) and isinstance(first.value, str) else body


def run_of(inference: Inference, function: FunctionInfo, statements: list[ast.stmt]) -> Run | None:
    """The run that `statements` of the function's own body are; None where they cannot be cut out."""
    module = function.module
    nodes = own_nodes(statements)
    if any(isinstance(n, _REFUSED) for n in nodes) or not all(stands_alone(module, s) for s in statements):
        return None
    returns = isinstance(statements[-1], ast.Return)
    if sum(isinstance(n, ast.Return) for n in nodes) != int(returns) or (returns and statements[-1].value is None):  # type: ignore[attr-defined]
        return None
    body = function.node.body
    at = body.index(statements[0])
    before = {a.arg for a in all_arguments(function.node.args)} | _stored(body[:at])
    later = _loaded(body[at + len(statements) :])
    certain, inputs = _needed(statements, before)
    stored = _stored(statements)
    outputs = [] if returns else sorted(stored & later, key=lambda n: _first(statements, n))
    for name in outputs:
        if name not in certain:
            if name not in before:
                return None
            inputs.append(name)
    inputs = [n for n in dict.fromkeys(inputs) if n != function.receiver]
    if not (outputs or returns) or max(len(inputs), len(outputs)) > MOST_VALUES or not inputs:
        return None
    if not _crosses(inference, function, statements, inputs, outputs):
        return None
    return Run(function, statements, inputs, outputs, returns)


def _crosses(
    inference: Inference, function: FunctionInfo, statements: list[ast.stmt], inputs: list[str], outputs: list[str]
) -> bool:
    """Whether the values can be handed to a graph and back."""
    for node in own_nodes(statements):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in inputs:
            if not crosses(inference.kind(function, node)):
                return False
        elif isinstance(node, ast.Return) and node.value is not None and leak_of(inference.kind(function, node.value)):
            return False
    end = statements[-1].end_lineno or 0
    loads = (n for n in function.loads if isinstance(n, ast.Name) and n.lineno > end and n.id in outputs)
    return not any(leak_of(inference.kind(function, n)) for n in loads)


def _needed(statements: Sequence[ast.stmt], before: set[str]) -> tuple[set[str], list[str]]:
    """The names that the statements bind whatever happens, and those of `before` that they read, in order."""
    certain: set[str] = set()
    inputs: list[str] = []
    for statement in statements:
        reads = [n.id for n in preorder(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            reads.append(statement.target.id)
        inputs += [n for n in reads if n in before and n not in certain and n not in inputs]
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            certain |= _stored([statement])
        elif isinstance(statement, ast.If) and statement.orelse:
            certain |= _needed(statement.body, before)[0] & _needed(statement.orelse, before)[0]
        elif isinstance(statement, ast.For) and _runs_once(statement):
            certain |= _needed(statement.body, before)[0] | _stored([statement.target])
    return certain, inputs


def _runs_once(loop: ast.For) -> bool:
    """Whether a loop surely runs: over a literal number of turns."""
    call = loop.iter
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and call.args:
        return (literal_number(call.args[-1]) or 0) > 0
    return False


def _stored(roots: Sequence[ast.AST]) -> set[str]:
    inner = {
        n for c in preorder(*roots) if isinstance(c, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
        for g in c.generators for n in preorder(g.target)
    }  # fmt: skip
    return {
        n.id for n in preorder(*roots) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n not in inner
    }


def _loaded(roots: Sequence[ast.AST]) -> set[str]:
    loaded = {n.id for n in preorder(*roots) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    changed = (n.target for n in preorder(*roots) if isinstance(n, ast.AugAssign))
    return loaded | {t.id for t in changed if isinstance(t, ast.Name)}


def _first(statements: Sequence[ast.stmt], name: str) -> tuple[int, int]:
    nodes = (n for n in preorder(*statements) if isinstance(n, ast.Name) and n.id == name)
    return min((n.lineno, n.col_offset) for n in nodes if isinstance(n.ctx, ast.Store))
