"""The worker process seen from here: start, shake hands, send, receive, and never leave it behind."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import graphward_worker
from graphward.errors import GraphwardError

_HANDSHAKE_SECONDS = 180.0  # importing MindSpore from a cold disk
_GRACE_SECONDS = 3.0
_TAIL = 1500
_HINTS = {
    "no-mindspore": "install it with `pip install 'graphward[verify]'`, or name an interpreter that has it: "
    "--python PATH",
    "old-mindspore": "upgrade it with `pip install 'mindspore>=2.7' 'numpy<2'`, or name another interpreter: "
    "--python PATH",
    "broken-mindspore": "`pip install 'graphward[verify]'` installs versions that fit; or name another interpreter: "
    "--python PATH",
}


class WorkerDied(Exception):
    """The worker ended, or fell silent, with jobs under way; the text is the end of what it wrote to stderr."""


class Worker:
    """One worker under `python`, which may be another environment than Graphward's."""

    def __init__(self, python: str | Path | None = None, slots: int = 1):
        self.python = _interpreter(python)
        self.slots = slots
        self.versions: dict[str, str] = {}
        self._buffer = b""
        self._scratch: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    def launch(self) -> None:
        """Start the process, which imports MindSpore while the caller goes on. Raises GraphwardError when there is no
        such program."""
        if self._process is not None:
            return
        self._scratch = Path(tempfile.mkdtemp(prefix="graphward-"))
        script = Path(graphward_worker.__file__).with_name("__main__.py")
        command = [self.python, str(script), "--scratch", str(self._scratch), "-j", str(self.slots)]
        try:
            with (self._scratch / "stderr.txt").open("wb") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self._scratch,
                    env=_environment(),
                    start_new_session=True,
                )
        except OSError as error:
            self.kill()
            raise GraphwardError(f"cannot run {self.python}: {error.strerror}", hint="check --python") from None

    def start(self) -> None:
        """Launch, unless that was done, and wait for the handshake. Raises GraphwardError when it cannot prove
        anything."""
        self.launch()
        if self._ready:
            return
        try:
            self._shake_hands()
        except BaseException:
            self.kill()
            raise
        self._ready = True

    def send(self, message: dict[str, Any]) -> int:
        """The number of bytes. Raises WorkerDied."""
        assert self._process is not None and self._process.stdin is not None
        data = json.dumps(message).encode() + b"\n"
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError:
            raise WorkerDied(self._stderr_tail()) from None
        return len(data)

    def receive(self, timeout: float) -> dict[str, Any]:
        """The next message. Raises WorkerDied when it ended or said nothing for `timeout` seconds."""
        assert self._process is not None and self._process.stdout is not None
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise WorkerDied(f"no word from the worker for {timeout:g} s")
                data = os.read(self._process.stdout.fileno(), 1 << 16)
                if not data:
                    raise WorkerDied(self._stderr_tail())
                self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    @property
    def pid(self) -> int | None:
        """Process id, None when it does not run."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Ask the worker to end; kill it when it does not."""
        if self._ready and self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the worker with all its children (it kills them on SIGTERM) and remove its temporary files."""
        process, self._process = self._process, None
        ready, self._ready = self._ready, False
        if process is not None:
            if process.poll() is None:
                # While it imports it has no children, and hears SIGTERM only when C++ comes back to Python.
                _signal_group(process.pid, signal.SIGTERM if ready else signal.SIGKILL)
                try:
                    process.wait(_GRACE_SECONDS)
                except subprocess.TimeoutExpired:
                    _signal_group(process.pid, signal.SIGKILL)
                    process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None
        self._buffer = b""

    def _shake_hands(self) -> None:
        try:
            hello = self.receive(_HANDSHAKE_SECONDS)["hello"]
        except (WorkerDied, ValueError, KeyError) as error:
            message = f"{self.python} does not run the worker"
            raise GraphwardError(message, hint=str(error) or "is it a Python interpreter?") from None
        if hello["protocol"] != graphward_worker.PROTOCOL:
            raise GraphwardError(f"{self.python} runs a worker of another version of Graphward")
        if not hello["ok"]:
            raise GraphwardError(hello["message"], hint=_HINTS[hello["kind"]])
        self.versions = hello["versions"]

    def _stderr_tail(self) -> str:
        if self._scratch is None:
            return ""
        log = self._scratch / "stderr.txt"
        return log.read_bytes()[-_TAIL:].decode(errors="replace").strip() if log.exists() else ""


def _interpreter(python: str | Path | None) -> str:
    if python is None:
        return sys.executable
    found = shutil.which(os.path.expanduser(str(python)))
    if found is None:
        raise GraphwardError(
            f"there is no interpreter {str(python)!r}", hint="--python takes the path of a Python with MindSpore"
        )
    return os.path.abspath(found)


def _environment() -> dict[str, str]:
    """The user's environment; the worker runs elsewhere, so relative entries of PYTHONPATH must not depend on that."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    path = environment.get("PYTHONPATH")
    if path:
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, filter(None, path.split(os.pathsep))))
    return environment


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
