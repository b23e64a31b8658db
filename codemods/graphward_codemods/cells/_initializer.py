"""Adding statements and parameters to the `__init__` of a Cell, or adding the `__init__`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.project import Project
from graphward.analysis.tree import preorder
from graphward.rules.rewrite import Rewrite

from ._attributes import subclasses
from ._moving import CannotMove

# Edits at one place, in this order; each part has room for one edit per byte of the file.
_PART = 1 << 32
_HEAD, _PARAMETERS, _SUPER, _BODY, _TAIL = (n * _PART for n in range(1, 6))
_PLAIN_BASES = frozenset({"mindspore.nn.Cell", "Cell", "nn.Cell", "object", "abc.ABC"})


@dataclass
class Initializer:
    """The `__init__` of `cell` as it is or will be. Raises CannotMove, when made, where the class offers no place."""

    project: Project
    cell: ClassInfo
    _created: bool = False

    def __post_init__(self) -> None:
        if not _is_cell(self.project, self.cell):
            raise CannotMove(
                f"{self.cell.name} is not seen to be a Cell, so it may not keep what is made in its __init__"
            )
        for info in subclasses(self.project, self.cell):
            method = info.methods.get("__init__")
            if method is not None and not _calls_base(method):
                raise CannotMove(f"{info.name}.__init__ does not call the __init__ of {self.cell.name}")

    @property
    def own(self) -> FunctionInfo | None:
        return self.cell.methods.get("__init__")

    @property
    def receiver(self) -> str:
        return (self.own.receiver if self.own else None) or "self"

    @property
    def indent(self) -> str:
        """The white space before the statements of `__init__`."""
        source = self.cell.module.source
        if self.own is None:
            return source.indent(self._first_member().lineno) + self.step
        first = self.own.node.body[0]
        if first.lineno == self.own.node.lineno:
            return source.indent(self.own.node.lineno) + self.step
        return source.indent(first.lineno)

    @property
    def step(self) -> str:
        """One more level of indentation, as the class uses it."""
        source = self.cell.module.source
        outer = source.indent(self.cell.node.lineno)
        return source.indent(self._first_member().lineno)[len(outer) :] or "    "

    def add(self, rewrite: Rewrite, site: int, lines: list[str], reads: set[str]) -> None:
        """Add statements, of which `lines` are the lines without the indent of `__init__`. They stand after all that
        is there, in the order of `site`, a byte offset. Raises CannotMove where `__init__` may return before."""
        source = self.cell.module.source
        newline = source.newline
        if self.own is None:
            self._create(rewrite)
            text = "".join(f"{self.indent}{line}{newline}" for line in lines)
            rewrite.insert(self._creation_offset(), text, _BODY + site)
            return
        body = self.own.node.body
        last = self._last_statement(reads)
        if body[0].lineno == self.own.node.lineno:
            # `def __init__(self): super().__init__()` gets its body on lines of its own.
            start = self.cell.module.start(body[0])
            gap = len(source.utf8[:start]) - len(source.utf8[:start].rstrip(b" \t"))
            rewrite.replace_span(start - gap, start, f"{newline}{self.indent}")
        starts = source.line_starts
        end = last.end_lineno or last.lineno
        if end < len(starts) and (starts[end] < len(source.utf8) or source.utf8.endswith((b"\n", b"\r"))):
            text = "".join(f"{self.indent}{line}{newline}" for line in lines)
            rewrite.insert(starts[end], text, _BODY + site)
        else:
            rewrite.insert(len(source.utf8), "".join(f"{newline}{self.indent}{line}" for line in lines), _BODY + site)

    def add_parameter(self, rewrite: Rewrite, name: str, default: str, site: int) -> None:
        """Add a parameter with a default behind all others, so that every call there is stays valid."""
        if self.own is None:
            self._create(rewrite)
            rewrite.insert(self._creation_offset(), f", {name}={default}", _PARAMETERS + site)
            return
        arguments = self.own.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        if arguments.kwonlyargs:
            last, value = arguments.kwonlyargs[-1], arguments.kw_defaults[-1]
        elif arguments.vararg:
            last, value = arguments.vararg, None
        elif positional:
            last, value = positional[-1], arguments.defaults[-1] if arguments.defaults else None
        else:
            raise CannotMove("__init__ takes no self")
        typed = any(a.annotation for a in (*positional[1:], *arguments.kwonlyargs))
        text = f"{name}: int = {default}" if typed else f"{name}={default}"
        source = self.cell.module.source
        offset = _end(self.cell, last, value)
        rest = source.utf8[
            offset : source.offset(source.position(offset)[0], 0) + len(source.line_bytes(source.position(offset)[0]))
        ]
        tail = rest.strip()
        indent = source.indent(last.lineno)
        if len(indent.encode()) != last.col_offset or tail.removeprefix(b",").strip()[:1] not in (b"", b"#"):
            rewrite.insert(offset, f", {text}", _PARAMETERS + site)
            return
        # One parameter a line: the new one gets its own line below, and the comment of the one above stays there.
        if not tail.startswith(b","):
            rewrite.insert(offset, ",", _PARAMETERS)
        rewrite.insert(offset + len(rest), f"{indent}{text},{source.newline}", _PARAMETERS + site)

    def parameters(self) -> frozenset[str]:
        """The names that `__init__` takes."""
        arguments = self.own.node.args if self.own else None
        if arguments is None:
            return frozenset()
        return frozenset(a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])

    # Where

    def _last_statement(self, reads: set[str]) -> ast.stmt:
        """The statement of `__init__` after which new ones can stand, all attributes in `reads` being set."""
        assert self.own is not None
        body = self.own.node.body
        returns = [i for i, s in enumerate(body) if _returns(s)]
        if not returns:
            return body[-1]
        first = returns[0]
        needed = [i for i, s in enumerate(body) if _is_super_call(s) or _sets(s, reads, self.receiver)]
        place = max(needed, default=-1)
        known = {n for s in body[: place + 1] for n in _set_names(s, self.receiver)}
        if first == len(body) - 1 and isinstance(body[first], ast.Return) and first > 0:
            return body[first - 1]
        inherited = {n for n in reads if not any(_sets(s, {n}, self.receiver) for s in body)}
        if place < 0 or place >= first or not reads - inherited <= known:
            raise CannotMove("__init__ may return before its end")
        return body[place]

    # A new __init__

    def _create(self, rewrite: Rewrite) -> None:
        if self._created:
            return
        self._created = True
        source = self.cell.module.source
        member = source.indent(self._first_member().lineno)
        offset = self._creation_offset()
        forwards = self._forwards()
        rewrite.insert(offset, f"{member}def __init__(self{', *args' if forwards else ''}", _HEAD)
        call = f"super().__init__({'*args, **kwargs' if forwards else ''})"
        end = f"{', **kwargs' if forwards else ''}):{source.newline}{self.indent}{call}{source.newline}"
        rewrite.insert(offset, end, _SUPER)
        rewrite.insert(offset, source.newline, _TAIL)

    def _forwards(self) -> bool:
        """Whether the bases may take arguments."""
        bases = self.project.bases(self.cell)
        if len(self.cell.node.bases) > 1 or not bases:
            return True
        base = bases[0]
        if isinstance(base, str):
            return base not in _PLAIN_BASES
        method = self.project.method(base, "__init__")
        if method is not None:
            arguments = method.node.args
            return bool(
                len(arguments.args) > 1
                or arguments.posonlyargs
                or arguments.vararg
                or arguments.kwonlyargs
                or arguments.kwarg
            )
        return any(
            isinstance(b, str) and b not in _PLAIN_BASES for c in self.project.mro(base) for b in self.project.bases(c)
        )

    def _first_member(self) -> ast.stmt:
        for node in self.cell.node.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        raise CannotMove(f"{self.cell.name} has no method of its own")

    def _creation_offset(self) -> int:
        node = self._first_member()
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        source = self.cell.module.source
        line = min((d.lineno for d in node.decorator_list), default=node.lineno)
        previous = max(
            (s.end_lineno or 0 for s in self.cell.node.body if s.lineno < node.lineno), default=self.cell.node.lineno
        )
        # Comments right above the method belong to it.
        while line - 1 > previous and source.line_bytes(line - 1).strip().startswith(b"#"):
            line -= 1
        if previous >= line:
            raise CannotMove(f"{self.cell.name} stands on one line")
        return source.offset(line, 0)


def _is_cell(project: Project, cell: ClassInfo) -> bool:
    """Whether instances are Cells; a class with a `construct` and a base out of sight is taken for one."""
    known = project.is_cell(cell)
    return known is True or (known is None and project.method(cell, "construct") is not None)


def _end(cell: ClassInfo, argument: ast.arg, default: ast.expr | None) -> int:
    module = cell.module
    end = module.end(default) if default is not None else module.end(argument)
    data = module.source.utf8
    # A default in parentheses of its own ends after them.
    open_ = data[module.start(argument) : end].count(b"(") - data[module.start(argument) : end].count(b")")
    while open_ > 0:
        end = data.index(b")", end) + 1
        open_ -= 1
    return end


def _calls_base(method: FunctionInfo) -> bool:
    for node in method.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            return True
    return False


def _is_super_call(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and isinstance(
        statement.value.func, ast.Attribute
    ) and statement.value.func.attr == "__init__"  # fmt: skip


def _returns(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    nested = {
        n for d in preorder(statement) if isinstance(d, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for n in preorder(d)
    }  # fmt: skip
    return any(isinstance(n, ast.Return) and n not in nested for n in preorder(statement))


def _set_names(statement: ast.stmt, receiver: str) -> set[str]:
    return {
        n.attr for n in preorder(statement)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
        and n.value.id == receiver
    }  # fmt: skip


def _sets(statement: ast.stmt, names: set[str], receiver: str) -> bool:
    return bool(_set_names(statement, receiver) & names)
