"""GW304: an import inside graph code."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable
from dataclasses import replace

from graphward.analysis.names import absolute_import, import_bindings
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix, ImportRequest

from .._blocks import CannotRewrite, fresh, remove_statement

_HARMLESS = frozenset({"mindspore", "numpy", *sys.stdlib_module_names})


class ImportInGraph(Rule):
    """An import inside graph code does not compile.

    ## What it finds

    `import` and `from ... import` in a graph region, at any depth of it. One inside a `try` is left to the rule about
    `try`.

    ## Why

    The compiler knows no such statement (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'ImportFrom'.`

    ## Example

        def construct(self, x):
            from math import sqrt
            return x / sqrt(x.shape[-1])

    becomes

        import math

        def construct(self, x):
            return x / math.sqrt(x.shape[-1])

    Functions of the standard library are called through their module: by a bare name the compiler does not fold
    `sqrt(x.shape[-1])`.

    ## What the rewrite assumes

    That nothing else in the module uses the name for something else; where something does, or where the name is that of
    a built-in function, the import gets another name.

    ## When it is unsafe

    For modules other than the standard library, NumPy and MindSpore: they are then imported with the file, whether they
    are needed or not, and a circle of imports may close.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW304"
    name = "import-in-graph"
    consequence = Consequence.ERROR
    triggers = (b"import",)
    nodes = (ast.Import, ast.ImportFrom)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        parent = context.parent(node)
        if isinstance(parent, ast.Try) and node in parent.body:
            return
        yield context.finding(self, node, "an import inside graph code does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.Import | ast.ImportFrom, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Import it at the top of the file"
    try:
        requests = import_requests(node, context, rewrite)
        remove_statement(context, rewrite, node)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not moved by itself: {reason}")
    if all(r.module.split(".")[0] in _HARMLESS for r in requests):
        fix = rewrite.safe(title)
    else:
        fix = rewrite.unsafe(title, "the module is then imported with this file; it may import this one in turn")
    return replace(fix, imports=tuple(requests))


def import_requests(
    node: ast.Import | ast.ImportFrom, context: FunctionContext, rewrite: Rewrite
) -> list[ImportRequest]:
    """What has to be imported at the top of the file instead; names that are taken there are renamed in the function.
    Raises CannotRewrite."""
    module, function = context.module, context.function
    others = [n for n in function.nodes if isinstance(n, (ast.Import, ast.ImportFrom)) and n is not node]
    elsewhere = dict(b for other in others for b in import_bindings(other, module.package))
    requests = []
    bindings = list(import_bindings(node, module.package))
    for item, (bound, meaning) in zip(node.names, bindings, strict=True):
        if elsewhere.get(bound, meaning) != meaning:
            raise CannotRewrite(f"{bound} is imported from more than one module")
        uses = [n for n in function.nodes if isinstance(n, ast.Name) and n.id == bound]
        if any(not isinstance(n.ctx, ast.Load) for n in uses):
            raise CannotRewrite(f"{bound} is also assigned")
        alias = bound
        if _taken(bound, meaning, context):
            alias = fresh(context, f"_{bound}")
            for use in uses:
                rewrite.replace_span(module.start(use), module.end(use), alias)
        if isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            whole = _as_module(source, item.name, uses, context, rewrite) if alias == bound else None
            if whole is not None:
                requests.append(whole)
                continue
            _check_circle(absolute_import(node.module, node.level, module.package), context)
            requests.append(ImportRequest(source, item.name, alias))
        elif item.asname or alias != bound:
            if not item.asname and "." in item.name:
                raise CannotRewrite(f"{bound} means something else in this file")
            _check_circle(item.name, context)
            requests.append(ImportRequest(item.name, "", alias))
        else:
            _check_circle(item.name, context)
            requests.append(ImportRequest(item.name, "", item.name))
    return requests


def _as_module(
    source: str, name: str, uses: list[ast.Name], context: FunctionContext, rewrite: Rewrite
) -> ImportRequest | None:
    """`import math` and `math.sqrt` for a function of the standard library: called by a bare name that is imported at
    the top, it does not take an argument like `x.shape[0]` (MindSpore 2.10). None where that does not apply."""
    root = source.split(".")[0]
    if root not in sys.stdlib_module_names or root == "__future__" or not name[:1].islower():
        return None
    module = context.module
    if context.function.names.is_local(root) or _taken(root, root, context):
        return None
    parents = context.function.parents
    if not any(isinstance(parents[u], ast.Call) and parents[u].func is u for u in uses):  # type: ignore[attr-defined]
        return None
    for use in uses:
        rewrite.replace_span(module.start(use), module.end(use), f"{source}.{name}")
    return ImportRequest(source, "", source)


def _taken(bound: str, meaning: str, context: FunctionContext) -> bool:
    """Whether the module uses the name for something else already."""
    module = context.module
    if bound in module.definitions or bound in module.assignments or hasattr(builtins, bound):
        return True
    known = module.names.aliases.get(bound)
    return known is not None and module.names.written.get(bound, known) != meaning and known != meaning


def _check_circle(name: str, context: FunctionContext) -> None:
    """Raises CannotRewrite when the module to import is the project's and imports this one."""
    if name.split(".")[0] in _HARMLESS:
        return
    found = context.project.module(name)
    if found is None:
        return
    own = context.module.name
    for statement in found.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for _, meaning in import_bindings(statement, found.package):
                if meaning == own or meaning.startswith(f"{own}."):
                    raise CannotRewrite(f"{name} imports this file, so the two would import each other")
