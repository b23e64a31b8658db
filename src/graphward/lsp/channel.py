"""Questions to a checker's process from the loop that talks to the client: one at a time, each with what has changed
since the one before, asked again of a new process when one dies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from .documents import Session
from .process import CheckerDied, CheckerProcess, News, Question
from .settings import EditorSettings

logger = logging.getLogger(__name__)


class Channel:
    """One process and what it was told. `folders` and `settings` say how things stand at the client."""

    def __init__(
        self, process: CheckerProcess, session: Session, folders: Callable[[], tuple[Path, ...]],
        settings: Callable[[], EditorSettings],
    ):  # fmt: skip
        self.process = process
        self._session, self._folders, self._settings = session, folders, settings
        self._told: dict[str, int] = {}
        self._scopes: dict[Path, tuple[Path, ...]] = {}
        self._forget = False
        self._thread = ThreadPoolExecutor(1, process.name)
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Future[Any]] = set()

    def forget(self) -> None:
        """The disk has changed: it is read again for the next question."""
        self._forget = True

    def depends(self, path: Path, scope: tuple[Path, ...]) -> None:
        """Tell the files that a document depends on."""
        self._scopes[path] = scope

    async def ask(
        self, method: str, *arguments: Any, limit: float | None = None, on_part: Callable[[Any], None] | None = None
    ) -> Any:
        """The answer. Raises CheckerDied when two processes ended over this question, or one took longer than `limit`
        seconds, and what the method raised. When the caller does not wait any more, the question is answered all the
        same before the next."""
        asked = asyncio.ensure_future(self._ask(method, arguments, limit, on_part))
        self._under_way.add(asked)
        asked.add_done_callback(self._settled)
        return await asyncio.shield(asked)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _settled(self, asked: asyncio.Future[Any]) -> None:
        self._under_way.discard(asked)
        if not asked.cancelled():
            asked.exception()  # nobody may be waiting for it any more

    async def _ask(
        self, method: str, arguments: tuple[Any, ...], limit: float | None, on_part: Callable[[Any], None] | None
    ) -> Any:
        loop = asyncio.get_running_loop()

        def pass_on(part: Any) -> None:
            if on_part is not None:
                loop.call_soon_threadsafe(on_part, part)

        async with self._turn:
            started = loop.time()
            for attempt in (1, 2):
                if self.process.pid is None:
                    self._told.clear()
                question = Question(self._news(), method, arguments)
                ask = partial(self.process.ask, question, limit=limit, on_part=pass_on)
                try:
                    return await loop.run_in_executor(self._thread, ask)
                except CheckerDied as error:
                    late = limit is not None and loop.time() - started >= limit
                    if late:
                        raise CheckerDied(f"it took longer than {limit:.0f} seconds") from None
                    if attempt == 2:
                        raise
                    logger.warning("%s; it is started again", error)
        raise AssertionError("unreachable")

    def _news(self) -> News:
        documents = self._session.documents()
        new = tuple(d for d in documents if self._told.get(d.uri) != d.serial)
        closed = tuple(self._told.keys() - {d.uri for d in documents})
        self._told = {d.uri: d.serial for d in documents}
        forget, self._forget = self._forget, False
        return News(new, closed, self._folders(), self._settings(), dict(self._scopes), forget)
