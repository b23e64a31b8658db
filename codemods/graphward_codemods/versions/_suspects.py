"""What the bytes of a file tell of the names of MindSpore in it: most files name nothing that has changed, and need no
look at their tree, or no tree at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from graphward.knowledge.names import canonical
from graphward.knowledge.renames import VERSIONS, keyword_changes, version

_STATEMENT = re.compile(
    rb"[ \t]*(?:from[ \t]+(mindspore[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))"
)
_ITEM = re.compile(rb"([\w.]+|\*)(?:\s+as\s+(\w+))?")
_COMMENT = re.compile(rb"#[^\n]*")


@lru_cache(maxsize=8)
def named(data: bytes) -> frozenset[str]:
    """The dotted names of MindSpore that a file seems to use, by the paths that its imports take; `mindspore.*` for a
    star import. Names that the file gives to something else by itself may be among them."""
    aliases: dict[bytes, set[str]] = {}
    found: set[str] = set()
    for alias, meaning in _imports(data.replace(b"\\\n", b"  ")):
        found.add(meaning)
        if alias:
            aliases.setdefault(alias, set()).add(meaning)
    if aliases:
        heads = b"|".join(map(re.escape, aliases))
        chains = set(re.findall(rb"\b(%b)((?:\.\w+)+)" % heads, data))
        found.update(meaning + chain.decode() for head, chain in chains for meaning in aliases[head])
    return frozenset(found)


def _imports(data: bytes) -> Iterator[tuple[bytes, str]]:
    """`(bound name, meaning)` of what looks like an import of MindSpore; no name where it only names a module."""
    position = data.find(b"mindspore")
    while position >= 0:
        start = data.rfind(b"\n", 0, position) + 1
        statement = _STATEMENT.match(data, start)
        end = position + 9
        if statement is not None and statement.end() > position:
            end = statement.end()
            if statement[1] is not None:
                for name, alias in _ITEM.findall(_COMMENT.sub(b"", statement[2])):
                    yield alias or name, f"{statement[1].decode()}.{name.decode()}"
            else:
                for name, alias in _ITEM.findall(_COMMENT.sub(b"", statement[3])):
                    if name.split(b".")[0] == b"mindspore":
                        yield alias or b"mindspore", name.decode() if alias else "mindspore"
                        yield b"", name.decode()
        position = data.find(b"mindspore", end)


@lru_cache(maxsize=8)
def holds_changed_name(data: bytes) -> bool:
    """Whether a file seems to use a name that some version lacks or deprecates."""
    return any(_changed(name) for name in named(data))


@lru_cache(maxsize=65536)
def _changed(written: str) -> bool:
    if written.endswith("*"):
        return True
    name = canonical(written)
    return any(
        table.missing(written) is not None or name in table.below.deprecated or name in table.above.deprecated
        for table in map(version, VERSIONS)
    )


def holds_any(data: bytes, names: frozenset[str]) -> bool:
    """Whether a file seems to use one of the public names."""
    return any(name in names or canonical(name) in names or name.endswith("*") for name in named(data))


def holds_changed_keyword(data: bytes) -> bool:
    """Whether a file seems to call a function whose keywords have changed, and to use one of these keywords."""
    wanted = {keyword for name in named(data) for keyword in keyword_changes(canonical(name))}
    return bool(wanted) and re.search(rb"\b(?:%b)\s*=" % "|".join(wanted).encode(), data) is not None
