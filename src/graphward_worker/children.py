"""Forked children: one stage each, in a directory and a process group of its own, killed at its deadline."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from typing import Any, Callable

Stage = Callable[[dict[str, Any], Callable[[Any], None]], None]
"""Runs in the child: takes the request and a function that hands over a (partial) result."""

_TAIL = 2000
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Child:
    """A running stage; `close` are descriptors that user code must not reach; `memory` is its limit in MB (0: most of
    what the machine has). `poll` returns None while it runs, then its end:

    `kind` (done, crash, timeout), `value` (the last result that it handed over, or None), `reason` and `tail` (of its
    output) when it did not end by itself, `seconds`.
    """

    def __init__(
        self, stage: Stage, request: dict[str, Any], timeout: float, scratch: str, close: tuple[int, ...],
        memory: int = 0,
    ):  # fmt: skip
        self.folder = tempfile.mkdtemp(prefix="stage-", dir=scratch)
        self.started = time.monotonic()
        self.deadline = self.started + timeout
        self.timeout = timeout
        self.memory = (memory << 20) or _most_of_the_machine()
        self.log = os.path.join(self.folder, "output.txt")
        self.result = os.path.join(self.folder, "result")
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(stage, request, close)
        with contextlib.suppress(OSError):  # the child was faster, or is gone already
            os.setpgid(self.pid, self.pid)

    def poll(self) -> dict[str, Any] | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            if self._resident() > self.memory:
                self.kill()
                return self._end("crash", f"used more than {self.memory >> 20:,} MB of memory")
            if time.monotonic() < self.deadline:
                return None
            self.kill()
            return self._end("timeout", f"no result within {self.timeout:g} s")
        self._kill_group()
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return self._end("crash", f"killed by {signal.Signals(number).name} ({signal.strsignal(number)})")
        code = os.WEXITSTATUS(status)
        if code != 0 or not os.path.exists(self.result):
            return self._end("crash", f"the process ended with exit status {code} and without a result")
        return self._end("done", "")

    def kill(self) -> None:
        """Kill the whole process group and reap the child."""
        self._kill_group()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def remove(self) -> None:
        """Delete the stage's directory and all that the compiler dropped there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _resident(self) -> int:
        """Bytes in memory; 0 where the system does not tell."""
        try:
            with open(f"/proc/{self.pid}/statm") as file:
                return int(file.read().split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _end(self, kind: str, reason: str) -> dict[str, Any]:
        value = None
        if os.path.exists(self.result):
            with open(self.result, "rb") as file:
                value = pickle.load(file)
        tail = ""
        if kind != "done" and os.path.exists(self.log):
            with open(self.log, "rb") as file:
                file.seek(max(0, os.path.getsize(self.log) - _TAIL))
                tail = file.read().decode(errors="replace")
        seconds = time.monotonic() - self.started
        self.remove()
        return {"kind": kind, "value": value, "reason": reason, "tail": tail, "seconds": seconds}

    def _run(self, stage: Stage, request: dict[str, Any], close: tuple[int, ...]) -> None:
        code = 1
        try:
            os.setpgid(0, 0)
            _die_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in close:
                os.close(descriptor)
            os.chdir(self.folder)
            null = os.open(os.devnull, os.O_RDONLY)
            log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(null, 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            stage({**request, "log": self.log}, self._hand_over)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                # Not sys.exit: MindSpore's own teardown can crash after the work is done.
                os._exit(code)

    def _hand_over(self, value: Any) -> None:
        partial = self.result + ".partial"
        with open(partial, "wb") as file:
            pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
        os.replace(partial, self.result)


def _most_of_the_machine() -> int:
    """Bytes: what leaves the rest of the machine alive."""
    return int(0.8 * _PAGE * os.sysconf("SC_PHYS_PAGES"))


def _die_with_parent() -> None:
    """Where the system can (Linux), a child does not outlive a worker that was killed."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() == 1:
        os._exit(1)
