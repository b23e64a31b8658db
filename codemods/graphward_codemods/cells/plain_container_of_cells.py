"""GW204."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import CellContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._attributes import is_cell_attribute
from ._container_uses import obstacle
from ._containers import Container, clashes, containers
from ._creations import What
from ._off import switched_off
from ._wrapping import CannotWrap, wrap


class PlainContainerOfCells(Rule):
    """Cells are kept in a plain list, tuple or dict, where the network does not see them.

    ## What it finds

    `self.blocks = [nn.Dense(...), ...]`, a comprehension, a list that a loop fills, a tuple, or a dict of Cells that
    `__init__` makes and graph code uses. Containers whose Cells are attributes of their own as well are left alone.
    Where the default of a flag keeps the container from being made, and nothing in the project sets the flag, the
    finding is of the level `info`.

    ## Why

    - The parameters of Cells in a plain container have no prefix. Two with the same name do not compile (MindSpore
      2.7 to 2.10): `RuntimeError: The parameter @..._construct_9:param_weight , its name 'weight' already exists.
      Please set a unique name for the parameter.`
    - Where names happen not to clash it compiles and computes the same, but `trainable_params()` does not have these
      parameters, no checkpoint saves them, `set_train()` does not reach the Cells, and `mindspore.export` raises
      `ValueError: There's a mindspore.Parameter that wasn't created in nn.Cell`.

    ## Example

    ```python
    self.layers = [EncoderLayer(size) for _ in range(num_layers)]
    ```

    becomes

    ```python
    self.layers = nn.CellList([EncoderLayer(size) for _ in range(num_layers)])
    ```

    A list that is filled after it was made is turned into a CellList after the last statement that fills it. A dict
    with string keys becomes a CellDict.

    ## What the rewrite assumes

    That nothing is done with the container that a CellList or CellDict cannot do: the uses in the class, its bases and
    its subclasses are looked at. A CellList cannot be added to a list, and a slice of it renames the parameters in it;
    a CellDict has no `get`, and its keys are strings that are no attributes of a Cell. Such containers are reported
    without a fix.

    ## When it is unsafe

    When the Cells have parameters: these become parameters of the network, trained and saved from now on, and
    checkpoints written before do not have them. When a Cell behaves differently in training: `set_train()` now reaches
    it.

    ## References

    - API of `mindspore.nn.CellList` and `mindspore.nn.CellDict`
    """

    code = "GW204"
    name = "plain-container-of-cells"
    consequence = Consequence.PERFORMANCE
    triggers = (b"self.",)

    def visit_cell(self, context: CellContext) -> Iterable[Finding]:
        found = [c for c in containers(context) if any(e.what is What.LAYER for e in c.elements)]
        elements = [(c, e) for c in found for e in c.elements if e.what is What.LAYER]
        for container in found:
            yield self._found(context, container, clashes(elements, container))

    def _found(self, context: CellContext, container: Container, clash: str) -> Finding:
        layers = [e for e in container.elements if e.what is What.LAYER and not e.owned]
        weights = any(e.made.weights or not e.made.known for e in layers)
        if clash:
            consequence, why = Consequence.ERROR, f"compiling fails, since several parameters get the name {clash!r}"
        elif weights:
            consequence, why = Consequence.PERFORMANCE, "their parameters are neither trained nor saved nor exported"
        else:
            consequence, why = Consequence.INFO, "the network does not know them, and set_train() does not reach them"
        off = switched_off(container.statement, container.method, context)
        if off is not None:
            consequence, why = Consequence.INFO, f"{why}, where {off} is set"
        message = f"self.{container.attribute} is a plain {container.form} of Cells: {why}"
        fix = self._fix(context, container)
        return context.finding(self, container.value, message, fixes=(fix,), consequence=consequence)

    def _fix(self, context: CellContext, container: Container) -> Fix:
        dictionary = container.form == "dict"
        target = "mindspore.nn.CellDict" if dictionary else "mindspore.nn.CellList"
        short = target.rpartition(".")[2]
        title = f"Keep the Cells of self.{container.attribute} in a {short}"
        rewrite = context.rewrite(container.method)
        reason = obstacle(context, container, "dict" if dictionary else "list") or _content(container)
        try:
            if reason:
                raise CannotWrap(reason)
            wrap(context, container, rewrite, target)
        except CannotWrap as problem:
            advice = f"make it a {short} by hand, or keep the Cells as attributes"
            return context.rewrite(container.method).manual(title, f"not changed by itself: {problem}; {advice}")
        return self._judged(rewrite, title, container)

    def _judged(self, rewrite: Rewrite, title: str, container: Container) -> Fix:
        reasons = []
        if any(e.made.weights or not e.made.known for e in container.elements):
            reasons.append(
                "the parameters become those of the network: they are trained and saved from now on, under new names"
            )
        if any(e.made.trains for e in container.elements):
            reasons.append("set_train() now reaches the Cells")
        return rewrite.unsafe(title, "; ".join(reasons)) if reasons else rewrite.safe(title)


def _content(container: Container) -> str:
    """What is in the container that a CellList or CellDict does not take."""
    for element in container.elements:
        if element.what is not What.LAYER:
            return f"it holds something that is not seen to be a Cell (line {element.node.lineno})"
        if container.form == "dict":
            problem = _key_problem(element.key) or _value_problem(element.node)
            if problem:
                return problem
    return ""


def _key_problem(key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        if not key.value or "." in key.value or is_cell_attribute(key.value):
            return f"a CellDict does not take the key {key.value!r}"
        return ""
    if isinstance(key, ast.JoinedStr):
        return ""
    if isinstance(key, ast.Call) and isinstance(key.func, ast.Name) and key.func.id == "str":
        return ""
    return "its keys are not seen to be strings, which a CellDict asks for"


def _value_problem(node: ast.expr) -> str:
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return f"a CellDict does not take a {name}" if name in ("CellList", "SequentialCell", "CellDict") else ""
