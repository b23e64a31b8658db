"""GW415: complex constants."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.renames import numbers
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import is_builtin

_KNOWS_COMPLEX = (2, 7, 2)  # the first version that compiles a call of complex()


class ComplexConstant(Rule):
    """A literal like `1j` does not compile.

    ## What it finds

    An imaginary literal in a graph region. `complex(0, 1)` compiles, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10: `TypeError: Unsupported Constant type : 1j`

    ## Example

        phase = 2j

    becomes

        phase = complex(0.0, 2.0)

    ## What the rewrite assumes

    Nothing: it is the same number.

    ## When it is unsafe

    For MindSpore before 2.7.2, which leaves `complex(...)` to the Python interpreter. A complex number cannot be
    multiplied with a Tensor in either mode: `ops.Complex` makes complex Tensors.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW415"
    name = "complex-constant"
    consequence = Consequence.ERROR
    triggers = (b"j", b"J")
    nodes = (ast.Constant,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Constant)
        if not isinstance(node.value, complex):
            return
        fixes: tuple[Fix, ...] = ()
        if is_builtin(ast.Name("complex", ast.Load()), context):
            rewrite = context.rewrite()
            rewrite.replace(node, f"complex(0.0, {node.value.imag!r})", context.parent(node))
            title = "Make it with complex()"
            if numbers(context.options.target_version) < _KNOWS_COMPLEX:
                reason = "MindSpore 2.7.0 leaves complex() to the Python interpreter; 2.7.2 does not"
                fixes = (rewrite.unsafe(title, reason),)
            else:
                fixes = (rewrite.safe(title),)
        yield context.finding(self, node, "a complex literal does not compile", fixes=fixes)
