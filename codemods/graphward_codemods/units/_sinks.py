"""Training loops of MindSpore's own that want one graph: `Model`, `data_sink`."""

from __future__ import annotations

import ast
import re

from graphward.analysis.inference import Inference
from graphward.analysis.module import Module
from graphward.analysis.tree import preorder

from ._roots import Root

_MODEL = frozenset({"mindspore.Model", "mindspore.train.Model", "mindspore.train.model.Model"})
# `class BertModel(` is no call.
_TEXT = re.compile(rb"(?<!\w)Model\(|data_sink")
_SINK = frozenset({"mindspore.data_sink", "mindspore.train.data_sink"})


def one_graph(inference: Inference, root: Root) -> str:
    """Why the training loop around a function wants it as one graph, else empty."""
    for module, calls in inference.once(one_graph, lambda: _trainers(inference)).items():
        reason = _in(module, calls, root)
        if reason:
            return reason
    return ""


def _trainers(inference: Inference) -> dict[Module, list[tuple[ast.Call, str]]]:
    """The calls that begin such a loop, with what they call, by module."""
    found: dict[Module, list[tuple[ast.Call, str]]] = {}
    for module in list(inference.project.modules.values()):
        if _TEXT.search(module.source.utf8):
            calls = [n for n in preorder(module.tree) if isinstance(n, ast.Call)]
            named = ((call, module.names.resolve(call.func) or "") for call in calls)
            known = [(call, name) for call, name in named if name in _MODEL or name in _SINK]
            if known:
                found[module] = known
    return found


def _in(module: Module, calls: list[tuple[ast.Call, str]], root: Root) -> str:
    made = _names_of_class(module, root.cell.name) if root.cell else set()
    for node, resolved in calls:
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg in ("network", "fn"))]
        for argument in given:
            name = argument.id if isinstance(argument, ast.Name) else ""
            constructed = argument.func if isinstance(argument, ast.Call) else None
            own = isinstance(constructed, ast.Name) and root.cell is not None and constructed.id == root.cell.name
            if (name and (name in made or _is(module, argument, root))) or own:
                sinks = resolved in _SINK
                return "data sinking feeds it inside of the graph" if sinks else "Model trains it as one graph"
    return ""


def _is(module: Module, name: ast.expr, root: Root) -> bool:
    """Whether a name means the function itself, which another scope may have one of too."""
    if not isinstance(name, ast.Name) or name.id != root.function.name or module is not root.function.module:
        return False
    here = module.function_at(module.start(name))
    while here is not None and here is not root.function.outer:
        here = here.outer
    return here is root.function.outer


def _names_of_class(module: Module, name: str) -> set[str]:
    return {
        t.id for n in preorder(module.tree)
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Name)
        and n.value.func.id == name
        for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
