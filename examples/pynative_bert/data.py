"""A synthetic topic-classification set: every topic prefers its own slice of the vocabulary."""

import mindspore.dataset as ds
import numpy as np

PAD, CLS, FIRST_WORD = 0, 1, 2


class TopicSentences:
    """Random-access source of `(input_ids, attention_mask, label)` rows.

    A sentence starts with CLS, has between half and all of `seq_length` tokens, and is padded with PAD. Six words
    in ten come from the topic's own slice of the vocabulary, the rest from anywhere.
    """

    def __init__(self, config, seed=0):
        rng = np.random.default_rng(seed)
        words = config.vocab_size - FIRST_WORD
        slice_size = words // config.num_labels
        self.rows = []
        for _ in range(config.num_examples):
            label = rng.integers(config.num_labels)
            length = rng.integers(config.seq_length // 2, config.seq_length)
            on_topic = rng.random(length) < 0.6
            own = FIRST_WORD + label * slice_size + rng.integers(slice_size, size=length)
            other = FIRST_WORD + rng.integers(words, size=length)
            ids = np.full(config.seq_length, PAD, np.int32)
            ids[0] = CLS
            ids[1 : length + 1] = np.where(on_topic, own, other)[: config.seq_length - 1]
            self.rows.append((ids, (ids != PAD).astype(np.int32), np.int32(label)))

    def __getitem__(self, index):
        return self.rows[index]

    def __len__(self):
        return len(self.rows)


def create_dataset(config, seed=0, shuffle=True):
    """Batches of `input_ids` and `attention_mask`, int32 `(batch, seq)`, and `label`, int32 `(batch,)`.

    250 rows do not divide by 32, so the last batch of every epoch has 26 rows.
    """
    source = TopicSentences(config, seed)
    dataset = ds.GeneratorDataset(source, column_names=["input_ids", "attention_mask", "label"], shuffle=shuffle)
    return dataset.batch(config.batch_size)
