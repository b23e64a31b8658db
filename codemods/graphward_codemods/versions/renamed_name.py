"""GW801: names that MindSpore has under another name."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.knowledge.renames import Successor, Version, version
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._exchange import CannotExchange, exchange
from ._mentions import Mention
from ._missing import missing_mentions
from ._suspects import holds_changed_name


class RenamedName(Rule):
    """A name has gone from the target version, and another one takes the same call.

    ## What it finds

    Functions, classes, operators and modules of MindSpore that `--target-version` does not have any more and that went
    on under another name: `ms_function`, `ms_class`, `ops.neg_tensor`, `dataset.vision.c_transforms`. They are found in
    scripts, imports and data pipelines as well as in graph code, by whatever import reaches them. A `try` that catches
    the missing name, or a test of MindSpore's version around it, says that the code is prepared: that is left alone.

    ## Why

        AttributeError: module 'mindspore' has no attribute 'ms_function'
        ImportError: cannot import name 'ms_function' from 'mindspore'

    ## Example

        from mindspore import ms_function

        @ms_function
        def step(x):
            return x + 1

    becomes

        from mindspore import jit

        @jit
        def step(x):
            return x + 1

    ## What the rewrite assumes

    That the file's own uses of an imported name are all there are; the imports of a package's `__init__.py` keep the
    name that they bind.

    ## When it is unsafe

    Where the successor takes its arguments in another way: the reason says how.

    ## References

    `knowledge/renames.toml`, and the exports of each version in `knowledge/renames_<version>.json`.
    """

    code = "GW801"
    name = "renamed-name"
    consequence = Consequence.ERROR
    triggers = (b"mindspore",)

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return holds_changed_name(data)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        known = version(context.options.target_version)
        for mention, missing, successor in missing_mentions(context):
            if successor is not None and successor.new:
                message = f"MindSpore {context.options.target_version} has no {missing}: use {successor.new}"
                fix = exchange_fix(context, mention, missing, successor, known)
                yield context.finding(self, mention.node, message, fixes=(fix,))


def exchange_fix(context: ModuleContext, mention: Mention, old: str, successor: Successor, known: Version) -> Fix:
    """The fix that writes the successor; manual, with the reason, where that has to be done by hand."""
    title = f"Use {successor.new}"
    try:
        rewrite = exchange(context, mention, old, successor.new, known)
    except CannotExchange as reason:
        return context.rewrite().manual(title, f"to be done by hand: {reason}")
    return rewrite.unsafe(title, successor.reason) if successor.reason else rewrite.safe(title)
