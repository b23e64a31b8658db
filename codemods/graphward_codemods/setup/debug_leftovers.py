"""GW704: what was switched on to look for a fault, and stayed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.renames import version
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._context_calls import CannotMove, context_keys, take_out
from ._environment import settings

LEFTOVERS = frozenset(
    {"save_graphs", "save_graphs_path", "check_bprop", "enable_dump", "save_dump_path", "enable_profiling",
     "profiling_options", "print_file_path"}
)  # fmt: skip
_VARIABLES = frozenset(
    {"MS_DEV_SAVE_GRAPHS", "MS_DEV_SAVE_GRAPHS_PATH", "MS_DEV_DUMP_BPROP", "MS_DEV_SAVE_GRAPTHS_SORT_MODE"}
)


class DebugLeftovers(Rule):
    """Graphs are dumped, gradients checked or operators profiled in each run.

    ## What it finds

    `set_context` with `save_graphs`, `save_graphs_path`, `check_bprop`, `enable_dump`, `save_dump_path`,
    `enable_profiling`, `profiling_options` or `print_file_path`, and the environment variable `MS_DEV_SAVE_GRAPHS` set
    in Python.

    ## Why

    Each compilation then writes its graphs, tens of files a pass, into the working folder. The keys are going away:

        [WARNING] For 'context.set_context', the parameter 'save_graphs' will be deprecated and removed in a future
        version. Please use the env MS_DEV_SAVE_GRAPHS instead.
        ValueError: For 'context.set_context', the keyword argument enable_dump is not recognized!

    ## Example

        ms.set_context(mode=ms.GRAPH_MODE, save_graphs=True, save_graphs_path="./ir")

    becomes

        ms.set_context(mode=ms.GRAPH_MODE)

    ## What the rewrite assumes

    That nobody reads the files: whoever does sets `MS_DEV_SAVE_GRAPHS=1` for that one run.

    ## When it is unsafe

    Always: the files are not written any more.

    ## References

    API of `mindspore.set_context`; the list of environment variables in MindSpore's documentation. Measured on
    MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW704"
    name = "debug-leftovers"
    consequence = Consequence.DEPRECATED
    triggers = (b"set_context", b"MS_DEV_")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        known = version(context.options.target_version)
        for use, call, keyword in context_keys(context):
            if keyword.arg in LEFTOVERS:
                removed = known.context_key(keyword.arg)[0] == "removed"
                message = f"{keyword.arg} is left over from debugging" + (", and raises" if removed else "")
                rewrite = context.rewrite(use.names)
                together = [k for k in call.keywords if k.arg in LEFTOVERS]
                fix: Fix
                try:
                    take_out(rewrite, context, call, together, [])
                    fix = rewrite.unsafe("Take it out", "what it wrote is not written any more")
                except CannotMove as reason:
                    fix = context.rewrite().manual("Take it out", f"to be done by hand: {reason}")
                yield context.finding(self, keyword, message, fixes=(fix,),
                                      consequence=Consequence.ERROR if removed else None)  # fmt: skip
        if any(name.encode() in context.module.source.utf8 for name in _VARIABLES):
            for name, value, statement in settings(context, _VARIABLES):
                if not (isinstance(value, ast.Constant) and str(value.value) in ("0", "")):
                    yield context.finding(self, statement, f"{name} is left over from debugging",
                                          fixes=(_without(context, statement),),
                                          consequence=Consequence.PERFORMANCE)  # fmt: skip


def _without(context: ModuleContext, statement: ast.stmt) -> Fix:
    source = context.module.source
    first = source.offset(statement.lineno, 0)
    line = source.line_bytes(statement.lineno)
    alone = line.strip() == context.text(statement).encode()
    holder = context.parent(statement)
    if not alone or len(getattr(holder, "body", [])) < 2:
        return context.rewrite().manual("Take it out", "to be done by hand: the statement does not stand alone")
    rewrite = context.rewrite()
    rewrite.replace_span(first, first + len(line), "")
    return rewrite.unsafe("Take it out", "the graphs are not written any more")
