"""Evaluate NumPy calls and their MindSpore equivalents and compare them; runs under an interpreter with MindSpore.

usage: python measure_numpy.py JOBS.json RESULTS.json

A job is {"id", "numpy": expression, "mindspore": {style: expression}, "alone": [style], "dtype",
"domain", "gradient": whether to differentiate the functional form}. The result maps each id and
style to {"pynative": outcome, "graph": outcome, "detail": text}; an outcome is "same", "A -> B" (equal values, NumPy's
dtype A and MindSpore's B), "differs", "rejects", "numpy-rejects", "no-kernel" or "crashes". "graph" is the value of
``ms.jit(fullgraph=True)``. The parent never compiles; each batch runs in a forked child, so that a crash of the
compiler costs one batch, which is then taken apart.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from outcomes import worst

BATCH = 24
CHILDREN = 2
SECONDS = 120


def samples(dtype: str, domain: str) -> dict[str, np.ndarray]:
    """The sample arrays by name; ``c``, ``i``, ``ia`` and ``n`` keep their own dtype."""
    random = np.random.RandomState(7)

    def array(*shape: int, low: int = -4) -> np.ndarray:
        if domain == "positive":
            values = random.uniform(0.2, 3.0, shape)
        elif domain == "above_one":
            values = random.uniform(1.0, 3.0, shape)
        elif domain == "unit":
            values = random.uniform(-0.9, 0.9, shape)
        else:
            values = random.uniform(low, 4.0, shape)
        if dtype == "bool":
            return values > values.mean()
        if dtype == "int32":
            return (
                np.ceil(values).astype(np.int32)
                if domain in ("positive", "above_one")
                else np.round(values).astype(np.int32)
            )
        return values.astype(dtype)

    a, b, v, w, s, t, u = (array(*shape) for shape in ((2, 3), (2, 3), (3,), (3,), (3, 3), (2, 3, 4), (1, 3, 1)))
    if dtype == "int32":
        b = np.where(b == 0, 2, b).astype(np.int32)
    n = np.array([[1.5, np.nan, -2.0], [np.inf, -np.inf, 0.25]], np.float32)
    spd = (s.astype(np.float64) @ s.astype(np.float64).T + 3 * np.eye(3)).astype(s.dtype)
    return {
        "a": a, "b": b, "v": v, "w": w, "s": s, "t": t, "u": u, "n": n, "spd": spd,
        "sv": np.sort(v), "ia": np.argsort(a, 1), "c": np.array([[True, False, True], [False, False, True]]),
        "i": np.array([2, 0], np.int64) if dtype != "bool" else np.array([1, 0], np.int64),
    }  # fmt: skip


def compare(expected: object, got: object) -> str:
    """How the value of MindSpore compares with that of NumPy, on arrays or on tuples of them."""
    if isinstance(expected, (tuple, list)) or isinstance(got, (tuple, list)):
        if not isinstance(expected, (tuple, list)) or not isinstance(got, (tuple, list)) or len(expected) != len(got):
            return "differs"
        return worst([compare(e, g) for e, g in zip(expected, got)]) if expected else "same"
    left = np.asarray(expected)
    right = got.asnumpy() if hasattr(got, "asnumpy") else np.asarray(got)
    if left.shape != right.shape:
        return "differs"
    if left.dtype == bool or right.dtype == bool or (left.dtype.kind in "iu" and right.dtype.kind in "iu"):
        equal = bool((left == right).all())
    else:
        tolerance = 2e-3 if "float16" in (left.dtype.name, right.dtype.name) else 2e-5
        equal = bool(
            np.allclose(left.astype(np.float64), right.astype(np.float64), tolerance, tolerance, equal_nan=True)
        )
    if not equal:
        return "differs"
    return "same" if left.dtype == right.dtype else f"{left.dtype} -> {right.dtype}"


def failure(error: BaseException) -> str:
    text = str(error)
    marks = (
        "Unsupported op",
        "unsupported op",
        "not support on CPU",
        "Kernel select failed",
        "not registered",
        "unregistered",
        "is not supported on CPU",
        "can not find",
        "CPU kernel",
        "is currently not supported on CPU",
        "only supports Ascend",
    )
    return "no-kernel" if any(mark in text for mark in marks) else "rejects"


def measure_batch(jobs: list[dict]) -> dict:
    """The outcomes of the jobs, evaluated in this process."""
    import mindspore as ms
    from mindspore import mint, ops

    ms.runtime.launch_blocking()  # else an operator that fails is reported by a later one
    results: dict = {}
    groups: dict[tuple[str, str, str], list[tuple[dict, str, object]]] = {}
    for job in jobs:
        arrays = samples(job["dtype"], job["domain"])
        tensors = {name: ms.Tensor(array) for name, array in arrays.items()}
        results[job["id"]] = {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = eval(job["numpy"], {"np": np}, dict(arrays))
        except Exception as error:
            for style in job["mindspore"]:
                results[job["id"]][style] = {
                    "pynative": "numpy-rejects",
                    "graph": "numpy-rejects",
                    "detail": str(error)[:200],
                }
            continue
        for style, expression in job["mindspore"].items():
            entry = results[job["id"]][style] = {"pynative": "", "graph": "", "detail": ""}
            try:
                got = eval(expression, {"ops": ops, "mint": mint, "ms": ms, **tensors})
                entry["pynative"] = compare(expected, got)
                if entry["pynative"] == "differs":
                    entry["detail"] = f"numpy {expected!r}; mindspore {got!r}"[:400]
            except Exception as error:
                entry["pynative"] = entry["graph"] = failure(error)
                entry["detail"] = str(error)[:300]
                continue
            # What is known not to compile goes alone: it would take the rest of its batch with it.
            key = (job["dtype"], job["domain"], job["id"] if style in job["alone"] else "")
            groups.setdefault(key, []).append((entry, expression, expected))
            if style == "functional" and job["gradient"]:
                try:
                    entry["gradient"] = gradient(expression, tensors)
                except Exception as error:
                    entry["gradient"] = f"raises {str(error)[:200]}"
    for (dtype, domain, _), members in groups.items():
        graph_outcomes(members, {name: ms.Tensor(array) for name, array in samples(dtype, domain).items()})
    return results


def gradient(expression: str, tensors: dict) -> float | None:
    """The largest gradient of the sum of the result with respect to any float32 sample; None when the result is no
    float Tensor, which has no gradient at all."""
    import mindspore as ms
    from mindspore import mint, ops

    names = [name for name, tensor in tensors.items() if tensor.dtype == ms.float32]

    def total(*values):
        result = eval(expression, {"ops": ops, "mint": mint, "ms": ms, **tensors, **dict(zip(names, values))})
        return result.sum()

    result = eval(expression, {"ops": ops, "mint": mint, "ms": ms, **tensors})
    if not isinstance(result, ms.Tensor) or result.dtype not in (ms.float16, ms.float32, ms.float64):
        return None
    gradients = ms.grad(total, tuple(range(len(names))))(*(tensors[name] for name in names))
    return max(float(np.abs(g.asnumpy()).max()) for g in gradients)


def graph_outcomes(members: list[tuple[dict, str, object]], tensors: dict) -> None:
    """Fill in ``graph`` of each member: all in one compile; when that fails, half by half down to the culprit."""
    try:
        values = run_graph([expression for _, expression, _ in members], tensors)
        for (entry, _, expected), value in zip(members, values):
            entry["graph"] = compare(expected, value)
            if entry["graph"] == "differs":
                entry["detail"] += f"graph {value!r}"[:300]
    except Exception as error:
        if len(members) == 1:
            members[0][0]["graph"] = failure(error)
            members[0][0]["detail"] = str(error)[:300]
            return
        middle = len(members) // 2
        graph_outcomes(members[:middle], tensors)
        graph_outcomes(members[middle:], tensors)


def run_graph(expressions: list[str], tensors: dict) -> tuple:
    """The values of the expressions from one fullgraph function; the compiler reads its source from a file."""
    import importlib.util

    import mindspore as ms

    run_graph.count = getattr(run_graph, "count", 0) + 1
    path = Path(f"graph_{os.getpid()}_{run_graph.count}.py")
    names = ", ".join(tensors)
    body = "\n".join(f"        {expression}," for expression in expressions)
    path.write_text(
        f"import mindspore as ms\nfrom mindspore import mint, ops\n\ndef run({names}):\n    return (\n{body}\n    )\n"
    )
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return ms.jit(module.run, fullgraph=True)(*tensors.values())


def child(jobs: list[dict], target: Path) -> None:
    try:
        target.write_text(json.dumps(measure_batch(jobs)))
    finally:
        os._exit(0)


def run(jobs: list[dict]) -> dict:
    """All outcomes; batches that crash or run out of time are halved until the job that did it is alone."""
    queue = [jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)]
    running: dict[int, tuple[list[dict], Path, float]] = {}
    results: dict = {}
    serial = 0
    while queue or running:
        while queue and len(running) < CHILDREN:
            batch = queue.pop(0)
            target = Path(f"result_{serial}.json").resolve()
            serial += 1
            pid = os.fork()
            if pid == 0:
                child(batch, target)
            running[pid] = (batch, target, time.monotonic())
        for pid in list(running):
            batch, target, started = running[pid]
            done, _ = os.waitpid(pid, os.WNOHANG)
            if not done and time.monotonic() - started > SECONDS:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                done = pid
            if not done:
                continue
            del running[pid]
            if target.exists():
                results.update(json.loads(target.read_text()))
            elif len(batch) == 1:
                results[batch[0]["id"]] = {
                    style: {"pynative": "crashes", "graph": "crashes", "detail": ""} for style in batch[0]["mindspore"]
                }
            else:
                middle = len(batch) // 2
                queue += [batch[:middle], batch[middle:]]
        time.sleep(0.02)
    return results


def main() -> None:
    jobs_path, results_path = (Path(argument).resolve() for argument in sys.argv[1:3])
    import mindspore  # noqa: F401  (imported before forking so that the children share it)

    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        results = run(json.loads(jobs_path.read_text()))
        results_path.write_text(json.dumps(results))
        os.chdir("/")


if __name__ == "__main__":
    main()
