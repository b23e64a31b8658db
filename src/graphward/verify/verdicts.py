"""What a proof says, as data: a Verdict, its two sides, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

VERDICTS = (
    "verified",
    "diverges",
    "falls-back",
    "fails",
    "recompiles",
    "no-kernel",
    "crashes",
    "times-out",
    "no-inputs",
    "original-broken",
)
"""All verdicts. `recompiles`: right, but a second call with the same shapes compiles again."""


@dataclass(frozen=True)
class Node:
    """What Graph Mode hands to the Python interpreter, and the user's `expression` behind it; positions are 1-based,
    columns in characters, None where MindSpore does not tell."""

    name: str
    script: str = ""
    path: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    expression: str = ""


@dataclass(frozen=True)
class Difference:
    """The first difference: `part` is outputs, gradients, state or pynative (the rewrite differs before any compiler is
    involved); `call` is 1-based, None for the state after all calls; `what` is structure, type, dtype, shape, value or
    error."""

    part: str
    call: int | None
    where: str
    what: str
    detail: str
    max_abs: float | None = None
    max_rel: float | None = None


@dataclass(frozen=True)
class Problem:
    """An exception: the stage it ended (import, construct, inputs, compile, call, gradient), MindSpore's message in one
    line, the place in the tree, the whole `text`, and the operator that has no `kernel` on this device, if that is
    it."""

    stage: str
    type: str
    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    text: str = ""
    no_kernel: bool = False
    kernel: str | None = None


@dataclass(frozen=True)
class SideResult:
    """One version in Graph Mode against the original in PyNative. `nodes` are the interpreter nodes of the final graph,
    which each call runs; `interpreted` is what ran in the interpreter once, while compiling. `outputs`, `gradients`,
    `state` are equal, differ, restored, none (nothing to differentiate) or None (not reached); `compilations` counts
    them per call. `export` is what became of the MINDIR file: equal, differ, fails, or None (not asked for, or not
    reached)."""

    verdict: str
    message: str
    compiles: bool | None = None
    nodes: tuple[Node, ...] = ()
    interpreted: tuple[Node, ...] = ()
    outputs: str | None = None
    gradients: str | None = None
    state: str | None = None
    compilations: tuple[int, ...] = ()
    export: str | None = None
    difference: Difference | None = None
    error: Problem | None = None
    lax_error: Problem | None = None
    output_tail: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SideResult:
        """From the worker's JSON."""
        return cls(
            **{
                **data,
                "nodes": tuple(Node(**node) for node in data["nodes"]),
                "interpreted": tuple(Node(**node) for node in data["interpreted"]),
                "compilations": tuple(data["compilations"]),
                "difference": Difference(**data["difference"]) if data["difference"] else None,
                "error": Problem(**data["error"]) if data["error"] else None,
                "lax_error": Problem(**data["lax_error"]) if data["lax_error"] else None,
                "notes": tuple(data["notes"]),
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, stable keys."""
        data = asdict(self)
        for key in ("nodes", "interpreted", "compilations", "notes"):
            data[key] = list(data[key])
        return data


@dataclass(frozen=True)
class Inputs:
    """Where the inputs came from (declared, inferred), their specs, and the target's expression with the constructor
    arguments that were filled in."""

    source: str
    specs: tuple[str, ...]
    target: str

    def to_json(self) -> dict[str, Any]:
        """Plain data, stable keys."""
        return {"source": self.source, "specs": list(self.specs), "target": self.target}


@dataclass(frozen=True)
class Verdict:
    """The outcome of one job. Of a pair, `verdict` is that of the rewrite and `original` is the original as it stands;
    otherwise `rewritten` is None. `culprits` are the fixes that a bisection left out; `notes` holds what concerns
    neither side, whose notes are their own; `stand_ins` are the operators that this device has no kernel for and that
    something of the same meaning stood in for, in every play."""

    id: str
    target: str
    verdict: str
    message: str
    inputs: Inputs
    original: SideResult | None = None
    rewritten: SideResult | None = None
    culprits: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    stand_ins: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def verified(self) -> bool:
        return self.verdict == "verified"

    @property
    def judged(self) -> SideResult | None:
        """The side that the verdict is about."""
        return self.rewritten or self.original

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        """From the worker's JSON."""
        inputs = data["inputs"]
        return cls(
            **{
                **data,
                "inputs": Inputs(inputs["source"], tuple(inputs["specs"]), inputs["target"]),
                "original": SideResult.from_json(data["original"]) if data["original"] else None,
                "rewritten": SideResult.from_json(data["rewritten"]) if data["rewritten"] else None,
                "culprits": tuple(data["culprits"]),
                "notes": tuple(data["notes"]),
                "stand_ins": tuple(data["stand_ins"]),
            }
        )

    def to_json(self) -> dict[str, Any]:
        """The element of `verify --output-format json`."""
        return {
            "target": self.target,
            "verdict": self.verdict,
            "message": self.message,
            "inputs": self.inputs.to_json(),
            "original": self.original.to_json() if self.original else None,
            "rewritten": self.rewritten.to_json() if self.rewritten else None,
            "culprits": list(self.culprits),
            "notes": list(self.notes),
            "stand_ins": list(self.stand_ins),
            "seconds": self.seconds,
        }
