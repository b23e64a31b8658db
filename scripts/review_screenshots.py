"""Draws docs/images/review-*.svg with the real program: `python scripts/review_screenshots.py [PYTHON]`, where PYTHON
has MindSpore."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from graphward.config import Config
from graphward.review.checking import Checker
from graphward.review.screen.app import ReviewApp
from graphward.review.session import Review, Ways

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
NETS = {
    "attention.py": '''import numpy as np
from mindspore import Tensor, nn, ops


class Attention(nn.Cell):
    """Scores of one head, scaled by the size of a key."""

    def construct(self, query: Tensor, key: Tensor, mask=None, bias=None):
        if (mask is None) ^ (bias is None):
            query = query * 2
        scale = np.sqrt(key.shape[-1])
        scores = ops.matmul(query, key.transpose(0, 1)) / scale
        weights = Tensor(np.exp(scores.asnumpy()))
        return weights / weights.sum(-1, keepdims=True)
''',
    "norm.py": '''import numpy as np
from mindspore import Tensor, nn


class Norm(nn.Cell):
    """Rows of length one. 归一化"""

    def construct(self, x: Tensor):
        length = Tensor(np.sqrt(np.sum(np.square(x.asnumpy()), axis=-1, keepdims=True)))
        return x / length
''',
}


def begin(folder: Path, python: str) -> ReviewApp:
    """A review of the files in `folder`, which is the working folder."""
    review = Review(Checker([Path()], replace(Config(root=folder), python=python)), None, Ways())
    review.begin(review.checker.first()[0])
    return ReviewApp(review, lambda written: None)


async def draw(app: ReviewApp, name: str, size: tuple[int, int], *keys: str) -> None:
    """Press the keys, wait until nothing goes on in the background, and draw the screen."""
    async with app.run_test(size=size) as pilot:
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.3)
            while app.busy:
                await pilot.pause(0.1)
        await pilot.pause(0.5)
        (IMAGES / f"review-{name}.svg").write_text(app.export_screenshot(title="graphward review"), encoding="utf-8")


async def main(python: str) -> None:
    """All screenshots."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in NETS.items():
            (folder / name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        IMAGES.mkdir(exist_ok=True)
        await draw(begin(folder, python), "wide", (170, 40), "a", "y", "V", "home", *["down"] * 3)
        await draw(begin(folder, python), "small", (80, 24), "j", "j", "tab")
        await draw(begin(folder, python), "filter", (100, 28), "n", "slash", *"fix:safe state:open")
        await draw(begin(folder, python), "help", (90, 36), "question_mark")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else ""))
