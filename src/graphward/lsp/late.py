"""The protocol's classes as they are written, each finished when it is first used.

lsprotocol has more than five hundred classes, and to write and compile the methods of all of them is most of what it
takes to load it; a session meets some dozens.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import attrs

_define: Any = attrs.define


def load_protocol() -> None:
    """Import `lsprotocol.types`; its classes become those of `attrs` when one asks for their fields, or makes an
    instance."""
    if "lsprotocol.types" not in sys.modules:
        with _defined_late():
            import lsprotocol.types  # noqa: F401
        from lsprotocol import _hooks

        # It would finish them all, to resolve their annotations; `_finish` does so for each. A version without this
        # flag is slower, no more.
        if hasattr(_hooks, "_resolved_forward_references"):
            _hooks._resolved_forward_references = True


@contextlib.contextmanager
def _defined_late() -> Iterator[None]:
    attrs.define = _late  # type: ignore[assignment]
    try:
        yield
    finally:
        attrs.define = _define


def _late(cls: type | None = None, **options: Any) -> Any:
    """In the place of `attrs.define`. What has options, or a constructor of its own, is made as always."""
    if cls is None or options or "__init__" in vars(cls):
        return _define(cls, **options)
    setattr(cls, "__attrs_attrs__", _Fields())  # noqa: B010
    setattr(cls, "__init__", _make)  # noqa: B010
    return cls


class _Fields:
    """Stands for the fields of a class until they are asked for."""

    def __get__(self, instance: object, owner: type) -> Any:
        for late in owner.__mro__:
            if isinstance(vars(late).get("__attrs_attrs__"), _Fields):
                _finish(late)
        return getattr(owner, "__attrs_attrs__")  # noqa: B009


def _make(self: Any, *args: Any, **named: Any) -> None:
    type(self).__attrs_attrs__  # noqa: B018
    type(self).__init__(self, *args, **named)


def _finish(cls: Any) -> None:
    del cls.__attrs_attrs__, cls.__init__
    # Slots would need another class of the same name, while this one is in use already.
    _define(cls, slots=False)
    names = getattr(sys.modules[cls.__module__], "ALL_TYPES_MAP", None)
    if names is not None:
        attrs.resolve_types(cls, names, {})
