"""Arguments for a constructor that nobody declared: small values that fit together, by annotation and by name."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import mindspore as ms

from .signatures import Kind, kind_of, required

_SIZES = (8, 4, 16, 3)
"""Values tried for a constructor's widths, all at once, so that what has to be equal is equal."""

_INTEGERS = (
    (re.compile(r"head_(dim|size)|dim_head|size_per_head|patch"), 4),
    (re.compile(r"head|group"), 2),
    (re.compile(r"layer|depth|block|repeat|stage|step"), 2),
    (re.compile(r"kernel"), 3),
    (re.compile(r"stride|dilation"), 1),
    (re.compile(r"expan|ratio|factor|scale|multiplier|reduction"), 2),
    (re.compile(r"pad"), 0),
    (re.compile(r"vocab|num_embed|max_(len|seq|pos)|max_position"), 32),
    (re.compile(r"image|img|resolution|input_size"), 16),
    (re.compile(r"class|label"), 4),
)
_RATES = re.compile(r"prob|rate|drop|eps|momentum|alpha|beta|smooth|temperature")
_FLAGS = re.compile(r"^(use|with|has|is|do|enable|add|return)_|^bias$|^(affine|causal|training|transpose)$")
_CELLS = re.compile(r"^(net|network|backbone|model|module|cell|layer|block|encoder|decoder|fn|func)$")
_LOSSES = re.compile(r"loss|criterion")
_TEXTS = (
    (re.compile(r"act"), "relu"),
    (re.compile(r"reduction"), "mean"),
    (re.compile(r"pad(ding)?_mode"), "same"),
    (re.compile(r"data_format|layout"), "NCHW"),
)
_SEVERAL = {"tuple": 2, "Tuple": 2, "list": 2, "List": 2, "Sequence": 2, "Iterable": 2}


class Unknown(Exception):
    """A parameter whose value cannot be guessed; the text says what to write instead."""


def constructor_arguments(cls: type, module: ModuleType) -> Iterator[str]:
    """Texts of keyword arguments for the parameters that have no default, to be evaluated in the module. Raises Unknown
    when one has neither an annotation nor a name that says what it is."""
    try:
        parameters = required(cls)
    except (TypeError, ValueError):
        parameters = []
    if not parameters:
        yield ""
        return
    for several in (False, True):
        for size in _SIZES:
            values = [_Value(cls, module, size, several).text(p) for p in parameters]
            yield ", ".join(f"{p.name}={value}" for p, value in zip(parameters, values))


@dataclasses.dataclass
class _Value:
    """The choice of values for one attempt; `several`: a size without an annotation is a pair."""

    cls: type
    module: ModuleType
    size: int
    several: bool

    def text(self, parameter: inspect.Parameter) -> str:
        """The source text of the value of one parameter."""
        kind = kind_of(parameter)
        name = parameter.name.lower()
        if kind is None:
            return self.by_name(name)
        if kind.name in _SEVERAL:
            return self.sequence(kind, name)
        if kind.name in ("Cell", "Module", "Callable"):
            return self.cell(name, kind)
        if kind.name == "str":
            return self.word(name)
        simple = {"int": self.integer(name), "bool": "True", "float": _rate(name)}
        return simple.get(kind.name) or self.made(kind, name)

    def by_name(self, name: str) -> str:
        if name.endswith(("config", "cfg")):
            return self.configuration(name)
        if _CELLS.search(name) or _LOSSES.search(name):
            return self.cell(name, None)
        if _FLAGS.search(name):
            return "True"
        if _RATES.search(name):
            return "0.1"
        text = next((text for pattern, text in _TEXTS if pattern.search(name)), None)
        if text is not None and name != "reduction":
            return repr(text)
        if name == "normalized_shape" or (self.several and re.search(r"size|shape|resolution|dims|channels", name)):
            return self.sequence(Kind("tuple", (Kind("int"),) * (1 if name == "normalized_shape" else 2)), name)
        return self.integer(name)

    def integer(self, name: str) -> str:
        return str(next((value for pattern, value in _INTEGERS if pattern.search(name)), self.size))

    def word(self, name: str) -> str:
        text = next((text for pattern, text in _TEXTS if pattern.search(name)), None)
        if text is None:
            raise Unknown(f"cannot guess the text {name!r} of {self.cls.__name__}: write it into the target")
        return repr(text)

    def sequence(self, kind: Kind, name: str) -> str:
        item = kind.items[0].name if kind.items else "int"
        if item not in ("int", "float", "bool"):
            raise self.unknown(name, kind)
        value = {"int": self.integer(name), "float": _rate(name), "bool": "True"}[item]
        count = len(kind.items) if kind.name in ("tuple", "Tuple") and kind.items else _SEVERAL[kind.name]
        inside = ", ".join([value] * count)
        return f"[{inside}]" if kind.name in ("list", "List") else f"({inside},)"

    def cell(self, name: str, kind: Kind | None) -> str:
        """A layer made with the name under which the module imports `mindspore.nn`."""
        prefix = next((key for key, value in vars(self.module).items() if value is ms.nn), None)
        if prefix is None:
            raise self.unknown(name, kind)
        if re.search(r"act|norm", name):
            return f"{prefix}.ReLU()"
        return f"{prefix}.MSELoss()" if _LOSSES.search(name) else f"{prefix}.Dense({self.size}, {self.size})"

    def made(self, kind: Kind, name: str) -> str:
        """An object of a class that the module knows, such as a configuration."""
        found = vars(self.module).get(kind.name)
        if not isinstance(found, type) or found is self.cls:
            raise self.unknown(name, kind)
        values = [f"{p.name}={self.text(p)}" for p in required(found)]
        return f"{kind.name}({', '.join(values)})"

    def configuration(self, name: str) -> str:
        """An argument called `config` is an object of the only class of that name."""
        found = [key for key, value in vars(self.module).items() if isinstance(value, type) and key.endswith("Config")]
        if len(found) != 1:
            raise self.unknown(name, None)
        return self.made(Kind(found[0]), name)

    def unknown(self, name: str, kind: Kind | None) -> Unknown:
        what = f"{name!r}" if kind is None else f"{name!r} ({kind.name})"
        hint = f"write it into the target, as in {self.cls.__name__}({name}=...)"
        return Unknown(f"cannot guess {what} of {self.cls.__name__}: {hint}")


def _rate(name: str) -> str:
    return "2.0" if re.search(r"expan|ratio|factor|scale|multiplier", name) else "0.1"
