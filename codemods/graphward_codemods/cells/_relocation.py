"""The edits that move a creation from graph code to `__init__`."""

from __future__ import annotations

import ast
import tokenize
from dataclasses import dataclass

from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._counts import DEFAULT, largest_count
from ._creations import Creation, What
from ._initializer import Initializer
from ._layout import indented, one_line, statement_lines, tokens
from ._loops import LoopUse, loop_uses
from ._moving import CannotMove, Move
from ._plan import Plan
from ._statements import check_assignment, use_attribute


@dataclass
class Relocation:
    """A finished set of edits. `count` says of a run-time count where its default comes from, `existing` that
    `__init__` sets the attribute already."""

    rewrite: Rewrite
    attribute: str
    count: str = ""
    existing: bool = False

    def title(self, creation: Creation) -> str:
        if self.existing:
            return f"Use self.{self.attribute}, the {creation.name} that __init__ makes already"
        return f"Make {creation.name} in __init__, as self.{self.attribute}"


def relocate(context: FunctionContext, plan: Plan, creation: Creation) -> Relocation:
    """Keep what `creation` makes as an attribute that `__init__` sets, and use that. Raises CannotMove."""
    function = creation.function
    if plan.cell is None:
        raise CannotMove(f"{function.name} is a function and has no __init__")
    if function.receiver is None or function.is_static:
        raise CannotMove(f"{function.name} has no self")
    if any(name == "classmethod" for name, _ in function.decorators):
        raise CannotMove(f"{function.name} is a class method")
    if isinstance(function.parents.get(creation.call), ast.Attribute):
        raise CannotMove("a method of it is called where it is made")
    place = Initializer(context.project, plan.cell)
    move = Move(context.inference, function, plan.cell, place.receiver)
    rewrite = context.rewrite()
    attribute = plan.names[creation]
    if creation in plan.existing:
        use_attribute(context, creation, [], attribute, rewrite, movable_comment=False)
        return Relocation(rewrite, attribute, existing=True)
    # Creations that are all the same share the attribute, and each fix adds it with the same edit.
    leader = plan.leader(creation)
    alone = plan.is_alone(creation)
    move.function = leader.function
    site = context.module.start(leader.call) + 1
    if creation.attribute:
        check_assignment(context, plan, creation)
    uses: list[LoopUse] = []
    count = ""
    if creation.loops and not plan.shared(creation):
        if creation.what is What.PRIMITIVE:
            raise CannotMove("it differs from one iteration to the next")
        uses, count = _loops(context, plan, creation, move, place, rewrite)
    text = move.text(leader.call)
    text = one_line(text) if uses else indented(context.module, leader.call, text, place.indent)
    if creation.what is What.PARAMETER:
        text = _named(creation, attribute, uses, text)
    lines = statement_lines(
        f"{place.receiver}.{attribute} = ", _collected(rewrite, creation, uses, text), place.indent, place.step
    )
    kept = creation.what is What.PARAMETER or not (plan.shared(creation) or plan.made(creation).stateless)
    condition = _condition(creation, move) if kept and not uses else ""
    if condition:
        lines = [f"if {condition}:", *(place.step + line for line in lines)]
    comment = use_attribute(context, creation, uses, attribute, rewrite, movable_comment=alone)
    if comment and len(lines) == 1:
        lines = [f"{lines[0]}  {comment}"]
    place.add(rewrite, site, lines, move.reads)
    return Relocation(rewrite, attribute, count)


def _loops(
    context: FunctionContext, plan: Plan, creation: Creation, move: Move, place: Initializer, rewrite: Rewrite
) -> tuple[list[LoopUse], str]:
    function = creation.function
    # The parameter's name is known once a loop asks for it; loops of one function over one parameter share it.
    uses = loop_uses(creation, move, "\0")
    counts = {use.count for use in uses if use.count}
    if len(counts) > 1:
        raise CannotMove("two run-time counts bound it")
    said = ""
    for use in uses:
        if not use.count:
            continue
        name, exists = plan.count_parameter(function, use.count)
        use.clause = use.clause.replace("\0", name)
        if not exists:
            seen = largest_count(context.inference, function, use.count)
            number, where = seen if seen else (DEFAULT, "no call shows a number, so this is a guess to look at")
            order = next(a for a in ast.walk(function.node.args) if isinstance(a, ast.arg) and a.arg == use.count)
            place.add_parameter(rewrite, name, str(number), context.module.start(order) + 1)
            said = f"{name}={number} ({where})"
        else:
            said = f"{name}, which __init__ takes already"
    return uses, said


def _collected(rewrite: Rewrite, creation: Creation, uses: list[LoopUse], text: str) -> list[str]:
    """The value to keep, or the list that the loops fill; one piece a line where it does not fit on one."""
    if creation.what is What.PARAMETER and len(uses) > 1:
        raise CannotMove("a ParameterTuple has one level only")
    pieces = [text]
    for use in reversed(uses):
        spelled = rewrite.spell(
            "mindspore.ParameterTuple" if creation.what is What.PARAMETER else "mindspore.nn.CellList"
        )
        pieces = [f"{spelled}(", "[", *pieces, use.clause, "]", ")"]
    return pieces


def _named(creation: Creation, attribute: str, uses: list[LoopUse], text: str) -> str:
    """The constructor call of a Parameter with a name of its own."""
    if creation.qualified != "mindspore.Parameter":
        return text
    call = creation.call
    named = len(call.args) > 1 or any(k.arg in ("name", None) for k in call.keywords)
    if not named and any(t.type == tokenize.COMMENT for t in tokens(f"({text})")):
        raise CannotMove("a comment stands where its name has to go")
    body = text[:-1].rstrip().rstrip(",")
    if not uses:
        return text if named else f'{body}, name="{attribute}")'
    if named:
        literal = next((k.value for k in call.keywords if k.arg == "name"), None)
        if literal is None or not isinstance(literal, ast.JoinedStr):
            raise CannotMove("every iteration would give its Parameter the same name")
        return text
    index = uses[0].index if uses[0].index.isidentifier() else ""
    if not index:
        raise CannotMove("the iterations have no number to name the Parameters by")
    clause_target = uses[0].clause.removeprefix("for ").partition(" in ")[0]
    if clause_target == "_":
        uses[0].clause = f"for {index} in {uses[0].clause.partition(' in ')[2]}"
    elif clause_target != index:
        raise CannotMove("the iterations have no number to name the Parameters by")
    return f'{body}, name=f"{attribute}_{{{index}}}")'


def _condition(creation: Creation, move: Move) -> str:
    """The test under which the layer is used, where `__init__` can ask it too."""
    tests = []
    for node, arm in creation.arms:
        if not isinstance(node, ast.If):
            return ""
        trial = Move(move.inference, move.function, move.cell, move.receiver, move.bound, set())
        try:
            text = trial.text(node.test)
        except CannotMove:
            return ""
        if "\n" in text:
            return ""
        move.reads |= trial.reads
        atom = isinstance(node.test, (ast.Name, ast.Attribute, ast.Call))
        if arm == "orelse":
            tests.append(f"not {text}" if atom else f"not ({text})")
        else:
            bare = atom or isinstance(node.test, ast.Compare) or len(creation.arms) == 1
            tests.append(text if bare else f"({text})")
    return " and ".join(tests)
