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

_POLL = 0.02


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


def _hello(scratch: str, channel: _Channel) -> dict[str, Any]:
    from .environment import check, probe, probe_failure

    hello = check()
    hello["protocol"] = PROTOCOL
    if not hello["ok"]:
        return hello
    from .children import Child

    child = Child(probe, {}, 60.0, scratch, channel.descriptors)
    end = None
    while end is None:
        select.select([], [], [], _POLL)
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

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (self.incoming, self.outgoing)

    def send(self, message: dict[str, Any]) -> None:
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self.outgoing, data) :]

    def receive(self, wait: float | None) -> list[dict[str, Any]]:
        """The messages that arrive within `wait` seconds (None: until one does)."""
        if not self.open:
            select.select([], [], [], wait)
            return []
        readable, _, _ = select.select([self.incoming], [], [], wait)
        if not readable:
            return []
        data = os.read(self.incoming, 1 << 16)
        if not data:
            self.open = False
            return []
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]


class _Running:
    """A job under way: its generator and the ends of the stages that it waits for."""

    def __init__(self, job: dict[str, Any], plan: Any):
        self.job = job
        self.plan = plan
        self.ends: list[dict[str, Any] | None] = []


class Server:
    """Gives the stages of the jobs to at most `slots` children, older jobs first."""

    def __init__(self, scratch: str, slots: int, channel: _Channel):
        self.scratch = scratch
        self.slots = slots
        self.channel = channel
        self.waiting: deque[dict[str, Any]] = deque()
        self.ready: deque[tuple[_Running, int, Any]] = deque()
        self.children: dict[Any, tuple[_Running, int]] = {}

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
        from .children import Child

        while len(self.children) < self.slots:
            if not self.ready and self.waiting:
                self._start(self.waiting.popleft())
                continue
            if not self.ready:
                return
            running, index, request = self.ready.popleft()
            child = Child(request.stage, request.payload, request.timeout, self.scratch, self.channel.descriptors)
            self.children[child] = (running, index)

    def _start(self, job: dict[str, Any]) -> None:
        from .jobs import prove

        self.channel.send({"started": job["id"]})
        self._advance(_Running(job, prove(job)), None)

    def _advance(self, running: _Running, ends: list[dict[str, Any]] | None) -> None:
        try:
            requests = running.plan.send(ends)
        except StopIteration as stop:
            self.channel.send({"verdict": stop.value})
            return
        except Exception:
            self.channel.send({"failed": {"id": running.job["id"], "traceback": traceback.format_exc()}})
            return
        running.ends = [None] * len(requests)
        self.ready.extendleft(reversed([(running, i, request) for i, request in enumerate(requests)]))

    def _reap(self) -> None:
        for child in list(self.children):
            end = child.poll()
            if end is not None:
                running, index = self.children.pop(child)
                running.ends[index] = end
                if all(e is not None for e in running.ends):
                    self._advance(running, [e for e in running.ends if e is not None])
