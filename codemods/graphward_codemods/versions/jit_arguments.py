"""GW807: arguments of `jit` that it does not take any more, or takes and ignores."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.names import JIT_NAMES
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

_IGNORED = {
    "mode": "say capture_mode='ast' or 'bytecode'",
    "input_signature": "say dynamic=1, or declare shapes with mindspore.enable_dynamic or Cell.set_inputs",
    "hash_args": "take it out",
    "compile_once": "take it out",
    "jit_config": "say jit_level=, fullgraph=, backend=",
    "jit_syntax_level": "say fullgraph=True for STRICT",
}
_MODES = {"PSJit": "ast", "PIJit": "bytecode"}


class JitArguments(Rule):
    """`jit` is given an argument that it ignores, or that it does not know.

    ## What it finds

    `jit(fn=...)`, and the keywords `mode`, `input_signature`, `hash_args`, `compile_once`, `jit_config` and
    `jit_syntax_level` of `jit` and `ms_function`, as a decorator or as a call.

    ## Why

    Since MindSpore 2.6 these have no effect, whatever they promise: with `input_signature` five batch sizes compile
    five times, and with `jit_config=JitConfig(jit_syntax_level="STRICT")` code that falls back to Python compiles.

        [WARNING] For 'jit', the parameter 'input_signature' has been deprecated. Please use the parameter 'dynamic'
        TypeError: Object of type function is not JSON serializable      (fn=)

    ## Example

        @jit(mode="PIJit", jit_config=JitConfig(jit_level="O1"))

    becomes

        @jit(capture_mode="bytecode", jit_level="O1")

    ## What the rewrite assumes

    That what the argument asked for is wanted still.

    ## When it is unsafe

    Always, but for `fn`: an argument that was ignored takes effect.

    ## References

    API of `mindspore.jit`. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW807"
    name = "jit-arguments"
    consequence = Consequence.PERFORMANCE
    triggers = (
        b"fn=", b"fn =", b"mode=", b"input_signature", b"hash_args", b"compile_once", b"jit_config",
        b"jit_syntax_level",
    )  # fmt: skip

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return b"jit(" in data or b"jit," in data or b"ms_function" in data or b"jit as" in data

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for use in context.uses:
            if use.name not in JIT_NAMES:
                continue
            call = _call(context, use)
            for keyword in call.keywords if call is not None else ():
                if keyword.arg == "fn":
                    rewrite = context.rewrite()
                    start = context.module.start(keyword)
                    rewrite.replace_span(start, start + 2, "function")
                    message = "jit knows no fn: the parameter is called function"
                    fix = rewrite.safe("Write function=")
                    yield context.finding(self, keyword, message, fixes=(fix,), consequence=Consequence.ERROR)
                elif keyword.arg in _IGNORED:
                    assert call is not None
                    message = f"jit ignores {keyword.arg}: {_IGNORED[keyword.arg]}"
                    yield context.finding(self, keyword, message, fixes=tuple(_fixes(context, call, keyword)))


def _call(context: ModuleContext, use: Use) -> ast.Call | None:
    """The call of `jit`, `partial(jit, ...)` included."""
    if use.call is not None:
        return use.call
    outer = context.parent(use.node)
    if isinstance(outer, ast.Call) and outer.args[:1] == [use.node]:
        name = outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", "")
        return outer if name == "partial" else None
    return None


def _fixes(context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> Iterable[Fix]:
    value = keyword.value
    rewrite = context.rewrite()
    if keyword.arg in ("hash_args", "compile_once"):
        drop_keyword(rewrite, context, call, keyword)
        yield rewrite.unsafe(f"Take {keyword.arg} out", "older versions did something with it")
        return
    new = _instead(context, keyword.arg or "", value)
    taken = {k.arg for k in call.keywords}
    if new is None or any(item.partition("=")[0] in taken for item in new):
        return
    if new:
        rewrite.replace_span(context.module.start(keyword), context.module.end(keyword), ", ".join(new))
    else:
        drop_keyword(rewrite, context, call, keyword)
    yield rewrite.unsafe(f"Write {', '.join(new)}" if new else f"Take {keyword.arg} out",
                         "an argument that was ignored takes effect")  # fmt: skip


def _instead(context: ModuleContext, keyword: str, value: ast.expr) -> list[str] | None:
    """What says the same today; None where it cannot be told."""
    if keyword == "input_signature":
        return ["dynamic=1"]
    if keyword == "mode":
        mode = _MODES.get(str(value.value)) if isinstance(value, ast.Constant) else None
        return None if mode is None else [f'capture_mode="{mode}"']
    if keyword == "jit_syntax_level":
        return _syntax_level(value)
    if not isinstance(value, ast.Call) or value.args or not _is_config(value.func):
        return None
    found: list[str] = []
    for item in value.keywords:
        if item.arg == "jit_level" and isinstance(item.value, ast.Constant) and item.value.value in ("O0", "O1"):
            found.append(f"jit_level={context.text(item.value)}")
        elif item.arg == "jit_syntax_level" and _syntax_level(item.value) is not None:
            found += _syntax_level(item.value) or []
        elif item.arg == "backend":
            found.append(f"backend={context.text(item.value)}")
        else:
            return None
    return found


def _is_config(node: ast.expr) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "JitConfig"


def _syntax_level(value: ast.expr) -> list[str] | None:
    level = value.value if isinstance(value, ast.Constant) else getattr(value, "attr", getattr(value, "id", ""))
    if level in ("STRICT", 0):
        return ["fullgraph=True"]
    return [] if level in ("LAX", 2) else None


def drop_keyword(rewrite: Rewrite, context: ModuleContext, call: ast.Call, keyword: ast.keyword) -> None:
    """Take one argument of a call out, with its comma."""
    module = context.module
    parts: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=module.start)
    index = parts.index(keyword)
    if index + 1 < len(parts):
        rewrite.replace_span(module.start(keyword), module.start(parts[index + 1]), "")
    elif index:
        rewrite.replace_span(module.end(parts[index - 1]), module.end(keyword), "")
    else:
        rewrite.replace_span(module.start(keyword), module.end(keyword), "")
