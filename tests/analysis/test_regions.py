"""Where compilation starts, and what it reaches."""

from __future__ import annotations

import pytest

from .project import project_of, reached

NET = "from mindspore import nn, ops\nimport mindspore as ms\n"


@pytest.mark.parametrize(
    "text",
    [
        "from mindspore import jit\n@jit\ndef f(x): pass",
        "import mindspore as ms\n@ms.jit\ndef f(x): pass",
        "import mindspore\n@mindspore.jit(fullgraph=True)\ndef f(x): pass",
        "from mindspore.common.api import jit\n@jit\ndef f(x): pass",
        "from mindspore import ms_function\n@ms_function\ndef f(x): pass",
        "import functools\nimport mindspore as ms\n@functools.partial(ms.jit, fullgraph=True)\ndef f(x): pass",
        "from mindspore import *\n@jit\ndef f(x): pass",
        "import mindspore as ms\ndef f(x): pass\ng = ms.jit(f)",
        "import mindspore as ms\ndef f(x): pass\ndef train():\n    step = ms.jit(f, jit_level='O1')",
        "import mindspore as ms\nclass T:\n    def __init__(self): self.s = ms.jit(self.f)\n    def f(self, x): pass",
    ],
)
def test_jit_in_all_its_spellings(tmp_path, text):
    assert [name.rpartition(".")[2] for name in reached(project_of(tmp_path, net=text))] == ["f"]


def test_a_name_that_only_looks_like_jit_is_none(tmp_path):
    analysis = project_of(tmp_path, net="from numba import jit\n@jit\ndef f(x): pass\n")
    assert reached(analysis) == {}


def test_cells_are_found_through_bases_in_other_files(tmp_path):
    analysis = project_of(
        tmp_path,
        pkg__base=NET + "class Base(nn.Cell):\n    def construct(self, x): return self.body(x)\n",
        pkg__middle="from .base import Base as B\n",
        pkg__net="from .middle import B\nclass Net(B):\n    def body(self, x): return x\n",
    )
    assert reached(analysis)["Net.body"] == ("Base.construct", "Net.body")


def test_a_mixin_without_a_cell_base_in_sight_counts(tmp_path):
    analysis = project_of(tmp_path, net="class Mixin:\n    def construct(self, x): return x\n")
    assert "Mixin.construct" in reached(analysis)


def test_a_torch_module_does_not(tmp_path):
    text = "import torch\nclass M(torch.nn.Module):\n    def construct(self, x): return x\n"
    analysis = project_of(tmp_path, net=text)
    assert reached(analysis) == {}


def test_a_cell_inside_a_function(tmp_path):
    text = NET + "def make(n):\n    class Net(nn.Cell):\n        def construct(self, x): return x\n    return Net()\n"
    assert "make.<locals>.Net.construct" in reached(project_of(tmp_path, net=text))


def test_helpers_across_modules_keep_the_call_path(tmp_path):
    analysis = project_of(
        tmp_path,
        pkg__net=NET + "from . import utils\nfrom .utils import f\nclass Net(nn.Cell):\n"
        "    def construct(self, x): return f(x) + utils.g(x)\n",
        pkg__utils="from .deep import h\ndef f(x): return h(x)\ndef g(x): return x\n",
        pkg__deep="def h(x): return x\ndef unused(x): return x\n",
    )
    assert reached(analysis) == {
        "Net.construct": ("Net.construct",),
        "f": ("Net.construct", "f"),
        "g": ("Net.construct", "g"),
        "h": ("Net.construct", "f", "h"),
    }


@pytest.mark.parametrize(
    "line",
    ["return self.helper.run(x)", "return Helper().run(x)", "return super().run(x)", "return Helper.run(self, x)",
     "return list(map(run, x))", "g = ms.grad(run)\n        return g(x)", "return wrapped(x)",
     "return ms.grad(self.run)(x)", "return self.slope(x)"],
)  # fmt: skip
def test_ways_to_reach_a_function(tmp_path, line):
    text = NET + (
        "class Helper:\n    def run(self, x): return x\n"
        "def run(x): return x\n"
        "wrapped = ms.value_and_grad(run)\n"
        "class Base(nn.Cell):\n    def run(self, x): return x\n"
        "class Net(Base):\n    def __init__(self):\n        super().__init__()\n        self.helper = Helper()\n"
        "        self.slope = ms.grad(self.run)\n"
        f"    def construct(self, x):\n        {line}\n"
    )
    assert any(name.rpartition(".")[2] == "run" for name in reached(project_of(tmp_path, net=text)))


@pytest.mark.parametrize("container", ["[Block()]", "nn.CellList([Block() for _ in range(2)])", "[]"])
def test_cells_in_containers_are_reached(tmp_path, container):
    text = NET + (
        "class Block(nn.Cell):\n    def construct(self, x): return self.step(x)\n    def step(self, x): return x\n"
        "class Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.blocks = {container}\n        self.blocks.append(Block())\n"
        "    def construct(self, x):\n        for block in self.blocks:\n            x = block(x)\n        return x\n"
    )
    from graphward.analysis.calls import CallGraph

    analysis = project_of(tmp_path, net=text)
    net = next(r for r in analysis.regions if r.qualname == "Net.construct")
    found = {f.qualname for _, f, _ in CallGraph(analysis.project).callees(net.root, net.cell)}
    assert "Block.construct" in found


def test_functions_that_run_while_compiling_are_not_reached(tmp_path):
    text = NET + (
        "@ops.constexpr\ndef size(n): return n\n"
        "class Net(nn.Cell):\n    def construct(self, x): return x * size(3)\n"
    )
    assert "size" not in reached(project_of(tmp_path, net=text))


def test_import_cycles_and_recursion_end(tmp_path):
    analysis = project_of(
        tmp_path,
        pkg__a=NET + "from .b import f\nclass Net(nn.Cell):\n    def construct(self, x): return f(x)\n",
        pkg__b="from .a import Net\nfrom .b import f as f\ndef f(x): return g(x)\ndef g(x): return f(x)\n",
    )
    assert set(reached(analysis)) == {"Net.construct", "f", "g"}


def test_reading_a_property_does_not_reach_what_writes_it(tmp_path):
    text = NET + (
        "class Net(nn.Cell):\n"
        "    @property\n    def scale(self): return self.read()\n"
        "    @scale.setter\n    def scale(self, value): self.write()\n"
        "    def read(self): return 2\n    def write(self): pass\n"
        "    def construct(self, x): return x * self.scale\n"
    )
    found = reached(project_of(tmp_path, net=text))
    assert "Net.read" in found
    assert "Net.write" not in found


@pytest.mark.parametrize("made", ["LAYERS[kind]()", "layer"])
def test_cells_from_a_dict_of_classes_and_under_a_name_are_reached(tmp_path, made):
    analysis = project_of(
        tmp_path,
        pkg__layers=NET + "class One(nn.Cell):\n    def construct(self, x): return x\n"
        "class Two(nn.Cell):\n    def construct(self, x): return x\nLAYERS = {'one': One, 'two': Two}\n",
        pkg__net=NET + "from .layers import LAYERS, One\nclass Net(nn.Cell):\n"
        "    def __init__(self, kind):\n        super().__init__()\n        layer = One()\n"
        f"        self.layer = {made}\n"
        "    def construct(self, x): return self.layer(x)\n",
    )
    net = next(r for r in analysis.reached.values() if r.function.qualname == "Net.construct")
    called = {f.qualname for f, r in analysis.reached.items() if any(caller is net for caller, _ in r.sites)}
    assert called == ({"One.construct"} if made == "layer" else {"One.construct", "Two.construct"})
