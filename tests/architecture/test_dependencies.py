"""Dependencies point one way: source <- analysis <- rules <- engine <- the fronts.

Read from the import statements of every module, those inside functions and under TYPE_CHECKING included. A room
that is not in the table fails the test: whoever adds one decides here what it may know.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "graphward": ROOT / "src" / "graphward",
    "graphward_worker": ROOT / "src" / "graphward_worker",
    "graphward_codemods": ROOT / "codemods" / "graphward_codemods",
}

# Room -> the rooms it may import. Findings, the catalogue's entries and verdicts are data that the printers share, so
# report may import these three modules and nothing else of their rooms.
FRONT = {
    "errors",
    "config",
    "recordings",
    "source",
    "analysis",
    "rules",
    "knowledge",
    "engine",
    "verify",
    "migrate",
    "bench",
    "layout",
    "report",
    "diagnosis",
}
ALLOWED: dict[str, set[str]] = {
    "": set(),
    "errors": set(),
    "knowledge": set(),
    "config": {"errors"},
    "recordings": {"graphward_worker"},
    "source": {"errors"},
    "analysis": {"errors", "source", "knowledge"},
    "rules": {"errors", "config", "source", "analysis", "knowledge"},
    "engine": {"", "errors", "config", "recordings", "source", "analysis", "rules", "knowledge"},
    "verify": {"errors", "config", "recordings", "source", "graphward_worker"},
    "migrate": {"errors", "config", "recordings", "source", "analysis", "rules", "knowledge", "engine", "verify"},
    "diagnosis": {"errors", "config", "source", "analysis", "rules", "knowledge", "engine", "migrate"},
    "layout": {"errors", "config", "source", "analysis", "rules", "knowledge", "engine", "verify", "migrate"},
    "bench": {"errors", "config", "source", "analysis", "rules", "engine", "verify", "graphward_worker"},
    "report": {"", "errors", "source", "rules.finding", "rules.rule", "verify.verdicts", "diagnosis"},
    "cli": {"", *FRONT, "review", "lsp"},
    "review": {"", *FRONT},
    "lsp": {"", *FRONT},
    "graphward_codemods": {"errors", "source", "analysis", "rules", "knowledge"},
    "graphward_worker": set(),
}


def modules() -> list[tuple[str, Path]]:
    """`(dotted name, path)` of every module of the three packages."""
    found = []
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found.append((".".join(parts), path))
    return found


def imports(name: str, source: str) -> set[str]:
    """Dotted names that the module `name` imports, relative ones resolved.

    `from a import b` gives both `a` and `a.b`, since `b` may be a module.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # The last part of `name` is the file, `__init__` too, so one dot is always its parent.
            above = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def room(dotted: str) -> str | None:
    """The room of a module of this project, `""` for the top of `graphward`, None for other packages."""
    head, *rest = dotted.split(".")
    if head != "graphward":
        return head if head in PACKAGES else None
    if not rest or rest[0].startswith("__"):
        return ""
    return rest[0]


def offences(name: str, source: str) -> list[str]:
    """What the module imports of this project and may not."""
    own = room(name)
    assert own is not None
    assert own in ALLOWED, f"{name}: the room {own!r} is not in the table of allowed dependencies"
    allowed = ALLOWED[own] | {own}
    wrong = []
    targets = imports(name, source)
    for target in sorted(targets):
        its_room = room(target)
        if its_room is None or its_room in allowed:
            continue
        in_its_room = ".".join(target.split(".")[1:])
        shared = [a for a in allowed if "." in a]
        if any(in_its_room == a or in_its_room.startswith(f"{a}.") for a in shared):
            continue
        # `from ..rules import finding` also names the package on the way to the allowed module.
        if any(a.startswith(f"{in_its_room}.") and f"graphward.{a}" in targets for a in shared):
            continue
        # `from .. import errors` also names the package itself.
        if target == "graphward" and any(t.startswith("graphward.") for t in targets):
            continue
        wrong.append(f"{name} imports {target}")
    return wrong


MODULES = modules()


def test_the_walk_sees_all_three_packages():
    assert {name.split(".")[0] for name, _ in MODULES} == set(PACKAGES)


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_dependencies_point_one_way(name: str, path: Path):
    assert offences(name, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("graphward.source.text", "from ..rules.finding import Finding", True),
        ("graphward.source.text", "from ..errors import GraphwardError", False),
        ("graphward.source.text", "from .. import errors", False),
        ("graphward.rules.registry", "def f():\n    from graphward.engine import check", True),
        ("graphward.rules.registry", "from ..analysis.module import Module", False),
        ("graphward.report.text", "from ..rules.finding import Finding", False),
        ("graphward.report.text", "from ..rules import finding", False),
        ("graphward.report.text", "from ..rules.registry import Registry", True),
        ("graphward.verify.run", "from ..analysis import module", True),
        ("graphward.verify.run", "from graphward_worker.specs import parse", False),
        ("graphward.lsp.server", "import graphward.cli.app", True),
        ("graphward.knowledge.names", "from ..errors import GraphwardError", True),
        ("graphward_codemods.numpy", "from graphward.engine.fix import fix", True),
        ("graphward_codemods.numpy", "from graphward.rules.rule import Rule", False),
        ("graphward_worker.play", "from graphward.errors import GraphwardError", True),
        ("graphward.analysis.__init__", "from . import module", False),
        ("graphward.analysis.__init__", "from .. import engine", True),
    ],
)
def test_the_reader_of_imports_knows_right_from_wrong(name: str, source: str, wrong: bool):
    assert bool(offences(name, source)) is wrong


def uses(package: str, names: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for name in names)


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_heavy_packages_stay_in_their_rooms(name: str, path: Path):
    names = imports(name, path.read_text(encoding="utf-8"))
    # Providers of metadata cost 10 to 70 times a parse.
    assert not uses("libcst.metadata", names)
    if uses("libcst", names):
        assert name == "graphward.source.structural" or name.startswith("graphward_codemods.")
    for package, owner in {
        "textual": "graphward.review",
        "pygls": "graphward.lsp",
        "lsprotocol": "graphward.lsp",
        "typer": "graphward.cli",
        "mindspore": "graphward_worker",
        "numpy": "graphward_worker",
    }.items():
        if uses(package, names):
            assert name.startswith(f"{owner}."), f"{name} imports {package}, which belongs to {owner}"


@pytest.mark.parametrize(
    ("name", "path"),
    [m for m in MODULES if m[0].startswith("graphward_worker")],
    ids=[name for name, _ in MODULES if name.startswith("graphward_worker")],
)
def test_the_worker_needs_nothing_but_mindspore_and_numpy(name: str, path: Path):
    tops = {n.split(".")[0] for n in imports(name, path.read_text(encoding="utf-8"))} - {""}
    assert tops - set(sys.stdlib_module_names) <= {"mindspore", "numpy", "graphward_worker"}


def test_check_starts_without_the_heavy_packages(tmp_path: Path):
    net = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n        return x + 1\n"
    (tmp_path / "net.py").write_text(net, encoding="utf-8")
    program = (
        "import sys\n"
        "from graphward.cli.app import main\n"
        "sys.argv = ['graphward', 'check', '--no-cache', 'net.py']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "heavy = {'libcst', 'textual', 'pygls', 'nbformat', 'mindspore', 'numpy'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "loaded: []"
