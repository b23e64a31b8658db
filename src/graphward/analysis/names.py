"""What a name means: the import-alias map of a scope, and the names that hide it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..knowledge.names import canonical

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_COMPOUND = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match}
    | ({ast.TryStar} if hasattr(ast, "TryStar") else set())
)


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` of a chain of attributes over a name, else None."""
    text = ""
    while node.__class__ is ast.Attribute:
        text = f".{node.attr}{text}"
        node = node.value
    return f"{node.id}{text}" if node.__class__ is ast.Name else None


def is_class_like(name: str) -> bool:
    """Whether a name is spelled as classes are: a capital first, underscores before it left aside."""
    return name[:1].isupper() or (name[:1] == "_" and name.lstrip("_")[:1].isupper())


def is_super(node: ast.AST) -> bool:
    """Whether an expression is a call of `super`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def absolute_import(module: str | None, level: int, package: str) -> str:
    """The absolute module of a `from` import that stands in `package` (empty for a top-level module)."""
    if not level:
        return module or ""
    parts = package.split(".") if package else []
    parts = parts[: len(parts) - (level - 1)] if level > 1 else parts
    return ".".join((*parts, *((module,) if module else ())))


def import_bindings(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    """`(bound name, qualified name)` for each name that an import statement binds; star imports bind `*`."""
    if isinstance(node, ast.Import):
        for item in node.names:
            yield (item.asname, item.name) if item.asname else (item.name.split(".")[0],) * 2
        return
    base = absolute_import(node.module, node.level, package)
    for item in node.names:
        if item.name == "*":
            yield "*", base
        else:
            yield item.asname or item.name, f"{base}.{item.name}" if base else item.name


def statements(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Every statement under `body`, depth first, not entering functions and classes."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if node.__class__ not in _COMPOUND:
            continue
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            if inner:
                found += statements(inner)
        for handler in getattr(node, "handlers", ()):
            found += statements(handler.body)
        for case in getattr(node, "cases", ()):
            found += statements(case.body)
    return found


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter in source order, star ones included."""
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        found.append(arguments.vararg)
    found += arguments.kwonlyargs
    if arguments.kwarg:
        found.append(arguments.kwarg)
    return found


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The default of each parameter that has one."""
    positional = arguments.posonlyargs + arguments.args
    found = {a.arg: d for a, d in zip(reversed(positional), reversed(arguments.defaults), strict=False)}
    found |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    return found


class Names:
    """The import aliases that one scope sees, chained to the scope around it."""

    __slots__ = ("aliases", "hidden", "parent", "stars", "written")

    def __init__(self, parent: Names | None = None, hidden: frozenset[str] = frozenset()):
        self.aliases: dict[str, str] = {}
        # Aliases as the import spells them: `mindspore.ops.operations` has not every name of `mindspore.ops`.
        self.written: dict[str, str] = {}
        self.stars: list[str] = []
        self.hidden = hidden
        self.parent = parent

    @classmethod
    def of_module(cls, tree: ast.Module, package: str) -> Names:
        """Aliases made by imports and by plain `name = dotted.name` assignments at module level."""
        names = cls()
        for node in statements(tree.body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names.add_import(node, package)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                target = dotted(node.value)
                meaning = names.qualify(target) if target else None
                if meaning:
                    names.aliases[node.targets[0].id] = meaning
        return names

    def inside(self, bound: frozenset[str], imports: Iterable[ast.Import | ast.ImportFrom], package: str) -> Names:
        """The scope inside a function: the names `bound` in it hide outer aliases, its own imports make new ones."""
        inner = Names(self, bound)
        for node in imports:
            inner.add_import(node, package)
        return inner

    def add_import(self, node: ast.Import | ast.ImportFrom, package: str) -> None:
        for bound, meaning in import_bindings(node, package):
            if bound == "*":
                self.stars.append(meaning)
            else:
                self.aliases[bound] = canonical(meaning)
                self.written[bound] = meaning

    def lookup(self, name: str) -> str | None:
        """The qualified name that an import gave to `name`, or None."""
        scope: Names | None = self
        while scope is not None:
            if name in scope.aliases:
                return scope.aliases[name]
            if name in scope.hidden:
                return None
            scope = scope.parent
        return None

    def is_local(self, name: str) -> bool:
        """Whether a function scope binds `name` otherwise than by an import."""
        scope: Names | None = self
        while scope is not None and scope.parent is not None:
            if name in scope.aliases:
                return False
            if name in scope.hidden:
                return True
            scope = scope.parent
        return False

    def qualify(self, name: str) -> str | None:
        """`np.linalg.norm` to `numpy.linalg.norm`; None when the head is not an import."""
        head, dot, rest = name.partition(".")
        meaning = self.lookup(head)
        if meaning is None:
            return None
        return canonical(f"{meaning}.{rest}") if dot else meaning

    def resolve(self, node: ast.AST) -> str | None:
        """The qualified name of an expression that is a dotted name over an import, else None."""
        name = dotted(node)
        return self.qualify(name) if name else None

    def spelling(self, qualified: str) -> str | None:
        """How `qualified` (`mindspore.ops.exp`) can be written here with the imports that exist, shortest first;
        None when no import reaches it."""
        found = []
        scope: Names | None = self
        while scope is not None:
            for alias, meaning in scope.written.items():
                if self._sees(alias, meaning):
                    if meaning == qualified:
                        found.append(alias)
                    elif qualified.startswith(meaning + "."):
                        found.append(alias + qualified[len(meaning) :])
            scope = scope.parent
        return min(found, key=lambda s: (s.count("."), len(s)), default=None)

    def _sees(self, alias: str, meaning: str) -> bool:
        return self.lookup(alias) == canonical(meaning)
