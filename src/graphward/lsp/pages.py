"""Where the page of a rule can be read: on the site that the settings name, else in the user's cache folder."""

from __future__ import annotations

import contextlib
from pathlib import Path

from platformdirs import user_cache_path

from .. import __version__
from ..errors import GraphwardError


def online(docs_url: str, code: str) -> str:
    """The address below a site."""
    return f"{docs_url.rstrip('/')}/{code}"


def stored(code: str) -> Path:
    """The file for a rule's page."""
    return user_cache_path("graphward", appauthor=False) / "pages" / __version__ / f"{code}.md"


def store(code: str, name: str, text: str) -> Path | None:
    """Write a rule's page; None when the folder cannot be written."""
    from ..source.writing import write_atomic  # not before the first page is written

    path = stored(code)
    with contextlib.suppress(OSError, GraphwardError):
        data = f"# {code} {name}\n\n{text}\n".encode()
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, data)
        return path
    return None
