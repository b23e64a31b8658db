"""In which order the package runs what the file ran when it was imported."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from ..errors import GraphwardError
from .items import Item, Kind

_BUILTINS = frozenset(dir(builtins))
_LOUD = frozenset({"print", "exec", "eval", "open", "input"})


@dataclass
class Part:
    """A module of the package: its `items`, the `imports` that it repeats, and the names that it takes from other
    parts."""

    stem: str
    items: list[Item]
    imports: list[Item]
    names: dict[str, list[str]]


Step = Item | str
"""What `__init__` does: run an item of its own, or import a part."""


def load_order(parts: Mapping[str, Part]) -> list[str]:
    """The parts, each behind those that it imports, else in the order of the file."""
    order: list[str] = []

    def visit(stem: str) -> None:
        if stem not in order:
            for other in parts[stem].names:
                visit(other)
            order.append(stem)

    for stem in parts:
        visit(stem)
    return order


def steps(items: list[Item], own: set[Item], parts: Mapping[str, Part], owner: Mapping[str, str]) -> list[Step]:
    """What `__init__` does: its own items (`own`) in the order of the file (`items`), and each part as late as may be,
    but before the first item of its own that came behind all of it, or reads of it. `owner` is the part of a name."""
    found: list[Step] = []
    open_parts = load_order(parts)
    for item in items:
        if item not in own:
            continue
        if item.kind in (Kind.DEFINITION, Kind.VARIABLE, Kind.EFFECT):
            read = {owner[name] for name in item.symbols.reads if name in owner}
            plain = item.kind is Kind.VARIABLE and not calls(item)
            for stem in list(open_parts):
                complete = not plain and all(i.start < item.start for i in parts[stem].items)
                if complete or stem in read:
                    for other in _with_needed(stem, parts):
                        if other in open_parts:
                            open_parts.remove(other)
                            found.append(other)
        found.append(item)
    last = max((i for i, step in enumerate(found) if not _trails(step)), default=-1)
    return [*found[: last + 1], *open_parts, *found[last + 1 :]]


def _trails(step: Step) -> bool:
    """Whether a step may as well stand behind the imports of the parts: `__all__` and the like."""
    return isinstance(step, Item) and step.kind is Kind.VARIABLE and not calls(step)


def _with_needed(stem: str, parts: Mapping[str, Part]) -> list[str]:
    return load_order({s: parts[s] for s in _reach(stem, parts)})


def _reach(stem: str, parts: Mapping[str, Part]) -> list[str]:
    found = [stem]
    for name in found:
        found += [other for other in parts[name].names if other not in found]
    return found


def check_order(items: list[Item], found: list[Step], parts: Mapping[str, Part]) -> None:
    """Refuse a layout in which a statement changes places with something else that runs code when it is imported.

    Raises GraphwardError that names both.
    """
    new: dict[Item, int] = {}
    loaded: set[str] = set()

    def load(stem: str) -> None:
        if stem not in loaded:
            loaded.add(stem)
            for item in parts[stem].imports:
                new.setdefault(item, len(new))
            for other in parts[stem].names:
                load(other)
            for item in parts[stem].items:
                new.setdefault(item, len(new))

    for step in found:
        if isinstance(step, Item):
            new.setdefault(step, len(new))
        else:
            load(step)
    running = [i for i in items if i in new and (i.kind is Kind.IMPORT or calls(i))]
    imported = {name for item in items if item.kind is Kind.IMPORT for name in item.symbols.binds}
    for effect in running:
        if effect.kind is not Kind.EFFECT or _own_business(effect, imported):
            continue
        for other in running:
            if other is not effect and (other.start < effect.start) != (new[other] < new[effect]):
                raise GraphwardError(
                    f"{effect.name} would run {'before' if new[effect] < new[other] else 'behind'} line {other.line} "
                    f"({other.name}), unlike now", path=effect.source.path, line=effect.line,
                    hint="move it to the top of the file or to its end, or keep both together with --part NAME=FILE",
                )  # fmt: skip


def reordered(items: list[Item], parts: Mapping[str, Part], order: list[str]) -> list[tuple[Item, Item]]:
    """Pairs of decorated definitions that are registered in another order than before."""
    marked = [i for i in items if i.kind is Kind.DEFINITION and _decorated(i.nodes[0])]
    place = {item: (order.index(stem), item.start) for stem, part in parts.items() for item in part.items}
    known = [i for i in marked if i in place]
    return [(a, b) for a, b in pairwise(known) if place[a] > place[b]]


def _decorated(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and bool(node.decorator_list)


def calls(item: Item) -> bool:
    """Whether an item runs code that is not its own while it is imported."""
    return any(_calls(node) for node in item.nodes)


def _calls(node: ast.AST) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inner: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        return bool(node.decorator_list) or any(map(_calls, inner))
    if isinstance(node, ast.ClassDef) and node.decorator_list:
        return True
    if isinstance(node, ast.Lambda):
        return False
    return isinstance(node, (ast.Call, ast.Delete)) or any(map(_calls, ast.iter_child_nodes(node)))


def _own_business(item: Item, imported: set[str]) -> bool:
    """Whether a statement only works on variables of its own part, with nothing but built-in functions and their
    methods."""
    for node in (n for s in item.nodes for n in ast.walk(s)):
        if not isinstance(node, ast.Call):
            continue
        callee: ast.AST = node.func
        while isinstance(callee, (ast.Attribute, ast.Subscript, ast.Call)):
            callee = callee.func if isinstance(callee, ast.Call) else callee.value
        if isinstance(callee, ast.Constant):
            continue
        name = callee.id if isinstance(callee, ast.Name) else ""
        if not name or name in imported or name in _LOUD or (callee is node.func and name not in _BUILTINS):
            return False
    return True
