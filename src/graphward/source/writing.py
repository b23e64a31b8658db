"""Writing a file so that a crash leaves the old one or the new one, never half of either."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import GraphwardError


def write_all(files: Sequence[tuple[Path, bytes]]) -> None:
    """Replace the contents of several files, or of none when one of them may not be written (GraphwardError)."""
    for path, _ in files:
        target = path.resolve()
        if not (os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)):
            raise _denied(path, "Permission denied")
    for path, data in files:
        write_atomic(path, data)


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the contents of `path`, keeping its permissions; a symbolic link keeps being one.

    Raises GraphwardError when the folder or the file cannot be written.
    """
    target = path.resolve()
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not os.access(target, os.W_OK):
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
