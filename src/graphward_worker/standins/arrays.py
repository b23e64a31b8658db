"""Stand-ins: tensors put together, cut up and moved around."""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from .registry import function, kernel
from .samples import floats, integers


@kernel("Clone", lambda clone: clone(floats(2, 3)))
def clone(input):
    return input.copy()


@kernel("StackExt", lambda stack: stack((floats(2), floats(2)), 0))
def stack(tensors, dim=0):
    return ops.stack(tensors, dim)


@kernel("Chunk", lambda chunk: chunk(floats(2, 4), 2, 1))
def chunk(input, chunks, dim=0):
    size = input.shape[dim]
    return ops.split(input, (size + chunks - 1) // chunks, dim)


@kernel("SplitTensor", lambda split: split(floats(2, 4), 2, 1))
def split_tensor(input, split_size, dim=0):
    return ops.split(input, split_size, dim)


@kernel("Embedding", lambda embedding: embedding(integers(3), floats(2, 4), None, None, 2.0, False))
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False):
    rows = ops.gather(weight, input, 0)
    if padding_idx is None:
        return rows
    # The row of the padding gets no gradient.
    padding = ops.expand_dims(input == padding_idx % weight.shape[0], -1)
    return ops.where(padding, ops.stop_gradient(rows), rows)


@kernel("IndexSelect", lambda select: select(floats(2, 3), 0, integers(2)))
def index_select(input, dim, index):
    return ops.gather(input, index, dim)


@kernel("ConstantPadND", lambda pad: pad(floats(2, 3), (1, 1), 0.0))
def constant_pad(input, padding, value=0.0):
    for pair in range(len(padding) // 2):
        axis = input.ndim - 1 - pair
        before, after = padding[2 * pair], padding[2 * pair + 1]
        if before < 0 or after < 0:
            size = input.shape[axis]
            start, stop = max(0, -before), size - max(0, -after)
            input = ops.gather(input, ops.range(start, stop, 1), axis)
        parts = []
        if before > 0:
            parts.append(_filled(input, axis, before, value))
        parts.append(input)
        if after > 0:
            parts.append(_filled(input, axis, after, value))
        if len(parts) > 1:
            input = ops.concat(parts, axis)
    return input


def _filled(input, axis, width, value):
    shape = input.shape[:axis] + (width,) + input.shape[axis + 1 :]
    return ops.full(shape, value, dtype=input.dtype)


def _mirrored(input, padding, skip):
    """The border repeats what is next to it: turned around without the edge (`skip` 1), or the edge itself (0)."""
    for pair in range(len(padding) // 2):
        axis = input.ndim - 1 - pair
        size = input.shape[axis]
        before, after = padding[2 * pair], padding[2 * pair + 1]
        index = [skip * (before - i) for i in range(before)] + [i for i in range(size)]
        index = index + [size - 1 - skip * (i + 1) for i in range(after)]
        input = ops.gather(input, ms.Tensor(index, ms.int32), axis)
    return input


@kernel("ReflectionPad1D", lambda pad: pad(floats(2, 3), (1, 1)))
def reflection_pad1d(input, padding):
    return _mirrored(input, padding, 1)


@kernel("ReflectionPad2D", lambda pad: pad(floats(1, 3, 3), (1, 1, 1, 1)))
def reflection_pad2d(input, padding):
    return _mirrored(input, padding, 1)


@kernel("ReplicationPad1D", lambda pad: pad(floats(2, 3), (1, 1)))
def replication_pad1d(input, padding):
    return _mirrored(input, padding, 0)


@kernel("ReplicationPad2D", lambda pad: pad(floats(1, 3, 3), (1, 1, 1, 1)))
def replication_pad2d(input, padding):
    return _mirrored(input, padding, 0)


@kernel("TrilExt", lambda tril: tril(floats(3, 3), 0))
def tril(input, diagonal=0):
    rows, columns = input.shape[-2], input.shape[-1]
    below = ops.expand_dims(ops.range(0, columns, 1), 0) <= ops.expand_dims(ops.range(0, rows, 1), 1) + diagonal
    return ops.where(below, input, ops.zeros(input.shape, input.dtype))


@kernel("Roll", lambda roll: roll(floats(2, 3), 1, 0))
def roll(input, shifts, dims=None):
    if dims is None:
        flat = ops.reshape(input, (-1,))
        return ops.reshape(_rolled(flat, shifts if isinstance(shifts, int) else shifts[0], 0), input.shape)
    if isinstance(shifts, int):
        shifts = (shifts,)
    if isinstance(dims, int):
        dims = (dims,)
    for i in range(len(shifts)):
        input = _rolled(input, shifts[i], dims[i])
    return input


def _rolled(input, shift, axis):
    size = input.shape[axis]
    return ops.gather(input, (ops.range(0, size, 1) + (size - shift % size)) % size, axis)


@kernel("RepeatInterleaveInt", lambda repeat: repeat(floats(2, 3), 2, 0, None))
def repeat_interleave_number(input, repeats, dim=None, output_size=None):
    return repeated(input, repeats, dim)


@function("repeat_interleave", "RepeatInterleaveInt", lambda repeat: repeat(floats(2, 3), 2, 0))
def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    return repeated(input, repeats, dim)


def repeated(input, repeats, dim):
    """Each element `repeats` times in a row; a list says how often for each."""
    if dim is None:
        input = ops.reshape(input, (-1,))
        dim = 0
    if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
        repeats = repeats[0]
    if isinstance(repeats, int):
        index = ops.range(0, input.shape[dim] * repeats, 1) // repeats
        return ops.gather(input, ops.cast(index, ms.int64), dim)
    return ops.repeat_interleave(input, repeats, dim)


@kernel("Im2ColExt", lambda unfold: unfold(floats(1, 1, 4, 4), (2, 2), (1, 1), (0, 0), (1, 1)))
def im2col(input, kernel_size, dilation=1, padding=0, stride=1):
    return ops.unfold(input, kernel_size, dilation, padding, stride)
