"""Names for units that are cut out of a function, after what they call."""

from __future__ import annotations

import ast

from graphward.analysis.inference import Inference
from graphward.analysis.module import FunctionInfo

from .._blocks import own_nodes
from ._references import references
from ._runs import Run
from ._sizes import Sizes
from ._splits import Split

# Parts of what is called, and what a unit that calls it does.
_VERBS = (
    ("loss", "compute_loss"), ("criterion", "compute_loss"), ("cross_entropy", "compute_loss"), ("encode", "encode"),
    ("decode", "decode"), ("embed", "embed"), ("classif", "classify"), ("head", "classify"), ("pool", "pool"),
    ("backbone", "extract_features"), ("stem", "extract_stem"), ("attention", "attend"), ("proj", "project"),
    ("norm", "normalise"),
)  # fmt: skip


def names_of_runs(inference: Inference, split: Split, given: tuple[str, ...] = ()) -> dict[Run, str]:
    """A name for each run, `given` ones first; none is used in its scope."""
    found: dict[Run, str] = {}
    sizes = Sizes(inference)
    for index, run in enumerate(split.runs):
        wanted = given[index] if index < len(given) else _name(inference, sizes, split, run)
        taken = _taken(inference, run.function) | set(found.values())
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted}_{number}", number + 1
        found[run] = name
    return found


def _name(inference: Inference, sizes: Sizes, split: Split, run: Run) -> str:
    level = next(level for level in split.levels if run in level.runs)
    inside = set(own_nodes(run.statements))
    here = [r for r in references(inference, run.function, level.cell) if r.node in inside]
    called = [r.name for r in sorted(here, key=lambda r: -sizes.reference(run.function, level.cell, r))]
    for node in inside:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called.append(node.func.attr)
    for name in called:
        for part, verb in _VERBS:
            if part in name.lower():
                return verb
    if here:
        return f"run_{called[0].strip('_')}"
    return f"compute_{run.outputs[0].strip('_')}" if run.outputs else f"finish_{run.function.name.strip('_')}"


def _taken(inference: Inference, function: FunctionInfo) -> set[str]:
    module = function.module
    taken = set(module.definitions) | set(module.assignments) | set(module.names.aliases) | function.names.hidden
    owner = function.owner
    for info in inference.project.mro(owner) if owner else ():
        taken |= set(info.methods)
    if owner is not None:
        taken |= set(inference.project.attribute_values(owner))
    return taken | {n.id for n in function.nodes if isinstance(n, ast.Name)}
