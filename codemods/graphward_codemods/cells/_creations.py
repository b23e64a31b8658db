"""Where graph code makes layers, Parameters and Primitives, and what stands around each place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import dotted, is_class_like
from graphward.analysis.project import Project

from ._layers import is_layer_name

_PARAMETERS = {"mindspore.Parameter", "mindspore.ParameterTuple", "mindspore.nn.ParameterTuple"}
# Classes of `mindspore.ops` that are no Primitives, and Primitives that wrap code of the user's own.
_NO_PRIMITIVES = frozenset(
    """AiCPURegOp AkgAscendRegOp AkgGpuRegOp CpuRegOp CustomOpBuilder CustomRegOp DataType GradOperation
    HyperMap Map MultitypeFuncGraph P2POp ReduceOp TBERegOp TCPStore Tensor J P Primitive PrimitiveWithCheck
    PrimitiveWithInfer Custom WhileLoop ForiLoop Scan""".split()  # noqa: SIM905
)
# Primitives that draw random numbers: the classes of `mindspore.ops` with a seed among their arguments.
RANDOM_PRIMITIVES = frozenset(
    """Bernoulli Dropout Dropout2D Dropout3D DropoutGenMask FractionalAvgPool FractionalMaxPool
    FractionalMaxPoolWithFixedKsize FractionalMaxPool3DWithFixedKsize Gamma LogUniformCandidateSampler
    Multinomial MultinomialWithReplacement ParameterizedTruncatedNormal Poisson RandomCategorical
    RandomChoiceWithMask RandomGamma RandomPoisson RandomShuffle Randperm RandpermV2
    SampleDistortedBoundingBoxV2 StandardLaplace StandardNormal TruncatedNormal UniformCandidateSampler
    UniformInt UniformReal""".split()  # noqa: SIM905
)
LoopNode = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class What(Enum):
    LAYER = "layer"
    PARAMETER = "Parameter"
    PRIMITIVE = "Primitive"


@dataclass(eq=False)
class Creation:
    """A constructor call in graph code.

    `name` is the class as written last (`Dense`), `qualified` its full name, `made` the project's class if it is one.
    `loops` are the loops and comprehensions around the call, `arms` the branches `(if, arm)` that it stands in, both
    outermost first. `variable` is the local name, `attribute` the attribute of self, that gets the value and nothing
    else.
    """

    what: What
    call: ast.Call
    function: FunctionInfo
    name: str
    qualified: str
    made: ClassInfo | None = None
    statement: ast.stmt = field(default_factory=ast.Pass)
    loops: list[LoopNode] = field(default_factory=list)
    arms: list[tuple[ast.If | ast.IfExp, str]] = field(default_factory=list)
    variable: str = ""
    attribute: str = ""


def creations(project: Project, function: FunctionInfo, skip: Iterable[ast.AST] = ()) -> Iterator[Creation]:
    """The constructor calls in the body of `function`, in source order; one inside the arguments of another is part
    of it. Nodes in `skip` belong to nested functions that are looked at by themselves."""
    skipped = frozenset(skip)
    found: dict[ast.AST, Creation] = {}
    for node in function.nodes:
        if isinstance(node, ast.Call) and node not in skipped:
            creation = constructed(project, function, node)
            if creation is not None:
                found[node] = creation
    for creation in found.values():
        if _surroundings(creation, found):
            yield creation


def constructed(project: Project, function: FunctionInfo, call: ast.Call) -> Creation | None:
    """What a call constructs, if it is a layer, a Parameter or a Primitive."""
    func = call.func
    last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    name = dotted(func) if is_class_like(last) else None
    if name is None:
        return None
    qualified = function.names.qualify(name)
    if qualified is not None and qualified.startswith("mindspore."):
        if is_layer_name(qualified):
            return Creation(What.LAYER, call, function, last, qualified)
        if qualified in _PARAMETERS:
            return Creation(What.PARAMETER, call, function, last, qualified)
        head, _, short = qualified.rpartition(".")
        if head == "mindspore.ops" and short not in _NO_PRIMITIVES:
            return Creation(What.PRIMITIVE, call, function, short, qualified)
        return None
    made = project.called_class(function, call)
    if made is not None and project.is_cell(made):
        return Creation(What.LAYER, call, function, last, f"{made.module.name}.{made.qualname}", made)
    return None


def _surroundings(creation: Creation, others: dict[ast.AST, Creation]) -> bool:
    """Fill in what stands around the call; False when it is part of another constructor call."""
    parents = creation.function.parents
    node: ast.AST = creation.call
    while not isinstance(node, ast.stmt):
        parent = parents[node]
        if parent in others and node is not others[parent].call.func:
            return False
        if isinstance(parent, _COMPREHENSIONS):
            creation.loops.insert(0, parent)
        elif isinstance(parent, ast.comprehension):
            # The iterable of the first `for` is evaluated once, outside the loop.
            whole = parents[parent]
            if isinstance(whole, _COMPREHENSIONS) and whole.generators[0] is parent and node is parent.iter:
                node = whole
                continue
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            creation.arms.insert(0, (parent, "body" if node is parent.body else "orelse"))
        elif isinstance(parent, ast.Lambda):
            node = parent
            break
        node = parent
    while not isinstance(node, ast.stmt):
        node = parents[node]
    creation.statement = node
    _blocks(creation, node)
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is creation.call:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1:
            target = targets[0]
            if isinstance(target, ast.Name):
                creation.variable = target.id
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                if target.value.id == creation.function.receiver:
                    creation.attribute = target.attr
    return True


def _blocks(creation: Creation, statement: ast.stmt) -> None:
    """The loops and branches around a statement, up to the function that it stands in."""
    parents = creation.function.parents
    node: ast.AST = statement
    loops: list[LoopNode] = []
    arms: list[tuple[ast.If | ast.IfExp, str]] = []
    inside = creation.call
    if isinstance(node, (ast.For, ast.While, ast.If)) and _header(node, inside, parents):
        # The call stands in the header: a `while` evaluates it each time, the others once.
        if isinstance(node, ast.While):
            loops.append(node)
    while node is not creation.function.node:
        parent = parents[node]
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)) and node in parent.body:
            loops.append(parent)
        elif isinstance(parent, ast.If):
            arms.append((parent, "body" if node in parent.body else "orelse"))
        node = parent
    creation.loops = list(reversed(loops)) + creation.loops
    creation.arms = list(reversed(arms)) + creation.arms


def _header(statement: ast.stmt, inside: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    node = inside
    while parents[node] is not statement:
        node = parents[node]
    return isinstance(node, ast.expr)
