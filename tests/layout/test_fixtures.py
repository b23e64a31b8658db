"""Whole models: where each definition goes, the text of every part, and the proof with the real compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from graphward.config import Config, VerifySettings
from graphward.layout.plan import Layout, plan
from graphward.layout.proving import Proof, prove
from graphward.verify.session import Session

from .conftest import FIXTURES, put

# Of each model, what is proven besides what can be run with inferred inputs.
TARGETS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "bert": {"BertClassifier": ("i32[2,8]<100", "i32[2]<3"), "Pooler": ("f32[2,8,16]",)},
    "cnn": {"Net": ("f32[2,1,8,8]",), "Backbone": ("f32[2,1,8,8]",)},
    "state": {"Net": ("f32[2,4]",), "Head": ("f32[2,4]",)},
    "owner": {"TwoStage": ("f32[2,6]",), "Detector": ("f32[2,6]",), "BoxHead": ("f32[2,2]",)},
}
ROLES = {
    "bert": {"create_dataset": "data_loader", "Encoder": "backbone", "Layer": "backbone", "Pooler": "head",
             "SmoothLoss": "loss", "BertClassifier": "network", "train": "training", "LENGTH": "shared"},
    "cnn": {"load_data": "data_loader", "Backbone": "backbone", "ClassifierHead": "head", "loss": "losses",
            "Net": "network", "main": "train"},
    "state": {"NumbersDataset": "data_loader", "Net": "backbone", "Head": "head", "calls": "train", "count": "train"},
    "owner": {"samples": "data_loader", "Detector": "backbone", "BoxHead": "head", "TwoStage": "network"},
}  # fmt: skip


def at(case: str, folder: Path) -> Layout:
    return plan(Path(shutil.copy(FIXTURES / case / "model.py", folder)))


@pytest.mark.parametrize("case", ROLES)
def test_each_definition_goes_where_it_belongs_and_says_why(case: str, tmp_path: Path):
    layout = at(case, tmp_path)
    files = {d.name: d.file for d in layout.decisions}
    assert {name: files[name] for name in ROLES[case]} == {name: f"{stem}.py" for name, stem in ROLES[case].items()}
    assert all(d.why for d in layout.decisions)


@pytest.mark.parametrize("case", ROLES)
def test_the_parts_are_what_the_fixture_says(case: str, tmp_path: Path):
    layout = at(case, tmp_path)
    written = {path.name: text.text for path, text in layout.files.items()}
    assert written == {path.name: path.read_text() for path in (FIXTURES / case / "after").glob("*.py")}


@pytest.mark.parametrize(
    ("case", "reason"), [("noop_backbone", "one part (backbone)"), ("noop_small", "no part of a model"),
                         ("noop_lookup", "globals()")]
)  # fmt: skip
def test_what_is_one_part_is_left_alone(case: str, reason: str, tmp_path: Path):
    layout = at(case, tmp_path)
    assert not layout.files and reason in layout.reason


def proven(case: str, folder: Path, session: Session) -> tuple[Layout, Proof]:
    layout = at(case, folder)
    targets = {f"{layout.before.path}::{expr}": inputs for expr, inputs in TARGETS[case].items()}
    config = Config(root=folder, verify=VerifySettings(targets=targets, declared_only=True))
    return layout, prove(layout, config, units=True, session=session)


@pytest.mark.parametrize("case", ["cnn", "state", "owner"])
def test_the_compiler_sees_no_difference(case: str, tmp_path: Path, session: Session):
    layout, proof = proven(case, tmp_path, session)
    assert [v.verdict for v in proof.verdicts] == ["verified"] * len(TARGETS[case])
    assert not proof.broken and not proof.unproven and not proof.cut
    assert layout.before.path.exists() and not layout.package.exists(), "nothing is written"


def test_graphs_are_cut_where_the_parts_meet(tmp_path: Path, session: Session):
    layout, proof = proven("bert", tmp_path, session)
    assert [v.verdict for v in proof.verdicts] == ["verified", "verified"]
    assert sorted(proof.cut) == [
        "Encoder.construct (backbone.py)", "Pooler.construct (head.py)", "SmoothLoss.construct (loss.py)",
    ]  # fmt: skip
    assert proof.units and all(v.verified for v in proof.units)
    assert {v.inputs.source for v in proof.units if v.inputs.target == "BertClassifier"} == {"declared"}
    texts = {path.name: text.text for path, text in layout.files.items()}
    assert all("jit\n    def construct" in texts[f"{part}.py"] for part in ("backbone", "head", "loss"))
    assert "jit" not in texts["network.py"], "what puts the parts together is plain Python"


def test_a_part_that_does_something_else_is_seen(tmp_path: Path, session: Session):
    layout = at("owner", tmp_path)
    head = layout.package / "head.py"
    wrong = layout.files[head].utf8.replace(b"ops.sigmoid", b"ops.tanh")
    layout.files[head] = layout.files[head].with_utf8(wrong)
    targets = {f"{layout.before.path}::BoxHead": ("f32[2,2]",)}
    config = Config(root=tmp_path, verify=VerifySettings(targets=targets, declared_only=True))
    assert [v.verdict for v in prove(layout, config, units=True, session=session).broken] == ["diverges"]


def test_a_name_that_is_lost_is_seen(tmp_path: Path, session: Session):
    layout = at("owner", tmp_path)
    init = layout.package / "__init__.py"
    lost = layout.files[init].utf8.replace(b"import samples", b"import samples as other")
    layout.files[init] = layout.files[init].with_utf8(lost)
    targets = {f"{layout.before.path}::BoxHead": ("f32[2,2]",)}
    config = Config(root=tmp_path, verify=VerifySettings(targets=targets, declared_only=True))
    (verdict,) = prove(layout, config, units=False, session=session).broken
    assert "samples" in verdict.message


@pytest.mark.parametrize("case", ["cnn", "state"])
def test_the_script_prints_what_it_printed(case: str, tmp_path: Path, mindspore_python: str):
    layout = at(case, tmp_path)

    def run(*arguments: str) -> str:
        command, settings = [mindspore_python, *arguments], {**os.environ, "GLOG_v": "4"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    before = run("model.py", "--verbose")
    put(layout)
    assert before and run("-m", "model", "--verbose") == before


def test_live_names_are_the_same_through_the_old_path(tmp_path: Path, mindspore_python: str):
    layout = at("state", tmp_path)
    program = (
        "import model, types\n"
        "from model import count, calls\n"
        "count(); count()\n"
        "model.args = types.SimpleNamespace(verbose=True, name='n')\n"
        "print(calls, model.calls, model.evaluate(model.Net(), model.Head()), len(model.history), model.calls)\n"
        "model.calls = 40\n"
        "print(count())\n"
    )
    outputs = []
    for lay_out in (False, True):
        if lay_out:
            put(layout)
        run = subprocess.run([mindspore_python, "-c", program], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout.splitlines()[-3:])
    assert outputs[0] == outputs[1] == ["calls 5 of n", "0 2 3 3 5", "41"]
