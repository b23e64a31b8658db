"""Graph Mode: how a target is compiled, how often, and which nodes of the final graph run in the interpreter."""

from __future__ import annotations

import ast
import inspect
import os
import re
import types
from typing import Any, Callable

import mindspore as ms

from . import messages

try:
    from mindspore.graph.api import _CellGraphExecutor, _JitExecutor
except ImportError:  # MindSpore before 2.10
    from mindspore.common.api import _CellGraphExecutor, _JitExecutor

try:
    from mindspore.graph._parse.parser import Parser as Parser
except ImportError:  # MindSpore before 2.10
    from mindspore._extends.parse.parser import Parser as Parser

try:
    from mindspore._c_expression import dump_func_graph
except ImportError:  # MindSpore before 2.8
    dump_func_graph = None

EXECUTORS = (_JitExecutor, _CellGraphExecutor)
"""What compiles: each `compile` returns the phase, with others or alone."""
INTERPRETED = ("PyExecute", "PyInterpret", "PyFunc")
_NODE = re.compile(rf"= (?:PrimFunc_)?({'|'.join(INTERPRETED)})\b(?:\(\"((?:[^\"\\]|\\.)*)\")?")
_PHASE = r"After %s Phase[^\n]*\n(?P<body>.*?)(?=\n-{20,}\n After |\Z)"
_PARSED = re.compile(_PHASE % "Parser", re.DOTALL)
_OPTIMIZED = re.compile(_PHASE % "Optimizer", re.DOTALL)
_ENTRY = re.compile(r"^# No\. \d+:\n", re.MULTILINE)
_SCRIPT = re.compile(r"^Script: (?P<script>[^\n]*)", re.MULTILINE)
_WRITES = re.compile(r"^[a-z].*[^_]_$")
_SCRIPT_LIMIT = 120


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """The user's function below `mindspore.jit`; other decorators stay, since the parser treats them as it does."""
    owner = getattr(function, "__self__", None)
    inner = getattr(function, "__func__", function)
    while hasattr(inner, "__wrapped_by_jit__") and hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    return inner if owner is None else types.MethodType(inner, owner)


def own_call(target: Any) -> bool:
    """Whether the class of a Cell replaces `Cell.__call__`, which then is part of its meaning."""
    return isinstance(target, ms.nn.Cell) and type(target).__call__ is not ms.nn.Cell.__call__


def compiled(target: Any, strict: bool) -> Callable[..., Any]:
    """The target as a graph, under STRICT or LAX. A Cell with a `__call__` of its own is run in GRAPH_MODE, since
    compiling only its `construct` would skip what `__call__` does."""
    if not isinstance(target, ms.nn.Cell):
        return ms.jit(bare(target), fullgraph=strict)
    if own_call(target):
        ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT if strict else ms.LAX)
        return target
    return ms.jit(bare(target.construct), fullgraph=strict)


def compiled_for_gradient(target: Any, strict: bool) -> Callable[..., Any]:
    """The same for `mindspore.grad` called from PyNative: there the `construct` that `__call__` reaches is a graph."""
    if not own_call(target):
        return compiled(target, strict)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    object.__setattr__(target, "construct", ms.jit(bare(target.construct), fullgraph=strict))
    return target


def strictly(jit: Callable[..., Any]) -> Callable[[Any], Any]:
    """What `jit(function)` is where each graph has to be whole."""
    return lambda function: jit(function, fullgraph=True)


def run_synchronously() -> None:
    """PyNative runs ahead of Python, and an operator's error then shows at a line that has nothing to do with it."""
    blocking = getattr(getattr(ms, "runtime", None), "launch_blocking", None)
    if blocking is not None:
        blocking()
    else:
        ms.set_context(pynative_synchronize=True)


class Watch:
    """Counts compilations and collects the interpreter nodes of each new graph; patches this process's executors."""

    def __init__(self) -> None:
        self.count = 0
        self.nodes: list[dict[str, str]] = []
        self._phases: set[str] = set()
        # Prints each interpreted node with its script and place to stderr, which is where the lines come from.
        os.environ["MS_DEV_FALLBACK_DUMP_NODE"] = "1"
        for executor in EXECUTORS:
            self._patch(executor)
        self.parsed: list[tuple[str, int, ast.AST]] = []
        self._watch_parser()

    def _patch(self, executor: Any) -> None:
        original = executor.compile

        def compile_and_note(this: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(this, *args, **kwargs)
            phase = result[0] if isinstance(result, tuple) else result
            if phase not in self._phases:
                self._phases.add(phase)
                self.count += 1
                self.nodes += _interpreter_nodes(this._graph_executor, phase)
            return result

        compile_and_note.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        executor.compile = compile_and_note


    def _watch_parser(self) -> None:
        original = Parser.parse

        def parse_and_note(this: Any) -> Any:
            tokens, tree = original(this)
            if tree is not None:
                self.parsed.append((this.filename, this.line_offset, tree))
            return tokens, tree

        Parser.parse = parse_and_note


def in_place(parsed: list[tuple[str, int, ast.AST]], tree: str) -> list[dict[str, Any]]:
    """Where compiled functions of the tree may write into a tensor: augmented assignments to a name or an attribute,
    and methods such as `add_`; each `path` and `line`."""
    found = set()
    for file, offset, root in parsed:
        path = messages.relative(file, tree)
        for node in ast.walk(root) if path is not None else ():
            if isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Name, ast.Attribute)):
                found.add((path, offset + node.lineno - 1))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if _WRITES.search(node.func.attr):
                    found.add((path, offset + node.lineno - 1))
    return [{"path": path, "line": line} for path, line in sorted(found)]


def _interpreter_nodes(executor: Any, phase: str) -> list[dict[str, str]]:
    if dump_func_graph is not None:
        text = dump_func_graph(executor.get_func_graph(phase))
        return [{"name": name, "script": script[:_SCRIPT_LIMIT]} for name, script in _NODE.findall(text)]
    proto = executor.get_func_graph_proto(phase, "anf_ir", False)
    found = []
    for name in INTERPRETED:
        # A protobuf string field: tag 0x1a, length, the node's type.
        count = proto.count(b"\x1a" + bytes([len(name)]) + name.encode())
        found += [{"name": name, "script": ""}] * count
    return found


def locate(nodes: list[dict[str, str]], log: str, tree: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The interpreter nodes that a call runs, and the calls that the compiler handed to the interpreter only once,
    while it compiled (`np.arange(3)`).

    Each with the user's code: `name`, `script`, `path`, `line`, `column`, `end_line`, `end_column`, `expression`. `log`
    is what the compiler printed; a node whose line it does not tell, or that lies outside of the tree, has None there.
    """
    run: dict[tuple[int, ...], dict[str, Any]] = {}
    for section in _OPTIMIZED.finditer(log):
        run |= _entries(section["body"], tree, INTERPRETED[0])
    seen: dict[tuple[int, ...], dict[str, Any]] = {}
    for section in _PARSED.finditer(log):
        seen |= _entries(section["body"], tree, INTERPRETED[1])
    once = {span: node for span, node in seen.items() if not any(_holds(other, span) for other in run)}
    outer = [span for span in once if not any(_holds(other, span) for other in once if other != span)]
    once = {span: once[span] for span in outer if "(" in once[span]["expression"]}  # no slices: they call nothing
    if nodes and not run:
        nowhere = dict.fromkeys(("path", "line", "column", "end_line", "end_column"))
        return [{**node, **nowhere, "expression": ""} for node in nodes], _sorted(once)
    return _sorted(run), _sorted(once)


def _entries(body: str, tree: str, name: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The numbered entries of a section of the compiler's report that point into the tree, by span."""
    found = {}
    for entry in _ENTRY.split(body)[1:]:
        places = messages.places(entry, tree)
        if places:
            script = _SCRIPT.search(entry)
            place = places[0]
            text = script["script"][:_SCRIPT_LIMIT] if script else ""
            span = (place["path"], place["line"], place["column"], place["end_line"], place["end_column"])
            found[span] = {"name": name, "script": text, **place, "expression": messages.source_of(place, tree)}
    return found


def _holds(outer: tuple[Any, ...], inner: tuple[Any, ...]) -> bool:
    return outer[0] == inner[0] and outer[1:3] <= inner[1:3] and inner[3:] <= outer[3:]


def _sorted(nodes: dict[Any, dict[str, Any]]) -> list[dict[str, Any]]:
    return [nodes[span] for span in sorted(nodes)]
