"""What the statements of a function bind. Told without a look at its expressions, which are most of its nodes: what the
names of a function mean is asked far more often than anything else of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from .names import FunctionNode, all_arguments, statements
from .tree import children, preorder

_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_TARGETED = frozenset({ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor})
# Most statements, and none that binds a name by itself.
_PLAIN = frozenset({ast.Expr, ast.Return, ast.If, ast.While, ast.Pass, ast.Raise, ast.Assert, ast.Break, ast.Continue})
_PATTERNS = (ast.MatchAs, ast.MatchStar)


@dataclass(slots=True)
class Bindings:
    """`names` are local to the function: parameters and whatever the body binds, nested scopes left out; `imports` its
    import statements in source order, with those of nested scopes."""

    names: set[str] = field(default_factory=set)
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)


def bindings(function: FunctionNode, body: Iterable[ast.stmt], walrus: bool) -> Bindings:
    """What a function binds; `body` are its `statements`, `walrus` whether `:=` may stand in it."""
    found = Bindings({a.arg for a in all_arguments(function.args)})
    outer: set[str] = set()
    for node in body:
        kind = node.__class__
        if kind in _PLAIN:
            continue
        if kind is ast.Assign:
            for target in node.targets:  # type: ignore[attr-defined]
                _bind(target, found.names)
        elif kind in _TARGETED:
            _bind(node.target, found.names)  # type: ignore[attr-defined]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.imports.append(node)
            found.names.update(item.asname or item.name.split(".")[0] for item in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.names.add(node.name)
            found.imports += _nested_imports(node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        else:
            _bind_parts(node, found.names)
    if walrus:
        found.names |= _assigned_in_expressions(function.body)
    found.names -= outer
    return found


def _bind(target: ast.AST, names: set[str]) -> None:
    """Note the names in the target of an assignment."""
    if target.__class__ is ast.Name:
        names.add(target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            _bind(item, names)
    elif isinstance(target, ast.Starred):
        _bind(target.value, names)


def _bind_parts(node: ast.stmt, names: set[str]) -> None:
    """Note what the rarer statements bind."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                _bind(item.optional_vars, names)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            _bind(target, names)
    elif isinstance(node, ast.Match):
        for part in preorder(*(case.pattern for case in node.cases)):
            if isinstance(part, _PATTERNS) and part.name:
                names.add(part.name)
            elif isinstance(part, ast.MatchMapping) and part.rest:
                names.add(part.rest)
    else:
        names.update(h.name for h in getattr(node, "handlers", ()) if h.name)
        # `type Rows = list[int]`
        alias = getattr(node, "name", None)
        if alias is not None:
            _bind(alias, names)


def _nested_imports(definition: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    found: list[ast.Import | ast.ImportFrom] = []
    for node in statements(definition.body):  # type: ignore[attr-defined]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        elif node.__class__ in _DEFINITIONS:
            found += _nested_imports(node)
    return found


def _assigned_in_expressions(body: Iterable[ast.stmt]) -> set[str]:
    """The targets of `:=`, those in comprehensions too, which bind in the function around them."""
    found: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
        if node.__class__ not in _DEFINITIONS:
            stack += children(node)
    return found
