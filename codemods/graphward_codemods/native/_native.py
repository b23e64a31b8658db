"""The base of the rules on native operators: what they have in common is everything but the operator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import put_call, remove_statement
from ._matches import Match, matches
from ._measured import is_faster, quoted, speedup

_TABLE = "{table}"
_FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})


class NativeOperator(Rule):
    """A rule of one operator. `operator` is its name in the table of measurements; `differs` says of a spelling, by its
    row in that table, in what the native operator is not the same; spellings without an entry are."""

    consequence = Consequence.PERFORMANCE
    operator: ClassVar[str]
    differs: ClassVar[dict[str, str]] = {}

    @classmethod
    def page(cls) -> str:
        return super().page().replace(_TABLE, quoted(cls.operator))

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        for match in matches(context):
            if match.found.operator == self.operator and is_faster(match.found):
                message = f"{self.operator} by hand: the native operator is {speedup(match.found)}"
                yield context.finding(self, match.root, message, evidence=self._evidence(context, match),
                                      fixes=(self._fix(context, match),))  # fmt: skip

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        """The call of the native operator."""
        raise NotImplementedError

    def doubts(self, context: FunctionContext, match: Match) -> list[str]:
        """What is not known and has to hold."""
        return []

    def _fix(self, context: FunctionContext, match: Match) -> Fix:
        rewrite = context.rewrite()
        text = self.spelled(rewrite, context.options.op_style, match)
        put_call(context, rewrite, match.root, text)
        for statement in match.removed:
            remove_statement(context, rewrite, statement)
        title = f"Use the native {self.operator}"
        reasons = [self.differs.get(match.found.form, ""), *_unknown(context, match), *self.doubts(context, match)]
        reason = "; ".join(filter(None, reasons))
        return rewrite.unsafe(title, reason) if reason else rewrite.safe(title)

    def _evidence(self, context: FunctionContext, match: Match) -> tuple[str, ...]:
        return f"it computes {match.found.form}", context.kind(match.operands[0].node).evidence


def call(rewrite: Rewrite, style: str, names: tuple[str, str, str], arguments: str, made: str = "") -> str:
    """The call in the style asked for; `names` are those of the function, of the Primitive, which takes `made`, and of
    the function in mint, empty where there is none."""
    function, primitive, mint = names
    if style == "primitive" and primitive:
        tensor = arguments.partition(", ")[0] if made else arguments
        return f"{rewrite.spell(primitive)}({made})({tensor})"
    if style == "mint" and mint:
        return f"{rewrite.spell(mint)}({arguments})"
    return f"{rewrite.spell(function)}({arguments})"


def _unknown(context: FunctionContext, match: Match) -> list[str]:
    """Operands that are not known to be Tensors of floats, which the native operators take alone."""
    found = []
    for term, operand in zip(match.found.operands, match.operands, strict=True):
        if term in match.found.constant:
            continue
        kind = context.kind(operand.node)
        of_floats = kind.dtype in _FLOATS or (kind.dtype is None and kind.tag is Tag.PARAMETER)
        if not (kind.is_tensor and kind.certain and of_floats):
            found.append(f"{operand.text} is taken for a Tensor of floats")
    return list(dict.fromkeys(found))
