"""Operators as people write them by hand, beside the native ones: what `graphward bench --ops` measures.

Each pair computes the same function. The hand-written forms spell out the arithmetic; `native` holds one operator, or
the few that MindSpore itself makes such a layer of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

_ROWS = ((16, 64), (256, 1024), (1024, 2048))  # small, medium, large
_LAYER_NORM = ops.LayerNorm(-1, -1, 1e-5)
_TRANSPOSED = ops.MatMul(transpose_b=True)
_L2_NORMALIZE = ops.L2Normalize(axis=-1, epsilon=1e-12)
_CROSS_ENTROPY = ops.SparseSoftmaxCrossEntropyWithLogits()


@dataclass(frozen=True)
class Pair:
    """`form` is the expression as written by hand, `name` the operator that replaces it; `inputs` makes the arguments
    of size 0, 1 or 2; the gradient is taken of the first one."""

    name: str
    form: str
    hand: Callable[..., Any]
    native: Callable[..., Any]
    inputs: Callable[[int], tuple[Tensor, ...]]


def _values(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def _one(size: int) -> tuple[Tensor, ...]:
    return (_values(*_ROWS[size]),)


def _few(size: int) -> tuple[Tensor, ...]:
    # The gradient of L2Normalize takes time and memory with the square of the size.
    return (_values(*((8, 32), (32, 128), (64, 256))[size]),)


def _two(size: int) -> tuple[Tensor, ...]:
    return _values(*_ROWS[size]), _values(*_ROWS[size], seed=1)


def _with_vector(size: int) -> tuple[Tensor, ...]:
    return _values(*_ROWS[size]), _values(_ROWS[size][1], seed=1)


def _with_vectors(size: int) -> tuple[Tensor, ...]:
    return *_with_vector(size), _values(_ROWS[size][1], seed=2)


def _with_labels(size: int) -> tuple[Tensor, ...]:
    rows, classes = _ROWS[size]
    return _values(rows, classes), Tensor(np.arange(rows) * 7 % classes, ms.int32)


def _layer(size: int) -> tuple[Tensor, ...]:
    rows, width = ((8, 32), (64, 256), (256, 1024))[size]
    return _values(rows, width), _values(width, width, seed=1), _values(width, seed=2)


def _small_layer(size: int) -> tuple[Tensor, ...]:
    rows, width = ((8, 32), (16, 128), (64, 256))[size]
    return _values(rows, width), _values(width, width, seed=1), _values(width, seed=2)


def _matrices(size: int) -> tuple[Tensor, ...]:
    side = (8, 48, 160)[size]
    return _values(side, side), _values(side, side, seed=1)


def _looped(size: int) -> tuple[Tensor, ...]:
    side = (4, 8, 12)[size]
    return _values(side, side), _values(side, side, seed=1)


def _heads(size: int) -> tuple[Tensor, ...]:
    shape = ((1, 2, 8, 16), (2, 4, 64, 32), (4, 8, 256, 64))[size]
    return tuple(_values(*shape, seed=i) for i in range(3))


def matmul_broadcast(a: Tensor, b: Tensor) -> Tensor:
    return (a.expand_dims(2) * b.expand_dims(0)).sum(1)


def matmul_row_loop(a: Tensor, b: Tensor) -> Tensor:
    rows = []
    for i in range(a.shape[0]):
        rows.append((a[i].expand_dims(1) * b).sum(0))
    return ops.stack(rows)


def matmul_element_loop(a: Tensor, b: Tensor) -> Tensor:
    rows = []
    for i in range(a.shape[0]):
        row = []
        for j in range(b.shape[1]):
            row.append((a[i] * b[:, j]).sum())
        rows.append(ops.stack(row))
    return ops.stack(rows)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    return ops.matmul(a, b)


def relu_maximum(x: Tensor) -> Tensor:
    return ops.maximum(x, 0.0)


def relu_where(x: Tensor) -> Tensor:
    return ops.where(x > 0, x, ops.zeros_like(x))


def relu_where_scalar(x: Tensor) -> Tensor:
    return ops.where(x > 0, x, 0.0)


def relu_mask(x: Tensor) -> Tensor:
    return x * (x > 0)


def relu_abs(x: Tensor) -> Tensor:
    return (x + ops.abs(x)) / 2


def relu(x: Tensor) -> Tensor:
    return ops.relu(x)


def leaky_relu_where(x: Tensor) -> Tensor:
    return ops.where(x > 0, x, 0.1 * x)


def leaky_relu_maximum(x: Tensor) -> Tensor:
    return ops.maximum(x, 0.1 * x)


def leaky_relu_parts(x: Tensor) -> Tensor:
    return ops.maximum(x, 0.0) + 0.1 * ops.minimum(x, 0.0)


def leaky_relu(x: Tensor) -> Tensor:
    return ops.leaky_relu(x, 0.1)


def sigmoid_exp(x: Tensor) -> Tensor:
    return 1 / (1 + ops.exp(-x))


def sigmoid_ratio(x: Tensor) -> Tensor:
    return ops.exp(x) / (1 + ops.exp(x))


def sigmoid_tanh(x: Tensor) -> Tensor:
    return 0.5 * (1 + ops.tanh(0.5 * x))


def sigmoid(x: Tensor) -> Tensor:
    return ops.sigmoid(x)


def silu_sigmoid(x: Tensor) -> Tensor:
    return x * ops.sigmoid(x)


def silu_exp(x: Tensor) -> Tensor:
    return x / (1 + ops.exp(-x))


def silu(x: Tensor) -> Tensor:
    return ops.silu(x)


def gelu_erf_form(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + ops.erf(x / math.sqrt(2.0)))


def gelu_erf(x: Tensor) -> Tensor:
    return ops.gelu(x, "none")


def gelu_tanh_form(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + ops.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * ops.pow(x, 3))))


def gelu_tanh_cube(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + ops.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def gelu_tanh(x: Tensor) -> Tensor:
    return ops.gelu(x, "tanh")


def softmax_plain(x: Tensor) -> Tensor:
    e = ops.exp(x)
    return e / e.sum(-1, keepdims=True)


def softmax_shifted(x: Tensor) -> Tensor:
    e = ops.exp(x - ops.max(x, -1, keepdims=True)[0])
    return e / e.sum(-1, keepdims=True)


def softmax_logsumexp(x: Tensor) -> Tensor:
    return ops.exp(x - ops.logsumexp(x, -1, True))


def softmax(x: Tensor) -> Tensor:
    return ops.softmax(x, -1)


def log_softmax_log(x: Tensor) -> Tensor:
    return ops.log(ops.softmax(x, -1))


def log_softmax_plain(x: Tensor) -> Tensor:
    return x - ops.log(ops.exp(x).sum(-1, keepdims=True))


def log_softmax_shifted(x: Tensor) -> Tensor:
    s = x - ops.max(x, -1, keepdims=True)[0]
    return s - ops.log(ops.exp(s).sum(-1, keepdims=True))


def log_softmax_logsumexp(x: Tensor) -> Tensor:
    return x - ops.logsumexp(x, -1, True)


def log_softmax(x: Tensor) -> Tensor:
    return ops.log_softmax(x, -1)


def layer_norm_mean(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    mean = x.mean(-1, keep_dims=True)
    variance = ops.square(x - mean).mean(-1, keep_dims=True)
    return (x - mean) / ops.sqrt(variance + 1e-5) * w + b


def layer_norm(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return _LAYER_NORM(x, w, b)[0]


def rms_norm_rsqrt(x: Tensor, w: Tensor) -> Tensor:
    return x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-6) * w


def rms_norm(x: Tensor, w: Tensor) -> Tensor:
    return ops.rms_norm(x, w, 1e-6)[0]


def l2_normalize_sqrt(x: Tensor) -> Tensor:
    return x / ops.sqrt(ops.square(x).sum(-1, keepdims=True))


def l2_normalize(x: Tensor) -> Tensor:
    return _L2_NORMALIZE(x)


def cross_entropy_gather(x: Tensor, labels: Tensor) -> Tensor:
    picked = ops.gather_elements(ops.log_softmax(x, -1), 1, labels.expand_dims(1))
    return -picked.mean()


def cross_entropy_one_hot(x: Tensor, labels: Tensor) -> Tensor:
    return -(ops.one_hot(labels, x.shape[1]) * ops.log_softmax(x, -1)).sum(-1).mean()


def cross_entropy_nll(x: Tensor, labels: Tensor) -> Tensor:
    return ops.nll_loss(ops.log_softmax(x, 1), labels)


def cross_entropy(x: Tensor, labels: Tensor) -> Tensor:
    return ops.cross_entropy(x, labels)


def cross_entropy_fused(x: Tensor, labels: Tensor) -> Tensor:
    return _CROSS_ENTROPY(x, labels)


def mse_square(a: Tensor, b: Tensor) -> Tensor:
    return ops.square(a - b).mean()


def mse_power(a: Tensor, b: Tensor) -> Tensor:
    return ((a - b) ** 2).mean()


def mse(a: Tensor, b: Tensor) -> Tensor:
    return ops.mse_loss(a, b)


def linear_transposed(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return ops.matmul(x, w.T) + b


def linear_broadcast(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return (x.expand_dims(1) * w).sum(-1) + b


def linear(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return ops.dense(x, w, b)


def linear_operators(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return ops.bias_add(_TRANSPOSED(x, w), b)


def attention_softmax(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = ops.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(q.shape[-1])
    return ops.matmul(ops.softmax(scores, -1), v)


def attention_by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = ops.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(q.shape[-1])
    e = ops.exp(scores - ops.max(scores, -1, keepdims=True)[0])
    return ops.matmul(e / e.sum(-1, keepdims=True), v)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scale = 1 / math.sqrt(q.shape[-1])
    return ops.flash_attention_score(q, k, v, q.shape[1], scalar_value=scale, input_layout="BNSD")


PAIRS = (
    Pair("matmul", "(a[:, :, None] * b[None]).sum(1)", matmul_broadcast, matmul, _matrices),
    Pair("matmul", "a loop over rows", matmul_row_loop, matmul, _looped),
    Pair("matmul", "a loop over rows and columns", matmul_element_loop, matmul, _looped),
    Pair("relu", "maximum(x, 0)", relu_maximum, relu, _one),
    Pair("relu", "where(x > 0, x, zeros_like(x))", relu_where, relu, _one),
    Pair("relu", "where(x > 0, x, 0)", relu_where_scalar, relu, _one),
    Pair("relu", "x * (x > 0)", relu_mask, relu, _one),
    Pair("relu", "(x + abs(x)) / 2", relu_abs, relu, _one),
    Pair("leaky_relu", "where(x > 0, x, a * x)", leaky_relu_where, leaky_relu, _one),
    Pair("leaky_relu", "maximum(x, a * x)", leaky_relu_maximum, leaky_relu, _one),
    Pair("leaky_relu", "maximum(x, 0) + a * minimum(x, 0)", leaky_relu_parts, leaky_relu, _one),
    Pair("sigmoid", "1 / (1 + exp(-x))", sigmoid_exp, sigmoid, _one),
    Pair("sigmoid", "exp(x) / (1 + exp(x))", sigmoid_ratio, sigmoid, _one),
    Pair("sigmoid", "0.5 * (1 + tanh(x / 2))", sigmoid_tanh, sigmoid, _one),
    Pair("silu", "x * sigmoid(x)", silu_sigmoid, silu, _one),
    Pair("silu", "x / (1 + exp(-x))", silu_exp, silu, _one),
    Pair("gelu", "0.5 * x * (1 + erf(x / sqrt(2)))", gelu_erf_form, gelu_erf, _one),
    Pair("gelu tanh", "0.5 * x * (1 + tanh(c * (x + d * pow(x, 3))))", gelu_tanh_form, gelu_tanh, _one),
    Pair("gelu tanh", "0.5 * x * (1 + tanh(c * (x + d * x * x * x)))", gelu_tanh_cube, gelu_tanh, _one),
    Pair("softmax", "exp(x) / exp(x).sum(-1)", softmax_plain, softmax, _one),
    Pair("softmax", "the same of x - max(x)", softmax_shifted, softmax, _one),
    Pair("softmax", "exp(x - logsumexp(x))", softmax_logsumexp, softmax, _one),
    Pair("log_softmax", "log(softmax(x))", log_softmax_log, log_softmax, _one),
    Pair("log_softmax", "x - log(exp(x).sum(-1))", log_softmax_plain, log_softmax, _one),
    Pair("log_softmax", "the same of x - max(x)", log_softmax_shifted, log_softmax, _one),
    Pair("log_softmax", "x - logsumexp(x)", log_softmax_logsumexp, log_softmax, _one),
    Pair("layer_norm", "(x - mean) / sqrt(var + eps) * w + b", layer_norm_mean, layer_norm, _with_vectors),
    Pair("rms_norm", "x * rsqrt(mean(x * x) + eps) * w", rms_norm_rsqrt, rms_norm, _with_vector),
    Pair("L2Normalize", "x / sqrt(sum(x * x))", l2_normalize_sqrt, l2_normalize, _few),
    Pair("cross_entropy", "-gather(log_softmax(x), labels).mean()", cross_entropy_gather, cross_entropy, _with_labels),
    Pair("cross_entropy", "-(one_hot * log_softmax(x)).sum(-1).mean()", cross_entropy_one_hot, cross_entropy,
         _with_labels),
    Pair("cross_entropy", "nll_loss(log_softmax(x), labels)", cross_entropy_nll, cross_entropy, _with_labels),
    Pair("sparse cross entropy", "-gather(log_softmax(x), labels).mean()", cross_entropy_gather, cross_entropy_fused,
         _with_labels),
    Pair("sparse cross entropy", "-(one_hot * log_softmax(x)).sum(-1).mean()", cross_entropy_one_hot,
         cross_entropy_fused, _with_labels),
    Pair("sparse cross entropy", "nll_loss(log_softmax(x), labels)", cross_entropy_nll, cross_entropy_fused,
         _with_labels),
    Pair("sparse cross entropy", "cross_entropy(x, labels)", cross_entropy, cross_entropy_fused, _with_labels),
    Pair("mse_loss", "square(a - b).mean()", mse_square, mse, _two),
    Pair("mse_loss", "((a - b) ** 2).mean()", mse_power, mse, _two),
    Pair("dense", "matmul(x, w.T) + b", linear_transposed, linear, _layer),
    Pair("dense", "(x[:, None] * w).sum(-1) + b", linear_broadcast, linear, _small_layer),
    Pair("MatMul, bias_add", "matmul(x, w.T) + b", linear_transposed, linear_operators, _layer),
    Pair("attention", "matmul(softmax(matmul(q, k.T) / sqrt(d)), v)", attention_softmax, attention, _heads),
    Pair("attention", "the same, softmax by hand", attention_by_hand, attention, _heads),
)  # fmt: skip
