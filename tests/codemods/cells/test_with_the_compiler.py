"""What only MindSpore can say: too many layers fail loudly, and the table of layers tells the truth."""

from __future__ import annotations

import ast
import json
import subprocess

import pytest

from graphward.verify.jobs import Job, Options
from graphward.verify.targets import Target
from graphward_codemods.cells import _layers

from .specimen import fixed, write

# Constructor calls of layers with parameters; the table must know their parameters and which of them are random.
CALLS = """
nn.Dense(4, 4)
nn.Dense(4, 4, has_bias=False)
nn.Dense(4, 4, "ones", "zeros")
nn.Dense(4, 4, weight_init="ones")
nn.Linear(4, 4)
nn.Linear(4, 4, bias=False)
nn.Conv1d(4, 4, 2)
nn.Conv2d(4, 4, 2)
nn.Conv2d(4, 4, 2, has_bias=True)
nn.Conv2dTranspose(4, 4, 2)
nn.Embedding(5, 4)
nn.Embedding(5, 4, False, "zeros")
nn.EmbeddingLookup(5, 4)
nn.BatchNorm1d(4)
nn.BatchNorm2d(4)
nn.InstanceNorm2d(4)
nn.LayerNorm((4,))
nn.GroupNorm(2, 4)
nn.LSTM(4, 4)
nn.GRUCell(4, 4)
nn.PReLU()
nn.ReLU()
nn.Dropout(p=0.5)
nn.CrossEntropyLoss()
nn.MaxPool2d(2)
mint.nn.Linear(4, 4)
mint.nn.Conv2d(4, 4, 2)
mint.nn.Embedding(5, 4)
mint.nn.LayerNorm((4,))
mint.nn.BatchNorm2d(4)
mint.nn.GELU()
""".strip().splitlines()

PROBE = """
import json, sys
import numpy as np
import mindspore as ms
from mindspore import mint, nn


def values(call, seed):
    ms.set_seed(seed)
    np.random.seed(seed)
    return {p.name: p.asnumpy() for p in eval(call).get_parameters()}


found = {}
for call in json.loads(sys.argv[1]):
    first, second = values(call, 1), values(call, 2)
    found[call] = {name: not np.array_equal(value, second[name]) for name, value in first.items()}
print("RESULT" + json.dumps(found))
"""


def test_the_table_of_layers_tells_the_truth(mindspore_python):
    run = subprocess.run([mindspore_python, "-c", PROBE, json.dumps(CALLS)], capture_output=True, text=True, check=True)
    truth = json.loads(run.stdout.partition("RESULT")[2])
    assert len(truth) == len(CALLS)
    for call, weights in truth.items():
        node = ast.parse(call, mode="eval").body
        assert isinstance(node, ast.Call)
        known = _layers.layer(f"mindspore.{ast.unparse(node.func)}")
        assert known is not None, call
        assert dict(_layers.weights_of(known, node)) == weights, call


@pytest.mark.parametrize(("count", "verdict"), [("3", "verified"), ("5", "fails")])
def test_more_layers_than_the_bound_fail_loudly(tmp_path, session, count, verdict):
    original, rewritten = tmp_path / "original", tmp_path / "rewritten"
    original.mkdir()
    rewritten.mkdir()
    body = """
        class Net(nn.Cell):
            def construct(self, x, depth=4):
                for _ in range(depth):
                    x = nn.Dense(4, 4)(x)
                return x
        """
    _, texts = fixed(original, net=body)
    write(rewritten, net=texts["net"])
    target = Target(original, "net.py", "Net")
    options = Options(as_it_stands=False)
    job = Job.of(target, id=count, rewritten=rewritten, inputs=["f32[2,4]", count], options=options)
    [found] = session.prove([job])
    assert found.verdict == verdict, found.message
    if verdict == "fails":
        assert "IndexError" in str(found.to_json()), found.message
