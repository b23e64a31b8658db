"""Writes `src/graphward/knowledge/renames_<version>.json`: what an installed MindSpore exports, and what it deprecates.

    python scripts/generate_renames.py    # under the interpreter that has the MindSpore to be described

`modules` holds the public names of each public module (`dir()` after the import, submodules included); a module that
cannot be imported on this machine, or is hidden by another name of its package, stands there with `*`, "anything".
`deprecated` are the names under the wheel's own `@deprecated(version, substitute)`, as read from its sources and found
among the exports; `moved` the modules that the wheel marks as shims of others; `keywords` the parameters of each
callable of the modules in CALLED that takes no others; `context` what `set_context` says of each of its keys, asked by
calling it.

Nothing here is written by hand: `renames.toml` adds what a wheel does not tell, and is checked against these tables and
against the wheels by `tests/knowledge/test_renames.py`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import logging
import pkgutil
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "graphward" / "knowledge"
# What builds the wheel, and what registers overloads: nobody imports from there.
INTERNAL = ("mindspore.ops_generate", "mindspore.ops.composite.multitype_ops", "mindspore.ops.vm_impl_registry")
# Under which public modules the definitions of a folder of the wheel appear.
HOMES = {
    "ops": ("mindspore.ops", "mindspore.ops.operations", "mindspore.ops.function"), "nn": ("mindspore.nn",),
    "communication": ("mindspore.communication", "mindspore.communication.comm_func"), "common": ("mindspore",),
    "utils": ("mindspore.utils",), "train": ("mindspore.train", "mindspore"), "parallel": ("mindspore.parallel",),
    "numpy": ("mindspore.numpy",), "dataset": ("mindspore.dataset",), "mint": ("mindspore.mint",),
    "amp.py": ("mindspore.amp",), "hal": ("mindspore.hal",), "runtime": ("mindspore.runtime",),
}  # fmt: skip
# Modules whose callables are asked for their parameters.
CALLED = (
    "mindspore", "mindspore.ops", "mindspore.nn", "mindspore.mint", "mindspore.mint.nn", "mindspore.mint.nn.functional",
    "mindspore.mint.optim", "mindspore.numpy", "mindspore.amp", "mindspore.train", "mindspore.dataset",
    "mindspore.dataset.vision", "mindspore.dataset.transforms", "mindspore.dataset.text", "mindspore.dataset.audio",
    "mindspore.communication", "mindspore.common.initializer", "mindspore.ops.operations", "mindspore.ops.functional",
)  # fmt: skip
# Keys of `set_context` that are asked for with these values.
CONTEXT = {
    "mode": 1, "device_target": "CPU", "device_id": 0, "save_graphs": False, "save_graphs_path": ".",
    "enable_graph_kernel": False, "graph_kernel_flags": "", "reserve_class_name_in_scope": True, "check_bprop": False,
    "max_call_depth": 1000, "enable_sparse": True, "grad_for_scalar": False, "enable_compile_cache": False,
    "compile_cache_path": ".", "runtime_num_threads": 2, "pynative_synchronize": False, "precompile_only": False,
    "inter_op_parallel_num": 0, "auto_tune_mode": "NO_TUNE", "enable_auto_mixed_precision": False, "debug_level": 0,
    "enable_reduce_precision": True, "variable_memory_max_size": "30GB", "max_device_memory": "30GB",
    "mempool_block_size": "1GB", "memory_optimize_level": "O0", "memory_offload": "OFF", "print_file_path": "",
    "env_config_path": "", "enable_dump": False, "save_dump_path": ".", "enable_profiling": False,
    "profiling_options": "training_trace", "enable_task_sink": True, "enable_loop_sink": True, "enable_mem_reuse": True,
    "enable_auto_mixed_precision_flag": True, "save_compile_cache": False, "load_compile_cache": False,
    "deterministic": "OFF", "jit_syntax_level": 2, "jit_config": {}, "jit_level": "O0", "exec_order": "bfs",
    "ascend_config": {}, "gpu_config": {}, "aoe_tune_mode": "online", "aoe_config": {}, "op_timeout": 900,
    "exception_dump": "2", "disable_format_transform": False, "op_debug_option": "oom", "topo_order": {},
    "jit_enable_inplace_ops": True, "enable_data_sync": True, "disable_view_op": False,
}  # fmt: skip


def public_modules() -> Iterator[str]:
    import mindspore

    yield "mindspore"
    for info in pkgutil.walk_packages(mindspore.__path__, "mindspore.", onerror=lambda name: None):
        private = any(part.startswith("_") for part in info.name.split("."))
        if not private and not info.name.startswith(INTERNAL):
            yield info.name


def exports(names: list[str]) -> dict[str, str]:
    """Public names by module, separated by spaces; `*` where they cannot be told."""
    found = {}
    for name in names:
        try:
            module = importlib.import_module(name)
        except BaseException:  # a module may want a device, a library, or to end the program
            found[name] = "*"
            continue
        found[name] = " ".join(sorted(n for n in dir(module) if not n.startswith("_")))
    for name in found:
        # A package may export something else under the name of its module, and then `package.name` is not the module.
        holder, _, last = name.rpartition(".")
        if holder in sys.modules and getattr(sys.modules[holder], last, None) is not sys.modules.get(name):
            found[name] = "*"
    return found


def keywords(modules: dict[str, str]) -> dict[str, dict[str, str]]:
    """`{module: {callable: "its parameters, separated by spaces"}}`."""
    found: dict[str, dict[str, str]] = {}
    for name in CALLED:
        module = importlib.import_module(name)
        known = {n: parameters for n in modules[name].split() if (parameters := taken(getattr(module, n))) is not None}
        found[name] = {n: " ".join(p) for n, p in known.items()}
    for twin in ("mindspore.ops.operations", "mindspore.ops.functional"):
        found[twin] = {n: p for n, p in found[twin].items() if found["mindspore.ops"].get(n) != p}
    return found


def taken(held: Any) -> list[str] | None:
    """The names of the parameters; None for what is no callable of MindSpore's or takes any keyword."""
    if not callable(held) or not str(getattr(held, "__module__", "")).startswith("mindspore"):
        return None
    try:
        parameters = inspect.signature(held).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
        return None
    return [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]


def deprecated(modules: dict[str, str]) -> dict[str, dict[str, str]]:
    """`{name: {"since": version, "instead": substitute}}`, by each path that an import may take; `public` is the short
    one, where this is not it."""
    import mindspore

    root = Path(mindspore.__file__).parent
    found: dict[str, dict[str, str]] = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "deprecated(" not in text:
            continue
        top = path.relative_to(root).parts[0]
        for qualname, since, instead in marked(ast.parse(text)):
            mark = {"since": since, "instead": instead}
            publics = sorted(places(qualname, path, HOMES.get(top, ()), modules), key=len)
            found.update(dict.fromkeys(publics, mark))
            if "." not in qualname:
                # The module that defines it; some operators are exported by no other.
                defining = ".".join(("mindspore", *path.relative_to(root).with_suffix("").parts, qualname))
                found[defining] = mark | ({"public": publics[0]} if publics else {})
    return dict(sorted(found.items()))


def marked(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """`(qualified name, version, substitute)` of what stands under `@deprecated`; of `__init__` and `__call__`, their
    class."""

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, str, str]]:
        for node in body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "deprecated" and mark.args:
                    texts = [a.value if isinstance(a, ast.Constant) else "" for a in mark.args[:2]]
                    own = node.name in ("__init__", "__new__", "__call__")
                    name = prefix.rstrip(".") if own else prefix + node.name
                    yield name, str(texts[0]), str(texts[1] or "") if len(texts) > 1 else ""
            if isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")

    return walk(tree.body, "")


def places(qualname: str, path: Path, homes: tuple[str, ...], modules: dict[str, str]) -> Iterator[str]:
    """Under which public names the definition in `path` can be reached."""
    head = qualname.partition(".")[0]
    for home in homes:
        if head not in modules.get(home, "").split():
            continue
        held = getattr(importlib.import_module(home), head)
        source = getattr(sys.modules.get(getattr(held, "__module__", "")), "__file__", "")
        # A decorated function may say that it comes from the decorator's file.
        if Path(source or ".") == path or "_decorator" in (source or ""):
            yield f"{home}.{qualname}"


def moved() -> dict[str, str]:
    """Shim modules, and what they stand for."""
    import mindspore

    root = Path(mindspore.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "mark_deprecated(__name__" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "mark_deprecated" and len(node.args) > 1:
                target = node.args[1]
                name = ".".join(("mindspore", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
                if isinstance(target, ast.Constant):
                    found[name] = str(target.value)
    return found


def context_keys() -> dict[str, str]:
    """What `set_context` says of each key: `ok`, `deprecated` or `removed`, and after a colon what it advises."""
    return {key: said(key, value) for key, value in CONTEXT.items()}


def said(key: str, value: Any) -> str:
    """Asked in a process of its own: some keys may be set once only."""
    program = f"import mindspore\nmindspore.set_context({key}={value!r})"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tempfile.gettempdir()
    )
    told = [line for line in run.stderr.splitlines() if f"'{key}'" in line or f" {key} " in line]
    text = " ".join(re.sub(r".*\] (?=For|The)", "", line) for line in told)
    if "not recognized" in text or "has been removed" in text:
        return f"removed: {advised(text)}"
    return f"deprecated: {advised(text)}" if "deprecated" in text else "ok"


def advised(text: str) -> str:
    """`use the X instead` of a message."""
    found = re.search(r"[Pp]lease use (?:the )?(.*?) instead", text)
    return " ".join(found[1].split()) if found else ""


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    import mindspore

    version = ".".join(mindspore.__version__.split(".")[:2])
    modules = exports(sorted(public_modules()))
    data = {
        "mindspore": mindspore.__version__, "modules": modules, "deprecated": deprecated(modules), "moved": moved(),
        "keywords": keywords(modules), "context": context_keys(),
    }  # fmt: skip
    path = OUTPUT / f"renames_{version}.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    sys.stderr.write(f"{path}\n")


if __name__ == "__main__":
    main()
