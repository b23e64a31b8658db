"""Drives the interpreter that has MindSpore: one process for each package, started again behind what killed it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import graphward_worker

from .cells import CellClass

_IMPORTING = 90  # seconds for the import of one module with all that it needs


class Running:
    """`pythons`: package -> interpreter, "" for all others; `packages`: the unpacked wheels; `scratch`: a folder for
    temporary files; `budget`: seconds of search for one Cell; `slots`: processes at once."""

    def __init__(
        self, pythons: dict[str, str], packages: Path, scratch: Path, budget: float, gigabytes: int, slots: int
    ):
        self.pythons = pythons
        self.packages = packages
        self.scratch = scratch
        self.budget = budget
        self.gigabytes = gigabytes
        self.slots = slots

    def results(self, cells: list[CellClass]) -> Iterator[tuple[CellClass, dict[str, Any], float]]:
        """Each Cell with the end of its stage (see graphward_worker.children) and the seconds that it took, as they
        come in."""
        arrived: queue.Queue[tuple[CellClass, dict[str, Any], float]] = queue.Queue()
        pieces: dict[str, list[CellClass]] = {}
        for cell in cells:
            pieces.setdefault(cell.package, []).append(cell)
        halves = []
        for piece in sorted(pieces.values(), key=len, reverse=True):
            cut = len(piece) // 2 if len(piece) > len(cells) / 2 and self.slots > 1 else 0
            halves += [half for half in (piece[:cut], piece[cut:]) if half]
        with ThreadPoolExecutor(self.slots) as pool:
            futures = [pool.submit(self._piece, half, arrived) for half in halves]
            for _ in cells:
                while True:
                    try:
                        yield arrived.get(timeout=1.0)
                        break
                    except queue.Empty:
                        for future in futures:
                            if future.done():
                                future.result()
            for future in futures:
                future.result()

    def _piece(self, cells: list[CellClass], arrived: queue.Queue[Any]) -> None:
        files: dict[str, dict[str, CellClass]] = {}
        for cell in cells:
            files.setdefault(cell.file, {})[cell.name] = cell
        while files:
            for result in self._process(self.packages / cells[0].package, files):
                cell = files[result["file"]].pop(result["name"])
                arrived.put((cell, result["end"], result["seconds"]))
                if not files[result["file"]]:
                    del files[result["file"]]
            if files:  # the process died with the first file that is left
                first = next(iter(files))
                died = {"kind": "crash", "value": None, "reason": "importing"}
                for cell in files.pop(first).values():
                    arrived.put((cell, died, 0.0))

    def _process(self, tree: Path, files: dict[str, dict[str, CellClass]]) -> Iterator[dict[str, Any]]:
        driver = Path(__file__).with_name("driver.py")
        worker = Path(graphward_worker.__file__).parent.parent
        python = self.pythons.get(tree.name, self.pythons[""])
        command = [python, str(driver), str(worker), str(tree), str(self.scratch)]
        with subprocess.Popen(
            [*command, str(self.budget), str(self.gigabytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=self.scratch,
        ) as process:  # fmt: skip
            assert process.stdin is not None and process.stdout is not None
            jobs = "".join(
                json.dumps({"file": file, "names": list(named), "importing": _IMPORTING}) + "\n"
                for file, named in files.items()
            )

            feeder = threading.Thread(target=_feed, args=(process.stdin, jobs), daemon=True)
            feeder.start()
            for line in process.stdout:
                yield json.loads(line)
            feeder.join(timeout=1.0)


def _feed(pipe: Any, text: str) -> None:
    try:
        pipe.write(text)
        pipe.close()
    except BrokenPipeError:
        pass  # the process died; its other files come with the next one
