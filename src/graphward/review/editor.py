"""The user's editor: `$VISUAL`, else `$EDITOR`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from ..errors import GraphwardError

_GOTO = frozenset({"code", "codium", "cursor", "code-insiders"})
_SET = "set EDITOR to the editor that you want, for example `vim` or `code --wait`"
_COLON = frozenset({"subl", "hx", "helix", "zed"})


def edit_text(text: str, name: str) -> str:
    """Let the user edit a text, in a file whose name ends in `name`. Raises GraphwardError when that fails."""
    with tempfile.TemporaryDirectory(prefix="graphward-edit-") as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode())
        _run([*_editor(), str(path)])
        try:
            return path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise GraphwardError(f"the edited text cannot be read: {error}") from None


def open_at(path: Path, line: int) -> None:
    """Open a file at a line. Raises GraphwardError when that fails."""
    _run(command_at(_editor(), path, line))


def command_at(editor: list[str], path: Path, line: int) -> list[str]:
    """The command that opens `path` at `line`, in the way of that editor."""
    name = Path(editor[0]).stem
    if name in _GOTO:
        return [*editor, "--goto", f"{path}:{line}"]
    if name in _COLON:
        return [*editor, f"{path}:{line}"]
    return [*editor, f"+{line}", str(path)]


def _editor() -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            command = shlex.split(os.environ.get(name, ""))
        except ValueError as error:
            raise GraphwardError(f"{name} cannot be understood: {error}", hint=_SET) from None
        if command:
            return command
    found = next((name for name in ("editor", "nano", "vi") if shutil.which(name)), None)
    if found is None:
        raise GraphwardError("no editor is known", hint=_SET)
    return [found]


def _run(command: list[str]) -> None:
    # Ctrl-C is the editor's, and ends no more than that. To ignore it would be passed on to the editor.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = subprocess.Popen(command).wait()
    except OSError as error:
        raise GraphwardError(f"the editor {command[0]} does not start: {error.strerror}", hint=_SET) from None
    finally:
        signal.signal(signal.SIGINT, before)
    if status:
        raise GraphwardError(f"the editor {command[0]} ended with status {status}; nothing was taken over", hint=_SET)
