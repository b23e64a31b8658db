"""The stack of transformer blocks."""

from mindspore import nn

from layers import Embeddings, FeedForward, SelfAttention


class EncoderLayer(nn.Cell):
    """One post-norm transformer block over `(batch, seq, hidden)`."""

    def __init__(self, hidden_size=64, num_heads=4, intermediate_size=128):
        super().__init__()
        self.hidden_size = hidden_size
        self.attention = SelfAttention(hidden_size, num_heads)
        self.feed_forward = FeedForward(hidden_size, intermediate_size)

    def construct(self, x, mask):
        x = nn.LayerNorm((self.hidden_size,))(x + self.attention(x, mask))
        x = nn.LayerNorm((self.hidden_size,))(x + self.feed_forward(x))
        return x


class BertEncoder(nn.Cell):
    """Embeddings and `num_layers` blocks: int `(batch, seq)` -> float32 `(batch, seq, hidden)`."""

    def __init__(self, vocab_size=512, hidden_size=64, num_heads=4, intermediate_size=128, num_layers=2, dropout=0.1):
        super().__init__()
        self.embeddings = Embeddings(vocab_size, hidden_size, dropout)
        self.layers = [EncoderLayer(hidden_size, num_heads, intermediate_size) for _ in range(num_layers)]

    def construct(self, input_ids, mask):
        x = self.embeddings(input_ids)
        for layer in self.layers:
            x = layer(x, mask)
        return x
