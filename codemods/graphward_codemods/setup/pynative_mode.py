"""GW701: PyNative mode switched on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from graphward.analysis.module import FunctionInfo, Module
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._context_calls import context_keys, decided
from ._environment import settings
from ._steps import Steps, steps

_OFF = frozenset({"MS_JIT"})


class PynativeMode(Rule):
    """A script switches PyNative mode on, so that nothing but `@jit` functions is compiled.

    ## What it finds

    `set_context(mode=PYNATIVE_MODE)` in every spelling (`ms.`, `context.`, an imported name, the number 1), and
    `os.environ["MS_JIT"] = "0"`, which turns `@jit` off as well. A mode that the script chooses at run time, a file
    that switches Graph Mode on as well, and a function that is called after PyNative are left alone.

    ## Why

    In PyNative mode each operator runs by itself from Python: no fusion, no memory plan of the whole graph, no export,
    and what keeps a Cell from compiling is never seen.

    ## Example

        ms.set_context(mode=ms.PYNATIVE_MODE)

    becomes

        ms.set_context(mode=ms.GRAPH_MODE)

    With `run-mode = "jit"` in `[tool.graphward]` the mode stays, and what the script calls in its loops is put under
    `@jit`: the training step, else the function that is differentiated, else `construct` of the Cell. A Cell that
    stands in another file of the project has a finding there. A function that prints, reads numbers out of Tensors or
    is handed another number in each round stays in Python, and what it calls is compiled in its place. Where something
    is compiled already, nothing is said.

    ## What the rewrite assumes

    That the Cells of the script compile: `graphward check` and `graphward migrate` say whether they do.

    ## When it is unsafe

    Always: every Cell that is called from then on is compiled, or every function under `@jit`; what these do in Python
    besides happens once, while they are compiled.

    ## References

    API of `mindspore.set_context`. `MS_JIT` is read by `mindspore.jit` and `nn.Cell` of the 2.7 and 2.10 wheels.
    """

    code = "GW701"
    name = "pynative-mode"
    consequence = Consequence.PERFORMANCE
    triggers = (b"set_context", b"MS_JIT", b"def construct")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        data = context.module.source.utf8
        if context.options.run_mode == "jit":
            yield from self._under_jit(context)
        elif b"set_context" in data:
            for keyword in _switches(context):
                message = "PyNative mode compiles nothing: switch Graph Mode on"
                yield context.finding(self, keyword, message, fixes=(_graph_mode(context, keyword.value),))
        if b"MS_JIT" in data:
            yield from self._switched_off(context)

    def _under_jit(self, context: ModuleContext) -> Iterable[Finding]:
        scripts = context.once("steps of PyNative scripts", lambda: _scripts(context))
        own = scripts.get(context.module)
        if own is not None:
            # One place is enough: the script would say the same twice.
            for keyword in _switches(context)[:1]:
                fixes = _decorated(context, own)
                if fixes:
                    message = "PyNative mode compiles nothing but what stands under @jit"
                    yield context.finding(self, keyword, message, fixes=fixes)
        told: set[FunctionInfo] = set()
        for script, found in scripts.items():
            for function in found.functions:
                if script is context.module or function.module is not context.module or function in told:
                    continue
                told.add(function)
                message = f"{function.qualname} is run in PyNative by {script.path.name}: nothing compiles it"
                fix = _decorate(context, [function])
                yield context.finding(self, function.node, message, fixes=(fix,))

    def _switched_off(self, context: ModuleContext) -> Iterable[Finding]:
        for _, value, statement in settings(context, _OFF):
            if isinstance(value, ast.Constant) and str(value.value) == "0":
                rewrite = context.rewrite()
                rewrite.replace_span(context.module.start(value), context.module.end(value), '"1"')
                fix = rewrite.unsafe("Leave jit on", "functions under @jit are compiled again")
                yield context.finding(self, statement, "MS_JIT=0 turns @jit off everywhere", fixes=(fix,))


def _switches(context: ModuleContext) -> list[ast.keyword]:
    """Where a file switches PyNative mode on, and means it."""
    modes = [keyword for _, _, keyword in context_keys(context) if keyword.arg == "mode"]
    if any(_means(context, keyword.value, "GRAPH_MODE", 0) for keyword in modes):
        return []
    return [
        k for k in modes
        if not decided(context, k) and not _by_name(context, k) and _means(context, k.value, "PYNATIVE_MODE", 1)
    ]  # fmt: skip


def _scripts(context: ModuleContext) -> dict[Module, Steps]:
    """The files of the project that switch PyNative mode on, with what they compute with."""
    found = {}
    for module in list(context.project.modules.values()):
        if b"set_context" in module.source.utf8:
            script = context if module is context.module else ModuleContext(module, context.inference, context.options)
            if _switches(script):
                found[module] = steps(script)
    return found


def _decorated(context: ModuleContext, found: Steps) -> tuple[Fix, ...]:
    """`@jit` on what stands in this file; advice for the rest, if nothing does."""
    here = [f for f in found.functions if f.module is context.module]
    if here:
        return (_decorate(context, here),)
    elsewhere = [f for f in found.functions if f.module is not context.module]
    if elsewhere:
        named = ", ".join(f"{f.qualname} ({f.module.path.name})" for f in elsewhere)
        return (context.rewrite().manual(f"Put @jit on {named}", "it stands in another file, and has a finding there"),)
    if found.unfit:
        reasons = "; ".join(found.unfit.values())
        title = f"Put @jit on the parts of {', '.join(found.unfit)} that compute"
        return (context.rewrite().manual(title, f"to be cut out by hand: {reasons}"),)
    if found.compiled:
        return ()
    title = "Put @jit on what is to be compiled"
    return (context.rewrite().manual(title, "no loop of this file calls a function or a Cell of the project"),)


def _decorate(context: ModuleContext, functions: Sequence[FunctionInfo]) -> Fix:
    source = context.module.source
    rewrite = context.rewrite()
    for function in sorted(functions, key=lambda f: f.first_line):
        decorator = rewrite.spell("mindspore.jit")
        line = f"{source.indent(function.node.lineno)}@{decorator}{source.newline}"
        rewrite.insert(source.offset(function.first_line, 0), line)
    title = f"Put @jit on {', '.join(f.qualname for f in functions)}"
    return rewrite.unsafe(title, "what it does in Python besides happens once, while it is compiled")


def _means(context: ModuleContext, value: ast.expr, name: str, number: int) -> bool:
    if isinstance(value, ast.Constant):
        return type(value.value) is int and value.value == number
    return any(use.node is value and use.name == f"mindspore.{name}" for use in context.uses)


def _by_name(context: ModuleContext, node: ast.AST) -> bool:
    """Whether PyNative is what the function around is there for, as its name says."""
    function = context.function_at(node)
    return function is not None and "pynative" in function.qualname.lower()


def _graph_mode(context: ModuleContext, value: ast.expr) -> Fix:
    function = context.function_at(value)
    rewrite = context.rewrite(function.names if function else None)
    module = context.module
    if isinstance(value, ast.Attribute):
        end = module.end(value)
        rewrite.replace_span(end - len(value.attr), end, "GRAPH_MODE")
    elif isinstance(value, ast.Constant):
        rewrite.replace_span(module.start(value), module.end(value), "0")
    else:
        rewrite.replace_span(module.start(value), module.end(value), rewrite.spell("mindspore.GRAPH_MODE"))
    return rewrite.unsafe("Switch Graph Mode on", "every Cell that is called from then on is compiled")
