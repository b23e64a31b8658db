"""The diagnostics of whole projects, for clients that ask for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from lsprotocol import types

from ..errors import GraphwardError
from .convert import diagnostics
from .documents import Document, Listed, Result, Stopped
from .process import CheckerDied
from .server import GraphwardServer, addresses

logger = logging.getLogger(__name__)


async def survey(
    server: GraphwardServer, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """A report for each file below the client's folders, part by part where the client takes parts, with progress."""
    known = {p.uri: p.value for p in params.previous_result_ids}
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    done, wanted = 0, True
    if params.work_done_token is not None:
        begin = types.WorkDoneProgressBegin("Checking for Graph Mode", cancellable=True, percentage=0)
        server.work_done_progress.begin(params.work_done_token, begin)

    def take(new: Iterable[types.WorkspaceDocumentDiagnosticReport]) -> None:
        items = list(new)
        if params.partial_result_token is None:
            reports.extend(items)
        elif items:
            partial = types.WorkspaceDiagnosticReportPartialResult(items)
            server.protocol.notify(types.PROGRESS, types.ProgressParams(params.partial_result_token, partial))

    def on_part(part: tuple[int, int, list[Listed]]) -> None:
        nonlocal done
        if not wanted:
            return
        finished, total, listed = part
        done += len(listed)
        take(_report(server, entry, known) for entry in listed)
        if params.work_done_token is not None:
            percentage = 100 * finished // max(1, total)
            report = types.WorkDoneProgressReport(message=f"{done} files", percentage=percentage)
            server.work_done_progress.report(params.work_done_token, report)

    try:
        for document in server.session.documents():
            take(await _of_open(server, document))
        for folder in server.folders():
            await server.whole.ask("project", folder, on_part=on_part)
    except asyncio.CancelledError:
        server.whole.process.stop_answering()
        raise
    except (GraphwardError, CheckerDied, Stopped) as error:
        logger.warning("not all of the project was checked: %s", error)
    finally:
        wanted = False
        if params.work_done_token is not None:
            server.work_done_progress.end(params.work_done_token, types.WorkDoneProgressEnd())
    return types.WorkspaceDiagnosticReport(reports)


async def _of_open(server: GraphwardServer, document: Document) -> list[types.WorkspaceDocumentDiagnosticReport]:
    """What the editor shows of a document that it holds."""
    result = await server.result(document.uri)
    if result is None:
        return []
    version = result.document.version if result.document.cells is None else None
    shown = server.shown(result)
    return [
        types.WorkspaceFullDocumentDiagnosticReport(uri, shown.get(uri, []), version=version)
        for uri in addresses(result.document)
    ]


def _report(
    server: GraphwardServer, entry: Listed, known: dict[str, str]
) -> types.WorkspaceDocumentDiagnosticReport:
    uri, name = entry.path.as_uri(), entry.digest
    if known.get(uri) == name:
        return types.WorkspaceUnchangedDocumentDiagnosticReport(uri, result_id=name)
    document = Document(uri, entry.path, None, entry.source, 0)
    items = diagnostics(Result(document, entry.found), server.client, server.page_link)
    return types.WorkspaceFullDocumentDiagnosticReport(uri, items, result_id=name)
