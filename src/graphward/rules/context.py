"""What a rule sees of the place it looks at, and how it says what it found."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..analysis.inference import Inference
from ..analysis.kinds import TENSOR, Kind
from ..analysis.module import ClassInfo, FunctionInfo, Module
from ..analysis.project import Project
from ..analysis.regions import Reached
from ..analysis.tree import around
from ..source.fixes import Fix
from .finding import Consequence, Finding, Span
from .rewrite import Rewrite
from .rule import Rule


@dataclass(frozen=True)
class Options:
    """What the user chose: `op_style` is "functional", "primitive" or "mint"; `target_version` MindSpore's; `units` the
    parts that are to be graphs of their own, `unit_names` names for units that are cut out; `run_mode` "graph" or
    "jit", what takes the place of PyNative mode; `amp_level` "O1", "O2", "O3" or "auto"."""

    op_style: str = "functional"
    target_version: str = "2.10"
    units: tuple[str, ...] = ()
    unit_names: tuple[str, ...] = ()
    run_mode: str = "graph"
    amp_level: str = "O2"


Value = TypeVar("Value")
_TOLD = TENSOR._replace(evidence="the compiler's error in this line tells of a Tensor")


class Context:
    """A place in a module."""

    def __init__(self, module: Module, inference: Inference, options: Options):
        self.module = module
        self.inference = inference
        self.project: Project = inference.project
        self.options = options

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` gives, worked out once for the whole run and kept as long as its analysis."""
        return self.inference.once(key, make)

    def text(self, node: ast.AST) -> str:
        """The source of a node."""
        return self.module.text(node)

    def span(self, node: ast.AST) -> Span:
        return Span(self.module.start(node), self.module.end(node))

    def _finding(
        self, rule: Rule, node: ast.AST, message: str, region: str, call_path: tuple[str, ...],
        evidence: tuple[str, ...], fixes: tuple[Fix, ...], consequence: Consequence | None,
    ) -> Finding:  # fmt: skip
        return Finding(rule.code, rule.name, message, consequence or rule.consequence, self.span(node), region,
                       call_path, tuple(dict.fromkeys(filter(None, evidence))), fixes)  # fmt: skip


class FunctionContext(Context):
    """A function that a graph region compiles. In the lines `assumed` (1-based), of which the compiler said that
    something is wrong with them, what the analysis does not know for certain is taken for a Tensor."""

    def __init__(
        self, reached: Reached, inference: Inference, options: Options, assumed: frozenset[int] = frozenset()
    ):
        super().__init__(reached.function.module, inference, options)
        self.assumed = assumed
        self.reached = reached
        self.function: FunctionInfo = reached.function
        self.cell: ClassInfo | None = reached.cell

    def kind(self, node: ast.AST) -> Kind:
        """What the analysis knows of an expression of this function."""
        known = self.inference.kind(self.function, node)
        return self._believed(node, known) if self.assumed else known

    def _believed(self, node: ast.AST, known: Kind) -> Kind:
        """A kind in the light of the compiler's error."""
        if getattr(node, "lineno", 0) not in self.assumed or known.certain or known.on_host:
            return known
        if known.is_tensor:
            return known._replace(certain=True)
        return known if self.resolve(node) is not None else _TOLD

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        # What follows from assumptions is no business of those who make none.
        return super().once((key, self.assumed) if self.assumed else key, make)

    def resolve(self, node: ast.AST) -> str | None:
        """The qualified name that an expression means through imports: `np.exp` is `numpy.exp`; else None."""
        return self.function.names.resolve(node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.function.parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, the innermost first and the function last."""
        return around(node, self.function.parents)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node`."""
        current: ast.AST = node
        while not isinstance(current, ast.stmt):
            current = self.function.parents[current]
        return current

    def rewrite(self) -> Rewrite:
        """A new, empty rewrite of this module as seen from this function."""
        return Rewrite(self.module, self.function.names)

    def finding(
        self, rule: Rule, node: ast.AST, message: str, *, evidence: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
        consequence: Consequence | None = None,
    ) -> Finding:  # fmt: skip
        """A finding at `node`; the rule's own consequence unless another is given."""
        path = self.reached.call_path if len(self.reached.path) > 1 else ()
        region = self.reached.region.qualname
        return self._finding(rule, node, message, region, path, evidence, fixes, consequence)


class CellContext(Context):
    """A Cell class."""

    def __init__(self, cell: ClassInfo, inference: Inference, options: Options):
        super().__init__(cell.module, inference, options)
        self.cell = cell

    def rewrite(self, function: FunctionInfo | None = None) -> Rewrite:
        """A new, empty rewrite of this module as seen from `function` (a method), else from the class."""
        return Rewrite(self.module, function.names if function else self.cell.names)

    def finding(
        self, rule: Rule, node: ast.AST, message: str, *, evidence: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
        consequence: Consequence | None = None,
    ) -> Finding:  # fmt: skip
        """A finding at `node`; the region is the class's `construct` where it has one of its own, else the class."""
        own = self.cell.methods.get("construct")
        region = own.qualname if own else self.cell.qualname
        return self._finding(rule, node, message, region, (), evidence, fixes, consequence)
