"""What the client has done on command: proofs, explanations, the state of a region."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..errors import GraphwardError
from . import pages
from .documents import RegionPlace, Result
from .lenses import in_region, state
from .progress import Progress
from .proven import Proven
from .server import GraphwardServer

if TYPE_CHECKING:
    from .proofs import Proof

_REQUEST_FAILED = -32803


class Commands:
    """For one server."""

    def __init__(self, server: GraphwardServer):
        self._server = server
        self._running: dict[tuple[str, str], Proof] = {}

    async def verify(self, arguments: Sequence[Any]) -> dict[str, Any] | None:
        """Prove a region (`[address, qualified name]`; an address alone means all of the file) and show the verdict.
        The last verdict, as data; None when it was cancelled."""
        uri, name = _texts(arguments, 2)
        server = self._server
        await server.settled()
        if not server.settings.trusted:
            raise self._refused("the workspace is not trusted: its code is not run")
        uri, _ = server.held(uri)
        result = await server.result(uri)
        regions = [r for r in result.found.regions if r.qualname == name or not name] if result else []
        if result is None or not regions:
            raise self._refused(f"there is no graph region {name or 'at all'} in {uri}")
        if not name:
            regions = [r for r in regions if r.expr]
        verdict: dict[str, Any] | None = None
        for region in regions:
            if (uri, region.qualname) in self._running:
                raise self._refused(f"{region.qualname} is being proven already")
            proven = await self._prove(result, region)
            if proven is None:
                return None
            verdict = proven.verdict.to_json()
        return verdict

    async def _prove(self, result: Result, region: RegionPlace) -> Proven | None:
        from .proofs import Proof  # what a proof needs takes long to load

        server, document = self._server, result.document
        try:
            config = await server.quick.ask("config", document.path)
            proof = Proof(document, region, config, server.settings.python)
        except GraphwardError as error:
            raise self._refused(str(error)) from None
        key = document.uri, region.qualname
        self._running[key] = proof
        loop = asyncio.get_running_loop()
        progress = await Progress.begun(server, f"Verifying {region.expr}", proof.stop)

        def step(done: int, total: int, target: str) -> None:
            loop.call_soon_threadsafe(progress.report, "in PyNative and in Graph Mode" if done < total else "judging")

        texts = [d for d in server.session.documents() if d.cells is None]
        try:
            proven = await loop.run_in_executor(None, partial(proof.run, texts, step))
        except asyncio.CancelledError:
            proof.stop()
            raise
        except Exception as error:
            raise self._refused(f"{region.expr} cannot be proven: {error}") from None
        finally:
            del self._running[key]
            progress.end()
        if proven is None:
            return None
        server.proven.setdefault(document.uri, {})[region.qualname] = proven
        server.show_again(document.uri)
        kind = types.MessageType.Info if proven.verdict.verified else types.MessageType.Warning
        words = proven.verdict.message if not proven.verdict.verified else ""
        server.tell(kind, f"{region.expr}: {proven.verdict.verdict}{f': {words}' if words else ''}")
        return proven

    async def show_state(self, arguments: Sequence[Any]) -> str:
        """Say what is known of a region."""
        uri, name = _texts(arguments, 2)
        uri, _ = self._server.held(uri)
        result = await self._server.result(uri)
        region = next((r for r in result.found.regions if r.qualname == name), None) if result else None
        if result is None or region is None:
            raise self._refused(f"there is no graph region {name} in {uri}")
        lines = [f"{name}: {state(result, region, self._server.proven.get(uri, {}))}"]
        here = [f for f in result.findings if in_region(f.region, f.call_path, name)]
        lines += [f"{f.code} {f.message}" for f in here[:8]]
        if len(here) > 8:
            lines.append(f"and {len(here) - 8} more")
        self._server.tell(types.MessageType.Info, "\n".join(lines))
        return "\n".join(lines)

    async def explain_rule(self, arguments: Sequence[Any]) -> str:
        """Show a rule's page."""
        (code,) = _texts(arguments, 1)
        server = self._server
        page = await server.page(code)
        if not page:
            raise self._refused(f"there is no rule {code!r}")
        await self._show_document(pages.stored(code), code, page)
        return page

    async def explain_error(self, arguments: Sequence[Any]) -> list[dict[str, Any]]:
        """What a log of MindSpore means, and where it points; shown, and given back as data."""
        (text,) = _texts(arguments, 1)
        server = self._server
        explained = await server.quick.ask("diagnose", text)
        if not explained:
            server.tell(types.MessageType.Info, "the text holds no error that is known")
            return []
        first = explained[0]
        server.tell(types.MessageType.Info, first["text"])
        path = self._found(first["file"])
        if path is not None and first["line"]:
            first["uri"] = path.as_uri()
            place = types.Position(first["line"] - 1, 0)
            await self._show(types.ShowDocumentParams(path.as_uri(), take_focus=True,
                                                      selection=types.Range(place, place)))  # fmt: skip
        return list(explained)

    def _found(self, name: str | None) -> Path | None:
        """The file that a log names, which may have been written on another machine: as it stands, else the only one
        below the client's folders that ends like it."""
        if not name:
            return None
        if Path(name).is_absolute() and Path(name).is_file():
            return Path(name)
        parts = Path(name).parts
        for folder in self._server.folders():
            for i in range(len(parts)):
                path = folder.joinpath(*parts[i:]) if not Path(parts[i]).is_absolute() else None
                if path is not None and path.is_file():
                    return path
        return None

    async def _show_document(self, path: Path, title: str, text: str) -> None:
        """Open a page where the client can, else say it."""
        if not path.is_file() or not await self._show(types.ShowDocumentParams(path.as_uri(), take_focus=True)):
            self._server.tell(types.MessageType.Info, f"{title}: {text}")

    async def _show(self, params: types.ShowDocumentParams) -> bool:
        if not self._server.client.shows_documents:
            return False
        try:
            return bool((await self._server.window_show_document_async(params)).success)
        except JsonRpcException:
            return False

    def _refused(self, reason: str) -> JsonRpcException:
        """The command fails, and the user is told why: not every client shows the errors of its commands."""
        self._server.tell(types.MessageType.Error, reason)
        return JsonRpcException(reason, _REQUEST_FAILED)



def _texts(arguments: Sequence[Any], count: int) -> list[str]:
    """The arguments as texts, those that are left out empty. Raises JsonRpcException for others."""
    if len(arguments) > count or not arguments or not all(isinstance(a, str) for a in arguments):
        raise JsonRpcException(f"this command takes {count} texts, not {list(arguments)!r}", _REQUEST_FAILED)
    return [*arguments, *[""] * (count - len(arguments))]
