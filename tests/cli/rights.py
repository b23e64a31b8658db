"""Permissions that hold for root too."""

from __future__ import annotations

import ctypes
import os


def without_the_rights_of_root() -> None:
    """Root reads and writes what it has no permission for; the next program must not inherit that."""
    if os.geteuid():
        return
    drop_from_bounding_set, overrides_of_permissions = 24, (1, 2)
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in overrides_of_permissions:
        if libc.prctl(drop_from_bounding_set, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
