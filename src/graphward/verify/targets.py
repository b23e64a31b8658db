"""What to verify: `path.py::Expr` or `package.module::Expr`, checked without importing anything."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphward.errors import GraphwardError

_FORM = "a target is path.py::Name, path.py::Name(argument=1) or package.module::Name"


@dataclass(frozen=True)
class Target:
    """`file` is relative to `tree`, with forward slashes; `tree` is what the worker imports from and what a rewrite is
    a copy of. `expr` is None when only a file was named."""

    tree: Path
    file: str
    expr: str | None

    @property
    def path(self) -> Path:
        return self.tree / self.file

    def __str__(self) -> str:
        return self.file if self.expr is None else f"{self.file}::{self.expr}"


def parse_target(text: str, root: Path | None = None) -> Target:
    """Read a target; relative paths and modules are looked up in `root` (the current directory).

    The tree is `root` when it holds the whole package of the file, else the directory that does.
    Raises GraphwardError for a missing file or module, an expression that does not parse, a name that the file lacks.
    """
    root = (root or Path.cwd()).resolve()
    place, separator, expr = text.partition("::")
    if not place.strip() or (separator and not expr.strip()):
        raise GraphwardError(f"{text!r} is not a target", hint=_FORM)
    path = _locate(place.strip(), root)
    importable_from = _package_root(path)
    tree = root if importable_from.is_relative_to(root) else importable_from
    target = Target(tree, path.relative_to(tree).as_posix(), expr.strip() or None)
    if target.expr is not None:
        _check_name(target, target.expr)
    return target


def _locate(place: str, root: Path) -> Path:
    if place.endswith(".py") or "/" in place or "\\" in place:
        path = (root / place).resolve()
        if path.is_dir():
            raise GraphwardError("a target is one file, this is a directory", hint=_FORM, path=path)
        if not path.is_file():
            raise GraphwardError("no such file", hint=_FORM, path=path)
        return path
    parts = place.split(".")
    if not all(part.isidentifier() for part in parts):
        raise GraphwardError(f"{place!r} is neither a file nor a module", hint=_FORM)
    bases = (root, root / "src")
    for base in bases:
        for path in (base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")):
            if path.is_file():
                return path.resolve()
    searched = " or ".join(map(str, bases))
    raise GraphwardError(f"no module {place!r} in {searched}", hint="give the file instead: path/to/module.py::Name")


def _package_root(path: Path) -> Path:
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def _check_name(target: Target, expr: str) -> None:
    try:
        wanted = _leading_name(ast.parse(expr, mode="eval").body)
    except SyntaxError as error:
        raise GraphwardError(f"the target's expression {expr!r} does not parse: {error.msg}", hint=_FORM) from None
    if wanted is None:
        raise GraphwardError(f"the target's expression {expr!r} names no class or function", hint=_FORM)
    try:
        module = ast.parse(target.path.read_bytes())
    except SyntaxError as error:
        message = f"the file does not parse: {error.msg}"
        raise GraphwardError(message, path=target.path, line=error.lineno) from None
    except ValueError as error:  # null bytes
        raise GraphwardError(f"the file does not parse: {error}", path=target.path) from None
    except OSError as error:
        raise GraphwardError(f"the file cannot be read: {error.strerror}", path=target.path) from None
    names = set(_bound(module.body))
    if wanted in names or "*" in names or wanted == "__import__":
        return
    near = difflib.get_close_matches(wanted, names, n=3)
    defined = [s.name for s in module.body if isinstance(s, (ast.ClassDef, ast.FunctionDef))]
    hint = f"did you mean {' or '.join(near)}?" if near else f"it defines {', '.join(defined[:12]) or 'nothing'}"
    raise GraphwardError(f"there is no {wanted!r} at the top level of the file", hint=hint, path=target.path)


def _leading_name(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """Names that module-level statements bind, also inside `if`, `try`, `with` and loops; `*` for a star import."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                yield alias.asname or alias.name.split(".")[0]
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
                elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    yield node.name
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield from _bound([node])
