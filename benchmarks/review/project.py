"""A project with as many findings as asked for: safe fixes, unsafe ones with alternatives, and ones that mend two."""

from __future__ import annotations

from pathlib import Path

_HEAD = '''"""Layers of model {number}."""

import numpy as np
from mindspore import Tensor, nn

'''
_NET = '''
class Net{number}(nn.Cell):
    """One of many."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.dense = nn.Dense(width, width)

    def construct(self, x: Tensor, mask=None):
        y = x.transpose(0, 1)  # \u8f6c\u7f6e
        if (x is None) ^ (mask is None):
            y = self.dense(y)
        z = Tensor(np.tanh(np.abs(x.asnumpy())))
        return y + z

'''
FOUND_IN_EACH = 4
"""Findings in one class."""


def make(folder: Path, findings: int, files: int) -> None:
    """Write `files` modules that hold about `findings` findings together."""
    classes = max(1, round(findings / files / FOUND_IN_EACH))
    for number in range(files):
        text = _HEAD.format(number=number) + "".join(_NET.format(number=n) for n in range(classes))
        (folder / f"model_{number:04}.py").write_text(text, encoding="utf-8")
