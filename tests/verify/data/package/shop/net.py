from mindspore import nn

from shop import ORIGIN

from . import ORIGIN as SAME
from .parts.block import Block


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        if ORIGIN != "tree" or SAME != "tree":
            raise ImportError("an installed copy was imported")
        self.block = Block()

    def construct(self, x):
        return self.block(x)
