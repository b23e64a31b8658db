"""GW808: arguments that methods of data pipelines have lost."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._arguments import plain
from .jit_arguments import drop_keyword

# Method and keyword.
_LOST = frozenset({("batch", "pad_info"), ("map", "column_order"), ("batch", "column_order")})
# What `padded_batch` takes of the keywords of `batch`.
_PADDED = frozenset({"batch_size", "drop_remainder", "num_parallel_workers", "pad_info"})


class DatasetArguments(Rule):
    """A method of a dataset is given an argument that it has lost in MindSpore 2.0.

    ## What it finds

    `.batch(..., pad_info=...)`, `.map(..., column_order=...)` and `.batch(..., column_order=...)` in files that import
    `mindspore.dataset`.

    ## Why

        TypeError: BatchDataset.__init__() got an unexpected keyword argument 'pad_info'
        TypeError: MapDataset.__init__() got an unexpected keyword argument 'column_order'

    ## Example

        data = data.batch(2, pad_info={"ids": ([8], 0)})
        data = data.map(operations=f, input_columns=["a"], column_order=["a", "b"])

    becomes

        data = data.padded_batch(2, pad_info={"ids": ([8], 0)})
        data = data.map(operations=f, input_columns=["a"]).project(["a", "b"])

    ## What the rewrite assumes

    That the receiver is a dataset: no other method of that name takes such a keyword.

    ## When it is unsafe

    Always, since the receiver is not known for certain.

    ## References

    Release notes of MindSpore 2.0. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW808"
    name = "dataset-arguments"
    consequence = Consequence.ERROR
    triggers = (b"pad_info", b"column_order")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        if b"dataset" not in context.module.source.utf8:
            return
        for call in context.calls:
            if not isinstance(call.func, ast.Attribute) or not call.keywords:
                continue
            for keyword in call.keywords:
                key = (call.func.attr, keyword.arg)
                if key in _LOST:
                    message = f"{call.func.attr} of a dataset takes no {keyword.arg} any more"
                    yield context.finding(self, keyword, message, fixes=_fixes(context, call, keyword))


def _fixes(context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> tuple[Fix, ...]:
    assert isinstance(call.func, ast.Attribute)
    if not plain(call):
        return ()
    rewrite = context.rewrite()
    reason = "that the receiver is a dataset is read off the keyword"
    if keyword.arg == "pad_info":
        if any(k.arg not in _PADDED for k in call.keywords):
            return ()
        end = context.module.end(call.func)
        rewrite.replace_span(end - len(b"batch"), end, "padded_batch")
        return (rewrite.unsafe("Use padded_batch", reason),)
    end = context.module.end(call)
    order = context.text(keyword.value)
    drop_keyword(rewrite, context, call, keyword)
    rewrite.insert(end, f".project({order})")
    return (rewrite.unsafe("Use project", reason),)
