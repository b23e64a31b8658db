"""A language client that says and hears no more than a measurement needs: plain JSON on a server's pipes."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

WAIT = 120.0
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True, "codeDescriptionSupport": True},
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}, "disabledSupport": True},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Client:
    """One server process and the documents that it was told of."""

    def __init__(self, root: Path, command: list[str] | None = None):
        self.started = time.perf_counter()
        command = command or [sys.executable, "-c", "from graphward.cli.start import main; main()", "lsp"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self._heard: queue.Queue[tuple[float, dict[str, Any]]] = queue.Queue()
        self._versions: dict[str, int] = {}
        self._count = 0
        threading.Thread(target=self._listen, daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        self.request(
            "initialize",
            {"processId": os.getpid(), "capabilities": CAPABILITIES, "rootUri": root.as_uri(),
             "workspaceFolders": [folder]},
        )  # fmt: skip
        self.notify("initialized", {})

    def open(self, path: Path) -> float:
        """Open a file; seconds until its diagnostics are there."""
        uri = path.as_uri()
        self._versions[uri] = 1
        item = {"uri": uri, "languageId": "python", "version": 1, "text": path.read_text(encoding="utf-8")}
        return self._until_diagnosed(uri, "textDocument/didOpen", {"textDocument": item})

    def insert(self, path: Path, line: int, text: str, *, replaced: int = 0) -> float:
        """Put `text` at the start of a line, for `replaced` characters there; seconds until the diagnostics of the new
        version are there."""
        uri = path.as_uri()
        self._versions[uri] += 1
        place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": replaced}}
        params = {
            "textDocument": {"uri": uri, "version": self._versions[uri]},
            "contentChanges": [{"range": place, "text": text}],
        }
        return self._until_diagnosed(uri, "textDocument/didChange", params)

    def request(self, method: str, params: object) -> Any:
        """The answer to a request."""
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        while True:
            _, message = self._heard.get(timeout=WAIT)
            if message.get("id") == self._count and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def memory(self) -> int:
        """Resident bytes of the server and all processes that it started."""
        parents: dict[int, int] = {}
        sizes: dict[int, int] = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    fields = (folder / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                parents[int(folder.name)] = int(fields[1])
                sizes[int(folder.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        mine = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
            mine |= more
        return sum(sizes.get(pid, 0) for pid in mine)

    def close(self) -> None:
        """Leave in order."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(WAIT)

    def _until_diagnosed(self, uri: str, method: str, params: object) -> float:
        started = time.perf_counter()
        self.notify(method, params)
        while True:
            at, message = self._heard.get(timeout=WAIT)
            told = message.get("params") or {}
            published = message.get("method") == "textDocument/publishDiagnostics" and told["uri"] == uri
            if published and told.get("version") == self._versions[uri]:
                return at - started

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            size = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else 0
            while line := stream.readline().strip():
                if line.lower().startswith(b"content-length"):
                    size = int(line.partition(b":")[2])
            body = stream.read(size)
            self._heard.put((time.perf_counter(), json.loads(body)))
