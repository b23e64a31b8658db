"""The pieces of one transformer block, ported from PyTorch line by line."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


def position_table(length, width):
    """Sinusoidal positions, float32 `(length, width)`: sines in the left half of the columns, cosines in the right."""
    rate = 1.0 / np.power(10000.0, np.arange(width // 2) / (width // 2))
    angle = np.outer(np.arange(length), rate)
    return Tensor(np.concatenate([np.sin(angle), np.cos(angle)], axis=1), ms.float32)


class Embeddings(nn.Cell):
    """Token plus position embedding, normalised: int `(batch, seq)` -> float32 `(batch, seq, hidden)`."""

    def __init__(self, vocab_size=512, hidden_size=64, dropout=0.1):
        super().__init__()
        self.hidden_size = hidden_size
        self.token = nn.Embedding(vocab_size, hidden_size)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, input_ids):
        x = self.token(input_ids) * np.sqrt(self.hidden_size)
        x = x + position_table(input_ids.shape[1], self.hidden_size)
        x = nn.LayerNorm((self.hidden_size,))(x)
        return self.dropout(x)


class SelfAttention(nn.Cell):
    """Multi-head self-attention over `(batch, seq, hidden)`; `mask` is 1 on real tokens, 0 on padding."""

    def __init__(self, hidden_size=64, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.head_size = hidden_size // num_heads
        self.query = nn.Dense(hidden_size, hidden_size)
        self.key = nn.Dense(hidden_size, hidden_size)
        self.value = nn.Dense(hidden_size, hidden_size)
        self.output = nn.Dense(hidden_size, hidden_size)

    def split_heads(self, x):
        batch, length, _ = x.shape
        return x.reshape(batch, length, self.num_heads, self.head_size).swapaxes(1, 2)

    def construct(self, x, mask):
        query = self.split_heads(self.query(x))
        key = self.split_heads(self.key(x))
        value = self.split_heads(self.value(x))

        scores = ops.BatchMatMul(transpose_b=True)(query, key) / np.sqrt(self.head_size)
        # Padding must not be attended to: push its scores far below the others.
        bias = np.where(mask.asnumpy() > 0, 0.0, -10000.0).astype(np.float32)
        scores = scores + Tensor(bias).reshape(mask.shape[0], 1, 1, mask.shape[1])
        probs = ops.Softmax(axis=-1)(scores)

        context = ops.BatchMatMul()(probs, value).swapaxes(1, 2)
        return self.output(context.reshape(x.shape))


class FeedForward(nn.Cell):
    """The position-wise block: expand, GELU, contract; keeps the shape `(batch, seq, hidden)`."""

    def __init__(self, hidden_size=64, intermediate_size=128):
        super().__init__()
        self.expand = nn.Dense(hidden_size, intermediate_size)
        self.contract = nn.Dense(intermediate_size, hidden_size)

    def construct(self, x):
        h = self.expand(x).asnumpy()
        # tanh approximation of GELU, as in the original BERT code
        h = 0.5 * h * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (h + 0.044715 * np.power(h, 3))))
        return self.contract(Tensor(h))
