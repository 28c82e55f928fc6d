"""The exact audit of selection: promises kept on every neighbour searched, broken twins found out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.audit.selection_exact import PUBLIC_SCORES, Finding, findings, largest_loss, moves, report


@pytest.fixture(scope="module")
def lines() -> list[Finding]:
    return findings()


@pytest.mark.thorough
def test_promises_hold_and_broken_twins_are_found(lines: list[Finding]) -> None:
    assert [line for line in lines if not line.passed] == []
    assert any(line.broken for line in lines)


@pytest.mark.thorough
def test_the_worst_cases_are_worst(lines: list[Finding]) -> None:
    """The search is strong enough to use up the whole promise, so a loss of 1 % could not hide from it."""
    for line in lines:
        if not line.broken and line.mechanism not in PUBLIC_SCORES:
            assert line.found > 0.99 * line.promised, line


def test_moves_cover_both_directions() -> None:
    one_way = moves(3, True)
    assert (one_way >= 0).all(axis=1).any()
    assert (one_way <= 0).all(axis=1).any()
    assert {(-1.0, 1.0), (1.0, -1.0)} <= {tuple(row) for row in moves(2, False)}


def test_a_law_that_leaks_is_reported() -> None:
    loud = Finding(mechanism="leaks", scores="general", promised=1.0, found=1.1, broken=False)
    assert not loud.passed
    quiet = Finding(mechanism="twin that hides", scores="general", promised=1.0, found=1.0, broken=True)
    assert not quiet.passed
    assert report([loud, quiet]).count("FAILED") == 2


def test_the_search_sees_a_law_that_depends_on_one_score_only() -> None:
    """A law that names candidate 0 with odds e^(2·score) loses 2 per unit."""

    def law(scores: np.ndarray) -> np.ndarray:
        odds = np.exp(2 * min(max(scores[0], -50), 50))
        return np.r_[odds, np.ones(scores.size - 1)] / (odds + scores.size - 1)

    assert largest_loss(law, sensitivity=1.0, one_way=True) > 1.5
