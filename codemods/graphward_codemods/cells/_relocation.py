"""The edits that move a creation from graph code to `__init__`."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass

from graphward.analysis.module import Module
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._counts import DEFAULT, largest_count
from ._creations import Creation, What
from ._initializer import Initializer
from ._loops import LoopUse, loop_uses
from ._moving import CannotMove, Move
from ._plan import Plan, list_comprehension

_MAX_LINE = 120


@dataclass
class Relocation:
    """A finished set of edits. `count` says of a run-time count where its default comes from."""

    rewrite: Rewrite
    attribute: str
    count: str = ""


def relocate(context: FunctionContext, plan: Plan, creation: Creation) -> Relocation:
    """Keep what `creation` makes as an attribute that `__init__` sets, and use that. Raises CannotMove."""
    function = creation.function
    if plan.cell is None:
        raise CannotMove(f"{function.name} is a function and has no __init__")
    if function.receiver is None or function.is_static:
        raise CannotMove(f"{function.name} has no self")
    if any(name == "classmethod" for name, _ in function.decorators):
        raise CannotMove(f"{function.name} is a class method")
    place = Initializer(context.project, plan.cell)
    move = Move(context.inference, function, plan.cell, place.receiver)
    rewrite = context.rewrite()
    attribute = plan.names[creation]
    site = context.module.start(creation.call) + 1
    if creation.attribute:
        _take_assignment(context, plan, creation)
    uses: list[LoopUse] = []
    count = ""
    if creation.loops and not plan.shared(creation):
        if creation.what is What.PRIMITIVE:
            raise CannotMove("it differs from one iteration to the next")
        uses, count = _loops(context, plan, creation, move, place, rewrite)
    text = _indented(context.module, creation.call, move.text(creation.call), place.indent)
    if creation.what is What.PARAMETER:
        text = _named(creation, attribute, uses, text)
    lines = _lines(f"{place.receiver}.{attribute} = ", _collected(rewrite, creation, uses, text), place)
    kept = creation.what is What.PARAMETER or not (plan.shared(creation) or plan.made(creation).stateless)
    condition = _condition(creation, move) if kept and not uses else ""
    if condition:
        lines = [f"if {condition}:", *(place.step + line for line in lines)]
    comment = _use(context, creation, uses, attribute, rewrite)
    if comment and len(lines) == 1:
        lines = [f"{lines[0]}  {comment}"]
    place.add(rewrite, site, lines, move.reads)
    return Relocation(rewrite, attribute, count)


def _loops(
    context: FunctionContext, plan: Plan, creation: Creation, move: Move, place: Initializer, rewrite: Rewrite
) -> tuple[list[LoopUse], str]:
    function = creation.function
    # The parameter's name is only known once a loop asks for it; every loop of one function over one parameter shares it.
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
        spelled = rewrite.spell("mindspore.ParameterTuple" if creation.what is What.PARAMETER else "mindspore.nn.CellList")
        pieces = [f"{spelled}(", "[", *pieces, use.clause, "]", ")"]
    return pieces


def _named(creation: Creation, attribute: str, uses: list[LoopUse], text: str) -> str:
    """The constructor call of a Parameter with a name of its own."""
    if creation.qualified != "mindspore.Parameter":
        return text
    call = creation.call
    named = len(call.args) > 1 or any(k.arg in ("name", None) for k in call.keywords)
    if not named and any(t.type == tokenize.COMMENT for t in _tokens(f"({text})")):
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
        try:
            trial = Move(move.inference, move.function, move.cell, move.receiver, move.bound, set())
            text = trial.text(node.test)
        except CannotMove:
            return ""
        if "\n" in text:
            return ""
        move.reads |= trial.reads
        simple = isinstance(node.test, (ast.Name, ast.Attribute, ast.Call, ast.Compare))
        tests.append((text if simple or len(creation.arms) == 1 else f"({text})") if arm == "body" else
                     f"not {text}" if isinstance(node.test, (ast.Name, ast.Attribute, ast.Call)) else f"not ({text})")  # fmt: skip
    return " and ".join(tests)


def _use(context: FunctionContext, creation: Creation, uses: list[LoopUse], attribute: str, rewrite: Rewrite) -> str:
    """Put the attribute in the place of the constructor call. Returns a comment that moves with the statement."""
    module, function = context.module, creation.function
    receiver = function.receiver
    new = f"{receiver}.{attribute}"
    if creation.attribute:
        return _remove(module, creation, rewrite)
    replaced: ast.expr = creation.call
    whole = list_comprehension(creation)
    if uses and whole is not None:
        replaced, uses = whole, uses[:-1]
    for use in uses:
        for start, end, text in use.edits:
            if start == end:
                rewrite.insert(start, text)
            else:
                rewrite.replace_span(start, end, text)
        new += f"[{use.index}]"
    parent = function.parents[replaced]
    variable = parent.targets[0].id if _is_plain_assignment(parent) else ""  # type: ignore[attr-defined]
    loads = _loads(creation, variable, parent) if variable and not uses else []
    if loads:
        comment = _comment(module, creation.statement)
        if comment is not None:
            for load in loads:
                rewrite.replace_span(module.start(load), module.end(load), new)
            _delete_lines(module, creation.statement, rewrite)
            return comment
    rewrite.replace_span(module.start(replaced), module.end(replaced), new)
    return ""


def _is_plain_assignment(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


def _loads(creation: Creation, variable: str, statement: ast.AST) -> list[ast.Name]:
    """All reads of a variable that only `statement` binds, or none where that is not sure."""
    function = creation.function
    found = []
    for node in function.nodes:
        if isinstance(node, (ast.Global, ast.Nonlocal)) and variable in node.names:
            return []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if any(a.arg == variable for a in ast.walk(node.args) if isinstance(a, ast.arg)):
                return []
        if isinstance(node, ast.Name) and node.id == variable:
            if isinstance(node.ctx, ast.Load):
                found.append(node)
            elif function.parents[node] is not statement:
                return []
    siblings = next(b for b in _bodies(function.parents[statement]) if statement in b)
    return found if len(siblings) > 1 else []


def _bodies(node: ast.AST) -> list[list[ast.AST]]:
    found = [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")]
    return [b for b in found if isinstance(b, list)]


def _take_assignment(context: FunctionContext, plan: Plan, creation: Creation) -> None:
    """Check that `self.name = ...` in graph code is the only one that counts. Raises CannotMove."""
    assert plan.cell is not None
    name = creation.attribute
    if creation.loops:
        raise CannotMove(f"the loop sets self.{name} anew each time")
    for method, value in context.project.attribute_values(plan.cell).get(name, ()):
        if value is creation.call:
            continue
        if method.name == "__init__" and isinstance(value, ast.Constant) and value.value is None:
            continue
        raise CannotMove(f"self.{name} is also set in {method.name}")
    for node, arm in creation.arms:
        if not (isinstance(node, ast.If) and arm == "body" and _is_lazy_test(node, name, creation)):
            raise CannotMove(f"self.{name} is set under a condition")


def _is_lazy_test(node: ast.If, name: str, creation: Creation) -> bool:
    """`if self.name is None:` with nothing in it but the assignment."""
    test = node.test
    if node.body != [creation.statement] or node.orelse:
        return False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is):
        left, right = test.left, test.comparators[0]
        return (
            isinstance(left, ast.Attribute) and left.attr == name and isinstance(left.value, ast.Name)
            and left.value.id == creation.function.receiver and isinstance(right, ast.Constant) and right.value is None
        )  # fmt: skip
    return False


def _remove(module: Module, creation: Creation, rewrite: Rewrite) -> str:
    """Delete `self.name = ...`, and the `if` around it that made it lazy."""
    statement: ast.stmt = creation.statement
    if creation.arms and isinstance(creation.arms[-1][0], ast.If):
        statement = creation.arms[-1][0]
    comment = _comment(module, creation.statement)
    siblings = next(b for b in _bodies(creation.function.parents[statement]) if statement in b)
    if comment is None or len(siblings) == 1 or (statement is not creation.statement and _comment(module, statement) is None):
        raise CannotMove("the statement shares its line with others")
    _delete_lines(module, statement, rewrite)
    return comment


def _comment(module: Module, statement: ast.stmt) -> str | None:
    """The comment at the end of a statement's last line, empty for none; None when its lines hold other code or
    further comments."""
    source = module.source
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if len(source.indent(first).encode()) != statement.col_offset:
        return None
    text = b"".join(source.line_bytes(n) for n in range(first, last + 1)).decode()
    comments = [t for t in _tokens(text) if t.type == tokenize.COMMENT]
    tail = source.utf8[module.end(statement) : source.offset(last, 0) + len(source.line_bytes(last))].decode().strip()
    if tail and not tail.startswith("#"):
        return None
    if len(comments) > (1 if tail else 0) and isinstance(statement, ast.If):
        return None
    return tail


def _delete_lines(module: Module, statement: ast.stmt, rewrite: Rewrite) -> None:
    source = module.source
    starts = source.line_starts
    last = statement.end_lineno or statement.lineno
    end = starts[last] if last < len(starts) else len(source.utf8)
    first = statement.lineno
    above = source.line_bytes(first - 1).strip() if first > 1 else b""
    # What opened with the statement should not open with an empty line.
    if (above.endswith(b":") or not above) and last < len(starts) and not source.line_bytes(last + 1).strip():
        end = starts[last + 1] if last + 1 < len(starts) else len(source.utf8)
    rewrite.replace_span(starts[first - 1], end, "")


def _indented(module: Module, call: ast.Call, text: str, indent: str) -> str:
    """A call over several lines, moved to another depth."""
    old = module.source.indent(call.lineno)
    if "\n" not in text or old == indent:
        return text
    if any(t.type == tokenize.STRING and "\n" in t.string for t in _tokens(f"({text})")):
        return text
    first, *rest = text.split("\n")
    return "\n".join([first, *((indent + line[len(old) :]) if line.startswith(old) else line for line in rest)])


def _lines(head: str, pieces: list[str], place: Initializer) -> list[str]:
    """`head` and the pieces of a value as the lines of a statement."""
    if len(pieces) == 1 or len(place.indent) + len(head) + len(_flat(pieces)) <= _MAX_LINE:
        return [head + _flat(pieces)]
    inner = _flat(pieces[1:-1])
    if len(place.indent) + len(place.step) + len(inner) <= _MAX_LINE:
        return [head + pieces[0], place.step + inner, ")"]
    lines, depth = [], 0
    for piece in pieces:
        depth -= piece in ("]", ")")
        lines.append(place.step * depth + piece)
        depth += piece.endswith(("(", "["))
    return [head + lines[0], *lines[1:]]


def _flat(pieces: list[str]) -> str:
    return "".join(f" {piece}" if piece.startswith("for ") else piece for piece in pieces)


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []
