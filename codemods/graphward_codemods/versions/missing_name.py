"""GW802: names that MindSpore does not have, and nothing takes their call."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule

from ._missing import missing_mentions
from ._suspects import holds_changed_name


class MissingName(Rule):
    """The target version has no such name.

    ## What it finds

    Names of MindSpore that `--target-version` does not have and for which no other takes the same call: what has been
    removed (`ops.ControlDepend`, `nn.transformer`), what newer versions brought, what old articles recommend and no
    version ever had (`ops.dynamic_loop`, `mindspore.TensorSpec`), and slips of the pen. The message says what to do
    instead where that is known. Names that the project itself puts into MindSpore, and code that is prepared for a
    missing name (`try`, `hasattr`, a test of the version), are left alone.

    ## Why

        AttributeError: module 'mindspore.ops' has no attribute 'control_depend'
        ImportError: cannot import name 'TensorSpec' from 'mindspore'

    ## Example

        F.control_depend(assign, total)

    has to become, by hand,

        total = ops.depend(total, assign)

    ## What the rewrite assumes

    There is no rewrite: what takes the name's place is called in another way, or is not part of MindSpore.

    ## When it is unsafe

    There is nothing to apply.

    ## References

    The exports of each wheel in `knowledge/renames_<version>.json`; `knowledge/renames.toml`.
    """

    code = "GW802"
    name = "missing-name"
    consequence = Consequence.ERROR
    triggers = (b"mindspore",)

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return holds_changed_name(data)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for mention, missing, successor in missing_mentions(context):
            if successor is None or not successor.new:
                advice = f": {successor.advice}" if successor else ""
                message = f"MindSpore {context.options.target_version} has no {missing}{advice}"
                yield context.finding(self, mention.node, message)
