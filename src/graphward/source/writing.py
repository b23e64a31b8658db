"""Writing a file so that a crash leaves the old one or the new one, never half of either."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import GraphwardError


def write_all(files: Sequence[tuple[Path, bytes | None]], *, mode: int | None = None) -> None:
    """Replace the contents of several files, or of none when one of them may not be written (GraphwardError). Files
    that are not there are made, with the permissions `mode`, and so are their folders; a file with None is removed, and
    its folder with it when nothing else is left there."""
    for path, _ in files:
        target = path.resolve()
        folder = next(p for p in target.parents if p.exists())
        if not ((os.access(target, os.W_OK) or not target.exists()) and os.access(folder, os.W_OK)):
            raise _denied(path, "Permission denied")
    held = [(path, path.read_bytes() if path.is_file() else None) for path, _ in files]
    for number, (path, data) in enumerate(files):
        try:
            _put(path, data, mode)
        except GraphwardError:
            for before, old in reversed(held[:number]):
                _put(before, old, mode)
            raise


def _put(path: Path, data: bytes | None, mode: int | None) -> None:
    try:
        if data is None:
            _remove(path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _denied(path, error.strerror) from None
    write_atomic(path, data, mode=mode)


def _remove(path: Path) -> None:
    """Remove a file, what Python compiled of it, and its folder when that is empty then."""
    path.unlink(missing_ok=True)
    cache = path.parent / "__pycache__"
    for compiled in cache.glob(f"{path.stem}.*.pyc"):
        compiled.unlink(missing_ok=True)
    for folder in (cache, path.parent):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def write_atomic(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace the contents of `path`, keeping its permissions (`mode` is for a new file); a symbolic link keeps being
    one.

    Raises GraphwardError when the folder or the file cannot be written.
    """
    target = path.resolve()
    try:
        exists = target.exists()
        mode = target.stat().st_mode if exists else mode
        if exists and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode & 0o7777 if mode is not None else 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _denied(path, error.strerror) from None


def _denied(path: Path, reason: str | None) -> GraphwardError:
    hint = "check the permissions of the file and its folder"
    return GraphwardError(f"cannot be written: {reason}", path=path, hint=hint)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
