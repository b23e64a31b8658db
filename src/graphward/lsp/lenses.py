"""Code lenses: the state of each graph region, and the command that proves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lsprotocol import types

from .client import ClientSupport
from .convert import in_cells, range_of
from .documents import RegionPlace, Result
from .proven import Proven

VERIFY = "graphward.verify"
STATE = "graphward.showState"


def lenses(
    result: Result, proofs: Mapping[str, Proven], client: ClientSupport, *, runs: bool
) -> Iterator[tuple[str, types.CodeLens]]:
    """`(address, lens)` for each region of a document; `runs`: whether its code may be run."""
    document = result.document
    if document.source is None or result.problem:
        return
    for region in result.found.regions:
        span = range_of(document.source, region.name.start, region.name.end, client.encoding)
        uri, place = in_cells(document, span)
        arguments = [document.uri, region.qualname]
        yield uri, types.CodeLens(place, types.Command(state(result, region, proofs), STATE, arguments=arguments))
        if runs and region.expr:
            yield uri, types.CodeLens(place, types.Command("Verify in Graph Mode", VERIFY, arguments=arguments))


def state(result: Result, region: RegionPlace, proofs: Mapping[str, Proven]) -> str:
    """`Graph Mode: 2 findings, verified before the last edit`."""
    count = sum(in_region(f.region, f.call_path, region.qualname) for f in result.findings)
    text = f"{count} finding{'' if count == 1 else 's'}" if count else "clean"
    proven = proofs.get(region.qualname)
    if proven is not None:
        since = "" if proven.holds_for(result.document) else " before the last edit"
        text += f", {proven.verdict.verdict}{since}"
    return f"Graph Mode: {text}"


def in_region(found_in: str, call_path: tuple[str, ...], qualname: str) -> bool:
    """Whether a finding belongs to a region: the one that reaches it."""
    root = call_path[0].partition(":")[2] if call_path else found_in
    return root == qualname
