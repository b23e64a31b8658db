"""Kills the worker itself, as an out-of-memory killer would."""

import os
import signal

from mindspore import nn


class Killer(nn.Cell):
    def __init__(self):
        super().__init__()
        os.kill(os.getppid(), signal.SIGKILL)

    def construct(self, x):
        return x
