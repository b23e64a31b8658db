"""The notebooks that the editor holds: their cells, joined to one document each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types

from ..source.notebooks import join_cells
from ..source.text import SourceText
from .convert import changed
from .documents import Cells, text_of


@dataclass
class Notebook:
    """The addresses of the cells in order, those with code, and the texts of the latter."""

    uri: str
    path: Path
    order: list[str] = field(default_factory=list)
    code: set[str] = field(default_factory=set)
    texts: dict[str, SourceText] = field(default_factory=dict)

    @classmethod
    def opened(cls, params: types.DidOpenNotebookDocumentParams, path: Path) -> Notebook:
        """As the client opens it."""
        notebook = cls(params.notebook_document.uri, path)
        notebook._place(0, 0, params.notebook_document.cells)
        notebook._read(params.cell_text_documents)
        return notebook

    def change(self, event: types.NotebookDocumentChangeEvent, encoding: str) -> None:
        """Cells that came, went or have a new text. Raises KeyError and UnicodeEncodeError for what cannot be."""
        cells = event.cells
        if cells is None:
            return
        if cells.structure is not None:
            array = cells.structure.array
            self._place(array.start, array.delete_count, array.cells or ())
            self._read(cells.structure.did_open or ())
            for closed in cells.structure.did_close or ():
                self.texts.pop(closed.uri, None)
        for known in cells.data or ():
            self._mark(known)
        for content in cells.text_content or ():
            uri = content.document.uri
            for change in content.changes:
                self.texts[uri] = changed(self.texts[uri], change, encoding)

    def joined(self) -> tuple[SourceText | None, Cells]:
        """The code as one module, and where its cells are."""
        uris = [uri for uri in self.order if uri in self.code and uri in self.texts]
        joined = join_cells([self.texts[uri].text for uri in uris])
        return text_of(self.path, joined.text), Cells(tuple(uris), joined.starts)

    def _place(self, start: int, gone: int, cells: Sequence[types.NotebookCell]) -> None:
        self.code.difference_update(self.order[start : start + gone])
        self.order[start : start + gone] = [cell.document for cell in cells]
        for cell in cells:
            self._mark(cell)

    def _mark(self, cell: types.NotebookCell) -> None:
        if cell.kind == types.NotebookCellKind.Code:
            self.code.add(cell.document)
        else:
            self.code.discard(cell.document)

    def _read(self, items: Sequence[types.TextDocumentItem]) -> None:
        for item in items:
            source = text_of(self.path, item.text)
            if source is not None and item.language_id == "python":
                self.texts[item.uri] = source
