"""A limit of time for code that runs in this process."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

_LEAST = 0.05  # seconds


class TooSlow(Exception):
    """What ran was not done in time."""


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """Raises TooSlow in the block at `deadline`, on the monotonic clock. An operator that runs then is not cut short:
    the process around this has a deadline of its own."""
    before = signal.signal(signal.SIGALRM, _expire)
    signal.setitimer(signal.ITIMER_REAL, max(_LEAST, deadline - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _expire(number: int, frame: FrameType | None) -> None:
    raise TooSlow("not done in the time that one attempt may take")
