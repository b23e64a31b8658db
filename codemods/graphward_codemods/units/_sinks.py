"""Training loops of MindSpore's own that want one graph: `Model`, `data_sink`."""

from __future__ import annotations

import ast

from graphward.analysis.inference import Inference
from graphward.analysis.module import Module
from graphward.analysis.tree import preorder

from ._roots import Root

_MODEL = frozenset({"mindspore.Model", "mindspore.train.Model", "mindspore.train.model.Model"})
_SINK = frozenset({"mindspore.data_sink", "mindspore.train.data_sink"})


def one_graph(inference: Inference, root: Root) -> str:
    """Why the training loop around a function wants it as one graph, else empty."""
    for module in list(inference.project.modules.values()):
        data = module.source.utf8
        if b"Model(" in data or b"data_sink" in data:
            reason = inference.once((one_graph, root.function, module), lambda m=module: _in(m, root))  # type: ignore[misc]
            if reason:
                return reason
    return ""


def _in(module: Module, root: Root) -> str:
    made = _names_of_class(module, root.cell.name) if root.cell else set()
    for node in preorder(module.tree):
        if not isinstance(node, ast.Call):
            continue
        resolved = module.names.resolve(node.func)
        if resolved not in _MODEL and resolved not in _SINK:
            continue
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
