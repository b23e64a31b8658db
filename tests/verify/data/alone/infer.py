"""Targets whose inputs can be guessed."""

from dataclasses import dataclass
from typing import Optional

import mindspore as ms
from mindspore import nn, ops


class Mlp(nn.Cell):
    def __init__(self, width: int, rate: float, bias: bool, depth=2):
        super().__init__()
        self.first = nn.Dense(width, 6, has_bias=bias)
        self.layers = nn.CellList([nn.Dense(6, 6) for _ in range(depth)])
        self.rate = rate

    def construct(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x) * self.rate
        return x


class Convolution(nn.Cell):
    def __init__(self, in_channels: int = 3):
        super().__init__()
        self.convolution = nn.Conv2d(in_channels, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Dense(4, 2)

    def construct(self, x):
        x = self.norm(self.convolution(x))
        return self.head(x.mean((2, 3)))


class Tokens(nn.Cell):
    def __init__(self, vocab_size: int, hidden_size: int):
        super().__init__()
        self.table = nn.Embedding(vocab_size, hidden_size)
        self.norm = nn.LayerNorm((hidden_size,))

    def construct(self, ids, mask):
        return self.norm(self.table(ids)) * ops.expand_dims(mask.astype("float32"), -1)


class Loss(nn.Cell):
    def construct(self, logits, labels):
        return ops.cross_entropy(logits, labels)


def combine(a, b, times: int = 2):
    return (a + b) * times


class Repeats(nn.Cell):
    def __init__(self, width: int):
        super().__init__()
        self.layer = nn.Dense(width, width)

    def construct(self, x, times):
        for _ in range(times):
            x = self.layer(x)
        return x


class Deep(nn.Cell):
    """What its arguments are only shows in the Cells that it hands them to."""

    def __init__(self, hidden_size=8):
        super().__init__()
        self.attention = Attention(hidden_size, 2)
        self.repeats = Repeats(hidden_size)

    def construct(self, states, mask, depth):
        return self.repeats(self.attention(states, mask), depth)


class Attention(nn.Cell):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Dense(hidden_size, hidden_size)

    def construct(self, x, mask):
        batch, length, width = x.shape
        heads = self.query(x).reshape(batch, length, self.num_heads, width // self.num_heads).swapaxes(1, 2)
        scores = ops.matmul(heads, heads.swapaxes(2, 3)) + (1.0 - mask.reshape(batch, 1, 1, length)) * -10000.0
        return ops.matmul(ops.softmax(scores, -1), heads).swapaxes(1, 2).reshape(batch, length, width)


class Smoothed(nn.Cell):
    """Without layers, its widths are among its attributes."""

    def __init__(self, num_labels=5):
        super().__init__()
        self.num_labels = num_labels

    def construct(self, logits, labels):
        target = ops.one_hot(labels, self.num_labels, ops.cast(0.9, ms.float32), ops.cast(0.1, ms.float32))
        return -(target * ops.log_softmax(logits, -1)).sum(-1).mean()


class Selects(nn.Cell):
    def construct(self, condition, x, y):
        return ops.where(condition, x, y)


class PicksLayer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(3, 3), nn.Dense(3, 3)])

    def construct(self, x, i):
        return self.layers[i](x)


class Options(nn.Cell):
    def construct(self, x, options):
        return x * options["scale"] + options["shift"]


class Pairs(nn.Cell):
    def construct(self, pair):
        first, second = pair
        return first * second


class CountsDown(nn.Cell):
    def construct(self, x, n):
        while n > 0:
            x = x * 2
            n = n - 1
        return x


class Windows(nn.Cell):
    """From a sequence back to an image, whose size is an argument."""

    def construct(self, x, size):
        batch, _, channels = x.shape
        height, width = size
        return x.transpose(0, 2, 1).reshape(batch, channels, height, width)


class Either(nn.Cell):
    def construct(self, input_ids=None, states=None):
        if input_ids is None and states is None:
            raise ValueError("give input_ids or states")
        return states if input_ids is None else input_ids


@dataclass
class Settings:
    width: int
    act: str = "relu"
    name: Optional[str] = None


class Configured(nn.Cell):
    def __init__(self, settings: Settings, kernel_size: "tuple[int, int]", norm: Optional[nn.Cell], has_bias):
        super().__init__()
        self.convolution = nn.Conv2d(settings.width, 4, kernel_size, has_bias=has_bias)
        self.norm = norm
        self.act = nn.get_activation(settings.act)

    def construct(self, x):
        return self.norm(self.act(self.convolution(x)))


class Patches(nn.Cell):
    """Takes images of one size only."""

    def __init__(self, image_size=(24, 24), patch_size=8):
        super().__init__()
        self.image_size = image_size
        self.projection = nn.Conv2d(3, 4, patch_size, patch_size)

    def construct(self, x):
        if x.shape[2:] != self.image_size:
            raise ValueError("another size")
        return self.projection(x).flatten(start_dim=2)
