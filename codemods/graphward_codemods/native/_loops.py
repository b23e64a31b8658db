"""Matrix products as loops over rows, columns and the inner index, whichever of them are written out.

What a loop nest computes is read off the element that it makes: `(a[i] * b[:, j]).sum()`, or what it adds for each k:
`a[i, k] * b[k, j]`. All ranges must be whole axes of the two matrices.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext

from ._flow import Flow, plain_value

_STACKS = frozenset({"mindspore.ops.stack", "mindspore.mint.stack", "mindspore.ops.Stack"})
_ZEROS = frozenset({"mindspore.ops.zeros", "mindspore.mint.zeros", "mindspore.ops.Zeros"})


class Product(NamedTuple):
    """`first @ second`: the variables, the statements that compute it, and the expression or variable that has it."""

    first: str
    second: str
    statements: tuple[ast.stmt, ...]
    result: ast.expr | str


class _Part(NamedTuple):
    """A part of a matrix: `rows` and `columns` are an index variable, or "" for all of them."""

    matrix: str
    rows: str
    columns: str


class _List(NamedTuple):
    """A list of one element for each index below a count: the statements that make it, and those in its loop that come
    before the element is appended."""

    element: ast.expr
    variable: str
    size: ast.expr
    statements: list[ast.stmt]
    rest: list[ast.stmt]


def products(context: FunctionContext) -> list[Product]:
    """The loop nests of a function that multiply two matrices."""
    if not any(node.__class__ in (ast.For, ast.ListComp) for node in context.function.nodes):
        return []
    reader = _Reader(context)
    return [found for node in context.function.nodes if (found := reader.product(node)) is not None]


class _Reader:
    def __init__(self, context: FunctionContext):
        self._context = context
        self._flow = Flow(context.function)

    def product(self, node: ast.AST) -> Product | None:
        if isinstance(node, ast.Call) and self._context.resolve(node.func) in _STACKS and _first_axis(node):
            return self._stacked(node)
        if isinstance(node, ast.For):
            return self._filled(node)
        return None

    # `ops.stack(rows)` of a list that a loop, or a comprehension, has made

    def _stacked(self, call: ast.Call) -> Product | None:
        statement = self._flow.statement(call)
        made = self._list(call.args[0], statement) if statement is not None else None
        if made is None or statement is None:
            return None
        found = self._row(made.element, made.variable)
        if found is None or found[2] != made.rest:
            return None
        (first, second), columns, _ = found
        if not self._is_size(made.size, first, 0, statement):
            return None
        if columns is not None and not self._is_size(columns, second, 1, statement):
            return None
        return self._checked(Product(first, second, tuple(made.statements), call))

    def _list(self, node: ast.expr, at: ast.stmt | None) -> _List | None:
        """A list made by `[f(i) for i in range(n)]`, or by a loop that appends to it once in each round."""
        start = self._flow.definition(node.id, at) if isinstance(node, ast.Name) and at is not None else None
        value = plain_value(start, node.id) if isinstance(node, ast.Name) else None
        if isinstance(value, ast.ListComp) and isinstance(start, ast.stmt):
            made = self._list(value, start)
            return None if made is None else made._replace(statements=[start])
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
            each = node.generators[0]
            count = _count(each.iter)
            if each.ifs or not isinstance(each.target, ast.Name) or count is None:
                return None
            return _List(node.elt, each.target.id, count, [], [])
        if not isinstance(node, ast.Name):
            return None
        if not isinstance(start, ast.stmt) or not isinstance(value, ast.List) or value.elts:
            return None
        block = _block(self._context, start)
        after = block[block.index(start) + 1 :]
        loop = next((s for s in after if node.id in _names(s)), None)
        if not isinstance(loop, ast.For) or loop.orelse or not isinstance(loop.target, ast.Name):
            return None
        count, appended = _count(loop.iter), _appended(loop.body[-1], node.id)
        if count is None or appended is None:
            return None
        return _List(appended, loop.target.id, count, [start, loop], loop.body[:-1])

    def _row(
        self, row: ast.expr, index: str
    ) -> tuple[tuple[str, str], ast.expr | None, list[ast.stmt]] | None:
        """The two matrices of one row of the product, the number of columns where they are counted, and the statements
        that make the row."""
        if isinstance(row, ast.Call) and self._context.resolve(row.func) in _STACKS and _first_axis(row):
            made = self._list(row.args[0], self._context.statement(row))
            pair = self._dot(made.element, index, made.variable) if made is not None else None
            return None if made is None or pair is None or made.rest else (pair, made.size, made.statements)
        pair = self._row_times_matrix(row, index)
        return None if pair is None else (pair, None, [])

    def _checked(self, product: Product) -> Product | None:
        """The product, if its matrices stay the same and what is removed is read by nothing else."""
        bound: set[str] = set()
        for statement in product.statements:
            bound |= self._flow.bound(statement)
        if product.first in bound or product.second in bound:
            return None
        inside = {n for s in product.statements for n in preorder(s)}
        if isinstance(product.result, ast.expr):
            inside |= set(preorder(product.result))
        else:
            start, loop = product.statements
            block = _block(self._context, start)
            between = block[block.index(start) + 1 : block.index(loop)] if loop in block else [loop]
            if any(product.result in _names(s) for s in between):
                return None
            bound.discard(product.result)
        for node in self._context.function.loads:
            if node.__class__ is ast.Name and node.id in bound and node not in inside:
                at = self._flow.statement(node)
                if at is None or self._flow.definition(node.id, at) in product.statements:
                    return None
        return product

    def _dot(self, element: ast.expr, row: str, column: str) -> tuple[str, str] | None:
        """`(a[i] * b[:, j]).sum()`, `ops.sum(a[i, :] * b[:, j])` and the dot product of the two."""
        factors = self._summed(element)
        if factors is None:
            return None
        parts = [_part(f) for f in factors]
        for first, second in (parts, parts[::-1]):
            if first is not None and second is not None:
                if (first.rows, first.columns) == (row, "") and (second.rows, second.columns) == ("", column):
                    return first.matrix, second.matrix
        return None

    def _summed(self, element: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """The two factors of a product that is summed over everything."""
        if isinstance(element, ast.BinOp) and isinstance(element.op, ast.MatMult):
            return element.left, element.right
        if not isinstance(element, ast.Call) or element.keywords:
            return None
        name = self._context.resolve(element.func) or ""
        if name in ("mindspore.ops.matmul", "mindspore.mint.matmul", "mindspore.mint.dot") and len(element.args) == 2:
            return element.args[0], element.args[1]
        if name in ("mindspore.ops.sum", "mindspore.mint.sum", "mindspore.ops.reduce_sum") and len(element.args) == 1:
            inner: ast.expr = element.args[0]
        elif isinstance(element.func, ast.Attribute) and element.func.attr == "sum" and not element.args and not name:
            inner = element.func.value
        else:
            return None
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
            return inner.left, inner.right
        return None

    def _row_times_matrix(self, row: ast.expr, index: str) -> tuple[str, str] | None:
        """`ops.matmul(a[i], b)`, `a[i] @ b` and `(a[i].expand_dims(1) * b).sum(0)`."""
        if isinstance(row, ast.BinOp) and isinstance(row.op, ast.MatMult):
            pair: tuple[ast.expr, ast.expr] = (row.left, row.right)
        elif isinstance(row, ast.Call) and not row.keywords:
            name = self._context.resolve(row.func) or ""
            if name in ("mindspore.ops.matmul", "mindspore.mint.matmul") and len(row.args) == 2:
                pair = (row.args[0], row.args[1])
            else:
                found = self._weighted_rows(row, name)
                if found is None:
                    return None
                pair = found
        else:
            return None
        first = _part(pair[0])
        if first is None or (first.rows, first.columns) != (index, "") or not isinstance(pair[1], ast.Name):
            return None
        return first.matrix, pair[1].id

    def _weighted_rows(self, call: ast.Call, name: str) -> tuple[ast.expr, ast.expr] | None:
        """The row and the matrix of `(a[i].expand_dims(1) * b).sum(0)`."""
        if isinstance(call.func, ast.Attribute) and call.func.attr == "sum" and not name and len(call.args) == 1:
            inner, axis = call.func.value, call.args[0]
        elif name in ("mindspore.ops.sum", "mindspore.mint.sum") and len(call.args) == 2:
            inner, axis = call.args[0], call.args[1]
        else:
            return None
        if not (isinstance(axis, ast.Constant) and axis.value == 0):
            return None
        if not (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult)):
            return None
        for column, matrix in ((inner.left, inner.right), (inner.right, inner.left)):
            row = self._as_column(column)
            if row is not None:
                return row, matrix
        return None

    def _as_column(self, node: ast.expr) -> ast.expr | None:
        """The row of `row.expand_dims(1)`, `ops.unsqueeze(row, -1)`, `row[:, None]` and `row.reshape(-1, 1)`."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            whole, new = node.slice.elts
            fits = _is_everything(whole) and isinstance(new, ast.Constant) and new.value is None
            return node.value if fits else None
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        arguments = [ast.unparse(a) for a in node.args]
        if isinstance(node.func, ast.Attribute) and self._context.resolve(node.func) is None:
            if node.func.attr in ("expand_dims", "unsqueeze") and arguments in (["1"], ["-1"]):
                return node.func.value
            if node.func.attr in ("reshape", "view") and arguments in (["-1", "1"], ["(-1, 1)"]):
                return node.func.value
            return None
        name = (self._context.resolve(node.func) or "").rpartition(".")[2]
        return node.args[0] if name in ("expand_dims", "unsqueeze") and arguments[1:] in (["1"], ["-1"]) else None

    # `c[i, j] += a[i, k] * b[k, j]`

    def _filled(self, loop: ast.For) -> Product | None:
        """Loops over i, j and k, in any order, that add to the elements of a matrix of zeros."""
        counts: dict[str, ast.expr] = {}
        inner: ast.stmt = loop
        while isinstance(inner, ast.For):
            count = _count(inner.iter)
            if count is None or inner.orelse or len(inner.body) != 1 or not isinstance(inner.target, ast.Name):
                return None
            counts[inner.target.id] = count
            inner = inner.body[0]
        target, added = _added(inner)
        if target is None or added is None or len(counts) not in (2, 3):
            return None
        out = _part(target)
        if out is None or not out.rows or not out.columns:
            return None
        if len(counts) == 3:
            pair = self._scalar_product(added, out, counts)
        else:
            pair = self._dot(added, out.rows, out.columns)
        start = self._flow.definition(out.matrix, loop)
        if pair is None or not isinstance(start, ast.stmt) or not self._is_zeros(plain_value(start, out.matrix)):
            return None
        first, second = pair
        sizes = [(counts.get(out.rows), first, 0), (counts.get(out.columns), second, 1)]
        if any(count is None or not self._is_size(count, matrix, axis, loop) for count, matrix, axis in sizes):
            return None
        for name, count in counts.items():
            if name not in (out.rows, out.columns):
                if not (self._is_size(count, first, 1, loop) or self._is_size(count, second, 0, loop)):
                    return None
        return self._checked(Product(first, second, (start, loop), out.matrix))

    def _scalar_product(self, added: ast.expr, out: _Part, counts: dict[str, ast.expr]) -> tuple[str, str] | None:
        if not (isinstance(added, ast.BinOp) and isinstance(added.op, ast.Mult)):
            return None
        parts = [_part(added.left), _part(added.right)]
        inner = next((name for name in counts if name not in (out.rows, out.columns)), "")
        for first, second in (parts, parts[::-1]):
            if first is not None and second is not None and inner:
                if (first.rows, first.columns) == (out.rows, inner) and (second.rows, second.columns) == (
                    inner, out.columns,
                ):  # fmt: skip
                    return first.matrix, second.matrix
        return None

    def _is_zeros(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and self._context.resolve(value.func) in _ZEROS

    # Sizes

    def _is_size(self, count: ast.expr, matrix: str, axis: int, at: ast.stmt) -> bool:
        """Whether an expression is the size of an axis: `a.shape[0]`, `len(a)`, or a variable that has it."""
        for _ in range(4):
            if not isinstance(count, ast.Name):
                break
            definition = self._flow.definition(count.id, at)
            value = plain_value(definition, count.id)
            if value is None:
                return self._is_unpacked(definition, count.id, matrix, axis)
            count = value
        if isinstance(count, ast.Subscript) and isinstance(count.slice, (ast.Constant, ast.UnaryOp)):
            number = ast.unparse(count.slice)
            return _is_shape(count.value, matrix) and number in (str(axis), str(axis - 2))
        if isinstance(count, ast.Call) and isinstance(count.func, ast.Name) and count.func.id == "len":
            return axis == 0 and isinstance(count.args[0], ast.Name) and count.args[0].id == matrix
        return False

    def _is_unpacked(self, definition: ast.AST | None, name: str, matrix: str, axis: int) -> bool:
        """`rows, columns = a.shape`."""
        if not (isinstance(definition, ast.Assign) and len(definition.targets) == 1):
            return False
        target = definition.targets[0]
        if not (isinstance(target, ast.Tuple) and len(target.elts) == 2 and _is_shape(definition.value, matrix)):
            return False
        element = target.elts[axis]
        return isinstance(element, ast.Name) and element.id == name


def _block(context: FunctionContext, statement: ast.stmt) -> list[ast.stmt]:
    parent = context.parent(statement)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def _first_axis(call: ast.Call) -> bool:
    """Whether a stack puts the new axis first."""
    axis = call.args[1:] + [k.value for k in call.keywords if k.arg in ("axis", "dim")]
    others = [k for k in call.keywords if k.arg not in ("axis", "dim")]
    return len(call.args) >= 1 and not others and all(isinstance(a, ast.Constant) and a.value == 0 for a in axis)


def _count(node: ast.expr) -> ast.expr | None:
    """n of `range(n)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        if len(node.args) == 1 and not node.keywords:
            return node.args[0]
        if len(node.args) == 2 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0:
            return node.args[1]
    return None


def _appended(node: ast.stmt, name: str) -> ast.expr | None:
    """x of the statement `name.append(x)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    holder = call.func.value
    return call.args[0] if isinstance(holder, ast.Name) and holder.id == name and len(call.args) == 1 else None


def _names(node: ast.stmt) -> set[str]:
    return {n.id for n in preorder(node) if isinstance(n, ast.Name)}


def _part(node: ast.expr) -> _Part | None:
    """`a[i]`, `a[i, :]`, `b[:, j]`, `a[i, k]` and `a[i][k]` over a variable."""
    places: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if places and not (len(inner) == 1 and isinstance(inner[0], ast.Name)):
            return None
        places = inner + places
        node = node.value
    if not isinstance(node, ast.Name) or not 1 <= len(places) <= 2:
        return None
    names = []
    for place in places:
        if isinstance(place, ast.Name):
            names.append(place.id)
        elif _is_everything(place):
            names.append("")
        else:
            return None
    return _Part(node.id, names[0], names[1] if len(names) > 1 else "")


def _is_everything(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None and node.step is None


def _added(node: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """Target and summand of `c[i, j] += x`, `c[i, j] = c[i, j] + x`, and the value of `c[i, j] = x`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target, node.value
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        target, value = node.targets[0], node.value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            written = ast.unparse(target)
            if ast.unparse(value.left) == written:
                return target, value.right
            if ast.unparse(value.right) == written:
                return target, value.left
        return target, value
    return None, None


def _is_shape(node: ast.expr, matrix: str) -> bool:
    return (
        isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name)
        and node.value.id == matrix
    )  # fmt: skip
