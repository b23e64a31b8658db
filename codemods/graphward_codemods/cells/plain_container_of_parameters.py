"""GW205."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.rules.context import CellContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._container_uses import obstacle
from ._containers import Container, clashes, containers
from ._creations import What
from ._wrapping import CannotWrap, wrap


class PlainContainerOfParameters(Rule):
    """Parameters are kept in a plain list, tuple or dict, where the network does not see them.

    ## What it finds

    `self.scales = [Parameter(...), ...]` and its like, made in `__init__` and used in graph code.

    ## Why

    It compiles and computes the same, but the Parameters are none of the network's: `trainable_params()` does not have
    them, no checkpoint saves them, and `mindspore.export` raises `ValueError: There's a mindspore.Parameter that wasn't
    created in nn.Cell` (MindSpore 2.10). In a dict, two with the same name do not compile: `RuntimeError: The parameter
    @..._construct_2:param_a , its name 'a' already exists. Please set a unique name for the parameter.`

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
        found = [c for c in containers(context) if any(e.what is What.PARAMETER and not e.owned for e in c.elements)]
        elements = [(c, e) for c in found for e in c.elements if e.what is What.PARAMETER]
        for container in found:
            # Of a list or tuple PyNative itself refuses two equal names.
            clash = clashes(elements, container) if container.form == "dict" else ""
            why = "they are neither trained nor saved nor exported"
            if clash:
                why = f"compiling fails, since several of them have the name {clash!r}"
            yield context.finding(
                self, container.value, f"self.{container.attribute} is a plain {container.form} of Parameters: {why}",
                fixes=(self._fix(context, container),), consequence=Consequence.ERROR if clash else None,
            )  # fmt: skip

    def _fix(self, context: CellContext, container: Container) -> Fix:
        title = f"Keep the Parameters of self.{container.attribute} in a ParameterTuple"
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
        return rewrite.unsafe(
            title, "the Parameters become those of the network: they are trained and saved from now on"
        )
