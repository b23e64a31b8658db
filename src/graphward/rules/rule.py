"""What a codemod is: a class with a code, a page, and the places that it looks at."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from ..knowledge.behaviours import behaviours
from .finding import Consequence, Finding

if TYPE_CHECKING:
    from .context import CellContext, FunctionContext
    from .module_context import ModuleContext

FAMILIES = {
    "GW1": "host values", "GW2": "Cell structure", "GW3": "control flow", "GW4": "containers and types",
    "GW5": "native operators", "GW6": "compile units and graph cache", "GW7": "run setup",
    "GW8": "removed and renamed API", "GW9": "silent divergence",
}  # fmt: skip
PAGE_SECTIONS = ("What it finds", "Why", "Example", "What the rewrite assumes", "When it is unsafe", "References")


class Rule:
    """Base class of all codemods.

    `triggers`: bytes of which a file must hold at least one for the rule to run on it (a test proves that no
    fixture lacks them). `targets`: the MindSpore versions that the rule speaks of, `>=2.7` or `>=2.7,<2.9`.
    `nodes`: the node types that `visit` wants. `names`: of calls, attributes and names, only those with one of these as
    the last part of the name (`exp` of `ops.exp(x)`), or with an import's alias of one; empty for all. `constructors`:
    of calls, only those of a name that is spelled like a class. `opt_in`: runs only where a selector names it by its
    code or name. The docstring is the rule's page, in the sections of
    PAGE_SECTIONS.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    consequence: ClassVar[Consequence]
    triggers: ClassVar[tuple[bytes, ...]]
    targets: ClassVar[str] = ">=2.7"
    nodes: ClassVar[tuple[type[ast.AST], ...]] = ()
    names: ClassVar[frozenset[str]] = frozenset()
    constructors: ClassVar[bool] = False
    opt_in: ClassVar[bool] = False

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        """Called for each node of a type in `nodes` in each function that a graph region compiles."""
        return ()

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        """Called once for each function that a graph region compiles."""
        return ()

    def visit_cell(self, context: CellContext) -> Iterable[Finding]:
        """Called once for each Cell class."""
        return ()

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        """Whether a file that holds a trigger is worth a visit, as far as its bytes tell: a second look, for rules
        whose triggers are common."""
        return True

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        """Called once for each file that holds a trigger and names MindSpore, with graph code or without."""
        return ()

    @classmethod
    def page(cls) -> str:
        """The rule's page: its docstring, and what other versions of MindSpore do."""
        page = inspect.cleandoc(cls.__doc__ or "")
        others = "\n".join(f"- MindSpore {b.versions}: {b.says}" for b in behaviours(cls.code))
        return f"{page}\n\n## Other versions\n\n{others}" if others else page

    @classmethod
    def summary(cls) -> str:
        """The first sentence of the page."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n\n", 1)[0].replace("\n", " ")

    @classmethod
    def family(cls) -> str:
        return FAMILIES[cls.code[:3]]

    @classmethod
    def overrides(cls, method: str) -> bool:
        """Whether the rule takes part in that kind of visit."""
        return getattr(cls, method) is not getattr(Rule, method)
