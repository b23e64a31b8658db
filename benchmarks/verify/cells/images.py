"""Small pieces of vision models."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class Convolution(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.conv(x))


class Pointwise(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)

    def construct(self, x: Tensor) -> Tensor:
        return self.conv(x)


class Squeeze(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x: Tensor) -> Tensor:
        scale = ops.sigmoid(self.dense(x.mean((2, 3))))
        return x * scale.reshape(scale.shape[0], 3, 1, 1)


class GlobalPool(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x.mean((2, 3))


class Patches(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        return x.reshape(batch, channels, height * width).swapaxes(1, 2)


class Flat(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(108, 5)

    def construct(self, x: Tensor) -> Tensor:
        return self.dense(x.reshape(x.shape[0], -1))


class Pooling(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x: Tensor) -> Tensor:
        return self.pool(x)


class Doubled(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.concat((x, ops.flip(x, (3,))), 1)


class Subpixel(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        y = x.reshape(batch, channels, height // 2, 2, width // 2, 2)
        return y.mean((3, 5))


class Edges(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.abs(x[:, :, 1:] - x[:, :, :-1])
