"""Where the arrays of an island go: back into the graph, into Python, or to where no Tensor can follow."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.knowledge.numpy_functions import attribute_result, function_rows, method_rows
from graphward.rules.context import FunctionContext

from ._array_flow import appended
from ._values import HostValues

TENSOR_CONSTRUCTORS = frozenset(
    {
        "mindspore.Tensor", "mindspore.tensor", "mindspore.Tensor.from_numpy", "mindspore.from_numpy",
        "mindspore.numpy.array", "mindspore.numpy.asarray",
    }
)  # fmt: skip
# Built-ins that do with a Tensor what they do with an array; True where they give a Python value.
_BUILTINS = {
    "abs": False, "enumerate": False, "zip": False, "list": False, "tuple": False, "reversed": False,
    "bool": True, "float": True, "int": True, "len": True, "print": True,
}  # fmt: skip
_TRANSPARENT = (
    ast.Tuple, ast.List, ast.Starred, ast.Slice, ast.keyword, ast.IfExp, ast.ListComp, ast.GeneratorExp,
    ast.comprehension,
)  # fmt: skip


@dataclass(frozen=True)
class Exit:
    """A value that leaves its island. `how` is "constructor" (`user` is the call that makes a Tensor), "return",
    "tensor" (used next to a Tensor, or handed to an operator or Cell), "call" (handed to a project function), "truth"
    (a condition) or "python" (a Python value is read off)."""

    node: ast.expr
    how: str
    user: ast.AST

    @property
    def carries_gradient(self) -> bool:
        return self.how in ("constructor", "return", "tensor", "call")


@dataclass(frozen=True)
class Obstacle:
    """Why an island cannot be rewritten, and where."""

    node: ast.AST
    reason: str


class Uses:
    """The uses of host values in one function."""

    def __init__(self, context: FunctionContext, values: HostValues):
        self._context = context
        self._values = values
        self._parents = context.function.parents

    def of(self, node: ast.expr) -> Exit | Obstacle | None:
        """How the value of `node` is used: an exit, what is in the way, or None when it stays in the island."""
        user, part = self._user(node)
        if user is None or user in self._values.host or user in self._values.calls:
            return None
        outcome = self._use(node, part, user)
        return Exit(node, outcome, user) if isinstance(outcome, str) else outcome

    def write(self, node: ast.expr, where: ast.AST) -> Obstacle | None:
        """What is in the way of writing into the array that `node` holds."""
        base = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(base, ast.Name) and self._owns_its_memory(base.id):
            return None
        return Obstacle(where, "it writes into an array whose memory others may share")

    def is_known_call(self, node: ast.Call) -> bool:
        """Whether a call that gives an array is one of a project function, or of a built-in that suits."""
        return _call_graph(self._context.inference).get(node.func) is not None or self._builtin(node) is not None

    def _user(self, node: ast.AST) -> tuple[ast.AST | None, ast.AST]:
        """What uses a value, tuples and the like around it left out, and the part of the user that holds it; no user
        where the value is bound or iterated over."""
        part: ast.AST = node
        user = self._parents.get(node)
        while isinstance(user, _TRANSPARENT):
            if isinstance(user, ast.IfExp) and part is user.test:
                return user, part
            if isinstance(user, ast.comprehension):
                return (None, part) if part is user.iter else (user, part)
            if isinstance(user, (ast.Tuple, ast.List)) and isinstance(user.ctx, ast.Store):
                return None, part
            part, user = user, self._parents.get(user)
        return user, part

    def _use(self, node: ast.expr, part: ast.AST, user: ast.AST) -> str | Obstacle | None:
        if isinstance(user, ast.Return):
            return "return"
        if isinstance(user, (ast.Expr, ast.For, ast.NamedExpr)):
            return None
        if isinstance(user, ast.AugAssign):
            return None if user.target in self._values.host else self._store(user.target)
        if isinstance(user, (ast.Assign, ast.AnnAssign)):
            return self._stores(user.targets if isinstance(user, ast.Assign) else [user.target])
        if isinstance(user, (ast.If, ast.While, ast.Assert, ast.IfExp, ast.BoolOp, ast.comprehension)):
            return "truth"
        if isinstance(user, ast.UnaryOp) and isinstance(user.op, ast.Not):
            return "truth"
        if isinstance(user, ast.Attribute):
            return self._attribute(user)
        if isinstance(user, ast.Call):
            return self._argument(node, user)
        if isinstance(user, ast.Subscript):
            return self._subscript(node, part, user)
        if isinstance(user, ast.Compare):
            if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in user.ops):
                return "truth"
            if any(isinstance(operator, (ast.In, ast.NotIn)) for operator in user.ops):
                return Obstacle(user, "`in` looks for equal elements, which a Tensor does not offer")
        if isinstance(user, (ast.BinOp, ast.Compare, ast.UnaryOp)) and self._context.kind(user).is_tensor:
            return "tensor"
        return Obstacle(user, f"the array is used in `{self._quoted(user)}`")

    def _stores(self, targets: Iterable[ast.expr]) -> str | Obstacle | None:
        """The first of the targets that is more than a variable of the island decides."""
        for target in targets:
            outcome = self._store(target)
            if outcome is not None:
                return outcome
        return None

    def _store(self, target: ast.expr) -> str | Obstacle | None:
        if isinstance(target, ast.Name):
            return None if self._context.kind(target).tag is not Tag.TENSOR else "tensor"
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._stores(target.elts)
        if isinstance(target, ast.Subscript):
            if target.value in self._values.host:
                return None
            if self._context.kind(target.value).is_tensor:
                return "tensor"
        return Obstacle(target, f"the array is kept in `{self._quoted(target)}`")

    def _attribute(self, user: ast.Attribute) -> str | Obstacle | None:
        call = self._parents.get(user)
        if isinstance(call, ast.Call) and call.func is user:
            return None
        result = attribute_result(user.attr)
        if result == "python":
            return "python"
        if result == "dtype" and self._is_dtype_argument(user):
            return None
        return Obstacle(user, f"a Tensor has no `.{user.attr}` with the same meaning")

    def _is_dtype_argument(self, node: ast.Attribute) -> bool:
        user, _ = self._user(node)
        if not isinstance(user, ast.Call):
            return False
        name = self._context.resolve(user.func)
        method = isinstance(user.func, ast.Attribute) and user.func.attr == "astype"
        return method or self._values.numpy_name(user) is not None or name in TENSOR_CONSTRUCTORS

    def _argument(self, node: ast.expr, user: ast.Call) -> str | Obstacle | None:
        name = self._context.resolve(user.func)
        if name in TENSOR_CONSTRUCTORS:
            if str(name).endswith("from_numpy") and is_written(self._context, user):
                return Obstacle(user, "the Tensor shares the memory of the array, and is written into")
            if (
                user.args
                and user.args[0] is node
                and all(k.arg == "dtype" for k in user.keywords)
                and len(user.args) < 3
            ):
                return "constructor"
            return Obstacle(user, f"`{self._quoted(user)}` makes a Tensor in another way")
        added = appended(user)
        if added is not None and added[0].id in self._values.lists:
            return None
        builtin = self._builtin(user)
        if builtin is not None:
            return "python" if builtin else None
        if _call_graph(self._context.inference).get(user.func) is not None:
            return "call"
        callee = self._context.kind(user.func)
        if (name or "").startswith("mindspore.") or callee.tag in (Tag.CELL, Tag.PRIMITIVE):
            return "tensor"
        if isinstance(user.func, ast.Attribute) and self._context.kind(user.func.value).is_tensor:
            return "tensor"
        return Obstacle(user, f"the array is handed to `{self._quoted(user.func)}`")

    def _builtin(self, node: ast.Call) -> bool | None:
        """Whether a call of a known built-in gives a Python value; None for any other call."""
        if not isinstance(node.func, ast.Name) or self._context.function.names.is_local(node.func.id):
            return None
        return None if self._context.resolve(node.func) else _BUILTINS.get(node.func.id)

    def _subscript(self, node: ast.expr, part: ast.AST, user: ast.Subscript) -> str | Obstacle | None:
        if part is not user.value:
            if self._context.kind(user.value).is_tensor:
                return "tensor"
            return Obstacle(user, "the array picks an element of a Python container")
        return None if isinstance(user.ctx, ast.Load) else self.write(node, user)

    def _owns_its_memory(self, name: str) -> bool:
        """Whether each array that the variable holds is fresh and has no other name."""
        if name in {
            argument.arg for argument in ast.walk(self._context.function.node.args) if isinstance(argument, ast.arg)
        }:
            bound = [
                n for n in self._values.nodes if isinstance(n, ast.Name) and n.id == name and n in self._values.host
            ]
            if not bound:
                return False
        for target, value in self._values.bindings:
            if isinstance(target, ast.Name) and target.id == name and value not in self._augmenting():
                if not self._is_fresh(value):
                    return False
        loads = (
            n for n in self._values.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        )
        return not any(self._may_alias(node) for node in loads)

    def _augmenting(self) -> set[ast.expr]:
        return {n.value for n in self._values.nodes if isinstance(n, ast.AugAssign)}

    def _is_fresh(self, value: ast.AST) -> bool:
        if isinstance(value, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            return True
        call = self._values.calls.get(value)
        if call is None:
            return False
        rows = method_rows(call.name) if call.method else function_rows(call.name)
        return bool(rows) and all(row.result in ("array", "scalar") for row in rows)

    def _may_alias(self, node: ast.Name) -> bool:
        """`b = a`, `b = a[0]`, `b = a.T`, `b = a.reshape(-1)`: a second name for the same memory."""
        part: ast.AST = node
        user = self._parents.get(node)
        while user is not None:
            if isinstance(user, ast.Subscript):
                if part is not user.value or not isinstance(user.ctx, ast.Load):
                    return False
            elif isinstance(user, ast.Call):
                if user not in self._values.calls or self._is_fresh(user):
                    return appended(user) is not None
            elif not isinstance(user, (ast.Attribute, *_TRANSPARENT)):
                break
            part, user = user, self._parents.get(user)
        return isinstance(user, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For)) and part is getattr(
            user, "value", None
        )

    def _quoted(self, node: ast.AST) -> str:
        line, newline, _ = self._context.text(node).partition("\n")
        return f"{line} ..." if newline else line


@lru_cache(maxsize=1)
def _call_graph(inference: Inference) -> dict[ast.AST, FunctionInfo]:
    """The project function behind each callee node, as the graph regions saw it."""
    return {node: callee for callee, reached in inference.reached.items() for _, node in reached.sites}


def callee(context: FunctionContext, call: ast.Call) -> FunctionInfo | None:
    """The project function that a call reaches."""
    return _call_graph(context.inference).get(call.func)


def is_written(context: FunctionContext, node: ast.expr) -> bool:
    """Whether the value is bound to a name that the function writes into."""
    parent = context.parent(node)
    if not (isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)):
        return False
    name = parent.targets[0].id
    for other in context.function.nodes:
        written: ast.AST | None = None
        if isinstance(other, ast.AugAssign):
            written = other.target
        elif isinstance(other, ast.Subscript) and isinstance(other.ctx, ast.Store):
            written = other.value
        if isinstance(written, ast.Name) and written.id == name:
            return True
    return False
