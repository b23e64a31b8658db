"""The kinds of a function's parameters: from its call sites, else from annotations, defaults and how they are used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..knowledge.names import WRAPPER_NAMES
from .annotations import annotated
from .call_side import handed_integers
from .kinds import CONSTANT, INTEGER, NO_VALUE, STRING, UNKNOWN, Kind, Tag, join, join_all, literal
from .module import FunctionInfo
from .names import all_arguments, defaults_of, dotted
from .parts import dict_value
from .recorded import with_recorded
from .regions import Reached

if TYPE_CHECKING:
    from .inference import Inference

# What a Tensor has and a Python number lacks.
TENSOR_ATTRIBUTES = frozenset({
    "abs", "argmax", "argmin", "asnumpy", "astype", "dtype", "expand_as", "flatten", "item", "max", "mean", "min",
    "ndim", "prod", "reshape", "shape", "squeeze", "sum", "unsqueeze", "view",
})  # fmt: skip
# What `partial` binds is missing from the calls, and under `vmap` and `recompute` the arguments are others.
_ALIKE = frozenset(n for n in WRAPPER_NAMES if n.rpartition(".")[2] not in ("partial", "vmap", "recompute"))
_SHAPED = frozenset({"reshape", "view", "broadcast_to", "zeros", "ones", "full", "tile"})


def parameters(inference: Inference, function: FunctionInfo) -> tuple[dict[str, Kind], bool]:
    """The kinds by name, and whether all call sites were known by then."""
    reached = inference.reached.get(function)
    root = reached is not None and (reached.region.root is function or _only_handed_on(reached))
    defaults, alone = inference.once((parameters, function), lambda: _by_itself(function, reached, root))
    found = dict(alone)
    complete = True
    if reached is not None and reached.sites:
        sites, complete = _from_call_sites(inference, function, reached, defaults)
        for name, kind in sites.items():
            # A call site that tells nothing takes nothing away from an annotation or a default.
            if kind.tag is not Tag.UNKNOWN or (kind.variable and found[name].tag is Tag.UNKNOWN):
                if not complete or root:
                    kind = _without_value(kind)
                if not root or (not found[name].certain and kind.tag is not Tag.UNKNOWN and not kind.optional):
                    found[name] = kind
    return with_recorded(found, inference.recorded.get(function, {})), complete


def _by_itself(
    function: FunctionInfo, reached: Reached | None, root: bool
) -> tuple[dict[str, ast.expr], dict[str, Kind]]:
    """The defaults by name, and what annotations, defaults and uses tell of the parameters."""
    arguments = function.node.args
    defaults = defaults_of(arguments)
    uses: dict[str, Kind] | None = None
    found: dict[str, Kind] = {}
    handed = handed_integers(function) if root else {}
    for argument in all_arguments(arguments):
        name = argument.arg
        if name in handed:
            found[name] = handed[name]
        elif name == function.receiver and function.owner is not None:
            owner = reached.cell if reached and reached.cell else function.owner
            found[name] = Kind(Tag.CELL, name=owner.qualname, evidence=f"{name} is the instance", info=owner)
        elif argument is arguments.vararg:
            found[name] = Kind(Tag.SEQUENCE, variable=reached is not None, certain=False, name="tuple",
                               evidence=f"*{name}")  # fmt: skip
        elif argument is arguments.kwarg:
            found[name] = Kind(Tag.DICT, variable=reached is not None, certain=False, evidence=f"**{name}")
        else:
            kind = _declared(function, argument, defaults.get(name))
            if kind is None and root:
                if uses is None:
                    uses = _uses(function)
                kind = uses.get(name) or _traced(function, name, defaults.get(name))
            found[name] = kind or UNKNOWN.because(f"{name} is a parameter of {function.name}, whose callers were "
                                                  "not seen")  # fmt: skip
    return defaults, found


def _without_value(kind: Kind) -> Kind:
    """Other callers may pass something else: nothing may be decided by what these pass."""
    if kind.value is None:
        return UNKNOWN
    return kind._replace(value=NO_VALUE, certain=False) if kind.value is not NO_VALUE else kind


def _declared(function: FunctionInfo, argument: ast.arg, default: ast.expr | None) -> Kind | None:
    name = argument.arg
    none = isinstance(default, ast.Constant) and default.value is None
    kind = annotated(function, argument.annotation)
    if kind is not None:
        text = dotted(argument.annotation) or function.module.text(argument.annotation)  # type: ignore[arg-type]
        kind = kind.because(f"{name} is annotated {text}")
        return kind._replace(optional=True) if none else kind
    if isinstance(default, ast.Constant) and not none:
        return Kind(Tag.CONSTANT, certain=False, name=type(default.value).__name__,
                    evidence=f"{name} has the default {default.value!r}")  # fmt: skip
    if default is not None and not none:
        if isinstance(default, (ast.Tuple, ast.List)):
            return Kind(Tag.SEQUENCE, certain=False, evidence=f"{name} has a default that is no Tensor")
        if isinstance(default, ast.UnaryOp) and isinstance(default.operand, ast.Constant):
            return CONSTANT._replace(certain=False, evidence=f"{name} has the default {ast.unparse(default)}")
        return Kind(Tag.OBJECT, certain=False, evidence=f"{name} has a default that is no Tensor")
    return None


def _traced(function: FunctionInfo, name: str, default: ast.expr | None) -> Kind:
    """A parameter of a region that nothing is said of."""
    if default is not None:
        evidence = f"{name} is a parameter of {function.name} that may be None, else taken for a Tensor"
        return Kind(Tag.TENSOR, variable=True, certain=False, optional=True, evidence=evidence)
    evidence = f"{name} is a parameter of {function.name} without annotation or default, taken for a Tensor"
    return Kind(Tag.TENSOR, variable=True, certain=False, evidence=evidence)


def _uses(function: FunctionInfo) -> dict[str, Kind]:
    """What the body's use of a name says it is: a whole number in `range(...)`, as a repetition or in a shape; a string
    compared with one."""
    found: dict[str, Kind] = {}

    def note(node: ast.AST, kind: Kind, reason: str) -> None:
        if isinstance(node, ast.Name):
            found.setdefault(node.id, kind._replace(certain=False, evidence=f"{node.id} is used as {reason}"))

    for node in function.nodes:
        of = node.__class__
        if of is ast.Call:
            func = node.func  # type: ignore[attr-defined]
            if func.__class__ is ast.Name and func.id == "range":
                for argument in node.args:  # type: ignore[attr-defined]
                    note(argument, INTEGER, f"a whole number (range({ast.unparse(argument)}))")
            elif func.__class__ is ast.Attribute and func.attr in _SHAPED:
                for argument in node.args:  # type: ignore[attr-defined]
                    if argument.__class__ is ast.Tuple:
                        for element in argument.elts:
                            note(element, INTEGER, f"a whole number (in the shape of {func.attr})")
        elif of is ast.Compare and len(node.ops) == 1:  # type: ignore[attr-defined]
            right = node.comparators[0]  # type: ignore[attr-defined]
            if right.__class__ is ast.Constant and right.value.__class__ is str:
                note(node.left, STRING, f"a string (compared with {right.value!r})")  # type: ignore[attr-defined]
        elif of is ast.BinOp and node.op.__class__ is ast.Mult and node.left.__class__ is ast.List:  # type: ignore[attr-defined]
            note(node.right, INTEGER, "a whole number (of repetitions)")  # type: ignore[attr-defined]
    if found:
        for node in function.nodes:
            if isinstance(node, ast.Attribute) and node.attr in TENSOR_ATTRIBUTES and isinstance(node.value, ast.Name):
                found.pop(node.value.id, None)
    return found


def _from_call_sites(
    inference: Inference, function: FunctionInfo, reached: Reached, defaults: dict[str, ast.expr]
) -> tuple[dict[str, Kind], bool]:
    """Arguments seen at the call sites, joined; whether each site had been evaluated."""
    joined: dict[str, Kind] = {}
    complete = True
    evaluator = _Arguments(function)
    for caller, callee in reached.sites:
        call = _call_at(caller.function, callee)
        if call is None:
            continue
        evaluated = inference.evaluated(caller.function)
        if evaluated is None:
            complete = False
            continue
        known = evaluated.kinds
        if callee not in known and call not in known and not all(a in known for a in call.args):
            complete = complete and not inference.is_running(caller.function)
            continue
        complete = complete and inference.is_final(caller.function)
        for name, kind in evaluator.bind(call, callee, known, defaults).items():
            kind = _named(kind, name, caller.function)
            joined[name] = join(joined[name], kind) if name in joined else kind
    return joined, complete


def _call_at(caller: FunctionInfo, callee: ast.AST) -> ast.Call | None:
    """The call of `callee`; of `ms.grad(self.forward)(x)` the outer one."""
    call = caller.calls.get(callee)
    made = _wrapper_of(caller, callee) if call is None else None
    return caller.calls.get(made) if made is not None else call


def _wrapper_of(caller: FunctionInfo, callee: ast.AST) -> ast.Call | None:
    """The call that makes of `callee` a function of the same parameters: `ms.grad(callee)`."""
    made = caller.parents.get(callee) if caller.module.wraps else None
    if isinstance(made, ast.Call) and callee in made.args[:1] and caller.names.resolve(made.func) in _ALIKE:
        return made
    return None


def _only_handed_on(reached: Reached) -> bool:
    """Whether a function is only made others of, and where these are called is not seen: `g = ms.grad(self.loss)`."""
    sites = reached.sites
    return bool(sites) and all(
        _call_at(caller.function, callee) is None and _wrapper_of(caller.function, callee) is not None
        for caller, callee in sites
    )


class _Arguments:
    """Binds the arguments of calls to the parameters of one function, as Python does."""

    def __init__(self, function: FunctionInfo):
        arguments = function.node.args
        self.positional = [a.arg for a in arguments.posonlyargs + arguments.args]
        self.keyword_only = [a.arg for a in arguments.kwonlyargs]
        self.vararg = arguments.vararg.arg if arguments.vararg else None
        self.kwarg = arguments.kwarg.arg if arguments.kwarg else None
        self.is_method = function.owner is not None and not function.is_static
        self.owner = function.owner

    def bind(
        self, call: ast.Call, callee: ast.AST, known: dict[ast.AST, Kind], defaults: dict[str, ast.expr]
    ) -> dict[str, Kind]:
        names = self.positional
        if self.is_method and not self._by_class(callee, known):
            names = names[1:]
        found: dict[str, Kind] = {}
        rest: list[Kind] = []
        position = 0
        unpacked = None
        for value in call.args:
            if isinstance(value, ast.Starred):
                inside = known.get(value.value, UNKNOWN)
                if inside.exact and inside.elements is not None:
                    given = list(inside.elements)
                else:
                    unpacked = known.get(value, UNKNOWN)
                    break
            else:
                given = [known.get(value, UNKNOWN)]
            for kind in given:
                if position < len(names):
                    found[names[position]] = kind
                else:
                    rest.append(kind)
                position += 1
        extra: dict[object, Kind] = {}
        spread = None
        for keyword in call.keywords:
            kind = known.get(keyword.value, UNKNOWN)
            if keyword.arg is not None:
                (found if self._takes(keyword.arg) else extra)[keyword.arg] = kind
            elif kind.keys is not None and kind.exact and kind.elements is not None:
                for key, value_kind in zip(kind.keys, kind.elements):
                    (found if self._takes(key) else extra)[key] = value_kind  # type: ignore[index]
            else:
                spread = dict_value(kind)
        self._fill(found, names, defaults, unpacked, spread)
        if self.vararg is not None:
            found[self.vararg] = _star(rest, unpacked)
        if self.kwarg is not None:
            found[self.kwarg] = _keywords(extra, spread)
        return found

    def _by_class(self, callee: ast.AST, known: dict[ast.AST, Kind]) -> bool:
        """Whether the method is called on its class, with the instance as an argument."""
        if not isinstance(callee, ast.Attribute):
            return False
        name = dotted(callee.value)
        return name is not None and self.owner is not None and name.rpartition(".")[2] == self.owner.name

    def _takes(self, name: object) -> bool:
        return name in self.positional or name in self.keyword_only

    def _fill(
        self, found: dict[str, Kind], names: list[str], defaults: dict[str, ast.expr], unpacked: Kind | None,
        spread: Kind | None,
    ) -> None:  # fmt: skip
        """What the call leaves out: part of `*args` or `**kwargs`, or the default."""
        for name in (*names, *self.keyword_only):
            if name in found:
                continue
            if unpacked is not None and name in names and name not in defaults:
                found[name] = unpacked
            elif unpacked is not None or spread is not None:
                continue
            elif isinstance(default := defaults.get(name), ast.Constant):
                found[name] = literal(default.value)


def _star(rest: list[Kind], unpacked: Kind | None) -> Kind:
    kinds = rest if unpacked is None else [*rest, unpacked]
    variable = next((k for k in kinds if k.variable), None)
    exact = unpacked is None
    elements = tuple(rest) if exact else (join_all(kinds),)
    return Kind(Tag.SEQUENCE, variable is not None, all(k.certain for k in kinds), elements=elements, name="tuple",
                exact=exact, evidence=variable.evidence if variable else "")  # fmt: skip


def _keywords(extra: dict[object, Kind], spread: Kind | None) -> Kind:
    kinds = list(extra.values()) + ([spread] if spread is not None else [])
    variable = next((k for k in kinds if k.variable), None)
    evidence = variable.evidence if variable else ""
    if spread is None:
        return Kind(Tag.DICT, variable is not None, elements=tuple(extra.values()), keys=tuple(extra), exact=True,
                    evidence=evidence)  # fmt: skip
    return Kind(Tag.DICT, variable is not None, False, elements=(join_all(kinds),), evidence=evidence)


def _named(kind: Kind, name: str, caller: FunctionInfo) -> Kind:
    if kind.value is not NO_VALUE or not kind.variable:
        return kind
    reason = f"; {kind.evidence}" if kind.evidence else ""
    return kind.because(f"{caller.qualname} passes a {kind.tag.value} as {name}{reason}")
