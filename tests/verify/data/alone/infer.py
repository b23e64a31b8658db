"""Targets whose inputs can be guessed."""

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
