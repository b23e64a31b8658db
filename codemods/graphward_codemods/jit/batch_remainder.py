"""GW630: a last batch of another size for a compiled step."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.module import FunctionInfo
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._outside import assigned, context_of
from .._python import values_of
from ._datasets import comes_from
from ._wrappers import compiled, reads

_GRADIENTS = frozenset({"value_and_grad", "grad", "GradOperation", "TrainOneStepCell"})
_DEPTH = 3


class BatchRemainder(Rule):
    """The last, smaller batch of an epoch compiles the step once more.

    ## What it finds

    `dataset.batch(n)` without `drop_remainder`, of a dataset of `mindspore.dataset`, when a loop over it calls a
    compiled function, or `Model.train` takes it. The dataset may come from a function of this file or of another one
    of the project, and be handed to a function as an argument.

    ## Why

    A shape is part of the graph. With 100 samples and `batch(32)` the last batch has 4, and the step is compiled twice:
    counted on MindSpore 2.7 and 2.10, one compilation for each size. With data sinking the device graph takes one shape
    only.

    ## Example

        dataset = dataset.batch(32)
        for x, y in dataset.create_tuple_iterator():
            loss = train_step(x, y)

    becomes

        dataset = dataset.batch(32, drop_remainder=True)
        for x, y in dataset.create_tuple_iterator():
            loss = train_step(x, y)

    ## What the rewrite assumes

    That the step trains: the next epoch, shuffled, has other samples in its last batch.

    ## When it is unsafe

    Always: up to n - 1 samples of each epoch are left out. Where nothing is trained this would change the result; there
    it is left to you (`drop_remainder=False` says that you know, and `enable_dynamic` or `set_inputs` declare the batch
    axis open).

    ## References

    `mindspore.dataset.Dataset.batch`. Measured on MindSpore 2.7 and 2.10 CPU by counting compilations.
    """

    code = "GW630"
    name = "batch-remainder"
    consequence = Consequence.PERFORMANCE
    # The loop may stand in another file, which is read for what it says of compiling.
    triggers = (b".batch(", b"jit", b".train(")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        if b".batch(" not in context.module.source.utf8 or b"mindspore.dataset" not in _imports(context):
            return
        calls = [c for c in context.calls if _is_batch(c)]
        for call in calls:
            if not _is_dataset(context, call.func.value, _DEPTH):  # type: ignore[attr-defined]
                continue
            names = _makers(context, call)
            found = [
                training for other, value, training in _everywhere(context, names)
                if comes_from(context, other, value, call, _DEPTH, names)
            ]  # fmt: skip
            if found:
                message = "the last batch may be smaller: another shape, for which the step compiles again"
                yield context.finding(self, call, message, fixes=(_fix(context, call, all(found)),))


def _makers(context: ModuleContext, call: ast.Call) -> frozenset[str]:
    """The functions of the file that may return what a call gives: the one around it, and those that call that."""
    around = context.function_at(call)
    if around is None:
        return frozenset()
    found = {around.name}
    for _ in range(_DEPTH):
        found |= {
            f.name for f in context.module.functions
            for n in f.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in found
        }  # fmt: skip
    return frozenset(found)


def _everywhere(
    context: ModuleContext, names: frozenset[str]
) -> Iterator[tuple[ModuleContext, ast.expr, bool]]:
    """The consumers of this file, and of others that name a function which may give the dataset."""
    modules = [context.module]
    modules += [
        m for m in list(context.project.modules.values())
        if m is not context.module and b"mindspore" in m.source.utf8
        and (b"jit" in m.source.utf8 or b".train(" in m.source.utf8)
        and any(name.encode() in m.source.utf8 for name in names)
    ]  # fmt: skip
    for module in modules:
        other = context_of(context, module)
        for value, training in _consumers(other):
            yield other, value, training


def _imports(context: ModuleContext) -> bytes:
    return b" ".join(meaning.encode() for meaning in context.module.names.aliases.values())


def _is_batch(call: ast.Call) -> bool:
    """`x.batch(n)` where nothing is said about the remainder."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "batch" or len(call.args) > 1:
        return False
    return not any(k.arg in ("drop_remainder", None) for k in call.keywords) and bool(call.args or call.keywords)


def _consumers(context: ModuleContext) -> Iterator[tuple[ast.expr, bool]]:
    """What loops that call a compiled function run over, and what `Model.train` takes; and whether it trains."""
    for node in context.nodes:
        if isinstance(node, ast.For):
            steps = [compiled(context, c.func) for s in node.body for c in ast.walk(s) if isinstance(c, ast.Call)]
            found = [step for step in steps if step is not None]
            if found:
                yield node.iter, any(_trains(context, step, _DEPTH) for step in found)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "train":
            if len(node.args) >= 2 and _is_model(context, node.func.value):
                yield node.args[1], True


def _is_model(context: ModuleContext, node: ast.expr) -> bool:
    value = assigned(context, node) if isinstance(node, ast.Name) else [node]
    return any(
        isinstance(v, ast.Call) and isinstance(v.func, (ast.Name, ast.Attribute))
        and context.names_at(v, "").resolve(v.func) in ("mindspore.Model", "mindspore.train.Model")
        for v in value
    )  # fmt: skip


def _trains(context: ModuleContext, step: FunctionInfo, depth: int) -> bool:
    """Whether a function takes gradients, itself or in what it names."""
    for node in step.loads:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in _GRADIENTS:
            return True
        if isinstance(node, ast.Name) and depth and not step.names.is_local(name):
            scope = step.outer
            values = [v for f in ([scope] if scope else []) for v in values_of(f.statements, name)]
            values += [context.module.assignments[name]] if name in context.module.assignments else []
            if any(_GRADIENTS & _named(value) for value in values):
                return True
            inner = context.project.visible(step, name)
            if isinstance(inner, FunctionInfo) and inner is not step and _trains(context, inner, depth - 1):
                return True
    return False


def _named(node: ast.AST) -> set[str]:
    found = reads(node)
    return found | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def _is_dataset(context: ModuleContext, node: ast.expr, depth: int) -> bool:
    """Whether a value is a dataset of MindSpore's: made by it, or by methods of one."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if (context.names_at(node, "").resolve(node.func) or "").startswith("mindspore.dataset."):
            return True
        node = node.func.value
    if isinstance(node, ast.Call):
        return (context.names_at(node, "").resolve(node.func) or "").startswith("mindspore.dataset.")
    if isinstance(node, ast.Name) and depth:
        others = (v for v in assigned(context, node) if not _calls_itself(v, node.id))
        return any(_is_dataset(context, value, depth - 1) for value in others)
    return False


def _calls_itself(value: ast.expr, name: str) -> bool:
    """`dataset = dataset.map(...)` tells nothing about where it comes from."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return isinstance(value, ast.Name) and value.id == name


def _fix(context: ModuleContext, call: ast.Call, training: bool) -> Fix:
    title = "Drop the remainder"
    if not training:
        return context.rewrite().manual(
            title, "nothing is trained here: say drop_remainder=True if the last samples may go, or declare the "
            "batch axis open with mindspore.enable_dynamic or Cell.set_inputs",
        )  # fmt: skip
    rewrite = context.rewrite()
    end = context.module.end(call) - 1
    inside = context.module.source.utf8[:end].rstrip()
    last = max(map(context.module.end, [*call.args, *(k.value for k in call.keywords)]))
    comma = b"," in context.module.source.utf8[last:end]
    rewrite.insert(len(inside), " drop_remainder=True" if comma else ", drop_remainder=True")
    return rewrite.unsafe(title, "up to a batch of samples is left out of each epoch")
