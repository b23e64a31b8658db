"""GW322: `eval`, `exec`, `globals`, `locals`, `vars`, `dir`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, indent_of, remove_statement, replace_statement

_NAMES = frozenset({"eval", "exec", "globals", "locals", "vars", "dir"})


class DynamicNames(Rule):
    """Code in a string, or names looked up by a string, mean nothing to the compiler.

    ## What it finds

    `eval(...)`, `exec(...)`, `globals()`, `locals()`, `vars()` and `dir()` in a graph region. `vars(self)` compiles and
    is left alone, and so is `eval` of a text that names no variable.

    ## Why

    The compiler runs such calls in Python, where the variables of the graph do not exist (MindSpore 2.7 to 2.10):
    `NameError: name 'x' is not defined`, `ValueError: The key k does not exist in the dict:{}`. `globals().get(...)`
    and `dir()` compile, and give another result than in PyNative.

    ## Example

        return eval("x * 2") + locals()["k"]

    becomes

        return x * 2 + k

    ## What the rewrite assumes

    Nothing, where the text is a literal.

    ## When it is unsafe

    For `exec` of a text that only binds names: the names are not seen by the code around it, so it is dropped.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW322"
    name = "dynamic-names"
    consequence = Consequence.ERROR
    triggers = tuple(name.encode() for name in sorted(_NAMES))
    nodes = (ast.Call,)
    names = _NAMES

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Name) or node.func.id not in _NAMES:
            return
        name = node.func.id
        if name in context.module.definitions or context.function.names.is_local(name) or context.resolve(node.func):
            return
        if name in ("vars", "dir") and node.args:
            return
        if name == "eval" and _is_closed(node, context):
            return
        consequence = Consequence.FALLBACK if name == "exec" else Consequence.ERROR
        if name == "dir" or (name == "globals" and _is_get(node, context)):
            consequence = Consequence.DIVERGENCE
        message = f"{name}() looks names up while the graph is compiled, where they do not exist"
        yield context.finding(self, node, message, fixes=(_fix(node, name, context),), consequence=consequence)


def _is_closed(node: ast.Call, context: FunctionContext) -> bool:
    """Whether the text is a literal that reads no variable of the function."""
    text = node.args[0] if node.args else None
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)) or len(node.args) > 1:
        return False
    try:
        inner = ast.parse(text.value.strip(), mode="eval")
    except SyntaxError:
        return False
    return not any(isinstance(n, ast.Name) for n in ast.walk(inner))


def _is_get(node: ast.Call, context: FunctionContext) -> bool:
    parent = context.parent(node)
    return isinstance(parent, ast.Attribute) and parent.attr == "get"


def _fix(node: ast.Call, name: str, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = {"eval": "Write the expression itself", "exec": "Write the statements themselves"}.get(
        name, "Write the name itself"
    )
    try:
        if name == "eval":
            _evaluated(node, context, rewrite)
        elif name == "exec":
            if _executed(node, context, rewrite):
                return rewrite.unsafe("Drop the exec", "what it binds is not seen by the code around it")
        elif name == "dir":
            raise CannotRewrite("what it lists is not known")
        else:
            _looked_up(node, name, context, rewrite)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.safe(title)


def _literal(node: ast.Call) -> str:
    text = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        raise CannotRewrite("the text is no literal")
    return text.value.strip()


def _evaluated(node: ast.Call, context: FunctionContext, rewrite: Rewrite) -> None:
    text = _literal(node)
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        raise CannotRewrite("the text does not parse") from None
    if "\n" in text:
        raise CannotRewrite("the text has several lines")
    rewrite.replace(node, text, context.parent(node))


def _executed(node: ast.Call, context: FunctionContext, rewrite: Rewrite) -> bool:
    """True when the call is dropped, False when its statements take its place."""
    statement = context.parent(node)
    if not isinstance(statement, ast.Expr):
        raise CannotRewrite("it is no statement")
    text = _literal(node)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        raise CannotRewrite("the text does not parse") from None
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    binders = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Pass)
    calls = any(isinstance(n, ast.Call) for n in ast.walk(tree))
    if all(isinstance(s, binders) for s in tree.body) and not calls:
        remove_statement(context, rewrite, statement)
        return True
    if bound:
        raise CannotRewrite("it binds names and does more")
    indent = indent_of(context.module, statement)
    replace_statement(context, rewrite, statement, [indent + line for line in text.splitlines()])
    return False


def _looked_up(node: ast.Call, name: str, context: FunctionContext, rewrite: Rewrite) -> None:
    """`locals()["k"]` to `k`, `globals()["G"]` to `G`, `"k" in locals()` to what is seen."""
    parent = context.parent(node)
    key: ast.expr | None = None
    whole: ast.expr | None = None
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        key, whole = parent.slice, parent
    elif isinstance(parent, ast.Attribute) and parent.attr == "get":
        call = context.parent(parent)
        if isinstance(call, ast.Call) and call.func is parent and call.args:
            key, whole = call.args[0], call
    if whole is None or not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
        raise CannotRewrite("the name is no literal")
    wanted = key.value
    local = context.function.names.is_local(wanted)
    module = context.module
    known = wanted in module.definitions or wanted in module.assignments or wanted in module.names.aliases
    if name == "globals" and (local or not known):
        raise CannotRewrite(f"{wanted} is no global name that is seen here")
    if name != "globals" and not local:
        raise CannotRewrite(f"{wanted} is no local variable")
    rewrite.replace_span(module.start(whole), module.end(whole), wanted)
