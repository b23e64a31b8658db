"""The edits of a split: decorators taken away and put, statements cut out into units."""

from __future__ import annotations

import ast

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo, Module
from graphward.analysis.tree import preorder
from graphward.rules.context import Context
from graphward.rules.rewrite import Rewrite

from .._blocks import CannotRewrite, block_lines, first_line, indent_of, last_line, stands_alone, step_of
from ..cells._made import class_made
from ._boundaries import jit_decorator
from ._naming import names_of_runs
from ._roots import Root
from ._runs import Run
from ._splits import Level, Split, Unit

_TRAINING = (
    "def add_flags_recursive(self, **flags):",
    "{step}# set_train of a Cell around this one does not reach a graph of its own, unless its phase changes.",
    '{step}if "training" in flags:',
    '{step}{step}self.phase = "unit_train" if flags["training"] else "unit_predict"',
    "{step}return super().add_flags_recursive(**flags)",
    "",
)


class Writer:
    """Writes what of a split stands in one module."""

    def __init__(
        self, context: Context, split: Split, names: tuple[str, ...] = (), *, mode: ast.expr | None = None
    ):  # fmt: skip
        """`mode` is what says GRAPH_MODE in this file, where no jit but the mode makes the graph."""
        self.mode = mode
        self.context = context
        self.inference: Inference = context.inference
        self.module: Module = context.module
        self.split = split
        self.names = names_of_runs(self.inference, split, names)
        self.rewrite = Rewrite(self.module, self.module.names)
        self._above: dict[FunctionInfo, list[str]] = {}

    def write(self) -> Rewrite:
        """Raises CannotRewrite."""
        root = self.split.root
        decorator = self._decorator()
        for unit in self.split.units:
            if unit.function.module is self.module:
                self._compile(unit, decorator)
        for level in self.split.levels:
            if level.function.module is self.module:
                self._make_plain(level, decorator)
        if self.mode is not None:
            start, end = self.module.start(self.mode), self.module.end(self.mode)
            self.rewrite.replace_span(start, end, self.rewrite.spell("mindspore.PYNATIVE_MODE"))
        elif root.function.module is self.module:
            self._take_away(root)
        for function, lines in self._above.items():
            text = "".join(f"{line}{self.module.source.newline}" for line in lines)
            self.rewrite.insert(self.module.source.offset(self._top(function), 0), text)
        return self.rewrite

    def _top(self, function: FunctionInfo) -> int:
        """The line of a function's first decorator, or of the comments above it."""
        line = function.first_line
        while line > 1 and self.module.source.line_bytes(line - 1).strip().startswith(b"#"):
            line -= 1
        return line

    def _decorator(self) -> str:
        """What stands behind the `@` of each unit."""
        root = self.split.root
        keywords = root.keywords
        for keyword in keywords:
            value = keyword.value
            if keyword.arg is None or not isinstance(value, ast.Constant):
                raise CannotRewrite("the arguments of jit are no literals")
            if keyword.arg == "capture_mode" and value.value != "ast":
                raise CannotRewrite(f"jit captures by {value.value!r}, which splits graphs by itself")
        if root.function.module is self.module and not root.is_call:
            return self.module.text(root.place)
        given = ", ".join(root.function.module.text(k) for k in keywords)
        return self.rewrite.spell("mindspore.jit") + (f"({given})" if given else "")

    def _take_away(self, root: Root) -> None:
        """Take the jit off a function; what comes above it is written with that where the places meet."""
        source, place = self.module.source, root.place
        if root.is_call:
            assert isinstance(place, ast.Call)
            if self._forget_assignment(place):
                return
            self.rewrite.replace_span(self.module.start(place), self.module.end(place), self.module.text(place.args[0]))
            return
        begin, end = source.offset(place.lineno, 0), self.module.end(place)
        last = place.end_lineno or place.lineno
        tail = source.utf8[end : source.offset(last, 0) + len(source.line_bytes(last))]
        comment = bool(tail.strip())
        end += len(tail) - len(tail.lstrip()) if comment else len(tail)
        kept = source.indent(place.lineno) if comment else ""
        if self._top(root.function) == place.lineno:
            lines = self._above.pop(root.function, [])
            kept = "".join(f"{line}{source.newline}" for line in lines) + kept
        self.rewrite.replace_span(begin, end, kept)

    def _forget_assignment(self, call: ast.Call) -> bool:
        """Take a statement like `step = jit(step)` away."""
        source, name = self.module.source, call.args[0]
        for node in preorder(self.module.tree):
            if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
                target = node.targets[0]
                same = isinstance(target, ast.Name) and isinstance(name, ast.Name) and target.id == name.id
                if same and stands_alone(self.module, node):
                    first, last = node.lineno, last_line(node)
                    while first > 1 and not source.line_bytes(first - 1).strip():
                        first -= 1
                    end = source.offset(last, 0) + len(source.line_bytes(last))
                    begin = source.offset(first, 0)
                    if not source.utf8[begin:end].endswith((b"\n", b"\r")):  # the last line of the file has no end
                        begin = len(source.utf8[:begin].rstrip(b"\r\n"))
                    self.rewrite.replace_span(begin, end, "")
                    return True
        return False

    def _compile(self, unit: Unit, decorator: str) -> None:
        """Put a decorator on a function, and make its Cell hear of the training flag."""
        function = unit.function
        if jit_decorator(function) is not None:
            return
        lines = []
        if function.owner is not None and function.name == "construct":
            lines += self._training(function, unit.cell)
        indent = self.module.source.indent(function.first_line)
        self._put_above(function, [indent + line if line else "" for line in (*lines, f"@{decorator}")])

    def _training(self, function: FunctionInfo, cell: ClassInfo | None) -> list[str]:
        """What a Cell needs that is compiled by itself, and does other things in training."""
        owner = function.owner
        made = class_made(self.inference, cell or owner) if owner else None
        if owner is None or made is None or not (made.trains or not made.known):
            return []
        if any("add_flags_recursive" in c.methods for c in self.inference.project.mro(owner)):
            return []
        return [line.format(step=step_of(function)) for line in _TRAINING]

    def _make_plain(self, level: Level, decorator: str) -> None:
        if level.runs and level.function is not self.split.root.function and level.function.name == "construct":
            indent = self.module.source.indent(level.function.first_line)
            lines = self._training(level.function, level.cell)
            self._put_above(level.function, [indent + line if line else "" for line in lines])
        for run in level.runs:
            self._put_above(level.function, self._cut_out(run, decorator))

    def _cut_out(self, run: Run, decorator: str) -> list[str]:
        """Replace the statements by a call; returns the lines of the unit."""
        function, source = run.function, self.module.source
        name = self.names[run]
        receiver = function.receiver if function.owner is not None and not function.is_static else None
        statements = run.statements
        depth = source.indent(function.first_line)
        step = depth + step_of(function)
        value = self._only_value(run)
        body = [f"{step}return {value}"] if value else block_lines(self.module, statements, step)
        results = ", ".join(run.outputs)
        arguments = ", ".join(run.inputs)
        call = f"{receiver}.{name}({arguments})" if receiver else f"{name}({arguments})"
        line = f"return {call}" if run.returns else f"{results} = {call}"
        indent = indent_of(self.module, statements[0])
        begin, last = source.offset(first_line(statements[0]), 0), last_line(statements[-1])
        end = source.offset(last, 0) + len(source.line_bytes(last).rstrip(b"\r\n"))
        self.rewrite.replace_span(begin, end, indent + line)
        parameters = ", ".join(filter(None, (receiver, arguments)))
        tail = [] if run.returns or value else [f"{step}return {results}"]
        gap = [""] if function.owner is not None or function.outer is not None else ["", ""]
        return [f"{depth}@{decorator}", f"{depth}def {name}({parameters}):", *body, *tail, *gap]

    def _only_value(self, run: Run) -> str:
        """The value of a run that is one short assignment, without a comment; else empty."""
        statement, source = run.statements[0], self.module.source
        if len(run.statements) > 1 or not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return ""
        line = source.line_bytes(statement.lineno)
        if statement.lineno != last_line(statement) or b"#" in line or not isinstance(statement.targets[0], ast.Name):
            return ""
        return self.module.text(statement.value)

    def _put_above(self, function: FunctionInfo, lines: list[str]) -> None:
        if lines:
            self._above.setdefault(function, []).extend(lines)
