"""GW803: names that still work, and warn."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache

from graphward.knowledge.names import canonical
from graphward.knowledge.renames import Deprecation, successors, version
from graphward.knowledge.renames_calls import advice, call_forms
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._call_forms import in_new_form
from ._exchange import CannotExchange
from ._mentions import Mention, guarded, mentions
from ._suspects import holds_changed_name
from .renamed_name import exchange_fix


class DeprecatedName(Rule):
    """The target version still has the name, and warns that it will go.

    ## What it finds

    Functions, classes, operators and modules that the wheel of `--target-version` marks as deprecated: `P.TensorAdd`,
    `P.Pack`, `nn.Norm`, `ops.randint`, and for 2.7 `dataset.vision.c_transforms`; in graph code and outside.

    ## Why

        [WARNING] 'TensorAdd' is deprecated from version 1.1 and will be removed in a future version, use 'Add' instead.

    Some do not even work any more: `P.GatherV2()(x, index, 0)` raises `For Operator[Gather], the inputs number should
    be 4 but got 3` on 2.10.

    ## Example

        self.add = P.TensorAdd()

    becomes

        self.add = P.Add()

    and a layer that became a function is written where it is called:

        self.norm = nn.Norm(axis=1)
        ...
        return self.norm(x)

    becomes

        return ops.norm(x, dim=1)

    ## What the rewrite assumes

    That all calls of an instance stand in the class that keeps it; where another file of the project may call it, or an
    argument of its constructor is known only there, the rewrite is left to a person. Successors were measured to give
    the same result. Where there is none, the message says why, and what to do.

    ## When it is unsafe

    Where the successor is younger than some versions that the code may still have to run on, draws other random
    numbers, or treats special values in another way: the reason says which.

    ## References

    `@deprecated` in the sources of each wheel, collected in `knowledge/renames_<version>.json`; the forms of calls in
    `knowledge/renames_calls.toml`.
    """

    code = "GW803"
    name = "deprecated-name"
    consequence = Consequence.DEPRECATED
    triggers = (b"mindspore",)

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return holds_changed_name(data)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        target = context.options.target_version
        told: set[tuple[ast.AST, str]] = set()
        for mention in mentions(context):
            found = _deprecated(target, mention.written)
            if found is None:
                continue
            old, deprecation = found
            if mention.use is not None and mention.part(old) is None:
                continue
            if mention.statement is not None:
                # A module is one finding, however many names are taken from it.
                if (mention.statement, old) in told:
                    continue
                told.add((mention.statement, old))
            if not guarded(mention, context):
                yield context.finding(self, mention.node, _message(deprecation),
                                      fixes=_fixes(context, mention, old, deprecation.public))  # fmt: skip


@lru_cache(maxsize=65536)
def _deprecated(target: str, written: str) -> tuple[str, Deprecation] | None:
    """The part of a name that is deprecated, by the path that is written, and since when."""
    known = version(target)
    while written.count(".") > 0:
        found = known.deprecation(canonical(written))
        if found is not None:
            return written, found
        written = written.rpartition(".")[0]
        if not known.is_module(written):
            return None
    return None


def _message(deprecation: Deprecation) -> str:
    said = f": use {deprecation.instead}" if deprecation.instead else ", without a successor"
    reason = advice(deprecation.public)
    message = f"{deprecation.public} is deprecated since MindSpore {deprecation.since}{said}"
    return f"{message} ({reason})" if reason else message


def _fixes(context: ModuleContext, mention: Mention, old: str, public: str) -> tuple[Fix, ...]:
    known = version(context.options.target_version)
    successor = successors().get(public)
    if successor is not None and successor.new:
        return () if known.missing(successor.new) else (exchange_fix(context, mention, old, successor, known),)
    form = call_forms().get(public)
    if form is None:
        return ()
    title = f"Write {form.gives.partition('(')[0].rpartition(' ')[2]}"
    try:
        rewrite = in_new_form(context, mention, form, known)
    except CannotExchange as reason:
        return (context.rewrite().manual(title, f"to be done by hand: {reason}"),)
    return (rewrite.unsafe(title, form.reason) if form.reason else rewrite.safe(title),)
