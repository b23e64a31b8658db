"""Settings that the editor sends, on top of `pyproject.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..config import Config
from ..errors import GraphwardError


@dataclass(frozen=True)
class EditorSettings:
    """None leaves what `pyproject.toml` says. `docs_url` is the address under which the rules' pages stand
    (`<docs_url>/GW101`); without it diagnostics link to pages in the user's cache folder. `python` is the interpreter
    that has MindSpore. `trusted`: whether the user trusts the workspace, so that its code may be run on command.
    `code_lens`: whether graph regions are marked in the text."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    target_version: str | None = None
    op_style: str | None = None
    docs_url: str | None = None
    python: str | None = None
    trusted: bool = True
    code_lens: bool = True

    @classmethod
    def read(cls, data: Any) -> EditorSettings:
        """From what a client sends: an object with the settings, or with them under `graphward`; names in camelCase
        or as in `pyproject.toml`. Raises GraphwardError for a setting that is unknown or of the wrong type."""
        if isinstance(data, Mapping) and isinstance(data.get("graphward"), Mapping):
            data = data["graphward"]
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise GraphwardError("the editor's settings for graphward are no object", hint=_KNOWN)
        values: dict[str, Any] = {}
        for key, value in data.items():
            name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", str(key)).lower().replace("-", "_")
            if name not in {f.name for f in fields(cls)}:
                raise GraphwardError(f"unknown setting {key!r} from the editor", hint=_KNOWN)
            if name in ("select", "ignore"):
                values[name] = _list(key, value)
            elif name in ("trusted", "code_lens"):
                values[name] = _flag(key, value)
            else:
                values[name] = _string(key, value)
        return cls(**values)

    def over(self, config: Config) -> Config:
        """`config` with these settings on top. Raises GraphwardError for a value that cannot be."""
        ignore = (*config.ignore, *self.ignore) if self.ignore else None
        return config.with_options(
            select=self.select, ignore=ignore, target_version=self.target_version, op_style=self.op_style
        )


_KNOWN = "known settings: select, ignore (lists of rules), targetVersion, opStyle, docsUrl, python, trusted, codeLens"


def _list(key: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
        raise GraphwardError(f"the editor's setting {key!r} must be a list of strings", hint='for example ["GW1"]')
    return tuple(value)


def _string(key: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise GraphwardError(f"the editor's setting {key!r} must be a string", hint=_KNOWN)
    return value or None


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise GraphwardError(f"the editor's setting {key!r} must be true or false", hint=_KNOWN)
    return value
