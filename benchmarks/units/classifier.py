"""What is measured: a 12-layer encoder of width 256 with a head and a loss, in one graph."""

from __future__ import annotations

from typing import Any

from mindspore import jit, nn, ops


class Attention(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.output = nn.Dense(width, width)

    def split(self, x: Any) -> Any:
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).swapaxes(1, 2)

    def construct(self, x: Any) -> Any:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weight = ops.softmax(ops.matmul(query, key.swapaxes(2, 3)) * self.scale)
        return self.output(ops.matmul(weight, value).swapaxes(1, 2).reshape(x.shape))


class Block(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.expand = nn.Dense(width, 4 * width)
        self.contract = nn.Dense(4 * width, width)
        self.norm1 = nn.LayerNorm((width,))
        self.norm2 = nn.LayerNorm((width,))

    def construct(self, x: Any) -> Any:
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.contract(ops.gelu(self.expand(x))))


class Encoder(nn.Cell):
    def __init__(self, words: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.CellList([Block(width, heads) for _ in range(layers)])

    def construct(self, ids: Any) -> Any:
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return x


class Head(nn.Cell):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.dense = nn.Dense(width, width)
        self.classifier = nn.Dense(width, classes)

    def construct(self, hidden: Any) -> Any:
        return self.classifier(ops.tanh(self.dense(hidden.mean(1))))


class Classifier(nn.Cell):
    def __init__(
        self, words: int = 1000, width: int = 256, heads: int = 4, layers: int = 12, classes: int = 8
    ) -> None:
        super().__init__()
        self.encoder = Encoder(words, width, heads, layers)
        self.head = Head(width, classes)
        self.loss = nn.CrossEntropyLoss()

    @jit
    def construct(self, ids: Any, labels: Any) -> Any:
        hidden = self.encoder(ids)
        logits = self.head(hidden)
        return self.loss(logits, labels)
