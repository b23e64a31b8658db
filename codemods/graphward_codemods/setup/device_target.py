"""GW702: the kind of device written into a script."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.names import Names
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._context_calls import CannotMove, decided, take_out

_TARGETS = frozenset({"Ascend", "GPU", "CPU"})
HELPER = "select_device"
_BODY = '''def {helper}(device_id=None):
    """Compute on an Ascend device, else on a GPU, else on the CPU: the first that MindSpore finds here."""
    kinds = (("Ascend", {ms}.device_context.ascend), ("GPU", {ms}.device_context.gpu))
    target = next((name for name, kind in kinds if kind.is_available()), "CPU")
    place = {{}} if device_id is None or target == "CPU" else {{"device_id": device_id}}
    if hasattr({ms}, "set_device"):
        {ms}.set_device(target, **place)
    else:
        {ms}.set_context(device_target=target, **place)
    return target


'''


class DeviceTarget(Rule):
    """The kind of device is written into the script, which runs nowhere else.

    ## What it finds

    `set_context(device_target="Ascend")` and `set_device("Ascend")` with a literal kind of device, in every spelling. A
    device that comes from an argument or a configuration is left alone.

    ## Why

    On a machine without such a device the script ends before it begins:

        RuntimeError: Unsupported device target Ascend. This process only supports one of the ['CPU'].

    and the key is deprecated: `For 'context.set_context', the parameter 'device_target' will be deprecated and removed
    in a future version. Please use the api mindspore.set_device() instead.`

    ## Example

        ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend", device_id=1)

    becomes

        ms.set_context(mode=ms.GRAPH_MODE)
        select_device(1)

    with a function `select_device` above, which takes an Ascend device where there is one, else a GPU, else the CPU.
    The second alternative is `ms.set_device("Ascend", 1)`.

    ## What the rewrite assumes

    That the script may run on whatever it finds.

    ## When it is unsafe

    Always: on a machine with several kinds of devices another one may be taken. For "CPU", which is there on every
    machine, `set_device("CPU")` comes first.

    ## References

    API of `mindspore.set_device` and `mindspore.device_context`. Run on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW702"
    name = "device-target"
    consequence = Consequence.DEPRECATED
    triggers = (b"device_target", b"set_device")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        places = list(_places(context))
        if not places:
            return
        first = min(places, key=lambda place: context.module.start(place[1]))[1]
        for use, call, target in places:
            message = f"the script runs on {target} only"
            fixes = tuple(_fixes(context, use, call, target, first))
            yield context.finding(self, call, message, fixes=fixes)


def _places(context: ModuleContext) -> Iterator[tuple[Use, ast.Call, str]]:
    """`(use, call, kind of device)`; what stands in a helper that looks for the device is none."""
    for use in context.uses:
        call = use.call
        if call is None or use.name not in ("mindspore.set_context", "mindspore.set_device"):
            continue
        if use.name == "mindspore.set_device":
            value = call.args[0] if call.args else _keyword(call, "device_target")
        else:
            value = _keyword(call, "device_target")
        if not isinstance(value, ast.Constant) or value.value not in _TARGETS or decided(context, call):
            continue
        # The CPU is there on every machine.
        if use.name == "mindspore.set_context" or value.value != "CPU":
            yield use, call, str(value.value)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _fixes(context: ModuleContext, use: Use, call: ast.Call, target: str, first: ast.Call) -> Iterator[Fix]:
    portable = _portable(context, use, call, first)
    fixed = _fixed(context, use, call, target) if use.name == "mindspore.set_context" else None
    yield from (fix for fix in ((fixed, portable) if target == "CPU" else (portable, fixed)) if fix is not None)


def _portable(context: ModuleContext, use: Use, call: ast.Call, first: ast.Call) -> Fix:
    title = "Take the device that is there"
    module = context.module
    own = module.definitions.get(HELPER)
    if own is not None and "is_available" not in module.text(own.node):
        return context.rewrite().manual(title, f"{HELPER} is something else in this file")
    rewrite = context.rewrite(use.names)
    number = _device_id(context, use, call)
    new = f"{HELPER}({number})"
    try:
        _exchange(rewrite, context, use, call, new)
    except CannotMove as reason:
        return context.rewrite().manual(title, f"to be done by hand: {reason}")
    if own is None:
        statement = _top(context, first)
        line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        text = _BODY.format(helper=HELPER, ms=_package(rewrite, context.module.names))
        text = text.replace("    ", _indent(context)).replace("\n", module.source.newline)
        rewrite.insert(module.source.offset(line, 0), text)
    return rewrite.unsafe(title, "another device may be taken than the one that was named")


def _fixed(context: ModuleContext, use: Use, call: ast.Call, target: str) -> Fix | None:
    rewrite = context.rewrite(use.names)
    number = _device_id(context, use, call)
    arguments = f'"{target}"' + (f", {number}" if number else "")
    try:
        _exchange(rewrite, context, use, call, f"{rewrite.spell('mindspore.set_device')}({arguments})")
    except CannotMove:
        return None
    return rewrite.safe("Use set_device")


def _exchange(rewrite: Rewrite, context: ModuleContext, use: Use, call: ast.Call, new: str) -> None:
    if use.name == "mindspore.set_device":
        rewrite.replace_span(context.module.start(call), context.module.end(call), new)
        return
    moved = [k for k in call.keywords if k.arg in ("device_target", "device_id")]
    take_out(rewrite, context, call, moved, [new])


def _device_id(context: ModuleContext, use: Use, call: ast.Call) -> str:
    value = _keyword(call, "device_id")
    if value is None and use.name == "mindspore.set_device" and len(call.args) > 1:
        value = call.args[1]
    return context.text(value) if value is not None else ""


def _top(context: ModuleContext, node: ast.AST) -> ast.stmt:
    """The statement at module level around a node."""
    outer = [n for n in (node, *context.around(node)) if isinstance(n, ast.stmt)]
    return outer[-1]


def _indent(context: ModuleContext) -> str:
    """One level of indentation as the file has it."""
    lines = (line for line in context.module.source.text.splitlines() if line[:1] in (" ", "\t") and line.strip())
    return "\t" if next(lines, "").startswith("\t") else "    "


def _package(rewrite: Rewrite, names: Names) -> str:
    known = names.spelling("mindspore")
    if known is not None:
        return known
    spelled = rewrite.spell("mindspore.device_context")
    return spelled.rpartition(".")[0] or "mindspore"
