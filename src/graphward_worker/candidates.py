"""Inputs that a target might take, likeliest first: shapes read off its layers, parameters and attributes, then common
ones; what else an argument is, by its annotation, its name and what the source does with it."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Callable

import mindspore as ms

from .configurations import PARAMETER
from .examples import documented_rank, shape_examples
from .hints import Hints
from .record import own_attribute
from .signatures import Kind, kind_of
from .specs import Group, Input, Literal, Spec, TensorSpec, parse_input
from .uses import Uses, uses_of

_INTEGER_NAMES = re.compile(r"(^|_)(ids?|idx|index|indices|tokens?|labels?|targets?|positions?|lengths?)($|_|\d)")
_EMBEDDED = re.compile(r"emb")
_MASK_NAMES = re.compile(r"mask")
_IMAGE_NAMES = re.compile(r"^(img|image|input)_(size|resolution)$")
_SIDE_NAMES = re.compile(r"^(h|w|height|width)$")
_COMMON = (
    *("f32[2,3]", "f32[2,8]", "f32[2,4,8]", "f32[2,3,16,16]", "f32[4]", "f32[2,16]", "f32[2,3,32,32]"),
    *("i32[2,8]", "f32[4,4]", "f32[2,4,4]", "f32[]", "f32[1,3,64,64]", "f32[1,3,224,224]"),
)
_LEADING = 12  # shapes of the leading tensor that are combined with others
_COMBINED = 16  # combinations for each of these
_OF_LAYERS = 16  # shapes that are read off layers; a deep model repeats itself
_WIDEST = 4096  # an attribute above this is no width
_SIDE = 2  # of an image that is given as a sequence of 4


def combinations(
    target: Any, function: Callable[..., Any], parameters: list[inspect.Parameter], hints: Hints
) -> Iterator[list[Input]]:
    """Candidate inputs for `parameters` of `function`, which calls `target`; none twice. `hints` come from the errors
    that other candidates led to."""
    uses = uses_of(function)
    known = [_documented(function, p.name, uses.get(p.name, Uses())) for p in parameters]
    sizes = _sizes(target)
    shown = shape_examples(target) if isinstance(target, ms.nn.Cell) else []
    hinted = list(_hinted(hints, sizes))
    of_layers = itertools.islice(_from_layers(target), _OF_LAYERS)
    shapes = _unique([*hinted, *shown, *of_layers, *_from_sizes(sizes), *map(_tensor, _COMMON)])
    tried: set[str] = set()
    for shape in _unique([*hinted, *shown, *_leading(parameters, known, shapes, sizes)])[:_LEADING]:
        choices = [_choices(p, use, shape, shapes, sizes) for p, use in zip(parameters, known)]
        for number, chosen in enumerate(_likeliest(choices)):
            if number == _COMBINED:
                break  # leave time for the next shape of the leading tensor
            combination = [_input(p, spec) for p, spec in zip(parameters, chosen)]
            key = str([str(item) for item in combination])
            if key not in tried:
                tried.add(key)
                yield combination
    for shape in shapes:
        yield [_input(p, _choices(p, use, shape, shapes, sizes)[0]) for p, use in zip(parameters, known)]


def _documented(function: Callable[..., Any], name: str, use: Uses) -> Uses:
    rank, integers = documented_rank(function, name)
    return replace(use, rank=use.rank or rank, lookup=use.lookup or (integers and rank is not None))


def _likeliest(choices: list[list[Spec]]) -> Iterator[list[Spec]]:
    """All ways to take one of each, those with the earliest choices first."""
    for total in range(sum(len(options) - 1 for options in choices) + 1):
        yield from _summing(choices, total)


def _summing(choices: list[list[Spec]], total: int) -> Iterator[list[Spec]]:
    if not choices:
        if total == 0:
            yield []
        return
    for i, option in enumerate(choices[0][: total + 1]):
        for rest in _summing(choices[1:], total - i):
            yield [option, *rest]


def _leading(
    parameters: list[inspect.Parameter], uses: list[Uses], shapes: list[TensorSpec], sizes: list[int]
) -> list[TensorSpec]:
    """Shapes for the first tensor; its rank, where the source shows it, goes first."""
    rank = next((use.rank for use in uses if use.rank), None)
    if rank is None:
        return shapes
    return _of_rank(rank, shapes, sizes)


def _hinted(hints: Hints, sizes: list[int]) -> Iterator[TensorSpec]:
    """Tensors of the ranks and widths that errors named; those that fulfil both come first."""
    for rank in hints.ranks:
        for size in _unique([*hints.sizes[:2], *sizes[:2], 8, 3]):
            yield from (TensorSpec("f32", shape) for shape in _FORMS.get(rank, _no_forms)(size))
    for length in hints.sizes[:3]:
        yield from (TensorSpec("f32", (2, width, length)) for width in sizes[:2] if length > width)
    for size in hints.sizes if not hints.ranks else ():
        for rank in (2, 3, 4):
            yield from (TensorSpec("f32", shape) for shape in _FORMS[rank](size)[:2])


def _no_forms(size: int) -> list[tuple[int, ...]]:
    return []


_FORMS: dict[int, Callable[[int], list[tuple[int, ...]]]] = {
    1: lambda c: [(c,)],
    2: lambda c: [(2, c)],
    3: lambda c: [(2, 4, c), (2, c, 4)],
    4: lambda c: [(2, c, 8, 8), (2, 4, 4, c), (2, c, 4, 4)],
    5: lambda c: [(1, c, 4, 8, 8), (1, 2, 4, 4, c)],
}
"""Rank -> shapes with a given width."""


def _of_rank(rank: int, shapes: list[TensorSpec], sizes: list[int]) -> list[TensorSpec]:
    made = [TensorSpec("f32", shape) for c in (*sizes, 8) for shape in _FORMS.get(rank, _no_forms)(c)]
    return _unique([*(shape for shape in shapes if len(shape.shape) == rank), *made]) or shapes


def _input(parameter: inspect.Parameter, spec: Spec) -> Input:
    named = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    return Input(spec, parameter.name if named else None)


def _choices(
    parameter: inspect.Parameter, use: Uses, shape: TensorSpec, shapes: list[TensorSpec], sizes: list[int]
) -> list[Spec]:
    """What one parameter may be when the leading tensor has `shape`."""
    kind = kind_of(parameter)
    if kind is not None and kind.name in ("int", "float", "bool"):
        return [Literal({"int": 2, "float": 0.5, "bool": True}[kind.name])]
    name = parameter.name.lower()
    if use.keys:
        return [Group("dict", tuple(shape for _ in use.keys), tuple(use.keys))]
    if use.rank and use.rank != len(shape.shape):
        return list(_of_rank(use.rank, shapes, sizes)[:6])
    found = [*_scalars(name, use), *_containers(kind, use, shape)]
    if use.items and not use.rank:
        found.append(Group("tuple", (Literal(_SIDE),) * use.items))  # a size such as (height, width)
    return _unique([*found, *_tensors(name, use, shape, shapes)])


def _scalars(name: str, use: Uses) -> Iterator[Spec]:
    """Numbers, and tensors of one element."""
    if use.count or _SIDE_NAMES.search(name):
        yield Literal(_SIDE)
    if use.index and (use.of_cells or not _INTEGER_NAMES.search(name)):
        yield Literal(1)
    if use.index or use.count or use.one:
        yield TensorSpec("i32", (), 2 if use.index else None)
    if use.one:
        yield TensorSpec("f32", ())
    if use.flag:
        yield Literal(True)


def _containers(kind: Kind | None, use: Uses, shape: TensorSpec) -> Iterator[Spec]:
    if use.grows or (kind is not None and kind.name in ("list", "List", "Sequence")):
        yield Group("list", (shape,) * (use.items or 2))
    elif kind is not None and kind.name in ("tuple", "Tuple"):
        numbers = [item for item in kind.items if item.name == "int"]
        yield Group("tuple", (Literal(_SIDE) if numbers else shape,) * (len(kind.items) or use.items or 2))
    elif use.items:
        yield Group("tuple", (shape,) * use.items)


def _tensors(name: str, use: Uses, shape: TensorSpec, shapes: list[TensorSpec]) -> Iterator[Spec]:
    dims = shape.shape
    if use.mask or _MASK_NAMES.search(name):
        booleans = [TensorSpec("bool", dims), TensorSpec("bool", dims[:2])]
        numbers = [TensorSpec("i32", dims[:2], 2), TensorSpec("f32", dims), TensorSpec("f32", dims[:2])]
        # A graph refuses to calculate with booleans where NumPy does it.
        yield from (*numbers, *booleans) if use.number and not use.mask else (*booleans, *numbers)
        if len(dims) == 3:
            square = (dims[1], dims[1])
            yield from (TensorSpec("f32", (dims[0], *extra, *square)) for extra in ((), (1,)))
            yield TensorSpec("f32", square)
    elif use.lookup or (_INTEGER_NAMES.search(name) and not _EMBEDDED.search(name)):
        if shape.dtype[0] == "i":
            yield shape
        if use.bound:
            yield from (TensorSpec("i32", (2, 8), use.bound), TensorSpec("i32", (2, 2, 8), use.bound))
        yield from (TensorSpec("i32", dims[:1], 2), TensorSpec("i32", dims[:2], 2))
        if len(dims) > 2:
            yield TensorSpec("i32", (dims[0], *dims[2:]), 2)  # a class for each pixel
        yield shape
    else:
        yield shape
        yield from (other for other in shapes[:3] if other != shape)


def _from_layers(target: Any) -> Iterator[TensorSpec]:
    if not isinstance(target, ms.nn.Cell):
        return
    sides = _image_sides(target)
    seen: set[TensorSpec] = set()
    for _, cell in target.cells_and_names():
        for shape in _of_layer(cell, sides):
            if shape not in seen:
                seen.add(shape)
                yield shape


def _image_sides(target: Any) -> tuple[tuple[int, int], ...]:
    """Heights and widths of images: as the constructor's defaults, a Cell or its configuration says, or common ones."""
    held = {name: p.default for name, p in inspect.signature(type(target)).parameters.items()}
    for _, cell in target.cells_and_names():
        for name, value in vars(cell).items():
            held.setdefault(name, value)
            if PARAMETER.search(name):
                held = {**getattr(value, "__dict__", {}), **held}
    for name, value in held.items():
        sides = list(value) if isinstance(value, (tuple, list)) else [value]
        if _IMAGE_NAMES.search(name) and sides and all(type(side) is int and side > 0 for side in sides):
            return ((sides[0], sides[-1]),)
    return ((16, 16), (32, 32), (64, 64), (224, 224))


def _of_layer(cell: Any, sides: tuple[tuple[int, int], ...]) -> Iterator[TensorSpec]:
    """Shapes that a layer of MindSpore takes, by the sizes that it keeps."""
    above = (c for c in type(cell).__mro__ if c.__module__.startswith("mindspore.") and c is not ms.nn.Cell)
    name = next((c.__name__ for c in above), None)
    if name is None:
        return
    channels = _channels(cell)
    vocabulary = _integer(cell, "vocab_size", "num_embeddings")
    normalized = getattr(cell, "normalized_shape", None)
    if vocabulary is not None:
        yield TensorSpec("i32", (2, 8), vocabulary)
        yield TensorSpec("i32", (2,), vocabulary)
    elif isinstance(normalized, (tuple, list)):
        yield TensorSpec("f32", (2, 4, *normalized))
        yield TensorSpec("f32", (2, *normalized))
    elif channels is None:
        return
    elif "1d" in name:
        yield from (TensorSpec("f32", (2, channels, 16)), TensorSpec("f32", (4, channels)))
    elif "3d" in name:
        yield TensorSpec("f32", (1, channels, 8, 16, 16))
    elif "2d" in name or name == "GroupNorm":
        yield from (TensorSpec("f32", (2 if high < 64 else 1, channels, high, wide)) for high, wide in sides)
    else:
        yield from (TensorSpec("f32", (2, channels)), TensorSpec("f32", (2, 4, channels)))


def _channels(cell: Any) -> int | None:
    return _integer(cell, "in_channels", "in_features", "num_features", "num_channels", "input_size")


def _integer(cell: Any, *names: str) -> int | None:
    found = (getattr(cell, name, None) for name in names)
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), None)


def _sizes(target: Any) -> list[int]:
    """Widths that a tensor may have: a matrix multiplies something with one of its own, a vector is added to something,
    and an attribute such as `num_labels` often is one."""
    if not isinstance(target, ms.nn.Cell):
        return []
    layers = [size for _, cell in target.cells_and_names() if (size := _channels(cell)) is not None]
    own = list(target.get_parameters(expand=False))
    parameters = [size for p in (own or list(target.get_parameters()))[:3] for size in reversed(p.shape[-2:])]
    numbers = [value for name, value in vars(target).items() if type(value) is int and own_attribute(name)]
    found = [*layers[:4], *parameters, *numbers]
    return [size for size in dict.fromkeys(found) if 1 < size <= _WIDEST]


def _from_sizes(sizes: list[int]) -> Iterator[TensorSpec]:
    for size in sizes:
        yield TensorSpec("f32", (2, size))
        yield TensorSpec("f32", (2, 4, size))


def _tensor(text: str) -> TensorSpec:
    spec = parse_input(text).spec
    assert isinstance(spec, TensorSpec)
    return spec


def _unique(specs: list[Any]) -> list[Any]:
    return list(dict.fromkeys(specs))
