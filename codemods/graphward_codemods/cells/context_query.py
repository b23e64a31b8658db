"""GW209."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import module_statement
from ._from_init import Keeper
from ._moving import CannotMove

# `mindspore.context` is re-exported by `mindspore`; the others name the process in its group.
_QUERIES = {
    "mindspore.get_context": "context", "mindspore.get_auto_parallel_context": "parallel_context",
    "mindspore.get_ps_context": "ps_context", "mindspore.get_offload_context": "offload_context",
    "mindspore.communication.get_rank": "rank", "mindspore.communication.get_group_size": "group_size",
    "mindspore.communication.management.get_rank": "rank",
    "mindspore.communication.management.get_group_size": "group_size",
    "mindspore.communication.get_local_rank": "local_rank",
    "mindspore.communication.get_local_rank_size": "local_rank_size",
    "mindspore.hal.device_count": "device_count", "mindspore.hal.is_available": "available",
    "mindspore.hal.is_initialized": "initialized", "mindspore.device_context.cpu.device_count": "device_count",
}  # fmt: skip
_SHORT = frozenset(name.rpartition(".")[2] for name in _QUERIES)


class ContextQuery(Rule):
    """The context, or the place in a process group, is asked for inside graph code.

    ## What it finds

    `ms.get_context(...)`, `get_auto_parallel_context(...)`, `get_rank()`, `get_group_size()` and the like in a graph
    region.

    ## Why

    `mindspore.context` is closed to the compiler (MindSpore 2.7 to 2.10): `RuntimeError: Failed to compile in
    GRAPH_MODE because the method or function 'mindspore.context.get_context' is not supported in 'construct' or
    function with @jit decorator.`

    ## Example

        def construct(self, x):
            if ms.get_context("device_target") == "CPU":
                return x * 2
            return x

    becomes

        def __init__(self):
            super().__init__()
            self.device_target = ms.get_context("device_target")

        def construct(self, x):
            if self.device_target == "CPU":
                return x * 2
            return x

    ## What the rewrite assumes

    That the context is set before the Cell is made.

    ## When it is unsafe

    Always: the value is that of the time when the Cell is made, in a function that of the time of the import.

    ## References

    API of `mindspore.get_context`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW209"
    name = "context-query"
    consequence = Consequence.ERROR
    triggers = tuple(sorted(name.encode() for name in _SHORT))
    nodes = (ast.Call,)
    names = _SHORT

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        func = node.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if last not in _SHORT:
            return
        name = context.resolve(func)
        if name not in _QUERIES:
            return
        message = f"{context.text(func)} is asked inside graph code, which does not compile"
        yield context.finding(self, node, message, fixes=(_fix(node, _QUERIES[name], context),))


def _fix(node: ast.Call, wanted: str, context: FunctionContext) -> Fix:
    asked = node.args[0] if len(node.args) == 1 and wanted == "context" else None
    if isinstance(asked, ast.Constant) and isinstance(asked.value, str) and asked.value.isidentifier():
        wanted = asked.value
    rewrite = context.rewrite()
    title = "Ask in __init__"
    module = context.module
    try:
        keeper = Keeper(context)
        new = keeper.keep(rewrite, node, wanted)
    except CannotMove as reason:
        if not _reads_nothing(node):
            return context.rewrite().manual(title, f"not moved by itself: {reason}; hand the value in as an argument")
        rewrite = context.rewrite()
        new = f"_{wanted.upper()}"
        if new in module.assignments or new in module.names.aliases:
            return context.rewrite().manual(title, f"not moved by itself: {reason}, and {new} is taken")
        line = f"{new} = {context.text(node)}{module.source.newline * 3}"
        rewrite.insert(module.source.offset(module_statement(context), 0), line)
        rewrite.replace_span(module.start(node), module.end(node), new)
        return rewrite.unsafe("Ask once, at the top of the file", "it is asked when the file is imported")
    rewrite.replace_span(module.start(node), module.end(node), new)
    return rewrite.unsafe(title, "it is asked when the Cell is made: set the context before")


def _reads_nothing(node: ast.Call) -> bool:
    values = [*node.args, *(k.value for k in node.keywords)]
    return all(isinstance(v, ast.Constant) for v in values) and "\n" not in ast.unparse(node)
