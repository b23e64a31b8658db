"""A program in a pseudo-terminal, and what stands on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyte
from wcwidth import wcwidth

COMMAND = [sys.executable, "-c", "from graphward.cli.app import main; main()"]


def _take_the_terminal(hangups: bool = True) -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # What runs in the background of a shell passes on that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not hangups:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _whole(cells: list[str]) -> Iterator[str]:
    wide = False
    for cell in cells:
        yield cell if cell or wide else " "
        wide = bool(cell) and wcwidth(cell[0]) == 2


class Terminal:
    """Runs `graphward ARGUMENTS` on a screen of `columns` by `rows`; without `hangups`, it is not told when that is
    closed."""

    def __init__(
        self, *arguments: str, folder: Path, columns: int = 80, rows: int = 24, hangups: bool = True, **environment: str
    ):
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._master, slave = pty.openpty()
        self.resize(columns, rows)
        env = {**os.environ, "TERM": "xterm-256color", **environment}
        for name in ("COLUMNS", "LINES"):  # they would count for more than the size of the terminal
            env.pop(name, None)
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], cwd=folder, env=env, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=partial(_take_the_terminal, hangups),
        )  # fmt: skip
        os.close(slave)

    def close(self) -> None:
        """Close the terminal and leave the program alone."""
        os.close(self._master)

    def resize(self, columns: int, rows: int) -> None:
        """Give the screen another size; the program is told."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    @property
    def text(self) -> str:
        """The screen, trailing blanks gone. Half of a wide character that a smaller screen cut is a blank; pyte's own
        `display` raises on it."""
        screen = self._screen
        rows = ([screen.buffer[y][x].data for x in range(screen.columns)] for y in range(screen.lines))
        return "\n".join("".join(_whole(cells)).rstrip() for cells in rows)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def until(self, *wanted: str) -> str:
        """Wait until all of these stand on the screen."""
        deadline = time.monotonic() + 45
        while not all(text in self.text for text in wanted):
            if time.monotonic() > deadline or not self._read(1.0):
                assert time.monotonic() < deadline and self.process.poll() is None, f"{wanted}\n{self.text}"
        return self.text

    def until_gone(self, text: str) -> None:
        """Wait until this stands on the screen no more."""
        deadline = time.monotonic() + 45
        while text in self.text:
            self._read(1.0)
            assert time.monotonic() < deadline and self.process.poll() is None, self.text

    def end(self) -> int:
        """Wait for the program to end; its exit status."""
        deadline = time.monotonic() + 45
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.text
            self._read(0.2)
        while self._read(0.2):
            pass
        os.close(self._master)
        return self.process.returncode

    def kill(self) -> None:
        """Close the terminal under the program."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self._master], [], [], seconds)
        try:
            data = os.read(self._master, 1 << 16) if ready else b""
        except OSError:  # the other side is closed
            return b""
        self.raw += data
        self._stream.feed(data)
        return data
