"""Whether an expression of graph code means the same in `__init__`, and how it is written there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Tag
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import all_arguments
from graphward.analysis.project import Project
from graphward.analysis.tree import preorder
from graphward.source.precedence import guarded

from .._blocks import CannotRewrite

# Attributes of a Cell whose value changes after `__init__`.
_CHANGING = frozenset({"training", "phase", "requires_grad", "compile_cache"})


class CannotMove(CannotRewrite):
    """Why an expression has to stay. `value` is the name of graph code that it depends on, if that is why."""

    def __init__(self, reason: str, value: str = ""):
        super().__init__(reason)
        self.value = value


@dataclass
class Move:
    """Rewrites expressions of `function` for the `__init__` of `cell`. `bound` are names that the new place binds
    itself (loop variables of a comprehension). `reads` collects the attributes of self that the moved text reads.
    `cells` allows reading an attribute that is a Cell, where the text only counts or iterates."""

    inference: Inference
    function: FunctionInfo
    cell: ClassInfo
    receiver: str
    bound: frozenset[str] = frozenset()
    reads: set[str] = field(default_factory=set)
    cells: bool = False

    @property
    def project(self) -> Project:
        return self.inference.project

    def text(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> str:
        """The source of `node` as it reads in `__init__`. Raises CannotMove."""
        module = self.function.module
        start = module.start(node)
        pieces: list[tuple[int, int, str]] = []
        inner: set[ast.AST] = set()
        for child in preorder(node):
            if isinstance(child, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)):
                raise CannotMove(f"{type(child).__name__} does not read the same elsewhere")
            if isinstance(child, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                inner.update(n for g in child.generators for n in preorder(g.target))
                inner_names = {n.id for n in inner if isinstance(n, ast.Name)}
                inner.update(n for n in preorder(child) if isinstance(n, ast.Name) and n.id in inner_names)
            if isinstance(child, ast.Attribute) and _is_self(child.value, self.function.receiver):
                self._attribute(child)
                inner.add(child.value)
                if self.receiver != self.function.receiver:
                    pieces.append((module.start(child.value), module.end(child.value), self.receiver))
            elif isinstance(child, ast.Name) and child not in inner and child.id not in self.bound:
                replacement = self._name(child, seen)
                if replacement is not None:
                    replacement = guarded(replacement, child, self.function.parents.get(child))
                    pieces.append((module.start(child), module.end(child), replacement))
        data = module.source.utf8[start : module.end(node)]
        for begin, end, new in sorted(pieces, reverse=True):
            data = data[: begin - start] + new.encode() + data[end - start :]
        return data.decode()

    def _attribute(self, node: ast.Attribute) -> None:
        name = node.attr
        if name in _CHANGING:
            raise CannotMove(f"self.{name} changes after __init__")
        if self.project.method(self.cell, name) is not None:
            raise CannotMove(f"self.{name} is a method, whose result may differ from call to call")
        values = self.project.attribute_values(self.cell).get(name, ())
        if not values:
            if any(_class_attribute(c, name) for c in self.project.mro(self.cell)):
                return
            raise CannotMove(f"no __init__ in sight sets self.{name}")
        others = sorted({method.name for method, _ in values if method.name != "__init__"})
        if others:
            raise CannotMove(f"self.{name} is also set in {', '.join(others)}")
        if self._augmented(name):
            raise CannotMove(f"self.{name} changes outside __init__")
        kind = self.inference.attribute(self.cell, name)
        if kind.tag in (Tag.CELL, Tag.CELLS, Tag.PARAMETER) and not self.cells:
            raise CannotMove(f"self.{name} is a {kind.tag.value} of the instance, which would then belong to two Cells")
        self.reads.add(name)

    def _augmented(self, name: str) -> bool:
        for known in self.project.mro(self.cell):
            for method in known.methods.values():
                if method.name == "__init__":
                    continue
                for node in method.nodes:
                    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
                        if node.target.attr == name and _is_self(node.target.value, method.receiver):
                            return True
        return False

    def _name(self, node: ast.Name, seen: frozenset[str]) -> str | None:
        """What stands for a name in `__init__`; None for the name itself."""
        name = node.id
        if name == self.function.receiver:
            raise CannotMove("the instance itself is an argument")
        if self.function.names.is_local(name) or name in self.function.locals:
            if name in seen:
                raise CannotMove(f"{name} is a value of {self.function.name}", name)
            value = self._single_value(name)
            if value is None:
                raise CannotMove(f"{name} is a value of {self.function.name}", name)
            try:
                text = self.text(value, seen | {name})
            except CannotMove as reason:
                # What the user reads in the call is this name, not what it was made from.
                if reason.value:
                    raise CannotMove(f"{name} is a value of {self.function.name}", name) from None
                raise
            return f"({text})" if "\n" in text else text
        if self._imported_here(name):
            raise CannotMove(f"{name} is imported inside {self.function.name}")
        own = self.cell.methods.get("__init__")
        if own is not None and name in own.names.hidden:
            raise CannotMove(f"__init__ uses the name {name} for something else")
        return None

    def _imported_here(self, name: str) -> bool:
        scope = self.function.names
        while scope is not None and scope.parent is not None:
            if name in scope.aliases:
                return True
            scope = scope.parent
        return False

    def _single_value(self, name: str) -> ast.expr | None:
        """The value of a local variable that is bound once, by a plain assignment outside all loops."""
        function: FunctionInfo | None = self.function
        while function is not None and name not in function.names.hidden:
            function = function.outer
        if function is not self.function:
            return None
        if any(a.arg == name for a in all_arguments(function.node.args)):
            return None
        stores = [
            n for n in function.nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        ]
        if len(stores) != 1:
            return None
        statement = function.parents[stores[0]]
        if not (
            isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is stores[0]
        ):
            return None
        parent = function.parents[statement]
        return statement.value if parent is function.node else None


def _is_self(node: ast.AST, receiver: str | None) -> bool:
    return receiver is not None and isinstance(node, ast.Name) and node.id == receiver


def _class_attribute(info: ClassInfo, name: str) -> bool:
    """Whether the class body gives `name` a value."""
    for node in info.node.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(t, ast.Name) and t.id == name for t in targets):
            return True
    return False
