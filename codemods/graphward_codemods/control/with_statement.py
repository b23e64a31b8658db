"""GW302: `with`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, indent_of, own_nodes, replace_statement

# Contexts that change no value: what they do (record, time, silence, name) does not happen inside a graph anyway.
_HARMLESS = {
    "nullcontext": "it does nothing", "record_function": "it only records the time",
    "RecordFunction": "it only records the time", "profile": "it only records the time",
    "Profiler": "it only records the time", "name_scope": "it only names operators",
    "catch_warnings": "it only silences warnings", "redirect_stdout": "a graph prints by itself",
    "redirect_stderr": "a graph prints by itself", "suppress": "nothing is caught in a graph: errors reach the caller",
    "device_context": "a graph runs on the device of its context", "StreamCtx": "a graph orders its operators itself",
    "Lock": "one graph runs at a time", "RLock": "one graph runs at a time",
}  # fmt: skip
_NO_GRAD = frozenset({"no_grad", "_no_grad", "inference_mode"})
_GRAD = frozenset({"enable_grad", "_enable_grad"})


class WithStatement(Rule):
    """`with` does not compile, unless its object is a Cell or of a jit_class.

    ## What it finds

    `with` in a graph region over `contextlib.nullcontext()`, `no_grad()`, profilers, `warnings.catch_warnings()` and
    other objects of Python. A context manager of the project that carries `@jit_class` is left alone.

    ## Why

    Measured on MindSpore 2.10.0 CPU:

        TypeError: Only support jit_class instance, but got PythonObject(type: <class 'contextlib.nullcontext'>, ...)

    ## Example

        with contextlib.nullcontext():
            y = x * 2
        return y

    becomes

        y = x * 2
        return y

    Under `no_grad()` what is assigned is wrapped in `ops.stop_gradient`, so that the gradient stays cut. A context
    manager of the same file gets the decorator `@jit_class`; one that does nothing but note times on itself cannot have
    it, since a graph has no clock, and its `with` goes.

    ## What the rewrite assumes

    That the context changes no value: those above record, name or silence, none of which reaches into a graph.

    ## When it is unsafe

    Always but for `nullcontext`: what the context did is no longer done. A context that is not known is left to a
    person.

    ## References

    Measured on MindSpore 2.10.0 CPU. API of `mindspore.jit_class`.
    """

    code = "GW302"
    name = "with-statement"
    consequence = Consequence.ERROR
    triggers = (b"with",)
    nodes = (ast.With,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.With)
        managers = [_manager(item.context_expr, context) for item in node.items]
        if all(_compiles(item.context_expr, m, context) for item, m in zip(node.items, managers, strict=True)):
            return
        names = ", ".join(context.text(item.context_expr) for item in node.items)
        yield context.finding(self, node, f"with {names} does not compile", fixes=_fixes(node, managers, context))


Manager = ClassInfo | FunctionInfo | str | None


def _manager(node: ast.expr, context: FunctionContext) -> Manager:
    """What makes the context: the project's class or function, or a qualified name."""
    callee = node.func if isinstance(node, ast.Call) else node
    name = context.resolve(callee)
    found = context.project.definition(name) if name else None
    if found is None and isinstance(callee, ast.Name):
        found = context.project.visible(context.function, callee.id)
    if found is None and isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        cell = context.cell
        if cell is not None and callee.value.id == context.function.receiver and not isinstance(node, ast.Call):
            held = context.project.attribute_classes(cell, callee.attr)
            found = held[0] if held else None
    if found is not None:
        return found
    return name or context.text(callee)


def _compiles(node: ast.expr, manager: Manager, context: FunctionContext) -> bool:
    if context.kind(node).tag in (Tag.CELL, Tag.CELLS):
        return True
    return isinstance(manager, ClassInfo) and (bool(context.project.is_cell(manager)) or _is_jit_class(manager))


def _is_jit_class(info: ClassInfo) -> bool:
    for node in info.node.decorator_list:
        text = info.module.text(node)
        if text.rpartition(".")[2] in ("jit_class", "ms_class"):
            return True
    return False


def _fixes(node: ast.With, managers: list[Manager], context: FunctionContext) -> tuple[Fix, ...]:
    try:
        if isinstance(managers[0], ClassInfo) and not all(_is_timer(m) for m in managers):
            return (_decorated(managers, context),)
        return _dedented(node, managers, context)
    except CannotRewrite as reason:
        advice = "do what the context does before and after the call of the Cell, outside the graph"
        return (context.rewrite().manual("Take the context out of the graph", f"{reason}; {advice}"),)


def _is_timer(manager: Manager) -> bool:
    return isinstance(manager, ClassInfo) and _only_measures(manager)


def _only_measures(info: ClassInfo) -> bool:
    """Whether a context of the project only notes times on itself, which no jit_class can, and lets errors pass."""
    entering, leaving = (info.methods.get(name) for name in ("__enter__", "__exit__"))
    if entering is None or leaving is None:
        return False
    noted = False
    for method in (entering, leaving):
        for statement in method.node.body:
            if isinstance(statement, ast.Return):
                value = statement.value
                plain = value is None or (isinstance(value, ast.Constant) and not value.value)
                if not plain and not (method is entering and isinstance(value, ast.Name)):
                    return False
                continue
            calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
            if any(not (method.names.resolve(c.func) or "").startswith("time.") for c in calls):
                return False
            if isinstance(statement, (ast.Assign, ast.AugAssign)):
                noted = True
            elif not isinstance(statement, ast.Pass) and not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                return False
    return noted


def _decorated(managers: list[Manager], context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    source = context.module.source
    for info in managers:
        if not isinstance(info, ClassInfo) or info.module is not context.module or info.outer is not None:
            raise CannotRewrite("the context manager is made elsewhere")
        if not {"__enter__", "__exit__"} <= info.methods.keys():
            raise CannotRewrite(f"{info.name} takes __enter__ or __exit__ from a base")
        line = min([info.node.lineno, *(d.lineno for d in info.node.decorator_list)])
        text = f"{source.indent(line)}@{rewrite.spell('mindspore.jit_class')}{source.newline}"
        rewrite.insert(source.offset(line, 0), text)
    names = ", ".join(dict.fromkeys(i.name for i in managers if isinstance(i, ClassInfo)))
    return rewrite.unsafe(f"Make {names} a jit_class", f"{names} is compiled: its methods may do what a graph can do")


def _dedented(node: ast.With, managers: list[Manager], context: FunctionContext) -> tuple[Fix, ...]:
    reasons: list[str] = []
    bound: list[str] = []
    cut = False
    for item, manager in zip(node.items, managers, strict=True):
        short = manager.rpartition(".")[2] if isinstance(manager, str) else ""
        if isinstance(manager, FunctionInfo):
            _check_empty(manager)
        elif isinstance(manager, ClassInfo):
            reasons.append(f"{manager.name} no longer measures: time the call of the Cell instead")
        elif short in _NO_GRAD:
            cut = True
        elif short in _GRAD:
            reasons.append("a gradient is always there in a graph")
        elif short in _HARMLESS:
            if short != "nullcontext":
                reasons.append(_HARMLESS[short])
        else:
            raise CannotRewrite(f"what {short or 'the context'} does is not known")
        if item.optional_vars is not None:
            bound.append(_binding(item, short, context))
    indent = indent_of(context.module, node)
    plain = context.rewrite()
    lines = [indent + text for text in bound]
    lines += block_lines(context.module, node.body, indent, node.items[-1].context_expr.end_lineno or node.lineno)
    replace_statement(context, plain, node, lines)
    title = "Take the body out of the with"
    reason = "; ".join(dict.fromkeys(reasons))
    if cut:
        restored = "; ".join(filter(None, ("the gradient that the context cut flows again", reason)))
        fixes = (plain.unsafe(title, restored, restores_gradient=True),)
        stopped = _stopped(node, context, bound)
        if stopped is None:
            return fixes
        why = "; ".join(filter(None, ("only what the body assigns is cut off from the gradient", reason)))
        return (stopped.unsafe("Take the body out, with its gradient stopped", why), *fixes)
    return (plain.unsafe(title, reason) if reason else plain.safe(title),)


def _binding(item: ast.withitem, short: str, context: FunctionContext) -> str:
    assert item.optional_vars is not None
    call = item.context_expr
    if short == "nullcontext" and isinstance(call, ast.Call):
        values = [*call.args, *(k.value for k in call.keywords)]
        return f"{context.text(item.optional_vars)} = {context.text(values[0]) if values else 'None'}"
    names = {n.id for n in ast.walk(item.optional_vars) if isinstance(n, ast.Name)}
    if any(isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load) for n in context.function.nodes):
        raise CannotRewrite(f"{', '.join(sorted(names))} is used")
    return f"{context.text(item.optional_vars)} = None"


def _check_empty(function: FunctionInfo) -> None:
    """Raises CannotRewrite unless a generator function does nothing but yield."""
    for statement in function.node.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(statement, ast.Pass) or isinstance(value, ast.Constant):
            continue
        if isinstance(value, ast.Yield) and (value.value is None or isinstance(value.value, (ast.Name, ast.Constant))):
            continue
        raise CannotRewrite(f"{function.name} does something before or after its yield")


def _stopped(node: ast.With, context: FunctionContext, bound: list[str]) -> Rewrite | None:
    """The body with `ops.stop_gradient` around all that it assigns to names or returns; None where something else
    leaves it. The wrapped values are edited in place, and the lines moved around them."""
    values = []
    for statement in (n for n in own_nodes(node.body) if isinstance(n, ast.stmt)):
        if isinstance(statement, (ast.Assign, ast.Return)) and statement.value is not None:
            if isinstance(statement, ast.Assign) and not all(isinstance(t, ast.Name) for t in statement.targets):
                return None
            values.append(statement.value)
        elif not isinstance(statement, (ast.If, ast.For, ast.While, ast.Expr, ast.Pass)):
            return None
    module = context.module
    rewrite = context.rewrite()
    traced = [v for v in values if context.kind(v).is_tensor or context.kind(v).tag is Tag.UNKNOWN]
    if not traced or any(v.lineno != v.end_lineno for v in traced):
        return None
    stop = rewrite.spell("mindspore.ops.stop_gradient")
    indent = indent_of(module, node)
    first = node.items[-1].context_expr.end_lineno or node.lineno
    lines = block_lines(module, node.body, indent, first)
    offset = (node.body[-1].end_lineno or 0) - len(lines) + 1
    for value in sorted(traced, key=lambda v: (v.lineno, v.col_offset), reverse=True):
        text = context.text(value)
        index = value.lineno - offset
        head, found, tail = lines[index].rpartition(text)
        if not found:
            return None
        lines[index] = f"{head}{stop}({text}){tail}"
    replace_statement(context, rewrite, node, [indent + text for text in bound] + lines)
    return rewrite
