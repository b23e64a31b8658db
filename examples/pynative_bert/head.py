"""Pooling and classification."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn


class MeanPooler(nn.Cell):
    """Mean of the real tokens: `(batch, seq, hidden)` and its mask -> `(batch, hidden)`."""

    def construct(self, hidden, mask):
        weight = mask.astype(ms.float32).expand_dims(-1)
        # A row of nothing but padding would divide by zero.
        count = np.maximum(weight.sum(axis=1).asnumpy(), 1.0)
        return (hidden * weight).sum(axis=1) / Tensor(count)


class ClassifierHead(nn.Cell):
    """A residual MLP of `layer_num` layers and a linear classifier with a temperature.

    The depth is an argument of the call, so that the same head can be probed at several depths.
    """

    def __init__(self, hidden_size=64, num_labels=4):
        super().__init__()
        self.hidden_size = hidden_size
        self.classifier = nn.Dense(hidden_size, num_labels)

    def construct(self, pooled, layer_num):
        x = pooled
        for _ in range(layer_num):
            x = x + nn.Dense(self.hidden_size, self.hidden_size, weight_init="normal", activation="tanh")(x)
        temperature = Parameter(Tensor([0.5], ms.float32), name="temperature")
        return self.classifier(x) / temperature
