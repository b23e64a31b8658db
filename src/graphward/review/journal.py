"""What was written, so that it can be taken back: the files as they were, before each write.

A file that was not there has None for its contents, one that was removed an empty digest.

An entry is complete on disk before the first file is touched. It is in the user's state folder, beside the decisions.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import GraphwardError
from ..source.paths import display
from ..source.writing import write_all, write_atomic
from .store import digest, folder_of

_KEPT = 50


@dataclass
class Entry:
    """One write: of each file, what it held, and the digest of what it was given; `mode` are the permissions of files
    that were removed."""

    path: Path
    files: dict[str, tuple[bytes | None, str]] = field(default_factory=dict)
    mode: int | None = None

    def add(self, before: Mapping[Path, bytes | None], after: Mapping[Path, bytes | None]) -> None:
        """Note files that are about to be written. Raises GraphwardError when that is impossible."""
        for path, data in before.items():
            name = str(path.absolute())
            held = self.files[name][0] if name in self.files else data
            self.files[name] = held, _digest(after[path])
        self._keep()

    def drop(self, path: Path) -> None:
        """A file was not written after all. Raises GraphwardError when that cannot be noted."""
        del self.files[str(path.absolute())]
        self._keep()

    def _keep(self) -> None:
        try:
            if not self.files:
                self.path.unlink(missing_ok=True)
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GraphwardError(f"the journal cannot be written: {error.strerror}", path=self.path.parent) from None
        plain = {
            name: [data if data is None else base64.b64encode(data).decode(), after]
            for name, (data, after) in self.files.items()
        }  # fmt: skip
        write_atomic(self.path, json.dumps({"files": plain, "mode": self.mode}).encode())


class Journal:
    """The writes of a project, the last one last."""

    def __init__(self, root: Path):
        self._folder = folder_of(root) / "journal"

    def begin(self) -> Entry:
        """A new entry, which is not on disk before something is added."""
        for path in self._entries()[:-_KEPT]:
            path.unlink(missing_ok=True)
        return Entry(self._folder / f"{time.time_ns():020}.json")

    def undo(self) -> list[Path]:
        """Restore the files of the last write, all or none, and drop its entry; the files that were restored.

        Raises GraphwardError when there is none, when it cannot be read, or when one of the files was changed since.
        """
        entries = self._entries()
        if not entries:
            raise GraphwardError("there is no write to take back here", hint="a review notes what it writes")
        files, mode = _read(entries[-1])
        restored: list[tuple[Path, bytes | None]] = []
        changed = []
        for name, (before, after) in files.items():
            path = Path(name)
            now = _digest(path.read_bytes() if path.is_file() else None)
            if now == after:
                restored.append((path, before))
            elif now != _digest(before):
                changed.append(display(path))
        if changed:
            raise GraphwardError(f"changed since it was written: {', '.join(changed)}; nothing was restored",
                                 hint=f"the earlier contents are kept in {entries[-1]}")  # fmt: skip
        write_all(restored, mode=mode)
        entries[-1].unlink(missing_ok=True)
        return [path for path, _ in restored]

    def earlier(self, path: Path, wanted: str) -> bytes | None:
        """What a file held before a write, the digest of which is `wanted`; None when no write that is kept knows."""
        name = str(path.absolute())
        for entry in reversed(self._entries()):
            with suppress(GraphwardError):
                before, _ = _read(entry)[0].get(name, (None, ""))
                if before is not None and digest(before) == wanted:
                    return before
        return None

    def _entries(self) -> list[Path]:
        return sorted(self._folder.glob("*.json"))


def _digest(data: bytes | None) -> str:
    return "" if data is None else digest(data)


def _read(path: Path) -> tuple[dict[str, tuple[bytes | None, str]], int | None]:
    try:
        data = json.loads(path.read_bytes())
        files = {
            name: (None if before is None else base64.b64decode(before), str(after))
            for name, (before, after) in data["files"].items()
        }  # fmt: skip
        return files, data.get("mode")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise GraphwardError("the journal's last entry cannot be read", path=path,
                             hint="remove it to come to the one before") from None  # fmt: skip
