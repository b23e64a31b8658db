"""One parsed file: its tree, its names, its classes and functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..knowledge.names import WRAPPER_NAMES
from ..source.parsing import parse_tree
from ..source.text import SourceText
from .bindings import bindings
from .names import FunctionNode, Names, dotted, statements
from .scan import Scan, scan
from .tree import parents, preorder

# Where no last part of `WRAPPER_NAMES` stands, none of these does: `value_and_grad` has `grad` in it.
_LAST_PARTS = {name.rpartition(".")[2].encode() for name in WRAPPER_NAMES}
_WRAPPERS = [part for part in _LAST_PARTS if not any(other in part for other in _LAST_PARTS - {part})]
# The statements that functions and classes are found in, and these themselves.
_HOLDERS = frozenset(
    {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncWith,
     ast.AsyncFor}
)  # fmt: skip


@dataclass(eq=False)
class FunctionInfo:
    """A function or method. `owner` is the class whose body it stands in, `outer` the function around it."""

    module: Module
    node: FunctionNode
    qualname: str
    owner: ClassInfo | None = None
    outer: FunctionInfo | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def first_line(self) -> int:
        """The line of `def`, or of the first decorator."""
        return min((d.lineno for d in self.node.decorator_list), default=self.node.lineno)

    @cached_property
    def names(self) -> Names:
        outer = self.outer.names if self.outer else self.module.names
        found = bindings(self.node, self.statements, self.module.has_walrus)
        return outer.inside(frozenset(found.names), found.imports, self.module.package)

    @property
    def nodes(self) -> list[ast.AST]:
        """The nodes of the body in source order, nested functions included; parameters and decorators are not."""
        return self._scan.nodes

    @cached_property
    def _scan(self) -> Scan:
        return scan(self.node)

    @property
    def loads(self) -> list[ast.AST]:
        """The names that the body reads and its attribute accesses, in source order."""
        return self._scan.loads

    @property
    def calls(self) -> dict[ast.AST, ast.Call]:
        """The calls in the body by the node of what they call, in source order."""
        return self._scan.calls

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node of the body."""
        return parents(self.node, self.nodes)

    @property
    def class_around(self) -> ClassInfo | None:
        """The class whose body the function stands in, itself or with a method around it."""
        scope: FunctionInfo | None = self
        while scope is not None and scope.owner is None:
            scope = scope.outer
        return scope.owner if scope else None

    @cached_property
    def receiver(self) -> str | None:
        """The name of `self`: the first parameter of the method that this is or stands in."""
        if self.owner is None:
            return self.outer.receiver if self.outer else None
        positional = self.node.args.posonlyargs + self.node.args.args
        return None if self.is_static or not positional else positional[0].arg

    @cached_property
    def self_assignments(self) -> list[tuple[str, ast.expr]]:
        """`(attribute, value)` of each plain `self.attribute = value` in the method."""
        found: list[tuple[str, ast.expr]] = []
        for node in self.statements:
            kind = node.__class__
            if kind is ast.Assign:
                targets, value = node.targets, node.value  # type: ignore[attr-defined]
            elif kind is ast.AnnAssign and node.value is not None:  # type: ignore[attr-defined]
                targets, value = [node.target], node.value  # type: ignore[attr-defined]
            else:
                continue
            for target in targets:
                name = self._own_attribute(target)
                if name:
                    found.append((name, value))
        return found

    @cached_property
    def self_appends(self) -> list[tuple[str, ast.expr]]:
        """`(attribute, value)` of each `self.attribute.append(value)` in the method."""
        if self.owner is None or not self.module.appends:
            return []
        found: list[tuple[str, ast.expr]] = []
        for node in self.statements:
            call = node.value if node.__class__ is ast.Expr else None
            if call.__class__ is ast.Call and call.func.__class__ is ast.Attribute and call.func.attr == "append":
                name = self._own_attribute(call.func.value)
                if name and len(call.args) == 1:
                    found.append((name, call.args[0]))
        return found

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement of the body, depth first, those of nested functions and classes left out."""
        return statements(self.node.body)

    @cached_property
    def assignments(self) -> dict[str, list[ast.expr]]:
        """The values that plain assignments give each variable of the function."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.statements:
            if node.__class__ is ast.Assign:
                for target in node.targets:
                    if target.__class__ is ast.Name:
                        found.setdefault(target.id, []).append(node.value)
        return found

    def _own_attribute(self, node: ast.expr) -> str:
        """`name` of `self.name`, else empty."""
        if node.__class__ is ast.Attribute and node.value.__class__ is ast.Name:
            return node.attr if node.value.id == self.receiver else ""
        return ""

    @cached_property
    def wrapped(self) -> dict[str, str]:
        """Variable to function name, for each `variable = ms.grad(function)` or the like in the body."""
        return _wrapping_assignments(self.statements, self.names) if self.module.wraps else {}

    @cached_property
    def locals(self) -> dict[str, FunctionInfo]:
        """Functions defined directly inside this one, by name."""
        return self.module.nested.get(self, {})

    @cached_property
    def decorators(self) -> list[tuple[str, ast.expr]]:
        """`(qualified or dotted name, node)` of each decorator, calls and `partial` reduced to the callee."""
        scope = self.outer.names if self.outer else self.module.names
        found = []
        for node in self.node.decorator_list:
            callee = node.func if isinstance(node, ast.Call) else node
            name = scope.resolve(callee) or dotted(callee) or ""
            if name in ("functools.partial", "partial") and isinstance(node, ast.Call) and node.args:
                name = scope.resolve(node.args[0]) or dotted(node.args[0]) or ""
            found.append((name, node))
        return found

    @cached_property
    def is_static(self) -> bool:
        return bool(self.node.decorator_list) and any(name == "staticmethod" for name, _ in self.decorators)

    def __repr__(self) -> str:
        return f"<{self.module.name}:{self.qualname}>"


@dataclass(eq=False)
class ClassInfo:
    """A class: its bases as written, its methods by name."""

    module: Module
    node: ast.ClassDef
    qualname: str
    outer: FunctionInfo | None = None
    methods: dict[str, FunctionInfo] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def names(self) -> Names:
        return self.outer.names if self.outer else self.module.names

    def __repr__(self) -> str:
        return f"<class {self.module.name}:{self.qualname}>"


@dataclass(eq=False)
class Module:
    """A file that parsed. `name` is its dotted name as far as `__init__.py` files reach; `package` is what a
    relative import counts from."""

    source: SourceText
    name: str
    tree: ast.Module
    classes: list[ClassInfo] = field(default_factory=list)
    functions: list[FunctionInfo] = field(default_factory=list)

    @classmethod
    def parse(cls, source: SourceText, name: str) -> Module:
        """Raises SyntaxError (or ValueError for what Python's parser refuses otherwise)."""
        module = cls(source, name, parse_tree(source))
        _collect(module, module.tree.body, "", None, None)
        return module

    @property
    def path(self) -> Path:
        return self.source.path

    @cached_property
    def package(self) -> str:
        if self.path.name == "__init__.py":
            return self.name
        return self.name.rpartition(".")[0]

    @cached_property
    def names(self) -> Names:
        return Names.of_module(self.tree, self.package)

    @cached_property
    def appends(self) -> bool:
        """Whether `append` is called anywhere in the file."""
        return b".append(" in self.source.utf8

    @cached_property
    def has_walrus(self) -> bool:
        return b":=" in self.source.utf8

    @cached_property
    def has_lambdas(self) -> bool:
        return b"lambda" in self.source.utf8

    @cached_property
    def wraps(self) -> bool:
        """Whether a function is handed on by a call of `WRAPPER_NAMES` anywhere in the file."""
        data = self.source.utf8
        return any(word in data for word in _WRAPPERS)

    @cached_property
    def wrapped(self) -> dict[str, str]:
        """Variable to function name, for each `variable = ms.grad(function)` or the like at module level."""
        return _wrapping_assignments(statements(self.tree.body), self.names) if self.wraps else {}

    @cached_property
    def nested(self) -> dict[FunctionInfo, dict[str, FunctionInfo]]:
        """The functions defined directly inside each function, by name."""
        found: dict[FunctionInfo, dict[str, FunctionInfo]] = {}
        for function in self.functions:
            if function.outer is not None and function.owner is None:
                found.setdefault(function.outer, {})[function.name] = function
        return found

    @cached_property
    def assignments(self) -> dict[str, ast.expr]:
        """The value that each global variable is last given by a plain assignment at module level."""
        return {
            target.id: node.value
            for node in statements(self.tree.body)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }

    @cached_property
    def global_names(self) -> frozenset[str]:
        """Every name that the module binds or reads at any depth: a new global name must be none of them."""
        return frozenset(n.id for n in preorder(self.tree) if isinstance(n, ast.Name))

    @cached_property
    def definitions(self) -> dict[str, FunctionInfo | ClassInfo]:
        """Top-level functions and classes by name, the last definition of a name wins."""
        found: dict[str, FunctionInfo | ClassInfo] = {}
        for function in self.functions:
            if function.owner is None and function.outer is None:
                found[function.name] = function
        for info in self.classes:
            if "." not in info.qualname:
                found[info.name] = info
        return found

    def function_at(self, offset: int) -> FunctionInfo | None:
        """The innermost function whose lines hold the byte `offset`."""
        line = self.source.position(offset)[0]
        around = [f for f in self.functions if f.first_line <= line <= (f.node.end_lineno or line)]
        return max(around, key=lambda f: f.node.lineno, default=None)

    def start(self, node: ast.AST) -> int:
        """Byte offset of a node's first byte."""
        return self.source.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Byte offset after a node's last byte."""
        return self.source.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        """The source of a node."""
        return self.source.utf8[self.start(node) : self.end(node)].decode()


def module_name(path: Path, packages: dict[Path, str] | None = None) -> str:
    """The dotted name of a file: the packages around it, up to the first folder without `__init__.py`. `packages` keeps
    what folders are called, for the next file."""
    path = path.absolute()
    package = _package(path.parent, {} if packages is None else packages)
    name = package if path.name == "__init__.py" else f"{package}.{path.stem}" if package else path.stem
    return name or path.parent.name


def _package(folder: Path, known: dict[Path, str]) -> str:
    if folder not in known:
        known[folder] = ""
        if folder.name.isidentifier() and (folder / "__init__.py").is_file():
            around = _package(folder.parent, known)
            known[folder] = f"{around}.{folder.name}" if around else folder.name
    return known[folder]


def _wrapping_assignments(nodes: list[ast.stmt], names: Names) -> dict[str, str]:
    return {
        target.id: node.value.args[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args
        and isinstance(node.value.args[0], ast.Name) and names.resolve(node.value.func) in WRAPPER_NAMES
        for target in node.targets
        if isinstance(target, ast.Name)
    }  # fmt: skip


def _is_accessor(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is what writing or deleting a property calls; reading it calls the one before."""
    return any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list)


def _collect(
    module: Module, body: list[ast.stmt], prefix: str, owner: ClassInfo | None, outer: FunctionInfo | None
) -> None:
    for node in body:
        if node.__class__ not in _HOLDERS:
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = FunctionInfo(module, node, prefix + node.name, owner, outer)
            module.functions.append(function)
            if owner is not None and not (node.name in owner.methods and _is_accessor(node)):
                owner.methods[node.name] = function
            _collect(module, node.body, f"{function.qualname}.<locals>.", None, function)
        elif isinstance(node, ast.ClassDef):
            info = ClassInfo(module, node, prefix + node.name, outer)
            module.classes.append(info)
            _collect(module, node.body, f"{info.qualname}.", info, outer)
        else:
            for field_name in ("body", "orelse", "finalbody"):
                block = getattr(node, field_name, None)
                if block:
                    _collect(module, block, prefix, owner, outer)
            for handler in getattr(node, "handlers", ()):
                _collect(module, handler.body, prefix, owner, outer)
