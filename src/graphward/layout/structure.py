"""How the definitions of a file hang together: what has to stay in one module, and what reads what."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import GraphwardError
from .items import Item, Kind, Reading

_LOOKUPS = frozenset({"globals", "eval", "exec"})
_OF_THE_MODULE = frozenset({"__spec__", "__loader__", "__cached__", "__path__"})
_HOOKS = frozenset({"__getattr__", "__dir__"})


@dataclass(eq=False)
class Component:
    """Items that no cut may go between, in the order of the file. `reads` are other components, `stays` says why it has
    to stay in the package's `__init__`, empty where it need not."""

    items: list[Item]
    reads: set[Component] = field(default_factory=set)
    readers: set[Component] = field(default_factory=set)
    stays: str = ""

    @property
    def names(self) -> list[str]:
        return [name for item in self.items for name in item.symbols.binds]


@dataclass
class Structure:
    """`components` in the order of the file; `owner` of each global name that is not merely imported; `imported` are
    the imports of all other names; `live` names change while the program runs, or may be missing: they exist once, in
    the module of their component; `main` is the block of the script, and `inside` says that functions read what it
    sets, so that it has to run where they are."""

    reading: Reading
    components: list[Component]
    owner: dict[str, Component]
    imported: dict[str, list[Item]]
    live: set[str]
    main: Item | None
    inside: bool

    @property
    def free_names(self) -> set[str]:
        """Names that are read and bound nowhere in the file: they come from star imports."""
        known = self.owner.keys() | self.imported.keys() | set(dir(builtins)) | {"__file__", "__builtins__"}
        read = {name for item in self.reading.items for name in item.symbols.reads}
        return {name for name in read - known if not (name.startswith("__") and name.endswith("__"))}


def structure(reading: Reading, set_outside: Collection[str], stays: Mapping[Item, str]) -> Structure:
    """`set_outside` are names that other files assign to; `stays` are items that cannot leave, with the reason.

    Raises GraphwardError when the file does what no layout can keep.
    """
    moving = _moving(reading)
    binders: dict[str, list[Item]] = {}
    for item in moving:
        for name in [*item.symbols.binds, *sorted(item.symbols.writes)]:
            binders.setdefault(name, []).append(item)
    main = next((i for i in reading.items if i.kind is Kind.MAIN), None)
    script = _set_by_script(main, moving, binders) if main else set()
    live = {name for item in moving for name in item.symbols.writes} | script | (set(set_outside) & binders.keys())
    live |= {name for name, items in binders.items() if not any(name in i.symbols.certain for i in items)}
    live -= {name for name, items in binders.items() if any(name in i.symbols.deleted for i in items)}
    if main and (script or live & main.symbols.reads):
        moving.append(main)
        for name in main.symbols.binds:
            binders.setdefault(name, []).append(main)
    joined = _Joined(moving)
    _tie(joined, moving, binders, live)
    own = {item: stays.get(item) or _must_stay(reading, item, binders) for item in moving}
    components = _components(joined.groups(), binders, own)
    owner = {name: c for c in components for name in c.names}
    owner |= {name: c for c in components for item in c.items for name in item.symbols.writes}
    imported: dict[str, list[Item]] = {}
    for item in reading.items:
        if item.kind is Kind.IMPORT and item not in moving:
            for name in item.symbols.binds:
                imported.setdefault(name, []).append(item)
    return Structure(reading, components, owner, imported, live, main, main in moving)


def _moving(reading: Reading) -> list[Item]:
    """The items that go into parts. An import of a name that is bound otherwise too is one of them, and one that
    depends on a variable."""
    moving = [i for i in reading.items if i.kind in (Kind.DEFINITION, Kind.VARIABLE, Kind.EFFECT)]
    bound = {name for item in moving for name in [*item.symbols.binds, *item.symbols.writes]}
    while True:
        mixed = [
            i for i in reading.items
            if i.kind is Kind.IMPORT and i not in moving and bound & (i.symbols.binds.keys() | i.symbols.reads)
        ]  # fmt: skip
        if not mixed:
            return sorted(moving, key=lambda i: i.start)
        moving += mixed
        bound |= {name for item in mixed for name in item.symbols.binds}


def _set_by_script(main: Item, moving: list[Item], binders: Mapping[str, list[Item]]) -> set[str]:
    """Global names that the script's block sets and that functions of the file read."""
    sets = {*main.symbols.binds, *main.symbols.writes}
    read = {name for item in moving for name in item.symbols.reads}
    found = sets & (read | {n for n, items in binders.items() if any(n in i.symbols.writes for i in items)})
    if found and any(a.name == "*" for n in ast.walk(main.nodes[0]) if isinstance(n, ast.ImportFrom) for a in n.names):
        raise GraphwardError("the block of the script imports a star and sets what functions read", line=main.line,
                             path=main.source.path, hint="name what it imports")  # fmt: skip
    return found


class _Joined:
    """Items in growing groups."""

    def __init__(self, items: Iterable[Item]):
        self._leader = {item: item for item in items}

    def find(self, item: Item) -> Item:
        while self._leader[item] is not item:
            item = self._leader[item]
        return item

    def join(self, items: Iterable[Item]) -> None:
        leaders = [self.find(i) for i in items]
        for other in leaders[1:]:
            self._leader[self.find(other)] = self.find(leaders[0])

    def groups(self) -> list[list[Item]]:
        found: dict[Item, list[Item]] = {}
        for item in self._leader:
            found.setdefault(self.find(item), []).append(item)
        return list(found.values())


def _tie(joined: _Joined, moving: list[Item], binders: Mapping[str, list[Item]], live: set[str]) -> None:
    for name, items in binders.items():
        if name == "__all__":
            continue
        if name in live:
            joined.join([*items, *(i for i in moving if name in i.symbols.reads)])
        elif len(items) > 1:  # what runs between two of them sees the first value
            early = (i for i in moving if name in i.symbols.now and i.symbols.binds.keys() != {"__all__"})
            joined.join([*items, *early])
    for item in moving:
        for name in _registries(item):
            joined.join([item, *(b for b in binders.get(name, ()) if b.kind is Kind.VARIABLE)])
        if item.kind is not Kind.EFFECT or item.symbols.binds.keys() == {"__all__"}:
            continue
        if _prints(item):
            continue
        changed = _changed(item)
        for name in item.symbols.now - {"__all__"}:
            for binder in binders.get(name, ()):
                if binder.kind is not Kind.DEFINITION or name in changed:
                    joined.join([item, binder])


def _registries(item: Item) -> set[str]:
    """The names that a decorated function is handed to: `@table.register` adds to `table`."""
    node = item.nodes[0]
    found = set()
    for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
        callee: ast.AST = decorator
        while isinstance(callee, (ast.Attribute, ast.Call)):
            callee = callee.func if isinstance(callee, ast.Call) else callee.value
        if isinstance(callee, ast.Name) and callee is not decorator:
            found.add(callee.id)
    return found


def _prints(item: Item) -> bool:
    """Whether a statement only prints, which changes no variable."""
    call = item.nodes[0].value if len(item.nodes) == 1 and isinstance(item.nodes[0], ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def _changed(item: Item) -> set[str]:
    """The names whose attributes or elements a statement sets."""
    found = set()
    for node in (n for s in item.nodes for n in ast.walk(s)):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            value: ast.AST = node
            while isinstance(value, (ast.Attribute, ast.Subscript)):
                value = value.value
            if isinstance(value, ast.Name):
                found.add(value.id)
    return found


def _must_stay(reading: Reading, item: Item, binders: Mapping[str, list[Item]]) -> str:
    """Why an item works in the package's `__init__` only, else empty."""
    binds = item.symbols.binds.keys()
    if "__all__" in binds or (item.kind is Kind.EFFECT and "__all__" in item.symbols.now):
        return "it is what `import *` asks for"
    if binds & _HOOKS:
        return "Python calls it for the module"
    used = {name for name in item.symbols.reads & _LOOKUPS if name not in binders}
    if used and _sets_globals(item):
        raise GraphwardError("names are set through globals(), which no layout can follow", path=reading.source.path,
                             line=item.line, hint="assign them, or keep the file as it is")  # fmt: skip
    if used:
        return f"it looks names up with {sorted(used)[0]}(), and all of them are there"
    if item.symbols.reads & _OF_THE_MODULE:
        return f"it reads {sorted(item.symbols.reads & _OF_THE_MODULE)[0]}"
    return "it looks itself up as a module, where all names are" if _looks_itself_up(item) else ""


def _sets_globals(item: Item) -> bool:
    def is_globals(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"

    for node in (n for s in item.nodes for n in ast.walk(s)):
        if isinstance(node, ast.Subscript) and is_globals(node.value) and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault") and is_globals(node.value):
            return True
    return False


def _looks_itself_up(item: Item) -> bool:
    """`sys.modules[__name__]`, `import_module(__name__)` and the like."""
    for node in (n for s in item.nodes for n in ast.walk(s)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "modules":
            inner: list[ast.expr] = [node.slice]
        elif isinstance(node, ast.Call) and _last(node.func) in ("import_module", "__import__", "get"):
            inner = node.args[:1]
        else:
            continue
        if any(isinstance(n, ast.Name) and n.id == "__name__" for n in inner):
            return True
    return False


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _components(
    groups: list[list[Item]], binders: Mapping[str, list[Item]], stays: Mapping[Item, str]
) -> list[Component]:
    """Groups that read each other in a circle become one; the rest is a graph without circles."""
    number = {item: i for i, group in enumerate(groups) for item in group}
    reach = []
    for i, group in enumerate(groups):
        read = {name for item in group for name in item.symbols.reads}
        reach.append({number[b] for name in read for b in binders.get(name, ())} - {i})
    direct = [set(r) for r in reach]
    masks = [sum(1 << j for j in r) for r in reach]
    for k in range(len(groups)):
        for i in range(len(groups)):
            if masks[i] >> k & 1:
                masks[i] |= masks[k]
    leader = [
        min([i, *(j for j in range(len(groups)) if masks[i] >> j & 1 and masks[j] >> i & 1)])
        for i in range(len(groups))
    ]  # fmt: skip
    made: dict[int, Component] = {}
    for i, group in enumerate(groups):
        made.setdefault(leader[i], Component([])).items += group
    for i, others in enumerate(direct):
        here = made[leader[i]]
        here.reads |= {made[leader[j]] for j in others} - {here}
    for component in made.values():
        component.items.sort(key=lambda item: item.start)
        component.stays = next((reason for item in component.items if (reason := stays.get(item, ""))), "")
        for other in component.reads:
            other.readers.add(component)
    return sorted(made.values(), key=lambda c: c.items[0].start)
