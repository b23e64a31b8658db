"""Proofs spread over several machines by `dask.distributed`.

Each thread of a dask worker keeps a warm `Session` of its own. Trees are named by their paths, so the machines share a
file system, as those of a cluster do.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from graphward.errors import GraphwardError
from graphward.verify.jobs import Job
from graphward.verify.session import Progress, Session, lost
from graphward.verify.verdicts import Verdict

_PATIENCE = 20.0  # seconds for the scheduler to answer, and for a first worker to join it
_IDLE = 120.0  # seconds after which a session ends when its client said no more


class Spread:
    """The counterpart of `Session`. `scheduler`: an address such as `tcp://host:8786`. `python`: the interpreter that
    has MindSpore, on every machine (None: the one that runs the dask worker)."""

    def __init__(self, scheduler: str, *, python: str | None = None):
        self.scheduler = scheduler
        self.python = python
        self._run = uuid.uuid4().hex
        self._client: Any = None

    def __enter__(self) -> Spread:
        self._client = _connect(self.scheduler)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with contextlib.suppress(Exception):  # a scheduler that is gone has nothing left to end
            self._client.run(_end_sessions, self._run)
        with contextlib.suppress(Exception):
            self._client.close(timeout=_PATIENCE)

    def verdicts(self, jobs: Iterable[Job], on_progress: Progress | None = None) -> Iterator[Verdict]:
        """The verdicts as they come in. Raises GraphwardError when a machine cannot prove anything."""
        from distributed import as_completed

        waiting: dict[str, Job] = {}
        futures = []
        for job in jobs:
            key = f"graphward-{self._run}-{uuid.uuid4().hex}"
            waiting[key] = job
            futures.append(self._client.submit(_prove, job, self.python, self._run, key=key, pure=False))
        total = len(futures)
        try:
            for done, future in enumerate(as_completed(futures, loop=self._client.loop), 1):
                verdict = _verdict(future, waiting[future.key])
                if on_progress is not None:
                    on_progress(done, total, verdict.target)
                yield verdict
        finally:
            self._client.cancel(futures, force=True)


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        hint = "install it here and on every machine: pip install 'graphward[distributed]'"
        raise GraphwardError("--scheduler needs dask.distributed", hint=hint) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters becomes an error of ours
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = "start one with `dask scheduler`, and machines with `dask worker ADDRESS`; an address is tcp://host:8786"
        raise GraphwardError(f"no scheduler answers at {address}: {reason}", hint=hint) from None
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        client.close()
        hint = f"start one on each machine: dask worker {address}"
        raise GraphwardError(f"the scheduler at {address} has no workers", hint=hint) from None
    return client


def _verdict(future: Any, job: Job) -> Verdict:
    error = future.exception()
    if error is None:
        verdict: Verdict = future.result()
        return verdict
    if isinstance(error, GraphwardError):
        raise error
    if isinstance(error, ImportError) or "graphward" in str(error).partition("\n")[0]:
        hint = "install it into the environment of each dask worker: pip install 'graphward[verify,distributed]'"
        raise GraphwardError(f"a dask worker cannot load Graphward: {error}", hint=hint)
    return lost(job, "the machine that proved this was lost", f"{type(error).__name__}: {error}")


# Below runs inside the dask workers.

_sessions: dict[tuple[str, int], Session] = {}
_timers: dict[tuple[str, int], threading.Timer] = {}
_lock = threading.Lock()


def _prove(job: Job, python: str | None, run: str) -> Verdict:
    for tree in (job.original, job.rewritten):
        if tree is not None and not Path(tree).is_dir():
            hint = "the machines must share the folder, and the one that TMPDIR names for the rewritten trees"
            raise GraphwardError("a dask worker does not see this folder", path=tree, hint=hint)
    key = (run, threading.get_ident())
    with _lock:
        session = _sessions.setdefault(key, Session(python=python))
        _forget_timer(key)
    verdict = session.prove([job])[0]
    with _lock:
        if key in _sessions:
            timer = _timers[key] = threading.Timer(_IDLE, _end_session, (key,))
            timer.daemon = True
            timer.start()
    return verdict


def _end_sessions(run: str) -> None:
    for key in [key for key in list(_sessions) if key[0] == run]:
        _end_session(key)


def _end_session(key: tuple[str, int]) -> None:
    with _lock:
        session = _sessions.pop(key, None)
        _forget_timer(key)
    if session is not None:
        session.stop()


def _forget_timer(key: tuple[str, int]) -> None:
    timer = _timers.pop(key, None)
    if timer is not None:
        timer.cancel()
