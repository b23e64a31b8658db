"""A layer that is made in a loop becomes a CellList: how it is filled, and how the loop picks from it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from graphward.analysis.kinds import Tag
from graphward.analysis.names import all_arguments

from ._creations import Creation, LoopNode
from ._moving import CannotMove, Move

# What a constructor's argument may be without being a part of the Cell.
_NO_CELLS = (Tag.CONSTANT, Tag.SHAPE, Tag.SEQUENCE, Tag.SCALAR, Tag.UNKNOWN)
_INDEX_NAMES = ("i", "j", "k", "index")


@dataclass
class LoopUse:
    """`clause` is the `for ... in ...` of the comprehension that fills the list, `index` the expression that picks the
    layer of an iteration, `edits` the byte spans of the loop's header to replace. `count` is the parameter of the
    function that bounds the loop at run time."""

    clause: str
    index: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    count: str = ""


def depends_on_loops(creation: Creation) -> bool:
    """Whether the constructor's arguments read a variable of a loop around it."""
    names = _names(creation.call)
    return any(names & _target_names(loop) for loop in creation.loops)


def loop_uses(creation: Creation, move: Move, count_name: str) -> list[LoopUse]:
    """How each loop around the creation, outermost first, is mirrored. `count_name` is the constructor's parameter
    that stands for a run-time count. Raises CannotMove."""
    fresh = _fresh_names(creation)
    uses = []
    for position, loop in enumerate(creation.loops):
        if isinstance(loop, ast.While):
            raise CannotMove("a while loop does not say how many are needed")
        needed = _names(creation.call)
        for inner in creation.loops[position + 1 :]:
            if not isinstance(inner, ast.While):
                needed |= _names(_iterable(inner))
        uses.append(_use(loop, creation, move, needed, count_name, fresh.pop(0)))
        move.bound |= _target_names(loop)
    return uses


def _use(
    loop: ast.For | ast.AsyncFor | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    creation: Creation, move: Move, needed: set[str], count_name: str, fresh: str,
) -> LoopUse:  # fmt: skip
    if not isinstance(loop, (ast.For, ast.AsyncFor)) and len(loop.generators) != 1:
        raise CannotMove("the comprehension has more than one `for`")
    if not isinstance(loop, (ast.For, ast.AsyncFor)) and loop.generators[0].ifs:
        raise CannotMove("the comprehension has a condition, so its positions are not those of a list")
    target, iterable = _target(loop), _iterable(loop)
    if isinstance(loop, ast.For) and _assigned(loop) & _target_names(loop):
        raise CannotMove("the loop assigns its own variable")
    module = creation.function.module
    reads_target = bool(_target_names(loop) & needed)
    written = module.text(target)
    wanted = written if reads_target else "_"
    call = (
        iterable
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and not iterable.keywords
        else None
    )
    name = call.func.id if call is not None and isinstance(call.func, ast.Name) else ""
    if name == "range" and isinstance(target, ast.Name):
        assert call is not None
        index, edits = _index_variable(loop, target, creation, fresh)
        start, step = _range_parts(call, move)
        position = index
        if start != "0":
            position = f"{index} - {start}" if start.isidentifier() or start.isdigit() else f"{index} - ({start})"
        if step != "1":
            offset = position if position == index else f"({position})"
            position = f"{offset} // {step}" if step.isdigit() else f"{offset} // ({step})"
        stop = call.args[0] if len(call.args) == 1 else call.args[1]
        try:
            return LoopUse(f"for {wanted} in {move.text(iterable)}", position, edits)
        except CannotMove:
            if not (isinstance(stop, ast.Name) and _is_parameter(creation, stop.id) and start == "0" and step == "1"):
                raise
        return LoopUse(f"for {wanted} in range({count_name})", position, edits, count=stop.id)
    if not _reads_cells(creation, move, _target_names(loop)):
        move = Move(move.inference, move.function, move.cell, move.receiver, move.bound, move.reads, cells=True)
    if name == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        assert call is not None
        if len(call.args) != 1 or len(target.elts) != 2:
            raise CannotMove("the loop counts from somewhere else than 0")
        index, edits = _index_variable(loop, target.elts[0], creation, fresh)
        return LoopUse(f"for {wanted} in {move.text(iterable)}", index, edits)
    if isinstance(target, ast.Starred) or not isinstance(target, (ast.Name, ast.Tuple, ast.List)):
        raise CannotMove("the loop variable is no name")
    clause = f"for {wanted} in {move.text(iterable)}"
    begin, end = module.start(target), module.end(target)
    inner = written if isinstance(target, ast.Name) or written.startswith(("(", "[")) else f"({written})"
    edits = [
        (begin, end, f"{fresh}, {inner}"),
        (module.start(iterable), module.start(iterable), "enumerate("),
        (module.end(iterable), module.end(iterable), ")"),
    ]
    return LoopUse(clause, fresh, edits)


def _reads_cells(creation: Creation, move: Move, names: set[str]) -> bool:
    """Whether the constructor's arguments read a Cell through one of `names`."""
    return any(
        isinstance(n, ast.Name) and n.id in names
        and move.inference.kind(creation.function, n).tag not in _NO_CELLS
        for n in ast.walk(creation.call)
    )  # fmt: skip


def _index_variable(
    loop: LoopNode, target: ast.Name, creation: Creation, fresh: str
) -> tuple[str, list[tuple[int, int, str]]]:
    """The name that counts the iterations; a `_` that nobody reads gets a name."""
    if not target.id.startswith("_"):
        return target.id, []
    if any(isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load) for n in ast.walk(loop)):
        return target.id, []
    module = creation.function.module
    return fresh, [(module.start(target), module.end(target), fresh)]


def _range_parts(call: ast.Call, move: Move) -> tuple[str, str]:
    if len(call.args) not in (1, 2, 3) or any(isinstance(a, ast.Starred) for a in call.args):
        raise CannotMove("the range cannot be read")
    start = "0" if len(call.args) == 1 else move.text(call.args[0])
    return start, move.text(call.args[2]) if len(call.args) == 3 else "1"


def _is_parameter(creation: Creation, name: str) -> bool:
    return any(a.arg == name for a in all_arguments(creation.function.node.args)) and not any(
        isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in creation.function.nodes
    )


def _fresh_names(creation: Creation) -> list[str]:
    """A free index name for each loop."""
    used = {n.id for n in creation.function.nodes if isinstance(n, ast.Name)} | creation.function.names.hidden
    numbered = (f"index_{n}" for n in range(2, 1000))
    free = [n for n in (*_INDEX_NAMES, *numbered) if n not in used]
    return free[: len(creation.loops)]


def _target(loop: LoopNode) -> ast.expr:
    assert not isinstance(loop, ast.While)
    return loop.target if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].target


def _iterable(loop: LoopNode) -> ast.expr:
    assert not isinstance(loop, ast.While)
    return loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter


def _target_names(loop: LoopNode) -> set[str]:
    return set() if isinstance(loop, ast.While) else _names(_target(loop))


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _assigned(loop: ast.For) -> set[str]:
    return {
        n.id for statement in loop.body for n in ast.walk(statement)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }  # fmt: skip
