"""What the errors of failed attempts say about the tensors of the next: numbers that may be widths, and ranks."""

from __future__ import annotations

import re

_RANKS = (
    (re.compile(r"\b([1-6])-?[dD]\b"), 0),
    (re.compile(r"unpack \(expected ([2-6])"), 0),
    (re.compile(
        r"(?:rank|dims?|dimensions?|shape size|ndim)\b[^.;\d]{0,50}?\b(?:be|equal to|is|in)\b[^.;\d]{0,20}([1-6])\b"
    ), 0),
    (re.compile(r"range (?:of )?\[-([1-5])\b"), 1),
    (re.compile(r"too many indices for tensor of dimension ?([1-5])"), 1),
)  # fmt: skip
"""Pattern -> what is added to the number that it finds."""

_NUMBER = re.compile(r"(?<![\w.])(\d{1,4})(?![\w.]|\.\d)")
_MOST = 6  # of each


class Hints:
    """`sizes` and `ranks` in the order in which they came up."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.ranks: list[int] = []
        self._seen = (0, 0)

    def learn(self, text: str) -> None:
        """Take over what the message of an error tells."""
        text = text.split("\n----")[0][:1000]
        for pattern, more in _RANKS:
            for number in pattern.findall(text):
                _add(self.ranks, int(number) + more)
        for number in _NUMBER.findall(text):
            if int(number) > 1:
                _add(self.sizes, int(number))

    def fresh(self) -> bool:
        """Whether there is more than when this was asked last."""
        now = (len(self.sizes), len(self.ranks))
        known, self._seen = self._seen, now
        return now != known


def _add(numbers: list[int], number: int) -> None:
    if number not in numbers and len(numbers) < _MOST:
        numbers.append(number)
