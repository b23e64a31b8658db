"""How keys are read: a lone Esc is answered as soon as it is clear that no more comes.

Textual's own driver looks for keys that are waited for ten times a second, whatever `ESCDELAY` says: that alone is more
than a key press may take.
"""

from __future__ import annotations

import os
import select
import sys
from codecs import getincrementaldecoder

from textual import constants
from textual.driver import Driver

# Seconds between two looks at whether the program ends, and that nothing is read after half a character.
_TICK, _HALF = 0.1, 0.005


def driver_class() -> type[Driver] | None:
    """The driver for this terminal; None leaves the choice to Textual."""
    if sys.platform == "win32" or os.environ.get("TEXTUAL_DRIVER"):
        return None
    from textual._xterm_parser import XTermParser
    from textual.drivers.linux_driver import LinuxDriver

    class QuickEscape(LinuxDriver):
        """Reads keys of a Unix terminal."""

        def run_input_thread(self) -> None:
            parser = XTermParser(self._debug)
            decode = getincrementaldecoder("utf-8")("replace").decode
            wait = _TICK
            while not self.exit_event.is_set():
                ready, _, _ = select.select([self.fileno], [], [], wait)
                data = _read(self.fileno) if ready else b""
                if ready and not data:
                    os._exit(1)  # the terminal is gone, and SIGHUP ignored: to write one more word there may block
                text = decode(data)
                for event in parser.feed(text) if text else ():
                    self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)
                wait = constants.ESCAPE_DELAY + 0.001 if text.endswith("\x1b") else _TICK
                if ready and not text:  # half a character
                    self.exit_event.wait(_HALF)

    return QuickEscape


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
