"""What has become of a finding."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """What has become of a finding."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPPRESSED = "suppressed"
    WAITING = "waiting"
    UNNECESSARY = "unnecessary"

    # Thousands are counted for one key press, and an Enum of its own accord hashes its name, in Python.
    __hash__ = object.__hash__
