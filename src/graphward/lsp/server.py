"""The server: holds what the client holds, has it checked beside the loop that talks to the client, and shows what is
found for the text as it is now."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from .. import __version__
from ..errors import GraphwardError
from . import pages, proven
from .channel import Channel
from .client import ClientSupport
from .convert import changed, diagnostics, in_cells
from .documents import Document, Found, Result, Session, text_of
from .notebooks import Notebook
from .process import CheckerDied, CheckerProcess
from .protocol import Protocol
from .proven import Proven
from .settings import EditorSettings

logger = logging.getLogger(__name__)

SUFFIXES = (".py", ".pyi")
# Seconds: an edit that follows another this soon is one of many; these wait for a part of what a check takes, at most
# for the second. The whole project is checked when nothing has changed for the third.
_BURST, _LONGEST, _QUIET = 0.3, 0.1, 0.4
_SHORT = 0.06
# A check that takes this long hangs.
_LIMIT = 60.0
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("jupyter-notebook", [types.NotebookCellLanguage("python")])]
)


@dataclass(frozen=True)
class _Reported:
    """What a client was told that asked for diagnostics: its name, and the document's number then."""

    name: str
    serial: int
    items: list[types.Diagnostic]


class GraphwardServer(LanguageServer):
    """The state of one connection. `quick` is a checker that was started already."""

    def __init__(self, quick: CheckerProcess | None = None) -> None:
        super().__init__(
            "graphward", __version__, types.TextDocumentSyncKind.Incremental, _NOTEBOOKS, protocol_cls=Protocol
        )
        self.session = Session()
        self.client = ClientSupport()
        self.settings = EditorSettings()
        self.stopped_in_order = False
        self.proven: dict[str, dict[str, Proven]] = {}
        self.quick = self._channel(quick or CheckerProcess("quick"))
        self.whole = self._channel(CheckerProcess("whole", polite=True))
        self.tasks: set[asyncio.Task[Any]] = set()
        self.notebooks: dict[str, Notebook] = {}
        self._cells: dict[str, str] = {}
        self._initial_settings: Any = None
        self._settled = asyncio.Event()
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._reported: dict[str, _Reported] = {}
        self._seen: dict[str, int] = {}
        self._dirty: dict[str, None] = {}
        self._checking = False
        self._checked = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._quiet: asyncio.TimerHandle | None = None
        self._last_change = self._took = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pages: dict[str, str | None] = {}
        self._page_texts: dict[str, str] = {}

    def _channel(self, process: CheckerProcess) -> Channel:
        return Channel(process, self.session, self.folders, lambda: self.settings)

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """An odd message is no reason for a pop-up: the log has it."""
        logger.error("%s: %s", source.__name__, error)

    # The handshake and settings

    def begin(self, params: types.InitializeParams) -> None:
        """The client says what it can, and its settings."""
        encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        self.client = ClientSupport.read(params.capabilities, encoding)
        self._loop = asyncio.get_running_loop()
        self._initial_settings = params.initialization_options
        self._read_settings(None)

    async def introduce(self) -> None:
        """After the handshake: take the settings, and ask to be told of changes."""
        registrations = []
        if self.client.registers_settings:
            options: Any = types.DidChangeConfigurationRegistrationOptions(section="graphward")
            registrations.append(
                types.Registration("graphward-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
            )
        if self.client.registers_watchers:
            patterns = ("**/*.py", "**/pyproject.toml")
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(p) for p in patterns])
            watching = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registrations.append(types.Registration("graphward-files", watching, options))
        if registrations:
            try:
                await self.client_register_capability_async(types.RegistrationParams(registrations))
            except JsonRpcException as error:
                logger.warning("the client does not register for changes: %s", error)
        await self.take_settings(None)
        self._settled.set()

    async def settled(self) -> None:
        """Wait for the settings that the client holds: they may forbid what it asks for."""
        if self.client.pulls_settings:
            await self._settled.wait()

    async def take_settings(self, sent: Any) -> None:
        """Settings may have changed: those that were sent, else those that the client holds, else those that it
        started with."""
        if self.client.pulls_settings:
            item = types.ConfigurationItem(section="graphward")
            try:
                answers = await self.workspace_configuration_async(types.ConfigurationParams([item]))
                sent = answers[0] if answers else None
            except JsonRpcException as error:
                logger.warning("the client does not tell its settings: %s", error)
        before = self.settings
        self._read_settings(sent)
        if self.settings != before:
            self._pages.clear()
            self.check_again()
            self.refresh_lenses()

    def _read_settings(self, sent: Any) -> None:
        """Settings that cannot be used leave the former ones, and the user is told."""
        try:
            self.settings = EditorSettings.read(sent or self._initial_settings)
        except GraphwardError as error:
            self.tell(types.MessageType.Error, str(error))

    def tell(self, kind: types.MessageType, text: str) -> None:
        """A message for the user."""
        self.window_show_message(types.ShowMessageParams(kind, f"graphward: {text}"))

    def folders(self) -> tuple[Path, ...]:
        """The folders that the client has open."""
        uris = [folder.uri for folder in self.workspace.folders.values()]
        paths = [to_fs_path(uri) for uri in uris] or [self.workspace.root_path]
        return tuple(Path(p) for p in paths if p)

    # Documents

    def opened(self, item: types.TextDocumentItem) -> None:
        """A document was opened."""
        path = to_fs_path(item.uri)
        if path is not None and Path(path).suffix in SUFFIXES:
            self.session.put(item.uri, Path(path), item.version, text_of(Path(path), item.text))
            self.check_soon(item.uri, 0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document has a new text. A change that cannot be applied, for a text that is no Unicode, leaves none; one
        of the whole text mends that."""
        document = self.session.document(params.text_document.uri)
        if document is None or document.cells is not None:
            return
        source = document.source
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangeWholeDocument):
                source = text_of(document.path, change.text)
            elif source is not None:
                try:
                    source = changed(source, change, self.client.encoding)
                except UnicodeEncodeError:
                    source = None
        self.session.put(document.uri, document.path, params.text_document.version, source)
        self.check_soon(document.uri, self._delay())

    def saved(self, uri: str) -> None:
        """A document was written to disk, where others may read it."""
        if self.session.document(uri) is not None:
            self._check_whole_soon()

    def closed(self, uri: str) -> None:
        """A document was closed: nothing is shown for it, and others see the file on disk again."""
        if self.session.document(uri) is None or uri in self.notebooks:
            return
        self._remove(uri, [uri])

    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """A notebook was opened."""
        path = to_fs_path(params.notebook_document.uri)
        if path is not None:
            notebook = self.notebooks[params.notebook_document.uri] = Notebook.opened(params, Path(path))
            self._join(notebook, params.notebook_document.version)

    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Cells of a notebook came, went or have a new text."""
        notebook = self.notebooks.get(params.notebook_document.uri)
        if notebook is not None:
            before = set(notebook.order)
            notebook.change(params.change, self.client.encoding)
            for uri in before.difference(notebook.order):
                self._cells.pop(uri, None)
                self._show_nothing(uri)
            self._join(notebook, params.notebook_document.version)

    def notebook_closed(self, uri: str) -> None:
        """A notebook was closed."""
        notebook = self.notebooks.pop(uri, None)
        if notebook is not None:
            for cell in notebook.order:
                self._cells.pop(cell, None)
            self._remove(uri, notebook.order)

    def held(self, uri: str) -> tuple[str, int]:
        """The document that an address belongs to, and the line of it that the address starts at: of a cell, its
        notebook and the line there."""
        owner = self._cells.get(uri)
        document = self.session.document(owner) if owner is not None else None
        if document is None or document.cells is None or uri not in document.cells.uris:
            return uri, 0
        return document.uri, document.cells.starts[document.cells.uris.index(uri)]

    def _join(self, notebook: Notebook, version: int) -> None:
        source, cells = notebook.joined()
        self._cells.update((uri, notebook.uri) for uri in notebook.order)
        self.session.put(notebook.uri, notebook.path, version, source, cells)
        self.check_soon(notebook.uri, self._delay())

    def _remove(self, uri: str, shown: Iterable[str]) -> None:
        self.session.remove(uri)
        for known in (self.proven, self._dirty, self._seen):
            known.pop(uri, None)
        for each in shown:
            self._show_nothing(each)
        self._finished()
        self._check_whole_soon()

    def noticed(self, changes: Iterable[types.FileEvent]) -> None:
        """Files on disk were written, or came or went. One that no editor holds may have graph code from now on."""
        known = list(changes)
        if any(c.type != types.FileChangeType.Changed or c.uri.endswith(".toml") for c in known):
            self.quick.forget()
            self.whole.forget()
        elif any(self.session.document(c.uri) is None for c in known):
            self.whole.forget()
        self.check_again()

    # Checks

    def _delay(self) -> float:
        """Seconds that an edit waits: none for a single one, a part of what a check takes for one of many."""
        now = time.monotonic()
        burst = now - self._last_change < _BURST
        self._last_change = now
        return min(_LONGEST, self._took / 3) if burst and self._took > _SHORT else 0.0

    def check_again(self) -> None:
        """Check all open documents."""
        for document in self.session.documents():
            self.check_soon(document.uri, 0)

    def check_soon(self, uri: str, delay: float) -> None:
        """Check a document when `delay` seconds have passed, the one that was changed last first."""
        self._dirty.pop(uri, None)
        self._dirty[uri] = None
        self._check_whole_soon()
        if self._checking:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._start_checks)

    def _start_checks(self) -> None:
        self._timer = None
        if not self._checking:
            self._checking = True
            self.spawn(self._check_dirty())

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        """Run a coroutine; the loop itself keeps no task alive."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("a task failed", exc_info=task.exception())

    async def _check_dirty(self) -> None:
        try:
            while self._dirty:
                uri, _ = self._dirty.popitem()
                document = self.session.document(uri)
                if document is None:
                    continue
                started = time.monotonic()
                try:
                    found = await self.quick.ask("quick", uri, limit=_LIMIT)
                except CheckerDied as error:
                    found = Found(uri, document.serial, problem=f"the check failed: {error}")
                except Exception as error:
                    logger.error("the check of %s failed", uri, exc_info=error)
                    found = Found(uri, document.serial, problem=f"the check failed: {error}")
                self._took = time.monotonic() - started
                self._take(found)
                self._finished()
        finally:
            self._checking = False

    def _take(self, found: Found) -> None:
        result = self.session.keep(found)
        if result is not None:
            self.show(result)

    def _finished(self) -> None:
        """Wake those who wait for a check."""
        self._checked.set()
        self._checked = asyncio.Event()

    def _check_whole_soon(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = asyncio.get_running_loop().call_later(_QUIET, lambda: self.spawn(self._check_whole()))

    async def _check_whole(self) -> None:
        """Check all open documents with all files of their projects. It may find more, or less, than the quick check:
        who calls a function decides what its arguments are."""
        uris = [d.uri for d in self.session.documents() if d.source is not None]
        if not uris:
            return
        try:
            every: list[Found] = await self.whole.ask("full", uris)
        except Exception as error:
            logger.error("the project could not be checked: %s", error)
            return
        for found in every:
            document = self.session.document(found.uri)
            if document is not None and document.serial == found.serial and found.scope:
                self.quick.depends(document.path, found.scope)
            known = self.session.result(found.uri)
            if known is None or not found.problem:
                self._take(found)

    async def result(self, uri: str) -> Result | None:
        """What is found in the current text of a document; None when it is not open."""
        while self.session.document(uri) is not None:
            result = self.session.result(uri)
            if result is not None:
                return result
            if uri not in self._dirty and not self._checking:
                self.check_soon(uri, 0)
            await self._checked.wait()
        return None

    # What is shown

    def shown(self, result: Result) -> dict[str, list[types.Diagnostic]]:
        """The diagnostics of a document, by the addresses that it has for the client."""
        document = result.document
        found = diagnostics(result, self.client, self.page_link)
        for proof in self.proven.get(document.uri, {}).values():
            region = next((r for r in result.found.regions if r.qualname == proof.qualname), None)
            if region is not None and proof.holds_for(document):
                found += proven.diagnostics(proof, document, region, self.client)
        shown: dict[str, list[types.Diagnostic]] = {uri: [] for uri in addresses(document)}
        for diagnostic in found:
            uri, diagnostic.range = in_cells(document, diagnostic.range)
            shown.setdefault(uri, []).append(diagnostic)
        return shown

    def show(self, result: Result) -> None:
        """Publish a result, or tell a client that asks for diagnostics itself that there are others."""
        document = result.document
        for uri, items in self.shown(result).items():
            if self.client.pulls_diagnostics:
                # After an edit of its own the client asks without being told.
                known = self._reported.get(uri)
                if known is not None and known.serial == document.serial and known.items != items:
                    del self._reported[uri]
                    if self.client.refreshes_diagnostics:
                        self.spawn(self._refresh("workspace_diagnostic_refresh_async"))
                continue
            if self._shown.get(uri) == (document.version, items):
                continue
            self._shown[uri] = document.version, items
            version = document.version if self.client.diagnostic_versions and document.cells is None else None
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, version))
        if self._seen.get(document.uri) == document.serial:
            self.refresh_lenses()
        self._seen[document.uri] = document.serial

    def show_again(self, uri: str) -> None:
        """Something beside the text has changed what is shown of a document."""
        result = self.session.result(uri)
        if result is not None:
            self.show(result)

    def refresh_lenses(self) -> None:
        """Have the client ask for code lenses again."""
        if self.client.refreshes_lenses:
            self.spawn(self._refresh("workspace_code_lens_refresh_async"))

    async def _refresh(self, method: str) -> None:
        try:
            await getattr(self, method)(None)
        except JsonRpcException as error:
            logger.info("the client does not refresh: %s", error)

    def _show_nothing(self, uri: str) -> None:
        self._reported.pop(uri, None)
        if self._shown.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def report(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """The answer to a client that asks for diagnostics."""
        uri = params.text_document.uri
        owner, _ = self.held(uri)
        result = await self.result(owner)
        items = self.shown(result).get(uri, []) if result is not None else []
        serial = result.document.serial if result is not None else 0
        known = self._reported.get(uri)
        name = known.name if known is not None and known.items == items else f"{serial}-{time.monotonic_ns()}"
        self._reported[uri] = _Reported(name, serial, items)
        if params.previous_result_id == name:
            return types.RelatedUnchangedDocumentDiagnosticReport(name)
        return types.RelatedFullDocumentDiagnosticReport(items, result_id=name)

    def page_link(self, code: str) -> str | None:
        """The address of a rule's page. The first time it is asked for, the page has yet to be written."""
        if self.settings.docs_url:
            return pages.online(self.settings.docs_url, code)
        if code not in self._pages:
            self._pages[code] = pages.stored(code).as_uri()
            if self._loop is not None:  # asked on a thread that works out actions, perhaps
                self._loop.call_soon_threadsafe(lambda: self.spawn(self.page(code)))
        return self._pages[code]

    async def page(self, code: str) -> str:
        """A rule's page in Markdown, empty when there is none."""
        if code not in self._page_texts:
            try:
                page = await self.quick.ask("page", code)
            except Exception as error:
                logger.error("no page for %s: %s", code, error)
                return ""
            if page is None:
                return ""
            self._page_texts[code] = page.text
            if pages.store(page.code, page.name, page.text) is None:
                self._pages[code] = None
        return self._page_texts[code]

    def shutdown(self) -> None:
        """Let go of the processes."""
        self.quick.close()
        self.whole.close()
        super().shutdown()


def addresses(document: Document) -> tuple[str, ...]:
    """The addresses that a document has for the client: its own, or those of its cells."""
    return document.cells.uris if document.cells is not None else (document.uri,)
