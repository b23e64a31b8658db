"""The worker runs under the user's Python, which may be older than Graphward's own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import graphward_worker

ROOT = Path(graphward_worker.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
OLDEST = (3, 9)
NEWER = {
    "itertools": {"pairwise", "batched"},
    "types": {"NoneType", "EllipsisType", "UnionType"},
    "typing": {"TypeAlias", "ParamSpec", "Concatenate", "TypeGuard", "Self", "Never", "assert_never", "override"},
    "inspect": {"get_annotations", "getasyncgenstate"},
    "contextlib": {"aclosing", "chdir"},
    "sys": {"stdlib_module_names", "orig_argv", "exception", "monitoring"},
    "enum": {"StrEnum"},
    "datetime": {"UTC"},
    "tomllib": {"load", "loads"},
}
"""What came to the standard library after the oldest version, by module."""


def evaluated(tree: ast.Module) -> list[ast.AST]:
    """All nodes but those of annotations, which `from __future__ import annotations` keeps from being evaluated."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                items = value if isinstance(value, list) else [value]
                waiting += [item for item in items if isinstance(item, ast.AST)]
    return nodes


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_one_for_the_oldest_python(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST)
    problems = []
    postponed = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)
    nodes = evaluated(tree) if postponed else list(ast.walk(tree))
    asked = {n.args[1].value for n in nodes if _calls(n, "hasattr") and isinstance(n.args[1], ast.Constant)}
    for node in nodes:
        line = f"line {getattr(node, 'lineno', '?')}: "
        if isinstance(node, ast.ImportFrom) and node.module in NEWER:
            problems += [line + f"{node.module}.{a.name}" for a in node.names if a.name in NEWER[node.module]]
        elif isinstance(node, ast.Import):
            problems += [line + a.name for a in node.names if a.name == "tomllib"]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NEWER.get(node.value.id, ()) and node.attr not in asked:
                problems.append(line + f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            given = {keyword.arg for keyword in node.keywords}
            newer = {"zip": {"strict"}, "dataclass": {"slots", "kw_only"}}.get(node.func.id, set())
            problems += [line + f"{node.func.id}({name}=)" for name in sorted(given & newer)]
            if node.func.id in ("isinstance", "issubclass") and isinstance(node.args[-1], ast.BinOp):
                problems.append(line + "a union of types in isinstance")
            if node.func.id in ("anext", "aiter"):
                problems.append(line + node.func.id)
    assert problems == []
