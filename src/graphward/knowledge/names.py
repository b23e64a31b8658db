"""Where MindSpore's public names really live: several module paths mean the same thing.

Source: the `__init__` modules of the MindSpore 2.7 and 2.10 wheels, which re-export these names.
"""

from __future__ import annotations

from functools import lru_cache

# Longest prefix first; a trailing dot means "every name below".
_CANONICAL = (
    ("mindspore.ops.operations.", "mindspore.ops."),
    ("mindspore.ops.functional.", "mindspore.ops."),
    ("mindspore.ops.composite.", "mindspore.ops."),
    ("mindspore.ops.primitive.", "mindspore.ops."),
    ("mindspore.ops.function.", "mindspore.ops."),
    ("mindspore.nn.cell.", "mindspore.nn."),
    ("mindspore.nn.layer.", "mindspore.nn."),
    ("mindspore.common.tensor.", "mindspore."),
    ("mindspore.common.parameter.", "mindspore."),
    ("mindspore.common.api.", "mindspore."),
    ("mindspore.common.dtype.", "mindspore."),
    ("mindspore.common.mutable.", "mindspore."),
    ("mindspore.graph.api.", "mindspore."),
    ("mindspore.context.", "mindspore."),
    ("mindspore.dtype.", "mindspore."),
    ("mindspore.common.", "mindspore."),
)
_MODULES = {
    "mindspore.ops.operations": "mindspore.ops",
    "mindspore.ops.functional": "mindspore.ops",
    "mindspore.ops.composite": "mindspore.ops",
    "mindspore.common.dtype": "mindspore",
    "mindspore.common": "mindspore",
    "mindspore.nn.cell": "mindspore.nn",
}

# `mindspore.jit` under every name it has had.
JIT_NAMES = frozenset({"mindspore.jit", "mindspore.ms_function"})
# Calls that hand a function on: what they wrap is compiled with the caller.
WRAPPER_NAMES = JIT_NAMES | {
    "mindspore.value_and_grad", "mindspore.grad", "mindspore.vmap", "mindspore.recompute", "functools.partial",
    "mindspore.ops.value_and_grad", "mindspore.ops.grad", "mindspore.ops.vmap",
}  # fmt: skip
CELL_NAMES = frozenset(
    {"mindspore.nn.Cell", "mindspore.nn.GraphCell", "mindspore.nn.SequentialCell", "mindspore.nn.TrainOneStepCell",
     "mindspore.nn.TrainOneStepWithLossScaleCell", "mindspore.nn.WithLossCell", "mindspore.nn.WithEvalCell",
     "mindspore.nn.LossBase", "mindspore.nn.Optimizer", "mindspore.nn.CellList", "mindspore.nn.CellDict"}
)
# Decorators whose functions run in Python while the graph is compiled, on constants only.
COMPILE_TIME_DECORATORS = frozenset(
    {"mindspore.ops.constexpr", "mindspore.ops._primexpr", "mindspore.ops.primexpr",
     "mindspore._checkparam.constexpr", "mindspore.ops._utils.constexpr"}
)


@lru_cache(maxsize=65536)
def canonical(name: str) -> str:
    """The public spelling of a qualified name: `mindspore.ops.operations.Exp` is `mindspore.ops.Exp`."""
    if not name.startswith("mindspore."):
        return name
    if name in _MODULES:
        return _MODULES[name]
    for prefix, public in _CANONICAL:
        if name.startswith(prefix):
            return public + name.rsplit(".", 1)[1] if public == "mindspore." or "." in name[len(prefix) :] else (
                public + name[len(prefix) :]
            )
    return name
