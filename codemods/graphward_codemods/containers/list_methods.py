"""GW404: list methods that are dropped, miscomputed or interpreted."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, indent_of, replace_statement

_CONSTANT = frozenset({"sort", "remove", "copy"})
_TRACED = frozenset({"extend", "insert", "reverse"})


class ListMethods(Rule):
    """Methods that change a list in place are dropped or interpreted.

    ## What it finds

    `a.sort()`, `a.remove(v)` and `a.copy()` on a local list in a graph region; `a.extend(...)`, `a.insert(...)` and
    `a.reverse()` where the list holds Tensors. `append`, `clear`, `index`, `count` and item assignment compile.

    ## Why

    At the default syntax level `sort` and `remove` silently do nothing, and the others are left to the Python
    interpreter: `extend` in a loop gives a wrong list. With `fullgraph=True` (MindSpore 2.7 to 2.10):

        AttributeError: In JIT strict mode, cannot get attributes sort or the List[Int64*3] object has no attribute

    ## Example

        sizes.sort()
        parts.extend([a, b])

    becomes

        sizes = sorted(sizes)
        parts = parts + [a, b]

    ## What the rewrite assumes

    That no other variable holds the same list and sees it change.

    ## When it is unsafe

    Always where the list is bound anew, for that reason. `a.copy()` becomes `a[:]`, which means the same.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW404"
    name = "list-methods"
    consequence = Consequence.FALLBACK
    triggers = (b".sort(", b".remove(", b".copy()", b".extend(", b".insert(", b".reverse()")
    nodes = (ast.Call,)
    names = _CONSTANT | _TRACED

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute):
            return
        method, holder = node.func.attr, node.func.value
        if (method not in _CONSTANT and method not in _TRACED) or not isinstance(holder, ast.Name):
            return
        kind = context.kind(holder)
        if kind.tag not in (Tag.SEQUENCE, Tag.SHAPE):
            return
        added = [context.kind(a) for a in node.args]
        if method in _TRACED and not kind.variable and not any(k.variable for k in added):
            return
        statement = context.statement(node)
        if method != "copy" and not (isinstance(statement, ast.Expr) and statement.value is node):
            return
        try:
            fix = _fix(node, method, holder, kind, context)
        except CannotRewrite as reason:
            fix = context.rewrite().manual("Bind a new list", str(reason))
        dropped = method in ("sort", "remove")
        message = f"{method}() of a list in a graph is {'dropped' if dropped else 'interpreted'}"
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,))


def _fix(node: ast.Call, method: str, holder: ast.Name, kind: Kind, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    name = holder.id
    if method == "copy":
        rewrite.replace(node, f"{name}[:]", context.parent(node))
        return rewrite.safe("Copy with a slice")
    texts = [context.text(a) for a in node.args]
    if method == "sort":
        if kind.variable:
            raise CannotRewrite("Tensors have no order while compiling: stack them and use ops.sort")
        keywords = "".join(f", {context.text(k)}" for k in node.keywords)
        value = f"sorted({name}{keywords})"
    elif method == "remove" and len(texts) == 1:
        if kind.variable:
            raise CannotRewrite("which Tensor is equal is not known while compiling: take it out by its index")
        value = f"{name}[: {name}.index({texts[0]})] + {name}[{name}.index({texts[0]}) + 1 :]"
    elif method == "extend" and len(texts) == 1:
        value = f"{name} + {_as_list(node.args[0], context)}"
    elif method == "insert" and len(texts) == 2:
        first = node.args[0]
        if isinstance(first, ast.Constant) and first.value == 0:
            value = f"[{texts[1]}] + {name}"
        else:
            value = f"{name}[:{texts[0]}] + [{texts[1]}] + {name}[{texts[0]}:]"
    elif method == "reverse":
        value = f"{name}[::-1]"
    else:
        raise CannotRewrite(f"the arguments of {method} are not known")
    statement = context.statement(node)
    replace_statement(context, rewrite, statement, [f"{indent_of(context.module, statement)}{name} = {value}"])
    return rewrite.unsafe("Bind a new list", "another variable that holds the list does not change")


def _as_list(node: ast.expr, context: FunctionContext) -> str:
    text = context.text(node)
    if isinstance(node, (ast.List, ast.ListComp)):
        return text
    if isinstance(node, ast.Tuple) and text.startswith("(") and node.elts:
        return f"[{text[1:-1].rstrip().rstrip(',')}]"
    return f"list({text})"
