"""GW604: timers around compiled functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import Module
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule

from .._blocks import first_line, last_line, step_of
from ._boundaries import jit_decorator
from ._probes import NAME, TEXT


class PerformanceProbes(Rule):
    """A compiled function has no timer.

    ## What it finds

    Functions and methods under a `jit` decorator in a file without probes. It is opt-in: `--select GW604`.

    ## Why

    Where the time goes is seen only at run time: whether it is the first call, a step, or a graph that is compiled
    again and again. MindSpore's profiler tells, and costs; a timer around each unit is enough for a first look.

    ## Example

        @jit
        def construct(self, x):

    becomes

        @compile_probe
        @jit
        def construct(self, x):

    with `compile_probe` in the file. With `GRAPHWARD_PROBES=1` the process prints at its end

        Encoder.construct: first 1.204 s, then 3.41 ms, compiled again 2 times

    ## What the rewrite assumes

    That the functions are called from Python: a graph that calls one of them compiles the timer's inside.

    ## When it is unsafe

    Always: with `GRAPHWARD_PROBES=1` each call waits until the device is done. Without it `compile_probe` gives back
    the function as it is. GW605 takes the probes out.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW604"
    name = "performance-probes"
    consequence = Consequence.INFO
    opt_in = True
    triggers = (b"jit",)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        module = context.module
        if NAME in module.definitions or NAME in module.global_names or NAME in module.names.aliases:
            return
        compiled = [(f, node) for f in module.functions if (node := jit_decorator(f)) is not None and f.outer is None]
        if not compiled:
            return
        rewrite = context.rewrite()
        source = module.source
        for function, _ in compiled:
            indent = source.indent(function.first_line)
            rewrite.insert(source.offset(function.first_line, 0), f"{indent}@{NAME}{source.newline}")
        text = TEXT.replace("    ", step_of(compiled[0][0])).replace("\n", source.newline)
        line = _behind_imports(module)
        gap = source.newline * 2
        rewrite.insert(source.offset(line, 0), text + gap)
        fix = rewrite.unsafe("Put timers around them", "with GRAPHWARD_PROBES=1 each call waits for the device")
        names = ", ".join(f.qualname for f, _ in compiled)
        yield context.finding(self, compiled[0][1], f"no timer around {names}", fixes=(fix,))


def _behind_imports(module: Module) -> int:
    """The line of the first statement behind the imports, comments and decorators above it included."""
    body = module.tree.body
    after = 0
    for i, statement in enumerate(body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            after = i + 1
    if not after or after >= len(body):
        after = next(i for i, s in enumerate(body) if not isinstance(s, (ast.Import, ast.ImportFrom, ast.Expr)))
    line = first_line(body[after])
    lowest = last_line(body[after - 1]) if after else 0
    while line - 1 > lowest and module.source.line_bytes(line - 1).startswith(b"#"):
        line -= 1
    return line
