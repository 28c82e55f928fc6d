"""The short form of ``make reliability``: every check of the table, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.private_postgresql import PrivateServer
from benchmarks.reliability.__main__ import CHECKS
from benchmarks.reliability.outcome import Ground


@pytest.mark.thorough
@pytest.mark.parametrize("check", CHECKS)
def test_it_never_happens(check: str, server: PrivateServer, tmp_path: Path) -> None:
    outcomes = list(CHECKS[check](Ground(folder=tmp_path, server=server, short=True)))
    assert outcomes
    for outcome in outcomes:
        assert outcome.good, f"{outcome.check} on {outcome.database}: {outcome.tried} → {outcome.found}"
