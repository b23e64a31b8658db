"""Which fixes a bisection keeps. The prover here is a table, except in the last test, where it is the compiler."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from graphward.verify.bisect import Bisection, Choice, bisect
from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session
from graphward.verify.targets import parse_target
from graphward.verify.verdicts import Difference, Inputs, Node, SideResult, Verdict

from .catalogue import DATA, X


def verdict(name: str, nodes: int = 0, wrong: bool = False) -> Verdict:
    difference = Difference("outputs", 1, "output", "value", "1 in PyNative, 2 in the graph") if wrong else None
    side = SideResult(name, "", nodes=(Node("PyExecute"),) * nodes, difference=difference)
    return Verdict("job", "net.py::Net", name, "", Inputs("declared", (), "Net"), rewritten=side)


def sites(*needed: str, harmful: Mapping[str, set[int]] | None = None) -> Callable[[Choice], Verdict]:
    """A region with one fallback for each of `needed`; the alternatives in `harmful` change the result."""

    def judge(choice: Choice) -> Verdict:
        if any(choice.get(fix) in bad for fix, bad in (harmful or {}).items()):
            return verdict("diverges", wrong=True)
        left = [fix for fix in needed if fix not in choice]
        return verdict("falls-back", len(left)) if left else verdict("verified")

    return judge


def run(fixes: Mapping[str, int] | list[str], judge: Callable[[Choice], Verdict], limit: int = 32) -> Bisection:
    return bisect(fixes, dict, judge, limit=limit)


def test_all_together_takes_one_proof() -> None:
    found = run(["a", "b"], sites("a", "b"))
    assert (found.kept, found.verified, found.proofs, found.culprits) == ({"a": 0, "b": 0}, True, 1, ())


def test_a_culprit_is_left_out_and_named() -> None:
    found = run(["a", "b", "c"], sites("a", "c", harmful={"b": {0}}))
    assert found.kept == {"a": 0, "c": 0}
    assert found.verified
    assert [(c.fix, c.alternative, c.verdict.verdict) for c in found.culprits] == [("b", None, "diverges")]


def test_the_next_alternative_of_a_culprit_is_tried() -> None:
    found = run({"a": 1, "b": 3}, sites("a", "b", harmful={"b": {0, 1}}))
    assert found.kept == {"a": 0, "b": 2}
    assert found.verified
    assert [(c.fix, c.alternative) for c in found.culprits] == [("b", 2)]


def test_two_culprits_are_both_found() -> None:
    found = run(["a", "b", "c"], sites("a", harmful={"b": {0}, "c": {0}}))
    assert found.kept == {"a": 0}
    assert {c.fix for c in found.culprits} == {"b", "c"}


def test_what_still_falls_back_keeps_the_fixes_that_help() -> None:
    found = run(["a"], sites("a", "unfixable"))
    assert found.kept == {"a": 0}
    assert not found.verified
    assert found.verdict is not None
    assert found.verdict.verdict == "falls-back"


def test_a_culprit_that_hides_behind_anothers_error_is_singled_out() -> None:
    def judge(choice: Choice) -> Verdict:
        if "b" in choice or "a" not in choice:
            return verdict("fails")
        return verdict("verified")

    found = run(["b", "a"], judge)
    assert found.kept == {"a": 0}
    assert [c.fix for c in found.culprits] == ["b"]
    assert found.verified


@pytest.mark.parametrize("size", [8, 16, 64])
@pytest.mark.parametrize("place", [0, 3, -1])
def test_the_cost_of_a_culprit_grows_with_the_logarithm(size: int, place: int) -> None:
    fixes = [f"fix{i}" for i in range(size)]
    bad = fixes[place]
    found = run(dict.fromkeys(fixes, 2), sites(*fixes, harmful={bad: {0}}), limit=1000)
    assert found.verified
    assert found.kept == {**dict.fromkeys(fixes, 0), bad: 1}
    assert [(c.fix, c.alternative) for c in found.culprits] == [(bad, 1)]
    everything, nothing, the_others, two_alternatives = 1, 1, 1, 2
    assert found.proofs <= everything + nothing + math.log2(size) + two_alternatives + the_others


def test_several_culprits_among_many_do_not_multiply() -> None:
    fixes = [f"fix{i}" for i in range(32)]
    bad = {"fix4": {0}, "fix5": {0}, "fix30": {0}}
    found = run(fixes, sites(*(fix for fix in fixes if fix not in bad), harmful=bad), limit=1000)
    assert found.verified
    assert {c.fix for c in found.culprits} == bad.keys() == set(fixes) - found.kept.keys()
    assert found.proofs <= 2 + len(bad) * (math.log2(len(fixes)) + 2)


def test_a_choice_that_cannot_be_rendered_is_never_proved() -> None:
    proved: list[Choice] = []

    def render(choice: Choice) -> Choice | None:
        return None if {"a", "b"} <= choice.keys() else dict(choice)

    def judge(choice: Choice) -> Verdict:
        proved.append(choice)
        return verdict("verified") if "a" in choice else verdict("fails")

    found = bisect(["a", "b"], render, judge)
    assert found.kept == {"a": 0}
    assert found.verified
    assert all(not {"a", "b"} <= choice.keys() for choice in proved)


def test_the_number_of_proofs_is_bounded_and_none_is_made_twice() -> None:
    seen: list[tuple[tuple[str, int], ...]] = []

    def judge(choice: Choice) -> Verdict:
        seen.append(tuple(sorted(choice.items())))
        return verdict("fails")

    found = run([f"fix{i}" for i in range(40)], judge, limit=10)
    assert (found.proofs, found.exhausted) == (10, True)
    assert len(seen) == len(set(seen)) == 10


def test_the_compiler_finds_the_culprit(session: Session, tmp_path: Path) -> None:
    """Two fixes of one Cell: one removes NumPy, the other doubles a constant by mistake."""
    original = tmp_path / "original"
    shutil.copytree(DATA / "bisect", original)
    source = (original / "net.py").read_text()
    edits = {
        "numpy": [("np.exp(x.asnumpy())", "ops.exp(x).asnumpy()"), ("Tensor(np.exp(x.asnumpy()))", "ops.exp(x)")],
        "scale": [("* 2.0", "* 4.0")],
    }

    def render(choice: Choice) -> Path:
        text = source
        for fix, alternative in choice.items():
            text = text.replace(*edits[fix][alternative])
        folder = tmp_path / "-".join(["tree", *(f"{fix}{a}" for fix, a in sorted(choice.items()))])
        folder.mkdir()
        (folder / "net.py").write_text(text)
        return folder

    def judge(tree: Path) -> Verdict:
        target = parse_target("net.py::Net", original)
        options = Options(gradients="restored", as_it_stands=False)
        return session.prove([Job.of(target, id=tree.name, rewritten=tree, inputs=X, options=options)])[0]

    found = bisect({fix: len(alternatives) for fix, alternatives in edits.items()}, render, judge)
    assert found.kept == {"numpy": 1}
    assert found.verified
    assert {c.fix: c.alternative for c in found.culprits} == {"numpy": 1, "scale": None}
