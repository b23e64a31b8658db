"""Targets whose constructor or inputs can only be guessed from what the source does, says or shows."""

import mindspore as ms
from mindspore import nn, ops


class GlassConfig:
    """Wide and deep by default, with numbers that depend on each other."""

    def __init__(self, hidden_size=1024, num_attention_heads=16, num_hidden_layers=12, hidden_act="gelu"):
        if hidden_size % num_attention_heads:
            raise ValueError("the heads do not fit")
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.num_hidden_layers = num_hidden_layers
        self.hidden_act = hidden_act


class SandConfig:
    def __init__(self, grains=5):
        self.grains = grains


class GlassLayer(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.dense = nn.Dense(config.hidden_size, config.hidden_size)

    def construct(self, x, cosine, sine):
        if cosine.shape[-1] != x.shape[-1] // self.heads:
            raise ValueError("not for this width")
        batch, length, width = x.shape
        x = self.dense(x).reshape(batch, length, self.heads, width // self.heads)
        return (x * (cosine + sine)).reshape(batch, length, width)


class GlassModel(nn.Cell):
    """What its layers get besides the states is only known here."""

    def __init__(self, config):
        super().__init__()
        self.width = config.hidden_size // config.num_attention_heads
        self.layers = nn.CellList([GlassLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = nn.LayerNorm((config.hidden_size,))

    def construct(self, x):
        angles = ops.arange(self.width).astype(ms.float32)
        for layer in self.layers:
            x = layer(self.norm(x), ops.cos(angles), ops.sin(angles))
        return x


class Handful(nn.Cell):
    """`opt` has no class; what is read from it says what it must have."""

    def __init__(self, opt):
        super().__init__()
        self.dense = nn.Dense(opt.in_features, opt.out_features)

    def construct(self, x):
        return self.dense(x)


class Chooses(nn.Cell):
    def __init__(self, dim, mode):
        super().__init__()
        if mode not in ("mean", "sum"):
            raise ValueError("another mode")
        self.mean = mode == "mean"
        self.dense = nn.Dense(dim, dim)

    def construct(self, x):
        x = self.dense(x)
        return x.mean() if self.mean else x.sum()


class Stages(nn.Cell):
    """A width for each stage."""

    def __init__(self, widths):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(a, b) for a, b in zip(widths[:-1], widths[1:])])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Indexed(nn.Cell):
    """That `plan` is a sequence of three shows only when it is used."""

    def __init__(self, plan):
        super().__init__()
        self.dense = nn.Dense(third(plan), 4)

    def construct(self, x):
        return self.dense(x)


def third(numbers):
    alias = numbers
    return alias[2]


class Grouped(nn.Cell):
    """32 groups: the widths that are tried first do not do."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(32, channels)

    def construct(self, x):
        return self.norm(x)


class Forwards(Chooses):
    """Hands on what it does not name."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)


class Demanding(nn.Cell):
    """
    >>> cell = Demanding(7, name="seven")
    >>> cell(ops.ones((2, 7)))
    """

    def __init__(self, count, name):
        super().__init__()
        if (count, name) != (7, "seven"):
            raise ValueError("something else")
        self.dense = nn.Dense(count, 2)

    def construct(self, x):
        return self.dense(x)


class Deeper(nn.Cell):
    """Says by an error which rank it wants."""

    def construct(self, x):
        if x.ndim != 5:
            raise ValueError("x must be 5D")
        return x * 2


class Described(nn.Cell):
    def construct(self, volume):
        """
        Args:
            volume (Tensor): what is scanned, of shape (batch, channels, depth, height, width).
        """
        if volume.ndim != 5:
            raise ValueError("no volume")
        return volume + 1


class Optionally(nn.Cell):
    """`scale` may be left out by its signature, not by what it does."""

    def construct(self, x, scale=None):
        return x * scale.mean()


class Product(nn.Cell):
    def __init__(self, factory, depth):
        super().__init__()
        if depth != 11:
            raise ValueError("only factories know")
        self.layer = factory(3)

    def construct(self, x):
        return self.layer(x)


def product():
    return Product(lambda width: nn.Dense(width, width), 11)


class Joins(nn.Cell):
    def construct(self, parts):
        return ops.concat(parts, 1)


class Exact(nn.Cell):
    """The length that it wants is in its error."""

    def __init__(self, channels=6):
        super().__init__()
        self.convolution = nn.Conv1d(channels, 4, 3)

    def construct(self, x):
        if x.shape[-1] != 40:
            raise ValueError(f"expects a length of 40, found {x.shape[-1]}")
        return self.convolution(x)


class PictureConfig:
    def __init__(self, image_size=(12, 20)):
        self.image_size = image_size


class Pictures(nn.Cell):
    """Only its configuration knows the size of the images."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.size = tuple(config.image_size)
        self.convolution = nn.Conv2d(3, 4, 3)

    def construct(self, x):
        if x.shape[2:] != self.size:
            raise ValueError("another size")
        return self.convolution(x)


class Residual(nn.Cell):
    """Adds what it gets to four times the channels: only the sum says that `in_channels` is wider than `channels`."""

    def __init__(self, in_channels, channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, channels * 4, 1)

    def construct(self, x):
        return self.conv(x) + x


class Mapped(nn.Cell):
    """Takes the features of several stages as a mapping."""

    def construct(self, features):
        stages = features
        total = 0
        for stage in stages.values():
            total = total + stage
        return total
