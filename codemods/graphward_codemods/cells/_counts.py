"""How many layers a loop over a run-time count may ask for: what the project's own calls show."""

from __future__ import annotations

import ast

from graphward.analysis.inference import Inference
from graphward.analysis.module import FunctionInfo, Module
from graphward.analysis.names import all_arguments, defaults_of, dotted
from graphward.analysis.tree import preorder

# A depth that encoders of common size do not exceed.
DEFAULT = 12
_MAX_HOPS = 4


def largest_count(
    inference: Inference, function: FunctionInfo, parameter: str, hops: int = 0
) -> tuple[int, str] | None:
    """The largest whole number that `parameter` of `function` is seen to get, and where it was seen: its default, or
    a literal at a call that the project makes."""
    found: list[tuple[int, str]] = []
    default = _default(function, parameter)
    if default is not None:
        found.append((default, f"the default of {parameter}"))
    reached = inference.reached.get(function)
    for caller, callee in reached.sites if reached else ():
        call = caller.function.parents.get(callee)
        if isinstance(call, ast.Call) and call.func is callee:
            value = _argument(function, call, parameter)
            number = _number(value)
            if number is not None:
                found.append((number, f"the call in {caller.function.qualname}"))
            elif isinstance(value, ast.Name) and hops < _MAX_HOPS:
                if any(a.arg == value.id for a in all_arguments(caller.function.node.args)):
                    further = largest_count(inference, caller.function, value.id, hops + 1)
                    if further:
                        found.append(further)
    found += _outside(inference, function, parameter)
    return max(found, default=None)


def _outside(inference: Inference, function: FunctionInfo, parameter: str) -> list[tuple[int, str]]:
    """Literals in calls of an instance: `net = Net(); net(x, 3)`, or by keyword anywhere."""
    owner = function.owner
    found = []
    for module in list(inference.project.modules.values()):
        if parameter.encode() not in module.source.utf8 and (
            owner is None or owner.name.encode() not in module.source.utf8
        ):
            continue
        calls, assigned = inference.once((_outside, module), lambda m=module: _calls(m))  # type: ignore[misc]
        instances: set[str] = set()
        for targets, made in assigned:
            if owner is not None and made == owner.name:
                instances.update(t.id for t in targets if isinstance(t, ast.Name))
        for node in calls:
            number = None
            if isinstance(node.func, ast.Name) and node.func.id in instances:
                number = _number(_argument(function, node, parameter))
            else:
                number = next((_number(k.value) for k in node.keywords if k.arg == parameter), None)
            if number is not None:
                found.append((number, f"the call in {module.path.name}, line {node.lineno}"))
    return found


def _calls(module: Module) -> tuple[list[ast.Call], list[tuple[list[ast.expr], str]]]:
    """The calls of a module, and what is assigned from calls: the targets, and the last name of what is called."""
    nodes = preorder(module.tree)
    assigned = [(n.targets, n.value.func) for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    named = [(targets, (dotted(callee) or "").rpartition(".")[2]) for targets, callee in assigned]
    return [n for n in nodes if isinstance(n, ast.Call)], named


def _argument(function: FunctionInfo, call: ast.Call, parameter: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    names = [a.arg for a in function.node.args.posonlyargs + function.node.args.args]
    if function.owner is not None and not function.is_static:
        names = names[1:]
    if parameter not in names or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    index = names.index(parameter)
    return call.args[index] if index < len(call.args) else None


def _default(function: FunctionInfo, parameter: str) -> int | None:
    return _number(defaults_of(function.node.args).get(parameter))


def _number(node: ast.expr | None) -> int | None:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int)
        and not isinstance(node.value, bool)
        and node.value > 0
    ):
        return node.value
    return None
