"""The language of inputs."""

from __future__ import annotations

import pytest

from graphward.errors import GraphwardError
from graphward.verify.specs import check_specs


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("f32[2,3,32,32]", "f32[2,3,32,32]"),
        (" f32 [ 2 , 3 ] ", "f32[2,3]"),
        ("f32[]", "f32[]"),
        ("bf16[4]", "bf16[4]"),
        ("i64[2,16]<30522", "i64[2,16]<30522"),
        ("u8[2, 2] < 7", "u8[2,2]<7"),
        ("bool[2]", "bool[2]"),
        ("3", "3"),
        ("-2.5e3", "-2500.0"),
        ("None", "None"),
        ("True", "True"),
        ("'a \\' b'", '"a \' b"'),
        ("(f32[2], 3)", "(f32[2], 3)"),
        ("(f32[2],)", "(f32[2],)"),
        ("(f32[2])", "f32[2]"),
        ("()", "()"),
        ("[f32[2], [i32[1], None]]", "[f32[2], [i32[1], None]]"),
        ("{'a': f32[2], 1: (True,)}", "{'a': f32[2], 1: (True,)}"),
        ("mutable((f32[2], f32[2]))", "mutable((f32[2], f32[2]))"),
        ("mask=bool[2,8]", "mask=bool[2,8]"),
    ],
)
def test_specs_are_read_and_written_in_one_form(text: str, canonical: str) -> None:
    assert check_specs([text]) == [canonical]
    assert check_specs([canonical]) == [canonical]


@pytest.mark.parametrize(
    ("text", "character", "found", "allowed"),
    [
        ("f32", 4, "unexpected end", "f32[2,3]"),
        ("f32[2,x]", 7, "unexpected 'x'", "a size"),
        ("f32[2 3]", 7, "unexpected '3'", "',' or ']'"),
        ("f32[2,3", 8, "unexpected end", "',' or ']'"),
        ("float32[2]", 1, "unknown name 'float32'", "f16, f32, f64"),
        ("f32[2]<5", 7, "unexpected '<'", "only an integer tensor has a bound"),
        ("i32[2]<0", 8, "unexpected '0'", "above 0"),
        ("(f32[2], 3", 11, "unexpected end", "',' or ')'"),
        ("{f32[2]}", 2, "unexpected 'f'", "literal"),
        ("f32[2] f32[3]", 8, "unexpected 'f'", "the end"),
        ("", 1, "unexpected end", "a tensor"),
        ("-", 1, "unexpected '-'", "a tensor"),
    ],
)
def test_a_bad_spec_names_the_character_and_what_may_stand_there(
    text: str, character: int, found: str, allowed: str
) -> None:
    with pytest.raises(GraphwardError) as raised:
        check_specs(["f32[1]", text])
    message = raised.value.message
    assert f"input spec {text!r}" in message
    assert f"{found} at character {character};" in message
    assert allowed in message
    assert raised.value.hint.splitlines()[1] == "  " + " " * (character - 1) + "^"
