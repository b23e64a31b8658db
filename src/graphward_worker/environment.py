"""Whether this interpreter can prove anything: MindSpore is there, new enough, and gets along with its NumPy."""

from __future__ import annotations

import re
import sys
from typing import Any, Callable

OLDEST = (2, 7)


def check() -> dict[str, Any]:
    """Imports NumPy and MindSpore. `ok`, `versions`; when not ok also `kind` (`no-mindspore`, `old-mindspore`,
    `broken-mindspore`) and `message`."""
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    try:
        import mindspore
        import numpy
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mindspore", "numpy"):
            return _bad("broken-mindspore", f"importing MindSpore fails: {error}", versions)
        return _bad("no-mindspore", f"{sys.executable} has no {error.name}", versions)
    except Exception as error:  # the wheel's binaries refuse this NumPy, a library is missing, ...
        return _bad("broken-mindspore", f"importing MindSpore fails: {type(error).__name__}: {error}", versions)
    versions.update(mindspore=mindspore.__version__, numpy=numpy.__version__)
    found = tuple(int(part) for part in re.findall(r"\d+", mindspore.__version__)[:2])
    if found < OLDEST:
        message = f"{sys.executable} has MindSpore {mindspore.__version__}; Graphward needs 2.7 or later"
        return _bad("old-mindspore", message, versions)
    return {"ok": True, "versions": versions}


def probe(request: dict[str, Any], report: Callable[[Any], None]) -> None:
    """The first PyNative operator: where MindSpore's binaries were built for another NumPy it raises SystemError.
    Reports the error's text, or an empty string."""
    import mindspore as ms

    try:
        (ms.Tensor([1.0, 2.0], ms.float32) + 1).asnumpy()
    except Exception as error:
        report(f"{type(error).__name__}: {error}")
    else:
        report("")


def probe_failure(text: str, versions: dict[str, str]) -> dict[str, Any]:
    """The handshake when the probe failed."""
    message = f"MindSpore {versions['mindspore']} does not run here: {text}"
    if text.startswith("SystemError") or versions["numpy"].split(".")[0] != "1":
        message += f". It needs numpy<2; this interpreter has NumPy {versions['numpy']}"
    return _bad("broken-mindspore", message, versions)


def _bad(kind: str, message: str, versions: dict[str, str]) -> dict[str, Any]:
    return {"ok": False, "kind": kind, "message": message, "versions": versions}
