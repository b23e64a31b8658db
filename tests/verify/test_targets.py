"""Targets are checked before any code of the user runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.errors import GraphwardError
from graphward.verify.jobs import Job
from graphward.verify.targets import parse_target


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "shop" / "parts"
    package.mkdir(parents=True)
    (tmp_path / "src" / "shop" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "net.py").write_text(
        "from mindspore import nn\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n"
        "class Network(nn.Cell):\n    pass\n"
        "NET = Network()\n"
    )
    (tmp_path / "stars.py").write_text("from shop import *\n")
    (tmp_path / "broken.py").write_text("x = 1\nclass Net(:\n")
    (tmp_path / "null.py").write_bytes(b"x = 1\0\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "file", "expr"),
    [
        ("src/shop/parts/net.py::Network", "src/shop/parts/net.py", "Network"),
        ("src/shop/parts/net.py::Network(width=3)", "src/shop/parts/net.py", "Network(width=3)"),
        ("src/shop/parts/net.py::NET.encode", "src/shop/parts/net.py", "NET.encode"),
        ("src/shop/parts/net.py::Network().encode", "src/shop/parts/net.py", "Network().encode"),
        ("src/shop/parts/net.py::NET.layers[0]", "src/shop/parts/net.py", "NET.layers[0]"),
        ("src/shop/parts/net.py::__import__('os').sep", "src/shop/parts/net.py", "__import__('os').sep"),
        ("src/shop/parts/net.py::fast", "src/shop/parts/net.py", "fast"),
        ("shop.parts.net::Network", "src/shop/parts/net.py", "Network"),
        ("src/shop/parts/net.py", "src/shop/parts/net.py", None),
        ("stars.py::Anything", "stars.py", "Anything"),
    ],
)
def test_targets_are_read(project: Path, text: str, file: str, expr: str | None) -> None:
    target = parse_target(text, project)
    assert (target.tree, target.file, target.expr) == (project.resolve(), file, expr)
    assert target.path.is_file()


def test_outside_of_the_root_the_tree_holds_the_whole_package(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = parse_target(f"{project / 'src/shop/parts/net.py'}::Network", elsewhere)
    assert (target.tree, target.file) == ((project / "src").resolve(), "shop/parts/net.py")


def test_inside_of_a_package_the_tree_holds_the_whole_package(project: Path) -> None:
    target = parse_target("net.py::Network", project / "src/shop/parts")
    assert (target.tree, target.file) == ((project / "src").resolve(), "shop/parts/net.py")


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("nowhere.py::Net", "no such file", "path.py::Name"),
        ("src::Net", "no module 'src'", "path/to/module.py"),
        ("src/shop::Net", "this is a directory", "path.py::Name"),
        ("shop.missing::Net", "no module 'shop.missing'", "path/to/module.py"),
        ("not a module::Net", "neither a file nor a module", "path.py::Name"),
        ("::Net", "is not a target", "path.py::Name"),
        ("stars.py::", "is not a target", "path.py::Name"),
        ("src/shop/parts/net.py::Networc", "no 'Networc' at the top level", "did you mean Network?"),
        ("src/shop/parts/net.py::Zzz", "no 'Zzz' at the top level", "it defines Network"),
        ("src/shop/parts/net.py::Network(", "does not parse", "path.py::Name"),
        ("src/shop/parts/net.py::3", "names no class or function", "path.py::Name"),
        ("null.py::Net", "the file does not parse", ""),
    ],
)
def test_a_bad_target_is_refused_with_the_way_out(project: Path, text: str, words: str, hint: str) -> None:
    with pytest.raises(GraphwardError) as raised:
        parse_target(text, project)
    assert words in raised.value.message
    assert hint in raised.value.hint


def test_a_file_that_does_not_parse_is_named_with_its_line(project: Path) -> None:
    with pytest.raises(GraphwardError) as raised:
        parse_target("broken.py::Net", project)
    assert (raised.value.path, raised.value.line) == ((project / "broken.py").resolve(), 2)


def test_a_job_needs_a_name(project: Path) -> None:
    with pytest.raises(GraphwardError, match="names no class"):
        Job.of(parse_target("stars.py", project))
