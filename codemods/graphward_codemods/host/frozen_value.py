"""GW106: random numbers, times and identifiers that are frozen while the graph is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.names import all_arguments
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh
from .._call_side import check_call_side, insert_call_side, plain_parameters, signature_text
from .._python import is_later, is_message, read_after

_MODULES = ("random.", "numpy.random.", "secrets.")
_NAMES = frozenset(
    {"time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.monotonic_ns",
     "time.process_time", "time.ctime", "time.localtime", "time.gmtime", "time.strftime", "datetime.datetime.now",
     "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today", "uuid.uuid1", "uuid.uuid4",
     "os.urandom", "os.getpid"}
)  # fmt: skip
_SETTERS = frozenset({"seed", "setstate", "set_state", "get_state", "getstate"})
_TENSORS = frozenset({"mindspore.Tensor", "mindspore.tensor", "mindspore.Tensor.from_numpy"})


class FrozenValue(Rule):
    """A random number or a time is computed once, while the graph is compiled.

    ## What it finds

    Calls of `random`, `numpy.random`, `time`, `datetime`, `uuid` and `secrets` in a graph region whose value is used.
    `ops.rand`, `ops.randint` and the other operators draw anew at each call, and are left alone.

    ## Why

    Python evaluates the call while the graph is compiled, and the value becomes a constant of the graph: every call
    with inputs of the same shapes computes with the same number, silently (MindSpore 2.7 to 2.10).

    ## Example

        def construct(self, x):
            return x * Tensor(np.random.rand(2, 3), ms.float32)

    becomes

        def __call__(self, x):
            return super().__call__(x, Tensor(np.random.rand(2, 3), ms.float32))

        def construct(self, x, drawn):
            return x * drawn

    ## What the rewrite assumes

    That the Cell is called from Python, where `__call__` is: a graph that calls it goes around it.

    ## When it is unsafe

    Always: what calls `construct` itself has to pass the value, and a Python number becomes a Tensor.

    ## References

    `mindspore.ops.rand`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW106"
    name = "frozen-value"
    consequence = Consequence.DIVERGENCE
    triggers = (b"random", b"time", b"uuid", b"secrets", b"urandom", b"getpid")

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        found = [n for n in context.function.nodes if isinstance(n, ast.Call) and _is_frozen(n, context)]
        if not found:
            return
        fix = _fix(found, context)
        for node in found:
            message = f"{context.resolve(node.func)}() is computed once, while the graph is compiled"
            yield context.finding(self, node, message, fixes=(fix,))


def _is_frozen(node: ast.Call, context: FunctionContext) -> bool:
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    name = context.resolve(node.func)
    if name is None or not (name in _NAMES or name.startswith(_MODULES)):
        return False
    if name.rpartition(".")[2] in _SETTERS or is_message(node, context):
        return False
    statement = context.statement(node)
    if isinstance(statement, ast.Expr) and statement.value is node:
        return False
    if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
        return any(read_after(t.id, statement, context) for t in statement.targets if isinstance(t, ast.Name))
    return True


def _fix(found: list[ast.Call], context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    try:
        check_call_side(context)
        parameters = plain_parameters(context)
        receiver = context.function.receiver or "self"
        values: list[ast.expr] = []
        for node in found:
            whole = _whole(node, {receiver, *parameters}, context)
            if whole not in values:
                values.append(whole)
        arguments: list[str] = []
        names: list[str] = []
        for value in values:
            name = fresh(context, "drawn" if not names else f"drawn_{len(names) + 1}")
            names.append(name)
            rewrite.replace(value, name, context.parent(value))
            text = context.text(value)
            made = isinstance(value, ast.Call) and context.resolve(value.func) in _TENSORS
            arguments.append(text if made else f"{rewrite.spell('mindspore.Tensor')}({text})")
    except CannotRewrite as reason:
        manual = f"{reason}; or draw with an operator, such as mindspore.ops.rand, which draws at each call"
        return context.rewrite().manual("Compute it outside of the graph", manual)
    node_arguments = context.function.node.args
    last = max([*all_arguments(node_arguments), *node_arguments.defaults], key=context.module.end)
    default = "=None" if node_arguments.defaults else ""
    rewrite.insert(context.module.end(last), "".join(f", {name}{default}" for name in names))
    call = f"return super().__call__({', '.join([*parameters, *arguments])})"
    insert_call_side(context, rewrite, signature_text(context), [call])
    doubt = "what calls construct itself has to pass the value, and a number becomes a Tensor"
    return rewrite.unsafe("Compute it in __call__", doubt)


def _whole(node: ast.Call, known: set[str], context: FunctionContext) -> ast.expr:
    """The Tensor that is made of the value, else the value; raises CannotRewrite where it needs what the graph
    computes."""
    if is_later(node, context):
        raise CannotRewrite("it is drawn in a comprehension or lambda")
    best: ast.expr = node
    current: ast.AST | None = node
    while isinstance(current, (ast.expr, ast.keyword)):
        above = context.parent(current)
        if isinstance(current, ast.Call) and context.resolve(current.func) in _TENSORS:
            best = current
        elif isinstance(above, ast.Attribute) or (isinstance(above, ast.Call) and above.func is current):
            # `datetime.now().year`: an object of Python's is no input of a graph.
            best = above if best is current else best
        current = above
    statement: ast.AST | None = context.statement(node)
    while statement is not None and statement is not context.function.node:
        if isinstance(statement, (ast.For, ast.While)):
            raise CannotRewrite("it is drawn anew in each round of a loop")
        statement = context.parent(statement)
    for part in ast.walk(best):
        if isinstance(part, ast.Name) and part.id not in known and context.function.names.is_local(part.id):
            raise CannotRewrite(f"it needs {part.id}, which the graph computes")
    rebound = {n.id for n in context.function.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for n in ast.walk(best) if isinstance(n, ast.Name)}
    if used & rebound:
        raise CannotRewrite(f"it needs {sorted(used & rebound)[0]}, which the graph computes")
    return best
