"""The protocol's classes are what they are without `lsp.late`, only later."""

from __future__ import annotations

import subprocess
import sys

DESCRIBED = """
import attrs
from lsprotocol import converters, types

converter = converters.get_converter()
place = {"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}
told = converter.structure({"range": place, "message": "m", "tags": [1], "code": 7}, types.Diagnostic)
print(told, converter.unstructure(told))
print(told == attrs.evolve(told), told == attrs.evolve(told, message="n"), told != attrs.evolve(told))
print(types.Position(1, 2) < types.Position(1, 3), types.Diagnostic.__hash__, types.Diagnostic.__match_args__)
for make in (lambda: types.Position(-1, 0), lambda: types.Diagnostic(told.range), lambda: setattr(told, "message", 5)):
    try:
        make()
    except (TypeError, ValueError) as error:
        print(type(error).__name__, str(error).partition("(")[0])
for name, cls in sorted((n, c) for n, c in vars(types).items() if isinstance(c, type) and attrs.has(c)):
    print(name, [(f.name, f.type, f.default, f.kw_only) for f in attrs.fields(cls)])
"""
LATE = """
from graphward.lsp.late import load_protocol
load_protocol()
"""
COUNTED = """
from graphward.lsp.features import make_server
from lsprotocol import types
make_server()
classes = [c for c in vars(types).values() if isinstance(c, type)]
print(len([c for c in classes if "__attrs_attrs__" in vars(c) and isinstance(vars(c)["__attrs_attrs__"], tuple)]))
"""


def _output(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_protocols_classes_are_the_same_when_they_are_made_late():
    usual = _output(DESCRIBED)
    assert len(usual.splitlines()) > 500
    assert _output(LATE + DESCRIBED) == usual


def test_a_server_starts_without_most_classes_of_the_protocol():
    assert int(_output(LATE + COUNTED)) < 100 < int(_output(COUNTED))
