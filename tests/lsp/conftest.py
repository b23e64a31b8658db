"""A real client at the other end of a real server process."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

SPECIMENS = Path(__file__).parents[1] / "review" / "data" / "specimens"
COMMAND = [sys.executable, "-c", "import sys; from graphward.lsp.command import run_server; sys.exit(run_server())"]
WAIT = 20.0


class Editor:
    """Holds documents as an editor does, and what the server published for them."""

    def __init__(self, root: Path, encoding: str = "utf-16"):
        self.root = root
        self.encoding = encoding
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[types.ShowMessageParams] = []
        self.registered: list[str] = []
        self.settings: object = None
        self.errors: list[Exception] = []
        self.refreshed: list[str] = []
        self.progress: list[tuple[object, object]] = []
        self.shown_documents: list[str] = []
        self.pulls = False
        self._pulling: set[asyncio.Task] = set()
        self._news = asyncio.Condition()
        self.client = LanguageClient("test-editor", "1")
        self.client.report_server_error = lambda error, source: self.errors.append(error)
        self._listen()

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def _(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)
            async with self._news:
                self._news.notify_all()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        async def _(params: types.ShowMessageParams) -> None:
            self.messages.append(params)
            async with self._news:
                self._news.notify_all()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def _(params: types.LogMessageParams) -> None: ...

        @self.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def _(*_: object) -> None:
            self.refreshed.append("diagnostics")
            for uri in self.texts:
                self._pull(uri)

        @self.client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        async def _(*_: object) -> None:
            self.refreshed.append("lenses")
            async with self._news:
                self._news.notify_all()

        @self.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def _(params: types.WorkDoneProgressCreateParams) -> None:
            self.progress.append((params.token, None))

        @self.client.feature(types.PROGRESS)
        async def _(params: types.ProgressParams) -> None:
            self.progress.append((params.token, params.value))
            async with self._news:
                self._news.notify_all()

        @self.client.feature(types.WINDOW_SHOW_DOCUMENT)
        async def _(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown_documents.append(params.uri)
            return types.ShowDocumentResult(True)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(params: types.RegistrationParams) -> None:
            self.registered += [r.method for r in params.registrations]

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        def _(params: types.ConfigurationParams) -> list[object]:
            return [self.settings for _ in params.items]

    async def start(self, capabilities: types.ClientCapabilities, **parameters: object) -> types.InitializeResult:
        cache = self.root.parent / f"{self.root.name}-cache"
        environment = {**os.environ, "PYTHONPATH": str(SPECIMENS), "XDG_CACHE_HOME": str(cache)}
        await self.client.start_io(*COMMAND, env=environment)
        self._reader = asyncio.create_task(self._read_log())
        folder = types.WorkspaceFolder(from_fs_path(str(self.root)), "root")
        parameters = {"process_id": os.getpid(), "workspace_folders": [folder], **parameters}
        answer = await self.client.initialize_async(types.InitializeParams(capabilities, **parameters))
        self.pulls = answer.capabilities.diagnostic_provider is not None
        self.client.initialized(types.InitializedParams())
        return answer

    async def _read_log(self) -> None:
        """A full pipe would stop the server; pytest shows what it said when a test fails."""
        async for line in self.client._server.stderr:
            sys.stderr.write(line.decode())

    async def stop(self) -> int:
        """Leave in order; the server's exit status."""
        await asyncio.wait_for(self.client.shutdown_async(None), WAIT)
        self.client.exit(None)
        server = self.client._server
        code = await asyncio.wait_for(server.wait(), WAIT)
        await self._reader
        await self.client.stop()
        return code

    def uri(self, name: str) -> str:
        return from_fs_path(str(self.root / name))

    def open(self, name: str, text: str | None = None) -> str:
        """Open a file, with another text than it has on disk if one is given."""
        uri = self.uri(name)
        self.texts[uri] = (self.root / name).read_bytes().decode() if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "python", 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        self._pull(uri)
        return uri

    def change(self, uri: str, text: str) -> int:
        self.texts[uri] = text
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        self._pull(uri)
        return self.versions[uri]

    def type(self, uri: str, place: types.Range, new: str) -> int:
        """Change a range of a document, and tell the server no more than that."""
        self.texts[uri] = self._edited(uri, [types.TextEdit(place, new)])
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangePartial(place, new)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        self._pull(uri)
        return self.versions[uri]

    def _pull(self, uri: str) -> None:
        """Ask for diagnostics, where the server said that it wants to be asked."""
        if self.pulls:
            task = asyncio.get_running_loop().create_task(self._pulled(uri))
            self._pulling.add(task)
            task.add_done_callback(self._pulling.discard)

    async def _pulled(self, uri: str) -> None:
        version = self.versions[uri]
        report = await self.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )
        self.published.append(types.PublishDiagnosticsParams(uri, report.items, version))
        async with self._news:
            self._news.notify_all()

    def save(self, uri: str, path: Path) -> None:
        path.write_bytes(self.texts[uri].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something that the server sends makes `holds()` true."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(holds), WAIT)

    def shown(self, uri: str) -> list[types.Diagnostic] | None:
        """What the editor shows now: the last that was published."""
        last = [p for p in self.published if p.uri == uri][-1:]
        return list(last[0].diagnostics) if last else None

    async def found(self, uri: str, *codes: str) -> list[types.Diagnostic]:
        """The diagnostics, once they have these codes."""

        def arrived() -> bool:
            shown = self.shown(uri)
            return shown is not None and [d.code for d in shown] == list(codes)

        try:
            await self.until(arrived)
        except asyncio.TimeoutError:  # another class than TimeoutError before Python 3.11
            pytest.fail(f"wanted {codes}, the last of {self.published}")
        return self.shown(uri) or []

    async def actions(
        self, uri: str, place: types.Range, *only: str, trigger: types.CodeActionTriggerKind | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=list(only) or None, trigger_kind=trigger)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        return list(await asyncio.wait_for(self.client.text_document_code_action_async(params), WAIT) or [])

    async def fixes(self, uri: str, place: types.Range) -> list[types.CodeAction]:
        """The quick fixes that mend a finding, without those that mend several, silence or explain it."""
        every = await self.actions(uri, place, "quickfix")
        return [a for a in every if isinstance(a, types.CodeAction) and a.kind == "quickfix.graphward"]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        return await asyncio.wait_for(self.client.code_action_resolve_async(action), WAIT)

    async def execute(self, command: str, *arguments: object) -> object:
        """Have the server carry out a command."""
        params = types.ExecuteCommandParams(command, list(arguments))
        return await asyncio.wait_for(self.client.workspace_execute_command_async(params), 4 * WAIT)

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Change the documents as an editor does, and tell the server."""
        assert edit is not None
        if edit.document_changes is not None:
            assert edit.changes is None
            for change in edit.document_changes:
                assert isinstance(change, types.TextDocumentEdit)
                assert change.text_document.version == self.versions[change.text_document.uri]
                self.change(change.text_document.uri, self._edited(change.text_document.uri, change.edits))
        else:
            assert edit.changes is not None
            for uri, edits in edit.changes.items():
                self.change(uri, self._edited(uri, edits))

    def _edited(self, uri: str, edits: list[types.TextEdit]) -> str:
        text = self.texts[uri]
        spans = [(self.index(text, e.range.start), self.index(text, e.range.end), e.new_text) for e in edits]
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def index(self, text: str, place: types.Position) -> int:
        """The character at a position: lines end at LF, CRLF or CR, columns count units of the agreed encoding."""
        ends = [m.end() for m in re.finditer("\r\n|\r|\n", text)]
        start = [0, *ends][place.line]
        line = re.split("[\r\n]", text[start:], maxsplit=1)[0]
        units = {"utf-8": lambda c: len(c.encode()), "utf-16": lambda c: 1 + (ord(c) > 0xFFFF), "utf-32": lambda c: 1}
        column = 0
        for i, character in enumerate(line):
            if column >= place.character:
                assert column == place.character, "a position inside a character"
                return start + i
            column += units[self.encoding](character)
        assert column == place.character, "a position beyond the line"
        return start + len(line)

    def text_of(self, uri: str, place: types.Range) -> str:
        text = self.texts[uri]
        return text[self.index(text, place.start) : self.index(text, place.end)]


FULL = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(position_encodings=["utf-16"]),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(
            document_changes=True, change_annotation_support=types.ChangeAnnotationsSupportOptions()
        ),
        configuration=True,
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    window=types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True, version_support=True, code_description_support=True,
            tag_support=types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Deprecated]),
        ),
        code_action=types.CodeActionClientCapabilities(
            data_support=True, disabled_support=True, is_preferred_support=True,
            resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
        ),
    ),
)  # fmt: skip
"""A client that can everything that the server asks about."""

Begin = Callable[..., Awaitable[Editor]]


@pytest_asyncio.fixture
async def begin(tmp_path: Path) -> AsyncIterator[Begin]:
    """Start an editor with given capabilities; at the end the server must leave in order."""
    editors: list[Editor] = []

    async def start(
        capabilities: types.ClientCapabilities = FULL, *, encoding: str = "utf-16", settings: object = None,
        **parameters: object,
    ) -> Editor:  # fmt: skip
        editor = Editor(tmp_path, encoding)
        editor.settings = settings
        editors.append(editor)
        await editor.start(capabilities, **parameters)
        return editor

    yield start
    for editor in editors:
        assert await editor.stop() == 0
        assert editor.errors == []
