"""Where a dataset comes from: through variables, methods of it, parameters and functions, over files."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.analysis.module import FunctionInfo
from graphward.rules.module_context import ModuleContext

from .._outside import assigned, context_of, visible

_ITERATORS = frozenset({"create_tuple_iterator", "create_dict_iterator"})
_AROUND = frozenset({"enumerate", "tqdm", "iter", "tqdm.tqdm", "zip"})


def comes_from(
    here: ModuleContext, context: ModuleContext, node: ast.expr, call: ast.Call, depth: int, names: frozenset[str]
) -> bool:  # fmt: skip
    """Whether a value in the file of `context` is what `call`, in the file of `here`, gave; further methods on it
    included. Functions of other names than `names` do not give it."""
    while isinstance(node, ast.Call):
        if node is call:
            return True
        maker = _maker(context, node, names)
        if maker is not None:
            returned = [s.value for s in maker.statements if isinstance(s, ast.Return) and s.value is not None]
            inside = context_of(here, maker.module)
            return depth > 0 and any(comes_from(here, inside, v, call, depth - 1, names) for v in returned)
        if isinstance(node.func, ast.Attribute):
            resolved = context.names_at(node, "").resolve(node.func) or ""
            if node.func.attr in _ITERATORS or not resolved:
                node = node.func.value
                continue
            if resolved in _AROUND and node.args:
                node = node.args[0]
                continue
            return False
        if isinstance(node.func, ast.Name) and node.func.id in _AROUND and node.args:
            node = node.args[0]
            continue
        return False
    if isinstance(node, ast.Name) and depth:
        values = [value for value in assigned(context, node) if value is not node]
        if any(comes_from(here, context, value, call, depth - 1, names) for value in values):
            return True
        if not values:
            return any(
                comes_from(here, other, value, call, depth - 1, names) for other, value in handed(here, context, node)
            )
    return False


def _maker(context: ModuleContext, node: ast.Call, names: frozenset[str]) -> FunctionInfo | None:
    """The function of the project that a call calls, if it is one of `names`."""
    func = node.func
    if isinstance(func, ast.Name) and func.id in names:
        found = visible(context, func)
        return found if isinstance(found, FunctionInfo) else None
    if isinstance(func, ast.Attribute) and func.attr in names:
        qualified = context.names_at(func, "").resolve(func)
        known = context.project.definition(qualified) if qualified else None
        return known if isinstance(known, FunctionInfo) else None
    return None


def handed(here: ModuleContext, context: ModuleContext, name: ast.Name) -> Iterator[tuple[ModuleContext, ast.expr]]:
    """What the calls of the function around a name hand over for it, in its own file and in others."""
    function = context.function_at(name)
    while function is not None and name.id not in {a.arg for a in function.node.args.args}:
        function = function.outer
    if function is None:
        return
    at = [a.arg for a in function.node.args.args].index(name.id)
    wanted = function.name.encode()
    for module in list(context.project.modules.values()):
        if module is not function.module and wanted not in module.source.utf8:
            continue
        other = context if module is context.module else context_of(here, module)
        for call in other.calls:
            if not isinstance(call.func, ast.Name) or visible(other, call.func) is not function:
                continue
            if at < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
                yield other, call.args[at]
            yield from ((other, k.value) for k in call.keywords if k.arg == name.id)
