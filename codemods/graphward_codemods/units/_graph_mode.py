"""Graphs that no `jit` starts: Cells that a script runs in Graph Mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo, Module
from graphward.analysis.tree import preorder
from graphward.knowledge.names import canonical

from .._blocks import CannotRewrite
from ._boundaries import jit_decorator
from ._roots import Root, jit_roots
from ._sinks import one_graph
from ._sizes import Sizes
from ._splits import OnePart, Split, Splitter


@dataclass(eq=False)
class ModeSplit:
    """A Cell that is one graph since `mode`, the value in a call of `set_context` in `script`, says so; what it would
    be split into."""

    split: Split
    script: Module
    mode: ast.expr

    @property
    def place(self) -> str:
        return f"{self.script.path.name}:{self.mode.lineno}"


def mode_splits(inference: Inference, wanted: tuple[str, ...]) -> list[ModeSplit]:
    """The Cells of a run that Graph Mode compiles whole, and that call more than one part."""
    return inference.once((mode_splits, wanted), lambda: _all(inference, wanted))


def _all(inference: Inference, wanted: tuple[str, ...]) -> list[ModeSplit]:
    found: dict[FunctionInfo, ModeSplit] = {}
    sizes = Sizes(inference)
    compiled = {root.function for root in jit_roots(inference)}
    for script in list(inference.project.modules.values()):
        mode = graph_mode(script)
        if mode is None:
            continue
        for cell in _run(inference, script):
            construct = inference.project.method(cell, "construct")
            if construct is None or construct in found or construct in compiled or jit_decorator(construct):
                continue
            root = Root(construct, cell, _name_of(construct))
            splitter = Splitter(inference, sizes, wanted, root)
            if len(splitter.parts(construct, cell)) < 2:
                continue
            split = Split(root, sizes.function(construct, cell), problem=one_graph(inference, root))
            try:
                if not split.problem:
                    split.levels = splitter.cut(construct, cell)
            except (OnePart, CannotRewrite):
                continue  # nobody asked for a graph of this Cell alone
            found[construct] = ModeSplit(split, script, mode)
    return list(found.values())


def graph_mode(module: Module) -> ast.expr | None:
    """What says `GRAPH_MODE` in the only call of `set_context` with a mode in a file."""
    if b"GRAPH_MODE" not in module.source.utf8:
        return None
    modes = [
        keyword.value for node in preorder(module.tree) if isinstance(node, ast.Call)
        and canonical(module.names.resolve(node.func) or "") == "mindspore.set_context"
        for keyword in node.keywords if keyword.arg == "mode"
    ]  # fmt: skip
    if len(modes) == 1 and canonical(module.names.resolve(modes[0]) or "") == "mindspore.GRAPH_MODE":
        return modes[0]
    return None


def _run(inference: Inference, script: Module) -> Iterator[ClassInfo]:
    """The Cells that a file makes, and calls or hands to another call by the variable that holds them."""
    nodes = preorder(script.tree)
    used = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    used |= {
        n.args[0].id for n in nodes if isinstance(n, ast.Call) and n.args and isinstance(n.args[0], ast.Name)
        and canonical(script.names.resolve(n.func) or "") in ("mindspore.Model", "mindspore.train.Model")
    }  # fmt: skip
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        if not any(isinstance(t, ast.Name) and t.id in used for t in node.targets):
            continue
        qualified = script.names.resolve(node.value.func)
        func = node.value.func
        made = inference.project.named(script, func.id) if isinstance(func, ast.Name) else None
        made = made or (inference.project.definition(qualified) if qualified else None)
        if isinstance(made, ClassInfo) and inference.project.is_cell(made):
            yield made


def _name_of(function: FunctionInfo) -> ast.Name:
    node = function.node
    place = {"lineno": node.lineno, "col_offset": node.col_offset}
    return ast.Name(function.name, ast.Load(), **place, end_lineno=node.lineno, end_col_offset=node.col_offset + 3)
