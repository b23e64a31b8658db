"""Keeping the screen quick while a check runs beside it, in the same process."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

# A thread that waits for the interpreter gets it after this time, in seconds; a key press waits for it several times.
_SWITCH = 0.0005
# How long the keys must have rested before garbage is collected.
_IDLE = 3.0
# How long a check waits after a key press, for the next one and for what is drawn.
_FIRST = 0.1


class Pauses:
    """Collects garbage only when nobody is waiting: a check leaves millions of objects, and to walk them stops
    everything for longer than a key press may take."""

    def __init__(self) -> None:
        self._last_key = time.monotonic()
        self._garbage = False

    @contextmanager
    def short(self) -> Iterator[None]:
        """As long as the screen is up."""
        interval = sys.getswitchinterval()
        gc.disable()
        sys.setswitchinterval(_SWITCH)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            gc.enable()

    def pressed(self) -> None:
        """A key was pressed."""
        self._last_key = time.monotonic()

    def give_way(self) -> None:
        """Called by a check, on its own thread, between two files: keys go first."""
        while (left := self._last_key + _FIRST - time.monotonic()) > 0:
            time.sleep(left)

    def checked(self) -> None:
        """A check has left garbage."""
        self._garbage = True

    def idle(self) -> None:
        """Called now and then."""
        if self._garbage and time.monotonic() - self._last_key > _IDLE:
            self._garbage = False
            gc.collect()
