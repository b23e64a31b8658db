"""The hand-written operators of one function: which expressions they are, their operands, and what goes with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.analysis.kinds import Kind, Tag
from graphward.analysis.tree import children, preorder
from graphward.rules.context import FunctionContext

from ._flow import plain_value
from ._forms import FORMS, Found
from ._measured import OFFERED, is_faster
from ._reading import Reader, last_name
from ._terms import Term, neg

_OPERATORS: dict[type[ast.operator], str] = {ast.MatMult: "@", ast.Pow: "**", ast.Mult: "*"}
_HOLDERS = frozenset({ast.Assign, ast.Attribute, ast.keyword})
_NO_TENSOR = frozenset({Tag.CONSTANT, Tag.SHAPE, Tag.NDARRAY, Tag.SCALAR, Tag.CELL, Tag.DICT, Tag.SEQUENCE})


@dataclass(frozen=True)
class Operand:
    """The text of an operand as it can stand where the operator stood, and the node that it was taken from."""

    text: str
    node: ast.expr


@dataclass(frozen=True)
class Match:
    """An expression that is an operator. `removed` are the assignments that nothing else reads."""

    root: ast.expr
    found: Found
    operands: tuple[Operand, ...]
    removed: tuple[ast.stmt, ...]
    used: frozenset[ast.AST]


def matches(context: FunctionContext, *, everything: bool = False) -> list[Match]:
    """The hand-written operators in a function for which the native one pays, in source order, the largest where
    several overlap. With `everything` the others too."""
    key = ("native operators", context.function, everything)
    return context.once(key, lambda: _select(context, everything))


def _select(context: FunctionContext, everything: bool) -> list[Match]:
    wanted = _wanted(context, everything)
    if not wanted:
        return []
    found = [match for match in _all(context, wanted) if everything or is_faster(match.found)]
    found.sort(key=lambda match: (not is_faster(match.found), -len(match.used)))
    taken: set[ast.AST] = set()
    chosen: list[Match] = []
    for match in found:
        if not (match.used | set(match.removed)) & taken:
            taken |= match.used | set(match.removed)
            chosen.append(match)
    return sorted(chosen, key=lambda m: context.module.start(m.root))


def _wanted(context: FunctionContext, everything: bool) -> list[str]:
    """The operators that a function may hold by what it reads."""
    read = {name.lower() for node in context.function.loads if (name := last_name(node))}
    if context.cell is not None:
        # `self.act(x)`: what was made of MindSpore's own in `__init__` is read under another name.
        values = context.project.attribute_values(context.cell)
        for name in {node.attr for node in context.function.loads if isinstance(node, ast.Attribute)} & set(values):
            made = values[name][0][1]
            if isinstance(made, ast.Call):
                read |= {last_name(made.func).lower(), f"{last_name(made.func).lower()} made"}
    read |= set(_marks(context))
    return [
        name for name, (_, needs) in FORMS.items()
        if (everything or name in OFFERED) and all(need & read for need in needs)
    ]  # fmt: skip


def _marks(context: FunctionContext) -> Iterator[str]:
    """What a function holds besides names. A comparison counts where it is a value, and not what an `if` asks for."""
    for node in context.function.nodes:
        kind = node.__class__
        if kind is ast.BinOp:
            mark = _OPERATORS.get(node.op.__class__)  # type: ignore[attr-defined]
            if mark:
                yield mark
            if node.left.__class__ is ast.Compare or node.right.__class__ is ast.Compare:  # type: ignore[attr-defined]
                yield ">"
        elif kind is ast.Call:
            if any(argument.__class__ is ast.Compare for argument in node.args):  # type: ignore[attr-defined]
                yield ">"
        elif kind in _HOLDERS:
            if node.value.__class__ is ast.Compare:  # type: ignore[attr-defined]
                yield ">"
        elif kind is ast.Subscript:
            index = node.slice  # type: ignore[attr-defined]
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            if any(isinstance(part, ast.Constant) and part.value is None for part in parts):
                yield "[None]"


def _all(context: FunctionContext, wanted: list[str]) -> Iterator[Match]:
    reader = Reader(context)
    for node in context.function.nodes:
        if not isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call)):
            continue
        term = reader.term(node)
        if term.op == "leaf" or reader.flow.statement(node) is None:
            continue
        for name in wanted:
            found = FORMS[name][0](term)
            match = _placed(context, reader, node, found) if found is not None else None
            if match is not None:
                yield match
                break


def _placed(context: FunctionContext, reader: Reader, root: ast.expr, found: Found) -> Match | None:
    """The match with what surrounds it; None where an operand cannot be named there, or is no Tensor."""
    statement = reader.flow.statement(root)
    assert statement is not None
    used, expanded = _reach(reader, root, set(found.operands))
    removed = _needless(context, reader, root, expanded)
    operands: list[Operand] = []
    for position, term in enumerate(found.operands):
        operand = _operand(context, reader, statement, term, used, removed)
        if operand is None:
            return None
        kind = context.kind(operand.node)
        if term in found.constant:
            if kind.is_tensor or kind.variable:
                return None
        elif kind.tag in _NO_TENSOR or term.op == "num" or (position not in found.whole and _of_integers(kind)):
            return None
        if found.form == "x * (x > 0)" and not (kind.is_tensor or kind.variable):
            return None
        if found.ranks and kind.tag is not Tag.PARAMETER and kind.rank != found.ranks[position] != 0:
            return None
        operands.append(operand)
    return Match(root, found, tuple(operands), tuple(removed), frozenset(used))


def _of_integers(kind: Kind) -> bool:
    return (kind.dtype or "").startswith(("int", "uint", "bool"))


def _reach(reader: Reader, root: ast.expr, operands: set[Term]) -> tuple[set[ast.AST], list[ast.stmt]]:
    """The nodes that the operator is written with, down to its operands, and the assignments that they go through."""
    used: set[ast.AST] = set()
    through: list[ast.stmt] = []
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        if node in used:
            continue
        used.add(node)
        if isinstance(node, ast.expr) and node is not root and reader.known(node) in operands:
            continue
        if isinstance(node, ast.Name):
            statement = reader.flow.statement(node)
            definition = reader.flow.definition(node.id, statement) if statement is not None else None
            value = plain_value(definition, node.id)
            if value is not None and isinstance(definition, ast.stmt):
                if definition not in through:
                    through.append(definition)
                stack.append(value)
        stack += children(node)
    return used, through


def _needless(context: FunctionContext, reader: Reader, root: ast.expr, through: list[ast.stmt]) -> list[ast.stmt]:
    """Those assignments whose value nothing but the operator reads."""
    removed = list(through)
    while True:
        inside = set(preorder(root, *removed))
        kept = [s for s in removed if not _read_elsewhere(context, reader, s, inside)]
        if len(kept) == len(removed):
            return kept
        removed = kept


def _read_elsewhere(context: FunctionContext, reader: Reader, definition: ast.stmt, inside: set[ast.AST]) -> bool:
    target = definition.targets[0] if isinstance(definition, ast.Assign) else definition.target  # type: ignore
    assert isinstance(target, ast.Name)
    name = target.id
    for node in context.function.loads:
        if node.__class__ is ast.Name and node.id == name and node not in inside:
            at = reader.flow.statement(node)
            if at is None:
                return True
            known = reader.flow.definition(name, at)
            if known is definition or (known is not None and plain_value(known, name) is None):
                return True
    return False


def _operand(
    context: FunctionContext, reader: Reader, statement: ast.stmt, term: Term, used: set[ast.AST],
    removed: list[ast.stmt],
) -> Operand | None:  # fmt: skip
    """How an operand can be written at `statement` once `removed` is gone."""
    moved = {n for s in removed for n in preorder(s)} | set(preorder(statement))
    for negated in (False, True):
        places = reader.sources.get(neg(term) if negated else term, ())
        for node in sorted(places, key=lambda n: (n not in used, len(context.text(n)))):
            if any(isinstance(p, ast.Call) for p in preorder(node)) and node not in moved:
                continue
            if _means_the_same(reader, node, statement, frozenset(removed)):
                text = context.text(node)
                return Operand(_negated(context, node) if negated else text, node)
    return None


def _negated(context: FunctionContext, node: ast.expr) -> str:
    """`a * b` of `-a * b`, else `-(...)`."""
    first = node
    while isinstance(first, ast.BinOp) and isinstance(first.op, (ast.Mult, ast.Div)):
        first = first.left
    text = context.text(node)
    signed = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub) and text.startswith("-")
    return text[1:].lstrip() if signed else f"-({text})"


def _means_the_same(reader: Reader, node: ast.expr, statement: ast.stmt, removed: frozenset[ast.stmt]) -> bool:
    """Whether every variable in an expression has the same value at `statement` as where the expression stands."""
    own = reader.flow.statement(node)
    if own is None:
        return False
    return all(
        reader.flow.definition(part.id, own) is reader.flow.definition(part.id, statement, removed)
        for part in preorder(node)
        if isinstance(part, ast.Name)
    )
