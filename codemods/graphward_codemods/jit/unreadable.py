"""GW614: what `jit` cannot read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.module import FunctionInfo
from graphward.knowledge.names import JIT_NAMES
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._methods import call_it_self, class_method_to_static, property_over_method, static_above
from ._unreadable import derived_lambdas, unread
from ._wrappers import wrapping_calls

_PROPERTIES = frozenset({"property", "functools.cached_property", "mindspore.ops.cached_property"})
_CACHES = frozenset({"functools.lru_cache", "functools.cache"})
_IN_PYTHON = "it runs in Python, and is not compiled"


class UnreadableFunction(Rule):
    """`jit` is given what it cannot read: the call fails, or runs in Python without a word.

    ## What it finds

    What fails:

    - a lambda in the call of `jit`, in a list, tuple or dict, as one of several on a line, returned by a function, and
      in `grad(lambda ...)`, `value_and_grad` or `vmap` where graph code reads the result;
    - what `exec` or `eval` made from text;
    - a class method, a property, and a method whose first parameter is not called `self`.

    What is not compiled, and runs as it is:

    - partial objects, instances with `__call__`, functions built into Python or of `operator`, `math` and `numpy`;
    - what stands below `@jit` as an object: `@staticmethod`, `@classmethod`, `@lru_cache`.

    `double = lambda x: x * 2` and then `jit(double)` is read, and so are bound methods, Cells and their `construct`,
    functions under `functools.wraps`, and what `grad` or `vmap` makes of a `def`.

    ## Why

    The compiler asks Python for the lines of the function and expects them to be a function or an assignment of one
    lambda (MindSpore 2.10; for a lambda 2.7 too):

        TypeError: Parse Lambda Function Fail. Node type must be Lambda, but got Call.
        OSError: Mindspore can not compile temporary source code in terminal.
        TypeError: The parameters number of the function is 2, but the number of provided arguments is 1.

    A property looks the compiled function up by its name, gets itself, and ends in a RecursionError. Objects that are
    no functions are called: MindSpore 2.10 compiled no graph for any of those above.

    ## Example

        step = jit(lambda x: net(x) * 2)

    becomes

        @jit
        def step(x):
            return net(x) * 2

    ## What the rewrite assumes

    Nothing for a lambda: a function that returns its value is the same function. For a class method, that it is meant
    to be called on its own class.

    ## When it is unsafe

    Where it was not compiled before, and where a class method named its class by `cls`. Where no statement can stand
    before a lambda (in a comprehension, or after `else` on one line), and for text that is executed, it is left to you.

    ## References

    `mindspore.jit`. Measured on MindSpore 2.10 CPU, with compilations counted; lambdas on 2.7 too.
    """

    code = "GW614"
    name = "unreadable-function"
    consequence = Consequence.ERROR
    triggers = (b"lambda", b"jit", b"ms_function")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        data = context.module.source.utf8
        told: set[int] = set()
        if b"jit" in data or b"ms_function" in data:
            for call, given in wrapping_calls(context):
                found = unread(context, call, given)
                if found is not None:
                    told.add(id(found.node))
                    weight = None if found.fails else Consequence.PERFORMANCE
                    yield context.finding(self, found.node, found.why, fixes=(found.fix,), consequence=weight)
            yield from self._decorated(context)
        if b"lambda" in data:
            for found in derived_lambdas(context):
                if id(found.node) not in told:
                    yield context.finding(self, found.node, found.why, fixes=(found.fix,))

    def _decorated(self, context: ModuleContext) -> Iterator[Finding]:
        for function in context.module.functions:
            if len(function.node.decorator_list) == 0:
                continue
            names = [name for name, _ in function.decorators]
            at = next((i for i, name in enumerate(names) if name in JIT_NAMES), None)
            if at is None:
                continue
            jit = function.decorators[at][1]
            found = _method(context, function, names, at, jit)
            if found is not None:
                message, fix, fails = found
                weight = None if fails else Consequence.PERFORMANCE
                yield context.finding(self, jit, message, fixes=(fix,), consequence=weight)


def _method(
    context: ModuleContext, function: FunctionInfo, names: list[str], at: int, jit: ast.expr
) -> tuple[str, Fix, bool] | None:
    """What is wrong with a function whose decorators are `names`, the one at `at` being `jit`; its fix; whether a call
    fails."""
    above, below = set(names[:at]), set(names[at + 1 :])
    cell = function.owner is not None and context.project.is_cell(function.owner)
    if "classmethod" in above and not cell:  # of a Cell, GW213 tells
        message = f"{function.name} is a class method, whose class the compiler does not hand over: it does not compile"
        return message, class_method_to_static(context, function, jit), True
    if above & _PROPERTIES:
        message = f"{function.name} is a property: the compiled function calls itself, and a RecursionError ends it"
        return message, property_over_method(context, function), True
    if "classmethod" in below:
        message = f"jit stands above classmethod, which makes {function.name} no function: {_IN_PYTHON}"
        return message, class_method_to_static(context, function, jit), False
    if "staticmethod" in below:
        message = f"jit stands above staticmethod, which makes {function.name} no function: {_IN_PYTHON}"
        two = len(names) == 2
        fix = static_above(context, function) if two else _by_hand(context, "put jit below staticmethod")
        return message, fix, False
    if below & _CACHES:
        message = f"jit stands above a cache, which makes {function.name} no function: {_IN_PYTHON}"
        return message, _by_hand(context, "take the cache away: jit keeps its graphs by itself"), False
    if function.owner is not None and not cell and function.node.args.args and function.receiver not in (None, "self"):
        if "classmethod" in above or function.node.args.posonlyargs:
            return None
        message = f"the first parameter of {function.name} is not called self, which the compiler wants"
        return message, call_it_self(context, function), True
    return None


def _by_hand(context: ModuleContext, advice: str) -> Fix:
    return context.rewrite().manual("Leave jit a function", advice)
