"""GW605: timers around compiled functions that can go."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule

from .._blocks import first_line, last_line
from ._probes import NAME, probe_of


class ProbesLeft(Rule):
    """A file holds the timers that GW604 put there.

    ## What it finds

    The function `compile_probe` as GW604 writes it, and its uses as a decorator. It is opt-in: `--select GW605`.

    ## Why

    The timers do nothing unless `GRAPHWARD_PROBES=1` is set, and are no part of the program.

    ## Example

        @compile_probe
        @jit
        def construct(self, x):

    becomes

        @jit
        def construct(self, x):

    ## What the rewrite assumes

    That nothing else uses the function.

    ## When it is unsafe

    Never: without the switch the decorator gives back what it gets.

    ## References

    GW604.
    """

    code = "GW605"
    name = "probes-left"
    consequence = Consequence.INFO
    opt_in = True
    triggers = (b"compile_probe",)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        module, source = context.module, context.module.source
        probe = probe_of(module)
        if probe is None:
            return
        rewrite = context.rewrite()
        for function in module.functions:
            for name, node in function.decorators:
                if name.rpartition(".")[2] == NAME:
                    begin = source.offset(node.lineno, 0)
                    rewrite.replace_span(begin, begin + len(source.line_bytes(node.lineno)), "")
        first, last = first_line(probe.node), last_line(probe.node)
        starts = source.line_starts
        while last < len(starts) and not source.line_bytes(last + 1).strip():
            last += 1
        end = starts[last] if last < len(starts) else len(source.utf8)
        rewrite.replace_span(source.offset(first, 0), end, "")
        fix = rewrite.safe("Take the timers out")
        yield context.finding(self, probe.node, "timers of GW604 are left", fixes=(fix,))
