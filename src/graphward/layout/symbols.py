"""Which global names a top-level statement binds, reads and changes, and when: as it runs, or later in a call."""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "dictcomp", "genexpr", "lambda"})
_FUTURE = "from __future__ import annotations\n"


@dataclass
class Symbols:
    """Dictionaries serve as ordered sets. `binds` in this order; `certain` are those bound on every way through;
    `now` are read while the file is imported, `later` in functions; `writes` are rebound in functions (`global`);
    `hints` are read by annotations that nothing evaluates; `deleted` are gone at the end."""

    binds: dict[str, None] = field(default_factory=dict)
    certain: set[str] = field(default_factory=set)
    now: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    hints: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)

    @property
    def reads(self) -> set[str]:
        return self.now | self.later


def symbols_of(text: str, nodes: list[ast.stmt], future: bool) -> Symbols:
    """The symbols of statements whose text this is; `future`: annotations stay unevaluated."""
    found = Symbols()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = symtable.symtable(text, "<part>", "exec")
        table = symtable.symtable(_FUTURE + text, "<part>", "exec") if future else plain
    bound = {s.get_name() for s in plain.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    found.binds = dict.fromkeys(name for name in _in_order(nodes, bound) if name != "*")
    found.certain = set(_certain(nodes))
    found.deleted = {
        t.id for n in nodes if isinstance(n, ast.Delete) for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    _walk(table, found, now=True)
    found.hints = set(_hints(nodes)) - found.reads
    return found


def _walk(table: symtable.SymbolTable, found: Symbols, now: bool) -> None:
    kind = str(table.get_type()).rpartition(".")[2].lower()
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if kind == "module":
            reads = symbol.is_referenced()
        else:
            # A class body reads the global where it has not bound the name yet.
            reads = symbol.is_referenced() and (symbol.is_global() or kind == "class")
            if symbol.is_declared_global() and symbol.is_assigned():
                found.writes.add(name)
        if reads:
            (found.now if now else found.later).add(name)
    for child in table.get_children():
        inner = str(child.get_type()).rpartition(".")[2].lower()
        called = inner == "function" and child.get_name() not in _COMPREHENSIONS
        _walk(child, found, now and not called)


def _in_order(nodes: list[ast.stmt], bound: set[str]) -> Iterator[str]:
    """Names by the place where they stand first."""
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.alias):
                names: list[object] = [inner.asname or inner.name.split(".")[0]]
            else:
                names = [getattr(inner, "id", None), getattr(inner, "name", None)]
            yield from (name for name in names if isinstance(name, str) and name in bound)


def _certain(nodes: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that statements bind whatever happens."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (a.asname or a.name.split(".")[0] for a in node.names)
        elif isinstance(node, ast.If):
            yield from set(_certain(node.body)) & set(_certain(node.orelse))
        elif isinstance(node, ast.Try):
            ways = [set(_certain([*node.body, *node.orelse]))]
            ways += [set(_certain(h.body)) for h in node.handlers if not isinstance(h.body[-1], ast.Raise)]
            yield from set.intersection(*ways)
            yield from _certain(node.finalbody)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _stored(*(i.optional_vars for i in node.items if i.optional_vars))
            yield from _certain(node.body)
        elif isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)) and node.iter.elts:
            yield from _stored(node.target)
        elif isinstance(node, ast.AnnAssign):
            yield from _stored(node.target) if node.value is not None else ()
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
            yield from _stored(node)
        elif hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias):
            yield from _stored(node.name)


def _stored(*nodes: ast.AST) -> Iterator[str]:
    """Names that are stored to in expressions, comprehensions left out."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)):
            yield from _stored(*ast.iter_child_nodes(node))


def _hints(nodes: list[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        for inner in ast.walk(node):
            for name in ("annotation", "returns"):
                hint = getattr(inner, name, None)
                if isinstance(hint, ast.expr):
                    yield from _names_in(hint)


def _names_in(hint: ast.expr) -> Iterator[str]:
    """The names in an annotation, and in the texts that stand for types in it."""
    for node in ast.walk(hint):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                text = ast.parse(node.value.strip(), mode="eval").body
            except (SyntaxError, ValueError):
                continue
            yield from (n.id for n in ast.walk(text) if isinstance(n, ast.Name))
