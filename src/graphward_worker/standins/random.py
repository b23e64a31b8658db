"""Stand-ins: random numbers. They derive from shape and dtype, not from a stream, so both versions draw the same."""

from __future__ import annotations

import zlib

import mindspore as ms
import numpy as np
from mindspore import ops

from .registry import kernel
from .samples import floats


@ops.constexpr(check=False)
def drawn(name, shape, low, high):
    """`name`: normal (mean, deviation), uniform and integers (from, to), permutation."""
    generator = np.random.RandomState(zlib.crc32(f"{name}{tuple(shape)}".encode()))
    if name == "normal":
        values = generator.normal(low, high, shape)
    elif name == "uniform":
        values = generator.uniform(low, high, shape)
    elif name == "integers":
        values = generator.randint(low, high, shape)
    else:
        values = generator.permutation(shape[0])
    return ms.Tensor(np.asarray(values, np.float32))


@kernel("Randn", lambda randn: randn((2,), ms.Tensor(1), ms.Tensor(0), None), of="InplaceNormal")
def randn(shape, seed, offset, dtype=None, device=None):
    return ops.cast(drawn("normal", shape, 0.0, 1.0), ms.float32 if dtype is None else dtype)


@kernel("RandExt", lambda rand: rand((2,), ms.Tensor(1), ms.Tensor(0), None), of="InplaceUniform")
def rand(shape, seed, offset, dtype=None, device=None):
    return ops.cast(drawn("uniform", shape, 0.0, 1.0), ms.float32 if dtype is None else dtype)


@kernel("RandnLike", lambda randn: randn(floats(2), ms.Tensor(1), ms.Tensor(0), None), of="InplaceNormal")
def randn_like(input, seed, offset, dtype=None, device=None):
    return ops.cast(drawn("normal", input.shape, 0.0, 1.0), input.dtype if dtype is None else dtype)


@kernel("RandLikeExt", lambda rand: rand(floats(2), ms.Tensor(1), ms.Tensor(0), None), of="InplaceUniform")
def rand_like(input, seed, offset, dtype=None, device=None):
    return ops.cast(drawn("uniform", input.shape, 0.0, 1.0), input.dtype if dtype is None else dtype)


@kernel("RandInt", lambda randint: randint(0, 3, (2,), ms.Tensor(1), ms.Tensor(0), None), of="InplaceRandom")
def randint(low, high, shape, seed, offset, dtype=None, device=None):
    return ops.cast(drawn("integers", shape, low, high), ms.int64 if dtype is None else dtype)


@kernel("RandpermExt", lambda randperm: randperm(3, ms.Tensor(1), ms.Tensor(0), ms.int64))
def randperm(n, seed, offset, dtype=ms.int64):
    return ops.cast(drawn("permutation", (n,), 0, 0), dtype)
