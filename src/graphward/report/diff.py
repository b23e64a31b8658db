"""Changes as a unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path

from ..source.notebook_text import NotebookText
from ..source.paths import display
from ..source.text import SourceText
from .cells import with_cells


def render_diff(changes: Iterable[tuple[Path, SourceText | None, SourceText | None]], base: Path | None = None) -> str:
    """The diff of `(path, before, after)` as the files stand on disk: encoding, BOM, line endings and missing final
    newlines included. None is a file that is not there. Bytes that are not UTF-8 are surrogates, as `surrogateescape`
    makes them. Files are named from `base` on, else as people see them."""
    return "".join(
        line for path, before, after in changes
        for line in _named(before, after, file_diff(path, _bytes(before), _bytes(after), base=base))
    )  # fmt: skip


def _named(before: SourceText | None, after: SourceText | None, lines: Iterator[str]) -> Iterator[str]:
    if isinstance(before, NotebookText) and isinstance(after, NotebookText):
        return with_cells(lines, before, after)
    return lines


def _bytes(source: SourceText | None) -> bytes | None:
    return None if source is None else source.to_bytes()


def file_diff(
    path: Path, before: bytes | None, after: bytes | None, context: int = 3, base: Path | None = None
) -> Iterator[str]:
    """The lines of one file's diff, each with its end; None is a file that is not there. Lines end at LF alone, as git
    sees them."""
    shown = display(path) if base is None else os.path.relpath(path, base)
    name = shown.replace("\\", "/").lstrip("/")
    old, new = _lines(before or b""), _lines(after or b"")
    source = "/dev/null" if before is None else f"a/{name}"
    target = "/dev/null" if after is None else f"b/{name}"
    for line in unified_diff(old, new, source, target, n=context):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[str]:
    parts = data.decode(errors="surrogateescape").split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines
