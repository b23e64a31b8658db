"""Answers to what the client asks about a place: code actions and their edits, hovers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..engine.apply import DoesNotParse
from .actions import (
    EXPLAIN,
    FIX_ALL,
    FIX_RULE,
    MOVE,
    QUICK_FIX,
    SILENCE,
    SPLIT,
    Offer,
    Reference,
    edit_of,
    edit_to,
    wanted,
)
from .convert import in_cells, named, offset_at, range_of
from .documents import Result
from .hover import hover
from .server import GraphwardServer

T = TypeVar("T")
_CONTENT_MODIFIED = -32801


class Answers:
    """For one server."""

    def __init__(self, server: GraphwardServer):
        self._server = server

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The code actions for a range."""
        server, only = self._server, params.context.only
        owner, first = server.held(params.text_document.uri)
        result = await server.result(owner)
        if result is None or result.problem:
            return None
        asked = types.Range(_below(params.range.start, first), _below(params.range.end, first))
        offer = Offer(result, asked, server.client, server.page_link)
        found = await _beside(lambda: _offered(offer, only))
        if wanted(only, SPLIT) and (only or offer.end > offer.start):
            splits = Offer(await self._splits(result), asked, server.client, server.page_link)
            found += await _beside(lambda: list(splits.splits()))
        automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        # Without a resolve request, the edit of a whole run of fixes is worked out now: not at each move of the cursor.
        if only or server.client.resolves_edits or not automatic:
            whole = list(offer.rule_fixes()) if wanted(only, FIX_RULE) else []
            every = offer.fix_all() if wanted(only, FIX_ALL) else None
            for action in [*whole, *([every] if every else [])]:
                reference = Reference.read(action.data)
                if not server.client.resolves_edits and reference is not None:
                    action.data, action.edit = None, await self._whole_edit(result, reference)
                    if action.edit is None:
                        continue
                found.append(action)
        return found or None

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Give an action the edit that it was sent without. Raises JsonRpcException when the text has changed."""
        reference = Reference.read(action.data)
        if reference is None:
            return action
        server = self._server
        result = await server.result(reference.uri)
        if result is None or result.document.version != reference.version:
            raise JsonRpcException("the text has changed since the action was offered", _CONTENT_MODIFIED)
        try:
            if reference.whole:
                action.edit = await self._whole_edit(result, reference)
            else:
                source = await self._splits(result) if reference.does == "split" else result
                action.edit = await _beside(lambda: edit_of(source, reference, server.client))
        except DoesNotParse as error:
            raise JsonRpcException(f"this fix cannot be applied: {error}", _CONTENT_MODIFIED) from None
        if action.edit is None:
            raise JsonRpcException("this fix cannot be applied", _CONTENT_MODIFIED)
        return action

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What is known of the place under the pointer."""
        server = self._server
        owner, first = server.held(params.text_document.uri)
        result = await server.result(owner)
        if result is None or result.document.source is None:
            return None
        source = result.document.source
        offset = offset_at(source, _below(params.position, first), server.client.encoding)
        here = [f for f, _ in named(result) if f.span.start <= offset <= f.span.end]
        if not here:
            return None
        told = [(f, await server.page(f.code), server.page_link(f.code)) for f in here]
        markdown = server.client.shows_markdown
        text = await _beside(lambda: hover(source, told, markdown))
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        smallest = min(here, key=lambda f: f.span.end - f.span.start).span
        place = range_of(source, smallest.start, smallest.end, server.client.encoding)
        return types.Hover(types.MarkupContent(kind, text), in_cells(result.document, place)[1])

    async def _splits(self, result: Result) -> Result:
        """The document with the ways to split its graph functions in place of what was found in it."""
        return Result(result.document, await self._server.quick.ask("splits", result.document.uri))

    async def _whole_edit(self, result: Result, reference: Reference) -> types.WorkspaceEdit | None:
        """The edit of an action that fixes until nothing is left to fix."""
        document, server = result.document, self._server
        code = reference.name if reference.does == "rule" else ""
        after, refused = await server.quick.ask("fixed", document.uri, code, bool(reference.fix))
        for reason in refused:
            server.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"not applied: {reason}"))
        if after is None or server.session.document(document.uri) is not document:
            return None
        doubt = f"{code} has no fix that is safe" if reference.fix else ""
        return await _beside(lambda: edit_to(document, after, server.client, doubt))


def _offered(offer: Offer, only: Sequence[str] | None) -> list[types.CodeAction]:
    found: list[types.CodeAction] = []
    if wanted(only, QUICK_FIX):
        found += offer.quick_fixes()
    if wanted(only, MOVE) and (only or offer.end > offer.start):
        found += offer.moves()
    if wanted(only, SILENCE):
        found += offer.silences()
    if wanted(only, EXPLAIN):
        found += offer.explanations()
    return found


def _below(place: types.Position, lines: int) -> types.Position:
    return types.Position(place.line + lines, place.character)


async def _beside(function: Callable[[], T]) -> T:
    """On a thread, so that the loop goes on talking to the client."""
    return await asyncio.get_running_loop().run_in_executor(None, function)
