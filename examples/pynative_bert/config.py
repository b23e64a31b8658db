"""Hyperparameters of the classifier."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BertConfig:
    """A model small enough to train on a laptop CPU in a few seconds."""

    vocab_size: int = 512
    hidden_size: int = 64
    num_heads: int = 4
    num_layers: int = 2
    intermediate_size: int = 128
    pooler_layers: int = 2
    num_labels: int = 4
    seq_length: int = 24
    dropout: float = 0.1
    label_smoothing: float = 0.1

    num_examples: int = 250
    batch_size: int = 32
    epochs: int = 3
    learning_rate: float = 3e-3
