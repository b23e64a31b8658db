"""GW205."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.rules.context import CellContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._containers import Container, containers, obstacle
from ._creations import What
from ._wrapping import CannotWrap, wrap


class PlainContainerOfParameters(Rule):
    """Parameters are kept in a plain list, tuple or dict, where the network does not see them.

    ## What it finds

    `self.scales = [Parameter(...), ...]` and its like, made in `__init__` and used in graph code.

    ## Why

    It compiles and computes the same, but the Parameters are none of the network's: `trainable_params()` does not have
    them, no checkpoint saves them, and `mindspore.export` raises `ValueError: There's a mindspore.Parameter that wasn't
    created in nn.Cell` (MindSpore 2.10).

    ## Example

    ```python
    self.scales = [Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0]), name="b")]
    ```

    becomes

    ```python
    self.scales = ms.ParameterTuple([Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0]), name="b")])
    ```

    ## What the rewrite assumes

    That nothing is done with the container that a tuple cannot do. There is no counterpart for a dict: it is reported
    without a fix.

    ## When it is unsafe

    Always: the Parameters are trained and saved from now on.

    ## References

    - API of `mindspore.ParameterTuple`
    """

    code = "GW205"
    name = "plain-container-of-parameters"
    consequence = Consequence.PERFORMANCE
    triggers = (b"Parameter",)

    def visit_cell(self, context: CellContext) -> Iterable[Finding]:
        for container in containers(context):
            if any(e.what is What.PARAMETER and not e.owned for e in container.elements):
                message = (
                    f"self.{container.attribute} is a plain {container.form} of Parameters: they are neither trained nor saved"
                    " nor exported"
                )
                yield context.finding(self, container.value, message, fixes=(self._fix(context, container),))

    def _fix(self, context: CellContext, container: Container) -> Fix:
        title = f"keep the Parameters of self.{container.attribute} in a ParameterTuple"
        rewrite = context.rewrite(container.method)
        reason = obstacle(context, container, "parameters")
        if container.form == "dict":
            reason = "MindSpore has no dict of Parameters"
        elif container.nested or any(e.what is not What.PARAMETER for e in container.elements):
            reason = "it does not hold Parameters alone"
        try:
            if reason:
                raise CannotWrap(reason)
            wrap(context, container, rewrite, "mindspore.ParameterTuple")
        except CannotWrap as problem:
            advice = "keep each Parameter as an attribute of self"
            return context.rewrite(container.method).manual(title, f"not changed by itself: {problem}; {advice}")
        return rewrite.unsafe(title, "the Parameters become those of the network: they are trained and saved from now on")
