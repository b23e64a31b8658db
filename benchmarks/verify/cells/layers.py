"""Small stacks of layers."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class Mlp(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(8, 16)
        self.second = nn.Dense(16, 4)

    def construct(self, x: Tensor) -> Tensor:
        return self.second(ops.relu(self.first(x)))


class Residual(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(8, 8)

    def construct(self, x: Tensor) -> Tensor:
        return x + self.dense(x)


class Gated(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Dense(8, 8)
        self.gate = nn.Dense(8, 8)

    def construct(self, x: Tensor) -> Tensor:
        return self.up(x) * ops.sigmoid(self.gate(x))


class Bottleneck(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Dense(8, 2)
        self.up = nn.Dense(2, 8)

    def construct(self, x: Tensor) -> Tensor:
        return x + self.up(ops.tanh(self.down(x)))


class Stack(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8) for _ in range(3)])

    def construct(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = ops.relu(layer(x))
        return x


class Sequence(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(8, 8), nn.ReLU(), nn.Dense(8, 2))

    def construct(self, x: Tensor) -> Tensor:
        return self.body(x)


class Normed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((8,))
        self.dense = nn.Dense(8, 8)

    def construct(self, x: Tensor) -> Tensor:
        return self.dense(self.norm(x))


class Highway(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(8, 8)
        self.gate = nn.Dense(8, 8)

    def construct(self, x: Tensor) -> Tensor:
        gate = ops.sigmoid(self.gate(x))
        return gate * self.dense(x) + (1.0 - gate) * x


class TwoHeads(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Dense(8, 3)
        self.right = nn.Dense(8, 5)

    def construct(self, x: Tensor) -> Tensor:
        return ops.concat((self.left(x), self.right(x)), -1)


class Tied(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(8, 4, has_bias=False)

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(self.dense(x), self.dense.weight)
