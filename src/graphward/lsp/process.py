"""A checker in a process of its own: how it is started, asked, told to stop, and started again when it dies.

Messages are pickles, each after its length, on the pipes of the process; both ends are this program.
"""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from .documents import Document
from .settings import EditorSettings
from .starting import start_checker

logger = logging.getLogger(__name__)

_LENGTH = struct.Struct("<Q")
# Edits after which garbage is looked for even if the user never pauses; pauses are in seconds.
_COLLECT_AFTER = 400
_PAUSE = 2.0


class CheckerDied(Exception):
    """The process ended before it answered."""


@dataclass(frozen=True)
class News:
    """What has changed at the client since the last question: documents that are new or have a new text, addresses of
    those that were closed, folders, settings, the files that documents depend on; `forget` to read the disk again."""

    documents: tuple[Document, ...] = ()
    closed: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    settings: EditorSettings = field(default_factory=EditorSettings)
    scopes: dict[Path, tuple[Path, ...]] = field(default_factory=dict)
    forget: bool = False


@dataclass(frozen=True)
class Question:
    """A method of the checker and its arguments."""

    news: News
    method: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What the method gave. `part` is one of several; `error` what it raised."""

    value: Any = None
    part: bool = False
    error: Exception | None = None


class CheckerProcess:
    """The handle of one such process, which may be `started` already. `polite`: it yields the processor to others. One
    question at a time; to be asked from one thread, told to stop from any."""

    def __init__(self, name: str, *, polite: bool = False, started: subprocess.Popen[bytes] | None = None):
        self.name = name
        self.starts = 0 if started is None else 1
        self._polite = polite
        self._process = started
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """None when it does not run."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def launch(self) -> None:
        """Start it, unless it runs."""
        if self.pid is not None:
            return
        self._process = start_checker(polite=self._polite)
        self.starts += 1

    def ask(
        self, question: Question, *, limit: float | None = None, on_part: Callable[[Any], None] | None = None
    ) -> Any:
        """The answer; parts of it go to `on_part` as they come. After `limit` seconds the process is killed. Raises
        CheckerDied, and what the method raised."""
        self.launch()
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        timer = threading.Timer(limit, process.kill) if limit else None
        if timer:
            timer.daemon = True
            timer.start()
        try:
            self._send(process, question)
            while True:
                answer = _receive(process.stdout)
                if not isinstance(answer, Answer):
                    raise CheckerDied(f"the process {self.name!r} answered out of turn")
                if answer.error is not None:
                    raise answer.error
                if not answer.part:
                    return answer.value
                if on_part is not None:
                    on_part(answer.value)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.kill()
            raise CheckerDied(f"the process {self.name!r} ended: {error}") from None
        finally:
            if timer:
                timer.cancel()

    def stop_answering(self) -> None:
        """The question under way needs no answer; it will raise Stopped if it looks whether it is wanted."""
        process = self._process
        if process is not None and process.poll() is None:
            with contextlib.suppress(OSError):
                self._send(process, None)

    def kill(self) -> None:
        """End the process; the next question starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _send(self, process: subprocess.Popen[bytes], message: object) -> None:
        assert process.stdin is not None
        with self._lock:
            _send(process.stdin, message)


def serve(polite: bool) -> None:
    """Answer questions on stdin and stdout until the other end is gone."""
    answers, sys.stdin = claimed_stdout(), io.TextIOWrapper(io.BytesIO())
    questions = os.fdopen(os.dup(0), "rb")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if polite:
        with contextlib.suppress(AttributeError, OSError):
            os.nice(10)
    # Trees are millions of objects: they are let go of by hand, and what is left is looked for in pauses.
    gc.disable()
    from .checker import Checker

    checker = Checker()
    checker.warm_up()
    gc.freeze()
    asked: queue.Queue[Question | None] = queue.Queue()
    unwanted = threading.Event()

    def read() -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = _receive(questions)
                if message is None:
                    unwanted.set()
                else:
                    asked.put(message)
        asked.put(None)
        unwanted.set()

    threading.Thread(target=read, daemon=True).start()
    count = 0
    while True:
        try:
            question = asked.get(timeout=_PAUSE if count else None)
        except queue.Empty:
            gc.collect()
            count = 0
            continue
        if question is None:
            return
        unwanted.clear()
        try:
            for answer in _answers(checker, question, unwanted):
                _send(answers, answer)
        except OSError:
            return
        count += 1
        if count >= _COLLECT_AFTER:
            gc.collect()
            count = 1


def _answers(checker: Any, question: Question, unwanted: threading.Event) -> Iterator[Answer]:
    try:
        _take(checker, question.news)
        if question.method == "project":
            for part in checker.project(*question.arguments, unwanted.is_set):
                yield Answer(part, part=True)
            yield Answer()
        else:
            yield Answer(getattr(checker, question.method)(*question.arguments))
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        yield Answer(error=error)


def _take(checker: Any, news: News) -> None:
    if news.forget:
        checker.forget()
    for uri in news.closed:
        checker.documents.pop(uri, None)
    checker.documents.update((d.uri, d) for d in news.documents)
    checker.folders, checker.settings = news.folders, news.settings
    checker.scopes.update(news.scopes)


def claimed_stdout() -> BinaryIO:
    """The process's stdout for the protocol alone: whatever else prints, a codemod for example, prints to stderr."""
    if sys.stdout is not None:
        sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(2), "wb"), line_buffering=True)
    return channel


def _send(stream: Any, message: object) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[stream.write(view) :]
    stream.flush()


def _receive(stream: Any) -> Any:
    (size,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, size))


def _exactly(stream: Any, size: int) -> bytes:
    pieces = []
    while size:
        piece = stream.read(size)
        if not piece:
            raise EOFError("the pipe is closed")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
