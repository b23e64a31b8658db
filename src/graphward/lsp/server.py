"""The server: takes the client's messages, schedules checks beside the loop, publishes what they find."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from .. import __version__
from ..errors import GraphwardError
from ..source.discovery import SUFFIXES
from ..source.text import SourceText
from .actions import FIX_ALL, KINDS, Reference, edits_to, fix_all, quick_fixes, resolved, wanted
from .client import ClientSupport
from .convert import diagnostics, workspace_edit
from .projects import Projects, Request
from .session import Document, Result, Session
from .settings import EditorSettings

logger = logging.getLogger(__name__)
T = TypeVar("T")

# Seconds of quiet before a text that is being typed is checked.
DEBOUNCE = 0.15
_CONTENT_MODIFIED = -32801


class GraphwardServer(LanguageServer):
    """The state of one connection."""

    def __init__(self) -> None:
        # Whole texts: pygls counts lines in a text as `str.splitlines` does, which is not what the protocol says.
        super().__init__("graphward", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.session = Session()
        self.client = ClientSupport()
        self.settings = EditorSettings()
        self.stopped_in_order = False
        self._initial_settings: Any = None
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._projects = Projects()
        self._analysis = ThreadPoolExecutor(1, "analysis")
        self._timer: asyncio.TimerHandle | None = None
        self._checks: set[asyncio.Task[None]] = set()
        self._checking = asyncio.Lock()
        self._asked = self._answered = 0

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """An odd message is no reason for a pop-up: the log has it."""
        logger.error("%s: %s", source.__name__, error)

    def begin(self, params: types.InitializeParams) -> None:
        """The client says what it can, and its settings."""
        encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        self.client = ClientSupport.read(params.capabilities, encoding)
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
        self._read_settings(sent)
        self.schedule(0)

    def _read_settings(self, sent: Any) -> None:
        """Settings that cannot be used leave the former ones, and the user is told."""
        try:
            self.settings = EditorSettings.read(sent or self._initial_settings)
        except GraphwardError as error:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"graphward: {error}"))

    def update(self, uri: str, delay: float) -> None:
        """A document was opened or changed."""
        path = to_fs_path(uri)
        if path is None or Path(path).suffix not in SUFFIXES:
            return
        text = self.workspace.get_text_document(uri)
        self.session.put(uri, Path(path), text.version, text.source)
        self.schedule(delay)

    def close(self, uri: str) -> None:
        """A document was closed: nothing is shown for it, and others see the file on disk again."""
        if self.session.document(uri) is not None:
            self.session.remove(uri)
            self._shown.pop(uri, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            self.schedule(0)

    def notice(self, uri: str, *, listed: bool) -> None:
        """A file on disk was written, or came or went."""
        path = to_fs_path(uri)
        if path is not None and Path(path).suffix in SUFFIXES:
            self._analysis.submit(self._projects.notice, Path(path), listed=listed)
        self.schedule(0)

    def schedule(self, delay: float) -> None:
        """Check all open documents when `delay` seconds have been quiet."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._start_check)

    def _start_check(self) -> None:
        self._timer = None
        task = asyncio.get_running_loop().create_task(self.check())
        self._checks.add(task)  # the loop itself keeps no task alive
        task.add_done_callback(self._checks.discard)

    async def check(self) -> None:
        """Check all open documents, and publish for those that have not moved on meanwhile. Requests that come while
        a check runs are answered by one more check."""
        self._asked += 1
        mine = self._asked
        async with self._checking:
            if self._answered >= mine:
                return
            started, request = self._asked, self._request()
            results = await self._on_thread(self._projects.check, request)
            self._answered = started
        for result in results:
            if self.session.keep(result):
                self._publish(result)

    async def result(self, uri: str) -> Result | None:
        """What is found in the current text of a document; None when it is not open, or changes meanwhile."""
        if self.session.document(uri) is not None and self.session.result(uri) is None:
            await self.check()
        return self.session.result(uri)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The code actions for a range."""
        only = params.context.only
        result = await self.result(params.text_document.uri)
        if result is None or result.problem:
            return None
        found: list[types.CodeAction] = []
        if wanted(only, types.CodeActionKind.QuickFix):
            found += await self._on_thread(
                lambda: list(quick_fixes(result, params.range, self.client, self.settings.docs_url))
            )
        automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        # Computing the edit takes a whole fix run: not on every move of the cursor.
        if wanted(only, FIX_ALL) and (only or self.client.resolves_edits or not automatic):
            action = await self._fix_all(result)
            found += [action] if action is not None else []
        return found or None

    async def _fix_all(self, result: Result) -> types.CodeAction | None:
        if not any(fix.applicability.value == "safe" for finding in result.findings for fix in finding.fixes):
            return None
        if self.client.resolves_edits:
            return fix_all(result.document, None, self.client)
        after = await self._fixed(result.document)
        return None if after is None else fix_all(result.document, after, self.client)

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Give an action the edit that it was sent without. Raises JsonRpcException when the text has changed."""
        reference = Reference.read(action.data)
        if reference is None:
            return action
        result = await self.result(reference.uri)
        if result is None or result.document.version != reference.version:
            raise JsonRpcException("the text has changed since the action was offered", _CONTENT_MODIFIED)
        if reference.fingerprint:
            action.edit = await self._on_thread(resolved, result, reference, self.client)
        else:
            after = await self._fixed(result.document)
            if after is not None:
                action.edit = workspace_edit(result.document, edits_to(result.document, after), self.client)
        if action.edit is None:
            raise JsonRpcException("this fix cannot be applied", _CONTENT_MODIFIED)
        return action

    async def _fixed(self, document: Document) -> SourceText | None:
        return await self._on_thread(self._projects.fixed, document, self._request())

    async def _on_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._analysis, function, *arguments)

    def _request(self) -> Request:
        folders = [to_fs_path(folder.uri) for folder in self.workspace.folders.values()] or [self.workspace.root_path]
        return Request(self.session.snapshot(), tuple(Path(f) for f in folders if f), self.settings)

    def _publish(self, result: Result) -> None:
        document = result.document
        shown = diagnostics(result, self.client, self.settings.docs_url)
        if self._shown.get(document.uri) == (document.version, shown):
            return
        self._shown[document.uri] = document.version, shown
        version = document.version if self.client.diagnostic_versions else None
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, shown, version))

    def shutdown(self) -> None:
        """Let go of the threads."""
        self._analysis.shutdown(wait=False, cancel_futures=True)
        super().shutdown()


def make_server() -> GraphwardServer:
    """A server with all its handlers."""
    server = GraphwardServer()

    @server.feature(types.INITIALIZE)
    def _(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def _(params: types.InitializedParams) -> None:
        await server.introduce()

    @server.feature(types.SHUTDOWN)
    def _(*_: object) -> None:
        server.stopped_in_order = True

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenTextDocumentParams) -> None:
        server.update(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(params: types.DidChangeTextDocumentParams) -> None:
        server.update(params.text_document.uri, DEBOUNCE)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _(params: types.DidSaveTextDocumentParams) -> None:
        server.notice(params.text_document.uri, listed=False)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def _(params: types.DidChangeConfigurationParams) -> None:
        await server.take_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.notice(change.uri, listed=change.type != types.FileChangeType.Changed)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def _(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.schedule(0)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(list(KINDS), resolve_provider=True))
    async def _(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return await server.actions(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def _(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)

    return server
