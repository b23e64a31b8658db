"""Activations written out."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class Silu(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * ops.sigmoid(x)


class Gelu(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return 0.5 * x * (1.0 + ops.tanh(0.79788456 * (x + 0.044715 * x * x * x)))


class QuickGelu(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * ops.sigmoid(1.702 * x)


class Mish(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * ops.tanh(ops.log(1.0 + ops.exp(x)))


class HardSwish(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * ops.clamp(x + 3.0, 0.0, 6.0) / 6.0


class LeakyRelu(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.maximum(x, 0.1 * x)


class SquaredRelu(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        y = ops.relu(x)
        return y * y


class Softplus(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.log(1.0 + ops.exp(x))


class Glu(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        a, b = ops.chunk(x, 2, -1)
        return a * ops.sigmoid(b)


class Threshold(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.where(x > 0.5, x, ops.zeros_like(x))
