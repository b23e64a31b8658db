"""Where a file names a part of MindSpore: in an import statement, or as an attribute of what one bound."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.analysis.names import Names, dotted
from graphward.knowledge.names import canonical
from graphward.knowledge.renames import successors
from graphward.rules.module_context import ImportNode, ModuleContext, Use

_WORDS = re.compile(r"version|hasattr|_ver\b|available", re.IGNORECASE)
_EXPECTED = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})


@dataclass(frozen=True)
class Mention:
    """`written` is the dotted name by the path that the code takes. Of an import: `statement` and `alias`; of a use:
    `use`, which is `starred` where only a star import can have bound its name."""

    written: str
    use: Use | None = None
    statement: ImportNode | None = None
    alias: ast.alias | None = None
    starred: bool = False

    @property
    def node(self) -> ast.AST:
        """What to look at for where it stands."""
        node = self.use.node if self.use else self.alias
        assert node is not None
        return node

    def names(self, context: ModuleContext) -> Names:
        return self.use.names if self.use else context.names_at(self.node, "")

    def part(self, name: str) -> ast.Attribute | ast.Name | None:
        """The node of a use that spells the end of `name`, a beginning of `written`; None when that part is spelled
        by an import."""
        assert self.use is not None
        node: ast.AST = self.use.node
        for _ in range(self.written.count(".") - name.count(".")):
            if not isinstance(node, ast.Attribute):
                return None
            node = node.value
        return node if isinstance(node, ast.Attribute) or self.starred else None  # type: ignore[return-value]


def mentions(context: ModuleContext) -> list[Mention]:
    """Every mention of MindSpore, imports first; what is assigned to is none."""
    return context.once_here("mentions", lambda: list(_mentions(context)))


def _mentions(context: ModuleContext) -> Iterator[Mention]:
    for statement in context.imports:
        yield from _imported(statement)
    for use in context.uses:
        if not use.stored:
            yield Mention(use.written, use=use)
    stars = [star for star in context.module.names.stars if star.split(".")[0] == "mindspore"]
    if stars:
        yield from _starred(context, stars)


def _starred(context: ModuleContext, stars: list[str]) -> Iterator[Mention]:
    """Names that only a star import can have bound, as far as they are known to have gone."""
    wanted = {name.rpartition(".")[2] for name in successors()}
    for node in context.nodes:
        if not isinstance(node, ast.Name) or node.id not in wanted or node.id in context.bound:
            continue
        names = context.names_at(node, node.id)
        if node.id in context.module.definitions or names.lookup(node.id) is not None:
            continue
        for star in stars:
            written = f"{star}.{node.id}"
            if canonical(written) in successors():
                yield Mention(written, use=Use(node, node.id, written, names, None), starred=True)
                break


def _imported(statement: ImportNode) -> Iterator[Mention]:
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            written = alias.name
        elif statement.level or statement.module is None:
            continue
        else:
            written = statement.module if alias.name == "*" else f"{statement.module}.{alias.name}"
        if written == "mindspore" or written.startswith("mindspore."):
            yield Mention(written, statement=statement, alias=alias)


def public(mention: Mention) -> str:
    return canonical(mention.written)


def guarded(mention: Mention, context: ModuleContext) -> bool:
    """Whether the code is prepared for the name to be missing: a `try` that catches it, a test of the version."""
    node: ast.AST = mention.statement or mention.node
    for outer in context.around(node):
        if isinstance(outer, ast.Try) and any(_catches(h.type) for h in outer.handlers):
            return True
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            managers = (i.context_expr for i in outer.items)
            if any(isinstance(m, ast.Call) and any(_catches(a) for a in m.args) for m in managers):
                return True
        if isinstance(outer, (ast.If, ast.IfExp, ast.While)) and _WORDS.search(context.text(outer.test)):
            return True
        if isinstance(outer, ast.BoolOp) and _WORDS.search(context.text(outer)):
            return True
    return False


def _catches(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    if isinstance(caught, ast.Tuple):
        return any(_catches(item) for item in caught.elts)
    return (dotted(caught) or "").rpartition(".")[2] in _EXPECTED


def given_by_project(missing: str, context: ModuleContext) -> bool:
    """Whether the project itself puts the name there (`ops.my_op = my_op`, `setattr(ops, "my_op", ...)`), or has a
    module of that name."""
    name = missing.rpartition(".")[2]
    if context.project.module(missing) is not None:
        return True
    # A name that is given to what is missing (`old = ops.old`) puts nothing there.
    given = (use for use in context.uses if use.stored and isinstance(use.node, ast.Attribute))
    if any(use.written.endswith(f".{name}") for use in given):
        return True
    return context.once(("given by the project", name), lambda: _set_somewhere(name.encode(), context))


def _set_somewhere(name: bytes, context: ModuleContext) -> bool:
    texts = [m.source.utf8 for m in context.project.modules.values() if b"mindspore" in m.source.utf8]
    signs = (b".%b =" % name, b".%b=" % name, b'"%b"' % name, b"'%b'" % name)
    pattern = re.compile(rb"\.%b\s*=[^=]|setattr\([^,]+,\s*['\"]%b['\"]" % (name, name))
    # Most files have nothing of that name at all.
    likely = (text for text in texts if name in text)
    return any(any(sign in text for sign in signs) and pattern.search(text) is not None for text in likely)
