"""Run under MindSpore's interpreter: what each stand-in computes, in PyNative and in a graph, against NumPy.

Prints a JSON object: expression -> what is wrong with it (an empty string when nothing is).
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])  # the folder that holds graphward_worker
os.environ["GLOG_v"] = "4"

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from graphward_worker.standins import install, registry  # noqa: E402

install.install({entry.kernel for entry in registry.all_standins()})
from mindspore import Tensor, mint  # noqa: E402

F = mint.nn.functional


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def erf(x):
    import math

    return np.vectorize(math.erf)(x)


def convolved(image, kernels, stride, padding, groups=1):
    image = np.pad(image, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    n, c, h, w = image.shape
    o, i, kh, kw = kernels.shape
    out = np.zeros((n, o, (h - kh) // stride + 1, (w - kw) // stride + 1))
    for b in range(o):
        first = b * groups // o * i
        for y in range(out.shape[2]):
            for z in range(out.shape[3]):
                part = image[:, first : first + i, y * stride : y * stride + kh, z * stride : z * stride + kw]
                out[:, b, y, z] = (part * kernels[b]).sum((1, 2, 3))
    return out


def transposed(image, kernels, stride, padding, extra):
    n, c, h, w = image.shape
    _, o, kh, kw = kernels.shape
    full = np.zeros((n, o, (h - 1) * stride + kh + extra, (w - 1) * stride + kw + extra))
    for y in range(h):
        for z in range(w):
            spread = np.einsum("nc,cokl->nokl", image[:, :, y, z], kernels)
            full[:, :, y * stride : y * stride + kh, z * stride : z * stride + kw] += spread
    stop = -padding if padding else None
    return full[:, :, padding:stop, padding:stop]


def bilinear(image, size, corners=False):
    def weights(old, new):
        out = np.zeros((new, old))
        for i in range(new):
            place = i * (old - 1) / (new - 1) if corners else max((i + 0.5) * old / new - 0.5, 0)
            low = min(int(place), old - 1)
            high = min(low + 1, old - 1)
            out[i, low] += 1 - (place - low)
            out[i, high] += place - low
        return out

    return np.einsum("ih,jw,nchw->ncij", weights(image.shape[2], size[0]), weights(image.shape[3], size[1]), image)


def pooled(image, size, combine):
    n, c, h, w = image.shape
    return combine(image.reshape(n, c, h // size, size, w // size, size), (3, 5))


rng = np.random.RandomState(0)
x = rng.randn(4, 6).astype(np.float32)
y = rng.randn(6, 3).astype(np.float32)
b = rng.randn(2, 4, 4).astype(np.float32)
im = rng.randn(2, 4, 6, 6).astype(np.float32)
k = rng.randn(8, 4, 3, 3).astype(np.float32)
kg = rng.randn(8, 2, 3, 3).astype(np.float32)
kt = rng.randn(4, 2, 3, 3).astype(np.float32)
s = rng.randn(2, 4, 9).astype(np.float32)
ks = rng.randn(5, 4, 3).astype(np.float32)
i = np.array([0, 2, 1, 2])
v = rng.randn(6).astype(np.float32)
VALUES = {"x": x, "y": y, "b": b, "im": im, "k": k, "kg": kg, "kt": kt, "s": s, "ks": ks, "i": i, "v": v}

gelu = x * 0.5 * (1 + erf(x / np.sqrt(2)))
tanh_gelu = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
norm = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
batch = (im - im.mean((0, 2, 3), keepdims=True)) / np.sqrt(im.var((0, 2, 3), keepdims=True) + 1e-5)
grouped = im.reshape(2, 2, -1)
grouped = ((grouped - grouped.mean(-1, keepdims=True)) / np.sqrt(grouped.var(-1, keepdims=True) + 1e-5)).reshape(im.shape)
log_softmax = np.log(softmax(x, -1))

CASES = {
    "mint.arange(5) + 0 * i[0]": np.arange(5),
    "mint.arange(0, 6, 2, dtype=ms.float32) + 0 * x[0, 0]": np.arange(0, 6, 2).astype(np.float32),
    "mint.arange(0.5, 3) + 0 * x[0, 0]": np.arange(0.5, 3).astype(np.float32),
    "mint.zeros_like(x)": 0 * x,
    "mint.ones_like(x, dtype=ms.int32)": np.ones_like(x, np.int32),
    "mint.full((2, 3), 2.5) + 0 * x[0, 0]": np.full((2, 3), 2.5, np.float32),
    "mint.full((2,), 2) + 0 * i[0]": np.full((2,), 2),
    "mint.full_like(x, 2.0)": np.full_like(x, 2),
    "mint.linspace(0, 1, 5) + 0 * x[0, 0]": np.linspace(0, 1, 5, dtype=np.float32),
    "F.one_hot(i, 4)": np.eye(4, dtype=np.int64)[i],
    "mint.stack((x, x), dim=-1)": np.stack((x, x), -1),
    "mint.stack([x, x])": np.stack((x, x)),
    "mint.clone(x)": x,
    "x.clone()": x,
    "x.clone() + x.clone().clone()": 3 * x - x,
    "x.chunk(3, dim=1)[1]": x[:, 2:4],
    "x.chunk(4, dim=-1)[2]": x[:, 4:6],
    "mint.chunk(x, 2, -1)[1]": x[:, 3:],
    "mint.split(x, 2, 1)[2]": x[:, 4:],
    "x.split(4, dim=1)[1]": x[:, 4:],
    "mint.nn.functional.embedding(i, x)": x[i],
    "F.embedding(i, x, padding_idx=-4)": x[i],
    "mint.index_select(x, 1, i)": x[:, i],
    "F.pad(x, (1, 2))": np.pad(x, ((0, 0), (1, 2))),
    "F.pad(x, (1, 0, 2, 1), value=1.5)": np.pad(x, ((2, 1), (1, 0)), constant_values=1.5),
    "F.pad(x, (-1, 1))": np.pad(x[:, 1:], ((0, 0), (0, 1))),
    "mint.tril(x)": np.tril(x),
    "mint.tril(x, 2)": np.tril(x, 2),
    "mint.tril(x, diagonal=-1)": np.tril(x, -1),
    "mint.roll(x, 1, 0)": np.roll(x, 1, 0),
    "mint.roll(x, (1, -2), (0, 1))": np.roll(x, (1, -2), (0, 1)),
    "mint.roll(x, 3)": np.roll(x, 3),
    "x.roll(1, 0)": np.roll(x, 1, 0),
    "mint.repeat_interleave(x, 2, 0)": np.repeat(x, 2, 0),
    "mint.repeat_interleave(x, 3, dim=-1)": np.repeat(x, 3, -1),
    "mint.repeat_interleave(x, 2)": np.repeat(x, 2),
    "x.repeat_interleave(2, dim=1)": np.repeat(x, 2, 1),
    "x.repeat(2, 3)": np.tile(x, (2, 3)),
    "x.repeat((2, 1, 1))": np.tile(x, (2, 1, 1)),
    "mint.nn.GELU()(x)": gelu,
    "F.gelu(x)": gelu,
    "F.gelu(x, approximate='tanh')": tanh_gelu,
    "F.leaky_relu(x, 0.1)": np.where(x > 0, x, 0.1 * x),
    "F.elu(x, 1.5)": np.where(x > 0, x, 1.5 * np.expm1(x)),
    "F.selu(x)": 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "F.mish(x)": x * np.tanh(np.log1p(np.exp(x))),
    "F.hardtanh(x, -0.5, 0.5)": np.clip(x, -0.5, 0.5),
    "F.log_softmax(x, -1)": log_softmax,
    "F.log_softmax(x, dim=0)": np.log(softmax(x, 0)),
    "F.cross_entropy(x, i)": -log_softmax[np.arange(4), i].mean(),
    "mint.log2(x * x)": np.log2(x * x),
    "mint.log10(x * x)": np.log10(x * x),
    "mint.exp2(x)": np.exp2(x),
    "mint.logaddexp(x, 2 * x)": np.logaddexp(x, 2 * x),
    "F.logsigmoid(x)": -np.log1p(np.exp(-x)),
    "F.threshold(x, 0.5, 2.0)": np.where(x > 0.5, x, 2.0),
    "mint.frac(x * 3)": np.modf(x * 3)[0],
    "mint.atan2(x, x * x)": np.arctan2(x, x * x),
    "mint.addcdiv(x, x, x * x + 1, value=2)": x + 2 * x / (x * x + 1),
    "mint.count_nonzero(x > 0, dim=1)": (x > 0).sum(1),
    "F.pad(x, (2, 1), mode='reflect')": np.pad(x, ((0, 0), (2, 1)), mode="reflect"),
    "F.pad(s, (2, 1), mode='replicate')": np.pad(s, ((0, 0), (0, 0), (2, 1)), mode="edge"),
    "F.pad(im, (1, 2, 0, 1), mode='reflect')": np.pad(im, ((0, 0), (0, 0), (0, 1), (1, 2)), mode="reflect"),
    "F.layer_norm(x, (6,))": norm,
    "F.layer_norm(x, (6,), v, v)": norm * v + v,
    "F.group_norm(im, 2)": grouped,
    "F.batch_norm(im, None, None, training=True)": batch,
    "F.batch_norm(x, v, v * v)": (x - v) / np.sqrt(v * v + 1e-5),
    "mint.norm(x)": np.linalg.norm(x),
    "mint.norm(x, 2, 1, True)": np.linalg.norm(x, axis=1, keepdims=True),
    "F.normalize(x)": x / np.linalg.norm(x, axis=1, keepdims=True),
    "F.conv2d(im, k)": convolved(im, k, 1, 0),
    "F.conv2d(im, k, stride=2, padding=1)": convolved(im, k, 2, 1),
    "F.conv2d(im, kg, padding=1, groups=2)": convolved(im, kg, 1, 1, 2),
    "F.conv2d(im, k, padding='same')": convolved(im, k, 1, 1),
    "F.conv1d(s, ks, stride=2, padding=1)": convolved(s[:, :, None], ks[:, :, None], 1, 0)[:, :, 0][:, :, :0].sum()
    + np.stack([np.einsum("ncl,ocl->no", np.pad(s, ((0, 0), (0, 0), (1, 1)))[:, :, j : j + 3], ks) for j in range(0, 9, 2)], -1),
    "F.conv_transpose2d(im, kt)": transposed(im, kt, 1, 0, 0),
    "F.conv_transpose2d(im, kt, stride=2, padding=1, output_padding=1)": transposed(im, kt, 2, 1, 1),
    "F.max_pool2d(im, 2)": pooled(im, 2, np.max),
    "F.avg_pool2d(im, 2)": pooled(im, 2, np.mean),
    "F.adaptive_avg_pool2d(im, 3)": pooled(im, 2, np.mean),
    "F.adaptive_avg_pool2d(im, (1, 1))": im.mean((2, 3), keepdims=True),
    "F.interpolate(im, size=(9, 12), mode='bilinear')": bilinear(im, (9, 12)),
    "F.interpolate(im, size=(9, 12), mode='bilinear', align_corners=True)": bilinear(im, (9, 12), True),
    "mint.outer(v, v)": np.outer(v, v),
    "mint.addmm(v[:3], x, y, beta=2, alpha=3)": 2 * v[:3] + 3 * x @ y,
    "mint.baddbmm(b, b, b)": b + b @ b,
    "mint.einsum('ij,jk->ik', x, y)": x @ y,
    "mint.einsum('bij,bjk->bki', b, b)": np.einsum("bij,bjk->bki", b, b),
    "mint.einsum('...ij,kj->...ik', b, b[0])": np.einsum("...ij,kj->...ik", b, b[0]),
    "mint.einsum('ij->j', x)": x.sum(0),
    "mint.einsum('ij,jk,k->', x, y, v[:3])": np.einsum("ij,jk,k->", x, y, v[:3]),
    "mint.cumsum(x, -1)": x.cumsum(-1),
    "mint.cumsum(i, 0)": i.cumsum(0),
    "mint.var(x, -1)": x.var(-1, ddof=1),
    "mint.std(x)": x.std(ddof=1),
    "mint.std(x, dim=(0, 1), correction=0, keepdim=True)": x.std(keepdims=True),
    "mint.logsumexp(x, -1)": np.log(np.exp(x).sum(-1)),
    "mint.argmax(x, -1)": x.argmax(-1),
    "mint.argmax(x)": x.argmax(),
    "mint.argmin(x, dim=0, keepdim=True)": x.argmin(0)[None],
    "mint.sort(x)[0]": np.sort(x),
    "mint.sort(x, dim=0, descending=True)[1]": np.argsort(-x, 0),
    "mint.argsort(x)": np.argsort(x),
    "mint.topk(x, 2)[1]": np.argsort(-x)[:, :2],
    "mint.topk(x, 2, dim=0)[0]": -np.sort(-x, 0)[:2],
    "mint.nn.MSELoss()(x, x * 2)": (x * x).mean(),
    "mint.nn.L1Loss(reduction='sum')(x, x * 2)": np.abs(x).sum(),
}
PYNATIVE_ONLY = {
    "mint.unique(i)": np.unique(i),
    "(x + 0).fill_(1.5)": np.full_like(x, 1.5),
    "(x + 0).zero_()": 0 * x,
    "(x + 0).masked_fill_(x > 0, 2.0)": np.where(x > 0, 2, x),
    "x.std(ddof=1)": x.std(ddof=1),
    "x.sum(axis=1)": x.sum(1),
}


def problem(got, want):
    got = got.asnumpy()
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape} for {want.shape}"
    if want.dtype.kind != got.dtype.kind or (want.dtype.kind != "f" and want.dtype != got.dtype):
        return f"dtype {got.dtype} for {want.dtype}"
    return "" if np.allclose(got, want, 1e-3, 1e-4) else f"{got.ravel()[:4]} for {want.ravel()[:4]}"


def written(folder, expressions):
    """A module of functions, since a graph is compiled from a file."""
    names = ", ".join(VALUES)
    text = "import mindspore as ms\nfrom mindspore import mint\n\nF = mint.nn.functional\n"
    for number, expression in enumerate(expressions):
        text += f"\n\ndef f{number}({names}):\n    return {expression}\n"
    with open(os.path.join(folder, "functions.py"), "w") as file:
        file.write(text)
    sys.path.insert(0, folder)
    return __import__("functions")


def tried(call, want):
    try:
        return problem(call(), want)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def main():
    wanted = {**CASES, **PYNATIVE_ONLY}
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    wanted = {expression: want for expression, want in wanted.items() if only in expression}
    module = written(sys.argv[2], wanted)
    values = [Tensor(value) for value in VALUES.values()]
    found = {}
    for number, (expression, want) in enumerate(wanted.items()):
        function = getattr(module, f"f{number}")
        found[f"{expression} in PyNative"] = tried(lambda: function(*values), want)
        if expression in CASES:
            found[f"{expression} in a graph"] = tried(lambda: ms.jit(function, fullgraph=True)(*values), want)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
