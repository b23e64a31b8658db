"""A job as the engine states it, and as the worker reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from graphward.config import VerifySettings
from graphward.errors import GraphwardError
from graphward.verify.specs import check_specs
from graphward.verify.targets import Target


@dataclass(frozen=True)
class Options:
    """How a proof is made.

    `gradients`: "same" as the original's, "restored" (the rewrite was declared to bring back one that the original
    cuts), "off". `timeout`: seconds for one play in one mode. `weights`: "derived" from shape and dtype, the same on
    both sides, or "drawn" from the random stream. `calls`: successive calls of one instance, at least 2. `train`: call
    `set_train()` first ("both": prove it without and with). `as_it_stands`: of a pair, judge the original's own graph
    as well. `ignore_state`: attributes that the rewrite was declared to move or drop. `memory`: MB for one play, 0 for
    most of what the machine has.
    `export`: also export to MINDIR, load it and run it. `units`: the rewrite is plain Python that calls graphs of its
    own, which is played as it stands.
    """

    gradients: Literal["same", "restored", "off"] = "same"
    timeout: float = 60.0
    weights: Literal["derived", "drawn"] = "derived"
    calls: int = 3
    train: bool | Literal["both"] = False
    as_it_stands: bool = True
    ignore_state: tuple[str, ...] = ()
    memory: int = 0
    export: bool = False
    units: bool = False

    @classmethod
    def of(cls, settings: VerifySettings, **others: Any) -> Options:
        """What the settings say, and `others`."""
        return cls(timeout=settings.timeout, memory=settings.memory, export=settings.export, **others)

    def to_json(self) -> dict[str, Any]:
        """What the worker reads."""
        return {**vars(self), "ignore_state": list(self.ignore_state)}


@dataclass(frozen=True)
class Job:
    """Prove `target` in the tree `original`, or in the tree `rewritten` against it. `inputs` are specs; None lets the
    worker take `recorded` ones (see `recordings.recorded_inputs`), else infer them. `id` must be unique among the jobs
    of a session. `other_shapes` are further inputs: for each of them the target has to verify as well. In the rewrite
    the target is looked up in `rewritten_file`, where that is another file than in the original."""

    id: str
    original: Path
    file: str
    expr: str
    rewritten: Path | None = None
    inputs: tuple[str, ...] | None = None
    options: Options = field(default_factory=Options)
    recorded: dict[str, Any] | None = None
    other_shapes: tuple[tuple[str, ...], ...] = ()
    rewritten_file: str | None = None

    @classmethod
    def of(
        cls,
        target: Target,
        *,
        id: str | None = None,
        rewritten: Path | None = None,
        inputs: Sequence[str] | None = None,
        options: Options | None = None,
        recorded: dict[str, Any] | None = None,
    ) -> Job:
        """The job of a parsed target. Raises GraphwardError for a bad spec or a target without `::Name`."""
        if target.expr is None:
            hint = f"write {target.file}::Name"
            raise GraphwardError("the target names no class or function", hint=hint, path=target.path)
        specs = None if inputs is None else tuple(check_specs(inputs))
        chosen = options or Options()
        return cls(id or str(target), target.tree, target.file, target.expr, rewritten, specs, chosen, recorded)

    def to_json(self) -> dict[str, Any]:
        """What the worker reads."""
        return {
            "id": self.id,
            "original": str(self.original.resolve()),
            "rewritten": None if self.rewritten is None else str(self.rewritten.resolve()),
            "target": {"file": self.file, "expr": self.expr, "rewritten_file": self.rewritten_file},
            "inputs": None if self.inputs is None else list(self.inputs),
            "recorded": self.recorded,
            "other_shapes": [list(specs) for specs in self.other_shapes],
            "options": self.options.to_json(),
        }
