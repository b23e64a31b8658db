"""GW311: exceptions that a graph cannot raise."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo
from graphward.analysis.names import dotted
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

# What the compiler's own message lists (MindSpore 2.10).
_SUPPORTED = frozenset(
    """AssertionError AttributeError BaseException EnvironmentError Exception IOError IndentationError IndexError
    KeyError KeyboardInterrupt MemoryError NameError NotImplementedError OSError OverflowError RuntimeError
    RuntimeWarning StopIteration TypeError UnboundLocalError ValueError ZeroDivisionError""".split()  # noqa: SIM905
)


class RaisedException(Rule):
    """An exception is raised that a graph does not know.

    ## What it finds

    `raise` of a class of the project's own, and of built-in exceptions that the compiler does not list, such as
    `ArithmeticError`, `LookupError`, `FileNotFoundError` and warnings.

    ## Why

    The compiler refuses the whole function, also where the condition never holds (MindSpore 2.7 to 2.10):

        RuntimeError: Unsupported exception type: MyError. Raise only support some Python standard exception types

    ## Example

        raise ShapeError("too large")

    becomes, where `ShapeError` is derived from `ValueError`,

        raise ValueError("too large")

    ## What the rewrite assumes

    That nobody catches the class itself.

    ## When it is unsafe

    Always: another exception is raised, the nearest base that a graph knows.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW311"
    name = "raised-exception"
    consequence = Consequence.ERROR
    triggers = (b"raise",)
    nodes = (ast.Raise,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Raise)
        callee = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if callee is None or (isinstance(callee, ast.Name) and callee.id in _SUPPORTED):
            return
        found = _nearest(callee, context)
        if found is None or found[0] in _SUPPORTED:
            return
        raised, base = found
        message = f"a graph cannot raise {raised}"
        yield context.finding(self, node, message, fixes=(_fix(node, callee, raised, base, context),))


def _nearest(callee: ast.expr, context: FunctionContext) -> tuple[str, str] | None:
    """The name of an exception class, and its nearest base that a graph knows; None for anything else."""
    name = dotted(callee)
    if name is None:
        return None
    qualified = context.resolve(callee)
    info = context.project.definition(qualified) if qualified else None
    if info is None and "." not in name:
        info = context.project.visible(context.function, name)
    if isinstance(info, ClassInfo):
        base = _base(info, context)
        return (info.name, base) if base is not None else None
    if qualified is None and not context.function.names.is_local(name):
        known = getattr(builtins, name, None)
        if isinstance(known, type) and issubclass(known, BaseException):
            return name, _builtin_base(known)
    return None


def _base(info: ClassInfo, context: FunctionContext) -> str | None:
    for known in context.project.mro(info):
        for base in context.project.bases(known):
            if isinstance(base, str):
                found = getattr(builtins, base.rpartition(".")[2], None)
                if isinstance(found, type) and issubclass(found, BaseException):
                    return _builtin_base(found)
    return None


def _builtin_base(known: type) -> str:
    found = next((c.__name__ for c in known.__mro__ if c.__name__ in _SUPPORTED), "RuntimeError")
    return "RuntimeError" if found in ("Exception", "BaseException") else found


def _fix(node: ast.Raise, callee: ast.expr, raised: str, base: str, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = f"Raise {base}"
    module = context.module
    if base in module.definitions or context.function.names.is_local(base):
        return rewrite.manual(title, f"not changed by itself: {base} means something else here")
    if isinstance(node.exc, ast.Call) and (node.exc.keywords or len(node.exc.args) > 1):
        return rewrite.manual(title, f"not changed by itself: say in one text what {raised} takes as arguments")
    rewrite.replace_span(module.start(callee), module.end(callee), base)
    return rewrite.unsafe(title, f"who catches {raised} does not catch {base}")
