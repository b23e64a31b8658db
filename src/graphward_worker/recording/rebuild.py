"""Makes values again from recorded nodes: reads data, and runs nothing but constructors of Cells and Primitives.

A class or function is looked up in files of the tree, in MindSpore and NumPy, and in what the user's module has
imported already; nothing else is imported because a file says so.
"""

from __future__ import annotations

import enum
import importlib
import math
import os
import sys
import types
from typing import Any

import mindspore as ms
import numpy as np

from .. import loading
from .plain import Node, text, value

_LIBRARIES = ("mindspore", "numpy", "math")
_PLAIN_TYPES = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, object)
_PLAIN_OBJECTS = (("types", "SimpleNamespace"), ("argparse", "Namespace"), ("collections", "OrderedDict"),
                  ("collections", "defaultdict"), ("collections", "Counter"))  # fmt: skip
_GOLDEN = 0.6180339887498949  # its multiples modulo 1 are spread evenly and never repeat


class Unavailable(Exception):
    """A recorded value cannot be made here; the text says which and why."""


class Builder:
    """`tree`: where project files are looked up. `folder`: of the run, where arrays lie."""

    def __init__(self, tree: str, folder: str):
        self.tree = os.path.abspath(tree)
        self.folder = folder

    def build(self, node: Node) -> Any:
        """The value of a node. Raises Unavailable, and whatever a constructor raises."""
        kind = node["kind"]
        if kind == "constant":
            return value(node)
        if kind == "tensor":
            return _as_tensor(node, self.elements(node))
        if kind == "array":
            elements = self.elements(node)
            return elements[()] if node.get("scalar") else elements
        if kind in ("tuple", "list", "set"):
            made = [self.build(item) for item in node["items"]]
            return {"tuple": tuple, "list": list, "set": set}[kind](made)
        if kind == "dict":
            return dict(zip(map(self.build, node["keys"]), map(self.build, node["items"])))
        if kind == "dtype":
            return getattr(ms, node["name"])
        if kind == "reference":
            return self.find(node["to"])
        return self._instance(node)

    def _instance(self, node: Node) -> Any:
        kind = node["kind"]
        if kind == "opaque":
            raise Unavailable(f"{node['type']} was not stored: {node['reason']}")
        cls = self.find(node["class"])
        if kind == "enum":
            return self._of(cls, enum.EnumMeta, node)[node["name"]]
        if kind == "record":
            return self._subclass(cls, tuple, node)(*map(self.build, node["items"]))
        kwargs = {name: self.build(item) for name, item in (node.get("kwargs") or {}).items()}
        if kind == "primitive":
            return self._subclass(cls, ms.ops.Primitive, node)(**kwargs)
        if kind == "cell":
            return self._subclass(cls, ms.nn.Cell, node)(*map(self.build, node["args"]), **kwargs)
        return self._object(cls, node)

    def _object(self, cls: Any, node: Node) -> Any:
        cls = self._subclass(cls, object, node)
        base: Any = next(b for b in (dict, types.SimpleNamespace, object) if issubclass(cls, b))
        if cls.__new__ is not base.__new__:
            raise Unavailable(f"{text(node)} makes itself in a way of its own")
        made = cls.__new__(cls)
        if base is dict:
            dict.update(made, self.build(node["items"]))
        vars(made).update({name: self.build(item) for name, item in node["state"].items()})
        return made

    @staticmethod
    def _of(thing: Any, kind: type, node: Node) -> Any:
        if not isinstance(thing, kind):
            raise Unavailable(f"{node['class']['name']} is no {kind.__name__} any more")
        return thing

    @staticmethod
    def _subclass(cls: Any, base: type, node: Node) -> Any:
        if not isinstance(cls, type) or not issubclass(cls, base):
            raise Unavailable(f"{node['class']['name']} is no {base.__name__} any more")
        return cls

    def find(self, reference: Node) -> Any:
        """The class or function that a reference names. Raises Unavailable."""
        found: Any = self._module(reference)
        for part in reference["name"].split("."):
            found = getattr(found, part, None)
        if found is None:
            raise Unavailable(f"there is no {reference['name']} in {reference.get('file') or reference['module']}")
        return found

    def _module(self, reference: Node) -> Any:
        name, file = reference["module"], reference.get("file")
        if file:
            path = os.path.join(self.tree, *file.split("/"))
            loaded = (m for m in list(sys.modules.values()) if _is_file(m, path))
            return next(loaded, None) or self._imported(name, file, path)
        top = name.split(".")[0]
        if top in _LIBRARIES:
            return importlib.import_module(name)
        standard = getattr(sys, "stdlib_module_names", sys.builtin_module_names)
        if name == "builtins" and reference["name"] in {kind.__name__ for kind in _PLAIN_TYPES}:
            return sys.modules[name]
        if (name, reference["name"]) in _PLAIN_OBJECTS:
            return importlib.import_module(name)
        if name not in sys.modules or top in standard:
            raise Unavailable(f"{name}.{reference['name']} is not imported by the module")
        return sys.modules[name]

    def _imported(self, name: str, file: str, path: str) -> Any:
        if not os.path.isfile(path):
            raise Unavailable(f"there is no file {file}")
        if name != "__main__":
            module = importlib.import_module(name)
            if _is_file(module, path):
                return module
        return loading.load_module(self.tree, file)

    def elements(self, node: Node) -> np.ndarray:
        """The recorded elements, or others in their range where only the range was kept."""
        name = node.get("file")
        if name is None:
            return generated(node, 0, 0)
        if not isinstance(name, str) or not all(_is_name(part) for part in name.split("/")):
            raise Unavailable(f"{name!r} is no name of a recorded array")
        path = os.path.join(self.folder, *name.split("/"))
        try:
            array = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise Unavailable(f"the recorded array {path} cannot be read: {error}") from None
        if list(array.shape) != node["shape"]:
            raise Unavailable(f"the recorded array {path} has another shape than its recording says")
        return array

    def other(self, node: Node, variant: int, vary_integers: bool, leaf: list[int]) -> Any:
        """A value like that of the node, for another call: what is a number stays, elements change places. Integers
        (indices, lengths, masks) do so only by whole rows, and only where there are no floating point numbers."""
        kind = node["kind"]
        if kind in ("tensor", "array"):
            leaf[0] += 1
            elements = self.elements(node) if "file" in node else generated(node, variant, leaf[0])
            if "file" in node:
                elements = _shuffled(elements, variant) if elements.dtype.kind in "fc" else (
                    _rolled(elements, variant) if vary_integers else elements)  # fmt: skip
            return _as_tensor(node, elements) if kind == "tensor" else elements
        if kind in ("tuple", "list"):
            made = [self.other(item, variant, vary_integers, leaf) for item in node["items"]]
            return tuple(made) if kind == "tuple" else made
        if kind == "dict":
            items = [self.other(item, variant, vary_integers, leaf) for item in node["items"]]
            return dict(zip(map(self.build, node["keys"]), items))
        if kind == "record":
            items = [self.other(item, variant, vary_integers, leaf) for item in node["items"]]
            return self._subclass(self.find(node["class"]), tuple, node)(*items)
        return self.build(node)


def generated(node: Node, variant: int, leaf: int) -> np.ndarray:
    """Elements in the recorded range, or among the recorded values; deterministic, different for each variant."""
    name = node["dtype"].rstrip("_")
    name = "float32" if name == "bfloat16" else name
    count = math.prod(node["shape"])
    spread = ((np.arange(count) + 1) * _GOLDEN + 0.37 * leaf + 0.29 * variant) % 1.0
    known = node.get("values")
    if known:
        flat = np.array([float(v) for v in known])[(spread * len(known)).astype(np.int64)]
    else:
        low, high = float(node.get("low", 0)), float(node.get("high", 1))
        whole = name.startswith(("int", "uint", "bool"))
        flat = np.floor(low + spread * (high - low + 1)).clip(low, high) if whole else low + spread * (high - low)
    return flat.reshape(node["shape"]).astype(name)


def _shuffled(array: np.ndarray, variant: int) -> np.ndarray:
    order = np.argsort(((np.arange(array.size) + 1) * _GOLDEN + 0.29 * variant) % 1.0, kind="stable")
    return array.reshape(-1)[order].reshape(array.shape)


def _rolled(array: np.ndarray, variant: int) -> np.ndarray:
    for axis in range(array.ndim):
        rolled = np.roll(array, variant, axis)
        if not np.array_equal(rolled, array):
            return rolled
    return array


def _as_tensor(node: Node, elements: np.ndarray) -> Any:
    tensor = ms.Tensor(elements, dtype=getattr(ms, node["dtype"]))
    name = node.get("parameter")
    return tensor if name is None else ms.Parameter(tensor, name=str(name))


def _is_file(module: Any, path: str) -> bool:
    found = getattr(module, "__file__", None)
    return isinstance(found, str) and os.path.abspath(found) == path


def _is_name(part: str) -> bool:
    return bool(part) and part not in (".", "..") and os.sep not in part
