"""The sub-Cells that a target calls."""

from __future__ import annotations

import ast

from ..engine.workspace import Workspace
from ..verify.targets import Target


def last_part(target: Target) -> str:
    """The attribute of the last sub-Cell that the target's own `construct` calls and `__init__` makes, losses left out;
    empty where there is none."""
    module = Workspace([target.path]).module(target.path)
    name = (target.expr or "").partition("(")[0]
    info = next((c for c in module.classes if c.qualname == name), None) if module else None
    construct = info.methods.get("construct") if info else None
    start = info.methods.get("__init__") if info else None
    if construct is None or start is None:
        return ""
    made = {name for name, value in start.self_assignments if isinstance(value, ast.Call)}
    calls = [
        n.func.attr for n in construct.nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in made
    ]  # fmt: skip
    parts = [c for c in sorted(set(calls), key=calls.index) if "loss" not in c and "criterion" not in c]
    return parts[-1] if len(parts) > 1 else ""
