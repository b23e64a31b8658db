"""Pieces of attention."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class Scores(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(x, x.swapaxes(1, 2)) / 2.0


class SelfAttention(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        weights = ops.softmax(ops.matmul(x, x.swapaxes(1, 2)), -1)
        return ops.matmul(weights, x)


class Projected(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Dense(8, 8)
        self.k = nn.Dense(8, 8)
        self.v = nn.Dense(8, 8)

    def construct(self, x: Tensor) -> Tensor:
        q, k, v = self.q(x), self.k(x), self.v(x)
        return ops.matmul(ops.softmax(ops.matmul(q, k.swapaxes(1, 2)), -1), v)


class Heads(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        y = x.reshape(batch, length, 2, width // 2).swapaxes(1, 2)
        return y.swapaxes(1, 2).reshape(batch, length, width)


class Masked(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        scores = ops.matmul(x, x.swapaxes(1, 2))
        return ops.softmax(ops.where(scores > 0.0, scores, ops.full_like(scores, -1e4)), -1)


class Linear(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        key = ops.softmax(x, 1)
        return ops.matmul(ops.softmax(x, -1), ops.matmul(key.swapaxes(1, 2), x))


class Pooled(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Dense(8, 1)

    def construct(self, x: Tensor) -> Tensor:
        weights = ops.softmax(self.score(x), 1)
        return (weights * x).sum(1)


class Rotated(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        a, b = x[..., :4], x[..., 4:]
        return ops.concat((-b, a), -1)


class Shifted(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.concat((x[:, 1:], x[:, :1]), 1)


class Relative(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x.expand_dims(1) - x.expand_dims(2)
