"""The probe that GW604 puts into a file and GW605 takes out."""

from __future__ import annotations

from graphward.analysis.module import FunctionInfo, Module

NAME = "compile_probe"
SWITCH = "GRAPHWARD_PROBES"
# The second import is that of MindSpore before 2.10.
TEXT = '''\
def compile_probe(function):
    """Time a compiled function: its first call, later ones, and how often it compiles. GRAPHWARD_PROBES=1 in the
    environment turns it on; else the function stays as it is."""
    import atexit
    import functools
    import os
    import time

    if os.environ.get("GRAPHWARD_PROBES") != "1":
        return function
    import mindspore

    try:
        from mindspore.graph.api import ms_compile_cache
    except ImportError:
        from mindspore.common.api import ms_compile_cache
    compiling, steady = [], []

    def timed(*args, **kwargs):
        known, started = len(ms_compile_cache), time.perf_counter()
        result = function(*args, **kwargs)
        for value in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(value, mindspore.Tensor):
                value.asnumpy()
        (compiling if len(ms_compile_cache) > known else steady).append(time.perf_counter() - started)
        return result

    @atexit.register
    def report():
        if compiling or steady:
            first = (compiling or steady)[0]
            usual = sorted(steady)[len(steady) // 2] * 1e3 if steady else 0.0
            again = max(0, len(compiling) - 1)
            print(f"{function.__qualname__}: first {first:.3f} s, then {usual:.2f} ms, compiled again {again} times")

    return functools.update_wrapper(timed, function)
'''


def probe_of(module: Module) -> FunctionInfo | None:
    """The probe in a file, if it is the one that Graphward writes."""
    found = module.definitions.get(NAME)
    if isinstance(found, FunctionInfo) and SWITCH in module.text(found.node):
        return found
    return None
