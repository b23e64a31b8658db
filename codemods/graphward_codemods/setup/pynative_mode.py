"""GW701: PyNative mode switched on."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._context_calls import context_keys, decided
from ._environment import settings

_OFF = frozenset({"MS_JIT"})


class PynativeMode(Rule):
    """A script switches PyNative mode on, so that nothing but `@jit` functions is compiled.

    ## What it finds

    `set_context(mode=PYNATIVE_MODE)` in every spelling (`ms.`, `context.`, an imported name, the number 1), and
    `os.environ["MS_JIT"] = "0"`, which turns `@jit` off as well. A mode that the script chooses at run time, a file
    that switches Graph Mode on as well, and a function that is called after PyNative are left alone.

    ## Why

    In PyNative mode each operator runs by itself from Python: no fusion, no memory plan of the whole graph, no export,
    and what keeps a Cell from compiling is never seen.

    ## Example

        ms.set_context(mode=ms.PYNATIVE_MODE)

    becomes

        ms.set_context(mode=ms.GRAPH_MODE)

    With `run-mode = "jit"` in `[tool.graphward]` the mode stays, and the finding says to put `@jit` on what is to be
    compiled.

    ## What the rewrite assumes

    That the Cells of the script compile: `graphward check` and `graphward migrate` say whether they do.

    ## When it is unsafe

    Always: every Cell that is called from then on is compiled.

    ## References

    API of `mindspore.set_context`. `MS_JIT` is read by `mindspore.jit` and `nn.Cell` of the 2.7 and 2.10 wheels.
    """

    code = "GW701"
    name = "pynative-mode"
    consequence = Consequence.PERFORMANCE
    triggers = (b"set_context", b"MS_JIT")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        modes = [keyword for _, _, keyword in context_keys(context) if keyword.arg == "mode"]
        switches = any(_means(context, keyword.value, "GRAPH_MODE", 0) for keyword in modes)
        for keyword in () if switches else modes:
            if decided(context, keyword) or _by_name(context, keyword):
                continue
            if _means(context, keyword.value, "PYNATIVE_MODE", 1):
                if context.options.run_mode == "jit":
                    reason = "which functions and Cells these are is for you to say"
                    fix = context.rewrite().manual("Put @jit on what is to be compiled", reason)
                    message = "PyNative mode compiles nothing but what stands under @jit"
                else:
                    fix = _graph_mode(context, keyword.value)
                    message = "PyNative mode compiles nothing: switch Graph Mode on"
                yield context.finding(self, keyword, message, fixes=(fix,))
        if b"MS_JIT" in context.module.source.utf8:
            yield from self._switched_off(context)

    def _switched_off(self, context: ModuleContext) -> Iterable[Finding]:
        for _, value, statement in settings(context, _OFF):
            if isinstance(value, ast.Constant) and str(value.value) == "0":
                rewrite = context.rewrite()
                rewrite.replace_span(context.module.start(value), context.module.end(value), '"1"')
                fix = rewrite.unsafe("Leave jit on", "functions under @jit are compiled again")
                yield context.finding(self, statement, "MS_JIT=0 turns @jit off everywhere", fixes=(fix,))


def _means(context: ModuleContext, value: ast.expr, name: str, number: int) -> bool:
    if isinstance(value, ast.Constant):
        return type(value.value) is int and value.value == number
    return any(use.node is value and use.name == f"mindspore.{name}" for use in context.uses)


def _by_name(context: ModuleContext, node: ast.AST) -> bool:
    """Whether PyNative is what the function around is there for, as its name says."""
    function = context.function_at(node)
    return function is not None and "pynative" in function.qualname.lower()


def _graph_mode(context: ModuleContext, value: ast.expr) -> Fix:
    function = context.function_at(value)
    rewrite = context.rewrite(function.names if function else None)
    module = context.module
    if isinstance(value, ast.Attribute):
        end = module.end(value)
        rewrite.replace_span(end - len(value.attr), end, "GRAPH_MODE")
    elif isinstance(value, ast.Constant):
        rewrite.replace_span(module.start(value), module.end(value), "0")
    else:
        rewrite.replace_span(module.start(value), module.end(value), rewrite.spell("mindspore.GRAPH_MODE"))
    return rewrite.unsafe("Switch Graph Mode on", "every Cell that is called from then on is compiled")
