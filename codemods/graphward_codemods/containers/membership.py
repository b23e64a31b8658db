"""GW429: `in` and `not in` with Tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from ._membership import all_numbers, is_no_number, is_number, judged

# More comparisons than this are made at once, by a Tensor.
_MOST_COMPARISONS = 8
_LOOSE = (ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Starred)
_READS = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.UnaryOp, ast.Tuple, ast.List)


class Membership(Rule):
    """`in` does not find what it finds in Python where Tensors are asked for or asked.

    ## What it finds

    In a graph region, `value in tensor` and `value not in tensor`; a Tensor that is looked for in a tuple, list or
    range of numbers or of Tensors of another dtype; a number or None that is looked for among Tensors; a number read
    off a Tensor that is looked for among numbers of another dtype. A number in a shape, a Tensor among Tensors of its
    dtype and a key of a dict are left alone, and so is a Tensor that the compiler knows.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`, of `3 in tensor`:

        ValueError: When handling script '__input_key_0__ in __input_key_1__ in graph mode', the inputs should be
        constant, but found variable '__input_key_1__' to be nonconstant.

    At the default syntax level the Python interpreter looks. `tensor in (1, 2)` is False in a graph, silently, whatever
    the Tensor holds. `3 in (a, b)` of two Tensors does not compile at any level:

        TypeError: For InSequence, the list existing item abstract 'AbstractTensor(...)' is not same with the new added
        item abstract 'AbstractScalar(...)'

    ## Example

        if self.pad_token_id in input_ids:

    becomes

        if (input_ids == self.pad_token_id).any():

    and `step in (1, 2)` of a Tensor `step == 1 or step == 2`, `None not in (a, b)` `a is not None and b is not None`.

    ## What the rewrite assumes

    That the values are numbers and Tensors.

    ## When it is unsafe

    When a kind is assumed, when a list might be empty, and when fractions are compared as float32. When Tensors are
    stacked: they need one shape and one dtype.

    ## References

    `mindspore.Tensor.any`, `mindspore.ops.stack`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW429"
    name = "membership"
    consequence = Consequence.FALLBACK
    triggers = (b" in ",)
    nodes = (ast.Compare,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Compare)
        if len(node.ops) != 1 or node.ops[0].__class__ not in (ast.In, ast.NotIn):
            return
        found = judged(node.left, node.comparators[0], context)
        if found is not None:
            evidence = (found.evidence,) if found.evidence else ()
            fix = _fix(node, node.left, node.comparators[0], context)
            yield context.finding(self, node, found.why, evidence=evidence, fixes=(fix,), consequence=found.consequence)


def _fix(node: ast.Compare, value: ast.expr, group: ast.expr, context: FunctionContext) -> Fix:
    one, inside = context.kind(value), context.kind(group)
    rewrite = context.rewrite()
    if inside.is_tensor:
        doubt = "" if inside.certain else f"{context.text(group)} is taken for a Tensor"
        if is_no_number(one):
            _put(rewrite, node, str(isinstance(node.ops[0], ast.NotIn)), context)
            return _judged(rewrite, "Leave the test out: a Tensor holds numbers", doubt)
        if not (one.is_tensor or is_number(one)):
            doubt = f"{context.text(value)} is taken for a number or a Tensor"
        _replace(rewrite, node, f"({_operand(group, context)} == {_operand(value, context)}).any()", context)
        return _judged(rewrite, "Compare the elements", doubt)
    listed = group.elts if isinstance(group, (ast.Tuple, ast.List, ast.Set)) else []
    if one.is_none and listed:
        negative = isinstance(node.ops[0], ast.NotIn)
        operator, joint = ("is not", " and ") if negative else ("is", " or ")
        text = joint.join(f"{_operand(e, context)} {operator} None" for e in listed)
        _put(rewrite, node, text, context)
        return rewrite.safe("Ask each for None")
    doubt = "" if one.certain else f"{context.text(value)} is taken for a Tensor"
    if 0 < len(listed) <= _MOST_COMPARISONS and not any(isinstance(e, ast.Starred) for e in listed):
        if one.tag is Tag.CONSTANT or _is_read(value):
            _replace(rewrite, node, " or ".join(_comparisons(value, listed, context)), context)
            return _judged(rewrite, "Compare with each", doubt)
    if one.is_tensor and all_numbers(inside):
        values = context.text(group)
        if isinstance(group, ast.Call):
            values = f"list({values})"
        _replace(rewrite, node, f"({rewrite.spell('mindspore.Tensor')}({values}) == {_operand(value, context)}).any()",
                 context)  # fmt: skip
        if any(e.python_type != "int" for e in inside.elements or ()):
            doubt = doubt or "the numbers are compared as float32"
        elif not (inside.exact and inside.elements):
            doubt = doubt or f"{context.text(group)} must not be empty"
        return _judged(rewrite, "Compare with a Tensor of the numbers", doubt)
    elements = inside.elements or ()
    if elements and all(e.is_tensor for e in elements) and not any(isinstance(e, ast.Starred) for e in listed):
        stacked = f"{rewrite.spell('mindspore.ops.stack')}({context.text(group)})"
        _replace(rewrite, node, f"({stacked} == {_operand(value, context)}).any()", context)
        return rewrite.unsafe("Compare with all at once", "the Tensors need one shape and one dtype")
    advice = "give the value a name and compare it with each, value == first or value == second"
    return rewrite.manual("Compare with each", advice)


def _comparisons(value: ast.expr, listed: list[ast.expr], context: FunctionContext) -> list[str]:
    """`value == element` for each; what a Tensor and what Python gives can only be joined as bools of Python's."""
    constant = context.kind(value).tag is Tag.CONSTANT
    tensors = [context.kind(value).is_tensor or context.kind(e).is_tensor for e in listed]
    texts = []
    for element, tensor in zip(listed, tensors):
        sides = [_operand(value, context), _operand(element, context)]
        text = " == ".join(reversed(sides) if constant else sides)  # a constant is written last
        texts.append(f"bool({text})" if tensor and not all(tensors) else text)
    return texts


def _judged(rewrite: Rewrite, title: str, doubt: str) -> Fix:
    return rewrite.unsafe(title, doubt) if doubt else rewrite.safe(title)


def _is_read(node: ast.expr) -> bool:
    """Whether an expression computes nothing, so that it may be written several times."""
    return all(isinstance(n, _READS) or (isinstance(n, ast.Call) and _is_item(n.func)) for n in preorder(node))


def _is_item(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "item"


def _operand(node: ast.expr, context: FunctionContext) -> str:
    """The text of one side of a comparison."""
    text = context.text(node)
    return f"({text})" if isinstance(node, _LOOSE) or (isinstance(node, ast.Tuple) and text[0] != "(") else text


def _replace(rewrite: Rewrite, node: ast.Compare, text: str, context: FunctionContext) -> None:
    """Put a condition in the place of the test. `in` gives a bool of Python's: what is more than asked needs one."""
    parent = context.parent(node)
    asked = isinstance(parent, (ast.If, ast.IfExp, ast.While)) and parent.test is node
    if isinstance(node.ops[0], ast.NotIn):
        text = f"not ({text})" if asked and " or " in text else f"not {text}" if asked else f"not bool({text})"
    elif not asked:
        text = f"bool({text})"
    _put(rewrite, node, text, context)


def _put(rewrite: Rewrite, node: ast.Compare, text: str, context: FunctionContext) -> None:
    parent, module = context.parent(node), context.module
    if node.end_lineno != node.lineno:
        rewrite.replace(node, text, parent)  # comments may stand in it
    elif parent is not None:
        # Sides that change places would keep the space that they had around them.
        rewrite.replace_span(module.start(node), module.end(node), guarded(text, node, parent))
