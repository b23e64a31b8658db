"""`set_train` of a network has to reach the graphs inside of it; the proof turns the flag between calls."""

from __future__ import annotations

from pathlib import Path

from graphward.verify.jobs import Job, Options
from graphward.verify.targets import Target

NET = """\
from mindspore import jit, nn


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.norm = nn.BatchNorm1d(4)
{flags}
    {unit}
    def construct(self, x):
        return self.norm(self.dense(x))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    {whole}
    def construct(self, x):
        return self.encoder(x) * 2
"""
FLAGS = """
    def add_flags_recursive(self, **flags):
        if "training" in flags:
            self.phase = "unit_train" if flags["training"] else "unit_predict"
        return super().add_flags_recursive(**flags)
"""


def test_a_unit_that_does_not_hear_of_it_diverges(session, tmp_path: Path):
    before = tree(tmp_path / "before", unit="# plain", whole="@jit", flags="")
    deaf = tree(tmp_path / "deaf", unit="@jit", whole="# plain", flags="")
    hears = tree(tmp_path / "hears", unit="@jit", whole="# plain", flags=FLAGS)
    target = Target(before, "net.py", "Net")
    options = Options(units=True)
    jobs = [Job.of(target, id=t.name, rewritten=t, inputs=["f32[6,4]"], options=options) for t in (deaf, hears)]
    of_deaf, of_hears = session.prove(jobs)
    assert of_deaf.verdict == "diverges" and "call 4" in of_deaf.message
    assert of_hears.verdict == "verified", of_hears.message
    assert of_hears.rewritten.compilations[:3] == (1, 0, 0)


def test_what_calls_no_graph_is_no_split(session, tmp_path: Path):
    before = tree(tmp_path / "before", unit="# plain", whole="@jit", flags="")
    plain = tree(tmp_path / "plain", unit="# plain", whole="# plain", flags="")
    target = Target(before, "net.py", "Net")
    job = Job.of(target, id="plain", rewritten=plain, inputs=["f32[6,4]"], options=Options(units=True))
    (verdict,) = session.prove([job])
    assert verdict.verdict == "falls-back" and "no graph" in verdict.message


def tree(folder: Path, **parts: str) -> Path:
    folder.mkdir()
    (folder / "net.py").write_text(NET.format(**parts))
    return folder
