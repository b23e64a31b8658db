"""The rules of run setup: what the settings choose, and which rules wait to be asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphward.config import Config, load_config
from graphward.engine.check import check
from graphward.engine.fixpoint import fix, within
from graphward.engine.workspace import Workspace
from graphward.errors import GraphwardError
from graphward.knowledge.renames import VERSIONS, version
from graphward.rules.selection import selected_rules
from graphward.source.fixes import Applicability

TRAINING = "import mindspore as ms\n\nmodel = ms.Model(net, loss, optimizer)\n"


def codes(select: tuple[str, ...], ignore: tuple[str, ...] = ()) -> set[str]:
    return {rule.code for rule in selected_rules(select, ignore, "2.10")}


def test_mixed_precision_waits_to_be_asked_for():
    assert "GW710" not in codes(("ALL",))
    assert "GW710" not in codes(("GW7",))
    assert "GW710" in codes(("ALL", "GW710"))
    assert "GW710" in codes(("mixed-precision",))
    assert "GW710" not in codes(("GW710",), ("GW710",))
    assert {"GW701", "GW702", "GW703", "GW704"} <= codes(("ALL",))


@pytest.mark.parametrize("level", ["O1", "O2", "O3", "auto"])
def test_the_level_of_mixed_precision_is_a_setting(tmp_path: Path, level: str):
    (tmp_path / "pyproject.toml").write_text(f'[tool.graphward]\nselect = ["GW710"]\namp-level = "{level}"\n')
    path = tmp_path / "train.py"
    path.write_text(TRAINING)
    config = load_config(tmp_path)
    result = fix(Workspace([path]), selected_rules(config.select, (), "2.10"), config, within(Applicability.UNSAFE))
    after = result.changes[path].after.text
    assert f'ms.Model(net, loss, optimizer, amp_level="{level}"' in after
    assert ("loss_scale_manager=None if" in after) is (level in ("O2", "O3"))


@pytest.mark.parametrize(("key", "value"), [("run-mode", "pynative"), ("amp-level", "O0")])
def test_a_setting_that_does_not_exist_is_refused(tmp_path: Path, key: str, value: str):
    (tmp_path / "pyproject.toml").write_text(f'[tool.graphward]\n{key} = "{value}"\n')
    with pytest.raises(GraphwardError, match=value) as refused:
        load_config(tmp_path)
    assert refused.value.line == 2


def test_files_without_a_trigger_are_not_parsed(tmp_path: Path):
    """A rule about whole files costs nothing where it has nothing to say."""
    (tmp_path / "plain.py").write_text("import mindspore\n\nprint(mindspore.__version__)\n")
    (tmp_path / "setup_run.py").write_text("import mindspore as ms\n\nms.set_context(mode=ms.PYNATIVE_MODE)\n")
    config = Config(root=tmp_path, select=("GW7",))
    workspace = Workspace([tmp_path / "plain.py", tmp_path / "setup_run.py"])
    result = check(workspace, selected_rules(config.select, (), "2.10"), config)
    assert [path.name for path in result.files] == ["setup_run.py"]
    assert workspace.read_beyond([]) == [tmp_path / "setup_run.py"]


def test_rules_about_graph_code_do_not_see_scripts(tmp_path: Path):
    (tmp_path / "run.py").write_text("import mindspore as ms\n\nms.set_context(mode=1)\n")
    config = Config(root=tmp_path, select=("GW1", "GW2", "GW3"))
    workspace = Workspace([tmp_path / "run.py"])
    assert check(workspace, selected_rules(config.select, (), "2.10"), config).files == {}
    assert workspace.read_beyond([]) == []


def test_one_helper_serves_every_call_of_a_file(tmp_path: Path):
    path = tmp_path / "run.py"
    path.write_text(
        "import mindspore as ms\n\n\ndef first():\n    ms.set_context(device_target='Ascend', mode=0)\n\n\n"
        "def second():\n    ms.set_context(device_target='GPU')\n"
    )
    config = Config(root=tmp_path, select=("GW702",))
    result = fix(Workspace([path]), selected_rules(config.select, (), "2.10"), config, within(Applicability.UNSAFE))
    after = result.changes[path].after.text
    assert after.count("def select_device") == 1
    assert after.count("    select_device()") == 2
    assert "mode=0)" in after


def test_all_rules_together_come_to_rest(tmp_path: Path):
    """What one rule writes is nothing that another one finds."""
    path = tmp_path / "run.py"
    path.write_text(
        "import mindspore as ms\nfrom mindspore import context, ms_function\n\n"
        "context.set_context(mode=context.PYNATIVE_MODE, device_target='Ascend',\n"
        "                    max_call_depth=2000, save_graphs=True)\n"
        "\n\n@ms_function\ndef step(x):\n    return x\n"
    )
    config = Config(root=tmp_path, select=("GW7", "GW8"))
    result = fix(Workspace([path]), selected_rules(config.select, (), "2.10"), config, within(Applicability.UNSAFE))
    after = result.changes[path].after.text
    assert result.refused == []
    assert result.remaining.files == {}
    assert "context.set_context(mode=context.GRAPH_MODE)\nms.set_recursion_limit(2000)\nselect_device()\n" in after
    assert "ms.set_context(device_target=target, **place)" in after


MODEL = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n        return x * 2\n"


def under_jit(folder: Path, script: str) -> tuple[str, str, list[str]]:
    """The script and its model after `run-mode = "jit"`, and what is left to be done by hand."""
    (folder / "model.py").write_text(MODEL)
    (folder / "train.py").write_text(f"import mindspore as ms\n{script}")
    paths = [folder / "train.py", folder / "model.py"]
    config = Config(root=folder, select=("GW701",), run_mode="jit")
    result = fix(Workspace(paths), selected_rules(config.select, (), "2.10"), config, within(Applicability.UNSAFE))
    texts = [result.changes[p].after.text if p in result.changes else p.read_text() for p in paths]
    findings = [f for report in result.remaining.files.values() for f in report.findings]
    return texts[0], texts[1], [f"{x.title}: {x.reason}" for f in findings for x in f.fixes]


@pytest.mark.parametrize("imported", ["from model import Net\n\nnet = Net()\n", "import model\n\nnet = model.Net()\n"])
def test_a_cell_of_another_file_is_put_under_jit_there(tmp_path: Path, imported: str):
    loop = "ms.set_context(mode=ms.PYNATIVE_MODE)\nfor x in data:\n    net(x)\n"
    script, model, left = under_jit(tmp_path, imported + loop)
    assert model == MODEL.replace("    def", "    @ms.jit\n    def").replace("nn\n", "nn\nimport mindspore as ms\n", 1)
    assert "jit" not in script and "PYNATIVE_MODE" in script
    assert left == []


def test_a_step_that_stays_in_python_is_named(tmp_path: Path):
    script, model, left = under_jit(
        tmp_path,
        "from mindspore import ops\n\nms.set_context(mode=1)\n\n\n"
        "def step(number, x):\n    return ops.relu(x) * number\n\n\n"
        "for number, x in enumerate(data):\n    step(number, x)\n",
    )
    assert "jit" not in script + model
    assert len(left) == 1 and "step" in left[0] and "handed number" in left[0]


def test_a_cell_that_an_object_holds_is_found(tmp_path: Path):
    _, model, left = under_jit(
        tmp_path,
        "from model import Net\n\nms.set_context(mode=1)\n\n\n"
        "class Trainer:\n    def __init__(self):\n        self.net = Net()\n\n"
        "    def run(self, data):\n        for x in data:\n            self.net(x)\n",
    )
    assert "@ms.jit\n    def construct" in model
    assert left == []


def test_what_a_cell_calls_is_compiled_with_it(tmp_path: Path):
    path = tmp_path / "net.py"
    path.write_text(
        "import mindspore as ms\nfrom mindspore import nn, ops\n\n\n"
        "def rotated(x):\n    return ops.neg(x)\n\n\ndef turned(x):\n    return x + rotated(x)\n\n\n"
        "class Net(nn.Cell):\n    def construct(self, x):\n        return turned(x)\n\n\n"
        "ms.set_context(mode=ms.PYNATIVE_MODE)\n"
    )
    config = Config(root=tmp_path, select=("GW701",), run_mode="jit")
    ((_, finding),) = check(Workspace([path]), selected_rules(config.select, (), "2.10"), config).all_findings()
    assert [fix.applicability for fix in finding.fixes] == [Applicability.MANUAL]


@pytest.mark.parametrize("target", VERSIONS)
def test_every_key_that_goes_has_an_answer(tmp_path: Path, target: str):
    """A rewrite whose names the target version has, or the reason why a person has to move the key."""
    known = version(target)
    keys = [key for key, (status, _) in known.below.context.items() if status != "ok"]
    path = tmp_path / "script.py"
    values = {"device_target": "Ascend"}
    lines = "".join(f'ms.set_context(mode=0, {key}="{values.get(key, 1)}")\n' for key in keys)
    path.write_text(f"import mindspore as ms\n\n{lines}")
    config = Config(root=tmp_path, select=("GW702", "GW703", "GW704"), target_version=target)
    rules = selected_rules(config.select, (), target)
    found = [finding for _, finding in check(Workspace([path]), rules, config).all_findings()]
    assert len(found) == len(keys) > 20
    assert [f.message for f in found if not f.fixes or not (f.fixes[0].edits or f.fixes[0].reason)] == []
    result = fix(Workspace([path]), rules, config, within(Applicability.UNSAFE))
    text = result.changes[path].after.text
    called = {f"mindspore.{name}" for name in re.findall(r"ms\.((?:\w+\.)*\w+)\(", text)}
    assert [name for name in called if known.missing(name)] == []
