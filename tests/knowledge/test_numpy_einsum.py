"""Which contractions are written as a matrix product."""

from __future__ import annotations

import pytest

from graphward.knowledge.numpy_einsum import matrix_product


@pytest.mark.parametrize(
    ("subscripts", "swaps"),
    [
        ("ij,jk->ik", (False, False)),
        ("ij, jk", (False, False)),
        ("ij,kj->ik", (False, True)),
        ("ji,jk->ik", (True, False)),
        ("ji,kj->ik", (True, True)),
        ("bhid,bhjd->bhij", (False, True)),
    ],
)
def test_a_matrix_product_is_seen(subscripts: str, swaps: tuple[bool, bool]) -> None:
    assert matrix_product(subscripts) == swaps


@pytest.mark.parametrize(
    "subscripts",
    [
        "ij->ji",
        "i,j->ij",
        "ij,ij->ij",
        "ij,kj->ki",
        "...ij,jk->ik",
        "bij,kj->bik",
        "ij,ij->",
        "ii,ij->ij",
        "ij,jk,kl->il",
    ],
)
def test_anything_else_is_none(subscripts: str) -> None:
    assert matrix_product(subscripts) is None
