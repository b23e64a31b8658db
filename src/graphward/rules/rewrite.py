"""Building a fix: replacements that keep precedence, comments and layout, and the imports that they need."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from ..analysis.module import Module
from ..analysis.names import Names
from ..source.edits import Edit
from ..source.fixes import Applicability, Fix, ImportRequest
from ..source.layout import token_edits
from ..source.precedence import guarded
from ..source.structural import Definition, rewrite_definition

# How a module is imported where a file does not import it yet: (module, name) of `from module import name`.
_IMPORTS = {
    "mindspore.ops": ("mindspore", "ops"), "mindspore.nn": ("mindspore", "nn"), "mindspore.mint": ("mindspore", "mint"),
    "mindspore": ("mindspore", ""),
}  # fmt: skip
_ALIASES = {
    "mindspore.ops": ("ops", "ms_ops"), "mindspore.nn": ("nn", "ms_nn"), "mindspore.mint": ("mint", "ms_mint"),
    "mindspore": ("ms", "mindspore"),
}  # fmt: skip


class Rewrite:
    """Collects the edits of one fix over one module, as seen from the scope `names`."""

    def __init__(self, module: Module, names: Names):
        self._module = module
        self._names = names
        self._edits: list[Edit] = []
        self._imports: list[ImportRequest] = []

    def spell(self, qualified: str) -> str:
        """How to write `mindspore.ops.exp` here: through an import that exists and is not hidden, else through one
        that the fix will add."""
        spelled = self._names.spelling(qualified)
        if spelled is not None:
            return spelled
        module, _, name = qualified.rpartition(".")
        outer, _, inner = module.rpartition(".")
        source, imported = _IMPORTS.get(module, (outer, inner) if outer else (module, ""))
        alias = self._free_alias(module)
        request = ImportRequest(source, imported, alias)
        if request not in self._imports:
            self._imports.append(request)
        return f"{alias}.{name}"

    def request(self, wanted: ImportRequest) -> None:
        """Have an import added that the caller spells himself."""
        if wanted not in self._imports:
            self._imports.append(wanted)

    def _free_alias(self, module: str) -> str:
        for request in self._imports:
            if f"{request.module}.{request.name}".rstrip(".") == module:
                return request.alias
        short = module.rpartition(".")[2]
        candidates = [*_ALIASES.get(module, (short, f"ms_{short}")), *(f"{short}_{i}" for i in range(2, 100))]
        return next(c for c in candidates if not self._taken(c))

    def _taken(self, name: str) -> bool:
        module = self._module
        if name in module.names.aliases or name in module.definitions or name in module.assignments:
            return True
        if name in module.global_names:
            return True
        return self._names.is_local(name)

    def replace(self, node: ast.expr, text: str, parent: ast.AST | None) -> None:
        """Replace an expression; parentheses are added where `parent` asks for them, comments inside `node` are kept,
        above the line if their place is gone."""
        text = guarded(text, node, parent)
        edits, lost = token_edits(self._module.text(node), text, self._module.start(node))
        self._edits += edits
        if lost:
            line = node.lineno
            indent = self._module.source.indent(line)
            self.insert(self._module.source.offset(line, 0), "".join(f"{indent}{c}{self._newline}" for c in lost))

    def replace_span(self, start: int, end: int, text: str) -> None:
        """Replace bytes as they are; the caller answers for precedence and comments."""
        self._edits.append(Edit(start, end, text))

    def insert(self, offset: int, text: str, order: int = 0) -> None:
        """Insert at a byte offset; texts inserted at one place follow each other. With an `order`, insertions of
        other fixes at the same place can be applied together with this one, sorted by it."""
        for i, edit in enumerate(self._edits):
            if edit.start == edit.end == offset and edit.order == order:
                self._edits[i] = Edit(offset, offset, edit.text + text, order)
                return
        self._edits.append(Edit(offset, offset, text, order))

    def structural(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
        transform: Callable[[Definition], Definition],
    ) -> None:
        """Rewrite a function or class with LibCST. Raises ValueError (see `rewrite_definition`)."""
        self._edits += rewrite_definition(self._module.source, node, transform)

    @property
    def _newline(self) -> str:
        return self._module.source.newline

    def safe(self, title: str, *, restores_gradient: bool = False) -> Fix:
        return self._fix(title, Applicability.SAFE, "", restores_gradient)

    def unsafe(
        self, title: str, reason: str, *, restores_gradient: bool = False, compile_units: bool = False
    ) -> Fix:
        fix = self._fix(title, Applicability.UNSAFE, reason, restores_gradient)
        return replace(fix, compile_units=compile_units)

    def manual(self, title: str, reason: str) -> Fix:
        """Shown, never applied; edits are optional."""
        return self._fix(title, Applicability.MANUAL, reason, False)

    def _fix(self, title: str, applicability: Applicability, reason: str, restores_gradient: bool) -> Fix:
        edits = tuple(sorted(self._edits))
        return Fix(title, edits, applicability, reason, tuple(self._imports), restores_gradient)
