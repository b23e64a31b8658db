"""Values as plain data (builtins and NumPy arrays), so that what one process saw can be compared in another.

A node is a dict with `kind`:
`tensor` (`dtype`, `value`), `array` (a NumPy array or scalar), `number` (bool, int, float, complex), `atom` (None,
str, bytes, dtype, ...: `value` is its repr), `seq` (`items`), `map` (`keys`, `items`), `object` (anything else).
Every node has `type`, the name of the Python type.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from functools import cache
from types import ModuleType
from typing import Any, Callable

import mindspore as ms
import numpy as np

_DEPTH = 12


def record(value: Any, depth: int = _DEPTH) -> dict[str, Any]:
    """The node of a value; tensors are synchronised and copied."""
    kind = type(value).__name__
    if isinstance(value, ms.Tensor):
        return {"kind": "tensor", "type": "Tensor", "dtype": str(value.dtype), "value": to_numpy(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype == object:
            return {"kind": "object", "type": kind}
        return {"kind": "array", "type": kind, "dtype": str(value.dtype), "value": np.array(value)}
    if isinstance(value, (bool, int, float, complex)):
        return {"kind": "number", "type": _plain_type(value), "value": _plain(value)}
    if value is None or isinstance(value, (str, bytes)):
        return {"kind": "atom", "type": kind, "value": repr(value)}
    if depth == 0:
        return {"kind": "object", "type": kind}
    if isinstance(value, dict):
        items = [record(item, depth - 1) for item in value.values()]
        return {"kind": "map", "type": _container_type(value), "keys": [repr(k) for k in value], "items": items}
    if isinstance(value, (tuple, list)):
        return {"kind": "seq", "type": _container_type(value), "items": [record(v, depth - 1) for v in value]}
    if isinstance(value, (set, frozenset)):
        return {"kind": "atom", "type": kind, "value": repr(sorted(map(repr, value)))}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        items = [record(getattr(value, name), depth - 1) for name in names]
        return {"kind": "map", "type": kind, "keys": [repr(name) for name in names], "items": items}
    if isinstance(value, ms.common.dtype.Type):
        return {"kind": "atom", "type": "dtype", "value": str(value)}
    return {"kind": "object", "type": kind}


def to_numpy(value: ms.Tensor) -> np.ndarray:
    """A copy on the host; bfloat16, which NumPy lacks, as float32."""
    if value.dtype == ms.bfloat16:
        value = value.astype(ms.float32)
    return np.array(value.asnumpy())


def _plain(value: Any) -> Any:
    """A number without its subclass (an IntEnum, a mutable number)."""
    kinds: tuple[Any, ...] = (bool, int, float, complex)
    return next(kind(value) for kind in kinds if isinstance(value, kind))


def _plain_type(value: Any) -> str:
    return type(_plain(value)).__name__


def _container_type(value: Any) -> str:
    """`mindspore.mutable` returns subclasses of the built-in containers that mean the same."""
    if type(value).__module__.endswith(".mutable"):
        return next(base.__name__ for base in (tuple, list, dict) if isinstance(value, base))
    return type(value).__name__


def state_of(target: Any, module: ModuleType) -> dict[str, dict[str, Any]]:
    """What a call of a Cell, a function or a method can leave behind: `parameters`, `buffers`, `attributes` (of the
    user's own Cells, at any depth) and
    `globals` (plain values of the target's module), each name -> node."""
    owner = getattr(target, "__self__", None)
    target = owner if isinstance(owner, ms.nn.Cell) else target
    state: dict[str, dict[str, Any]] = {"parameters": {}, "buffers": {}, "attributes": {}, "globals": {}}
    if isinstance(target, ms.nn.Cell):
        for name, parameter in target.parameters_and_names():
            state["parameters"][name] = record(parameter)
        for name, buffer in getattr(target, "named_buffers", dict)():
            state["buffers"][name] = record(buffer)
        for name, cell in target.cells_and_names():
            prefix = f"{name}." if name else ""
            if _users(type(cell)):
                _add_plain(state["attributes"], vars(cell), prefix, own_attribute)
    elif owner is not None and not isinstance(owner, type):
        _add_plain(state["attributes"], getattr(owner, "__dict__", {}), "", lambda name: not name.startswith("__"))
    _add_plain(state["globals"], vars(module), "", lambda name: not name.startswith("__"))
    return state


def _users(cls: type) -> bool:
    return not cls.__module__.startswith("mindspore.")


@cache
def _machinery() -> frozenset[str]:
    """Names that every Cell has, and those that MindSpore adds when it is compiled or switched to training."""
    assigned = re.findall(r"\bself\.(\w+)\s*=[^=]", inspect.getsource(sys.modules[ms.nn.Cell.__module__]))
    added = {"_cell_init_args", "_mutable_flags", "_func_graph_flags", "compile_phase", "current_phase"}
    return frozenset(vars(ms.nn.Cell)) | frozenset(vars(ms.nn.Cell())) | frozenset(assigned) | added


def own_attribute(name: str) -> bool:
    """Whether an attribute of a Cell is the user's, not MindSpore's."""
    return name == "training" or not (name in _machinery() or name.startswith("__"))


def _add_plain(into: dict[str, Any], values: dict[str, Any], prefix: str, wanted: Callable[[str], bool]) -> None:
    for name, value in list(values.items()):
        if wanted(name) and not isinstance(value, (ms.nn.Cell, ModuleType, type)):
            node = record(value)
            if is_plain(node):
                into[prefix + name] = node


def is_plain(node: dict[str, Any]) -> bool:
    """Whether the node holds no object that cannot be compared."""
    if node["kind"] == "object":
        return False
    return all(map(is_plain, node.get("items", ())))


def has_float_tensor(node: dict[str, Any]) -> bool:
    """Whether anything in the node has a gradient."""
    if node["kind"] == "tensor":
        return "float" in node["dtype"].lower()
    return any(map(has_float_tensor, node.get("items", ())))
