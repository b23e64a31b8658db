"""All that graph code of one class makes, with the attribute names that it would get; shared by the rules that move."""

from __future__ import annotations

import ast
from contextlib import suppress

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import FunctionContext

from ._attributes import free_name, plural, snake_case, taken_names
from ._creations import RANDOM_PRIMITIVES, Creation, What, constructed, creations
from ._initializer import Initializer
from ._instances import kept_instances, same_everywhere
from ._loops import depends_on_loops
from ._made import Made, made_by
from ._moving import CannotMove
from ._uses import unsupported


class Plan:
    """The creations of a class (or of a function outside all classes) in source order.

    `names` are the attributes that they would be kept under, `counts` the constructor parameters that stand for
    run-time counts, by function and parameter.
    """

    def __init__(self, inference: Inference, owner: ClassInfo | FunctionInfo):
        self.inference = inference
        self.cell = owner if isinstance(owner, ClassInfo) else None
        functions = _functions(inference, owner)
        self.creations: list[Creation] = []
        for function in functions:
            nested = (f for f in functions if _is_inside(f, function))
            self.creations += creations(inference.project, function, {node for f in nested for node in f.nodes})
        self.creations.sort(key=lambda c: (c.call.lineno, c.call.col_offset))
        self.by_call = {c.call: c for c in self.creations}
        self._made: dict[Creation, Made] = {}
        self._groups: dict[str, list[Creation]] = {}
        self.names: dict[Creation, str] = {}
        self.existing: set[Creation] = set()
        self.counts: dict[tuple[FunctionInfo, str], str] = {}
        if self.cell is not None and self.creations:
            self._name_all(self.cell)

    def _name_all(self, cell: ClassInfo) -> None:
        taken = taken_names(self.inference.project, cell)
        kept = kept_instances(self.inference.project, cell)
        for creation in self.creations:
            key = self._key(creation)
            group = self._groups.setdefault(key, []) if key else []
            if group:
                self.names[creation] = self.names[group[0]]
            elif key in kept:
                self.names[creation] = kept[key]
            else:
                self.names[creation] = creation.attribute or free_name(self._wanted(creation), taken)
                taken.add(self.names[creation])
            if key in kept:
                self.existing.add(creation)
            group.append(creation)

    def _key(self, creation: Creation) -> str:
        """The same for creations that one instance can stand for, empty for one that needs its own."""
        if creation.attribute or not self.shared(creation):
            return ""
        made = self.made(creation)
        if made.trains or made.random or (creation.what is What.PRIMITIVE and creation.name in RANDOM_PRIMITIVES):
            return ""
        return same_everywhere(creation)

    def leader(self, creation: Creation) -> Creation:
        """The first of the creations that share an attribute with this one."""
        key = self._key(creation)
        return self._groups[key][0] if key else creation

    def is_alone(self, creation: Creation) -> bool:
        key = self._key(creation)
        return not key or len(self._groups[key]) == 1

    def made(self, creation: Creation) -> Made:
        """What the creation makes, as far as parameters go."""
        if creation not in self._made:
            self._made[creation] = made_by(self.inference, creation)
        return self._made[creation]

    def shared(self, creation: Creation) -> bool:
        """Whether all iterations of the loops around it may use one instance."""
        if depends_on_loops(creation):
            return False
        return creation.what is What.PRIMITIVE or (creation.what is What.LAYER and self.made(creation).stateless)

    def count_parameter(self, function: FunctionInfo, parameter: str) -> tuple[str, bool]:
        """The constructor's parameter that bounds `parameter` of `function`, and whether it exists already."""
        assert self.cell is not None
        wanted = f"max_{parameter}"
        existing: frozenset[str] = frozenset()
        with suppress(CannotMove):
            existing = Initializer(self.inference.project, self.cell).parameters()
        key = (function, parameter)
        if key not in self.counts:
            self.counts[key] = wanted if wanted in existing else free_name(wanted, {*existing, *self.counts.values()})
        return self.counts[key], self.counts[key] in existing

    def _wanted(self, creation: Creation) -> str:
        variable = creation.variable or _list_variable(creation) or _literal_name(creation)
        if any(c.variable == variable and c.name != creation.name for c in self.creations):
            # `loss = nn.MSELoss()` in one arm and `loss = nn.L1Loss()` in the other: the class says more.
            variable = ""
        stem = variable if len(variable) > 1 or _literal_name(creation) == variable != "" else snake_case(creation.name)
        if creation.loops and not self.shared(creation) and not _list_variable(creation):
            return plural(stem)
        return stem


def plan_of(context: FunctionContext) -> Plan:
    """The plan of the class that the function of `context` stands in, or of the function itself."""
    owner: ClassInfo | FunctionInfo = context.function.class_around or context.function
    return context.once((Plan, owner), lambda: Plan(context.inference, owner))


def creation_at(context: FunctionContext, call: ast.Call, what: What) -> tuple[Plan, Creation] | None:
    """The plan of the class and the creation that `call` is in it, when it makes `what`."""
    made = constructed(context.project, context.function, call)
    if made is None or made.what is not what:
        return None
    plan = plan_of(context)
    creation = plan.by_call.get(call)
    return None if creation is None else (plan, creation)


def list_comprehension(creation: Creation) -> ast.ListComp | None:
    """The comprehension that gives a list of just these, `[nn.Dense(4, 4) for _ in range(3)]`, when nothing is done
    with it that a CellList cannot do."""
    loop = creation.loops[-1] if creation.loops else None
    if not (isinstance(loop, ast.ListComp) and loop.elt is creation.call):
        return None
    parents = creation.function.parents
    kind = "parameters" if creation.what is What.PARAMETER else "list"
    parent = parents.get(loop)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        loads = [
            n
            for n in creation.function.nodes
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        ]
    else:
        loads = []
        if unsupported(loop, parents, kind, False):
            return None
    return None if any(unsupported(load, parents, kind, False) for load in loads) else loop


def _list_variable(creation: Creation) -> str:
    """The local name that gets the list of `list_comprehension`."""
    whole = list_comprehension(creation)
    parent = creation.function.parents.get(whole) if whole is not None else None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return parent.targets[0].id
    return ""


def _literal_name(creation: Creation) -> str:
    """The name that a Parameter has of its own."""
    if creation.what is not What.PARAMETER:
        return ""
    value = next((k.value for k in creation.call.keywords if k.arg == "name"), None)
    name = value.value if isinstance(value, ast.Constant) else ""
    return name if isinstance(name, str) and name.isidentifier() else ""


def _is_inside(function: FunctionInfo, outer: FunctionInfo) -> bool:
    scope = function.outer
    while scope is not None and scope is not outer:
        scope = scope.outer
    return scope is outer


def _functions(inference: Inference, owner: ClassInfo | FunctionInfo) -> list[FunctionInfo]:
    if isinstance(owner, FunctionInfo):
        return [owner]
    return [f for f in inference.reached_by_module.get(owner.module, ()) if f.class_around is owner]
