"""GW803: names that still work, and warn."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.knowledge.names import canonical
from graphward.knowledge.renames import Deprecation, successors, version
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._mentions import Mention, guarded, mentions
from ._suspects import holds_changed_name
from .renamed_name import exchange_fix


class DeprecatedName(Rule):
    """The target version still has the name, and warns that it will go.

    ## What it finds

    Functions, classes and operators that the wheel of `--target-version` marks as deprecated: `P.TensorAdd`, `P.Pack`,
    `nn.Norm`, `ops.randint`, in graph code and outside.

    ## Why

        [WARNING] 'TensorAdd' is deprecated from version 1.1 and will be removed in a future version, use 'Add' instead.

    Some do not even work any more: `P.GatherV2()(x, index, 0)` raises `For Operator[Gather], the inputs number should
    be 4 but got 3` on 2.10.

    ## Example

        self.add = P.TensorAdd()

    becomes

        self.add = P.Add()

    ## What the rewrite assumes

    Nothing: only names whose successor was measured to take the same arguments and give the same result are rewritten.
    For the others the message says what the wheel advises.

    ## When it is unsafe

    Where the successor is younger than some versions that the code may still have to run on.

    ## References

    `@deprecated` in the sources of each wheel, collected in `knowledge/renames_<version>.json`.
    """

    code = "GW803"
    name = "deprecated-name"
    consequence = Consequence.DEPRECATED
    triggers = (b"mindspore",)

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return holds_changed_name(data)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        known = version(context.options.target_version)
        for mention in mentions(context):
            name = canonical(mention.written)
            deprecation = known.deprecation(name)
            if deprecation is None or (mention.use is not None and mention.part(mention.written) is None):
                continue
            if not guarded(mention, context):
                yield context.finding(self, mention.node, _message(name, deprecation),
                                      fixes=_fixes(context, mention, name))  # fmt: skip


def _message(name: str, deprecation: Deprecation) -> str:
    instead = f": use {deprecation.instead}" if deprecation.instead else ", without a successor"
    return f"{name} is deprecated since MindSpore {deprecation.since}{instead}"


def _fixes(context: ModuleContext, mention: Mention, name: str) -> tuple[Fix, ...]:
    successor = successors().get(name)
    if successor is None or not successor.new:
        return ()
    known = version(context.options.target_version)
    if known.missing(successor.new):
        return ()
    return (exchange_fix(context, mention, mention.written, successor, known),)
