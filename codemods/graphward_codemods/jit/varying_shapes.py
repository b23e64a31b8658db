"""GW631: a compiled function that was seen to get many sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.names import JIT_NAMES
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import first_line

_FEW = 2  # sizes for which a graph each is cheaper than a dynamic one
_DYNAMIC = 3  # graphs that dynamic=1 compiles before it has one for all sizes
Sizes = dict[str, tuple[str, list[int | None]]]


class VaryingShapes(Rule):
    """A compiled function was seen to get Tensors of many sizes, each of which compiles it.

    ## What it finds

    Where a recorded run (`graphward record`) passed more than two sizes to a function under `jit`, or to a Cell's
    `construct`, without a dynamic shape being declared.

    ## Why

    A shape is part of the graph. Counted on MindSpore 2.7 and 2.10 over five batch sizes: `jit` alone compiles five
    times, `jit(dynamic=1)` three times, and once with `enable_dynamic` on a jit function or `set_inputs` on a Cell.
    `input_signature` is ignored: five times.

    ## Example

        @ms.jit
        def step(x, y):
            return net(x) - y

    becomes

        @ms.enable_dynamic(x=ms.Tensor(shape=[None, 8], dtype=ms.float32))
        @ms.jit
        def step(x, y):
            return net(x) - y

    ## What the rewrite assumes

    That the sizes which differed in the recorded run are those that differ: other axes and dtypes stay as they were.

    ## When it is unsafe

    Always: a graph of dynamic shape may be slower in each step, and operators that need to know a size do not compile.
    For a Cell without `jit` it is left to you: `net.set_inputs(...)` where the instance is made.

    ## References

    `mindspore.enable_dynamic`, `mindspore.nn.Cell.set_inputs`. Measured on MindSpore 2.7 and 2.10 CPU by counting
    compilations.
    """

    code = "GW631"
    name = "varying-shapes"
    consequence = Consequence.PERFORMANCE
    triggers = (b"jit", b"construct", b"ms_function")

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        calls = context.inference.shapes.get(function, ())
        if len(calls) <= _FEW or context.reached.region.root is not function:
            return
        jit = next((node for name, node in function.decorators if name in JIT_NAMES), None)
        if any(name.endswith("enable_dynamic") for name, _ in function.decorators) or _is_dynamic(jit):
            return
        sizes = _joined(calls)
        if not sizes:
            return
        distinct = {tuple(sorted((name, call[name]) for name in sizes if name in call)) for call in calls}
        if len(distinct) <= _FEW:
            return
        graphs = f"{len(distinct)} graphs were compiled for {len(distinct)} sizes"
        less = f"dynamic=1 would compile {min(len(distinct), _DYNAMIC)}, a declared shape 1"
        yield context.finding(self, function.node, f"{graphs}: {less}", evidence=(_told(sizes),),
                              fixes=(_fix(context, jit, sizes),))  # fmt: skip


def _is_dynamic(jit: ast.expr | None) -> bool:
    return isinstance(jit, ast.Call) and any(k.arg == "dynamic" for k in jit.keywords)


def _joined(calls: Iterable[object]) -> Sizes:
    """The parameters that got Tensors of several sizes, with None for each axis that differed; none for a parameter
    whose dtype or rank differed."""
    seen: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for call in calls:
        for name, told in call.items():  # type: ignore[attr-defined]
            seen.setdefault(name, []).append(told)
    found: Sizes = {}
    for name, told in seen.items():
        dtypes, ranks = {dtype for dtype, _ in told}, {len(shape) for _, shape in told}
        if len(dtypes) == len(ranks) == 1:
            axes = [set(axis) for axis in zip(*(shape for _, shape in told), strict=True)]
            if any(len(axis) > 1 for axis in axes):
                found[name] = dtypes.pop(), [axis.pop() if len(axis) == 1 else None for axis in axes]
    return found


def _told(sizes: Sizes) -> str:
    parts = [f"{name}: {shape}" for name, (_, shape) in sizes.items()]
    return f"a recorded run passed Tensors of several sizes, None where they differ: {', '.join(parts)}"


def _fix(context: FunctionContext, jit: ast.expr | None, sizes: Sizes) -> Fix:
    rewrite = context.rewrite()
    module = context.module
    if jit is None:
        shapes = ", ".join(f"Tensor(shape={shape}, dtype={dtype})" for dtype, shape in sizes.values())
        where = f"call set_inputs({shapes}) on the instance, every input in its order"
        return rewrite.manual("Declare the shapes", where)
    tensor = rewrite.spell("mindspore.Tensor")
    declared = [
        f"{name}={tensor}(shape={shape}, dtype={rewrite.spell(f'mindspore.{dtype}')})"
        for name, (dtype, shape) in sizes.items()
    ]
    indent = module.source.indent(context.function.node.lineno)
    line = f"{indent}@{rewrite.spell('mindspore.enable_dynamic')}({', '.join(declared)}){module.source.newline}"
    rewrite.insert(module.source.offset(first_line(context.function.node), 0), line)
    return rewrite.unsafe("Declare the shapes", "a graph of dynamic shape may be slower, and what needs a size fails")
