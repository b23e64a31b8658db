"""From the syntax tree of a function to terms: what each expression computes, through locals and every spelling."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import NamedTuple

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext

from . import _operators as known
from ._flow import Flow, plain_value
from ._operators import Reduction
from ._terms import Term, add, apply, div, leaf, mul, neg, num, power, sub

_DEPTH = 40
_ARITHMETIC: dict[type[ast.operator], Callable[[Term, Term], Term]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: div,
}  # fmt: skip
_NAMED: dict[str, Callable[[Term, Term], Term]] = {"add": add, "sub": sub, "mul": mul, "div": div}
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Gt: "gt", ast.Lt: "lt", ast.GtE: "ge", ast.LtE: "le"}
_CONSTANTS = {"math.pi": math.pi, "numpy.pi": math.pi, "math.e": math.e, "mindspore.numpy.pi": math.pi}
_CASTS = frozenset({"astype", "to", "type_as"})
_FLOAT_CASTS = frozenset({"float", "half", "bfloat16"})


class Called(NamedTuple):
    """A call of an operator: `name` is the last part of its name; `form` "function", "method", "primitive" or "layer";
    `made` is the call that made the Primitive or layer."""

    name: str
    form: str
    arguments: list[ast.expr]
    keywords: list[ast.keyword]
    made: ast.Call | None = None


class Reader:
    """The terms of one function. `sources` says where each term is written first."""

    def __init__(self, context: FunctionContext):
        self._context = context
        self.flow = Flow(context.function)
        self.sources: dict[Term, list[ast.expr]] = {}
        self._known: dict[ast.AST, Term] = {}
        self._depth = 0
        self._parameters = {a.arg for a in ast.walk(context.function.node.args) if isinstance(a, ast.arg)}

    def term(self, node: ast.expr) -> Term:
        found = self._known.get(node)
        if found is None:
            self._depth += 1
            try:
                found = self._read(node) if self._depth < _DEPTH else leaf(("node", id(node)))
            except OverflowError:
                found = leaf(("node", id(node)))
            self._depth -= 1
            self._known[node] = found
            self.sources.setdefault(found, []).append(node)
        return found

    def known(self, node: ast.expr) -> Term | None:
        """The term of an expression, if it was read."""
        return self._known.get(node)

    def _read(self, node: ast.expr) -> Term:
        if isinstance(node, ast.Constant):
            value = node.value
            return num(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else self._leaf(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = self.term(node.operand)
            return neg(inner) if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            return _compare(_COMPARISONS[type(node.ops[0])], self.term(node.left), self.term(node.comparators[0]))
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node) or self._leaf(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node) or self._leaf(node)
        return self._leaf(node)

    def _name(self, node: ast.Name) -> Term:
        statement = self.flow.statement(node)
        if statement is None:
            return leaf(("node", id(node)))
        definition = self.flow.definition(node.id, statement)
        value = plain_value(definition, node.id)
        if value is not None:
            return self.term(value)
        if definition is None and node.id not in self._parameters:
            number = _number(self._context.kind(node))
            if number is not None:
                return num(number)
        return leaf(("name", node.id, id(definition)))

    def _arithmetic(self, node: ast.BinOp) -> Term:
        first, second = self.term(node.left), self.term(node.right)
        if isinstance(node.op, ast.Pow):
            return power(first, second.value) if second.op == "num" else apply("power", first, second)  # type: ignore
        if isinstance(node.op, ast.MatMult):
            return apply("matmul", first, second)
        make = _ARITHMETIC.get(type(node.op))
        return self._leaf(node) if make is None else make(first, second)

    def _attribute(self, node: ast.Attribute) -> Term:
        name = self._context.resolve(node)
        if name in _CONSTANTS:
            return num(_CONSTANTS[name])
        kind = self._context.kind(node)
        number = _number(kind)
        if number is not None:
            return num(number)
        if node.attr in ("T", "mT") and name is None:
            inner = self.term(node.value)
            rank = self._context.kind(node.value).rank
            return apply("transpose", inner) if node.attr == "mT" or rank == 2 else self._leaf(node)
        return self._leaf(node)

    # Calls

    def called(self, node: ast.Call) -> Called | None:
        """The operator that a call applies, if it is one of MindSpore's."""
        context = self._context
        name = context.resolve(node.func)
        if name is not None:
            for root in known.ROOTS:
                if name.startswith(root) and "." not in name[len(root) :]:
                    last = name[len(root) :]
                    return None if last[:1].isupper() else Called(last, "function", node.args, node.keywords)
            return None
        maker = self._maker(node.func)
        if maker is not None:
            made = context.resolve(maker.func) or ""
            last = made.rpartition(".")[2]
            if made.startswith("mindspore.ops.") and last[:1].isupper():
                return Called(last, "primitive", node.args, node.keywords, maker)
            if made.startswith(("mindspore.nn.", "mindspore.mint.nn.")) and last in known.LAYERS:
                return Called(last, "layer", node.args, node.keywords, maker)
            return None
        if isinstance(node.func, ast.Attribute) and node.func.attr in known.METHODS:
            kind = context.kind(node.func.value)
            if kind.is_tensor or kind.tag is Tag.UNKNOWN:
                return Called(node.func.attr, "method", [node.func.value, *node.args], node.keywords)
        return None

    def _maker(self, func: ast.expr) -> ast.Call | None:
        """The call that made the Primitive or layer which `func` is: in place, a local, or the one value of an
        attribute or of a global variable."""
        context = self._context
        if isinstance(func, ast.Call):
            return func
        if isinstance(func, ast.Name):
            statement = self.flow.statement(func)
            value = plain_value(self.flow.definition(func.id, statement), func.id) if statement else None
            if value is None and not context.function.names.is_local(func.id):
                value = context.module.assignments.get(func.id)
            return value if isinstance(value, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            if func.value.id == context.function.receiver and context.cell is not None:
                values = context.project.attribute_values(context.cell).get(func.attr, [])
                if len(values) == 1 and isinstance(values[0][1], ast.Call) and values[0][0].module is context.module:
                    return values[0][1]
        return None

    def _call(self, node: ast.Call) -> Term | None:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        name = self._context.resolve(node.func)
        if name in ("math.sqrt", "numpy.sqrt") and len(node.args) == 1:
            return power(self.term(node.args[0]), 0.5)
        if name in ("mindspore.Tensor", "mindspore.tensor") and node.args and isinstance(node.args[0], ast.Constant):
            return self.term(node.args[0])
        called = self.called(node)
        if called is None or not called.arguments:
            return None
        return self._operator(called)

    def _operator(self, called: Called) -> Term | None:
        lower = called.name.lower()
        arguments, keywords = called.arguments, called.keywords
        plain = not keywords and (called.made is None or not (called.made.args or called.made.keywords))
        if lower in known.UNARY and len(arguments) == 1 and plain:
            return _unary(known.UNARY[lower], self.term(arguments[0]))
        if lower in known.BINARY and len(arguments) == 2 and (plain or lower in ("matmul", "batchmatmul")):
            return self._binary(known.BINARY[lower], called)
        if lower in known.ALONG or (called.form == "layer" and known.LAYERS[called.name] in known.ALONG.values()):
            return self._along(called)
        if called.name in known.PRIMITIVE_REDUCTIONS and called.form == "primitive":
            return self._primitive_reduction(called)
        if called.form in ("function", "method"):
            table = known.FUNCTION_REDUCTIONS if called.form == "function" else known.METHOD_REDUCTIONS
            if called.name in table and not _gives_indices(called):
                return self._reduction(table[called.name], arguments, keywords)
            return self._shaped(called)
        if called.form == "layer" and len(arguments) == 1:
            return apply(known.LAYERS[called.name], self.term(arguments[0]))
        if lower in ("select", "cast", "transpose", "expanddims", "gatherd", "onehot"):
            return self._shaped(called._replace(name=lower))
        return None

    def _binary(self, op: str, called: Called) -> Term | None:
        first, second = (self.term(a) for a in called.arguments)
        if op in ("add", "sub", "mul", "div"):
            return _NAMED[op](first, second)
        if op == "add_last":
            return add(first, second)
        if op == "pow":
            return power(first, second.value) if second.op == "num" else apply("power", first, second)  # type: ignore
        if op in ("gt", "lt", "ge", "le"):
            return _compare(op, first, second)
        if op == "matmul":
            options = {k.arg: k.value for k in (called.made.keywords if called.made else called.keywords)}
            given = list(called.made.args) if called.made else []
            options.update(zip(("transpose_a", "transpose_b"), given, strict=False))
            flags = {}
            for name, value in options.items():
                if name not in ("transpose_a", "transpose_b") or not isinstance(value, ast.Constant):
                    return None
                flags[name] = bool(value.value)
            first = apply("transpose", first) if flags.get("transpose_a") else first
            second = apply("transpose", second) if flags.get("transpose_b") else second
            return apply("matmul", _double(first), _double(second))
        return apply(op, *sorted((first, second), key=str))

    def _along(self, called: Called) -> Term | None:
        """Softmax and its kin along one axis."""
        op = known.ALONG.get(called.name.lower()) or known.LAYERS[called.name]
        made = called.made
        given = list(made.args if made else called.arguments[1:])
        named = {k.arg: k.value for k in (made.keywords if made else called.keywords)}
        if len(given) > 1 or set(named) - known.AXIS_NAMES or (made and (len(called.arguments) > 1 or called.keywords)):
            return None
        axes = given or list(named.values())
        written = self._axis(axes[0], called.arguments[0]) if axes else -1
        return None if written is None else apply(op, self.term(called.arguments[0]), value=written)

    def _primitive_reduction(self, called: Called) -> Term | None:
        made = called.made
        assert made is not None
        named = {k.arg: k.value for k in made.keywords}
        given = list(made.args)
        keep = given[0] if given else named.get("keep_dims")
        if len(given) > 1 or set(named) - {"keep_dims"} or called.keywords or len(called.arguments) != 2:
            return None
        return self._reduced(known.PRIMITIVE_REDUCTIONS[called.name], called.arguments[0], called.arguments[1], keep)

    def _reduction(
        self, reduction: Reduction, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> Term | None:
        rest = arguments[1:]
        named = {k.arg or "": k.value for k in keywords}
        if set(named) - known.AXIS_NAMES - known.KEEP_NAMES or len(rest) > max(reduction.axis, reduction.keep) + 1:
            return None
        axis = rest[reduction.axis] if len(rest) > reduction.axis else None
        keep = rest[reduction.keep] if 0 <= reduction.keep < len(rest) else None
        if len(rest) == 2 and reduction.keep == 2:
            return None  # the second argument is a dtype
        for name, value in named.items():
            if name in known.AXIS_NAMES:
                axis = value
            else:
                keep = value
        return self._reduced(reduction.op, arguments[0], axis, keep)

    def _reduced(self, op: str, tensor: ast.expr, axis: ast.expr | None, keep: ast.expr | None) -> Term | None:
        """A sum, mean or the like; `value` is the axes, None for all, and whether they are kept."""
        if keep is not None and not (isinstance(keep, ast.Constant) and isinstance(keep.value, (bool, int))):
            return None
        kept = bool(keep is not None and keep.value)
        written = None if axis is None or _is_none(axis) else self._axis(axis, tensor)
        if written is None and axis is not None and not _is_none(axis):
            return None
        if written == ():
            written = None
        return apply(op, self.term(tensor), value=(written, kept))

    def _axis(self, node: ast.expr, tensor: ast.expr) -> object | None:
        """An axis as a negative number where the rank is known, else as it is written; several as a tuple."""
        if isinstance(node, (ast.Tuple, ast.List)):
            several = [self._axis(item, tensor) for item in node.elts]
            return None if None in several else several[0] if len(several) == 1 else tuple(sorted(several, key=str))
        number = self._integer(node)
        if number is None:
            kind = self._context.kind(node)
            if kind.is_tensor or kind.variable or not isinstance(node, (ast.Name, ast.Attribute)):
                return None
            return self._context.text(node)
        rank = self._context.kind(tensor).rank
        return number - rank if number >= 0 and rank is not None else number

    def _integer(self, node: ast.expr) -> int | None:
        term = self.term(node)
        if term.op != "num" or term.value != int(term.value):  # type: ignore[call-overload]
            return None
        return int(term.value)  # type: ignore[call-overload]

    def _shaped(self, called: Called) -> Term | None:
        """Functions and methods that choose, cast and move axes."""
        name, arguments, keywords = called.name, called.arguments, called.keywords
        named = {k.arg: k.value for k in keywords}
        if name in ("where", "select") and len(arguments) == 3 and not named:
            first, second, third = arguments
            if called.form == "method":
                first, second = second, first  # x.where(condition, other)
            return apply("where", *(self.term(a) for a in (first, second, third)))
        if name == "masked_fill" and len(arguments) == 3 and not named:
            return apply("where", self.term(arguments[1]), self.term(arguments[2]), self.term(arguments[0]))
        if name in _FLOAT_CASTS and len(arguments) == 1 and not named:
            return _cast(self.term(arguments[0]))
        if name in (*_CASTS, "cast") and len(arguments) == 2 and not named:
            return _cast(self.term(arguments[0]))
        if name in ("swapaxes", "swapdims", "transpose") and len(arguments) == 3 and not named:
            if {self._axis(a, arguments[0]) for a in arguments[1:]} == {-1, -2}:
                return _double(apply("transpose", self.term(arguments[0])))
            return None
        if name in ("swapaxes", "swapdims", "transpose", "permute", "t") and not named:
            return self._permuted(arguments)
        if name in ("gather_elements", "gather_d", "gatherd", "gather") and len(arguments) == 3 and not named:
            dim = self._axis(arguments[1], arguments[0])
            return None if dim is None else apply("gather", self.term(arguments[0]), self.term(arguments[2]), value=dim)
        if name in ("one_hot", "onehot") and len(arguments) >= 2 and not set(named) - {"on_value", "off_value"}:
            return apply("one_hot", self.term(arguments[0]))
        if name == "nll_loss" and len(arguments) == 2 and not named:
            return apply("nll_loss", *(self.term(a) for a in arguments))
        if name == "squeeze" and len(arguments) <= 2 and not named:
            return apply("squeeze", self.term(arguments[0]))
        if name in ("expand_dims", "unsqueeze", "expanddims") and len(arguments) == 2 and not named:
            return self._expanded(arguments[0], self._integer(arguments[1]))
        return None

    def _permuted(self, arguments: list[ast.expr]) -> Term | None:
        """A permutation that changes the last two axes only."""
        order = arguments[1:]
        rank = self._context.kind(arguments[0]).rank
        if not order:
            return _double(apply("transpose", self.term(arguments[0]))) if rank == 2 else None
        if len(order) == 1 and isinstance(order[0], (ast.Tuple, ast.List)):
            order = list(order[0].elts)
        numbers = [self._integer(item) for item in order]
        if len(numbers) < 2 or None in numbers:
            return None
        length = len(numbers)
        positive = [n + length if n < 0 else n for n in numbers]  # type: ignore[operator]
        if positive == [*range(length - 2), length - 1, length - 2]:
            return _double(apply("transpose", self.term(arguments[0])))
        return None

    def _expanded(self, tensor: ast.expr, axis: int | None) -> Term | None:
        """A new axis; put back where a sum or mean took it, that keeps the axis."""
        if axis is None:
            return None
        inner = self.term(tensor)
        if isinstance(inner.value, tuple) and inner.value == (axis, False):
            return inner._replace(value=(axis, True))
        return apply("expand_dims", inner, value=axis)

    def _subscript(self, node: ast.Subscript) -> Term | None:
        value, index = node.value, node.slice
        if isinstance(value, ast.Call) and isinstance(index, ast.Constant) and isinstance(index.value, int):
            return self._pair(value, index.value)
        if isinstance(index, ast.Tuple) and len(index.elts) >= 2:
            return self._new_axes(value, index.elts)
        if isinstance(index, ast.Constant) and index.value is None:
            rank = self._context.kind(value).rank
            return apply("expand_dims", self.term(value), value=0 if rank is None else -rank - 1)
        return None

    def _pair(self, call: ast.Call, index: int) -> Term | None:
        """`ops.max(x, axis)[0]` and the Primitive `ArgMaxWithValue(axis)(x)[1]`."""
        called = self.called(call)
        if called is None or not called.arguments:
            return None
        if called.form == "primitive" and called.name == "ArgMaxWithValue" and index == 1:
            made = called.made
            assert made is not None
            named = {k.arg: k.value for k in made.keywords}
            given = [*made.args, None, None]
            return self._reduced("max", called.arguments[0], given[0] or named.get("axis") or ast.Constant(0),
                                 given[1] or named.get("keep_dims"))  # fmt: skip
        if index == 0 and (called.form == "function" or _gives_indices(called)) and called.name in known.PAIRS:
            return self._reduction(known.PAIRS[called.name], called.arguments, called.keywords)
        return None

    def _new_axes(self, value: ast.expr, items: list[ast.expr]) -> Term | None:
        """`x[..., None]`, `x[:, None]`, `x[None, :, :]`: one new axis and nothing else."""
        places = [i for i, item in enumerate(items) if _is_none(item)]
        others = [item for item in items if not _is_none(item)]
        if len(places) != 1 or not all(_is_whole(item) for item in others):
            return None
        dots = [i for i, item in enumerate(items) if isinstance(item, ast.Constant) and item.value is Ellipsis]
        place = places[0]
        rank = self._context.kind(value).rank
        if dots and dots[0] < place:
            axis: int = place - len(items)
        elif rank is not None:
            axis = place - rank - 1
        else:
            axis = place
        inner = self.term(value)
        if isinstance(inner.value, tuple) and inner.value == (axis, False):
            return inner._replace(value=(axis, True))
        return apply("expand_dims", inner, value=axis)

    # Leaves

    def _leaf(self, node: ast.expr) -> Term:
        """A value that the arithmetic does not look into: the same one where it is written alike, calls no function,
        and reads the same variables."""
        names = []
        for part in ast.walk(node):
            if isinstance(part, (ast.Call, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.Await, ast.NamedExpr)):
                return leaf(("node", id(node)))
            if isinstance(part, ast.Name):
                statement = self.flow.statement(part)
                if statement is None:
                    return leaf(("node", id(node)))
                names.append((part.id, id(self.flow.definition(part.id, statement))))
        return leaf(("text", ast.dump(node), tuple(names)))


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name, empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _unary(op: str, x: Term) -> Term:
    if op == "neg":
        return neg(x)
    if op == "sqrt":
        return power(x, 0.5)
    if op == "rsqrt":
        return power(x, -0.5)
    if op == "square":
        return power(x, 2)
    if op == "reciprocal":
        return power(x, -1)
    if op == "stop_gradient":
        # Of a maximum that a softmax takes away from its input it changes nothing; elsewhere it does.
        return x if x.op == "max" else apply(op, x)
    return num(0) if op == "zeros_like" else apply(op, x)


def _compare(op: str, first: Term, second: Term) -> Term:
    if op in ("lt", "le"):
        return apply("gt" if op == "lt" else "ge", second, first)
    return apply(op, first, second)


def _cast(term: Term) -> Term:
    """A mask cast to numbers is still the mask; any other cast may change values."""
    return term if term.op in ("gt", "ge") else apply("cast", term)


def _double(term: Term) -> Term:
    """Two transpositions are none."""
    if term.op == "transpose" and term.args[0].op == "transpose":
        return term.args[0].args[0]
    return term


def _gives_indices(called: Called) -> bool:
    """Whether the method `max` gives values and indices: with `dim`, or with plain arguments."""
    if called.form != "method" or called.name not in known.PAIRS:
        return False
    names = {k.arg for k in called.keywords}
    return bool(names & {"dim", "keepdim"}) or (len(called.arguments) > 1 and not names)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_whole(node: ast.expr) -> bool:
    if isinstance(node, ast.Slice):
        return node.lower is None and node.upper is None and node.step is None
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _number(kind: Kind) -> float | None:
    value = kind.value
    if kind.tag is Tag.CONSTANT and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    return None
