"""All modules of a run: what an imported name defines, which classes are Cells, which method a call means."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..knowledge.names import CELL_NAMES, canonical
from .module import ClassInfo, FunctionInfo, Module
from .names import dotted
from .tree import children

# Re-exports chain through `__init__` files; a longer chain is a cycle.
_MAX_HOPS = 12
# Packages that no project defines functions or classes in.
NO_PROJECT = frozenset({"mindspore", "numpy"})
_LEAVES = frozenset({ast.Name, ast.Constant})


class Project:
    """The modules known so far. `loader` finds a module by dotted name when it is asked for and not known yet;
    it returns None for what is not part of the project."""

    def __init__(self, loader: Callable[[str], Module | None] | None = None):
        self.modules: dict[str, Module] = {}
        self._loader = loader
        self._bases: dict[ClassInfo, list[ClassInfo | str]] = {}
        self._mro: dict[ClassInfo, list[ClassInfo]] = {}
        self._held: dict[tuple[ClassInfo, str], list[ClassInfo]] = {}
        self._constructed: dict[ast.expr, list[ClassInfo]] = {}
        self._appended: dict[ClassInfo, dict[str, list[tuple[FunctionInfo, ast.expr]]]] = {}
        self._attributes: dict[ClassInfo, dict[str, list[tuple[FunctionInfo, ast.expr]]]] = {}

    def add(self, module: Module) -> None:
        self.modules[module.name] = module

    def module(self, name: str) -> Module | None:
        """The project's module of that dotted name, read on demand."""
        if name not in self.modules:
            loaded = self._loader(name) if self._loader and name else None
            if loaded is None:
                return None
            self.modules[name] = loaded
        return self.modules[name]

    def definition(self, qualified: str, hops: int = 0) -> FunctionInfo | ClassInfo | None:
        """The project's function or class behind a qualified name, through re-exports and star imports."""
        owner, _, name = qualified.rpartition(".")
        if not owner or hops > _MAX_HOPS:
            return None
        module = self.module(owner)
        if module is None:
            holder = self.definition(owner, hops + 1) if "." in owner else None
            return self.method(holder, name) if isinstance(holder, ClassInfo) else None
        return self.named(module, name, hops)

    def named(self, module: Module, name: str, hops: int = 0) -> FunctionInfo | ClassInfo | None:
        """What a global name of a module means, when it is a function or class of the project."""
        if name in module.definitions:
            return module.definitions[name]
        meaning = module.names.aliases.get(name)
        if meaning is not None and meaning != f"{module.name}.{name}":
            return self.definition(meaning, hops + 1)
        for star in module.names.stars:
            source = self.module(star) if hops <= _MAX_HOPS and star != module.name else None
            found = self.named(source, name, hops + 1) if source else None
            if found is not None:
                return found
        return None

    def visible(self, function: FunctionInfo, name: str) -> FunctionInfo | ClassInfo | None:
        """What a bare name means inside `function`: a local function, a global one, or an imported one."""
        names = function.names
        if name in names.hidden and name not in names.aliases and name not in function.locals:
            return None  # a variable of its own: most names are
        scope: FunctionInfo | None = function
        while scope is not None:
            if name in scope.locals:
                return scope.locals[name]
            scope = scope.outer
        meaning = names.lookup(name)
        if meaning is not None:
            return self.definition(meaning)
        return None if names.is_local(name) else self.named(function.module, name)

    def bases(self, info: ClassInfo) -> list[ClassInfo | str]:
        """The bases in order: project classes, else their qualified (or written) names."""
        if info not in self._bases:
            found: list[ClassInfo | str] = []
            for node in info.node.bases:
                name = dotted(node)
                if name is None:
                    continue
                qualified = info.names.qualify(name)
                known = self.definition(qualified) if qualified else self._by_written_name(info, name)
                found.append(known if isinstance(known, ClassInfo) and known is not info else qualified or name)
            self._bases[info] = found
        return self._bases[info]

    def _by_written_name(self, info: ClassInfo, name: str) -> FunctionInfo | ClassInfo | None:
        if "." in name:
            return None
        for other in info.module.classes:
            if other.name == name and other.outer is info.outer and other is not info:
                return other
        return self.named(info.module, name)

    def mro(self, info: ClassInfo) -> list[ClassInfo]:
        """The project classes in method resolution order (depth first, each once: near enough without metaclasses)."""
        if info not in self._mro:
            self._mro[info] = [info]  # cuts cycles
            order = [info]
            for base in self.bases(info):
                if isinstance(base, ClassInfo):
                    order += [c for c in self.mro(base) if c not in order]
            self._mro[info] = order
        return self._mro[info]

    def method(self, info: ClassInfo, name: str, after: ClassInfo | None = None) -> FunctionInfo | None:
        """The method that `name` means on an instance; with `after`, what `super()` in that class means."""
        order = self.mro(info)
        if after in order:
            order = order[order.index(after) + 1 :]
        for known in order:
            found = known.methods.get(name)
            if found is not None:
                return found
        return None

    def is_cell(self, info: ClassInfo) -> bool | None:
        """True for a Cell, False when every base is known and none is one, None when a base is out of sight."""
        unknown = False
        for known in self.mro(info):
            for base in self.bases(known):
                if isinstance(base, str):
                    if is_cell_name(base):
                        return True
                    unknown = unknown or base not in ("object", "ABC", "abc.ABC")
        return None if unknown else False

    def attribute_values(self, info: ClassInfo) -> dict[str, list[tuple[FunctionInfo, ast.expr]]]:
        """What methods of the class and its bases assign to `self.<name>`, nearest class first; `__init__` first."""
        if info not in self._attributes:
            found: dict[str, list[tuple[FunctionInfo, ast.expr]]] = {}
            for known in self.mro(info):
                first = known.methods.get("__init__")
                others = (m for m in known.methods.values() if m is not first)
                for method in (first, *others) if first else others:
                    for name, value in method.self_assignments:
                        found.setdefault(name, []).append((method, value))
            self._attributes[info] = found
        return self._attributes[info]

    def attribute_classes(self, info: ClassInfo, attribute: str) -> list[ClassInfo]:
        """The project classes whose instances `self.<attribute>` holds, itself or as a container, where assignments
        and appends show it."""
        key = (info, attribute)
        if key not in self._held:
            found: list[ClassInfo] = []
            values = self.attribute_values(info).get(attribute, [])
            for method, value in [*values, *self._appended_values(info).get(attribute, [])]:
                found += (c for c in self._made(method, value) if c not in found)
            self._held[key] = found
        return self._held[key]

    def _appended_values(self, info: ClassInfo) -> dict[str, list[tuple[FunctionInfo, ast.expr]]]:
        if info not in self._appended:
            found: dict[str, list[tuple[FunctionInfo, ast.expr]]] = {}
            for method in (m for known in self.mro(info) for m in known.methods.values()):
                for name, value in method.self_appends:
                    found.setdefault(name, []).append((method, value))
            self._appended[info] = found
        return self._appended[info]

    def _made(self, function: FunctionInfo, value: ast.expr) -> list[ClassInfo]:
        """The classes that an expression constructs; each is looked up once, however many classes inherit it."""
        if value not in self._constructed:
            self._constructed[value] = list(self._find_made(function, value))
        return self._constructed[value]

    def _find_made(self, function: FunctionInfo, value: ast.expr) -> Iterator[ClassInfo]:
        """The arguments of a project class are its own business."""
        stack: list[ast.AST] = [value]
        if isinstance(value, ast.Name):
            stack += function.assignments.get(value.id, ())
        while stack:
            node = stack.pop()
            if node.__class__ in _LEAVES:
                continue
            made = self.called_class(function, node) if isinstance(node, ast.Call) else None
            if made is not None:
                yield made
                continue
            if isinstance(node, ast.Call) and node.func.__class__ is ast.Subscript:
                yield from self._chosen(function, node.func.value)
            stack += children(node)

    def _chosen(self, function: FunctionInfo, table: ast.expr) -> Iterator[ClassInfo]:
        """The project classes among the values of a dict of a module, whichever `LAYERS[config.kind](size)` takes."""
        if not isinstance(table, ast.Name) or function.names.is_local(table.id):
            return
        home: Module | None = function.module
        name = table.id
        meaning = function.names.lookup(name)
        if meaning is not None and meaning != f"{function.module.name}.{name}":
            path, _, name = meaning.rpartition(".")
            home = None if path.partition(".")[0] in NO_PROJECT else self.module(path)
        held = home.assignments.get(name) if home is not None else None
        if home is None or not isinstance(held, ast.Dict):
            return
        for value in held.values:
            written = dotted(value)
            qualified = home.names.qualify(written) if written is not None else None
            found = self.definition(qualified) if qualified else self.named(home, written) if written else None
            if isinstance(found, ClassInfo):
                yield found

    def called_class(self, function: FunctionInfo, value: ast.expr) -> ClassInfo | None:
        """The project class that `value` constructs, if it is such a call."""
        if not isinstance(value, ast.Call):
            return None
        name = dotted(value.func)
        if name is None:
            return None
        found = self.visible(function, name) if "." not in name else None
        if found is None:
            qualified = function.names.qualify(name)
            if qualified is not None and qualified.partition(".")[0] not in NO_PROJECT:
                found = self.definition(qualified)
        return found if isinstance(found, ClassInfo) else None


def is_cell_name(name: str) -> bool:
    """Whether a qualified base name outside the project is a MindSpore Cell."""
    name = canonical(name)
    return name in CELL_NAMES or name.startswith(("mindspore.nn.", "mindspore.mint.nn."))
