"""Writing another name for one that has gone, whatever way the file reaches it."""

from __future__ import annotations

import ast
import re

from graphward.analysis.module import Module
from graphward.analysis.names import Names
from graphward.knowledge.names import canonical
from graphward.knowledge.renames import Version, successors
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import ImportRequest

from ._mentions import Mention

_MODULE = re.compile(r"from\s+([\w.]+)\s+import")


class CannotExchange(Exception):
    """Why the name has to be exchanged by hand."""


def exchange(context: ModuleContext, mention: Mention, old: str, new: str, version: Version) -> Rewrite:
    """A rewrite that has `new` where `mention` has `old`, a beginning of what it names. A `new` without a dot is a
    Python built-in. Raises CannotExchange."""
    if mention.use is not None:
        rewrite = _of_use(context, mention, old, new, version)
        _adjust(rewrite, context, [mention.use], old)
        return rewrite
    assert mention.statement is not None and mention.alias is not None
    bound = {(alias.asname or alias.name).split(".")[0] for alias in mention.statement.names}
    if isinstance(mention.statement, ast.Import):
        rewrite = _of_import(context, mention.alias, old, new)
    elif mention.statement.module == old or (mention.statement.module or "").startswith(f"{old}."):
        rewrite = _of_source(context, mention.statement, old, new, version)
    else:
        rewrite = _of_name(context, mention.statement, mention.alias, old, new, version)
        bound = {mention.alias.asname or mention.alias.name}
    if not isinstance(mention.statement, ast.Import) or mention.alias.asname:
        # `import a.b` binds `a` alone: what is reached through it is a use of its own.
        _adjust(rewrite, context, [use for use in context.uses if use.head in bound], old)
    return rewrite


def _adjust(rewrite: Rewrite, context: ModuleContext, uses: list[Use], old: str) -> None:
    """What is called otherwise in the module that takes the place of `old`, or wants another argument there."""
    successor = successors().get(canonical(old))
    if successor is None or not (successor.renamed or successor.added):
        return
    for use in uses:
        name = use.written[len(old) + 1 :] if use.written.startswith(f"{old}.") else ""
        renamed, added = successor.renamed.get(name), successor.added.get(name)
        if renamed and isinstance(use.node, ast.Attribute):
            end = context.module.end(use.node)
            rewrite.replace_span(end - len(name), end, renamed)
        if not added:
            continue
        if use.call is None:
            raise CannotExchange(f"{name} is handed on, and wants {added} now")
        if not any(keyword.arg == added.partition("=")[0] for keyword in use.call.keywords):
            given = [*use.call.args, *use.call.keywords]
            if given:
                rewrite.insert(max(map(context.module.end, given)), f", {added}")
            else:
                rewrite.insert(context.module.end(use.call) - 1, added)


def _of_use(context: ModuleContext, mention: Mention, old: str, new: str, version: Version) -> Rewrite:
    assert mention.use is not None
    node = mention.part(old)
    if node is None:
        raise CannotExchange("the import names it")
    _check_rest([mention.use], old, new, version)
    rewrite = context.rewrite(mention.use.names)
    if isinstance(node, ast.Name):
        # Whether the star import brings the new name depends on an `__all__` that is not known.
        rewrite.replace(node, _spelled(rewrite, new), context.parent(node))
        return rewrite
    holder, name = old.rpartition(".")[0], new.rpartition(".")[2]
    bare = name.rstrip("()")
    here = f"{holder}.{bare}"
    if "." in new and canonical(here) == canonical(new.rstrip("()")) and version.has(here):
        end = context.module.end(node)
        rewrite.replace_span(end - len(node.attr.encode()), end, name)
    else:
        rewrite.replace(node, _spelled(rewrite, new), context.parent(node))
    return rewrite


def _check_rest(uses: list[Use], old: str, new: str, version: Version) -> None:
    """Raises CannotExchange when what a use takes from the old module is not in the new one."""
    if "." not in new or new.endswith("()"):
        return
    for use in uses:
        if use.written.startswith(f"{old}."):
            rest = use.written[len(old) + 1 :]
            lacking = version.missing(f"{new}.{_renamed(old, rest)}")
            if lacking is not None:
                raise CannotExchange(f"{lacking} does not exist")


def _spelled(rewrite: Rewrite, new: str) -> str:
    """`new` as it can be written here; `()` after the name of a class makes the operator that it is."""
    bare = new.rstrip("()")
    return (rewrite.spell(bare) if "." in bare else bare) + new[len(bare) :]


def _of_import(context: ModuleContext, alias: ast.alias, old: str, new: str) -> Rewrite:
    """`import old.module [as name]`."""
    rewrite = context.rewrite()
    start = context.module.start(alias)
    rewrite.replace_span(start, start + len(old.encode()), new)
    return rewrite


def _of_source(context: ModuleContext, statement: ast.ImportFrom, old: str, new: str, version: Version) -> Rewrite:
    """`from old.module import a, b`."""
    assert statement.module is not None
    target = new + statement.module[len(old) :]
    rewrite = context.rewrite()
    for alias in statement.names:
        if alias.name == "*":
            continue
        name = _renamed(old, alias.name)
        if version.missing(f"{target}.{name}"):
            raise CannotExchange(f"{target} has no {name}")
        if name != alias.name:
            span = context.module.start(alias), context.module.end(alias)
            rewrite.replace_span(*span, f"{name} as {alias.asname or alias.name}")
    start, end = _module_span(context, statement)
    rewrite.replace_span(start, end, target)
    return rewrite


def _renamed(old: str, name: str) -> str:
    """What a name of a module is called in the one that took its place."""
    successor = successors().get(canonical(old))
    return successor.renamed.get(name, name) if successor else name


def _module_span(context: ModuleContext, statement: ast.ImportFrom) -> tuple[int, int]:
    start = context.module.start(statement)
    found = _MODULE.match(context.text(statement))
    if found is None:
        raise CannotExchange("the import is written over several lines")
    head = len(found.string[: found.start(1)].encode())
    return start + head, start + head + len(found[1].encode())


def _of_name(
    context: ModuleContext, statement: ast.ImportFrom, alias: ast.alias, old: str, new: str, version: Version
) -> Rewrite:
    """`from module import old [as name]`, with the uses of what it binds."""
    bound = alias.asname or alias.name
    uses = [use for use in context.uses if use.head == bound and not use.stored]
    _check_rest(uses, old, new, version)
    names = context.names_at(alias, bound)
    rewrite = context.rewrite(names)
    if "." not in new or new.endswith("()"):
        # A built-in, or an operator made on the spot: spelled at each use, and the import goes.
        if not uses:
            raise CannotExchange("nothing in this file uses it")
        for use in uses:
            rewrite.replace(_head(use), _spelled(rewrite, new), context.parent(_head(use)))
        drop_import(rewrite, context, statement, alias)
        return rewrite
    module, _, name = new.rpartition(".")
    assert statement.module is not None
    here = f"{statement.module}.{name}"
    if canonical(here) == canonical(new) and version.has(here):
        module = statement.module
    known = next((a for a, m in names.written.items() if m == f"{module}.{name}"), None)
    private = context.is_interface or (not uses and not alias.asname)
    if known is not None and not private:
        _rename(rewrite, context, uses, known)
        drop_import(rewrite, context, statement, alias)
        return rewrite
    wanted = alias.asname or (bound if private or _taken(name, context.module, names) else name)
    text = name if wanted == name else f"{name} as {wanted}"
    if module == statement.module:
        start = context.module.start(alias)
        rewrite.replace_span(start, context.module.end(alias), text)
    elif len(statement.names) == 1:
        start, end = _module_span(context, statement)
        rewrite.replace_span(start, end, module)
        rewrite.replace_span(context.module.start(alias), context.module.end(alias), text)
    else:
        rewrite.request(ImportRequest(module, name, wanted))
        drop_import(rewrite, context, statement, alias)
    _rename(rewrite, context, uses, wanted)
    return rewrite


def _rename(rewrite: Rewrite, context: ModuleContext, uses: list[Use], wanted: str) -> None:
    for use in uses:
        head = _head(use)
        if head.id != wanted:
            rewrite.replace_span(context.module.start(head), context.module.end(head), wanted)


def _head(use: Use) -> ast.Name:
    node: ast.AST = use.node
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node


def _taken(name: str, module: Module, names: Names) -> bool:
    return (
        name in module.names.aliases or name in module.definitions or name in module.global_names
        or names.lookup(name) is not None or names.is_local(name)
    )  # fmt: skip


def drop_import(rewrite: Rewrite, context: ModuleContext, statement: ast.ImportFrom, alias: ast.alias) -> None:
    """Take a name out of an import."""
    module = context.module
    others = statement.names
    index = others.index(alias)
    if len(others) == 1:
        line = module.source.line_bytes(statement.lineno)
        first = module.source.offset(statement.lineno, 0)
        if line.strip() != context.text(statement).encode() or len(context.statement(statement).names) != 1:  # type: ignore[attr-defined]
            raise CannotExchange("the import shares its line")
        if isinstance(context.parent(statement), ast.Module):
            rewrite.replace_span(first, first + len(line), "")
        else:
            rewrite.replace_span(module.start(statement), module.end(statement), "pass")
    elif index + 1 < len(others):
        rewrite.replace_span(module.start(alias), module.start(others[index + 1]), "")
    else:
        rewrite.replace_span(module.end(others[index - 1]), module.end(alias), "")
