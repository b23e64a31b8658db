"""Proofs: jobs in, verdicts out, in the order of the jobs, whatever happens to the worker meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Protocol

from graphward.config import VerifySettings
from graphward.errors import GraphwardError
from graphward.verify.jobs import Job
from graphward.verify.verdicts import Inputs, SideResult, Verdict
from graphward.verify.worker import Worker, WorkerDied

_STAGES = 7  # plays that one job can take
_TOGETHER = 12  # jobs under way for each slot
_PIPE = 16_000  # bytes of jobs under way, beyond the first few; a pipe holds 64 KB
_ATTEMPTS = 2  # a job whose worker died is tried once more

Progress = Callable[[int, int, str], None]
"""Called with how many jobs are done, how many there are, and the target that was just started or finished."""


class Proofs(Protocol):
    """What makes proofs: a `Session` on this machine, or `spread.Spread` over several."""

    def __enter__(self) -> Proofs: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None: ...

    def verdicts(self, jobs: Iterable[Job], on_progress: Progress | None = None) -> Iterator[Verdict]:
        """The verdicts as they come in. Raises GraphwardError when nothing can be proven at all."""
        ...


def proofs(settings: VerifySettings, python: str | None) -> Proofs:
    """What the settings ask for; `python` is the interpreter that has MindSpore."""
    if not settings.scheduler:
        return Session(python=python, slots=settings.jobs)
    from graphward.verify.spread import Spread

    return Spread(settings.scheduler, python=python)


class Session:
    """Keeps one worker alive for many rounds of proofs. Use it as a context manager, as early as it is clear that there
    is something to prove: the worker imports MindSpore meanwhile.

    `python`: the interpreter that has MindSpore (Graphward's own by default). `timeout`: overrides that of the jobs'
    options. `slots`: how many plays run at once.
    """

    def __init__(self, *, python: str | Path | None = None, timeout: float | None = None, slots: int = 1):
        self.timeout = timeout
        self.worker = Worker(python, slots)
        self._stopped = False

    def __enter__(self) -> Session:
        self.worker.launch()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if kind is None:
            self.worker.close()
        else:
            self.worker.kill()

    def stop(self) -> None:
        """End the worker, also from another thread; a round that is under way there raises WorkerDied."""
        self._stopped = True
        self.worker.kill()

    def prove(self, jobs: Sequence[Job], on_progress: Progress | None = None) -> list[Verdict]:
        """The verdicts in the order of the jobs. Raises GraphwardError when there is no usable MindSpore."""
        verdicts = {verdict.id: verdict for verdict in self.verdicts(jobs, on_progress)}
        return [verdicts[job.id] for job in jobs]

    def verdicts(self, jobs: Iterable[Job], on_progress: Progress | None = None) -> Iterator[Verdict]:
        """The verdicts as they come in."""
        jobs = [self._limited(job) for job in jobs]
        if len({job.id for job in jobs}) != len(jobs):
            raise GraphwardError("two jobs have the same id")
        done = 0
        queue = deque(jobs)
        attempts: dict[str, int] = {}
        while queue:
            try:
                for verdict in self._round(queue, attempts, on_progress, done, len(jobs)):
                    done += 1
                    if on_progress is not None:
                        on_progress(done, len(jobs), verdict.target)
                    yield verdict
            except WorkerDied as error:
                if self._stopped:
                    raise
                self.worker.kill()
                for job in [job for job in queue if attempts.get(job.id, 0) >= _ATTEMPTS]:
                    queue.remove(job)
                    done += 1
                    yield lost(job, "the worker died while proving this, twice", str(error))

    def _limited(self, job: Job) -> Job:
        return job if self.timeout is None else replace(job, options=replace(job.options, timeout=self.timeout))

    def _round(
        self, queue: deque[Job], attempts: dict[str, int], on_progress: Progress | None, done: int, total: int
    ) -> Iterator[Verdict]:
        """Send and receive until the queue is empty; a job stays in the queue until its verdict is there, so that a
        dead worker loses none."""
        self.worker.start()
        # Enough jobs are under way for plays to share processes, but little text: neither side may block on a full
        # pipe. After a death they go one by one, so that only the job that kills the worker pays for it.
        few, many = (1, 1) if attempts else (self.worker.slots + 1, self.worker.slots * _TOGETHER)
        sent: dict[str, Job] = {}
        sizes: dict[str, int] = {}
        while queue:
            for job in queue:
                if len(sent) >= many or (len(sent) >= few and sum(sizes.values()) > _PIPE):
                    break
                if job.id not in sent:
                    sent[job.id] = job
                    sizes[job.id] = self.worker.send({"job": job.to_json()})
            patience = 60.0 + _STAGES * sum(job.options.timeout for job in sent.values())
            message = self.worker.receive(patience)
            if "started" in message:
                job = sent[message["started"]]
                attempts[job.id] = attempts.get(job.id, 0) + 1
                if on_progress is not None:
                    on_progress(done, total, f"{job.file}::{job.expr}")
                continue
            if "failed" in message:
                failed = message["failed"]
                verdict = lost(sent[failed["id"]], "internal error in the worker", failed["traceback"])
            else:
                verdict = Verdict.from_json(message["verdict"])
            queue.remove(sent.pop(verdict.id))
            del sizes[verdict.id]
            attempts.pop(verdict.id, None)
            done += 1
            yield verdict


def lost(job: Job, message: str, tail: str) -> Verdict:
    """The verdict on a job that took its worker with it."""
    side = SideResult("crashes", message, output_tail=tail)
    inputs = Inputs("inferred" if job.inputs is None else "declared", job.inputs or (), job.expr)
    verdict = Verdict(job.id, f"{job.file}::{job.expr}", "crashes", message, inputs)
    return replace(verdict, original=side) if job.rewritten is None else replace(verdict, rewritten=side)


def prove(
    jobs: Sequence[Job],
    *,
    python: str | Path | None = None,
    timeout: float | None = None,
    jobs_n: int = 1,
    on_progress: Progress | None = None,
) -> list[Verdict]:
    """One round of proofs in a worker of its own. Raises GraphwardError when there is no usable MindSpore."""
    with Session(python=python, timeout=timeout, slots=jobs_n) as session:
        return session.prove(jobs, on_progress)
