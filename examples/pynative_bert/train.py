"""Trains the classifier: `python train.py`, or `python train.py --jit` to compile the whole step.

In PyNative this runs as it is. `--jit` asks MindSpore to compile forward, loss, gradients and update as one graph.
"""

import argparse
import time

import mindspore as ms
from mindspore import nn

from config import BertConfig
from data import create_dataset
from model import BertClassifier


def build(config):
    """The network and a function `train_step(input_ids, mask, labels) -> (loss, logits)` that updates it."""
    net = BertClassifier(
        config.vocab_size,
        config.hidden_size,
        config.num_heads,
        config.intermediate_size,
        config.num_layers,
        config.num_labels,
        config.dropout,
        config.label_smoothing,
    )
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=config.learning_rate)

    def forward(input_ids, mask, labels):
        return net(input_ids, mask, labels, config.pooler_layers)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    def train_step(input_ids, mask, labels):
        (loss, logits), grads = grad_fn(input_ids, mask, labels)
        optimizer(grads)
        return loss, logits

    return net, train_step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jit", action="store_true", help="compile the training step")
    parser.add_argument("--epochs", type=int, default=BertConfig.epochs)
    args = parser.parse_args()

    ms.set_seed(1)
    config = BertConfig(epochs=args.epochs)
    dataset = create_dataset(config)
    _, train_step = build(config)
    if args.jit:
        train_step = ms.jit(train_step)

    for epoch in range(config.epochs):
        started = time.perf_counter()
        losses, hits, rows = [], 0, 0
        for input_ids, mask, labels in dataset.create_tuple_iterator():
            loss, logits = train_step(input_ids, mask, labels)
            losses.append(float(loss.asnumpy()))
            hits += int((logits.asnumpy().argmax(axis=1) == labels.asnumpy()).sum())
            rows += labels.shape[0]
        seconds = time.perf_counter() - started
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.4f}  accuracy {hits / rows:.3f}  {seconds:.1f} s")


if __name__ == "__main__":
    main()
