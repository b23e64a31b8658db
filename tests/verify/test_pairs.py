"""Verdicts on a rewrite against its original."""

from __future__ import annotations

import pytest

from graphward.verify.verdicts import SideResult, Verdict

from .catalogue import line_of

Verdicts = dict[str, Verdict]


def rewritten(verdicts: Verdicts, id: str) -> SideResult:
    found = verdicts[id].rewritten
    assert found is not None
    return found


def test_layers_that_moved_get_the_same_weights(verdicts: Verdicts) -> None:
    assert verdicts["MovedLayers"].verdict == "verified"
    notes = rewritten(verdicts, "MovedLayers").notes
    assert "parameters added: first.bias, first.weight, second.bias, second.weight" in notes


def test_drawn_weights_show_that_layers_built_per_call_diverge(verdicts: Verdicts) -> None:
    assert verdicts["MovedLayers drawn"].verdict == "diverges"


def test_an_array_may_become_a_tensor_of_the_same_values(verdicts: Verdicts) -> None:
    assert verdicts["NumpyArray"].verdict == "verified"
    assert "type: ndarray -> Tensor" in rewritten(verdicts, "NumpyArray").notes


@pytest.mark.parametrize(
    "id", ["Named", "Listed", "OtherDtype", "OtherShape", "OtherValue", "NanForNumber", "SecondCall"]
)
def test_other_outputs_diverge(verdicts: Verdicts, id: str) -> None:
    assert verdicts[id].verdict == "diverges"
    assert rewritten(verdicts, id).outputs == "differ"


@pytest.mark.parametrize(
    ("id", "what", "call"),
    [
        ("Named", "type", 1),
        ("Listed", "type", 1),
        ("OtherDtype", "dtype", 1),
        ("OtherShape", "shape", 1),
        ("OtherValue", "value", 1),
        ("NanForNumber", "value", 2),
        ("SecondCall", "value", 2),
    ],
)
def test_the_difference_is_named(verdicts: Verdicts, id: str, what: str, call: int) -> None:
    difference = rewritten(verdicts, id).difference
    assert difference is not None
    assert (difference.what, difference.call) == (what, call)


@pytest.mark.parametrize("id", ["OtherGradient", "NumpyTensor", "PartlyCut"])
def test_equal_outputs_with_another_gradient_diverge(verdicts: Verdicts, id: str) -> None:
    side = rewritten(verdicts, id)
    assert verdicts[id].verdict == "diverges"
    assert (side.outputs, side.gradients) == ("equal", "differ")
    assert side.difference is not None
    assert side.difference.where == "gradient of input[0]"


def test_a_gradient_that_is_kept_cut_is_equal(verdicts: Verdicts) -> None:
    assert verdicts["KeptCut"].verdict == "verified"
    assert rewritten(verdicts, "KeptCut").gradients == "equal"


@pytest.mark.parametrize("id", ["NumpyTensor restored", "PartlyCut restored"])
def test_a_restored_gradient_verifies_when_it_was_declared(verdicts: Verdicts, id: str) -> None:
    assert verdicts[id].verdict == "verified"
    assert rewritten(verdicts, id).gradients == "restored"
    assert any(note.startswith("gradients: restored") for note in rewritten(verdicts, id).notes)


def test_a_restored_gradient_must_be_that_of_pynative(verdicts: Verdicts) -> None:
    assert verdicts["WrongRestored"].verdict == "diverges"
    assert rewritten(verdicts, "WrongRestored").gradients == "differ"


def test_gradients_can_be_left_out(verdicts: Verdicts) -> None:
    assert verdicts["NumpyTensor off"].verdict == "verified"
    assert rewritten(verdicts, "NumpyTensor off").gradients is None


def test_an_argument_that_is_written_to_is_state(verdicts: Verdicts) -> None:
    side = rewritten(verdicts, "WritesArgument")
    assert verdicts["WritesArgument"].verdict == "diverges"
    assert side.outputs == "equal"
    assert side.difference is not None
    assert (side.difference.part, side.difference.where) == ("state", "argument[0]")


def test_a_counter_may_become_a_parameter(verdicts: Verdicts) -> None:
    assert verdicts["CountsOnSelf"].verdict == "verified"
    assert any("at attribute calls" in note for note in rewritten(verdicts, "CountsOnSelf").notes)


def test_state_that_is_gone_diverges_unless_declared(verdicts: Verdicts) -> None:
    side = rewritten(verdicts, "Remembers")
    assert verdicts["Remembers"].verdict == "diverges"
    assert side.difference is not None
    assert side.difference.where == "attribute last"
    assert verdicts["Remembers moved"].verdict == "verified"
    assert "state not compared, as declared: last" in rewritten(verdicts, "Remembers moved").notes


def test_both_versions_are_judged_when_asked(verdicts: Verdicts) -> None:
    verdict = verdicts["StillFalls"]
    assert verdict.verdict == "falls-back"
    assert verdict.original is not None
    assert verdict.original.verdict == "falls-back"
    assert {node.line for node in verdict.original.nodes} == {line_of("before/pairs.py", "np.exp(x.asnumpy())", 4)}
    assert {node.line for node in rewritten(verdicts, "StillFalls").nodes} == {
        line_of("after/pairs.py", "Tensor(y.asnumpy())")
    }
    assert verdicts["OtherValue"].original is None


def test_a_rewrite_that_does_not_load_fails_at_its_line(verdicts: Verdicts) -> None:
    error = rewritten(verdicts, "DoesNotLoad").error
    assert verdicts["DoesNotLoad"].verdict == "fails"
    assert error is not None
    assert (error.stage, error.path, error.type) == ("construct", "pairs.py", "NameError")


def test_a_missing_kernel_of_the_rewrite_is_no_failure(verdicts: Verdicts) -> None:
    assert verdicts["UsesNoKernel"].verdict == "no-kernel"


def test_a_broken_original_is_not_the_rewrites_fault(verdicts: Verdicts) -> None:
    assert verdicts["BrokenBefore"].verdict == "original-broken"


def test_a_refused_rewrite_that_is_also_wrong_says_both(verdicts: Verdicts) -> None:
    side = rewritten(verdicts, "WrongAndRefused")
    assert verdicts["WrongAndRefused"].verdict == "fails"
    assert side.difference is not None
    assert side.difference.part == "pynative"
    assert "the rewrite means something else in PyNative" in " ".join(side.notes)
    assert "in the original" in side.difference.detail


def test_a_rewrite_that_only_a_graph_can_run_diverges(verdicts: Verdicts) -> None:
    side = rewritten(verdicts, "GraphOnly")
    line = line_of("after/pairs.py", "ops.tanh(y)")
    assert verdicts["GraphOnly"].verdict == "diverges"
    assert (side.compiles, side.outputs, side.gradients, side.state) == (True, "equal", "equal", "equal")
    assert side.difference is not None
    assert (side.difference.part, side.difference.what) == ("pynative", "error")
    assert verdicts["GraphOnly"].message.startswith(f"the rewrite does not run in PyNative: pairs.py:{line}: TypeError")


@pytest.mark.parametrize(
    ("id", "where", "detail"),
    [
        ("OtherInPyNative", "output", "in the original"),
        ("StateInPyNative", "attribute seen", "0 items in the original, 3 in the rewrite"),
        ("OtherGradientInPyNative", "gradient of input[0]", " in the original, 0 in the rewrite"),
    ],
)
def test_a_rewrite_that_differs_only_in_pynative_diverges(verdicts: Verdicts, id: str, where: str, detail: str) -> None:
    side = rewritten(verdicts, id)
    assert verdicts[id].verdict == "diverges"
    assert (side.compiles, side.outputs, side.gradients) == (True, "equal", "equal")
    assert side.difference is not None
    assert (side.difference.part, side.difference.where) == ("pynative", where)
    assert detail in side.difference.detail
    assert side.difference.detail in verdicts[id].message
    assert side.notes == ()


def test_a_rewrite_that_hangs_in_pynative_times_out(verdicts: Verdicts) -> None:
    assert verdicts["HangsInPyNative"].verdict == "times-out"
    assert verdicts["HangsInPyNative"].message == "the rewrite does not run in PyNative: no result within 6 s"


def test_a_kernel_that_only_pynative_lacks_is_noted(verdicts: Verdicts) -> None:
    side = rewritten(verdicts, "NoKernelInPyNative")
    assert verdicts["NoKernelInPyNative"].verdict == "verified"
    assert any(note.startswith("the rewrite was not played in PyNative to the end") for note in side.notes)
