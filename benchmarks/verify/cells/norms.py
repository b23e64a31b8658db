"""Normalisation and pooling by hand."""

from __future__ import annotations

from mindspore import Parameter, Tensor, nn, ops


class RmsNorm(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(ops.ones(8))

    def construct(self, x: Tensor) -> Tensor:
        scale = ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-6)
        return x * scale * self.weight


class LayerNorm(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        mean = x.mean(-1, keep_dims=True)
        centred = x - mean
        return centred * ops.rsqrt(ops.square(centred).mean(-1, keep_dims=True) + 1e-6)


class UnitLength(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x / ops.sqrt(ops.square(x).sum(-1, keepdims=True) + 1e-6)


class MinMax(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        low = x.min(-1, keepdims=True)
        high = x.max(-1, keepdims=True)
        return (x - low) / (high - low + 1e-6)


class Standard(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return (x - x.mean(0, keep_dims=True)) / (ops.sqrt(ops.square(x).mean(0, keep_dims=True)) + 1e-6)


class MeanPool(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x.mean(1)


class MaxPool(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.amax(x, 1)


class Scaled(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(ops.ones(8))
        self.bias = Parameter(ops.zeros(8))

    def construct(self, x: Tensor) -> Tensor:
        return x * self.weight + self.bias


class Centred(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x - x.mean(1, keep_dims=True)


class LogSumExp(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        top = ops.stop_gradient(x.max(-1, keepdims=True))
        return top + ops.log(ops.exp(x - top).sum(-1, keepdims=True))
