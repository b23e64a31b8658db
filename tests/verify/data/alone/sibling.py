"""A script that imports the file next to it, and has the name of nothing else."""

from good import Dense

from mindspore import nn


class Uses(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Dense(5)

    def construct(self, x):
        return self.inner(x)
