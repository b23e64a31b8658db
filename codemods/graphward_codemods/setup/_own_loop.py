"""Mixed precision where the gradient is taken by hand: the network, the loss and the update change together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from graphward.analysis.module import FunctionInfo
from graphward.rules.module_context import ModuleContext
from graphward.rules.rewrite import Rewrite

from .._outside import only_value, visible

_SCALERS = ("loss_scaler", "amp_loss_scaler", "mixed_loss_scaler")
# A loop that asks whether its gradients are finite, or has a name for the answer.
_LOOKS = re.compile(rb"\b(?:all_finite|is_finite|finite)\b")


class ByHand(Exception):
    """Why the loop has to be changed by hand."""


def mix(context: ModuleContext, call: ast.Call, level: str, scaled: bool) -> Rewrite:
    """The rewrite of `value_and_grad(forward, ...)`, of the network that `forward` calls and of the loop around its
    result. Raises ByHand where the file does not show all of them."""
    forward = visible(context, call.args[0]) if call.args and isinstance(call.args[0], ast.Name) else None
    if not isinstance(forward, FunctionInfo) or forward.module is not context.module:
        raise ByHand("what is differentiated is no function of this file")
    made = _network(context, forward)
    statement = context.statement(made)
    holder = context.function_at(statement)
    rewrite = context.rewrite(holder.names if holder else None)
    module = context.module
    rewrite.insert(module.start(made), f"{rewrite.spell('mindspore.amp.auto_mixed_precision')}(")
    rewrite.insert(module.end(made), f', "{level}")')
    if scaled:
        scaler = _free_name(context)
        _below(rewrite, context, statement, [f"{scaler} = {_scaler(rewrite)}"])
        _scale(rewrite, context, forward, scaler)
        _unscale(rewrite, context, call, scaler)
    return rewrite


def _network(context: ModuleContext, forward: FunctionInfo) -> ast.Call:
    """The call that made the network."""
    found: dict[str, ast.Call] = {}
    for node in forward.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        value = None if visible(context, node.func) else only_value(context, node.func)
        if isinstance(value, ast.Call) and isinstance(context.parent(value), ast.Assign):
            if _is_network(context, value):
                found[node.func.id] = value
    if len(found) != 1:
        raise ByHand("the file does not show where the network that it calls is made")
    return next(iter(found.values()))


def _is_network(context: ModuleContext, made: ast.Call) -> bool:
    """Whether a call makes a Cell of the project; a layer of `nn` may be the loss."""
    if isinstance(made.func, ast.Name):
        known = visible(context, made.func)
    else:
        qualified = context.module.names.resolve(made.func)
        known = context.project.definition(qualified) if qualified else None
    if known is None or isinstance(known, FunctionInfo) or not context.project.is_cell(known):
        return False
    return "loss" not in known.name.lower()


def _free_name(context: ModuleContext) -> str:
    text = context.module.source.utf8
    free = next((name for name in _SCALERS if name.encode() not in text), None)
    if free is None:
        raise ByHand("the file scales its losses already")
    return free


def _scaler(rewrite: Rewrite) -> str:
    """A scale of 1 is none: the code of the loop stays the same on a CPU."""
    asked = rewrite.spell("mindspore.get_context")
    static = rewrite.spell("mindspore.amp.StaticLossScaler")
    dynamic = rewrite.spell("mindspore.amp.DynamicLossScaler")
    return f'{static}(1) if {asked}("device_target") == "CPU" else {dynamic}(2**16, 2, 1000)'


def _scale(rewrite: Rewrite, context: ModuleContext, forward: FunctionInfo, scaler: str) -> None:
    uses = [n for n in context.nodes if isinstance(n, ast.Name) and n.id == forward.name]
    if len(uses) != 1:
        raise ByHand(f"{forward.name} is used elsewhere too, and would give a scaled loss there")
    returns = [n for n in forward.nodes if isinstance(n, ast.Return) and context.function_at(n) is forward]
    if not returns:
        raise ByHand(f"{forward.name} returns no loss")
    for node in returns:
        value = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
        if value is None or isinstance(value, ast.Starred):
            raise ByHand(f"{forward.name} returns no loss")
        rewrite.insert(context.module.start(value), f"{scaler}.scale(")
        rewrite.insert(context.module.end(value), ")")


def _unscale(rewrite: Rewrite, context: ModuleContext, call: ast.Call, scaler: str) -> None:
    """Behind each call of the gradient function the loss, before each update the gradients."""
    made = context.parent(call)
    if not isinstance(made, ast.Assign) or len(made.targets) != 1 or not isinstance(made.targets[0], ast.Name):
        raise ByHand("the gradient function has no name")
    gradient = made.targets[0].id
    calls = [c for c in context.calls if isinstance(c.func, ast.Name) and c.func.id == gradient]
    if not calls:
        raise ByHand("no call of the gradient function is in this file")
    for taken in calls:
        loss, gradients, statement = _results(context, taken)
        update = next(_updates(context, statement, gradients), None)
        if update is None:
            raise ByHand("no optimizer is called with the gradients in the same block")
        _below(rewrite, context, statement, [f"{loss} = {scaler}.unscale({loss})"] if loss else [])
        _guard(rewrite, context, update, gradients, scaler)


def _results(context: ModuleContext, call: ast.Call) -> tuple[str, str, ast.Assign]:
    """The variables of the loss and of the gradients, and the statement that gives them values."""
    statement = context.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        raise ByHand("the loss and the gradients are not unpacked where they are computed")
    first, second = target.elts
    if isinstance(first, ast.Tuple) and first.elts:
        first = first.elts[0]
    if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
        raise ByHand("the loss and the gradients have no names")
    return "" if first.id == "_" else first.id, second.id, statement


def _updates(context: ModuleContext, statement: ast.stmt, gradients: str) -> Iterator[ast.Expr]:
    """The statements `optimizer(gradients)` behind one in the same block."""
    holder = context.parent(statement)
    block: list[ast.stmt] = next(
        (b for name in ("body", "orelse") if statement in (b := getattr(holder, name, None) or [])), []
    )
    for node in block[block.index(statement) + 1 :] if block else []:
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Call) and len(value.args) == 1 and isinstance(value.args[0], ast.Name):
            if value.args[0].id == gradients and isinstance(node, ast.Expr):
                yield node
                return


def _guard(rewrite: Rewrite, context: ModuleContext, update: ast.Expr, gradients: str, scaler: str) -> None:
    source, start = context.module.source, context.module.start(update)
    if update.lineno != update.end_lineno or source.utf8[source.offset(update.lineno, 0) : start].strip():
        raise ByHand("the update shares its line")
    indent = source.indent(update.lineno)
    step = "\t" if b"\n\t" in source.utf8 else "    "
    asked = f"{rewrite.spell('mindspore.amp.all_finite')}({gradients})"
    lines = [f"finite = {asked}", "if finite:", f"{step}{gradients} = {scaler}.unscale({gradients})", step]
    if _LOOKS.search(source.utf8):
        raise ByHand("the file looks for overflows already")
    rewrite.insert(start, f"{source.newline}{indent}".join(lines))
    _below(rewrite, context, update, [f"{scaler}.adjust(finite)"])


def _below(rewrite: Rewrite, context: ModuleContext, statement: ast.stmt, lines: list[str]) -> None:
    """Statements on lines of their own, behind another one and the comment on its line."""
    source, last = context.module.source, statement.end_lineno or statement.lineno
    data = source.line_bytes(last)
    if source.utf8[context.module.end(statement) : source.offset(last, 0) + len(data)].split(b"#")[0].strip():
        raise ByHand("a statement shares its line")
    indent = source.indent(statement.lineno)
    text = "".join(f"{source.newline}{indent}{line}" for line in lines)
    if text:
        rewrite.insert(source.offset(last, 0) + len(data.rstrip(b"\r\n")), text)
