"""What the analysis costs on one large file, beside `ast.parse` of the same file."""

from __future__ import annotations

import ast
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from graphward.engine.check import analyse
from graphward.engine.workspace import Workspace

SIZE = 318_000


def large_file(tree: Path) -> str:
    """Model files of a package, joined until the text is as large as the largest that real packages hold."""
    text = ""
    for path in sorted(tree.rglob("modeling_*.py")):
        part = path.read_text(encoding="utf-8")
        if "from __future__" not in part:
            text += part + "\n"
        if len(text) >= SIZE:
            break
    return text


def report_cost(tree: Path) -> None:
    """Prints the CPU seconds of names, regions and the kinds of every reached function, best of three."""
    text = large_file(tree)
    gc.disable()
    try:
        parse = min(_seconds(lambda: ast.parse(text)) for _ in range(3))
        with tempfile.TemporaryDirectory(prefix="graphward-agreement-") as folder:
            path = Path(folder) / "net.py"
            path.write_text(text, encoding="utf-8")
            whole = min(_seconds(lambda: _analyse(path)) for _ in range(3))
    finally:
        gc.enable()
    print(f"one file of {len(text) // 1000} kB: analysis with all kinds {whole:.2f} s, {whole / parse:.1f} x ast.parse")


def _analyse(path: Path) -> None:
    analysis = analyse(Workspace([path]))
    for function in analysis.reached:
        analysis.inference.function(function)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
