"""GW601: a graph of several parts to compile units."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import FunctionInfo
from graphward.rules.context import Context, FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from ._boundaries import jit_decorator
from ._graph_mode import ModeSplit, mode_splits
from ._naming import names_of_runs
from ._splits import Split, splits
from ._writing import Writer


class MonolithicJit(Rule):
    """Encoder, head and loss are compiled as one graph.

    ## What it finds

    A function or method under `jit`, or one that a call of `jit` gets, that calls several parts with weights of their
    own (sub-Cells, functions that call them), and stretches of code. A training step is followed through
    `value_and_grad`, and a wrapper through what it wraps, to the function that calls the parts. The parts are counted
    in operators, loops over layers included. Said, and left alone: graphs of fewer than twelve operators, parts between
    which a tuple or a dict of tensors is handed on or too many values are live, parts that another graph holds as well,
    and what `Model` or `data_sink` runs as one.

    A `construct` without `jit` is one graph too where a script of the project sets `GRAPH_MODE` and calls the Cell.
    Measured on MindSpore 2.10: in Graph Mode the Cell that is called is compiled whole, `@jit` on its sub-Cells counts
    for nothing, and a new head is not seen; the same Cells in PyNative compile two graphs, and one more for the new
    head. So the split takes the mode with it: with `run-mode = "jit"` in `[tool.graphward]`, or with `--units`, the
    line of the mode is changed and the parts get `@jit`, where all stands in one file; else what to change is said.

    ## Why

    A graph is compiled as a whole: a new head, a new loss, a shape that only the head sees, each compiles all of it
    again. Measured on MindSpore 2.10 CPU with an encoder of 12 layers of width 256 (`python -m benchmarks.units`),
    seconds of CPU time:

    |                               | one graph | units |       |
    |-------------------------------|-----------|-------|-------|
    | first call, forward           | 3.95      | 4.01  | 1.0x  |
    | first call, with gradient     | 9.54      | 7.58  | 1.3x  |
    | a new head, forward           | 3.47      | 0.15  | 24x   |
    | a new head, with gradient     | 8.50      | 0.26  | 32x   |

    And the one graph does not even notice the new head (GW920). A graph of a few dozen operators gains nothing: each
    call of a unit costs about 0.3 ms. `graphward bench TARGET` measures yours.

    The built-in compile cache gains nothing from a split. It is dropped as a whole when any file that the script
    imports changes. A cache path of its own for each unit does not help: the first path that is set holds for the
    process (measured with the environment variable and with `set_context`).

    ## Example

        @jit
        def construct(self, ids, labels):
            hidden = self.encoder(ids)
            logits = self.head(hidden)
            loss = ops.cross_entropy(logits, labels)
            return loss + 0.1 * (logits * logits).mean()

    becomes, with `@jit` on `Encoder.construct` and on `Head.construct`,

        @jit
        def compute_loss(self, logits, labels):
            loss = ops.cross_entropy(logits, labels)
            return loss + 0.1 * (logits * logits).mean()

        def construct(self, ids, labels):
            hidden = self.encoder(ids)
            logits = self.head(hidden)
            return self.compute_loss(logits, labels)

    `--units encoder,head` says which parts are to be graphs, `--names` how units are called that are cut out.

    ## What the rewrite assumes

    That the function is called from Python, in PyNative mode. The unit of a sub-Cell is its `construct`, since a method
    that calls it would go on with the old one when it is exchanged; a method is the unit of code between the Cells. A
    tuple, list or dict of tensors is handed to no unit: it compiles again at each call with a gradient of zero, and
    inside of `mutable` the gradients of parameters are wrong from the second call on (MindSpore 2.10). `set_train` of
    the network does not reach the graph of a sub-Cell, since only the phase of its own instance is in its key; a Cell
    that does other things in training gets an `add_flags_recursive` that turns the phase.

    ## When it is unsafe

    Always: what stands between the units runs in PyNative, operator by operator. What the one graph froze while it was
    compiled (a random number, a global, a print) happens there at each call.

    ## References

    - Measured on MindSpore 2.10.0 CPU
    - API of `mindspore.jit` and `mindspore.nn.Cell.set_train`
    """

    code = "GW601"
    name = "monolithic-jit"
    consequence = Consequence.PERFORMANCE
    triggers = (b"jit", b"def construct", b"GRAPH_MODE")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        if b"def construct" not in context.module.source.utf8:
            return
        for found in mode_splits(context.inference, context.options.units):
            if found.split.root.function.module is context.module:
                yield self._by_mode(context, found)

    def _by_mode(self, context: ModuleContext, found: ModeSplit) -> Finding:
        split, root = found.split, found.split.root
        why = f"as {found.place} sets Graph Mode"
        what = f"{root.function.qualname} is one graph of about {split.size} operators, {why}"
        if split.problem:
            message = f"{what}, and stays one: {split.problem}"
            return context.finding(self, root.place, message, consequence=Consequence.INFO)
        names = _titles(context, split)
        message = f"{what}: a change in one of {', '.join(names)} compiles all of it again"
        return context.finding(self, root.place, message, fixes=(_fix_of_mode(context, found, names),))

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        here = context.once(_by_function, lambda: _by_function(context))
        for split in here.get(context.function, ()):
            yield self._found(context, split)

    def _found(self, context: FunctionContext, split: Split) -> Finding:
        root = split.root
        if root.function is not context.function:
            return self._elsewhere(context, split)
        what = f"{root.function.qualname} is one graph of about {split.size} operators"
        if split.problem:
            message = f"{what}, and stays one: {split.problem}"
            return context.finding(self, root.place, message, consequence=Consequence.INFO)
        names = _titles(context, split)
        message = f"{what}: a change in one of {', '.join(names)} compiles all of it again"
        return context.finding(self, root.place, message, fixes=(_fix(context, split, names),))

    def _elsewhere(self, context: FunctionContext, split: Split) -> Finding:
        """A unit, or code between units, that stands in another file than the graph."""
        function = context.function
        root = split.root.function
        message = f"{function.qualname} is compiled inside of {root.qualname} ({root.module.path.name}), with others"
        here = [u.title for u in split.units if u.function.module is context.module]
        here += [name for run, name in names_of_runs(context.inference, split).items()
                 if run.function.module is context.module]  # fmt: skip
        return context.finding(self, _head(function), message, fixes=(_fix(context, split, here),))


def _by_function(context: FunctionContext) -> dict[FunctionInfo, list[Split]]:
    """The splits by the function where each is told: that of the graph, and of its parts in other files the first."""
    found: dict[FunctionInfo, list[Split]] = {}
    options = context.options
    for split in splits(context.inference, options.units):
        root = split.root.function
        found.setdefault(root, []).append(split)
        if split.problem or split.root.conditional:
            continue
        told = {root.module}
        left = (u.function for u in split.units if jit_decorator(u.function) is None)
        parts = [*left, *(run.function for run in split.runs)]
        for function in parts:
            if function.module not in told and function in context.inference.reached:
                told.add(function.module)
                found.setdefault(function, []).append(split)
    return found


def _fix_of_mode(context: ModuleContext, found: ModeSplit, names: list[str]) -> Fix:
    title = f"Make {', '.join(names)} graphs of their own"
    options = context.options
    here = {u.function.module for u in found.split.units} | {found.script, found.split.root.function.module}
    if here != {context.module} or not (options.units or options.run_mode == "jit"):
        advice = (f"in Graph Mode the Cell that is called is compiled whole, @jit inside of it counts for nothing; set "
                  f"PYNATIVE_MODE at {found.place} and put @jit on these parts (run-mode = \"jit\" in "
                  f"[tool.graphward], or --units, does it where all stands in one file)")  # fmt: skip
        return context.rewrite().manual(title, advice)
    try:
        rewrite = Writer(context, found.split, options.unit_names, mode=found.mode).write()
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not split by itself: {reason}")
    eager = "what else the script computes runs in PyNative, operator by operator"
    return rewrite.unsafe(title, eager, compile_units=True)


def _titles(context: Context, split: Split) -> list[str]:
    """The units by name, those that are cut out with their first line."""
    cut = names_of_runs(context.inference, split, context.options.unit_names)
    runs = [f"{name} (line {run.statements[0].lineno})" for run, name in cut.items()]
    return [*(unit.title for unit in split.units), *runs]


def _fix(context: FunctionContext, split: Split, names: list[str]) -> Fix:
    title = f"Make {', '.join(names)} graphs of their own"
    if split.root.conditional:
        advice = "jit is called on a condition, and a decorator holds always; put @jit on the parts and drop the call:"
        return context.rewrite().manual(title, f"{advice} MS_JIT=0 in the environment then turns all of them off")
    try:
        writer = Writer(context, split, context.options.unit_names)
        rewrite = writer.write()
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not split by itself: {reason}")
    eager = "what stands between the units runs in PyNative, operator by operator"
    return rewrite.unsafe(title, eager, compile_units=True)


def _head(function: FunctionInfo) -> ast.AST:
    node = function.node
    place = {"lineno": node.lineno, "col_offset": node.col_offset}
    return ast.Name(function.name, ast.Load(), **place, end_lineno=node.lineno, end_col_offset=node.col_offset + 3)
