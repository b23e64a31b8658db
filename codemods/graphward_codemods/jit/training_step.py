"""GW613: a training or inference step that nothing compiles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from graphward.analysis.module import FunctionInfo
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._outside import only_value, visible
from ..units._roots import jit_roots
from ._inference import cells_in_loops
from ._wrappers import is_compiled, loops_around

_GRADIENTS = frozenset({"mindspore.value_and_grad", "mindspore.ops.value_and_grad"})
# What says that something is compiled, or that the mode is somebody else's choice.
_COMPILED = (b"GRAPH_MODE", b"jit", b"ms_function", b"Model(")
_MODE = re.compile(rb"\bmode\s*=")


class TrainingStep(Rule):
    """A loop trains or infers in PyNative: no part of the step is compiled.

    ## What it finds

    A loop that calls what `value_and_grad` gave, or a function of the file that does, in a file where nothing is
    compiled and no mode is set; and a loop that calls a Cell of the project for each batch, itself, through a function
    of the file (`predict(net, x)`) or through a parameter (`evaluate(net, data)`). A Cell of fewer than twelve
    operators, and one whose `construct` has to stay in Python, are left alone; so is everything where a file of the
    project asks for Graph Mode.

    ## Why

    PyNative starts each operator by itself and builds its gradient anew in each step. Of the operators written by hand
    that `graphward bench --ops` measures (MindSpore 2.10, CPU, largest size), the middle half took 2.3 to 6.6 times
    as long in PyNative as the same code in a graph. Small models do not gain: starting a graph costs about a third of a
    millisecond.

    ## Example

        def train_step(x, y):
            loss, gradients = grad_fn(x, y)
            optimizer(gradients)
            return loss

    becomes

        @ms.jit
        def train_step(x, y):
            loss, gradients = grad_fn(x, y)
            optimizer(gradients)
            return loss

    ## What the rewrite assumes

    That the step compiles: `graphward check` and `graphward verify` say so.

    ## When it is unsafe

    Always: what the step does in Python (logging, counting) happens once, while it is compiled.

    ## References

    `mindspore.jit`, `mindspore.value_and_grad`. Measured on MindSpore 2.10 CPU.
    """

    code = "GW613"
    name = "training-step-without-jit"
    consequence = Consequence.INFO
    # What trains, and what scripts that infer have: a checkpoint, a training flag, a data set, or the Cell itself.
    triggers = (b"value_and_grad", b"load_checkpoint", b"set_train", b"_iterator(", b"def construct")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        data = context.module.source.utf8
        if any(marker in data for marker in _COMPILED) or _MODE.search(data) or b"mindspore" not in data:
            return
        # Parts of the step may be graphs of their own, in other files, and the mode may be set there.
        elsewhere: bool = context.once(TrainingStep, lambda: _graph_mode(context))
        if elsewhere or jit_roots(context.inference):
            return
        if b"value_and_grad" in data:
            yield from self._training(context)
        yield from self._inference(context)

    def _inference(self, context: ModuleContext) -> Iterator[Finding]:
        told: set[FunctionInfo] = set()
        for call, construct in cells_in_loops(context):
            if construct in told:
                continue
            told.add(construct)
            name = construct.owner.name if construct.owner else construct.qualname
            message = f"{name} runs in PyNative for each batch: no part of it is compiled"
            if construct.module is context.module:
                fix = _fix(context, construct)
            else:
                advice = f"put @jit on {construct.qualname} in {construct.module.path.name}"
                fix = context.rewrite().manual("Compile the network", advice)
            yield context.finding(self, call, message, fixes=(fix,))

    def _training(self, context: ModuleContext) -> Iterator[Finding]:
        told: set[FunctionInfo] = set()
        for call in context.calls:
            if not isinstance(call.func, ast.Name):
                continue
            loops = list(loops_around(context, call))
            if not loops:
                continue
            if _is_gradient(context, call.func):
                if not _updates(context, call, loops[0]) or _made_in(context, call.func, loops[-1]):
                    continue
                fix = context.rewrite().manual(
                    "Compile the step", "put the gradient and the update into a function under mindspore.jit"
                )
                yield context.finding(self, call, "the loop trains in PyNative: the step is not compiled", fixes=(fix,))
                continue
            step = visible(context, call.func)
            if isinstance(step, FunctionInfo) and step.module is context.module and step not in told:
                if any(_updates(context, c, step.node) for c in _gradients(context, step)) and not is_compiled(step):
                    told.add(step)
                    message = f"{step.name} trains in PyNative: no part of it is compiled"
                    yield context.finding(self, call, message, fixes=(_fix(context, step),))


def _graph_mode(context: ModuleContext) -> bool:
    """Whether a file of the project asks for Graph Mode."""
    return any(b"GRAPH_MODE" in module.source.utf8 for module in list(context.project.modules.values()))


def _gradients(context: ModuleContext, function: FunctionInfo) -> Iterator[ast.Call]:
    for node in function.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _is_gradient(context, node.func):
            yield node


def _updates(context: ModuleContext, call: ast.Call, around: ast.AST) -> bool:
    """Whether the gradients that a call gives are handed on to an optimizer, or whatever else takes them by name."""
    statement = context.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return False
    names = {n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return any(
        isinstance(n, ast.Call) and any(isinstance(a, ast.Name) and a.id in names for a in n.args)
        and not isinstance(n.func, ast.Attribute)
        for n in ast.walk(around)
    )  # fmt: skip


def _made_in(context: ModuleContext, name: ast.Name, loop: ast.stmt) -> bool:
    """Whether the loop makes the gradient function itself: it may be another one in each round."""
    value = only_value(context, name)
    return value is not None and any(n is value for n in ast.walk(loop))


def _is_gradient(context: ModuleContext, name: ast.Name) -> bool:
    """Whether a variable holds what `value_and_grad` gave."""
    value = only_value(context, name)
    return isinstance(value, ast.Call) and context.names_at(value, "").resolve(value.func) in _GRADIENTS


def _fix(context: ModuleContext, step: FunctionInfo) -> Fix:
    rewrite = context.rewrite(step.outer.names if step.outer else None)
    module = context.module
    indent = module.source.indent(step.node.lineno)
    decorator = f"{indent}@{rewrite.spell('mindspore.jit')}{module.source.newline}"
    rewrite.insert(module.source.offset(step.first_line, 0), decorator)
    return rewrite.unsafe("Compile the step", "what it does in Python besides happens once, while it is compiled")
