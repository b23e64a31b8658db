"""What is found, and written, depends on the version that the code is for; and on what the code is prepared for."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.fixpoint import fix, within
from graphward.engine.workspace import Workspace
from graphward.rules.selection import selected_rules
from graphward.source.fixes import Applicability


def found(folder: Path, text: str, target: str = "2.10", code: str = "GW8") -> list[tuple[str, int]]:
    """`(code, line)` of each finding in a script of that text."""
    path = folder / "script.py"
    path.write_text(text)
    config = Config(root=folder, select=(code,), target_version=target)
    result = check(Workspace([path]), selected_rules(config.select, (), target), config)
    return [(f.code, result.files[path].source.position(f.span.start)[0]) for _, f in result.all_findings()]


def written(folder: Path, text: str, target: str = "2.10", code: str = "GW8") -> str:
    """What all fixes make of a script."""
    path = folder / "script.py"
    path.write_text(text)
    config = Config(root=folder, select=(code,), target_version=target)
    rules = selected_rules(config.select, (), target)
    result = fix(Workspace([path]), rules, config, within(Applicability.UNSAFE))
    return result.changes[path].after.text if path in result.changes else text


@pytest.mark.parametrize(
    ("line", "in_2_7", "in_2_8", "in_2_10"),
    [
        ("ops.randint(0, 3, (2,))", [], [], ["GW803"]),
        ("ms.set_offload_context(offload_config={})", [], [], ["GW802"]),
        ("ops.TensorAdd()", ["GW803"], ["GW803"], ["GW803"]),
        ("ms.ms_function(x)", ["GW801"], ["GW801"], ["GW801"]),
        ("ops.transpose(x, input_perm=(1, 0))", [], [], ["GW804"]),
        ("ops.transpose(x, dims=(1, 0))", ["GW804"], [], []),
    ],
)  # fmt: skip
def test_the_target_version_decides(tmp_path: Path, line, in_2_7, in_2_8, in_2_10):
    text = f"import mindspore as ms\nfrom mindspore import ops\n\nx = ms.Tensor([[1.0]])\n{line}\n"
    for target, wanted in (("2.7", in_2_7), ("2.8", in_2_8), ("2.10", in_2_10)):
        assert [code for code, _ in found(tmp_path, text, target)] == wanted, target


def test_the_keyword_of_each_version_is_written(tmp_path: Path):
    line = "from mindspore import ops\n\nprint(ops.transpose(x, {}=(1, 0)))\n"
    assert written(tmp_path, line.format("input_perm"), "2.10") == line.format("dims")
    assert written(tmp_path, line.format("dims"), "2.7") == line.format("input_perm")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import mindspore\n\n@mindspore.ms_function\ndef f(x):\n    return x\n",
         "import mindspore\n\n@mindspore.jit\ndef f(x):\n    return x\n"),
        ("from mindspore import (\n    Tensor,\n    ms_function,\n)\n\nf = ms_function(Tensor.abs)\n",
         "from mindspore import (\n    Tensor,\n    jit,\n)\n\nf = jit(Tensor.abs)\n"),
        ("from mindspore.ops import operations as P\n\nadd = P.TensorAdd\nnet = add()\n",
         "from mindspore.ops import operations as P\n\nadd = P.Add\nnet = add()\n"),
        ("import mindspore.ops.operations as P\n\nprint(P.Pack(0), P.Unpack(0))\n",
         "import mindspore.ops.operations as P\n\nprint(P.Stack(0), P.Unstack(0))\n"),
        ("from mindspore.ops.operations.array_ops import GatherV2\n\nprint(GatherV2())\n",
         "from mindspore.ops.operations.array_ops import Gather\n\nprint(Gather())\n"),
        ("def main():\n    from mindspore import ms_function as f\n\n    return f\n",
         "def main():\n    from mindspore import jit as f\n\n    return f\n"),
        ("import os, mindspore as ms\n\nprint(os.sep, ms.ms_class)\n",
         "import os, mindspore as ms\n\nprint(os.sep, ms.jit_class)\n"),
    ],
)  # fmt: skip
def test_every_way_to_import_a_name(tmp_path: Path, before: str, after: str):
    assert written(tmp_path, before) == after


def test_an_init_module_keeps_the_name_that_it_gives_to_others(tmp_path: Path):
    package = tmp_path / "package"
    package.mkdir()
    path = package / "__init__.py"
    path.write_text("from mindspore import ms_function\n")
    config = Config(root=tmp_path, select=("GW801",))
    rules = selected_rules(config.select, (), "2.10")
    result = fix(Workspace([path]), rules, config, within(Applicability.SAFE))
    assert result.changes[path].after.text == "from mindspore import jit as ms_function\n"


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from mindspore import ms_function\nexcept ImportError:\n    ms_function = None\n",
        "import mindspore as ms\n\nf = ms.ms_function if hasattr(ms, 'ms_function') else ms.jit\n",
        "import mindspore as ms\n\nif ms.__version__ < '2.0':\n    f = ms.ms_function\n",
        "from mindspore import ops\n\nops.neg_tensor = ops.neg\nprint(ops.neg_tensor)\n",
        "def f(ops):\n    return ops.neg_tensor, 'mindspore'\n",
        "from mindspore import ops\n\n\ndef f(ops):\n    return ops.neg_tensor\n",
        "from torch import ms_function  # of mindspore?\n",
        "import mindspore as ms\n\nf = getattr(ms, 'ms_function', None)\n",
        "# from mindspore import ms_function\nTEXT = 'import mindspore; mindspore.ms_function'\n",
    ],
)  # fmt: skip
def test_what_is_prepared_or_something_else_is_left_alone(tmp_path: Path, text: str):
    assert found(tmp_path, text) == []


def test_a_module_of_the_project_under_mindspores_name_is_its_own(tmp_path: Path):
    (tmp_path / "mindspore").mkdir()
    (tmp_path / "mindspore" / "__init__.py").write_text("")
    (tmp_path / "mindspore" / "tools_of_ours.py").write_text("x = 1\n")
    assert found(tmp_path, "import mindspore.tools_of_ours\n\nprint(mindspore.tools_of_ours.x)\n") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import mindspore.nn as z\nq = z.ResizeBilinear\n", 2),
        ("from mindspore import nn\nq = nn.ResizeBilinear\n", 2),
        ("from mindspore.nn import ResizeBilinear as layer\nq = layer\n", 1),
        ("import mindspore as ms\nq = ms.nn.ResizeBilinear\nprint(q(2))\n", 2),
        ("import mindspore.ops.operations\nq = mindspore.ops.operations.ControlDepend\n", 2),
        ("from mindspore.nn import *\nlayer = ResizeBilinear(2)\n", 2),
    ],
)  # fmt: skip
def test_a_missing_name_is_found_by_every_import_and_under_a_name_of_its_own(tmp_path: Path, text: str, line: int):
    assert found(tmp_path, text) == [("GW802", line)]
