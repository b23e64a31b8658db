"""Runs under the interpreter that has MindSpore: infers inputs for Cells, one forked child for each.

The process imports the modules of one package one after the other and never runs an operator itself; what a module
does to this process stays for the modules behind it, which makes importing them affordable. Jobs come as JSON lines on
standard input (`file`, `names`, `importing`: seconds); results leave as JSON lines on standard output.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
from typing import Any

_GIGABYTE = 1 << 30


def main(worker: str, tree: str, scratch: str, budget: float, gigabytes: int) -> None:
    sys.path[:0] = [tree, worker]
    os.environ["MS_JIT"] = "0"
    os.environ.setdefault("GLOG_v", "3")
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import mindspore as ms

    from graphward_worker import infer, messages
    from graphward_worker.children import Child
    from graphward_worker.standins.install import install

    ms.set_context(mode=ms.PYNATIVE_MODE)

    install(_lacking(scratch))

    def stage(request: dict[str, Any], report: Any) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (gigabytes * _GIGABYTE, gigabytes * _GIGABYTE))
        infer.infer_in(request["module"], request, report)

    for line in sys.stdin:
        job = json.loads(line)
        error = None
        module = None
        signal.alarm(int(job["importing"]))  # the end of this process; the client starts another one behind this job
        try:
            name = job["file"].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            module = importlib.import_module(name)
        except BaseException as failure:
            error = messages.describe(failure, "import", tree)
        signal.alarm(0)
        for name in job["names"]:
            end: dict[str, Any] = {"kind": "done", "value": {"error": error}}
            started = time.monotonic()
            if error is None:
                request = {"tree": tree, "file": job["file"], "expr": name, "budget": budget, "module": module}
                child = Child(stage, request, 2 * budget + 5, scratch, ())
                while (found := child.poll()) is None:
                    time.sleep(0.02)
                end = found
            seconds = round(time.monotonic() - started, 2)
            result = {"file": job["file"], "name": name, "seconds": seconds, "end": end}
            print(json.dumps(result, default=str), file=results, flush=True)
    os._exit(0)


def _lacking(scratch: str) -> list[str]:
    """The kernels that this machine lacks; a probe that dies goes on behind what killed it."""
    from graphward_worker.children import Child
    from graphward_worker.standins.lacking import SECONDS, Equipment, probe

    equipment = Equipment()
    while not equipment.known:
        child = Child(probe, {"start": equipment.probed}, SECONDS, scratch, ())
        while (end := child.poll()) is None:
            time.sleep(0.02)
        equipment.learn(end)
    return sorted(equipment.kernels)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5]))
