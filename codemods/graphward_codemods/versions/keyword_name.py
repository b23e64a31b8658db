"""GW804: keywords that a function of MindSpore does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.knowledge.renames import Successor, Version, keyword_changes, version
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._suspects import holds_changed_keyword


class KeywordName(Rule):
    """A function or layer does not take this keyword in the target version.

    ## What it finds

    Calls of functions, operators and layers of MindSpore with a keyword that the target version has under another
    name, or in another form: `ops.argmax(x, axis=1)`, `ops.sum(x, axis=1)`, `ops.interpolate(x, sizes=...)`, and
    PyTorch's `nn.Dense(3, 4, bias=False)`; in graph code and outside.

    ## Why

        TypeError: argmax() got an unexpected keyword argument 'axis'

    ## Example

        index = ops.argmax(logits, axis=1)

    becomes

        index = ops.argmax(logits, dim=1)

    ## What the rewrite assumes

    Nothing: only keywords that were measured to mean the same are exchanged.

    ## When it is unsafe

    Where the new keyword does not mean quite the same; the reason says how it differs.

    ## References

    `inspect.signature` of every callable of each wheel, in `knowledge/renames_<version>.json`; `[keywords]` of
    `knowledge/renames.toml`.
    """

    code = "GW804"
    name = "keyword-name"
    consequence = Consequence.ERROR
    triggers = (b"mindspore",)

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return holds_changed_keyword(data)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        known = version(context.options.target_version)
        for use in context.uses:
            if use.call is not None and use.call.keywords:
                yield from self._of_call(context, use, use.call, known)

    def _of_call(self, context: ModuleContext, use: Use, call: ast.Call, known: Version) -> Iterator[Finding]:
        module, _, name = use.name.rpartition(".")
        changes = keyword_changes(use.name)
        for keyword in call.keywords:
            change = changes.get(keyword.arg or "")
            if change is None or not known.unknown_keyword(module, name, keyword.arg or ""):
                continue
            if change.advice or known.takes(module, name, change.new):
                advice = change.advice or f"it is called {change.new} now"
                message = f"{use.name} takes no {keyword.arg}: {advice}"
                yield context.finding(self, keyword, message, fixes=_fixes(context, call, keyword, change))


def _fixes(context: ModuleContext, call: ast.Call, keyword: ast.keyword, change: Successor) -> tuple[Fix, ...]:
    if not change.new or any(k.arg == change.new for k in call.keywords):
        return ()
    assert keyword.arg is not None
    rewrite = context.rewrite()
    start = context.module.start(keyword)
    rewrite.replace_span(start, start + len(keyword.arg.encode()), change.new)
    title = f"Write {change.new}="
    return (rewrite.unsafe(title, change.reason) if change.reason else rewrite.safe(title),)
