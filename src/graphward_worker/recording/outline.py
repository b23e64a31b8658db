"""The outline of a signature as text, by which a class or function is known again. Standard library only."""

from __future__ import annotations

import inspect
from typing import Any, Callable

NO_SIGNATURE = "?"


def outline(function: Callable[..., Any], *, bound: bool) -> str:
    """The parameters without annotations and values of defaults: `x, mask=, *rest, scale=, **options`. `bound`: leave
    out the first one, which is the instance. `NO_SIGNATURE` when there is none to read."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return NO_SIGNATURE
    marks: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    texts = [
        marks.get(p.kind, "") + p.name + ("" if p.default is inspect.Parameter.empty else "=")
        for p in (parameters[1:] if bound else parameters)
    ]
    return ", ".join(texts)
