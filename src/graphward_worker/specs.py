"""The little language of inputs: `f32[2,3]`, `i64[2,16]<30522`, `(bool[2], 3)`, `mask=None`.

Used on both sides: the client checks what a user typed, the worker builds the values. Standard library only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Union

DTYPES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "bfloat16",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bool": "bool",
    "c64": "complex64",
    "c128": "complex128",
}
"""Short name -> the name of the dtype in MindSpore."""

_FORMS = "a tensor (f32[2,3], i64[2,16]<30522), a Python literal, or a tuple, list or dict of these"
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_CONSTANTS = {"None": None, "True": True, "False": False}


class SpecError(ValueError):
    """A spec that does not parse: `spec` as typed, `position` (0-based, in characters), `allowed` there."""

    def __init__(self, spec: str, position: int, found: str, allowed: str):
        self.spec = spec
        self.position = position
        self.found = found
        self.allowed = allowed
        super().__init__(f"input spec {spec!r}: {found} at character {position + 1}; expected {allowed}")


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of `shape`; integers lie in `0 <= value < bound` when there is a bound."""

    dtype: str
    shape: tuple[int, ...]
    bound: int | None = None

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]" + ("" if self.bound is None else f"<{self.bound}")


@dataclass(frozen=True)
class Literal:
    """A Python number, string, boolean or None, handed over as it stands."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Group:
    """`kind` is tuple, list, dict or mutable (`mindspore.mutable` around one item); `keys` only for a dict."""

    kind: str
    items: tuple[Spec, ...]
    keys: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.kind == "dict":
            return "{" + ", ".join(f"{k!r}: {v}" for k, v in zip(self.keys, self.items)) + "}"
        inside = ", ".join(map(str, self.items))
        if self.kind == "tuple":
            return f"({inside},)" if len(self.items) == 1 else f"({inside})"
        return f"[{inside}]" if self.kind == "list" else f"mutable({inside})"


Spec = Union[TensorSpec, Literal, Group]


@dataclass(frozen=True)
class Input:
    """One argument: positional, or by keyword when it has a `name`."""

    spec: Spec
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.name}={self.spec}" if self.name else str(self.spec)


def parse_input(text: str) -> Input:
    """Read `SPEC` or `name=SPEC`. Raises SpecError."""
    parser = _Parser(text)
    keyword = re.match(r"\s*([A-Za-z_]\w*)\s*=", text)
    if keyword:
        parser.at = keyword.end()
    spec = parser.value()
    parser.skip()
    if parser.at < len(text):
        raise parser.error("the end of the spec")
    return Input(spec, keyword.group(1) if keyword else None)


def tensors(spec: Spec) -> Iterator[TensorSpec]:
    """The tensors of a spec from left to right."""
    if isinstance(spec, TensorSpec):
        yield spec
    elif isinstance(spec, Group):
        for item in spec.items:
            yield from tensors(item)


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.at = 0

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self) -> str:
        self.skip()
        return self.text[self.at : self.at + 1]

    def error(self, allowed: str) -> SpecError:
        self.skip()
        found = f"unexpected {self.text[self.at]!r}" if self.at < len(self.text) else "unexpected end"
        return SpecError(self.text, self.at, found, allowed)

    def take(self, char: str, allowed: str) -> None:
        if self.peek() != char:
            raise self.error(allowed)
        self.at += 1

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def value(self) -> Spec:
        char = self.peek()
        if char == "(":
            return self.sequence("tuple", "(", ")")
        if char == "[":
            return self.sequence("list", "[", "]")
        if char == "{":
            return self.mapping()
        start = self.at
        name = self.match(_NAME)
        if name is not None:
            return self.named(name, start)
        return self.literal()

    def literal(self) -> Literal:
        text = self.match(_NUMBER) or self.match(_STRING)
        if text is None:
            raise self.error(_FORMS)
        return Literal(ast.literal_eval(text))

    def named(self, name: str, start: int) -> Spec:
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name])
        if name in DTYPES:
            return self.tensor(name)
        if name == "mutable":
            self.take("(", "'(' after mutable")
            item = self.value()
            self.take(")", "')' after the value of mutable")
            return Group("mutable", (item,))
        known = ", ".join(DTYPES)
        raise SpecError(self.text, start, f"unknown name {name!r}", f"a dtype ({known}), None, True, False or mutable")

    def tensor(self, dtype: str) -> TensorSpec:
        self.take("[", f"'[' and the shape after {dtype}, as in {dtype}[2,3] ({dtype}[] is a scalar)")
        shape: list[int] = []
        while self.peek() != "]":
            if shape:
                self.take(",", "',' or ']'")
                if self.peek() == "]":
                    break
            size = self.match(re.compile(r"\d+"))
            if size is None:
                raise self.error("a size (a whole number)")
            shape.append(int(size))
        self.at += 1
        if self.peek() != "<":
            return TensorSpec(dtype, tuple(shape))
        if dtype[0] not in "iu":
            raise self.error(f"nothing: only an integer tensor has a bound, and {dtype} is none")
        self.at += 1
        bound = self.match(re.compile(r"[1-9]\d*"))
        if bound is None:
            raise self.error("a whole number above 0 as the bound")
        return TensorSpec(dtype, tuple(shape), int(bound))

    def sequence(self, kind: str, opening: str, closing: str) -> Spec:
        self.take(opening, opening)
        items: list[Spec] = []
        comma = False
        while self.peek() != closing:
            if items and not comma:
                raise self.error(f"',' or {closing!r}")
            items.append(self.value())
            comma = self.peek() == ","
            self.at += comma
        self.at += 1
        if kind == "tuple" and len(items) == 1 and not comma:
            return items[0]
        return Group(kind, tuple(items))

    def mapping(self) -> Group:
        self.take("{", "{")
        keys: list[Any] = []
        items: list[Spec] = []
        while self.peek() != "}":
            if items:
                self.take(",", "',' or '}'")
                if self.peek() == "}":
                    break
            keys.append(self.literal().value)
            self.take(":", "':' and a value after the key")
            items.append(self.value())
        self.at += 1
        return Group("dict", tuple(items), tuple(keys))
