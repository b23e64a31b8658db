"""The names in a file that the target version does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from graphward.knowledge.names import canonical
from graphward.knowledge.renames import Successor, successors, version
from graphward.rules.module_context import ModuleContext

from ._mentions import Mention, given_by_project, guarded, mentions


def missing_mentions(context: ModuleContext) -> Iterator[tuple[Mention, str, Successor | None]]:
    """`(mention, the part of it that is missing, what is known to take its place)`; code that is prepared for a missing
    name left out."""
    target = context.options.target_version
    told: set[tuple[ast.AST, str]] = set()
    for mention in mentions(context):
        missing = _missing(target, mention.written)
        if missing is None or (mention.use is not None and mention.part(missing) is None):
            continue
        if mention.statement is not None:
            # A module that has gone is one finding, however many names are taken from it.
            if (mention.statement, missing) in told:
                continue
            told.add((mention.statement, missing))
        if not guarded(mention, context) and not given_by_project(missing, context):
            yield mention, missing, successors().get(canonical(missing))


@lru_cache(maxsize=65536)
def _missing(target: str, written: str) -> str | None:
    return version(target).missing(written)
