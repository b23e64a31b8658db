"""A whole `check` over paths: discovery, shards, cache, processes."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..config import Config
from ..errors import GraphwardError
from ..rules.rule import Rule
from ..rules.selection import selected_rules
from ..source.discovery import discover
from .cache import Cache
from .check import CheckResult, analyse, check
from .shards import Shard, shards
from .workspace import Problem, Workspace

# Below this many bytes a second process costs more than it saves.
_POOL_BYTES = 2_000_000


@dataclass(frozen=True)
class RunProgress:
    """How far a run is: bytes of source checked, of all."""

    done: int
    total: int


def find_files(
    paths: Sequence[Path], config: Config, *, notebooks: bool = False
) -> tuple[list[Path], list[Problem]]:
    """The files of a run, notebooks only where they are asked for, and those that were refused."""
    discovery = discover(
        paths, exclude=config.exclude, max_file_size=config.max_file_size, notebooks=notebooks
    )
    return discovery.files, [Problem(path, 0, reason) for path, reason in discovery.skipped]


def rules_of(config: Config) -> tuple[Rule, ...]:
    """The rules that the settings select."""
    return selected_rules(config.select, config.ignore, config.target_version)


def run_check(
    paths: Sequence[Path], config: Config, *, jobs: int = 0, use_cache: bool = True, last: bool = False,
    progress: Callable[[RunProgress], None] | None = None,
) -> CheckResult:  # fmt: skip
    """Check everything under `paths`. `jobs` processes, 0 for as many as there are cores. `last`: the process ends
    with this, and need not give the memory of the largest part back.

    Raises GraphwardError for a path that cannot be used.
    """
    files, refused = find_files(paths, config, notebooks=True)
    rules_of(config)  # an unknown rule code must fail before anything is read
    cache = Cache(config) if use_cache else None
    parts = shards(files)
    total = sum(part.size for part in parts)
    done = 0
    results: dict[Path, CheckResult] = {}
    pending: list[Shard] = []
    for part in parts:
        stored = cache.load(part) if cache else None
        if stored is None:
            pending.append(part)
        else:
            results[part.files[0]] = stored
            done += part.size
    for part, result, reads in _run(pending, config, jobs, last):
        results[part.files[0]] = result
        if cache:
            cache.store(part, result, reads)
        done += part.size
        if progress:
            progress(RunProgress(done, total))
    merged = CheckResult(problems=refused)
    for part in parts:
        merged.files.update(results[part.files[0]].files)
        merged.problems += results[part.files[0]].problems
    merged.files = {path: merged.files[path] for path in files if path in merged.files}
    # Shards of one project share its recordings, and what is wrong with them.
    merged.problems = sorted(dict.fromkeys(merged.problems), key=lambda p: str(p.path))
    return merged


def _run(
    parts: list[Shard], config: Config, jobs: int, last: bool
) -> Iterator[tuple[Shard, CheckResult, list[Path]]]:
    """`(shard, result, files read beyond the shard)`, as they come."""
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1 or len(parts) < 2 or sum(p.size for p in parts) < _POOL_BYTES:
        yield from _check_shards(parts, config, last)
        return
    # Most runs need one process, and do not wait for what several need.
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # A process takes as long to start as a small package to check: this one takes the largest load.
    own, *loads = _balanced(parts, jobs)
    with ProcessPoolExecutor(len(loads), get_context("spawn")) as pool:
        futures = {pool.submit(_check_load, load, config): load for load in loads}
        yield from _check_shards(own, config, last)
        for future in as_completed(futures):
            try:
                yield from future.result()
            except BrokenProcessPool:
                names = ", ".join(str(p) for part in futures[future][:3] for p in part.files[:1])
                raise GraphwardError(
                    f"a worker process died while it checked {names} and others",
                    hint="it may have run out of memory; try `-j 1`, or fewer files at once",
                ) from None


def _balanced(parts: list[Shard], jobs: int) -> list[list[Shard]]:
    """The shards in as many loads as there are processes, of about the same size: to start a process for each shard
    would cost more than most shards do."""
    loads: list[list[Shard]] = [[] for _ in range(min(jobs, len(parts)))]
    for part in sorted(parts, key=lambda p: -p.size):
        min(loads, key=_size).append(part)
    return sorted(loads, key=_size, reverse=True)


def _size(load: list[Shard]) -> int:
    return sum(part.size for part in load)


def _check_load(parts: list[Shard], config: Config) -> list[tuple[Shard, CheckResult, list[Path]]]:
    return list(_check_shards(parts, config, last=True))


def _check_shards(
    parts: list[Shard], config: Config, last: bool
) -> Iterator[tuple[Shard, CheckResult, list[Path]]]:
    # The largest at the end: it takes over the memory that the others give back, and where the process ends with it
    # nobody needs it any more.
    ordered = sorted(parts, key=lambda p: p.size)
    for part in ordered:
        yield part, *_check_shard(part, config, keep=last and part is ordered[-1])


def _check_shard(part: Shard, config: Config, keep: bool) -> tuple[CheckResult, list[Path]]:
    # Walking millions of tree nodes to find those that can be freed costs more than the check itself.
    gc.disable()
    try:
        workspace = Workspace(part.files)
        analysis = analyse(workspace)
        result = check(workspace, rules_of(config), config, analysis=analysis)
        reads = workspace.read_beyond(part.files)
        if not keep:
            analysis.release()
        return result, reads
    finally:
        gc.freeze()
        gc.enable()
