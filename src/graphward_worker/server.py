"""The fork server: imports MindSpore once, never compiles (a fork after a compile hangs), runs stages in children.

Protocol, one JSON object a line. On standard output: `{"hello": {...}}` first, then `{"started": ID}` and
`{"verdict": {...}}` in any order. On standard input: `{"job": {...}}`; the end of input is the request to stop after
the last job.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import signal
import traceback
from collections import deque
from typing import Any

from . import PROTOCOL

_POLL = 0.1  # how often deadlines are looked at; the end of a child is noticed at once
_TRUST = 12
"""Once so many jobs more had to be played again, alone, than were verified together, plays share no process."""


def main(arguments: list[str]) -> None:
    """Entry point of `__main__`."""
    parser = argparse.ArgumentParser(prog="graphward_worker")
    parser.add_argument("--scratch", required=True, help="an existing directory for temporary files")
    parser.add_argument("-j", type=int, default=1, dest="slots", help="children at once")
    options = parser.parse_args(arguments)
    channel = _Channel()
    signal.signal(signal.SIGTERM, _stop)
    os.environ.setdefault("GLOG_v", "3")  # errors only; the report of interpreted nodes is at this level
    hello = _hello(options.scratch, channel)
    channel.send({"hello": hello})
    if hello["ok"]:
        server = Server(options.scratch, max(1, options.slots), channel)
        try:
            server.run()
        finally:
            server.kill_all()
    os._exit(0)


def _stop(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def _noted(number: int, frame: Any) -> None:
    """A signal that only ends a wait."""


def _hello(scratch: str, channel: _Channel) -> dict[str, Any]:
    from .environment import check, probe, probe_failure

    hello = check()
    hello["protocol"] = PROTOCOL
    if not hello["ok"]:
        return hello
    from . import warm
    from .children import Child

    warm.settle()
    child = Child(probe, {}, 60.0, scratch, channel.descriptors)
    end = None
    while end is None:
        channel.wait(_POLL)
        end = child.poll()
    text = end["value"] if end["value"] is not None else end["reason"]
    return {**probe_failure(text, hello["versions"]), "protocol": PROTOCOL} if text else hello


class _Channel:
    """The protocol's own descriptors. What user code, or MindSpore, prints goes to standard error."""

    def __init__(self) -> None:
        self.incoming = os.dup(0)
        self.outgoing = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        self.open = True
        self._rest = b""
        # The end of a child ends a wait.
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        signal.signal(signal.SIGCHLD, _noted)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What user code must not reach."""
        return (self.incoming, self.outgoing, self._woken, self._wake)

    def wait(self, seconds: float | None, *others: int) -> bool:
        """Until one of the descriptors `others` can be read (then True), a child ends, or `seconds` have passed."""
        readable, _, _ = select.select([self._woken, *others], [], [], seconds)
        if self._woken in readable:
            os.read(self._woken, 1 << 12)
        return any(other in readable for other in others)

    def send(self, message: dict[str, Any]) -> None:
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self.outgoing, data) :]

    def receive(self, wait: float | None) -> list[dict[str, Any]]:
        """The messages that arrive within `wait` seconds or until a child ends (None: however long it takes)."""
        if not self.open:
            self.wait(wait)
            return []
        if not self.wait(wait, self.incoming):
            return []
        data = os.read(self.incoming, 1 << 16)
        if not data:
            self.open = False
            return []
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]


class _Running:
    """A job under way: its generator and the ends of the stages that it waits for. `together`: whether its plays may
    share a process with others; `shared`: whether one did."""

    def __init__(self, job: dict[str, Any], plan: Any, together: bool):
        self.job = job
        self.plan = plan
        self.together = together
        self.shared = False
        self.ends: list[dict[str, Any] | None] = []


_Stage = tuple[_Running, int, Any]
"""A job, which of its stages, and the request."""


class Server:
    """Gives the stages of the jobs to at most `slots` children, older jobs first."""

    def __init__(self, scratch: str, slots: int, channel: _Channel):
        self.scratch = scratch
        self.slots = slots
        self.channel = channel
        self.waiting: deque[dict[str, Any]] = deque()
        self.ready: deque[_Stage] = deque()
        self.children: dict[Any, list[_Stage]] = {}
        self.trust = _TRUST

    def run(self) -> None:
        """Until the input ends and all is done."""
        parent = os.getppid()
        while self.channel.open or self.waiting or self.ready or self.children:
            if os.getppid() != parent:  # the client was killed: nobody reads the verdicts or cleans up
                shutil.rmtree(self.scratch, ignore_errors=True)
                return
            idle = not (self.waiting or self.ready or self.children)
            for message in self.channel.receive(None if idle else _POLL if self.children else 0):
                self.waiting.append(message["job"])
            self._fill()
            self._reap()

    def kill_all(self) -> None:
        """End every child, now."""
        for child in self.children:
            child.kill()
            child.remove()
        self.children.clear()

    def _fill(self) -> None:
        from . import together

        while len(self.children) < self.slots:
            while self.waiting and len(self.ready) < self.slots * 2 * together.MOST:
                self._start(self.waiting.popleft())
            if not self.ready:
                return
            self._launch(self._next())

    def _next(self) -> list[_Stage]:
        """The oldest stage that is ready, with those that can share its process."""
        from . import together

        first = self.ready[0]
        key = together.key(first[2]) if first[0].together and self.trust > 0 else None
        if key is None:
            return [self.ready.popleft()]
        alike = [s for s in self.ready if s[0].together and together.key(s[2]) == key]
        size = min(together.MOST, -(-len(self.ready) // self.slots))  # the last ones are spread over all slots
        chosen: dict[str, _Stage] = {}
        for stage in alike:
            # A target twice would find its own graph compiled.
            chosen.setdefault(stage[2].payload["expr"], stage)
        group = list(chosen.values())[:size]
        for stage in group:
            self.ready.remove(stage)
        return group

    def _launch(self, group: list[_Stage]) -> None:
        from . import together
        from .children import Child

        running, _, request = group[0]
        stage, payload, timeout = request.stage, request.payload, request.timeout
        if len(group) > 1:
            stage, payload = together.play_together, {"plays": [r.payload for _, _, r in group]}
            timeout = min([together.SECONDS, *(r.timeout for _, _, r in group)])
        memory = (running.job.get("options") or {}).get("memory", 0)
        child = Child(stage, payload, timeout, self.scratch, self.channel.descriptors, memory)
        self.children[child] = group

    def _start(self, job: dict[str, Any], together: bool = True) -> None:
        from .jobs import prove

        if together:
            self.channel.send({"started": job["id"]})
        self._advance(_Running(job, prove(job), together), None)

    def _advance(self, running: _Running, ends: list[dict[str, Any]] | None) -> None:
        try:
            requests = running.plan.send(ends)
        except StopIteration as stop:
            if running.shared:
                verified = stop.value["verdict"] == "verified"
                self.trust = min(_TRUST, self.trust + 1) if verified else self.trust - 1
                if not verified:
                    self._start(running.job, together=False)
                    return
            self.channel.send({"verdict": stop.value})
            return
        except Exception:
            self.channel.send({"failed": {"id": running.job["id"], "traceback": traceback.format_exc()}})
            return
        running.ends = [None] * len(requests)
        stages = [(running, i, request) for i, request in enumerate(requests)]
        if ends is None:
            self.ready.extend(stages)
        else:  # of an older job than those that wait
            self.ready.extendleft(reversed(stages))

    def _reap(self) -> None:
        for child in list(self.children):
            end = child.poll()
            if end is not None:
                self._hand_out(self.children.pop(child), end)

    def _hand_out(self, group: list[_Stage], end: dict[str, Any]) -> None:
        from . import together

        shared = len(group) > 1
        own = together.ends(end, [request.payload for _, _, request in group]) if shared else [end]
        for (running, index, request), its_end in zip(group, own):
            if its_end is None:
                running.together = False
                self.ready.appendleft((running, index, request))
                continue
            running.shared = running.shared or shared
            running.ends[index] = its_end
            if all(e is not None for e in running.ends):
                self._advance(running, [e for e in running.ends if e is not None])
