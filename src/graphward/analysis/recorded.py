"""Kinds of parameters as a real run had them, laid over what the source tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .kinds import Kind, Tag
from .module import FunctionInfo

RecordedKinds = Mapping[FunctionInfo, Mapping[str, Kind]]
"""Function -> parameter -> the join of what calls of it were seen to pass."""

RecordedShapes = Mapping[FunctionInfo, Sequence[Mapping[str, tuple[str, tuple[int, ...]]]]]
"""Function -> the distinct calls that were seen -> parameter -> dtype and shape of the Tensor that it got."""


def with_recorded(kinds: dict[str, Kind], recorded: Mapping[str, Kind]) -> dict[str, Kind]:
    """What was seen is more than what was assumed. A parameter that was only seen to be None keeps its kind: the run
    did not come by the calls that pass something."""
    seen = {name: kind for name, kind in recorded.items() if name in kinds and _tells(kind)}
    return {name: seen.get(name, kind) for name, kind in kinds.items()}


def _tells(kind: Kind) -> bool:
    return kind.tag is not Tag.UNKNOWN and not (kind.tag is Tag.CONSTANT and kind.value is None)
