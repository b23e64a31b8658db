"""Proofs on command: a region of an open document as the editor holds it, run in PyNative and in Graph Mode."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ..config import Config
from ..errors import GraphwardError
from ..migrate.trees import Trees
from ..recordings import Recordings
from ..verify.jobs import Job, Options
from ..verify.recordings import recorded_inputs
from ..verify.session import Session
from ..verify.targets import Target, parse_target
from .documents import Document, RegionPlace
from .proven import Proven


class Proof:
    """One proof; it can be stopped from another thread."""

    def __init__(self, document: Document, region: RegionPlace, config: Config, python: str | None):
        if not region.expr:
            raise GraphwardError(f"{region.qualname} cannot be called from outside", hint="verify what calls it")
        if not document.path.is_file():
            raise GraphwardError("only what stands in a file can be run", hint="save it first")
        self.document, self.region = document, region
        self._config = config
        self._session = Session(python=python or config.python or None)
        self._stopped = False

    def stop(self) -> None:
        """End it; `run` returns None."""
        self._stopped = True
        with contextlib.suppress(OSError):
            self._session.stop()

    def run(self, texts: Iterable[Document], progress: Callable[[int, int, str], None]) -> Proven | None:
        """The verdict, with `texts` in place of what the disk holds; None when it was stopped. Raises GraphwardError
        when nothing can be proven at all."""
        document, region = self.document, self.region
        assert document.source is not None
        place = parse_target(str(document.path.resolve()), self._config.root)
        unsaved = {d.path.resolve(): d.source for d in texts if d.source is not None and _unsaved(d)}
        file = place.file
        if document.cells is not None:
            module = _module_beside(place.path)
            file = module.relative_to(place.tree).as_posix()
            unsaved[module] = document.source
        inputs = region.inputs
        named = Target(place.tree, file, region.expr)
        recorded = recorded_inputs(Recordings(), named) if inputs is None else None
        with Trees() as trees:
            tree = trees.overlay(place.tree, unsaved) if unsaved else place.tree
            options = Options.of(self._config.verify)
            shown = Target(tree, file, region.expr)
            job = Job.of(shown, id="editor", inputs=inputs, options=options, recorded=recorded)
            try:
                if self._stopped:
                    return None
                with self._session:
                    verdict = self._session.prove([job], progress)[0]
            except Exception:
                if self._stopped:  # whatever became of a worker that was killed amid its start
                    return None
                raise
        return Proven(region.qualname, verdict, document.source.utf8, place.tree, file)


def _module_beside(notebook: Path) -> Path:
    """A module that the cells of a notebook can stand in, in its folder, where no file has that name."""
    name = re.sub(r"\W", "_", notebook.stem)
    name = name if name.isidentifier() else f"_{name}"
    while notebook.with_name(f"{name}.py").exists():
        name += "_"
    return notebook.with_name(f"{name}.py")


def _unsaved(document: Document) -> bool:
    try:
        return document.source is not None and document.path.read_bytes() != document.source.to_bytes()
    except (OSError, UnicodeEncodeError):
        return False
