"""GW710: training in full precision."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from graphward.analysis.names import dotted
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._own_loop import ByHand, mix

_SCALED = frozenset({"O2", "O3"})
_REASON = "what is computed in float16 is rounded, and overflows at 65504: compare the losses of a short run"


class MixedPrecision(Rule):
    """A network is trained in full precision.

    ## What it finds

    `Model(...)`, `amp.build_train_network(...)` and `amp.auto_mixed_precision(...)` without a level, or with "O0";
    `nn.TrainOneStepCell(...)`; `value_and_grad(...)` in a loop of one's own; and `O2` with a loss scale manager that
    the CPU does not accept. The rule is opt-in: `--select GW710`, or `select = ["ALL", "GW710"]`. `amp-level` in
    `[tool.graphward]` chooses the level, "O2" if it says nothing.

    ## Why

    In float32 a device with units for float16 computes and moves twice as many bytes as it has to.

    At `O2` the default loss scale manager is a dynamic one, and on a CPU that raises, so that a script which trains on
    the device cannot be tried out on a laptop:

        ValueError: Only `loss_scale_manager=None` or `loss_scale_manager=FixedLossScaleManager(drop_overflow_update=
        False)` are supported on device `CPU`.

    The rewrite names the manager: a dynamic one, and none on the CPU.

    ## Example

        train = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)

    becomes

        train = amp.build_train_network(
            net, optimizer, loss, level="O2",
            loss_scale_manager=None if ms.get_context("device_target") == "CPU" else ms.DynamicLossScaleManager())

    In a loop of one's own the network becomes `amp.auto_mixed_precision(Net(), "O2")`, the loss is scaled in the
    function that is differentiated, and the optimizer is called with unscaled gradients where all of them are finite.
    On a CPU the scaler is `amp.StaticLossScaler(1)`, which scales nothing.

    ## What the rewrite assumes

    That losses and gradients fit into float16 once they are scaled.

    ## When it is unsafe

    Always: results are rounded.

    ## References

    API of `mindspore.amp` and `mindspore.train.Model`. Levels O1, O2, O3 and auto run on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW710"
    name = "mixed-precision"
    consequence = Consequence.PERFORMANCE
    triggers = (b"build_train_network", b"auto_mixed_precision", b"Model", b"TrainOneStepCell", b"value_and_grad")
    opt_in = True

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for use in context.uses:
            look = _PLACES.get(use.name)
            if look is None or use.call is None:
                continue
            found = look(context, use, use.call)
            if found is not None:
                message, fix = found
                yield context.finding(self, use.call, message, fixes=(fix,))


Found = tuple[str, Fix]


def _level(keyword: str, position: int) -> Callable[[ModuleContext, Use, ast.Call], Found | None]:
    """For a call that takes the level as `keyword`, or at `position`."""

    def look(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
        if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        given = next((k.value for k in call.keywords if k.arg == keyword), None)
        if given is None and len(call.args) > position:
            given = call.args[position]
        if use.name.endswith("Model") and not _trains(call):
            return None
        wanted = context.options.amp_level
        written = given.value if isinstance(given, ast.Constant) else None
        if given is not None and written != "O0":
            return _manager(context, use, call, written)
        rewrite = context.rewrite(use.names)
        added = [] if given is not None else [f'{keyword}="{wanted}"']
        if given is not None:
            rewrite.replace_span(context.module.start(given), context.module.end(given), f'"{wanted}"')
        if use.name != "mindspore.amp.auto_mixed_precision" and wanted in _SCALED and not _managed(call):
            added.append(_manager_argument(rewrite))
        _append(rewrite, context, call, added)
        return "trains in full precision", rewrite.unsafe(f"Compute in mixed precision, level {wanted}", _REASON)

    return look


def _trains(call: ast.Call) -> bool:
    """Whether a Model is given an optimizer: another one only evaluates or predicts."""
    return len(call.args) > 2 or any(k.arg == "optimizer" for k in call.keywords)


def _managed(call: ast.Call) -> bool:
    return any(k.arg == "loss_scale_manager" for k in call.keywords)


def _manager(context: ModuleContext, use: Use, call: ast.Call, written: object) -> Found | None:
    """A level that is there already: the default manager of O2 raises on the CPU."""
    if written != "O2" or use.name == "mindspore.amp.auto_mixed_precision" or _managed(call):
        return None
    rewrite = context.rewrite(use.names)
    _append(rewrite, context, call, [_manager_argument(rewrite)])
    message = "O2 with the default loss scale manager raises on the CPU"
    return message, rewrite.unsafe("Name the loss scale manager", "on the CPU losses are not scaled then")


def _manager_argument(rewrite: Rewrite) -> str:
    asked = rewrite.spell("mindspore.get_context")
    manager = rewrite.spell("mindspore.DynamicLossScaleManager")
    return f'loss_scale_manager=None if {asked}("device_target") == "CPU" else {manager}()'


def _append(rewrite: Rewrite, context: ModuleContext, call: ast.Call, added: list[str]) -> None:
    if added:
        parts = sorted([*call.args, *call.keywords], key=context.module.end)
        rewrite.insert(context.module.end(parts[-1]), "".join(f", {text}" for text in added))


def _one_step(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
    """`nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)`."""
    message = "trains in full precision"
    title = f"Compute in mixed precision, level {context.options.amp_level}"
    if len(call.args) != 2 or call.keywords:
        return message, context.rewrite().manual(title, "write amp.build_train_network: it takes a level")
    network, optimizer = (context.text(a) for a in call.args)
    inner = call.args[0]
    loss = ""
    if isinstance(inner, ast.Call) and (dotted(inner.func) or "").endswith("WithLossCell"):
        if len(inner.args) != 2 or inner.keywords:
            return message, context.rewrite().manual(title, "write amp.build_train_network: it takes a level")
        network, loss = (context.text(a) for a in inner.args)
    rewrite = context.rewrite(use.names)
    arguments = [network, optimizer, *([loss] if loss else []), f'level="{context.options.amp_level}"']
    if context.options.amp_level in _SCALED:
        arguments.append(_manager_argument(rewrite))
    function = rewrite.spell("mindspore.amp.build_train_network")
    start, end = context.module.start(call), context.module.end(call)
    rewrite.replace_span(start, end, f"{function}({', '.join(arguments)})")
    return message, rewrite.unsafe(title, _REASON)


def _own_loop(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
    """`value_and_grad` in a loop of one's own: the loss is scaled there, or nowhere."""
    if b"loss_scale" in context.module.source.utf8.lower() or b"LossScaler" in context.module.source.utf8:
        return None
    if b"auto_mixed_precision" in context.module.source.utf8 or len(call.args) + len(call.keywords) < 2:
        return None
    level = context.options.amp_level
    title = f"Compute in mixed precision, level {level}"
    try:
        fix = mix(context, call, level, level in _SCALED).unsafe(title, _REASON)
    except ByHand as reason:
        how = (
            f"{reason}: make the network `amp.auto_mixed_precision(net, \"{level}\")`, scale the loss with "
            "amp.DynamicLossScaler before the gradient is taken (not on a CPU), and unscale the gradients where "
            "amp.all_finite says that they are finite"
        )
        fix = context.rewrite().manual(title, how)
    return "trains in full precision", fix


_PLACES: dict[str, Callable[[ModuleContext, Use, ast.Call], Found | None]] = {
    "mindspore.amp.build_train_network": _level("level", 3),
    "mindspore.train.amp.build_train_network": _level("level", 3),
    "mindspore.amp.auto_mixed_precision": _level("amp_level", 1),
    "mindspore.train.amp.auto_mixed_precision": _level("amp_level", 1),
    "mindspore.Model": _level("amp_level", 6), "mindspore.train.Model": _level("amp_level", 6),
    "mindspore.train.model.Model": _level("amp_level", 6),
    "mindspore.nn.TrainOneStepCell": _one_step,
    "mindspore.value_and_grad": _own_loop, "mindspore.ops.value_and_grad": _own_loop,
}  # fmt: skip
