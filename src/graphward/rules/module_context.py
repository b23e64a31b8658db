"""What a rule sees of a whole file: every use of an imported name, in graph code and out of it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..analysis.inference import Inference
from ..analysis.module import FunctionInfo, Module
from ..analysis.names import Names, import_bindings
from ..analysis.tree import around, parents, preorder
from ..knowledge.names import canonical
from ..source.fixes import Fix
from .context import Context, Options, Value
from .finding import Consequence, Finding
from .rewrite import Rewrite
from .rule import Rule

ImportNode = ast.Import | ast.ImportFrom


@dataclass(frozen=True, slots=True)
class Use:
    """A dotted name over an import, as long as it is written: all of `ms.ops.exp` in `ms.ops.exp(x)`.

    `written` is what it means by the path that the import takes (`mindspore.ops.operations.Exp`), `name` the public
    spelling of that (`mindspore.ops.Exp`). `call` is the call whose callee it is.
    """

    node: ast.Name | ast.Attribute
    head: str
    written: str
    names: Names
    call: ast.Call | None

    @property
    def name(self) -> str:
        return canonical(self.written)

    @property
    def stored(self) -> bool:
        """Whether it is assigned to or deleted, and not read."""
        return not isinstance(self.node.ctx, ast.Load)


class ModuleContext(Context):
    """A file, whether it holds graph code or not."""

    def __init__(self, module: Module, inference: Inference, options: Options):
        super().__init__(module, inference, options)
        self._notes: dict[Hashable, Any] = {}

    def once_here(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` gives, worked out once for this file and forgotten with it."""
        if key not in self._notes:
            self._notes[key] = make()
        return self._notes[key]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the file in source order."""
        return preorder(self.module.tree)

    @cached_property
    def imports(self) -> list[ImportNode]:
        """The import statements of the file, at any depth."""
        return [node for node in self.nodes if isinstance(node, ImportNode)]

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [node for node in self.nodes if node.__class__ is ast.Call]

    @cached_property
    def uses(self) -> list[Use]:
        """Every name over an import of MindSpore, in source order."""
        return list(self._uses())

    @property
    def is_interface(self) -> bool:
        """Whether what the file binds is there for others: a package's `__init__.py`."""
        return self.module.path.name == "__init__.py"

    @cached_property
    def bound(self) -> frozenset[str]:
        """What any scope of the file binds otherwise than by an import."""
        found = {n.id for n in self.nodes if n.__class__ is ast.Name and n.ctx.__class__ is not ast.Load}
        return frozenset(found | {n.arg for n in self.nodes if n.__class__ is ast.arg})

    @cached_property
    def _heads(self) -> frozenset[str]:
        """The names that any scope gives to MindSpore or a part of it."""
        found = {alias for alias, meaning in self.module.names.aliases.items() if _of_mindspore(meaning)}
        for node in self.imports:
            pairs = import_bindings(node, self.module.package)
            found |= {bound for bound, meaning in pairs if _of_mindspore(meaning)}
        return frozenset(found)

    def _uses(self) -> Iterator[Use]:
        heads = self._heads
        if not heads:
            return
        callees: dict[ast.AST, ast.Call] = {}
        inner: set[ast.AST] = set()
        for node in self.nodes:
            kind = node.__class__
            if kind is ast.Call:
                callees[node.func] = node  # type: ignore[attr-defined,assignment]
            elif kind is ast.Attribute:
                if node in inner:
                    continue
                parts = []
                base: ast.AST = node
                while base.__class__ is ast.Attribute:
                    parts.append(base.attr)
                    base = base.value
                    inner.add(base)
                if base.__class__ is ast.Name and base.id in heads:
                    yield from self._use(node, base.id, ".".join(reversed(parts)), callees.get(node))  # type: ignore
            elif kind is ast.Name and node.id in heads and node not in inner:  # type: ignore[attr-defined]
                yield from self._use(node, node.id, "", callees.get(node))  # type: ignore[arg-type,attr-defined]

    def _use(self, node: ast.Name | ast.Attribute, head: str, rest: str, call: ast.Call | None) -> Iterator[Use]:
        names = self.names_at(node, head)
        meaning = _written(names, head)
        if meaning is not None and _of_mindspore(meaning):
            yield Use(node, head, f"{meaning}.{rest}" if rest else meaning, names, call)

    def names_at(self, node: ast.AST, name: str) -> Names:
        """The scope that says what `name` means where `node` stands."""
        function = self.function_at(node) if name in self.bound or name in self._local_imports else None
        return function.names if function else self.module.names

    @cached_property
    def _local_imports(self) -> frozenset[str]:
        """The names that imports inside functions and classes bind."""
        outside = self.module.names.written
        found: set[str] = set()
        for node in self.imports:
            pairs = import_bindings(node, self.module.package)
            found |= {bound for bound, meaning in pairs if outside.get(bound) != meaning}
        return frozenset(found)

    def function_at(self, node: ast.AST) -> FunctionInfo | None:
        """The innermost function around a node."""
        line = node.lineno  # type: ignore[attr-defined]
        ordered, firsts = self._functions
        for function in reversed(ordered[: bisect_right(firsts, line)]):
            if line <= (function.node.end_lineno or line):
                return function
        return None

    @cached_property
    def _functions(self) -> tuple[list[FunctionInfo], list[int]]:
        ordered = sorted(self.module.functions, key=lambda f: f.first_line)
        return ordered, [f.first_line for f in ordered]

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return parents(self.module.tree, self.nodes)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, the innermost first."""
        return around(node, self._parents)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node`."""
        return next(n for n in (node, *self.around(node)) if isinstance(n, ast.stmt))

    def rewrite(self, names: Names | None = None) -> Rewrite:
        """A new, empty rewrite of this file as seen from `names`, else from the module."""
        return Rewrite(self.module, names or self.module.names)

    def finding(
        self, rule: Rule, node: ast.AST, message: str, *, evidence: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
        consequence: Consequence | None = None,
    ) -> Finding:  # fmt: skip
        """A finding at `node`; the region is the function around it, else the module."""
        function = self.function_at(node)
        region = function.qualname if function else self.module.name
        return self._finding(rule, node, message, region, (), evidence, fixes, consequence)


def _of_mindspore(meaning: str) -> bool:
    return meaning == "mindspore" or meaning.startswith("mindspore.")


def _written(names: Names, head: str) -> str | None:
    """What an imported name means by the path that its import takes; what an assignment renames, by its meaning."""
    scope: Names | None = names
    while scope is not None:
        if head in scope.written:
            return scope.written[head]
        if head in scope.aliases:
            return scope.aliases[head]
        if head in scope.hidden:
            return None
        scope = scope.parent
    return None
