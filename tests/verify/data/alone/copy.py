"""A script with the name of a standard module that MindSpore uses."""

from mindspore import nn


class Copies(nn.Cell):
    def construct(self, x):
        return x + 1
