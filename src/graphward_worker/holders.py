"""Inputs seen in Cells that hold the target: when one of these runs with inferred inputs, what it hands to the target
is what the target takes, and the target inside of it was made as its author makes it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Callable

import mindspore as ms

from . import loading
from .configurations import name_of
from .search import Search
from .signatures import constructor_of, required, source_of
from .specs import DTYPES, Group, Input, Literal, Spec, TensorSpec

_LEVELS = 3  # of holders above the target
_HOLDERS = 5
_ATTEMPTS = 10  # calls of each holder
_LARGEST = 1 << 22  # elements of an input
_SHORT = {name: short for short, name in DTYPES.items()}


def from_holders(module: ModuleType, expr: str, train: bool, deadline: float) -> Search | None:
    """A search that has found a target and specs, or None."""
    try:
        cls = loading.evaluate(module, expr)
    except Exception:
        return None
    if not isinstance(cls, type) or not issubclass(cls, ms.nn.Cell):
        return None
    known = list(_holders(cls, module))[:_HOLDERS]
    for number, holder in enumerate(known):
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        until = time.monotonic() + left / (len(known) - number)
        search = Search(holder.home, holder.expr, train=train, deadline=until, attempts=_ATTEMPTS)
        with _watched(cls) as calls, contextlib.suppress(Exception, SystemExit):
            for _ in search.targets():
                with contextlib.suppress(Exception, SystemExit):
                    search.find()
                found = _usable(search, calls, module, holder, train, deadline)
                if found is not None:
                    return found
                break
    return None


@dataclass(frozen=True)
class _Holder:
    """A class, or the call of a function without arguments that returns a Cell, in the module `home`. `expr` names it
    there."""

    made: Any
    home: ModuleType
    expr: str

    @property
    def named(self) -> str:
        return str(self.made.__name__)


Calls = list[tuple[Any, tuple[Any, ...], dict[str, Any]]]


def _usable(
    search: Search, calls: Calls, module: ModuleType, holder: _Holder, train: bool, deadline: float
) -> Search | None:
    """The first recorded call that can be written down and made again on its own."""
    names = {id(cell): name for name, cell in search.target.cells_and_names()}
    seen: set[str] = set()
    for instance, args, kwargs in calls:
        name = names.get(id(instance))
        specs, dropped = _specs(instance.construct, args, kwargs)
        if name is None or specs is None or str(specs) in seen:
            continue
        seen.add(str(specs))
        made = search.expr
        if holder.home is not module:
            made = f"{name_of(holder.made, module)}{made[len(holder.named) :]}"
        made += "" if made.endswith(")") else "()"
        own = Search(module, made + _path(name), train=train, deadline=deadline)
        try:
            own.target = own.call = loading.evaluate(module, own.expr)
            if train:
                own.target.set_train(True)
            own.attempt(specs)
        except Exception:
            continue
        own.specs = [str(spec) for spec in specs]
        own.notes += search.notes
        own.notes += [f"{key} is left out, since its value cannot be written down" for key in dropped]
        if name:
            own.notes.append(f"the Cell is the one that {holder.named} makes, and gets what that hands to it")
        return own
    return None


@contextlib.contextmanager
def _watched(cls: type) -> Iterator[Calls]:
    """Collects what the instances of a class are called with."""
    calls: Calls = []
    construct = cls.construct  # type: ignore[attr-defined]

    @functools.wraps(construct)
    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self) is cls and len(calls) < 16:
            calls.append((self, args, kwargs))
        return construct(self, *args, **kwargs)

    own = "construct" in vars(cls)
    cls.construct = noted  # type: ignore[attr-defined]
    try:
        yield calls
    finally:
        if own:
            cls.construct = construct  # type: ignore[attr-defined]
        else:
            del cls.construct  # type: ignore[attr-defined]


def _holders(cls: type, module: ModuleType) -> Iterator[_Holder]:
    """What makes a `cls`, then what makes these."""
    seen: set[Any] = {cls}
    level: list[Any] = [cls]
    for _ in range(_LEVELS):
        above = list(dict.fromkeys(h for made in level for h in _makers(made, module) if h.made not in seen))
        seen.update(holder.made for holder in above)
        yield from above
        level = [holder.made for holder in above]


def _makers(made: Any, module: ModuleType) -> Iterator[_Holder]:
    called = re.compile(rf"\b{re.escape(made.__name__)}\b")
    for home in _modules(made, module):
        # A table of classes from which a constructor picks one; a mapping of another class may load what it holds.
        tables = [name for name, value in vars(home).items() if type(value) is dict and made in _values(value)]
        for name, value in list(vars(home).items()):
            if getattr(value, "__module__", None) != home.__name__ or value is made:
                continue
            is_class = isinstance(value, type) and issubclass(value, ms.nn.Cell)
            if not is_class and not (isinstance(value, FunctionType) and not required(value)):
                continue
            text = source_of(constructor_of(value) if is_class else value) or ""
            if called.search(text) or any(table in text for table in tables):
                yield _Holder(value, home, name if is_class else f"{name}()")


def _values(table: dict[Any, Any]) -> list[Any]:
    return [value for value in table.values() if isinstance(value, type)]


def _modules(made: Any, module: ModuleType) -> list[ModuleType]:
    """The module of the target, then loaded ones of the same package that know the class."""
    top = module.__name__.partition(".")[0]
    others = [
        other
        for name, other in sorted(sys.modules.items())
        if isinstance(other, ModuleType) and name.startswith(f"{top}.") and vars(other).get(made.__name__) is made
    ]
    return list(dict.fromkeys([module, *others]))


def _path(name: str) -> str:
    """`layers.0.attention` as it is written in Python; nothing for the outermost Cell."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split(".") if part)


def _specs(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Input] | None, list[str]]:
    """The specs of a call, None when a value that the call needs cannot be written as one; and the names of those that
    were left out because they are optional. Keywords with the value of the default do not count."""
    parameters = inspect.signature(function).parameters
    positional = list(parameters)[: len(args)]
    found: list[Input] = []
    dropped: list[str] = []
    for at, (name, value) in enumerate([*zip(positional, args), *kwargs.items()]):
        default = parameters[name].default if name in parameters else inspect.Parameter.empty
        if at >= len(args) and default is not inspect.Parameter.empty and value is default:
            continue
        spec = _spec(value)
        if spec is None:
            if default is not None:
                return None, dropped
            dropped.append(name)
            if at >= len(args):
                continue
            spec = Literal(None)
        found.append(Input(spec, name if at >= len(args) else None))
    return (found if len(positional) == len(args) else None), dropped


def _spec(value: Any) -> Spec | None:
    if isinstance(value, ms.Tensor):
        return _of_tensor(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return Literal(value) if type(value) in (type(None), bool, int, float, str) else None
    if isinstance(value, dict) and type(value) is dict:
        items = [_spec(item) for item in value.values()]
        plain = all(isinstance(key, (str, int)) for key in value)
        return Group("dict", tuple(items), tuple(value)) if plain and None not in items else None  # type: ignore[arg-type]
    if type(value) in (tuple, list):
        items = [_spec(item) for item in value]
        kind = "tuple" if isinstance(value, tuple) else "list"
        return None if None in items else Group(kind, tuple(items))  # type: ignore[arg-type]
    return None


def _of_tensor(value: ms.Tensor) -> TensorSpec | None:
    name = str(value.dtype).lower().removesuffix("_")
    short = _SHORT.get(name)
    if short is None or value.size > _LARGEST:
        return None
    bound = None
    if short[0] in "iu":
        highest = int(value.asnumpy().max()) if value.size else 0
        bound = max(1, highest + 1)
    return TensorSpec(short, tuple(value.shape), bound)
