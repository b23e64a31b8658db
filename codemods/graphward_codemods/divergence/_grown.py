"""Lists outside of the graph that graph code appends to: the appending moves to `__call__`, their length to a
Parameter."""

from __future__ import annotations

import ast

from graphward.analysis.ownership import Source, ownership
from graphward.rules.context import FunctionContext
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, remove_statement
from ..cells._attributes import free_name, taken_names
from ..cells._initializer import Initializer
from ._carriers import Outgoing, local_name, parameter_text


def move_appends(context: FunctionContext, source: Source) -> Fix:
    """The fix for a list that `construct` appends to and otherwise only asks for its length. Raises CannotRewrite and
    CannotMove."""
    function, cell = context.function, context.function.owner
    outgoing = Outgoing(context)
    if cell is None or function.receiver is None:
        raise CannotRewrite("only a Cell can keep it")
    _check_other_functions(context, source)
    appends, lengths = _uses(context, source)
    rewrite = context.rewrite()
    names: list[str] = []
    then: list[str] = []
    counter = ""
    if lengths:
        wanted = f"{source.name.rpartition('.')[2].lower().strip('_')}_length"
        counter = f"{function.receiver}.{free_name(wanted, taken_names(context.project, cell))}"
        initializer = Initializer(context.project, cell)
        attribute = counter.rpartition(".")[2]
        made = parameter_text(rewrite, f"len({source.name})", attribute, "int32")
        site = context.module.start(function.node) + 1
        initializer.add(rewrite, site, [f"{initializer.receiver}.{attribute} = {made}"], set())
        for read in lengths:
            rewrite.replace(read, counter, context.parent(read))
    for statement, values in appends.items():
        if not outgoing.after(statement):
            raise CannotRewrite(f"{source.name} is not appended to exactly once at each call")
        lines: list[str] = []
        for value in values:
            text = context.text(value)
            if not isinstance(value, ast.Constant):
                item = local_name(context, "item", names)
                names.append(item)
                lines.append(f"{item} = {text}")
                text = item
            then.append(f"{source.name}.append({text})")
        if counter:
            lines.append(f"{rewrite.spell('mindspore.ops.assign_add')}({counter}, {len(values)})")
        if not lines:
            remove_statement(context, rewrite, statement)
            continue
        indent = context.module.source.indent(statement.lineno)
        start, end = context.module.start(statement), context.module.end(statement)
        rewrite.replace_span(start, end, f"{context.module.source.newline}{indent}".join(lines))
    outgoing.add(rewrite, names, names, then, [])
    reason = "the list grows after the call and not within it; construct called by itself does not let it grow"
    return rewrite.unsafe(f"Append to {source.name} in __call__", reason)


def _uses(context: FunctionContext, source: Source) -> tuple[dict[ast.stmt, list[ast.expr]], list[ast.expr]]:
    """What each statement appends (`append`, or `extend` and `+=` of a literal list), and the `len` calls on the list;
    raises CannotRewrite when it is used in another way."""
    own = ownership(context.inference, context.function)
    appends: dict[ast.stmt, list[ast.expr]] = {}
    lengths: list[ast.expr] = []
    for node in context.function.nodes:
        if not isinstance(node, (ast.Name, ast.Attribute)) or source not in own.value(node).objects:
            continue
        parent = context.parent(node)
        above = context.parent(parent) if parent else None
        if isinstance(parent, ast.AugAssign) and parent.target is node and isinstance(parent.op, ast.Add):
            appends[parent] = _items(parent.value)
        elif not isinstance(node.ctx, ast.Load):
            continue
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
            lengths.append(parent)
        elif isinstance(parent, ast.Attribute) and isinstance(above, ast.Call) and len(above.args) == 1 and isinstance(
            context.parent(above), ast.Expr
        ) and parent.attr in ("append", "extend"):  # fmt: skip
            value = above.args[0]
            appends[context.statement(above)] = [value] if parent.attr == "append" else _items(value)
        elif not (isinstance(parent, ast.Assign) and parent.value is node):
            raise CannotRewrite(f"{source.name} is read in the graph")
    if not appends:
        raise CannotRewrite(f"{source.name} is changed otherwise than by append")
    return appends, lengths


def _items(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return node.elts
    raise CannotRewrite("how many items are added is not written down")


def _check_other_functions(context: FunctionContext, source: Source) -> None:
    name = source.name.rpartition(".")[2]
    for other in context.inference.reached:
        if other is context.function or other.module is not context.module:
            continue
        if source.kind == "attribute" and other.owner is not context.function.owner:
            continue
        if any((isinstance(n, ast.Attribute) and n.attr == name) or (isinstance(n, ast.Name) and n.id == name)
               for n in other.loads):  # fmt: skip
            raise CannotRewrite(f"{other.name} uses {source.name} too")
