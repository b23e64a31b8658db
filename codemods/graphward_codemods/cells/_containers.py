"""Plain lists, tuples and dicts that a Cell keeps Cells or Parameters in: where they are made and what is in them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.rules.context import CellContext

from ._container_uses import graph_uses
from ._creations import What, constructed
from ._made import Made, made_by, parameter_name

_MUTATORS = frozenset({"append", "extend", "insert"})
_containers_made: WeakKeyDictionary[FunctionInfo, set[str]] = WeakKeyDictionary()
# A Cell may own a Cell by calls as well as by assignments.
_OWNING_CALLS = frozenset({"setattr", "__setattr__", "insert_child_to_cell", "add_module", "register_module"})


@dataclass
class Element:
    """One expression that puts something into a container. `many` is true when it does so more than once. `what` is the
    kind of thing: a layer, a Parameter, or None for anything else. `owned` is true when it is an attribute of the Cell
    already."""

    node: ast.expr
    many: bool
    what: What | None
    made: Made = field(default_factory=Made)
    owned: bool = False
    key: ast.expr | None = None


@dataclass
class Container:
    """`self.<attribute> = value` in `method`. `form` is "list", "tuple" or "dict"; `grown` the statements that fill it
    later; `nested` says that its elements are lists themselves, `obstacle` why it cannot be filled first and changed
    then."""

    attribute: str
    method: FunctionInfo
    statement: ast.stmt
    value: ast.expr
    form: str
    elements: list[Element]
    grown: list[ast.stmt] = field(default_factory=list)
    nested: bool = False
    obstacle: str = ""


def containers(context: CellContext) -> list[Container]:
    """The containers that methods of the class itself make, graph code apart, and that graph code uses."""
    # Two rules ask for those of each class.
    return context.once((containers, context.cell), lambda: list(_containers(context)))


def _containers(context: CellContext) -> Iterator[Container]:
    used: set[str] | None = None
    for method in context.cell.methods.values():
        if method in context.inference.reached or method.receiver is None:
            continue
        for name, value in method.self_assignments:
            if _form(value) is None or (isinstance(value, ast.Name) and value.id not in _local_containers(method)):
                continue
            used = graph_uses(context) if used is None else used
            if name not in used or _becomes_cell(context, name):
                continue
            found = _read(context, method, name, value)
            if found is not None and any(e.what is not None and not e.owned for e in found.elements):
                yield found


def _becomes_cell(context: CellContext, name: str) -> bool:
    """Whether the attribute ends up as a Cell: `self.features = nn.SequentialCell(self.features)`."""
    for method, value in context.project.attribute_values(context.cell).get(name, ()):
        if isinstance(value, ast.Call):
            creation = constructed(context.project, method, value)
            if creation is not None and creation.what is What.LAYER:
                return True
    return False


def clashes(elements: list[tuple[Container, Element]], container: Container) -> str:
    """The first parameter name of `container` that more than one Cell of these containers gives; empty for none."""
    counts: Counter[str] = Counter()
    for _, element in elements:
        for name in () if element.owned else element.made.weights:
            counts[name] += 2 if element.many else 1
    own = (n for owner, e in elements if owner is container and not e.owned for n in e.made.weights)
    return next((name for name in own if counts[name] > 1), "")


def _read(context: CellContext, method: FunctionInfo, name: str, value: ast.expr) -> Container | None:
    statement, form = method.parents[value], _form(value)
    if form is None or not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return None
    local = value.id if isinstance(value, ast.Name) else ""
    inner = _local_value(method, local) if local else value
    if inner is None:
        return None
    if local:
        form = _form(inner) or ""
        if form not in ("list", "dict", "tuple"):
            return None
    container = Container(name, method, statement, value, form, [])
    many = _in_loop(method, statement)
    container.elements += list(_elements(context, method, inner, many))
    container.nested = any(isinstance(e, (ast.List, ast.ListComp)) for e in _direct(inner))
    _growth(context, container, local)
    return container


def _form(value: ast.expr) -> str | None:
    if isinstance(value, (ast.List, ast.ListComp)):
        return "list"
    if isinstance(value, ast.Tuple):
        return "tuple"
    if isinstance(value, (ast.Dict, ast.DictComp)):
        return "dict"
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List):
        return "list"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id in ("list", "tuple") and len(value.args) < 2:
            return value.func.id
        if value.func.id in ("dict", "OrderedDict") and not value.args and not value.keywords:
            return "dict"
    return "name" if isinstance(value, ast.Name) else None


def _direct(value: ast.expr) -> list[ast.expr]:
    """The expressions that the elements of a container come from."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return list(value.elts)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return [value.elt]
    if isinstance(value, ast.Dict):
        return list(value.values)
    if isinstance(value, ast.DictComp):
        return [value.value]
    if isinstance(value, ast.BinOp):
        return _direct(value.left)
    if isinstance(value, ast.Call):
        return _direct(value.args[0]) if value.args else []
    return []


def _elements(context: CellContext, method: FunctionInfo, value: ast.expr, many: bool) -> Iterator[Element]:
    comprehension = isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.DictComp))
    keys: list[ast.expr | None] = [None]
    if isinstance(value, ast.Dict):
        keys = list(value.keys)
    elif isinstance(value, ast.DictComp):
        keys = [value.key]
    if isinstance(value, ast.Call) and value.args:
        yield from _elements(context, method, value.args[0], many)
        return
    for i, node in enumerate(_direct(value)):
        repeated = many or comprehension
        if isinstance(node, (ast.List, ast.ListComp, ast.Tuple)):
            yield from _elements(context, method, node, repeated)
        else:
            yield _element(context, method, node, repeated, keys[i] if i < len(keys) else None)


def _element(context: CellContext, method: FunctionInfo, node: ast.expr, many: bool, key: ast.expr | None) -> Element:
    if isinstance(node, ast.Name):
        return _from_local(context, method, node, many, key)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == method.receiver:
        kind = context.inference.attribute(context.cell, node.attr)
        what = What.LAYER if kind.tag is Tag.CELL else What.PARAMETER if kind.tag is Tag.PARAMETER else None
        return Element(node, many, what, owned=what is not None, key=key)
    if isinstance(node, ast.Call):
        creation = constructed(context.project, method, node)
        if creation is not None and creation.what is What.LAYER:
            return Element(node, many, What.LAYER, made_by(context.inference, creation), key=key)
        if creation is not None and creation.what is What.PARAMETER and creation.name == "Parameter":
            name = parameter_name(node)
            return Element(node, many, What.PARAMETER, Made({name: False} if name else {}), key=key)
    if isinstance(node, ast.IfExp):
        first, second = (_element(context, method, n, many, key) for n in (node.body, node.orelse))
        if first.what is second.what:
            first.made.add("", second.made)
            return Element(node, many, first.what, first.made, first.owned and second.owned, key)
        return Element(node, many, None, key=key)
    kind = context.inference.kind(method, node)
    if kind.tag is Tag.CELL:
        return Element(node, many, What.LAYER, Made(known=False), key=key)
    return Element(node, many, None, key=key)


def _from_local(
    context: CellContext, method: FunctionInfo, node: ast.Name, many: bool, key: ast.expr | None
) -> Element:
    """A variable: what it was given, and whether the Cell owns it by an attribute too."""
    values, owned = [], False
    for other in method.nodes:
        if isinstance(other, ast.Assign):
            if any(isinstance(t, ast.Name) and t.id == node.id for t in other.targets):
                values.append(other.value)
                owned = owned or any(isinstance(t, ast.Attribute) for t in other.targets)
            if isinstance(other.value, ast.Name) and other.value.id == node.id:
                owned = owned or any(isinstance(t, ast.Attribute) for t in other.targets)
        elif isinstance(other, ast.Call) and any(isinstance(a, ast.Name) and a.id == node.id for a in other.args):
            callee = other.func.attr if isinstance(other.func, ast.Attribute) else getattr(other.func, "id", "")
            owned = owned or callee in _OWNING_CALLS
    found = [_element(context, method, v, many, key) for v in values if not isinstance(v, ast.Name)]
    kinds = {f.what for f in found}
    if not found or len(kinds) != 1 or None in kinds:
        kind = context.inference.kind(method, node)
        what = What.LAYER if kind.tag is Tag.CELL else None
        return Element(node, many, what, Made(known=False), owned, key)
    made = Made()
    for f in found:
        made.add("", f.made)
    return Element(node, many, found[0].what, made, owned, key)


def _local_containers(method: FunctionInfo) -> set[str]:
    """The local variables that are bound to something that looks like a container."""
    if method not in _containers_made:
        _containers_made[method] = {
            target.id
            for node in method.statements
            if isinstance(node, ast.Assign) and _form(node.value) not in (None, "name")
            for target in node.targets
            if isinstance(target, ast.Name)
        }
    return _containers_made[method]


def _local_value(method: FunctionInfo, name: str) -> ast.expr | None:
    """What a local variable is bound to, when that happens once."""
    values = [
        s.value for s in method.nodes
        if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets)
    ]  # fmt: skip
    return values[0] if len(values) == 1 and _form(values[0]) not in (None, "name") else None


def _growth(context: CellContext, container: Container, local: str) -> None:
    """What is put into the container after it was made, by which statements, and what stands in the way."""
    method = container.method

    def is_it(node: ast.AST) -> bool:
        if local and isinstance(node, ast.Name):
            return node.id == local
        return (
            isinstance(node, ast.Attribute) and node.attr == container.attribute and isinstance(node.value, ast.Name)
            and node.value.id == method.receiver
        )  # fmt: skip

    for node in method.nodes:
        value: ast.expr | None = None
        key: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_it(node.func.value):
            if node.func.attr in _MUTATORS and node.args:
                value = node.args[-1]
        elif isinstance(node, ast.AugAssign) and is_it(node.target):
            value = node.value
        elif (
            isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and is_it(node.targets[0].value)
        ):
            value, key = node.value, node.targets[0].slice
        if value is None:
            continue
        statement = _statement(method, node)
        many = _in_loop(method, statement)
        if (
            isinstance(value, (ast.List, ast.ListComp))
            and container.form == "list"
            and not isinstance(node, ast.Assign)
        ):
            appended = isinstance(node, ast.Call) and node.func.attr != "extend"  # type: ignore[attr-defined]
            container.nested = container.nested or appended
            container.elements += list(_elements(context, method, value, many))
        else:
            container.elements.append(_element(context, method, value, many, key))
        container.grown.append(statement)
        if local and statement.lineno > container.statement.lineno:
            container.obstacle = f"{local} is filled after self.{container.attribute} got it"
    others = [m.name for m in context.cell.methods.values() if m is not method and _fills(m, container.attribute)]
    if others:
        container.obstacle = f"{others[0]} fills it too"


def _fills(method: FunctionInfo, attribute: str) -> bool:
    for node in method.nodes:
        if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.value, ast.Name):
            parent = method.parents.get(node)
            if node.value.id == method.receiver and isinstance(parent, ast.Attribute) and parent.attr in _MUTATORS:
                return True
    return False


def _statement(method: FunctionInfo, node: ast.AST) -> ast.stmt:
    while not isinstance(node, ast.stmt):
        node = method.parents[node]
    return node


def _in_loop(method: FunctionInfo, node: ast.AST) -> bool:
    while node is not method.node:
        node = method.parents[node]
        if isinstance(node, (ast.For, ast.While)):
            return True
    return False
