"""The two accounts of an (ε, δ) cap together keep (ε, δ)-DP, whatever an adversary asks after seeing answers."""

from __future__ import annotations

import math
from functools import cache

import pytest

from dpcore.accounting import Cost
from dpcore.ledger.budget import Budget, Caps, Charge


def budget(epsilon: float, delta: float) -> Budget:
    return Budget(lineage="x", name="x", practice=False, generation=1, caps=Caps.of(epsilon, delta))


def worst_delta(
    epsilon: float, delta: float, costs: list[tuple[Cost, float, float]], holds: object = Budget.holds
) -> float:
    """The largest δ(ε) that any adaptive choice among ``costs`` can reach before the budget refuses all of them.

    Each entry is (cost, ε₀, δ₀) of a worst-case release: all revealed with chance δ₀, else randomised response with
    ε₀. The adversary sees every answer, so a choice may depend on the log-ratio so far: dynamic programming over
    (what is spent, log-ratio) finds the best one exactly. Log-ratios are whole multiples of the smallest ε₀.
    """
    step = min(size for _, size, _ in costs if size > 0)

    @cache
    def best(spent: Charge, losses: int) -> float:
        now = budget(epsilon, delta)
        state = Budget(lineage="x", name="x", practice=False, generation=1, caps=now.caps, spent=spent)
        value = max(0.0, -math.expm1(epsilon - losses * step))
        for cost, size, reveal in costs:
            charge = state.charge_for(cost)
            after = None if charge is None else state.after(charge)
            if after is None or not holds(after):
                continue
            up = 1 / (1 + math.exp(-size))
            moves = round(size / step)
            kept = up * best(after.spent, losses + moves) + (1 - up) * best(after.spent, losses - moves)
            value = max(value, reveal + (1 - reveal) * kept)
        return value

    return best(Charge(), 0)


def pure(size: float) -> tuple[Cost, float, float]:
    return Cost.pure(size), size, 0.0


def loose(size: float, reveal: float) -> tuple[Cost, float, float]:
    return Cost(epsilon=size, delta=reveal), size, reveal


PLANS = {
    "pure, two sizes": (1.0, 0.2, [pure(0.25), pure(0.5)]),
    "pure, small": (0.6, 0.3, [pure(0.1), pure(0.3)]),
    "with a chance to reveal": (1.0, 0.2, [pure(0.25), loose(0.25, 0.04)]),
    "revealing much": (0.8, 0.4, [pure(0.4), loose(0.4, 0.1)]),
}


@pytest.mark.parametrize("plan", PLANS)
def test_no_adaptive_adversary_exceeds_delta(plan: str) -> None:
    epsilon, delta, costs = PLANS[plan]
    assert worst_delta(epsilon, delta, costs) <= delta


def test_an_adversary_catches_accounts_that_allow_too_much() -> None:
    """The test above has power: with the second account's ρ cap 20 times too large, or both accounts' δ four times
    theirs, δ is exceeded."""

    def large_rho(state: Budget) -> bool:
        caps, spent = state.caps, state.spent
        return spent.spent_epsilon <= caps.cap_epsilon or spent.spent_rho <= 20 * caps.cap_rho

    def much_delta(state: Budget) -> bool:
        caps, spent = state.caps, state.spent
        within = spent.beyond == 0 and spent.spent_epsilon <= caps.cap_epsilon
        return within and spent.spent_delta <= 4 * caps.cap_delta

    assert worst_delta(1.0, 0.01, [pure(0.2)], large_rho) > 0.01 >= worst_delta(1.0, 0.01, [pure(0.2)])
    costs = [pure(0.4), loose(0.2, 0.15)]
    assert worst_delta(0.8, 0.4, costs, much_delta) > 0.4 >= worst_delta(0.8, 0.4, costs)


def test_fits_and_answers_left_agree_with_charging() -> None:
    """answers_left counts exactly the charges that fits allows one after another."""
    for cap, cost in (
        (budget(1.0, 0.0), Cost.pure(0.07)),
        (budget(1.0, 1e-5), Cost.pure(0.07)),
        (budget(1.0, 1e-5), Cost.bounded_range(0.03)),
        (budget(1.0, 1e-5), Cost.gaussian(15.0, 1e-7)),
        (budget(1.0, 1e-5), Cost(epsilon=0.05, delta=1e-6)),
        (budget(1.0, 1e-5), Cost(epsilon=5.0)),
        (budget(1.0, 0.0), Cost.gaussian(15.0, 1e-7)),
    ):
        state, count = cap, 0
        expected = cap.answers_left(cost)
        while state.fits(cost):
            state, count = state.after(state.charge_for(cost)), count + 1
            assert 0.0 <= state.share_spent <= 1.0
        assert count == expected
        assert state.answers_left(cost) == 0


def test_remaining_is_what_fits() -> None:
    """A pure release of the ε that is said to be left fits, and one a little larger does not."""
    state = budget(1.0, 1e-5)
    for cost in (Cost.gaussian(15.0, 1e-7), Cost.bounded_range(0.2), Cost.pure(0.1), Cost(epsilon=0.2, delta=1e-6)):
        state = state.after(state.charge_for(cost))
        left = state.remaining.epsilon
        assert state.fits(Cost.pure(left * (1 - 1e-6)))
        assert not state.fits(Cost.pure(left * (1 + 1e-6)))
    assert state.cap.epsilon == 1.0
    assert state.cap.delta == 1e-5
