"""One batch: every proof that these tests look at is made once, by the real compiler."""

from __future__ import annotations

import pytest

from graphward.verify.session import Session
from graphward.verify.verdicts import Verdict

from .catalogue import JOBS


@pytest.fixture(scope="session")
def verdicts(session: Session) -> dict[str, Verdict]:
    """The verdict of every job of the catalogue, by its id."""
    return {verdict.id: verdict for verdict in session.prove(JOBS)}
