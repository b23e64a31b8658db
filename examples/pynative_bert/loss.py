"""Cross entropy with smoothed labels."""

import numpy as np
from mindspore import Tensor, nn, ops


class SmoothedCrossEntropy(nn.Cell):
    """Mean cross entropy of float `(batch, labels)` logits against int `(batch,)` labels.

    The true label gets `1 - smoothing` of the target mass, the others share the rest.
    """

    def __init__(self, num_labels=4, smoothing=0.1):
        super().__init__()
        self.num_labels = num_labels
        self.on_value = 1.0 - smoothing
        self.off_value = smoothing / (num_labels - 1)

    def construct(self, logits, labels):
        is_true = np.expand_dims(labels.asnumpy(), 1) == np.arange(self.num_labels)
        target = Tensor(np.where(is_true, self.on_value, self.off_value).astype(np.float32))
        log_probs = ops.LogSoftmax(axis=-1)(logits)
        return -(target * log_probs).sum(axis=-1).mean()
