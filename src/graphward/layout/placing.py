"""Which part each component goes to, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from ..errors import GraphwardError
from .evidence import Evidence, Judge
from .items import Item, Kind
from .roles import Role, stem_of
from .structure import Component, Structure

_MODEL = frozenset({Role.BACKBONE, Role.HEAD, Role.LOSS, Role.NETWORK})


@dataclass
class Place:
    """`stem` is the module that a component goes to, `__init__` for the package itself."""

    stem: str
    why: str


class Placing:
    """Places the components of a file."""

    def __init__(self, structure: Structure, judge: Judge, pins: Mapping[str, str]):
        self._structure, self._judge = structure, judge
        self._roles: dict[Component, Role] = {}
        self._why: dict[Component, str] = {}
        self._evidence = {c: _strongest(judge.judge(item) for item in c.items) for c in structure.components}
        self._pins = {structure.owner[name]: file for name, file in pins.items()}

    def places(self, taken: set[str]) -> dict[Component, Place]:
        """The place of each component; `taken` are names that no part may have. Raises GraphwardError when parts that
        were asked for would import each other in a circle."""
        order = _readers_first(self._structure.components)
        for component in order:
            role, why = self._first_guess(component)
            self._roles[component], self._why[component] = role, why
            if component in self._pins:
                asked_for = PurePosixPath(self._pins[component]).stem
                # In a part of another name it may be read by all; only the package itself may be read by none.
                other = Role.TRAIN if role is Role.INIT else role
                self._roles[component] = next((r for r in Role if r.value == asked_for), other)
        for component in reversed(order):
            if component not in self._pins:
                self._raise(component)
        stems = {role: stem_of(role, taken) for role in Role}
        found = {c: Place(stems[self._roles[c]], self._why[c]) for c in self._structure.components}
        for component, file in self._pins.items():
            stem = PurePosixPath(file).stem
            asked = next((stems[role] for role in Role if role.value == stem), stem)
            found[component] = Place(asked, "as asked for")
        _refuse_circles(found)
        return found

    def _first_guess(self, component: Component) -> tuple[Role, str]:
        """By evidence; what has none goes where it is read, or, as a Cell, to the backbone."""
        if component.stays:
            return Role.INIT, component.stays
        evidence = self._evidence[component]
        if evidence.role is not None:
            return evidence.role, evidence.why
        readers = {r: self._roles[r] for r in component.readers}
        roles = set(readers.values()) - ({Role.INIT} if _only_init_besides(readers.values()) else set())
        if evidence.cell:
            if roles and roles <= {Role.HEAD, Role.LOSS}:
                role = min(roles, key=lambda r: r.rank)
                return role, f"read by {_names(readers, role)} only"
            if roles and roles <= {Role.SHARED, Role.DATA}:
                return max(roles, key=lambda r: r.rank), "a Cell that data loading reads"
            return Role.BACKBONE, evidence.why or "a Cell with layers"
        if not roles:
            return self._unread(component)
        if len(roles) == 1:
            (role,) = roles
            return role, f"read by {_names(readers, role)}"
        if Role.SHARED in roles or (Role.DATA in roles and roles & _MODEL):
            return Role.SHARED, "read by data loading and by the model"
        role = min(roles, key=lambda r: r.rank)
        return role, f"read by {_names(readers, role)} and by parts above"

    def _unread(self, component: Component) -> tuple[Role, str]:
        """What nothing in the file reads stays with what it reads, else with what stands above it."""
        if component.items[0].kind is Kind.EFFECT and not component.names:
            return Role.INIT, "it runs when the package is imported"
        found: list[tuple[Role, Component]] = []
        queue = [component]
        for other in queue:
            queue += [c for c in sorted(other.reads, key=lambda c: c.items[0].start) if c not in queue]
            evidence = self._evidence[other]
            role = evidence.role or (Role.BACKBONE if evidence.cell else None)
            if role is not None and other is not component:
                found.append((role, other))
        if found:
            role, other = max(found, key=lambda pair: pair[0].rank)
            return role, f"it reads {_title(other)}"
        first = component.items[0]
        if first.kind is Kind.EFFECT or all(n.startswith("__") and n.endswith("__") for n in component.names):
            return Role.INIT, "nothing of the file reads it"
        before = [c for c in self._structure.components if c.items[0].start < first.start and c in self._roles]
        near = next((c for c in reversed(before) if self._roles[c] not in (Role.INIT, Role.SHARED)), None)
        if near is None:
            return Role.INIT, "nothing of the file reads it"
        return self._roles[near], f"nothing reads it; it stands behind {near.items[0].name}"

    def _raise(self, component: Component) -> None:
        """No part reads one that is behind it: what does goes there too, and a Cell that holds a head or a loss is the
        network."""
        role, above = self._roles[component], sorted(component.reads, key=lambda c: c.items[0].start)
        cell = self._evidence[component].cell
        holds = {self._roles[c] for c in above if self._evidence[c].cell}
        highest = max((self._roles[c] for c in above), key=lambda r: r.rank, default=role)
        if cell and role.rank < Role.NETWORK.rank and self._assembles(component, role, holds):
            parts = [_title(c) for c in above if self._evidence[c].cell and self._whole(c, component)]
            parts = parts if len(parts) > 1 else [*parts, "its own layers"]
            what = f"{', '.join(parts[:-1])} and {parts[-1]}"
            role, why = Role.NETWORK, f"it puts {what} together"
            self._roles[component], self._why[component] = role, why
        if highest.rank > role.rank:
            reason = next(c for c in above if self._roles[c] is highest)
            self._roles[component], self._why[component] = highest, f"it reads {_title(reason)}"

    def _assembles(self, component: Component, role: Role, holds: set[Role]) -> bool:
        if role is Role.BACKBONE:
            return bool(holds & {Role.HEAD, Role.LOSS})
        if role not in (Role.HEAD, Role.LOSS):
            return False
        wholes = {self._roles[c] for c in component.reads if self._evidence[c].cell and self._whole(c, component)}
        return bool(wholes & ({Role.BACKBONE} if role is Role.HEAD else {Role.BACKBONE, Role.HEAD}))

    def _whole(self, component: Component, holder: Component) -> bool:
        """Whether a Cell is no block that Cells of its part other than the `holder` build on."""
        role, others = self._roles[component], component.readers - {holder}
        return not any(self._roles[r] is role and self._evidence[r].cell for r in others)


def _strongest(found: Iterable[Evidence]) -> Evidence:
    """What a component is as a whole: the part that may read all the others."""
    evidence = list(found)
    roles = [e for e in evidence if e.role is not None]
    cell = any(e.cell for e in evidence)
    if not roles:
        why = next((e.why for e in evidence if e.why), "")
        return Evidence(None, why, cell)
    best = max(roles, key=lambda e: e.role.rank if e.role else 0)
    return Evidence(best.role, best.why, cell)


def _only_init_besides(roles: Iterable[Role]) -> bool:
    return bool(set(roles) - {Role.INIT})


def _names(readers: Mapping[Component, Role], role: Role) -> str:
    names = [_title(c) for c, r in sorted(readers.items(), key=lambda p: p[0].items[0].start) if r is role]
    return ", ".join(names[:2]) + (" and others" if len(names) > 2 else "")


def _title(component: Component) -> str:
    return component.items[0].name


def _readers_first(components: list[Component]) -> list[Component]:
    """An order in which a component comes behind all that read it."""
    order: list[Component] = []
    done: set[Component] = set()
    for start in components:
        stack = [(start, iter(sorted(start.reads, key=lambda c: c.items[0].start)))]
        if start in done:
            continue
        done.add(start)
        while stack:
            component, rest = stack[-1]
            inner = next((c for c in rest if c not in done), None)
            if inner is None:
                order.append(component)
                stack.pop()
            else:
                done.add(inner)
                stack.append((inner, iter(sorted(inner.reads, key=lambda c: c.items[0].start))))
    return order[::-1]


def _refuse_circles(places: Mapping[Component, Place]) -> None:
    edges: dict[str, dict[str, str]] = {}
    for component, place in places.items():
        for other in component.reads:
            if places[other].stem != place.stem:
                names = f"{_title(component)} ({place.stem}.py) reads {_title(other)} ({places[other].stem}.py)"
                edges.setdefault(place.stem, {}).setdefault(places[other].stem, names)
                if places[other].stem == "__init__":
                    edges.setdefault("__init__", {})[place.stem] = f"__init__.py imports {place.stem}.py"
    for start in edges:
        path = _circle(start, edges)
        if path:
            steps = "; ".join(edges[a][b] for a, b in pairwise(path))
            raise GraphwardError(f"the parts would import each other in a circle: {steps}",
                                 hint="keep these together: --part NAME=FILE for each of them")  # fmt: skip


def _circle(start: str, edges: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A way from a part back to itself, empty for none."""
    ways = [[start]]
    seen = {start}
    while ways:
        way = ways.pop()
        for other in edges.get(way[-1], ()):
            if other == start:
                return [*way, other]
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def pinned(texts: Iterable[str], structure: Structure) -> dict[str, str]:
    """`NAME=FILE` as asked for, checked. Raises GraphwardError."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, file = (part.strip() for part in text.partition("="))
        stem = file.removesuffix(".py")
        if not sign or not name or not stem.isidentifier() or stem == "__main__":
            raise GraphwardError(f"{text!r} names no part", hint="write NAME=FILE, as in --part Pooler=head.py")
        if name not in structure.owner:
            known = [n for c in structure.components for n in c.names]
            raise GraphwardError(f"the file defines no {name!r}", path=structure.reading.source.path,
                                 hint=f"it defines {', '.join(known[:12]) or 'nothing'}")  # fmt: skip
        found[name] = file
    return found


def by_part(places: Mapping[Component, Place]) -> dict[str, list[Item]]:
    """The items of each part in the order of the file; the parts in the order of their first items."""
    found: dict[str, list[Item]] = {}
    for component, place in places.items():
        found.setdefault(place.stem, []).extend(component.items)
    for items in found.values():
        items.sort(key=lambda item: item.start)
    return dict(sorted(found.items(), key=lambda pair: pair[1][0].start))
