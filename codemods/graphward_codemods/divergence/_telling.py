"""After a write into one name, how the others that see the memory are brought up to date."""

from __future__ import annotations

import ast
from collections import Counter

from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import statements
from graphward.analysis.ownership import Holder, ownership
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from .._blocks import siblings
from .._python import literal_number

# Views that `reshape` to the shape of the other undoes.
_RESHAPES = frozenset(
    {"reshape", "view", "squeeze", "expand_dims", "unsqueeze", "flatten", "ravel", "view_as", "reshape_as",
     "stop_gradient"}
)  # fmt: skip
# A cast to the dtype that a Tensor has already shares its memory.
_CASTS = frozenset({"astype", "to", "float", "cast", "type", "type_as"})
# Views that undo themselves with the same arguments.
_SWAPS = frozenset({"swapaxes", "swapdims", "t"})
_MOVES = frozenset({"movedim", "moveaxis"})
# Views that come as a tuple: what puts them together again, and where their axis stands.
_SPLITS = {
    "split": ("cat", 1), "chunk": ("cat", 1), "tensor_split": ("cat", 1), "unbind": ("stack", 0),
    "unstack": ("stack", 0),
}  # fmt: skip
# Views of `mindspore.mint` that a graph fails to write into.
_READ_ONLY = frozenset({"transpose", "permute", "swapaxes", "narrow", "split", "chunk", "unbind", "select", "t"})
# Views whose writes reach what they are taken of in the graph as well.
SHARED_IN_THE_GRAPH = frozenset({"mindspore.mint.unsqueeze"})


class CannotTell(Exception):
    """Why a holder cannot be brought up to date by a statement of its own."""


def update_of(
    context: FunctionContext, rewrite: Rewrite, statement: ast.stmt, name: str, holder: Holder
) -> str:  # fmt: skip
    """The statement that gives `holder`, a variable, what was written through `name`. Raises CannotTell."""
    if holder.inside:
        raise CannotTell(f"{holder.name} holds it inside")
    if holder.same:
        return f"{holder.name} = {name}"
    function = context.function
    own, other = definition(function, name, statement), definition(function, holder.name, statement)
    if own is not None:
        text = undone(context, own, name, holder.name)
        if text is not None:
            return text
    together = _joined(context, rewrite, statement, name, holder.name)
    if together is not None:
        return together
    if other is not None and viewed(context, other) == name and definition(function, name, statement) is not other:
        return f"{holder.name} = {context.text(other)}"
    raise CannotTell(f"how {holder.name} follows from {name} is not plain")


def undone(context: FunctionContext, made: ast.expr, name: str, base: str) -> str | None:
    """`made` is a view of `base` under the name `name`: the statement that writes it back, where that is known.
    Raises CannotTell where no statement can help."""
    if viewed(context, made) != base:
        return None
    if isinstance(made, ast.Subscript):
        return f"{context.text(made)} = {name}"
    if isinstance(made, ast.Attribute):
        return f"{base} = {name}.{made.attr}"
    if not isinstance(made, ast.Call):
        return None
    resolved = context.resolve(made.func)
    method = _method(context, made)
    if method in _READ_ONLY and resolved == f"mindspore.mint.{method}":
        raise CannotTell(f"a graph cannot write into a view that {context.text(made.func)} makes")
    if method in _RESHAPES:
        return f"{base} = {name}.reshape({base}.shape)"
    is_method = isinstance(made.func, ast.Attribute) and resolved is None
    arguments = made.args if is_method else made.args[1:]
    if method in _CASTS:
        return f"{base} = {name}.astype({base}.dtype)"
    if made.keywords:
        return None
    if method in _SWAPS:
        return f"{base} = {name}.{method}({', '.join(map(context.text, arguments))})"
    if method in _MOVES and len(arguments) == 2:
        return f"{base} = {name}.movedim({context.text(arguments[1])}, {context.text(arguments[0])})"
    if method == "narrow" and len(arguments) == 3 and all(isinstance(a, (ast.Constant, ast.Name)) for a in arguments):
        axis, start, length = arguments
        number = literal_number(axis)
        if not isinstance(number, int) or number < 0:
            return None
        begin = context.text(start)
        stop = f"{begin} + {context.text(length)}"
        return f"{base}[{':, ' * number}{begin}:{stop}] = {name}"
    axes = _axes(arguments)
    if method in ("transpose", "permute") and axes is not None:
        back = [axes.index(i) for i in range(len(axes))]
        return f"{base} = {name}.{method}({', '.join(map(str, back))})"
    return None


def split_with(context: FunctionContext, statement: ast.stmt, name: str) -> tuple[list[str], ast.Call] | None:
    """The call that split a Tensor into parts of which `name` is one, and the names of all, where each has a name that
    nothing else binds."""
    bound = Counter(
        n.id for n in preorder(*context.function.node.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    for node in statements(context.function.node.body):
        if not (isinstance(node, ast.Assign) and node.lineno < statement.lineno and isinstance(node.value, ast.Call)):
            continue
        target = node.targets[0]
        parts = target.elts if len(node.targets) == 1 and isinstance(target, (ast.Tuple, ast.List)) else []
        names = [p.id for p in parts if isinstance(p, ast.Name)]
        if name in names and len(names) == len(parts) and all(bound[n] == 1 for n in names):
            return (names, node.value) if _method(context, node.value) in _SPLITS else None
    return None


def _joined(context: FunctionContext, rewrite: Rewrite, statement: ast.stmt, name: str, base: str) -> str | None:
    """The statement that puts the parts of `base`, of which `name` is one, together again."""
    found = split_with(context, statement, name)
    if found is None or len(found[0]) == 1 or viewed(context, found[1]) != base:
        return None
    names, made = found
    resolved = context.resolve(made.func) or ""
    if resolved.startswith("mindspore.mint.") or any(k.arg not in ("axis", "dim") for k in made.keywords):
        return None
    operator, place = _SPLITS[_method(context, made)]
    given = made.args[place + bool(resolved) :] + [k.value for k in made.keywords]
    axis = literal_number(given[0]) if given else 0
    if len(given) > 1 or not isinstance(axis, int):
        return None
    along = f", {axis}" if axis else ""
    return f"{base} = {rewrite.spell(f'mindspore.ops.{operator}')}(({', '.join(names)}){along})"


def _method(context: FunctionContext, made: ast.Call) -> str:
    return (context.resolve(made.func) or context.text(made.func)).rpartition(".")[2]


def is_reshaped(context: FunctionContext, node: ast.expr) -> bool:
    """Whether a call gives the same items under another shape."""
    if not isinstance(node, ast.Call):
        return False
    method = _method(context, node)
    return method in _RESHAPES and method != "stop_gradient" and context.resolve(node.func) not in SHARED_IN_THE_GRAPH


def _axes(arguments: list[ast.expr]) -> list[int] | None:
    """The literal permutation that a transposition is given, spread or as a tuple."""
    items = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], (ast.Tuple, ast.List)) else arguments
    found = [i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, int)]
    return found if len(found) == len(items) and sorted(found) == list(range(len(found))) else None


def definition(function: FunctionInfo, name: str, before: ast.stmt) -> ast.expr | None:
    """The value that the last plain assignment above `before` gives a variable."""
    found = None
    for node in statements(function.node.body):
        if isinstance(node, ast.Assign) and node.lineno < before.lineno and len(node.targets) == 1:
            if isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
                found = node.value
    return found


def viewed(context: FunctionContext, node: ast.expr) -> str | None:
    """The variable that a view is taken of."""
    base = None
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        base = node.value
    elif isinstance(node, ast.Call):
        of_method = isinstance(node.func, ast.Attribute) and context.resolve(node.func) is None
        base = node.func.value if of_method else node.args[0] if node.args else None  # type: ignore[attr-defined]
    return base.id if isinstance(base, ast.Name) else None


def told(context: FunctionContext, statement: ast.stmt, name: str) -> set[str]:
    """The names that the statements right below `statement` bring up to date from `name`: `other[...] = name`,
    `ops.assign(other, name)`, `other.copy_(name)`."""
    block = siblings(context, statement)
    found: set[str] = set()
    for node in block[block.index(statement) + 1 :]:
        other = _told_by(context, node, name)
        if other is None:
            break
        found.add(other)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
        found.add(statement.value.id)  # `base[...] = view`: the view is where the value comes from
    return found


def _told_by(context: FunctionContext, node: ast.stmt, name: str) -> str | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return target.id
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return target.value.id if isinstance(node.value, ast.Name) and node.value.id == name else None
        return None
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return None
    if context.resolve(call.func) == "mindspore.ops.assign" and call.args and isinstance(call.args[0], ast.Name):
        return call.args[0].id
    if isinstance(call.func, ast.Attribute) and call.func.attr == "copy_" and isinstance(call.func.value, ast.Name):
        return call.func.value.id
    return None


def argument_kept_in(context: FunctionContext, statement: ast.stmt, parameter: str, written: str) -> str | None:
    """A variable other than `written` that still is the argument itself at `statement`."""
    state = ownership(context.inference, context.function).before.get(statement)
    for name, value in state.names.items() if state else ():
        if name != written and len(value.objects) == 1:
            source = next(iter(value.objects))
            if source.kind == "argument" and source.name == parameter:
                return name
    return None
