"""Verdicts on single targets, each produced by the real compiler."""

from __future__ import annotations

import pytest

from graphward.verify.verdicts import VERDICTS, SideResult, Verdict

from .catalogue import line_of

Verdicts = dict[str, Verdict]


def side(verdicts: Verdicts, id: str) -> SideResult:
    judged = verdicts[id].judged
    assert judged is not None
    return judged


SAFE = ["Dense", "Dense(width=7)", "Branches", "Counter", "Decorated", "Decorated().encode", "OwnCall", "INSTANCE"]
SAFE += ["plain", "scaled", "doubled", "Nested", "Uses", "Copies"]


@pytest.mark.parametrize("id", SAFE)
def test_what_is_graph_safe_is_verified_in_every_point(verdicts: Verdicts, id: str) -> None:
    verdict = verdicts[id]
    judged = side(verdicts, id)
    assert verdict.verdict == "verified", verdict.message
    assert judged.compiles is True
    assert judged.nodes == ()
    assert (judged.outputs, judged.gradients, judged.state) == ("equal", "equal", "equal")
    assert judged.compilations == (1, 0, 0)
    assert verdict.inputs.source == "declared"


def test_what_user_code_prints_or_reads_does_not_reach_the_protocol(verdicts: Verdicts) -> None:
    assert verdicts["Noisy"].verdict == "verified"


def test_interpreter_nodes_come_with_their_lines(verdicts: Verdicts) -> None:
    verdict = verdicts["NumpyInside"]
    judged = side(verdicts, "NumpyInside")
    line = line_of("alone/bad.py", "np.exp(y.asnumpy())")
    assert verdict.verdict == "falls-back"
    assert judged.compiles is False
    assert {(node.path, node.line) for node in judged.nodes} == {("bad.py", line)}
    columns = {(node.column, node.end_column) for node in judged.nodes}
    assert {(23, 42), (30, 41)} <= columns  # np.exp(y.asnumpy()) and y.asnumpy()
    assert judged.error is not None
    assert (judged.error.stage, judged.error.line) == ("compile", line)
    assert judged.error.message.endswith("no attribute: 'asnumpy'.")
    assert "MS_DEV_JIT_SYNTAX_LEVEL" in judged.error.text
    assert f"bad.py:{line}" in verdict.message


def test_a_fallback_that_changes_values_or_gradient_says_so(verdicts: Verdicts) -> None:
    assert side(verdicts, "NumpyInside").notes == ()
    assert verdicts["ReturnsDataclass"].verdict == "falls-back"
    assert side(verdicts, "ReturnsDataclass").notes == ("under LAX its gradient is another one, without an error",)
    assert verdicts["PopsDict"].verdict == "falls-back"
    assert any("it also computes something else" in note for note in side(verdicts, "PopsDict").notes)
    difference = side(verdicts, "PopsDict").difference
    assert difference is not None
    assert difference.part == "outputs"


def test_a_refused_statement_fails_with_one_line_and_its_place(verdicts: Verdicts) -> None:
    verdict = verdicts["SetInside"]
    error = side(verdicts, "SetInside").error
    line = line_of("alone/bad.py", "axes = {0, 1}")
    assert verdict.verdict == "fails"
    assert error is not None
    assert error.message == "Unsupported expression 'Set'."
    assert (error.path, error.line, error.column) == ("bad.py", line, 16)
    assert "C++ Call Stack" not in error.text
    assert verdict.message == f"bad.py:{line}: RuntimeError: Unsupported expression 'Set'."


@pytest.mark.parametrize(
    ("id", "part", "call", "where"),
    [
        ("Appends", "outputs", 1, "output"),
        ("AppendsUnseen", "state", None, "attribute seen"),
        ("CountsGlobally", "state", None, "global TOTAL"),
        ("FrozenRandom", "outputs", 2, "output"),
        ("FrozenClock", "outputs", 2, "output"),
        ("ReturnsDict", "outputs", 1, "output"),
    ],
)
def test_silent_divergence_is_found_where_it_first_shows(
    verdicts: Verdicts, id: str, part: str, call: int | None, where: str
) -> None:
    judged = side(verdicts, id)
    assert verdicts[id].verdict == "diverges"
    assert judged.compiles is True
    assert judged.difference is not None
    found = judged.difference
    assert (found.part, found.call, found.where) == (part, call, where)


def test_a_divergence_says_by_how_much(verdicts: Verdicts) -> None:
    difference = side(verdicts, "FrozenClock").difference
    assert difference is not None
    assert difference.what == "value"
    assert difference.max_abs == pytest.approx(1e6, rel=0.01)
    assert "6 of 6 elements" in difference.detail


def test_a_cell_built_per_call_recompiles(verdicts: Verdicts) -> None:
    judged = side(verdicts, "CellPerCall")
    assert verdicts["CellPerCall"].verdict == "recompiles"
    assert judged.compilations == (1, 1, 1)
    assert judged.outputs == "equal"


def test_a_missing_kernel_is_no_failure(verdicts: Verdicts) -> None:
    assert verdicts["NoKernel"].verdict == "no-kernel"
    assert "no kernel for CumminExt" in verdicts["NoKernel"].message


def test_a_crash_ends_one_job_with_its_last_words(verdicts: Verdicts) -> None:
    assert verdicts["Segfaults"].verdict == "crashes"
    assert "SIGSEGV" in verdicts["Segfaults"].message
    assert "the last words" in side(verdicts, "Segfaults").output_tail
    assert verdicts["Leaves"].verdict == "crashes"
    assert "status 3" in verdicts["Leaves"].message


def test_an_endless_loop_is_killed_at_its_deadline(verdicts: Verdicts) -> None:
    verdict = verdicts["Endless"]
    assert verdict.verdict == "times-out"
    assert "4 s" in verdict.message
    assert verdict.seconds >= 4


@pytest.mark.parametrize(
    ("id", "stage", "code", "words"),
    [
        ("BrokenCall", "call", "ops.reshape(x, (5, 5))", "5, 5"),
        ("BrokenInit", "construct", 'raise ValueError("no such checkpoint")', "no such checkpoint"),
        ("NUMBER", "construct", None, "neither a Cell nor a function"),
    ],
)
def test_an_original_that_does_not_run_is_told_apart(
    verdicts: Verdicts, id: str, stage: str, code: str | None, words: str
) -> None:
    error = side(verdicts, id).error
    assert verdicts[id].verdict == "original-broken"
    assert error is not None
    assert (error.stage, error.line) == (stage, code and line_of("alone/bad.py", code))
    assert words in error.message


def test_advice_to_give_up_on_compiling_is_left_out(verdicts: Verdicts) -> None:
    error = side(verdicts, "CallsNumpy").error
    assert error is not None
    assert error.message.endswith("to be nonconstant.")
    assert "jit_syntax_level" in error.text
    for verdict in verdicts.values():
        words = verdict.message
        assert not any(advice in words for advice in ("https://", "MS_DEV_JIT_SYNTAX_LEVEL", "jit_syntax_level"))


def test_nan_equals_nan_but_nothing_else(verdicts: Verdicts) -> None:
    assert verdicts["Root"].verdict == "verified"
    assert side(verdicts, "Root").notes == ()
    assert verdicts["OnlyNan"].verdict == "verified"
    assert any("NaN" in note for note in side(verdicts, "OnlyNan").notes)


GLASS = "GlassConfig(num_hidden_layers=2, hidden_size=128)"
"""Small, and still with a width that 16 heads divide."""


@pytest.mark.parametrize(
    ("id", "target", "specs"),
    [
        ("Mlp", "Mlp(width=8, rate=0.1, bias=True)", ("f32[2,8]",)),
        ("Convolution", "Convolution", ("f32[2,3,16,16]",)),
        ("Tokens", "Tokens(vocab_size=32, hidden_size=8)", ("i32[2,8]<32", "bool[2,8]")),
        ("Loss", "Loss", ("f32[2,3]", "i32[2]<2")),
        ("combine", "combine", ("f32[2,3]", "f32[2,3]")),
        ("Deep", "Deep", ("f32[2,4,8]", "i32[2,4]<2", "2")),
        ("Attention", "Attention(hidden_size=8, num_heads=2)", ("f32[2,4,8]", "i32[2,4]<2")),
        ("Smoothed", "Smoothed", ("f32[2,5]", "i32[2]<2")),
        ("Selects", "Selects", ("bool[2,3]", "f32[2,3]", "f32[2,3]")),
        ("PicksLayer", "PicksLayer", ("f32[2,3]", "1")),
        ("Options", "Options", ("f32[2,3]", "{'scale': f32[2,3], 'shift': f32[2,3]}")),
        ("Pairs", "Pairs", ("(f32[2,3], f32[2,3])",)),
        ("CountsDown", "CountsDown", ("f32[2,3]", "i32[]")),
        ("Windows", "Windows", ("f32[2,4,8]", "(2, 2)")),
        ("Either", "Either", ("input_ids=i32[2]<2",)),
        (
            "Configured",
            "Configured(settings=Settings(width=8), kernel_size=(3, 3,), norm=nn.ReLU(), has_bias=True)",
            ("f32[2,8,16,16]",),
        ),
        ("Patches", "Patches", ("f32[2,3,24,24]",)),
        ("GlassModel", f"GlassModel(config={GLASS})", ("f32[2,4,128]",)),
        ("GlassLayer", f"GlassModel(config={GLASS}).layers[0]", ("f32[2,4,128]", "f32[8]", "f32[8]")),
        (
            "Handful",
            "Handful(opt=__import__('types').SimpleNamespace(in_features=8, out_features=8))",
            ("f32[2,8]",),
        ),
        ("Chooses", "Chooses(dim=8, mode='mean')", ("f32[2,8]",)),
        ("Stages", "Stages(widths=[8, 8])", ("f32[2,8]",)),
        ("Indexed", "Indexed(plan=[8, 8, 8])", ("f32[2,8]",)),
        ("Grouped", "Grouped(channels=32)", ("f32[2,32,16,16]",)),
        ("Forwards", "Forwards(dim=8, mode='mean')", ("f32[2,8]",)),
        ("Demanding", "Demanding(7, name='seven')", ("f32[2,7]",)),
        ("Deeper", "Deeper", ("f32[1,8,4,8,8]",)),
        ("Described", "Described", ("f32[1,8,4,8,8]",)),
        ("Optionally", "Optionally", ("f32[2,3]", "scale=f32[2,3]")),
        ("Product", "product()", ("f32[2,3]",)),
        ("Joins", "Joins", ("(f32[2,3], f32[2,3])",)),
        ("Exact", "Exact", ("f32[2,6,40]",)),
        ("Pictures", "Pictures(config=PictureConfig())", ("f32[2,3,12,20]",)),
        ("Residual", "Residual(in_channels=32, channels=8)", ("f32[2,32,16,16]",)),
        ("Mapped", "Mapped", ("{'0': f32[2,3], '1': f32[2,3]}",)),
    ],
)
def test_inputs_are_inferred_and_the_verdict_says_so(
    verdicts: Verdicts, id: str, target: str, specs: tuple[str, ...]
) -> None:
    verdict = verdicts[id]
    assert verdict.verdict == "verified", verdict.message
    assert (verdict.inputs.source, verdict.inputs.target, verdict.inputs.specs) == ("inferred", target, specs)


def test_a_target_inside_of_another_cell_is_said_to_be(verdicts: Verdicts) -> None:
    (note,) = verdicts["GlassLayer"].notes
    assert "GlassModel" in note
    assert verdicts["GlassModel"].notes == ()


def test_an_improvised_argument_is_said_to_be_one(verdicts: Verdicts) -> None:
    (note,) = verdicts["Handful"].notes
    assert "has no known class" in note


def test_inputs_that_cannot_be_guessed_are_asked_for(verdicts: Verdicts) -> None:
    assert verdicts["Choosy"].verdict == "no-inputs"
    assert "only 7 by 11 by 13" in verdicts["Choosy"].message
    assert "--input" in verdicts["Choosy"].message
    assert verdicts["NeedsText"].verdict == "no-inputs"
    assert "'path'" in verdicts["NeedsText"].message


def test_json_has_the_keys_of_the_contract(verdicts: Verdicts) -> None:
    for verdict in verdicts.values():
        data = verdict.to_json()
        assert data["verdict"] in VERDICTS
        assert {"target", "verdict", "inputs", "original", "rewritten", "culprits", "seconds"} <= data.keys()
        judged = data["rewritten"] or data["original"]
        assert {"compiles", "nodes", "outputs", "gradients", "state"} <= judged.keys()
        assert SideResult.from_json(judged).to_json() == judged


def test_notes_on_a_side_are_told_once(verdicts: Verdicts) -> None:
    assert all(verdict.notes == () for name, verdict in verdicts.items() if name not in ("GlassLayer", "Handful"))


def test_every_verdict_of_the_list_is_produced_here(verdicts: Verdicts) -> None:
    assert {verdict.verdict for verdict in verdicts.values()} == set(VERDICTS)
