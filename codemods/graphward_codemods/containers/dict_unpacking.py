"""GW432: a dict unpacked into another one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._blocks import put_call
from .._python import self_attribute
from ._unions import union_of


class DictUnpacking(Rule):
    """A dict of Tensors that is unpacked into another one gives tuples.

    ## What it finds

    `{**d, "b": y}` in a graph region where `d` holds Tensors, or is an attribute of self. A dict of constants, and one
    written in braces on the spot (`{**{"a": x}}`), compile. So does a dict of which nothing but the entries that are
    written beside `**d` is read by its key.

    ## Why

    The compiler gives each unpacked entry all of the values of `d` as a tuple: silently, where the entry is returned
    (MindSpore 2.7 to 2.10). In an operation, and for an attribute of self, it does not compile:

        TypeError: For Operator[Add], input's type 'Tuple[Tuple[Tensor[Float32]]]' does not match expected type 'Tensor'
        RuntimeError: The input of dict which need unpack must be dict, but got 10

    ## Example

        outputs = {**hidden, "logits": y}

    becomes

        outputs = {key: value for key, value in list(hidden.items()) + list({"logits": y}.items())}

    ## What the rewrite assumes

    Nothing.

    ## When it is unsafe

    When the kind of another unpacked value in the same braces is not known.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW432"
    name = "dict-unpacking"
    consequence = Consequence.DIVERGENCE
    triggers = (b"**",)
    nodes = (ast.Dict,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Dict)
        unpacked = [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
        if not unpacked or all(isinstance(v, ast.Dict) for v in unpacked):
            return
        wrong = [v for v in unpacked if _is_miscompiled(v, context)]
        if not wrong or _only_own_entries_are_read(node, context):
            return
        rewrite = context.rewrite()
        put_call(context, rewrite, node, union_of(_parts(node, context), context))
        title = "Make it of their items"
        known = all(context.kind(v).tag is Tag.DICT for v in unpacked)
        fix = rewrite.safe(title) if known else rewrite.unsafe(title, "what is unpacked is taken for a dict")
        fails = isinstance(wrong[0], ast.Attribute)
        what = context.text(wrong[0])
        message = f"unpacking {what} {'does not compile' if fails else 'gives tuples of all of its values'}"
        consequence = Consequence.ERROR if fails else Consequence.DIVERGENCE
        evidence = (context.kind(wrong[0]).evidence,)
        yield context.finding(self, node, message, evidence=evidence, fixes=(fix,), consequence=consequence)


def _is_miscompiled(value: ast.expr, context: FunctionContext) -> bool:
    if isinstance(value, ast.Dict):
        return False
    kind = context.kind(value)
    if kind.tag is not Tag.DICT:
        return False
    return kind.variable or self_attribute(value, context.function.receiver) is not None


def _only_own_entries_are_read(node: ast.Dict, context: FunctionContext) -> bool:
    """Whether the dict is kept in a variable of which only entries that the braces name are read."""
    statement = context.parent(node)
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        return False
    target = statement.targets[0]
    own = {k.value for k in node.keys if isinstance(k, ast.Constant)}
    if not isinstance(target, ast.Name):
        return False
    end = context.module.end(node)
    for load in context.function.loads:
        if isinstance(load, ast.Name) and load.id == target.id and context.module.start(load) > end:
            read = context.parent(load)
            if not (isinstance(read, ast.Subscript) and isinstance(read.slice, ast.Constant)):
                return False
            if read.slice.value not in own:
                return False
    return True


def _parts(node: ast.Dict, context: FunctionContext) -> list[ast.expr | str]:
    """What is unpacked, and the entries between as displays of their own, in order."""
    parts: list[ast.expr | str] = []
    entries: list[str] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            entries.append(f"{context.text(key)}: {context.text(value)}")
            continue
        if entries:
            parts.append("{" + ", ".join(entries) + "}")
            entries = []
        parts.append(value)
    if entries:
        parts.append("{" + ", ".join(entries) + "}")
    return parts
