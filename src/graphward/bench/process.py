"""One measurement: a fresh process under the user's interpreter, from its request to what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import graphward_worker

from ..analysis.module import module_name
from ..errors import GraphwardError

_TAIL = 600


def measure(
    request: Mapping[str, Any], python: str | None, timeout: float, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What `graphward_worker.bench.units` found; `error` says why there is nothing. Raises GraphwardError where the
    interpreter cannot be started."""
    script = Path(graphward_worker.__file__).parent / "bench" / "start.py"
    with tempfile.TemporaryDirectory(prefix="graphward-bench-") as folder:
        asked, found = Path(folder, "request.json"), Path(folder, "found.json")
        asked.write_text(json.dumps(dict(request)), encoding="utf-8")
        entry = Path(folder, "entry.py")
        entry.write_text(f"import {module_name(Path(request['tree'], request['file']))}\n", encoding="utf-8")
        command = [python or sys.executable, str(script), str(entry), "--request", str(asked), "--out", str(found)]
        everything = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "GLOG_v": "3", **(environment or {})}
        try:
            done = subprocess.run(
                command, cwd=folder, env=everything, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no result within {timeout:g} s"}
        except OSError as error:
            raise GraphwardError(f"cannot run {command[0]}: {error.strerror}", hint="check --python") from None
        if not found.exists():
            tail = done.stderr[-_TAIL:].decode(errors="replace").strip()
            return {"error": tail or f"the process ended with status {done.returncode}"}
        result: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
        return result
