"""Inputs that failed, changed in what the error says is wrong with them: a width, a rank, a dtype or a container.

An error names sizes of whatever reached the operator. An input has such a size itself, or a multiple of it when the
Cell splits or joins what it gets; so sizes are changed by the ratio of what was wanted to what came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from .specs import Group, Input, Spec, TensorSpec

_WIDTHS = (
    (re.compile(r"'?x1?_col'?: (\d+)(?: and|,) '?(?:x2|w)_row'?: (\d+)"), -1),
    (re.compile(r"shape1\[-1\] must be equal to shape2\[-2\], but got (\d+) and (\d+)"), -1),
    (re.compile(r"in_channels/groups is (\d+), and weight\[1\] is (\d+)"), 1),
    (re.compile(r"channel dimension: (\d+), .*?shape\[0\]: (\d+)"), 1),
    (re.compile(r"input shape: \[const vector\]\{[\d, ]*?(\d+)\}, gamma shape: \[const vector\]\{[\d, ]*?(\d+)\}"), -1),
    (re.compile(r"number of channels: (\d+), but got \[const vector\]\{(\d+)\}"), 1),
)
"""Pattern -> (came, wanted), and the axis that it is about."""

_WIDTHS_REVERSED = (
    (re.compile(r"weight\.shape\[0\] should be equal .*? but got (\d+) and (\d+)"), 1),
    (re.compile(r"x_shape\[2\] must be equal to (\d+), but got (\d+)"), -1),
    (re.compile(r"bias shape: \.?\[const vector\]\{(\d+)\}, input_shape: \[const vector\]\{\d+, (\d+)"), 1),
    (re.compile(
        r"(?:expect\w*|must be|should be|equal to)\b[^\d]{0,40}(\d+)\b[^\d]{1,40}\b(?:got|is)\b[^\d]{0,40}(\d+)"
    ), -1),
)  # fmt: skip
_CONVOLUTION = re.compile(
    r"'C_in' of input 'weight' shape: (\d+), but got 'C_in' of input 'x' shape: (\d+), and 'group': (\d+)"
)
_GROUPS = re.compile(r"'num_channels': (\d+) ?,'num_groups': (\d+)")
_BROADCAST = re.compile(r"need to broadcast.*?shape = \[([\d, ]*)\] and \S+ = \[([\d, ]*)\]")
_VECTORS = re.compile(r"\[const vector\]\{([\d, -]+)\}")
_RESHAPED = re.compile(r"proposed_shape '\[const vector\]\{([\d, -]+)\}' is invalid for input of size (\d+)")

_RANKS = (
    re.compile(r"(?:shape ?size|size\(\)|length of input|rank|dim\w*)\b[^.;\d]{0,40}\b(\d)\s?, but got (\d)\b"),
    re.compile(r"must have (\d) dims, but got (\d)\b"),
    re.compile(r"to unpack \(expected (\d), got (\d)\)"),
    re.compile(r"equal to rank of \w+, but got (\d) and (\d)"),
)
"""Pattern -> (wanted, came)."""

_BEYOND = (
    re.compile(r"axis (\d) is out of bounds for array of dimension (\d)"),
    re.compile(r"(?:must be|value must be) in (?:the range of )?\[-?(?P<came>\d), ?\d\), but got (?P<axis>\d)"),
)
"""Pattern -> (axis, rank that came)."""

_TOO_MANY = re.compile(r"too many values to unpack \(expected (\d)\)")
_TOO_FEW_DIMENSIONS = re.compile(r"too many indices for tensor of dimension ?(\d)")
_AXES = re.compile(r"number of axes must be equal to the dimension of Tensor, but got (\d)")
_PASSES_END = re.compile(r"tuple index out of range|'(?:start|end)_dim' (?:or '\w+' )?out of range")
_EXPECTED_D = re.compile(r"[Ee]xpect\w*[^.\d]{0,30}\b(\d)-?[dD]\b")
_SPATIAL = re.compile(r"same spatial dimensions, but got 'input' is (\d)D, 'size' is (\d)D")
_BOOLEAN = re.compile(r"must be a type of \{(?:Tensor\[)?Bool|should be (?:a )?bool", re.IGNORECASE)
_INTEGER = re.compile(r"must be a type of \{(?:Tensor\[)?Int|indices must be int|should be int", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"Unsupported data type|[Tt]ype .{0,30}not support")
_MAPPING = re.compile(r"has no attribute '(?:values|items|keys)'|indices must be integers")
_LARGEST = 1 << 20  # elements
_SIDE = 8
_HIGHEST = 5  # rank
_MOST = 12  # repairs of one combination


def repairs(combination: list[Input], message: str, blamed: list[bool]) -> list[list[Input]]:
    """Other combinations that the message of an error suggests, likeliest first. `blamed` tells which inputs the
    failing line of the source reads: these are changed first, or all alike when there are none."""
    text = message.split("\n----")[0][:1500]
    order = sorted(range(len(combination)), key=lambda at: not blamed[at])
    found: dict[str, list[Input]] = {}
    for change in _changes(text):
        for at in order:
            for spec in change.of(combination[at].spec):
                made = [*combination]
                made[at] = replace(combination[at], spec=spec)
                found.setdefault(str([str(item) for item in made]), made)
    found.pop(str([str(item) for item in combination]), None)
    return list(found.values())[:_MOST]


def unequal(message: str) -> list[tuple[int, int]]:
    """Sizes in which the operands of a sum, a product or the like differ."""
    found = []
    for first, second in _BROADCAST.findall(message):
        pairs = zip(reversed(_numbers(first)), reversed(_numbers(second)))
        found += [(a, b) for a, b in pairs if a != b and 1 not in (a, b)]
    return found


class _Change:
    """A change of tensors; what stands in containers is changed all at once."""

    def of(self, spec: Spec) -> Iterator[Spec]:
        if isinstance(spec, TensorSpec):
            for made in self.of_tensor(spec):
                if prod(made.shape) <= _LARGEST:
                    yield made
        elif isinstance(spec, Group) and spec.items and spec.kind != "mutable":
            ways = [list(self.of(item)) or [item] for item in spec.items]
            for number in range(max(map(len, ways))):
                yield replace(spec, items=tuple(way[min(number, len(way) - 1)] for way in ways))

    def of_tensor(self, spec: TensorSpec) -> Iterator[TensorSpec]:
        raise NotImplementedError


class _Width(_Change):
    """A size that came as `came` has to be `wanted`; the axis `first` is tried before the others."""

    def __init__(self, came: int, wanted: int, first: int):
        self.came, self.wanted, self.first = came, wanted, first

    def of_tensor(self, spec: TensorSpec) -> Iterator[TensorSpec]:
        rank = len(spec.shape)
        axes = sorted(range(rank), key=lambda axis: (axis != self.first % rank, -axis))
        for exact in (True, False):
            for axis in axes:
                size = spec.shape[axis]
                if (size == self.came) is not exact or (not exact and axis == 0 and rank > 1):
                    continue  # the batch is hardly what an error is about
                if size * self.wanted % self.came == 0:
                    changed = size * self.wanted // self.came
                    if 0 < changed != size:
                        yield replace(spec, shape=(*spec.shape[:axis], changed, *spec.shape[axis + 1 :]))


class _Rank(_Change):
    """The rank changes by `more`."""

    def __init__(self, more: int):
        self.more = more

    def of_tensor(self, spec: TensorSpec) -> Iterator[TensorSpec]:
        shape, more = spec.shape, self.more
        if not 0 < len(shape) + more <= _HIGHEST or not shape:
            return
        if more > 0:
            yield replace(spec, shape=(*shape, *(_SIDE,) * more))
            yield replace(spec, shape=(shape[0], *(4,) * more, *shape[1:]) if len(shape) > 1 else (2,) * more + shape)
        elif more < 0:
            yield replace(spec, shape=shape[:more])
            yield replace(spec, shape=(*shape[:1], *shape[1 - more :]))


class _Dtype(_Change):
    def __init__(self, *dtypes: str):
        self.dtypes = dtypes

    def of_tensor(self, spec: TensorSpec) -> Iterator[TensorSpec]:
        for dtype in self.dtypes:
            if dtype != spec.dtype:
                yield TensorSpec(dtype, spec.shape, 2 if dtype[0] == "i" else None)


class _Mapping(_Change):
    """A sequence or a tensor has to be a dict of such."""

    def of(self, spec: Spec) -> Iterator[Spec]:
        items = spec.items if isinstance(spec, Group) else (spec, spec)
        if not isinstance(spec, Group) or spec.kind in ("tuple", "list"):
            yield Group("dict", tuple(items), tuple(str(at) for at in range(len(items))))


class _Between(_Change):
    """Sizes of two operands that do not fit become equal: each in turn takes that of the other."""

    def __init__(self, first: list[int], second: list[int]):
        self.pairs = [(a, b) for a, b in zip(reversed(first), reversed(second)) if a != b and 1 not in (a, b)]

    def of_tensor(self, spec: TensorSpec) -> Iterator[TensorSpec]:
        for came, wanted in (*self.pairs, *((b, a) for a, b in self.pairs)):
            yield from _Width(came, wanted, -1).of_tensor(spec)


def _changes(text: str) -> Iterator[_Change]:
    yield from _widths(text)
    yield from _ranks(text)
    if _BOOLEAN.search(text):
        yield _Dtype("bool")
    if _INTEGER.search(text):
        yield _Dtype("i32")
    if _UNSUPPORTED.search(text):
        yield _Dtype("f32", "i32", "bool")
    if _MAPPING.search(text):
        yield _Mapping()


def _widths(text: str) -> Iterator[_Change]:
    for pattern, axis in _WIDTHS:
        for came, wanted in pattern.findall(text):
            yield from _width(int(came), int(wanted), axis)
    for channels, came, groups in _CONVOLUTION.findall(text):
        yield from _width(int(came), int(channels) * int(groups), 1)
    for came, groups in _GROUPS.findall(text):
        for wanted in (2 * int(groups), int(groups)):
            yield from _width(int(came), wanted, 1)
    for first, second in _BROADCAST.findall(text):
        yield _Between(_numbers(first), _numbers(second))
    if "BatchMatMul" in text:
        vectors = [_numbers(found) for found in _VECTORS.findall(text)][:2]
        if len(vectors) == 2 and all(len(vector) > 1 for vector in vectors):
            yield _Between([vectors[0][-1]], [vectors[1][-2]])
    for shape, size in _RESHAPED.findall(text):
        wanted = prod(number for number in _numbers(shape) if number > 0)
        yield from _width(int(size), wanted, -1)
    if "unpack" not in text:
        for pattern, axis in _WIDTHS_REVERSED:
            for wanted, came in pattern.findall(text):
                yield from _width(int(came), int(wanted), axis)


def _width(came: int, wanted: int, axis: int) -> Iterator[_Change]:
    if came > 0 and wanted > 0 and came != wanted:
        yield _Width(came, wanted, axis)


def _ranks(text: str) -> Iterator[_Change]:
    for pattern in _RANKS:
        for wanted, came in pattern.findall(text):
            yield _Rank(int(wanted) - int(came))
    for pattern in _BEYOND:
        for found in pattern.finditer(text):
            named = found.groupdict()
            axis, came = (int(named["axis"]), int(named["came"])) if named else (int(found[1]), int(found[2]))
            yield _Rank(axis + 1 - came)
    for came, wanted in _SPATIAL.findall(text):
        yield _Rank(int(wanted) - int(came))
    for wanted in (*_TOO_MANY.findall(text), *_AXES.findall(text), *_EXPECTED_D.findall(text)):
        yield _ToRank(int(wanted))
    if _TOO_FEW_DIMENSIONS.search(text) or _PASSES_END.search(text):
        yield _Rank(1)
        yield _Rank(2)
    if "element rank must be same" in text:
        ranks = [len(_numbers(found)) for found in _VECTORS.findall(text)]
        for wanted in dict.fromkeys(ranks):
            yield _ToRank(wanted)


class _ToRank(_Change):
    def __init__(self, rank: int):
        self.rank = rank

    def of_tensor(self, spec: TensorSpec) -> Iterator[TensorSpec]:
        yield from _Rank(self.rank - len(spec.shape)).of_tensor(spec)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", text)]
