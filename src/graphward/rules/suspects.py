"""Lines that the compiler refused although the analysis saw nothing certain in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..analysis.module import FunctionInfo


@dataclass(frozen=True)
class Suspect:
    """A line of a function that an error of the compiler points at; `rules` are codes, or beginnings of codes, of what
    can mend such an error. `line` is the text without the space around it: numbers change with every edit."""

    path: Path
    function: str
    line: bytes
    rules: tuple[str, ...]

    def lines_in(self, function: FunctionInfo) -> frozenset[int]:
        """Where (1-based) that text stands in a function of today; empty when it is another function or it has gone."""
        if function.qualname != self.function or function.module.path != self.path:
            return frozenset()
        source = function.module.source
        numbers = range(function.node.lineno, (function.node.end_lineno or function.node.lineno) + 1)
        return frozenset(n for n in numbers if source.line_bytes(n).strip() == self.line)
