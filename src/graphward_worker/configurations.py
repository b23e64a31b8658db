"""Configuration objects that nobody wrote down: the class that a constructor means, made with its defaults and made
small.

What an author chose as defaults fits together, so all widths are divided by one number and nothing else about them
changes; counts of layers and vocabularies shrink on their own.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import mindspore as ms

from .signatures import constructor_of, source_of

_CLASS = re.compile(r"(Config|Cfg|Configuration|Args|Arguments|Settings|Options|HParams)$")
PARAMETER = re.compile(r"^(\w+_)?(config|cfg|conf|args|opts?|hparams)$")
"""Names of parameters that stand for a configuration."""

_LAYERS = re.compile(r"(^|_)(layers?|blocks|depth)$|^n_layer$|^num_\w*(layers|blocks)$")
_STAGES = re.compile(r"^depths?$|^(num_)?(layers|blocks|depths)$|^layers_per_\w*block$|^num_\w*(layers|blocks)$")
"""Counts of layers that may be given for each stage of a network."""

_EXPERTS = re.compile(r"^(num|n)_\w*experts$")
_VOCABULARY = re.compile(r"vocab_size$|^n_vocab$")
_TOKEN = re.compile(r"_token_id$|_(id|index)$")
_WIDTH = re.compile(
    r"^d_|^n_embd$|^n_inner$|^(dim|width|size)$|_dims?$|_channels$|_width$|_rank$|(hidden|embedding|intermediate|inner"
    r"|feature|projection|model|mlp|ffn|word_embed_proj|encoder|state|cross_attention)\w*_(size|sizes)$|^hidden_sizes?$"
)
_NO_WIDTH = re.compile(r"image|patch|vocab|^num_|max|window|kernel|position|conv_|spectrogram|fft|bins|in_channels$")
_WHOLE = re.compile(r"head|intermediate|inner|ffn|mlp|rank|state|d_kv|d_ff")
"""Widths that are not split into heads."""

_HEADS = re.compile(r"heads?$")
_GROUPS = re.compile(r"groups$")
_SMALL = 2  # layers
_FEW = 4  # experts
_WORDS = 1024
_WIDE = 128  # the widest layer after shrinking has at least so many
_NARROW = 16  # a smaller number is no width
_DEPTH = 2  # configurations inside of configurations


class Configurations:
    """The configurations that `cls`, a class of `module`, may take."""

    def __init__(self, cls: type, module: ModuleType):
        self.cls = cls
        self.module = module

    def texts(self, wanted: list[str], name: str) -> list[str]:
        """Expressions for a parameter `name` whose annotation mentions the classes `wanted`, likeliest first, each
        small and then as its author made it."""
        own = attributes_read(self.cls, self.module, name, depth=1)
        reads = attributes_read(self.cls, self.module, name)
        ranked = []
        for order, (found, text, instance) in enumerate(self.candidates(wanted)):
            lacking = sum(not hasattr(instance, attribute) for attribute in own)
            below = sum(not hasattr(instance, attribute) for attribute in reads)
            alike = -len(_common(found.__name__, self.cls.__name__))
            ranked.append((found.__name__ not in wanted, lacking, below, alike, order, text, found, instance))
        ranked.sort(key=lambda item: item[:5])
        texts: list[str] = []
        for _, lacking, _, _, _, text, found, instance in ranked[:2]:
            if lacking and lacking > len(own) / 2:
                continue
            texts += small(text, found, instance, self.module) if text.endswith("()") else []
            texts.append(text)
        return list(dict.fromkeys(texts))

    def candidates(self, wanted: list[str]) -> Iterator[tuple[type, str, Any]]:
        """`(class, expression, object)`: classes the module knows, and configurations that such an object holds."""
        for found in self.classes(wanted):
            text = f"{name_of(found, self.module)}()"
            try:
                instance = found()
            except Exception:
                continue
            yield found, text, instance
            for attribute, value in list(getattr(instance, "__dict__", {}).items()):
                if _CLASS.search(type(value).__name__):
                    yield type(value), f"{text}.{attribute}", value

    def classes(self, wanted: list[str]) -> list[type]:
        named = [vars(self.module).get(name) for name in wanted]
        visible = [v for v in vars(self.module).values() if isinstance(v, type)]
        held = [v for c in (self.cls, *visible) for v in vars(c).values() if isinstance(v, type)]
        found = [c for c in (*visible, *held) if _CLASS.search(c.__name__)]
        usable = [c for c in (*named, *found) if isinstance(c, type) and not issubclass(c, ms.nn.Cell)]
        return [c for c in dict.fromkeys(usable) if c.__module__ != "builtins" and not inspect.isabstract(c)]


def small(text: str, cls: type, instance: Any, module: ModuleType) -> list[str]:
    """Expressions that make a smaller object of the class than `text`; the smallest comes first."""
    found = []
    for scaled in (True, False):
        arguments = _arguments(cls, instance, scaled, module, _DEPTH)
        if arguments:
            written = f"{text[:-1]}{', '.join(f'{key}={value}' for key, value in arguments.items())})"
            try:
                eval(written, vars(module))
            except Exception:
                continue
            found.append(written)
    return found


def small_defaults(cls: type, module: ModuleType, scaled: bool) -> dict[str, str]:
    """Arguments that make something smaller than the defaults of a constructor do; `scaled`: also less wide."""
    return _arguments(cls, SimpleNamespace(), scaled, module, 0)


def name_of(cls: Any, module: ModuleType) -> str:
    """How the module can spell a class or a function: by a name of its own, else by an import."""
    own = next((key for key, value in vars(module).items() if value is cls), None)
    return own or f"__import__({cls.__module__!r}, fromlist=['']).{cls.__qualname__}"


def attributes_read(cls: type, module: ModuleType, name: str, depth: int = 3) -> list[str]:
    """What the constructor of a Cell, and those of the Cells that it makes, read from the object called `name`."""
    found: dict[str, None] = {}
    seen: set[type] = set()
    waiting = [cls]
    for _ in range(depth):
        following: list[type] = []
        for one in waiting:
            if one in seen:
                continue
            seen.add(one)
            text = source_of(constructor_of(one)) or ""
            found.update(dict.fromkeys(re.findall(rf"\b{name}\.([A-Za-z]\w*)(?!\w*\()", text)))
            for word in dict.fromkeys(re.findall(rf"\b([A-Z]\w+)\((?:\w+=)?{name}\b", text)):
                made = vars(module).get(word)
                if isinstance(made, type) and issubclass(made, ms.nn.Cell):
                    following.append(made)
        waiting = following
    return list(found)


def _arguments(cls: type, instance: Any, scaled: bool, module: ModuleType, depth: int) -> dict[str, str]:
    """Keyword arguments that make the object smaller."""
    parameters = _parameters(cls, instance)
    values = {name: value for name, value in parameters.items() if value is not None}
    chosen: dict[str, Any] = {n: _WORDS for n, v in parameters.items() if v is None and _VOCABULARY.search(n)}
    counts = {}
    for name, value in values.items():
        if isinstance(value, (list, tuple)) and value and _STAGES.search(name) and all(type(v) is int for v in value):
            if max(value) > 1 and not any(isinstance(v, bool) for v in value):
                chosen[name] = type(value)(min(v, 1) for v in value)
        if type(value) is not int:
            continue
        if _STAGES.search(name) and name.startswith("layers_per") and value > 1:
            chosen[name] = 1
        elif _LAYERS.search(name) and value > _SMALL:
            chosen[name] = _SMALL
            counts[value] = _SMALL
        elif _EXPERTS.search(name) and value > _FEW:
            chosen[name] = _FEW
        elif _VOCABULARY.search(name) and value > _WORDS:
            tokens = [v for k, v in vars(instance).items() if _TOKEN.search(k) and type(v) is int and v < value]
            chosen[name] = max([_WORDS, *(token + 1 for token in tokens)])
    for name, value in values.items():
        if isinstance(value, list) and len(value) in counts and len(value) > _FEW and _plain(value):
            chosen[name] = value[: counts[len(value)]]
    if scaled:
        widths = {name: value for name, value in values.items() if name not in chosen and _is_width(name, value)}
        counted = [v for k, v in values.items() if _HEADS.search(k)]
        heads = [n for v in counted for n in _numbers(v) if type(n) is int and n > 0]
        split = [n for name, value in widths.items() if not _WHOLE.search(name) for n in _numbers(value)]
        groups = [v for k, v in values.items() if _GROUPS.search(k) and type(v) is int and v > 0]
        factor = _factor(widths, split, [*(2 * n for n in heads), *groups])
        if factor > 1:
            chosen.update({name: _divided(value, factor) for name, value in widths.items()})
    texts = {name: repr(value) for name, value in chosen.items()}
    if hasattr(instance, "_attn_implementation"):  # which is chosen by whoever loads a model, not by a default
        texts["attn_implementation"] = "'eager'"
    for name, value in values.items() if depth else ():
        if _CLASS.search(type(value).__name__) and hasattr(value, "__dict__"):
            inner = _arguments(type(value), value, scaled, module, depth - 1)
            if dataclasses.is_dataclass(value):
                made = ", ".join(f"{key}={text}" for key, text in inner.items())
                texts[name] = f"{name_of(type(value), module)}({made})"
            elif inner:
                kind = getattr(value, "model_type", None)  # tells a composed configuration which class it is
                named = {"model_type": repr(kind)} if isinstance(kind, str) and kind else {}
                texts[name] = "{" + ", ".join(f"{k!r}: {v}" for k, v in {**named, **inner}.items()) + "}"
    return texts


def _parameters(cls: type, instance: Any) -> dict[str, Any]:
    """What the constructor's parameters became on the object."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return {}
    found = {}
    for p in parameters:
        if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            default = None if p.default is inspect.Parameter.empty else p.default
            try:
                found[p.name] = getattr(instance, p.name, default)
            except Exception:  # a property of the user's may raise anything
                found[p.name] = default
    return found


def _is_width(name: str, value: Any) -> bool:
    if not _WIDTH.search(name) or _NO_WIDTH.search(name):
        return False
    if isinstance(value, (list, tuple)):
        return bool(value) and all(type(item) is int and item >= _NARROW for item in value)
    return type(value) is int and value >= _NARROW


def _numbers(value: Any) -> list[int]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _factor(widths: dict[str, Any], split: list[int], parts: list[int]) -> int:
    """The largest power of two that divides all widths and leaves them wide enough; those in `split` stay multiples of
    what they are now multiples of among `parts`: groups, and twice the heads since half of a head may be rotated."""
    numbers = [n for value in widths.values() for n in _numbers(value)]
    factor = 1
    while numbers:
        following = factor * 2
        if any(n % following or n // following < 4 for n in numbers) or max(numbers) // following < _WIDE:
            break
        if any(n % part == 0 and n > part and (n // following) % part for n in split for part in parts):
            break
        factor = following
    return factor


def _divided(value: Any, factor: int) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(item // factor for item in value)
    return value // factor


def _plain(values: list[Any]) -> bool:
    return all(isinstance(v, (bool, int, float, str)) for v in values)


def _common(a: str, b: str) -> str:
    """The beginning that two names share."""
    length = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return a[:length]
