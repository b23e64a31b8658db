"""What a module of the package has to import: of what the file imports, and of the other parts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .items import Item
from .structure import Structure


@dataclass
class Needs:
    """`imports` are imports of the file, each with the names that are wanted of it; `parts` the names taken from other
    parts; `hints` those that only annotations name, of parts that cannot be imported here."""

    imports: dict[Item, set[str]] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)
    hints: dict[str, list[str]] = field(default_factory=dict)


def needs_of(stem: str, items: Iterable[Item], structure: Structure, owner: Mapping[str, str]) -> Needs:
    """What `items` need where they stand in the part `stem`; `owner` is the part of each name."""
    items = list(items)
    found = Needs()
    read = {name for item in items for name in item.symbols.reads}
    hints = {name for item in items for name in item.symbols.hints} - read
    stars = [i for i in structure.reading.items if _is_star(i)]
    if read & structure.free_names:
        found.imports.update({item: set() for item in stars})
    queue = [*sorted(read), *sorted(n for n in hints if n not in owner)]
    seen = set(queue)
    for name in queue:
        if name in owner:
            if owner[name] != stem:
                found.parts.setdefault(owner[name], []).append(name)
            continue
        for item in structure.imported.get(name, ()):
            found.imports.setdefault(item, set()).add(name)
            more = sorted(item.symbols.reads - seen)  # what a test around an import reads
            seen.update(more)
            queue += more
    for name in sorted(hints & owner.keys()):
        if owner[name] != stem and name not in found.parts.get(owner[name], ()):
            found.hints.setdefault(owner[name], []).append(name)
    place = {name: i for i, name in enumerate(n for c in structure.components for n in c.names)}
    for group in (found.parts, found.hints):
        for names in group.values():
            names.sort(key=lambda n: place.get(n, 0))
    found.imports = dict(sorted(found.imports.items(), key=lambda pair: pair[0].start))
    found.parts = dict(sorted(found.parts.items()))
    return found


def _is_star(item: Item) -> bool:
    return any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for s in item.nodes for n in ast.walk(s))
