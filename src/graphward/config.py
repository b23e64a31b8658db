"""Settings: `[tool.graphward]` of the nearest `pyproject.toml`, checked key by key."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .errors import GraphwardError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OP_STYLES = ("functional", "primitive", "mint")
RUN_MODES = ("graph", "jit")
AMP_LEVELS = ("O1", "O2", "O3", "auto")
DEFAULT_TARGET = "2.10"


@dataclass(frozen=True)
class VerifySettings:
    """`[tool.graphward.verify]`: how the proof runs. `targets` maps `path.py::Expr` to its input specs (None: infer
    them); `timeout` is in seconds and `memory` in MB (0: most of what the machine has) for one run of one version;
    `export` adds the MINDIR export; `scheduler` is the address of a dask scheduler, empty for this machine alone.
    `declared_only`, which the command line sets, leaves everything but `targets` out."""

    targets: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    timeout: float = 120.0
    memory: int = 0
    jobs: int = 2
    export: bool = False
    scheduler: str = ""
    declared_only: bool = False


@dataclass(frozen=True)
class Config:
    """`root` is the folder of the `pyproject.toml`, or the working folder. `run_mode` says what takes the place of
    PyNative mode in scripts: Graph Mode, or `@jit` on what is to be compiled; `amp_level` the level of mixed precision
    that GW710 writes. `units` are the parts that a split makes graphs of, instead of those that it finds, `unit_names`
    names for those that it cuts out."""

    root: Path = field(default_factory=Path.cwd)
    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    target_version: str = DEFAULT_TARGET
    op_style: str = "functional"
    run_mode: str = "graph"
    amp_level: str = "O2"
    units: tuple[str, ...] = ()
    unit_names: tuple[str, ...] = ()
    python: str = ""
    max_file_size: int = 2_000_000
    verify: VerifySettings = field(default_factory=VerifySettings)

    def with_options(self, **options: Any) -> Config:
        """A copy with what the command line says; None leaves a setting alone."""
        changed = replace(self, **{k: v for k, v in options.items() if v is not None})
        _check_values(changed, None)
        return changed


def load_config(start: Path) -> Config:
    """The settings that hold for `start`: its own `pyproject.toml` or the nearest one above with a
    `[tool.graphward]` table. Raises GraphwardError for a file or a key that cannot be used."""
    folder = start.resolve() if start.is_dir() else start.resolve().parent
    for candidate in (folder, *folder.parents):
        path = candidate / "pyproject.toml"
        if path.is_file():
            table = _table(path)
            if table is not None:
                return _from_table(table, path)
    return Config(root=folder)


def _table(path: Path) -> dict[str, Any] | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise GraphwardError(
            f"this is not valid TOML: {error}", path=path, line=int(line[1]) if line else None,
            hint="mend the file, or run from another folder",
        ) from None  # fmt: skip
    except OSError as error:
        raise GraphwardError(f"cannot be read: {error.strerror}", path=path) from None
    tool = data.get("tool", {})
    return tool.get("graphward") if isinstance(tool, dict) else None


def _from_table(table: Any, path: Path) -> Config:
    if not isinstance(table, dict):
        raise GraphwardError("[tool.graphward] must be a table", path=path)
    config = Config(root=path.parent)
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if key == "verify":
            values["verify"] = _verify(value, path)
        elif name == "root" or name not in {f.name for f in fields(Config)}:
            raise _bad(path, key, f"unknown setting {key!r}", f"known settings: {', '.join(sorted(_known()))}")
        else:
            values[name] = _value(path, key, value, getattr(config, name))
    config = replace(config, **values)
    _check_values(config, path)
    return config


def wrong_item(config: Config, item: str, error: GraphwardError) -> GraphwardError:
    """What is wrong with an item of a list in the settings, said with its place."""
    path = config.root / "pyproject.toml"
    return _bad(path, item, error.message, error.hint) if path.is_file() else error


def _known() -> list[str]:
    return [f.name.replace("_", "-") for f in fields(Config) if f.name != "root"]


def _value(path: Path, key: str, value: Any, default: Any) -> Any:
    if isinstance(default, tuple):
        if not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            name = key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'
            item = "f32[2,3]" if "::" in key else "GW101"
            raise _bad(path, key, f"{key} must be a list of strings", f'for example {name} = ["{item}"]')
        return tuple(value)
    if isinstance(default, Mapping):
        if not isinstance(value, dict):
            raise _bad(path, key, f"{key} must be a table", f'for example [tool.graphward.{key}] "tests/*" = ["GW1"]')
        return {k: _value(path, k, v, ()) for k, v in value.items()}
    if isinstance(value, bool) or not isinstance(value, type(default)):
        raise _bad(path, key, f"{key} must be {_article(default)}", f"for example {key} = {default!r}")
    return value


def _verify(table: Any, path: Path) -> VerifySettings:
    if not isinstance(table, dict):
        raise _bad(path, "verify", "verify must be a table", "[tool.graphward.verify]")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "targets":
            values[key] = _value(path, key, value, {})
        elif key == "timeout" and isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            values[key] = float(value)
        elif _fits(key, value):
            values[key] = value
        else:
            raise _bad(path, key, f"[tool.graphward.verify] cannot take {key} = {value!r}",
                       "known settings: targets (a table), timeout (seconds), memory (MB), jobs (a number), "
                       "export (true or false), scheduler (an address)")  # fmt: skip
    return VerifySettings(**values)


def _fits(key: str, value: Any) -> bool:
    if key in ("jobs", "memory"):
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    return isinstance(value, {"export": bool, "scheduler": str}.get(key, ()))


def _check_values(config: Config, path: Path | None) -> None:
    if config.op_style not in OP_STYLES:
        raise _bad(path, "op-style", f"unknown op-style {config.op_style!r}", f"one of {', '.join(OP_STYLES)}")
    if config.run_mode not in RUN_MODES:
        raise _bad(path, "run-mode", f"unknown run-mode {config.run_mode!r}", f"one of {', '.join(RUN_MODES)}")
    if config.amp_level not in AMP_LEVELS:
        raise _bad(path, "amp-level", f"unknown amp-level {config.amp_level!r}", f"one of {', '.join(AMP_LEVELS)}")
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", config.target_version):
        raise _bad(path, "target-version", f"target-version {config.target_version!r} is no version",
                   f"for example {DEFAULT_TARGET}")  # fmt: skip


def _bad(path: Path | None, key: str, message: str, hint: str) -> GraphwardError:
    line = None
    if path is not None:
        pattern = re.compile(rf".*(?<![\w-]){re.escape(key)}(?![\w-])")
        lines = path.read_text(encoding="utf-8").splitlines()
        line = next((i for i, text in enumerate(lines, 1) if pattern.match(text)), None)
    return GraphwardError(message, hint=hint, path=path, line=line)


def _article(default: Any) -> str:
    return {str: "a string", int: "a number"}.get(type(default), f"a {type(default).__name__}")
