"""Progress of a command's work in the editor, which the user may cancel."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from .server import GraphwardServer


class Progress:
    """Shown where the client can; `on_cancel` is called at most once, from the loop."""

    def __init__(self, server: GraphwardServer, token: str | None):
        self._server, self._token = server, token

    @classmethod
    async def begun(cls, server: GraphwardServer, title: str, on_cancel: Callable[[], None]) -> Progress:
        """Ask the client for a progress bar and start it."""
        if not server.client.shows_progress:
            return cls(server, None)
        token = f"graphward-{uuid.uuid4()}"
        progress = server.work_done_progress
        try:
            await progress.create_async(token)
        except JsonRpcException:
            return cls(server, None)
        progress.tokens[token].add_done_callback(lambda future: on_cancel() if future.cancelled() else None)
        progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))
        return cls(server, token)

    def report(self, message: str) -> None:
        """How far it is."""
        if self._token is not None:
            self._server.work_done_progress.report(self._token, types.WorkDoneProgressReport(message=message))

    def end(self) -> None:
        """It is over."""
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(self._token, None)
