"""The real program in a pseudo-terminal, and the time until it has answered a key."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path


class Terminal:
    """Runs a command in a terminal of `columns` by `rows`."""

    def __init__(self, command: list[str], folder: Path, columns: int, rows: int, env: dict[str, str]):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)

    def wait_for(self, text: bytes, seconds: float) -> None:
        """Read until `text` was on the screen. Raises TimeoutError."""
        seen = b""
        end = time.monotonic() + seconds
        while text not in seen:
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"{text!r} did not come: {seen[-2000:].decode(errors='replace')}")
            seen += self._read(0.1)

    def rest(self, seconds: float) -> None:
        """Read until nothing has come for that long."""
        while self._read(seconds):
            pass

    def answer(self, key: bytes, quiet: float = 0.03) -> float:
        """Seconds from a key press to the last byte of what it changes on the screen: what comes before the screen is
        quiet for that long."""
        start = time.perf_counter()
        os.write(self._master, key)
        last = None
        while True:
            data = self._read(5.0 if last is None else quiet)
            if not data:
                if last is None:
                    raise TimeoutError(f"no answer to {key!r}")
                return last - start
            last = time.perf_counter()

    def close(self) -> None:
        """End the program."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self._master], [], [], seconds)
        try:
            return os.read(self._master, 1 << 16) if ready else b""
        except OSError:
            return b""
