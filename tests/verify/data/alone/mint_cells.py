"""Cells that need kernels which CPU lacks, and such as draw random numbers."""

import mindspore as ms
from mindspore import mint, nn, ops

F = mint.nn.functional


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = mint.nn.LayerNorm(8)
        self.proj = mint.nn.Linear(8, 8)
        self.conv = mint.nn.Conv2d(2, 4, 3, padding=1)

    def construct(self, x, image):
        hidden = self.norm(x).clone()
        left, right = F.gelu(self.proj(hidden)).chunk(2, dim=-1)
        return mint.stack((left + mint.arange(4, dtype=ms.float32), right)), self.conv(image)


class OwnClone(nn.Cell):
    def clone(self, x):
        return x * 2

    def construct(self, x):
        return self.clone(x)


class NamesAlike(nn.Cell):
    """Methods of the user's own that are called as those of Tensor are."""

    def __init__(self):
        super().__init__()
        self.own = OwnClone()

    def construct(self, x):
        return self.own.clone(x) + mint.clone(x) + x.clone()


class Initialised(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ops.ones((3,)))
        self.weight.normal_(0, 0.02)

    def construct(self, x):
        return x * self.weight


class FillsInside(nn.Cell):
    def construct(self, x):
        y = x * 1
        y.fill_(2.0)
        return y + x


class Noise(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(p=0.5)
        self.old = ops.Dropout(keep_prob=0.5)

    def construct(self, x):
        dropped, _ = self.old(x + ops.standard_normal(x.shape) + mint.randn(x.shape))
        return self.dropout(dropped) + ops.dropout(x, 0.3)


class NoisyAndWrong(nn.Cell):
    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        self.seen.append(1)
        return x + ops.standard_normal(x.shape) * len(self.seen)
