"""What recorded nodes say, read without MindSpore: both sides use it. Standard library only."""

from __future__ import annotations

from typing import Any

from ..specs import DTYPES

Node = dict[str, Any]

KINDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "constant": {"type": str, "value": (type(None), bool, int, float, str, list)},
    "tensor": {"dtype": str, "shape": list},
    "array": {"dtype": str, "shape": list},
    "tuple": {"items": list},
    "list": {"items": list},
    "set": {"items": list},
    "dict": {"keys": list, "items": list},
    "record": {"class": dict, "items": list},
    "dtype": {"name": str},
    "reference": {"to": dict},
    "enum": {"class": dict, "name": str},
    "cell": {"class": dict, "args": list, "kwargs": dict},
    "primitive": {"class": dict, "kwargs": dict},
    "object": {"class": dict, "state": dict},
    "opaque": {"type": str, "reason": str},
}
"""Kind -> the fields that a node of it must have, and their types."""

_SHORT = {name: short for short, name in DTYPES.items()}
_TEXT = 60


def flaw(node: Any) -> str:
    """What is wrong with a node that was read from a file; empty when nothing is."""
    if not isinstance(node, dict) or not isinstance(node.get("kind"), str):
        return "a value is no node"
    fields = KINDS.get(node["kind"])
    if fields is None:
        return f"a value is of the unknown kind {node['kind']!r}"
    for name, kind in fields.items():
        if not isinstance(node.get(name), kind):
            return f"{name!r} of a {node['kind']} is missing or of the wrong type"
    for owner in ("class", "to"):
        if owner in fields and not all(isinstance(node[owner].get(name), str) for name in ("module", "name")):
            return f"{owner!r} of a {node['kind']} names nothing"
    if node["kind"] in ("tensor", "array") and not all(type(size) is int for size in node["shape"]):
        return "a shape holds something that is no number"
    return next(filter(None, map(flaw, children(node))), "")


def children(node: Node) -> list[Any]:
    """The nodes directly inside a node."""
    if node["kind"] in ("constant", "tensor", "array", "opaque"):
        return []
    found: list[Any] = []
    for name in ("args", "keys", "items"):
        inside = node.get(name)
        found += inside if isinstance(inside, list) else [inside] if isinstance(inside, dict) else []
    for name in ("kwargs", "state"):
        found += (node.get(name) or {}).values()
    return found


def obstacle(node: Node) -> str:
    """Why a value cannot be made again from its node; empty when it can."""
    if node["kind"] == "opaque":
        return f"{node['type']} ({node['reason']})"
    return next(filter(None, map(obstacle, children(node))), "")


def has_floats(node: Node) -> bool:
    """Whether a tensor or array of floating point numbers is in it."""
    if node["kind"] in ("tensor", "array"):
        return "float" in node["dtype"] or "complex" in node["dtype"]
    return any(map(has_floats, children(node)))


def text(node: Node) -> str:
    """The node as an input spec where there is one, else in the same style."""
    kind = node["kind"]
    if kind == "constant":
        return _shortened(_constant(node))
    if kind in ("tensor", "array"):
        short: str = _SHORT.get(node["dtype"].rstrip("_")) or node["dtype"]
        bound = f"<{node['high'] + 1}" if short[0] in "iu" and _whole(node.get("high")) and node["high"] >= 0 else ""
        spec = f"{short}[{','.join(map(str, node['shape']))}]{bound}"
        return spec if kind == "tensor" else f"array({spec})"
    if kind in ("tuple", "list", "set", "record"):
        inside = ", ".join(map(text, node["items"]))
        if kind == "record":
            return f"{node['class']['name']}({inside})"
        opening, closing = {"tuple": ("(", ")"), "list": ("[", "]"), "set": ("{", "}")}[kind]
        return f"{opening}{inside}{',' if kind == 'tuple' and len(node['items']) == 1 else ''}{closing}"
    if kind == "dict":
        return "{" + ", ".join(f"{text(k)}: {text(v)}" for k, v in zip(node["keys"], node["items"])) + "}"
    if kind in ("cell", "primitive"):
        return call(node["class"]["name"], node.get("args") or [], node["kwargs"])
    if kind == "enum":
        return f"{node['class']['name']}.{node['name']}"
    if kind == "dtype":
        return f"mindspore.{node['name']}"
    if kind == "reference":
        return str(node["to"]["name"])
    return f"{node['class']['name']}(...)" if kind == "object" else f"<{node['type']}>"


def call(name: str, args: list[Node], kwargs: dict[str, Node]) -> str:
    """A call with these arguments as text."""
    return f"{name}({', '.join([*map(text, args), *(f'{k}={text(v)}' for k, v in kwargs.items())])})"


def value(node: Node) -> Any:
    """The Python value of a constant."""
    kind, plain = node["type"], node["value"]
    if kind == "float":
        return float(plain)
    if kind == "complex":
        return complex(float(plain[0]), float(plain[1]))
    return bytes.fromhex(plain) if kind == "bytes" else plain


def _constant(node: Node) -> str:
    try:
        return repr(value(node))
    except (TypeError, ValueError, IndexError):
        return repr(node["value"])


def _shortened(long: str) -> str:
    return long if len(long) <= _TEXT else f"{long[: _TEXT - 3]}..."


def _whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
