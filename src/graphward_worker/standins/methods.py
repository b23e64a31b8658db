"""Stand-ins: methods of Tensor. Where a method has an older form for which CPU has a kernel (`axis=`, `ddof=`), that
form is not touched."""

from __future__ import annotations

from mindspore import ops

from .arrays import chunk as chunk_stand_in
from .arrays import roll as roll_stand_in
from .registry import method
from .samples import floats


@method("clone", "Clone", lambda clone: clone(floats(2, 3)))
def clone(self):
    return self.copy()


@method("chunk", "Chunk", lambda chunk: chunk(floats(2, 4), 2, dim=1))
def chunk(self, chunks, dim=0, axis=None):
    return chunk_stand_in(self, chunks, dim if axis is None else axis)


@method("split", "SplitTensor", lambda split: split(floats(2, 4), 2, dim=1))
def split(self, split_size, dim=0, axis=None):
    return ops.split(self, split_size, dim if axis is None else axis)


@method("roll", "Roll", lambda roll: roll(floats(2, 3), 1, 0))
def roll(self, shifts, dims=None):
    return roll_stand_in(self, shifts, dims)


@method("repeat", "repeat", lambda repeat: repeat(floats(2, 3), 2, 1))
def repeat(self, *repeats):
    if len(repeats) == 1 and isinstance(repeats[0], (tuple, list)):
        return ops.tile(self, tuple(repeats[0]))
    return ops.tile(self, repeats)
