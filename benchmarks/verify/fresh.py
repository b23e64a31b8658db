"""The yardstick: what anybody would write to compare one Cell in PyNative and in Graph Mode, a process of its own.

`python fresh.py FILE CELL SHAPE`, as in `python fresh.py cells/layers.py Mlp 4,8`. The same work as a proof: three
calls of one instance, gradients with respect to the input and the parameters for two inputs, the state afterwards.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np


def load(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location("cells", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["cells"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def play(cell: Any, inputs: list[ms.Tensor], graph: bool) -> list[np.ndarray]:
    """Outputs, parameters and gradients."""
    call: Callable[..., Any] = ms.jit(cell.construct, fullgraph=True) if graph else cell
    found = [call(x).asnumpy() for x in (*inputs, inputs[0])]
    found += [parameter.asnumpy() for parameter in cell.get_parameters()]
    weights = ms.ParameterTuple(cell.trainable_params())
    gradient = ms.grad(lambda x: (call(x) * 0.7).sum(), 0, weights if len(weights) else None)
    for x in inputs:
        result = gradient(x)
        of_input, of_weights = result if len(weights) else (result, ())
        found += [of_input.asnumpy(), *(g.asnumpy() for g in of_weights)]
    return found


def main() -> None:
    path, name, shape = sys.argv[1], sys.argv[2], tuple(map(int, sys.argv[3].split(",")))
    make = load(path, name)
    generator = np.random.default_rng(1)
    inputs = [ms.Tensor(generator.uniform(-2, 2, shape).astype(np.float32)) for _ in range(2)]
    sides = []
    for graph in (False, True):
        ms.set_seed(1)
        np.random.seed(1)
        sides.append(play(make(), inputs, graph))
    for want, got in zip(*sides, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
