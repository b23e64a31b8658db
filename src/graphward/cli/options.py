"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..config import Config, load_config, wrong_item
from ..errors import GraphwardError
from ..rules.selection import require
from ..source.discovery import no_module
from ..source.text import NOTEBOOK
from ..verify.targets import Target, parse_target


class OpStyle(str, Enum):
    """How operators are written in rewrites."""

    functional = "functional"
    primitive = "primitive"
    mint = "mint"


class Format(str, Enum):
    """How verdicts and the catalogue are printed."""

    text = "text"
    json = "json"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        # Not Typer's check of permissions: our own error names the way out.
        metavar="[PATHS]...", help="Files or folders; the current folder if none is given.", show_default=False,
        readable=False,
    ),
]  # fmt: skip
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULES", help="Run only these rules: a code, the start of one (GW1), a name or "
                 "ALL; repeat it or separate with commas.", show_default=False),
]  # fmt: skip
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULES", help="Leave these rules out; the longer match wins over --select.",
                 show_default=False),
]  # fmt: skip
TargetVersion = Annotated[
    str | None,
    typer.Option("--target-version", metavar="X.Y", help="The MindSpore version that the code must compile under "
                 "\\[default: 2.10].", show_default=False),
]  # fmt: skip
Style = Annotated[
    OpStyle | None,
    typer.Option("--op-style", help="Write operators as ops.exp(x), ops.Exp()(x) or mint.exp(x) "
                 "\\[default: functional].",
                 show_default=False),
]  # fmt: skip
Python = Annotated[
    str | None,
    typer.Option(
        "--python", metavar="PATH", help="The interpreter that has MindSpore \\[default: this one].", show_default=False
    ),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=1, show_default=False,
                               help="Limit for one run of one version \\[default: 120]."),
]  # fmt: skip
Memory = Annotated[
    int | None, typer.Option("--memory", metavar="MB", help="Limit for one run of one version \\[default: 80 % of the "
                             "machine's].", min=1, show_default=False),
]  # fmt: skip
Export = Annotated[
    bool | None, typer.Option("--export", help="Also export each target to MINDIR, load the file, run it and compare.",
                              show_default=False),
]  # fmt: skip
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Spread the proofs over the workers of this dask "
                             "scheduler, as in tcp://host:8786; the machines share the files.", show_default=False),
]  # fmt: skip
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="SPEC", show_default=False,
                 help="One argument of the call: f32[2,3,32,32], i64[2,16]<30522, bool[2] or a Python literal; "
                      "repeat it for more arguments."),
]  # fmt: skip
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=0, help="Processes; 0 for one a core.")]
Units = Annotated[
    list[str] | None,
    typer.Option("--units", metavar="PARTS", show_default=False,
                 help="Make these parts, and no others, graphs of their own (GW601): encoder,head,loss."),
]  # fmt: skip
UnitNames = Annotated[
    list[str] | None,
    typer.Option("--names", metavar="NAMES", show_default=False,
                 help="Names for units that are cut out of a function, in the order of its statements."),
]  # fmt: skip
Write = Annotated[bool, typer.Option("--write", help="Write the files; without it only the diff is shown.")]


def settings(
    paths: list[Path], *, select: list[str] | None = None, ignore: list[str] | None = None,
    target_version: str | None = None, op_style: OpStyle | None = None, python: str | None = None,
    units: list[str] | None = None, unit_names: list[str] | None = None,
) -> Config:  # fmt: skip
    """The settings for the first path, with what the command line says on top."""
    start = paths[0] if paths and paths[0].exists() else Path.cwd()
    config = load_config(start)
    for item in (*config.select, *config.ignore, *(i for items in config.per_file_ignores.values() for i in items)):
        try:
            require(item)
        except GraphwardError as error:
            raise wrong_item(config, item, error) from None
    return config.with_options(
        select=_items(select), ignore=(*config.ignore, *(_items(ignore) or ())) if ignore else None,
        target_version=target_version, op_style=op_style.value if op_style else None, python=python,
        units=_items(units, "parts"), unit_names=_items(unit_names, "names"),
    )  # fmt: skip


def with_proof(
    config: Config, *, timeout: float | None, memory: int | None, export: bool | None, scheduler: str | None
) -> Config:
    """The settings with what the command line says about proofs."""
    options = {"timeout": timeout, "memory": memory, "export": export, "scheduler": scheduler}
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    return replace(config, verify=replace(config.verify, **given))


def target_of(text: str) -> Target:
    """A target that is named on the command line. Raises GraphwardError for one that is none, or is in a notebook."""
    place = Path(text.partition("::")[0])
    if place.suffix == NOTEBOOK:
        raise no_module(place)
    return parse_target(text)


def chosen(paths: list[Path] | None) -> list[Path]:
    """The given paths, or the current folder."""
    return paths or [Path()]


def _items(values: list[str] | None, what: str = "rules") -> tuple[str, ...] | None:
    if not values:
        return None
    items = tuple(item.strip() for value in values for item in value.split(",") if item.strip())
    if not items:
        hint = "`graphward rules` lists the codes and names" if what == "rules" else "separate them with commas"
        raise GraphwardError(f"an empty list of {what}", hint=hint)
    return items
