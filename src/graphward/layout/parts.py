"""The text of each module of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from .items import Item, Kind
from .loading import Step
from .needs import Needs
from .rewording import reads_file, reworded
from .structure import Structure

_WIDTH = 88
_PATH = "from pathlib import Path as _Path"
SCRIPT = "_run_script"


class Writer:
    """Writes the modules of the package that a file becomes; all texts end lines as the file does."""

    def __init__(self, structure: Structure):
        self.structure = structure
        self.reading = structure.reading
        self._newline = self.reading.source.newline
        used = {n.id for i in self.reading.items for s in i.nodes for n in ast.walk(s) if isinstance(n, ast.Name)}
        self.file_name = next(n for n in ("_FILE", "_MODULE_FILE", "_FILE_OF_THE_MODULE_") if n not in used)

    def part(self, title: str, items: Sequence[Item], needs: Needs) -> str:
        """A part: the licence, a docstring, imports, and its items."""
        body = [self._script(i) if i.kind is Kind.MAIN else reworded(i, self.file_name) for i in items]
        return self._module(f'"""{title}"""', items, needs, body)

    def init(self, steps: Sequence[Step], exports: Mapping[str, Sequence[str]], live: Mapping[str, str]) -> str:
        """The package itself: what stays there, and the old names. `live` says in which part a name is that has to be
        read and set there."""
        pieces = [self.reading.header.decode()]
        if pieces[0].startswith("#!"):
            pieces[0] = pieces[0][len(pieces[0].splitlines(keepends=True)[0]) :]
        stay = [step for step in steps if isinstance(step, Item)]
        placed = not any(map(reads_file, stay))
        previous: Step | None = None
        for step in steps:
            if not placed and isinstance(step, Item) and step.kind not in (Kind.DOCSTRING, Kind.FUTURE):
                pieces.append(self._lines(["", _PATH, "", *self._file_lines()]))
                placed = True
            if isinstance(step, Item):
                pieces.append(reworded(step, self.file_name, init=True))
            elif exports[step]:
                if not isinstance(previous, str):
                    pieces.append(self._newline)
                pieces.append(self._lines(from_import(f".{step}", exports[step])))
            else:
                pieces.append(self._lines([f"from . import {step} as _{step}"]))
            previous = step
        if live:
            pieces.append(self._lines(["", *_live(live)]))
        return self._whole("".join(pieces))

    def main(self, needs: Needs, package: str, where: str) -> str:
        """`__main__`: the block of the script, or the call of the part `where` in which it has to run, or nothing, when
        the package runs it as it is imported."""
        title = f'"""What `python -m {package}` runs."""'
        block = self.structure.main
        if block is None:
            title = f'"""`python -m {package}` imports the package, and that runs the script."""'
            return self._module(title, [], Needs(), [])
        if where:
            lines = ["", 'if __name__ == "__main__":', f"    {SCRIPT}()"]
            return self._module(title, [], Needs(parts={where: [SCRIPT]}), [self._lines(lines)])
        return self._module(title, [block], needs, [reworded(block, self.file_name, script=True)], shebang=True)

    def _module(
        self, title: str, items: Sequence[Item], needs: Needs, body: list[str], shebang: bool = False
    ) -> str:
        head = self.reading.licence.decode()
        first = self.reading.header.decode().splitlines(keepends=True)[:1]
        if shebang and first and first[0].startswith("#!"):
            head = first[0] + head
        lines = [title]
        if any(i.kind is Kind.FUTURE for i in self.reading.items):
            lines.append("")
            for item in (i for i in self.reading.items if i.kind is Kind.FUTURE):
                lines += self.reading.source.utf8[item.code : item.end].decode().splitlines()
        placed = any(map(reads_file, items))
        lines += ["", _PATH] if placed else []
        lines += self._imports(needs)[1 if placed else 0 :]
        lines += ["", *self._file_lines()] if placed else []
        return self._whole(head + self._lines(lines) + self._spaced(items, body))

    def _imports(self, needs: Needs) -> list[str]:
        lines: list[str] = []
        previous: Item | None = None
        for item, names in needs.imports.items():
            if previous is None or self._apart(previous, item):
                lines.append("")
            lines += self._import(item, names)
            previous = item
        if needs.parts:
            lines.append("")
            for stem, wanted in needs.parts.items():
                lines += from_import(f".{stem}", wanted)
        if needs.hints:
            checking = [i for i in needs.imports if "TYPE_CHECKING" in i.symbols.binds]
            lines += ["", *([] if checking else ["from typing import TYPE_CHECKING", ""]), "if TYPE_CHECKING:"]
            for stem, wanted in needs.hints.items():
                lines += [f"    {line}" for line in from_import(f".{stem}", wanted)]
        return lines

    def _import(self, item: Item, names: set[str]) -> list[str]:
        """An import with no more than the wanted names; as it is written when all are."""
        node = item.nodes[0]
        single = len(item.nodes) == 1 and names < item.symbols.binds.keys()
        if single and isinstance(node, (ast.Import, ast.ImportFrom)):
            wanted = [a for a in node.names if (a.asname or a.name.split(".")[0]) in names]
            texts = [f"{a.name} as {a.asname}" if a.asname else a.name for a in wanted]
            if isinstance(node, ast.Import):
                return [f"import {text}" for text in texts]
            dots = "." * (node.level + 1) if node.level else ""
            return from_import(f"{dots}{node.module or ''}", texts)
        text = reworded(item, self.file_name)
        skipped = item.source.utf8[item.start : item.code].decode().count("\n") if item.code > item.start else 0
        return text.splitlines()[skipped:] if self._newline != "\r" else text.split("\r")

    def _apart(self, before: Item, item: Item) -> bool:
        """Whether the file has an empty line between two imports, or another statement."""
        between = self.reading.source.utf8[before.end : item.code]
        return any(not line.strip() for line in between.splitlines())

    def _script(self, block: Item) -> str:
        """The script's block as a function of the part that it sets names of; the body stays as it is."""
        node = block.nodes[0]
        assert isinstance(node, ast.If)
        source = block.source
        text = reworded(block, self.file_name, script=True)
        start = source.offset(node.lineno, 0) - block.start
        head = source.offset(node.body[0].lineno, 0) - block.start
        names = ", ".join(dict.fromkeys([*block.symbols.binds, *sorted(block.symbols.writes)]))
        declared = f"global {names}" if names else ""
        raw = text.encode()
        if head == start:  # on the line of the test
            body = source.utf8[source.offset(node.body[0].lineno, node.body[0].col_offset) : block.end].decode()
            return f"{raw[:start].decode()}def {SCRIPT}() -> None: {declared}{'; ' if declared else ''}{body}"
        indent = source.indent(node.body[0].lineno)
        lines = [f"def {SCRIPT}() -> None:", *([indent + declared] if declared else [])]
        above = raw[source.offset(node.lineno, 0) - block.start :].splitlines(keepends=True)
        skipped = _lines_of_test(node)
        return raw[:start].decode() + self._lines(lines) + b"".join(above[skipped:]).decode()

    def _file_lines(self) -> list[str]:
        note = "# Where the module was before it became this package."
        return [note, f'{self.file_name} = f"{{_Path(__file__).parent}}.py"']

    def _spaced(self, items: Sequence[Item], body: list[str]) -> str:
        """The items with the empty lines that they had, and at least those that stand between definitions."""
        pieces = []
        for i, text in enumerate(body):
            item = items[i] if i < len(items) else None
            if i == 0:
                text = text.lstrip("\r\n")
                text = self._newline * (2 if item is not None and item.kind is Kind.DEFINITION else 1) + text
            if text and not text.endswith(("\n", "\r")):
                text += self._newline
            pieces.append(text)
        return "".join(pieces)

    def _lines(self, lines: Iterable[str]) -> str:
        return "".join(line + self._newline for line in lines)

    def _whole(self, text: str) -> str:
        return text.rstrip("\r\n \t") + self._newline


def from_import(module: str, names: Sequence[str]) -> list[str]:
    """`from module import names`, one a line where a line would be too long."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]


def _lines_of_test(node: ast.If) -> int:
    """How many lines `if __name__ == "__main__":` takes."""
    return (node.test.end_lineno or node.lineno) - node.lineno + 1


def _live(live: Mapping[str, str]) -> list[str]:
    stems = list(dict.fromkeys(live.values()))
    where = [f'    "{name}": _{stem},' for name, stem in live.items()]
    return [
        "import sys as _sys",
        "from types import ModuleType as _ModuleType",
        "",
        *(f"from . import {stem} as _{stem}" for stem in stems),
        "",
        "_LIVE = {",
        *where,
        "}",
        "",
        "",
        "class _Package(_ModuleType):",
        '    """Names that are assigned while the program runs exist once, in their part."""',
        "",
        "    def __getattr__(self, name):",
        "        if name in _LIVE:",
        "            return getattr(_LIVE[name], name)",
        '        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")',
        "",
        "    def __setattr__(self, name, value):",
        "        if name in _LIVE:",
        "            setattr(_LIVE[name], name, value)",
        "        else:",
        "            super().__setattr__(name, value)",
        "",
        "    def __delattr__(self, name):",
        "        if name in _LIVE:",
        "            delattr(_LIVE[name], name)",
        "        else:",
        "            super().__delattr__(name)",
        "",
        "",
        "_sys.modules[__name__].__class__ = _Package",
    ]
