"""What the tests prove, in one batch: targets that are judged as they stand, and pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphward.verify.jobs import Job, Options
from graphward.verify.targets import parse_target

DATA = Path(__file__).parent / "data"
X = ["f32[2,3]"]


def line_of(file: str, code: str, occurrence: int = 1) -> int:
    """Where `code` stands in a file below `data`, 1-based."""
    lines = (DATA / file).read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if code in line][occurrence - 1]


def alone(name: str, inputs: list[str] | None = X, file: str = "bad.py", id: str | None = None, **options: Any) -> Job:
    """A target judged as it stands."""
    target = parse_target(f"{file}::{name}", DATA / "alone")
    return Job.of(target, id=id or name, inputs=inputs, options=Options(**options))


def pair(name: str, inputs: list[str] | None = X, id: str | None = None, **options: Any) -> Job:
    """The rewrite in `after` against the original in `before`."""
    options.setdefault("as_it_stands", False)
    target = parse_target(f"pairs.py::{name}", DATA / "before")
    return Job.of(target, id=id or name, rewritten=DATA / "after", inputs=inputs, options=Options(**options))


GUESSED = (
    *("GlassModel", "GlassLayer", "Handful", "Chooses", "Stages", "Indexed", "Grouped", "Forwards", "Demanding"),
    *("Deeper", "Described", "Optionally", "Product", "Joins", "Exact", "Pictures"),
    *("Residual", "Mapped"),
)
"""Targets whose inputs are inferred, in a file of their own."""

JOBS = [
    *(
        alone(name, file="good.py")
        for name in ("Dense", "Noisy", "Branches", "Counter", "Root", "OnlyNan", "Decorated")
    ),
    *(alone(name, file="good.py") for name in ("OwnCall", "plain", "INSTANCE", "Decorated().encode")),
    alone("Dense(width=7)", file="good.py"),
    alone("scaled", ["f32[2,3]", "mutable(3)"], file="good.py"),
    alone("doubled", ["f32[2,3]", "f32[3]"], file="good.py"),
    alone("Nested", ["(f32[2,3], f32[2,3])", "{'bias': f32[3]}", "3"], file="good.py"),
    *(alone(name) for name in ("ReturnsDataclass", "PopsDict")),
    *(alone(name) for name in ("NumpyInside", "CallsNumpy", "SetInside", "Appends", "AppendsUnseen", "CountsGlobally")),
    *(alone(name) for name in ("FrozenRandom", "FrozenClock", "ReturnsDict", "CellPerCall", "NoKernel", "Segfaults")),
    *(alone(name) for name in ("Leaves", "BrokenCall", "BrokenInit", "NUMBER")),
    alone("Endless", timeout=4.0),
    alone("Choosy", None),
    alone("NeedsText", None),
    alone("Uses", file="sibling.py"),
    alone("Copies", file="copy.py"),
    *(alone(name, None, file="infer.py") for name in ("Mlp", "Convolution", "Tokens", "Loss", "combine", "Deep")),
    *(alone(name, None, file="infer.py") for name in ("Attention", "Smoothed", "Selects", "PicksLayer", "Options")),
    *(alone(name, None, file="infer.py") for name in ("Pairs", "CountsDown", "Windows", "Either", "Configured")),
    alone("Patches", None, file="infer.py"),
    *(alone(name, None, file="guessed.py") for name in GUESSED),
    *(pair(name) for name in ("MovedLayers", "NumpyArray", "NumpyTensor", "KeptCut", "PartlyCut", "Named", "Listed")),
    *(
        pair(name)
        for name in ("OtherDtype", "OtherShape", "OtherValue", "OtherGradient", "WritesArgument", "SecondCall")
    ),
    *(pair(name) for name in ("CountsOnSelf", "Remembers", "DoesNotLoad", "UsesNoKernel", "NanForNumber")),
    *(pair(name) for name in ("BrokenBefore", "WrongAndRefused")),
    *(pair(name) for name in ("GraphOnly", "OtherInPyNative", "StateInPyNative", "OtherGradientInPyNative")),
    pair("HangsInPyNative", timeout=6.0),
    pair("NoKernelInPyNative"),
    pair("StillFalls", as_it_stands=True),
    pair("MovedLayers", id="MovedLayers drawn", weights="drawn"),
    pair("NumpyTensor", id="NumpyTensor restored", gradients="restored"),
    pair("NumpyTensor", id="NumpyTensor off", gradients="off"),
    pair("PartlyCut", id="PartlyCut restored", gradients="restored"),
    pair("WrongRestored", gradients="restored"),
    pair("Remembers", id="Remembers moved", ignore_state=("last",)),
]
