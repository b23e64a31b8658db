"""Plays that share a process: no verdict depends on the company that a target was in."""

from __future__ import annotations

from pathlib import Path

from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session
from graphward.verify.targets import parse_target
from graphward.verify.verdicts import Verdict

from .catalogue import X

NET = """\
import os
import time

from mindspore import Parameter, Tensor, context, nn, ops

CALLS = []
SCALE = 1.0


class Plain(nn.Cell):
    def construct(self, x):
        return ops.tanh(x) + 1


class LeavesTraces(nn.Cell):
    def construct(self, x):
        CALLS.append(1)
        return x * 2


class ReadsTraces(nn.Cell):
    def construct(self, x):
        return x + len(CALLS)


class Rescales(nn.Cell):
    def __init__(self):
        super().__init__()
        global SCALE
        SCALE = SCALE + 1.0

    def construct(self, x):
        return x * 1.5


class ReadsScale(nn.Cell):
    def construct(self, x):
        return x * SCALE


class ChangesContext(nn.Cell):
    def __init__(self):
        super().__init__()
        context.set_context(mode=context.GRAPH_MODE)
        os.environ["HOME"] = "/nowhere"
        os.chdir("/")

    def construct(self, x):
        return x - 1


class Replaces(nn.Cell):
    def __init__(self):
        super().__init__()
        self.old = ops.relu
        nn.Cell.cast_inputs = None
        time.time = None

    def construct(self, x):
        return ops.relu(x)


class Exits(nn.Cell):
    def construct(self, x):
        os._exit(3)


class Hangs(nn.Cell):
    def __init__(self):
        super().__init__()
        time.sleep(600)


class Weighted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([2.0, 3.0, 4.0]))

    def construct(self, x):
        return x * self.weight
"""
NAMES = ("Plain", "LeavesTraces", "ReadsTraces", "Rescales", "ReadsScale", "ChangesContext", "Replaces", "Exits",
         "Hangs", "Weighted")  # fmt: skip


def jobs(tree: Path) -> list[Job]:
    targets = [parse_target(f"net.py::{name}", tree) for name in NAMES]
    return [Job.of(target, id=str(target.expr), inputs=X, options=Options(timeout=10.0)) for target in targets]


def told(verdict: Verdict) -> tuple[object, ...]:
    side = verdict.original
    assert side is not None
    return verdict.verdict, side.outputs, side.gradients, side.state, side.compilations, side.difference


def test_a_verdict_does_not_depend_on_what_was_proven_with_it(session: Session, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    together = {verdict.id: told(verdict) for verdict in session.prove(jobs(tmp_path))}
    alone = {job.id: told(session.prove([job])[0]) for job in jobs(tmp_path)}
    assert together == alone
    assert {name: together[name][0] for name in ("Plain", "LeavesTraces", "Exits", "Hangs", "Weighted")} == {
        "Plain": "verified", "LeavesTraces": "diverges", "Exits": "crashes", "Hangs": "times-out",
        "Weighted": "verified",
    }  # fmt: skip
