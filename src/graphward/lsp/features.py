"""The handlers of a server, each for one of the client's messages."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from .actions import EXPLAIN_COMMAND, KINDS
from .answers import Answers
from .commands import Commands
from .lenses import STATE, VERIFY, lenses
from .process import CheckerProcess
from .server import GraphwardServer
from .survey import survey


def make_server(quick: CheckerProcess | None = None) -> GraphwardServer:
    """A server with all its handlers. `quick` is a checker that was started already."""
    server = GraphwardServer(quick)
    answers, commands = Answers(server), Commands(server)

    @server.feature(types.INITIALIZE)
    def _(params: types.InitializeParams) -> None:
        server.begin(params)
        if server.client.pulls_diagnostics:
            _pulled(server)

    @server.feature(types.INITIALIZED)
    async def _(params: types.InitializedParams) -> None:
        await server.introduce()

    @server.feature(types.SHUTDOWN)
    def _(*_: object) -> None:
        server.stopped_in_order = True

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _(params: types.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenNotebookDocumentParams) -> None:
        server.notebook_opened(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def _(params: types.DidChangeNotebookDocumentParams) -> None:
        server.notebook_changed(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseNotebookDocumentParams) -> None:
        server.notebook_closed(params.notebook_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def _(params: types.DidChangeConfigurationParams) -> None:
        await server.take_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(params: types.DidChangeWatchedFilesParams) -> None:
        server.noticed(params.changes)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def _(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.check_again()

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(list(KINDS), resolve_provider=True))
    async def _(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return await answers.actions(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def _(action: types.CodeAction) -> types.CodeAction:
        return await answers.resolve(action)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _(params: types.HoverParams) -> types.Hover | None:
        return await answers.hover(params)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def _(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        owner, _ = server.held(params.text_document.uri)
        result = await server.result(owner) if server.settings.code_lens else None
        if result is None:
            return None
        proofs = server.proven.get(owner, {})
        every = lenses(result, proofs, server.client, runs=server.settings.trusted)
        return [lens for uri, lens in every if uri == params.text_document.uri]

    @server.command(VERIFY)
    async def _(*arguments: Any) -> Any:
        return await commands.verify(arguments)

    @server.command(STATE)
    async def _(*arguments: Any) -> Any:
        return await commands.show_state(arguments)

    @server.command(EXPLAIN_COMMAND)
    async def _(*arguments: Any) -> Any:
        return await commands.explain_rule(arguments)

    @server.command("graphward.explainError")
    async def _(*arguments: Any) -> Any:
        return await commands.explain_error(arguments)

    return server


def _pulled(server: GraphwardServer) -> None:
    """What only a client is told of that asks for diagnostics itself: else it would show them twice."""
    options = types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=True, identifier="graphward", work_done_progress=True
    )

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def _(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        return await server.report(params)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def _(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        return await survey(server, params)
