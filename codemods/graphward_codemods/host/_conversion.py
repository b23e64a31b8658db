"""Writing an island as MindSpore code: the text of each of its expressions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.kinds import Tag
from graphward.analysis.tree import children
from graphward.knowledge.numpy_calls import Argument, BoundCall, Refusal, bind, operand, render
from graphward.knowledge.numpy_einsum import matrix_product
from graphward.knowledge.numpy_functions import function_rows, method_rows, mindspore_dtype
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite
from graphward.source.edits import apply_edits
from graphward.source.layout import token_edits
from graphward.source.precedence import guarded

from ._islands import Island
from ._uses import TENSOR_CONSTRUCTORS, Obstacle, is_written
from ._values import HostCall


@dataclass
class Binding:
    """The rows that cover the calls of an island, and the calls that none covers."""

    bound: dict[ast.AST, BoundCall]
    obstacles: list[Obstacle]


def bind_calls(context: FunctionContext, island: Island) -> Binding:
    """Look up each NumPy call of the island."""
    binding = Binding({}, [])
    for call in island.calls:
        outcome = _bind(context, call)
        if isinstance(outcome, Refusal):
            binding.obstacles.append(Obstacle(call.node, outcome.reason))
        else:
            binding.bound[call.node] = outcome
    return binding


def _bind(context: FunctionContext, call: HostCall) -> BoundCall | Refusal:
    node = call.node
    if call.method:
        assert isinstance(node.func, ast.Attribute)
        rows = method_rows(call.name)
        outcome = bind(rows, [node.func.value, *node.args], node.keywords)
    else:
        rows = function_rows(call.name)
        outcome = bind(rows, node.args, node.keywords)
    if not rows:
        kind = "the method of ndarray" if call.method else "numpy"
        return Refusal(f"nothing is known that says the same as {kind} {call.name}")
    if isinstance(outcome, Refusal):
        return outcome
    for argument in outcome.of_kind("tensors"):
        if context.kind(argument.node).tag is not Tag.SEQUENCE:
            return Refusal(f"it is not known that `{context.text(argument.node)}` is a tuple or list of arrays")
    for argument in outcome.of_kind("dtype"):
        if _dtype(context, argument.node) is None:
            return Refusal(f"the dtype `{context.text(argument.node)}` is not known")
    return outcome


def _dtype(context: FunctionContext, node: ast.expr) -> str | None:
    """The qualified MindSpore dtype of a NumPy dtype argument, "" for the dtype of another array, else None."""
    resolved = context.resolve(node)
    name: object = None
    if resolved is not None:
        name = resolved.removeprefix("numpy.") if resolved.startswith("numpy.") else None
    elif isinstance(node, ast.Name):
        name = node.id if node.id in ("float", "int", "bool") else None
    elif isinstance(node, ast.Constant):
        name = node.value
    elif isinstance(node, ast.Attribute) and node.attr == "dtype":
        return ""
    found = mindspore_dtype(name) if isinstance(name, str) else None
    return f"mindspore.{found}" if found else None


def replace(context: FunctionContext, rewrite: Rewrite, node: ast.expr, text: str, parent: ast.AST | None) -> None:
    """Replace token by token where that keeps comments and line breaks, else as a whole: it reads better."""
    old, span = context.text(node), context.span(node)
    if "\n" in old or "#" in old:
        rewrite.replace(node, text if _stands_alone(old, text) else f"({text})", parent)
    else:
        rewrite.replace_span(span.start, span.end, guarded(text, node, parent))


def _stands_alone(old: str, new: str) -> bool:
    """Whether `new` in the layout of `old` needs no brackets for its line breaks: `Tensor(...)` had some to lose."""
    edits, _ = token_edits(old, new, 0)
    try:
        ast.parse("_ = " + apply_edits(old.encode(), edits).decode())
    except SyntaxError:
        return False
    return True


class Converter:
    """Writes one version of an island into `rewrite`. The expressions in `cuts` are wrapped in `stop_gradient`."""

    def __init__(
        self, context: FunctionContext, island: Island, binding: Binding, rewrite: Rewrite, cuts: frozenset[ast.expr]
    ):
        self._context = context
        self._island = island
        self._bound = binding.bound
        self._rewrite = rewrite
        self._style = context.options.op_style
        self._entries = set(island.entries)
        self._arrays = set(island.arrays)
        self._numbers = set(island.numbers)
        self._makers = {leave.user for leave in island.exits if leave.how == "constructor"}
        # `a[0] += b` writes into the Tensor in both modes.
        self._augmented = [s for s in island.inplace if isinstance(s.target, ast.Name)]
        self._wrapped = cuts

    def write(self) -> None:
        """Add the edits of the whole island to the rewrite."""
        for node, parent in self._changed(self._context.function.node.body):
            if not self._drop_assignment(node, parent):
                replace(self._context, self._rewrite, node, self._text(node), parent)
        for statement in self._augmented:
            self._write_inplace(statement)

    def _changed(self, body: list[ast.stmt]) -> list[tuple[ast.expr, ast.AST]]:
        """The outermost expressions that change, with their parents."""
        found: list[tuple[ast.expr, ast.AST]] = []
        inplace = {statement.value for statement in self._augmented}
        stack: list[tuple[ast.AST, ast.AST]] = [
            (statement, self._context.function.node) for statement in reversed(body)
        ]
        while stack:
            node, parent = stack.pop()
            if node in inplace:
                continue
            if isinstance(node, ast.expr) and self._is_changed(node):
                found.append((node, parent))
            else:
                stack += [(child, node) for child in reversed(children(node))]
        return found

    def _is_changed(self, node: ast.expr) -> bool:
        return (
            node in self._entries
            or node in self._bound
            or node in self._arrays
            or node in self._numbers
            or node in self._makers
            or node in self._wrapped
        )

    def _text(self, node: ast.expr) -> str:
        text = self._converted(node) if self._is_changed(node) else self._spliced(node)
        return f"{self._rewrite.spell('mindspore.ops.stop_gradient')}({text})" if node in self._wrapped else text

    def _converted(self, node: ast.expr) -> str:
        if node in self._entries:
            assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            return self._text(node.func.value)
        if node in self._bound:
            bound = self._bound[node]
            product = self._matrix_product(bound) if bound.row.name == "einsum" else None
            return product or render(bound, self._style, self._argument, self._rewrite.spell)
        if node in self._makers:
            assert isinstance(node, ast.Call)
            return self._made(node)
        if node in self._arrays:
            return f"{self._rewrite.spell('mindspore.Tensor')}({self._spliced(node)})"
        if node in self._numbers:
            whole = isinstance(node, ast.Call) and self._context.resolve(node.func) == "numpy.prod"
            return f"{'int' if whole else 'float'}({self._spliced(node)})"
        return self._spliced(node)

    def _matrix_product(self, bound: BoundCall) -> str | None:
        """An einsum that is a matrix product, as one."""
        subscripts, *operands = (argument.node for argument in bound.arguments.values() if argument.given)
        swaps = matrix_product(str(getattr(subscripts, "value", "")))
        if swaps is None or len(operands) != 2:
            return None
        nodes = []
        for node, swap in zip(operands, swaps):
            text = self._text(node)
            swapped = f"{self._rewrite.spell('mindspore.ops.swapaxes')}({text}, -1, -2)"
            nodes.append(swapped if swap else text)
        return f"{self._rewrite.spell('mindspore.ops.matmul')}({', '.join(nodes)})"

    def _argument(self, argument: Argument) -> str:
        if argument.parameter.kind == "dtype":
            dtype = _dtype(self._context, argument.node)
            if dtype:
                return self._rewrite.spell(dtype)
        return self._text(argument.node)

    def _made(self, node: ast.Call) -> str:
        """`Tensor(a, ms.float32)` of an array that is a Tensor by now."""
        value = self._text(node.args[0])
        given = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
        if given:
            return f"{operand(value)}.astype({self._text(given[0])})"
        return f"{operand(value)}.copy()" if is_written(self._context, node) else value

    def _spliced(self, node: ast.expr) -> str:
        """The source of a node with what changes inside it replaced."""
        context = self._context
        start = context.span(node).start
        data = context.text(node).encode()
        pieces: list[bytes] = []
        position = 0
        for inner, parent in self._inside(node):
            span = context.span(inner)
            pieces += [data[position : span.start - start], guarded(self._text(inner), inner, parent).encode()]
            position = span.end - start
        return b"".join((*pieces, data[position:])).decode()

    def _inside(self, node: ast.AST) -> list[tuple[ast.expr, ast.AST]]:
        found: list[tuple[ast.expr, ast.AST]] = []
        for child in children(node):
            if isinstance(child, ast.expr) and self._is_changed(child):
                found.append((child, node))
            else:
                found += self._inside(child)
        return sorted(found, key=lambda item: self._context.span(item[0]).start)

    def _drop_assignment(self, node: ast.expr, parent: ast.AST) -> bool:
        """Leave out `x = x.asnumpy()`, which would become `x = x`, where that leaves a statement in its block."""
        if not (
            isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)
        ):
            return False
        if parent.targets[0].id != self._text(node):
            return False
        block = self._block(parent)
        span = self._context.span(parent)
        source = self._context.module.source.utf8
        start = source.rfind(b"\n", 0, span.start) + 1
        end = source.find(b"\n", span.end) + 1 or len(source)
        alone = not source[start : span.start].strip() and not source[span.end : end].strip()
        if not alone or len(block) < 2:
            return False
        self._rewrite.replace_span(start, end, "")
        return True

    def _block(self, statement: ast.stmt) -> list[ast.stmt]:
        parent = self._context.parent(statement) or self._context.function.node
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, [])
            if isinstance(block, list) and statement in block:
                return block
        return []

    def _write_inplace(self, statement: ast.AugAssign) -> None:
        """`a += b` as `a = a + b`: an augmented assignment to a Tensor writes in place in Graph Mode only."""
        target = self._context.text(statement.target)
        value = guarded(
            self._text(statement.value), statement.value, ast.BinOp(statement.target, statement.op, statement.value)
        )
        value = f"({value})" if "\n" in value else value
        left = ast.unparse(ast.BinOp(ast.Name(target), statement.op, ast.Name("_"))).removesuffix("_")
        span = self._context.span(statement)
        self._rewrite.replace_span(span.start, span.end, f"{target} = {left}{value}")


def tensor_of_tensor(context: FunctionContext, node: ast.Call) -> str | None:
    """What `Tensor(t)` and `Tensor(t, dtype)` come to when `t` is a traced Tensor; None for any other call."""
    if context.resolve(node.func) not in TENSOR_CONSTRUCTORS or not node.args or len(node.args) > 2:
        return None
    made = node.args[0]
    if not isinstance(made, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)):
        return None
    if any(keyword.arg != "dtype" for keyword in node.keywords):
        return None
    if isinstance(made, ast.Call) and (context.resolve(made.func) or "").startswith("numpy."):
        return None
    kind = context.kind(made)
    if not (kind.is_tensor and kind.variable):
        return None
    text = context.text(node.args[0])
    dtypes = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    return f"{operand(text)}.astype({context.text(dtypes[0])})" if dtypes else text
