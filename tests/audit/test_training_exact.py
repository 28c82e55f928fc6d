"""The exact audit of training: promises kept on every neighbour searched, broken twins found out."""

from __future__ import annotations

import pytest

from tests.audit.selection_exact import Finding
from tests.audit.training_exact import findings


@pytest.fixture(scope="module")
def lines() -> list[Finding]:
    return findings()


@pytest.mark.thorough
def test_promises_hold_and_broken_twins_are_found(lines: list[Finding]) -> None:
    assert [line for line in lines if not line.passed] == []
    assert sum(line.broken for line in lines) >= 15


def test_the_worst_cases_are_worst(lines: list[Finding]) -> None:
    """The search uses up nearly the whole promise of every method whose law leaves no slack."""
    for line in lines:
        if not line.broken and line.mechanism.startswith(("ball", "laplace")):
            assert line.found > 0.94 * line.promised, line
