"""Python values as JSON nodes, made while the user's script runs.

A node is a dict with `kind`:
`constant` (`type`: None, bool, int, float, complex, str, bytes; `value`), `tensor` and `array` (`dtype`, `shape`;
`low`, `high` of the finite elements where known; `file` with the elements when they are few, else perhaps `values`, the
distinct ones), `tuple`, `list`, `set` (`items`), `dict` (`keys`, `items`), `record` (a namedtuple: `class`, `items`),
`dtype` (`name`), `reference` (a class or function that can be imported: `to`), `enum` (`class`, `name`), `cell`
(`class`, `args`, `kwargs`: how it was made), `primitive` (`class`, `kwargs`), `object` (`class`, `state`; `items` when
it is a dict too), `opaque` (`type`, `reason`: cannot be stored).
"""

from __future__ import annotations

import enum
import math
import os
import sys
import types
from typing import Any, Callable

import mindspore as ms
import numpy as np

from ..record import to_numpy
from .plain import Node

_DEPTH = 12
_ITEMS = 2000
_TEXT = 20_000
_FEW = 16
_COUNTED = 4_000_000
"""Elements up to which distinct values are counted; larger arrays give their range only."""


class Encoder:
    """`store` keeps the elements of an array and returns a name for them, or None when it does not want them. `made`
    tells how a Cell was made: a `cell` node, or None. `project` gives the path of a file of the project, relative to
    its root, or None for any other file."""

    def __init__(
        self,
        store: Callable[[np.ndarray], str | None],
        made: Callable[[Any], Node | None],
        project: Callable[[str], str | None],
    ):
        self.store = store
        self.made = made
        self.project = project

    def node(self, value: Any, depth: int = _DEPTH) -> Node:
        """The node of a value. Never raises: what cannot be stored is opaque."""
        try:
            return self._node(value, depth)
        except Exception as error:  # an object may raise whatever it likes when it is looked at
            return opaque(value, f"{type(error).__name__}: {error}")

    def _node(self, value: Any, depth: int) -> Node:
        if value is None or type(value) in (bool, int, float, complex, str, bytes):
            return _constant(value)
        if isinstance(value, ms.Tensor):
            return self._tensor(value)
        if isinstance(value, enum.Enum):
            found = self.reference(type(value))
            return {"kind": "enum", "class": found, "name": value.name} if found else opaque(value, "a local class")
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(value)
        if isinstance(value, ms.common.dtype.Type):
            return {"kind": "dtype", "name": dtype_name(value)}
        if depth == 0:
            return opaque(value, "nested too deeply")
        if isinstance(value, (tuple, list, dict, set, frozenset)) and len(value) > _ITEMS:
            return opaque(value, f"more than {_ITEMS} items")
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
            return self._reference(value)
        if isinstance(value, ms.nn.Cell):
            return self.made(value) or opaque(value, "how it was made is not known")
        if isinstance(value, ms.ops.Primitive):
            return self._primitive(value, depth)
        if isinstance(value, (tuple, list, set, frozenset)):
            return self._items(value, depth)
        if type(value) is dict or type(value).__module__.endswith(".mutable"):
            return self._mapping(value, depth)
        return self._object(value, depth)

    def reference(self, value: Any) -> Node | None:
        """`module`, `file` (of the project, else None) and `name` of a class or function that an import finds."""
        module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else None)
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if not module or not name or "<" in name:
            return None
        holder = sys.modules.get(module)
        found: Any = holder
        for part in name.split("."):
            found = getattr(found, part, None)
        if holder is None or found is not value:
            return None
        path = getattr(holder, "__file__", None)
        return {"module": module, "file": self.project(path) if path else None, "name": name}

    def _reference(self, value: Any) -> Node:
        found = self.reference(value)
        return {"kind": "reference", "to": found} if found else opaque(value, "it cannot be imported by its name")

    def _tensor(self, value: Any) -> Node:
        node: Node = {"kind": "tensor", "dtype": dtype_name(value.dtype), "shape": [int(n) for n in value.shape]}
        if isinstance(value, ms.Parameter):
            node["parameter"] = value.name
        if -1 not in value.shape:
            try:
                node.update(self._elements(to_numpy(value)))
            except Exception:  # inside a transformation that has no values: shape and dtype are what there is
                return node
        return node

    def _array(self, value: Any) -> Node:
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            return opaque(value, f"an array of {array.dtype}")
        scalar = isinstance(value, np.generic)
        facts = {"kind": "array", "dtype": str(array.dtype), "shape": list(array.shape), "scalar": scalar}
        return {**facts, **self._elements(array)}

    def _elements(self, array: np.ndarray) -> Node:
        found: Node = {}
        name = self.store(array)
        if name is not None:
            found["file"] = name
        if array.dtype.kind in "biuf" and array.size:
            finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array.reshape(-1)
            if finite.size:
                found["low"], found["high"] = _plain(finite.min()), _plain(finite.max())
            if finite.size != array.size:
                found["unusual"] = "nan" if np.isnan(array).any() else "inf"
            elif name is None and array.size <= _COUNTED:
                distinct = np.unique(finite)
                if distinct.size <= _FEW:
                    found["values"] = [_plain(v) for v in distinct]
        return found

    def _primitive(self, value: Any, depth: int) -> Node:
        found = self.reference(type(value))
        if found is None:
            return opaque(value, "a local class")
        kwargs = {name: self.node(item, depth - 1) for name, item in value.init_attrs.items()}
        return {"kind": "primitive", "class": found, "kwargs": kwargs}

    def _items(self, value: Any, depth: int) -> Node:
        items = [self.node(item, depth - 1) for item in value]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            found = self.reference(type(value))
            return {"kind": "record", "class": found, "items": items} if found else opaque(value, "a local class")
        base = next(b for b in (tuple, list, set, frozenset) if isinstance(value, b))
        if type(value) is not base and not type(value).__module__.endswith(".mutable"):
            return opaque(value, f"a subclass of {base.__name__}")
        return {"kind": "set" if base in (set, frozenset) else base.__name__, "items": items}

    def _mapping(self, value: dict[Any, Any], depth: int) -> Node:
        keys = [self.node(key, depth - 1) for key in value]
        return {"kind": "dict", "keys": keys, "items": [self.node(item, depth - 1) for item in value.values()]}

    def _object(self, value: Any, depth: int) -> Node:
        """An object that is nothing but its attributes, such as a configuration."""
        cls: Any = type(value)
        base: Any = next(b for b in (dict, types.SimpleNamespace, object) if isinstance(value, b))
        if cls.__new__ is not base.__new__:
            return opaque(value, "it makes itself in a way of its own")
        if any("__slots__" in vars(c) and c.__slots__ for c in cls.__mro__):
            return opaque(value, "it has slots")
        found = self.reference(cls)
        if found is None:
            return opaque(value, "a local class")
        attributes = getattr(value, "__dict__", {})
        if len(attributes) > _ITEMS:
            return opaque(value, f"more than {_ITEMS} attributes")
        node: Node = {"kind": "object", "class": found, "state": {}}
        for name, item in list(attributes.items()):
            # An attribute dict whose __dict__ is the dict itself holds everything twice.
            if not (base is dict and attributes is value):
                node["state"][str(name)] = self.node(item, depth - 1)
        if base is dict:
            node["items"] = self._mapping(value, depth)
        return node


def opaque(value: Any, reason: str) -> Node:
    """The node of something that cannot be stored."""
    return {"kind": "opaque", "type": f"{type(value).__module__}.{type(value).__qualname__}", "reason": reason[:200]}


def dtype_name(dtype: Any) -> str:
    """The name under which `mindspore` has the dtype: float32, bool_, ..."""
    name = str(dtype).lower()
    return "bool_" if name == "bool" else name


def _constant(value: Any) -> Node:
    kind = type(value).__name__ if value is not None else "None"
    if isinstance(value, (str, bytes)) and len(value) > _TEXT:
        return opaque(value, f"longer than {_TEXT}")
    if isinstance(value, complex):
        value = [_plain(value.real), _plain(value.imag)]
    elif isinstance(value, bytes):
        value = value.hex()
    return {"kind": "constant", "type": kind, "value": _plain(value) if kind == "float" else value}


def _plain(value: Any) -> Any:
    """A number as JSON has it; what JSON lacks as text, which `float` reads."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def key(value: Any, depth: int = 6) -> str:
    """What makes one call distinct from another: structure, dtypes and shapes, the values of flags and short texts, and
    of other Python values the type."""
    if isinstance(value, ms.Tensor):
        return f"{value.dtype}{tuple(value.shape)}"
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return repr(value[:40])
    if isinstance(value, np.ndarray):
        return f"array{value.dtype}{value.shape}"
    if depth and isinstance(value, dict):
        return "{" + ",".join(f"{k!r:.40}:{key(v, depth - 1)}" for k, v in list(value.items())[:100]) + "}"
    if depth and isinstance(value, (tuple, list)):
        return type(value).__name__ + "(" + ",".join(key(v, depth - 1) for v in value[:100]) + ")"
    return type(value).__qualname__


def project_file(path: str, root: str) -> str | None:
    """`path` relative to `root` with forward slashes when it is code of the project: below the root, and in no
    environment or hidden folder."""
    for place in (os.path.realpath(path), os.path.abspath(path)):
        if place.startswith(os.path.join(root, "")):
            inside = os.path.relpath(place, root).replace(os.sep, "/")
            folders = inside.split("/")[:-1]
            foreign = any(part in ("site-packages", "dist-packages") or part.startswith(".") for part in folders)
            return None if foreign else inside
    return None
