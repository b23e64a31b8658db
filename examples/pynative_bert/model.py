"""The whole model: encoder, pooling, head and loss behind one call."""

from mindspore import nn

from encoder import BertEncoder
from head import ClassifierHead, MeanPooler
from loss import SmoothedCrossEntropy


class BertClassifier(nn.Cell):
    """`input_ids`, `mask` int `(batch, seq)`, `labels` int `(batch,)` -> scalar loss and `(batch, labels)` logits."""

    def __init__(
        self,
        vocab_size=512,
        hidden_size=64,
        num_heads=4,
        intermediate_size=128,
        num_layers=2,
        num_labels=4,
        dropout=0.1,
        smoothing=0.1,
    ):
        super().__init__()
        self.encoder = BertEncoder(vocab_size, hidden_size, num_heads, intermediate_size, num_layers, dropout)
        self.pooler = MeanPooler()
        self.head = ClassifierHead(hidden_size, num_labels)
        self.loss = SmoothedCrossEntropy(num_labels, smoothing)

    def construct(self, input_ids, mask, labels, layer_num):
        hidden = self.encoder(input_ids, mask)
        logits = self.head(self.pooler(hidden, mask), layer_num)
        return self.loss(logits, labels), logits
