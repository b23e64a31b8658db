"""A value that graph code asks for and `__init__` can keep: an attribute in the place of an expression."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Tag
from graphward.analysis.module import ClassInfo
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._attributes import free_name, taken_names
from ._initializer import Initializer
from ._moving import CannotMove, Move

# The attributes that fixes of one run add to a class: what each is set to, and where the first that asked for it is.
_added: WeakKeyDictionary[Inference, dict[tuple[ClassInfo, str], tuple[str, int]]] = WeakKeyDictionary()


def is_cell_value(node: ast.expr, context: FunctionContext) -> bool:
    """Whether an expression is self, in a Cell, or a Cell or CellList that self holds."""
    if isinstance(node, ast.Name) and node.id == context.function.receiver:
        return context.cell is not None and context.project.is_cell(context.cell) is not False
    return context.kind(node).tag in (Tag.CELL, Tag.CELLS)


class Keeper:
    """Adds attributes to the `__init__` of the class that the function of `context` stands in. Raises CannotMove, when
    made, where there is no such class or place."""

    def __init__(self, context: FunctionContext, *, cells: bool = False):
        function = context.function
        cell = function.class_around
        if cell is None:
            raise CannotMove(f"{function.name} is a function and has no __init__")
        if function.receiver is None or function.is_static:
            raise CannotMove(f"{function.name} has no self")
        if any(name == "classmethod" for name, _ in function.decorators):
            raise CannotMove(f"{function.name} is a class method")
        self.context = context
        self.cell = cell
        self.receiver = function.receiver
        self.place = Initializer(context.project, cell)
        self.move = Move(context.inference, function, cell, self.place.receiver, cells=cells)

    def keep(self, rewrite: Rewrite, node: ast.expr, wanted: str, form: str = "{}") -> str:
        """Set an attribute, called `wanted` or nearly so, to what `form` makes of the text of `node`; how graph code
        reads it. Raises CannotMove when `node` does not mean the same in `__init__`."""
        text = form.format(self.move.text(node))
        if "\n" in text:
            raise CannotMove("it runs over several lines")
        return self.set(rewrite, node, wanted, text)

    def set(self, rewrite: Rewrite, node: ast.AST, wanted: str, text: str) -> str:
        """Set an attribute to `text`; how graph code reads it. Equal texts share one attribute, and its edit."""
        added = _added.setdefault(self.context.inference, {})
        taken = taken_names(self.context.project, self.cell)
        site = self.context.module.start(node) + 1
        attribute = free_name(wanted, taken)
        while added.get((self.cell, attribute), (text, 0))[0] != text:
            taken.add(attribute)
            attribute = free_name(wanted, taken)
        _, site = added.setdefault((self.cell, attribute), (text, site))
        line = f"{self.place.receiver}.{attribute} = {text}"
        self.place.add(rewrite, site, [line], self.move.reads)
        return f"{self.receiver}.{attribute}"

    def call(self, node: ast.Call) -> str:
        """A call of a method of self, or of a Cell that self holds, as `__init__` writes it. Raises CannotMove."""
        assert isinstance(node.func, ast.Attribute)
        holder: ast.expr = node.func.value
        while isinstance(holder, ast.Attribute):
            holder = holder.value
        if not (isinstance(holder, ast.Name) and holder.id == self.receiver):
            raise CannotMove(f"{self.context.text(node.func.value)} is no attribute of self")
        parts = [self.move.text(a) for a in node.args]
        parts += [f"{f'{k.arg}=' if k.arg else '**'}{self.move.text(k.value)}" for k in node.keywords]
        callee = self.context.text(node.func)
        text = f"{self.place.receiver}{callee[len(self.receiver) :]}({', '.join(parts)})"
        if "\n" in text:
            raise CannotMove("it runs over several lines")
        return text

    def add(self, rewrite: Rewrite, node: ast.AST, line: str) -> None:
        """Add a line to `__init__`; lines follow each other as the nodes that they come from."""
        self.place.add(rewrite, self.context.module.start(node) + 1, [line], self.move.reads)
