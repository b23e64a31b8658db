"""GW410: named tuples and dataclasses of Tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from graphward.analysis.names import all_arguments
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, step_of
from .._call_side import check_call_side, check_own_call, insert_call_side
from .._python import display
from ._flags import opted_into
from ._record_callers import index_in_callers
from ._records import Made, made_by
from ._returned_record import call_of, switch

# What a line of a method may hold beside its indentation.
_LONG = 104


class RecordInGraph(Rule):
    """A named tuple or dataclass of Tensors is made by the Python interpreter.

    ## What it finds

    Calls of a `namedtuple`, `NamedTuple` or `dataclass`, `ModelOutput` classes among them, in a graph region, with an
    argument that is a traced value. Records of constants are folded, and are left alone. Where the default of a flag
    keeps the record from being made, the finding is of the level `info`; in a Cell that only graphs call, none of which
    sets the flag, there is no finding.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should be constant

    At the default syntax level the record is made at run time, and what follows is interpreted too.

    ## Example

        def construct(self, x):
            return Output(logits=self.head(x), hidden=x)

    becomes

        def __call__(self, *args, **kwargs):
            logits, hidden = super().__call__(*args, **kwargs)
            return Output(logits=logits, hidden=hidden)

        def construct(self, x):
            return self.head(x), x

    With `if not return_dict: return (logits, hidden)` beside it, `__call__` asks `return_dict` too, and hands on a
    tuple as it is. A field that may be None is False on its way out: a graph leaves None out of what it returns.

    A record that does not leave the graph becomes a tuple, and `out.hidden` an index, in the Cells that call this one
    too. Where Python is to get the record from such a Cell as before, the second fix gives it a `__call__`, and the
    Cells around it call its `construct`.

    ## What the rewrite assumes

    That the outermost Cell is called from Python, where `__call__` is.

    ## When it is unsafe

    When the record is returned: a graph of another package that calls the Cell gets a tuple, with False for None.

    ## References

    `dataclasses`, `typing.NamedTuple`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW410"
    name = "record-in-graph"
    consequence = Consequence.FALLBACK
    triggers = (b"dataclass", b"namedtuple", b"NamedTuple", b"Output")
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (node.args or node.keywords) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return
        made = made_by(node, context)
        if made is None:
            return
        values = [*node.args, *(k.value for k in node.keywords)]
        traced = next((k for k in map(context.kind, values) if k.variable), None)
        if traced is None:
            return
        sites = context.reached.sites
        flag = opted_into(node, context)
        if flag is not None and sites:
            return  # no graph sets it, and Python does not call what a graph calls
        try:
            fixes = _fixes(node, made, context)
        except CannotRewrite as reason:
            fixes = (context.rewrite().manual("Return a tuple from the graph", str(reason)),)
        message = f"{made.record.name} is made by the Python interpreter"
        consequence = None
        if flag is not None:
            consequence, message = Consequence.INFO, f"{message} if a caller sets {flag}"
        found = context.finding(self, node, message, evidence=(traced.evidence,), fixes=fixes, consequence=consequence)
        # A Cell inside another is compiled as a part of that one.
        yield replace(found, region=sites[0][0].region.qualname) if sites else found


def _fixes(node: ast.Call, made: Made, context: FunctionContext) -> tuple[Fix, ...]:
    first = _fix(node, made, context)
    if not (isinstance(context.parent(node), ast.Return) and context.reached.sites):
        return (first,)
    try:
        return first, _returned(node, made, context, context.rewrite(), keep=True)
    except CannotRewrite:
        return (first,)


def _fix(node: ast.Call, made: Made, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    parent = context.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr in made.values:
        rewrite.replace(parent, context.text(made.values[parent.attr]), context.parent(parent))
        return rewrite.unsafe("Use the value itself", "the other fields are not computed")
    if isinstance(parent, ast.Return):
        return _returned(node, made, context, rewrite)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        names = [n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == target.id]
        others = [n for n in names if n is not target]
        returned = [n for n in others if isinstance(context.parent(n), ast.Return)]
        if returned:
            raise CannotRewrite(f"return the values of {made.record.name} as a tuple, and make it where the Cell is "
                                "called")  # fmt: skip
        _index_uses(target.id, others, made, context, rewrite)
        _replace_by_tuple(node, list(made.values), made, context, rewrite)
        return rewrite.safe("Use a tuple")
    taken_apart = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple)
    if taken_apart or (isinstance(parent, ast.Subscript) and parent.value is node):
        _replace_by_tuple(node, list(made.values), made, context, rewrite)
        return rewrite.safe("Use a tuple")
    raise CannotRewrite(f"hand the values of {made.record.name} on one by one: what takes it is not seen")


def _replace_by_tuple(
    node: ast.Call, fields: list[str], made: Made, context: FunctionContext, rewrite: Rewrite
) -> None:
    """The values in the place of the record."""
    texts = [_value(made.values[f], context) for f in fields]
    rewrite.replace(node, f"({display(texts)})", context.parent(node))


def _value(node: ast.expr, context: FunctionContext) -> str:
    if isinstance(node, ast.Constant):
        return repr(node.value)
    text = context.text(node)
    return f"({text})" if isinstance(node, ast.Tuple) and not text.startswith("(") else text


def _index_uses(
    name: str, uses: list[ast.Name], made: Made, context: FunctionContext, rewrite: Rewrite
) -> None:
    """`out.hidden` becomes `out[1]`; other uses than fields, indices and unpacking cannot stay."""
    for use in uses:
        parent = context.parent(use)
        if isinstance(use.ctx, ast.Store):
            raise CannotRewrite(f"{name} is assigned more than once")
        if isinstance(parent, ast.Attribute) and parent.attr in made.record.fields and isinstance(parent.ctx, ast.Load):
            index = made.record.fields.index(parent.attr)
            rewrite.replace_span(context.module.end(use), context.module.end(parent), f"[{index}]")
        elif not (isinstance(parent, ast.Subscript) and parent.value is use) and not isinstance(parent, ast.Assign):
            raise CannotRewrite(f"{name} is handed on as a whole")


def _returned(node: ast.Call, made: Made, context: FunctionContext, rewrite: Rewrite, *, keep: bool = False) -> Fix:
    """`keep` says that Python still gets the record from a Cell that graphs call."""
    records: list[tuple[ast.Call, Made]] = []
    plain: list[ast.Return] = []
    for found in context.function.nodes:
        if isinstance(found, ast.Return) and context.function is _around(found, context):
            record = made_by(found.value, context) if isinstance(found.value, ast.Call) else None
            if record is None or record.record.name != made.record.name:
                plain.append(found)
            elif isinstance(found.value, ast.Call):
                records.append((found.value, record))
    if context.reached.sites:
        if plain:
            raise CannotRewrite("another graph calls this one, and construct returns a tuple too: call it with "
                                "return_dict=False where there is such an option, and use indices there")  # fmt: skip
        for call, record in records:
            _replace_by_tuple(call, list(record.values), record, context, rewrite)
        index_in_callers(made, context, rewrite, construct=keep)
        if keep:
            return _kept_for_python(node, records, made, context, rewrite)
        return rewrite.unsafe("Return a tuple", "what calls the Cell from elsewhere gets a tuple")
    check_call_side(context)
    returns = [r for call, _ in records if isinstance(r := context.parent(call), ast.Return)]
    lines = switch(plain, returns, context)
    constant = [f for f in made.record.fields if all(_is_none(r.values[f]) for _, r in records)]
    fields = [f for f in made.record.fields if f not in constant]
    if not fields:
        raise CannotRewrite("all its fields are None")
    absent = {f for f in fields if any(_may_be_none(r.values[f], context) for _, r in records)}
    for call, record in records:
        texts = [_marked(record.values[f], context) if f in absent else _value(record.values[f], context)
                 for f in fields]  # fmt: skip
        rewrite.replace(call, texts[0] if len(texts) == 1 else f"({', '.join(texts)})", context.parent(call))
    receiver = context.function.receiver or "self"
    left = ", ".join(fields)
    values = [(f, f"None if {f} is False else {f}" if f in absent else f) for f in fields]
    values += [(f, "None") for f in constant if not _has_none_default(f, made)]
    making = _made_lines(f"return {context.text(node.func)}", [f"{f}={v}" for f, v in values], context)
    if lines:
        signature, arguments = call_of(context)
        body = [f"outputs = super().__call__({arguments})", *lines, f"{left} = outputs", *making]
    else:
        signature = f"{receiver}, *args, **kwargs"
        body = [f"{left} = super().__call__(*args, **kwargs)", *making]
    insert_call_side(context, rewrite, signature, body)
    return rewrite.unsafe("Make it in __call__", "a graph that calls the Cell gets a tuple, with False for None")


def _made_lines(start: str, keywords: list[str], context: FunctionContext) -> list[str]:
    """`return Output(a=a, b=b)`, on a line for each field where it is long."""
    line = f"{start}({', '.join(keywords)})"
    if len(line) <= _LONG:
        return [line]
    step = step_of(context.function)
    return [f"{start}(", *(f"{step}{k}," for k in keywords), ")"]


def _may_be_none(node: ast.expr, context: FunctionContext) -> bool:
    """Whether a field may be None, which a graph does not hand out."""
    if isinstance(node, ast.IfExp):
        return _may_be_none(node.body, context) or _may_be_none(node.orelse, context)
    kind = context.kind(node)
    if kind.optional or kind.is_none or (isinstance(node, ast.Name) and _starts_as_none(node.id, context)):
        return True
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not (kind.is_tensor or kind.elements)


def _starts_as_none(name: str, context: FunctionContext) -> bool:
    """Whether a variable is None somewhere: which `if` of the function is taken may be told by the call alone."""
    for node in context.function.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            holder = context.parent(node)
            if isinstance(holder, ast.Assign):
                value = holder.value
                if any(map(_is_none, (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,))):
                    return True
    arguments = all_arguments(context.function.node.args)
    defaults = context.function.node.args.defaults
    return any(a.arg == name and _is_none(d) for a, d in zip(arguments[::-1], defaults[::-1]))


def _marked(node: ast.expr, context: FunctionContext) -> str:
    """The text of a field, with False where it is None: `False if hidden is None else hidden`."""
    if _is_none(node):
        return "False"
    if isinstance(node, ast.IfExp) and (_is_none(node.orelse) or _is_none(node.body)):
        body, orelse = ("False" if _is_none(n) else _value(n, context) for n in (node.body, node.orelse))
        return f"{body} if {context.text(node.test)} else {orelse}"
    if not _may_be_none(node, context):
        return _value(node, context)
    if any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(node)):
        raise CannotRewrite("assign each field that may be None to a name first: a graph does not hand None out")
    text = _value(node, context)
    return f"False if {text} is None else {text}"


def _kept_for_python(
    node: ast.Call, records: list[tuple[ast.Call, Made]], made: Made, context: FunctionContext, rewrite: Rewrite
) -> Fix:
    """The Cell makes the record in `__call__`, which the graphs that call it go around in PyNative too."""
    check_own_call(context)
    fields = made.record.fields
    if any(_may_be_none(record.values[f], context) for _, record in records for f in fields):
        raise CannotRewrite("a field may be None")
    keywords = [f"{f}={f}" for f in fields]
    receiver = context.function.receiver or "self"
    body = [f"{display(fields)} = super().__call__(*args, **kwargs)"]
    body += _made_lines(f"return {context.text(node.func)}", keywords, context)
    insert_call_side(context, rewrite, f"{receiver}, *args, **kwargs", body)
    reason = "what calls the Cell inside of a graph calls its construct, and goes around its hooks in PyNative"
    return rewrite.unsafe("Return a tuple, and make the record in __call__ for what calls it from Python", reason)


def _around(node: ast.AST, context: FunctionContext) -> object:
    parent = context.parent(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parent = context.parent(parent)
    return context.function if parent in (None, context.function.node) else parent


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _has_none_default(field: str, made: Made) -> bool:
    default = made.record.defaults.get(field)
    return default is not None and _is_none(default)
