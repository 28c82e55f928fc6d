"""Every accountant is an upper bound; the exact ones are met; the running total is the composition."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpcore import conversions
from dpcore.accounting import (
    ACCOUNTANTS,
    VALID_WHEN,
    Cost,
    RunningTotal,
    bounded_range_delta,
    bounded_range_epsilon,
    compose,
    gaussian_delta,
    gaussian_epsilon,
    zcdp_epsilon,
)
from dpcore.errors import InvalidArgument, InvalidCost, UnsupportedEvent
from dpcore.events import BoundedRangeEvent, GaussianEvent, PureEvent


def random_mix(rng: np.random.Generator) -> list[Cost]:
    """Up to four kinds of release, up to 12 of each: what a budget page may hold."""
    made = []
    for _ in range(rng.integers(1, 5)):
        size, count = float(10 ** rng.uniform(-1.7, 0.0)), int(rng.integers(1, 13))
        kind = rng.integers(4)
        if kind == 0:
            made.append(Cost.pure(size, count))
        elif kind == 1:
            made.append(Cost.laplace(1 / size, count))
        elif kind == 2:
            made.append(Cost.gaussian(1.5 / size, 1e-6, count))
        else:
            made.append(Cost(epsilon=size, delta=1e-9))
    return made


@pytest.mark.thorough
def test_no_accountant_is_below_pld_on_random_mixes() -> None:
    """PLD is exact for these up to its grid, which rounds up; 1e-3 relative and 1e-3 absolute cover the rounding."""
    rng = np.random.default_rng(20240501)
    seen = set()
    for _ in range(200):
        found = compose(random_mix(rng), 1e-5)
        seen |= set(found)
        for name, epsilon in found.items():
            if name not in ("pld", "best"):
                assert epsilon >= found["pld"] * (1 - 1e-3) - 1e-3, (name, found)
        assert found["best"] == min(value for name, value in found.items() if name != "best")
    assert seen == {"basic", "advanced", "zcdp", "rdp", "pld", "best"}


def test_a_broken_accountant_would_be_caught() -> None:
    """The test above has power: zCDP without its conversion term, or basic with √k, falls below PLD."""
    rng = np.random.default_rng(5)
    broken_zcdp = broken_basic = 0
    for _ in range(50):
        costs = random_mix(rng)
        exact = compose(costs, 1e-5, accountants=["pld"])["pld"]
        rho = sum(cost.zcdp for cost in costs if math.isfinite(cost.zcdp))
        broken_zcdp += rho < exact * (1 - 1e-3) - 1e-3
        broken_basic += math.sqrt(sum(cost.epsilon**2 for cost in costs)) / 4 < exact * (1 - 1e-3) - 1e-3
    assert broken_zcdp > 40
    assert broken_basic > 30


@pytest.mark.parametrize("epsilon0", [0.05, 0.4, 1.3])
@pytest.mark.parametrize("count", [1, 7, 40])
def test_pure_composition_is_the_optimal_one(epsilon0: float, count: int) -> None:
    """Against the closed form of Kairouz, Oh & Viswanath, evaluated independently: δ at the returned ε is ≤ 1e-5
    and the ε is within two grid steps of the least one."""

    def delta(epsilon: float) -> float:
        ups = np.arange(count + 1)
        losses = (2 * ups - count) * epsilon0
        weights = binom.pmf(ups, count, 1 / (1 + math.exp(-epsilon0)))
        return float((weights * np.maximum(0.0, -np.expm1(epsilon - losses))).sum())

    found = compose([Cost.pure(epsilon0)] * count, 1e-5)["pld"]
    assert delta(found) <= 1e-5 * (1 + 1e-6)
    assert delta(found - 2e-3) > 1e-5


@pytest.mark.parametrize("noise", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 6.0])
def test_gaussian_delta_is_the_hockey_stick_divergence(noise: float, epsilon: float) -> None:
    """Against numerical integration of (P − e^ε Q)₊ for N(1, σ²) and N(0, σ²)."""
    x = np.linspace(-40 * noise, 1 + 40 * noise, 400_001)
    gap = norm.pdf(x, 1, noise) - math.exp(epsilon) * norm.pdf(x, 0, noise)
    assert gaussian_delta(noise, epsilon) == pytest.approx(np.trapezoid(np.maximum(gap, 0), x), abs=1e-8)


def test_gaussian_epsilon_is_least_and_never_understated() -> None:
    for noise in (0.2, 1.0, 5.0, 300.0):
        for delta in (1e-12, 1e-6, 0.1):
            epsilon = gaussian_epsilon(noise, delta)
            assert gaussian_delta(noise, epsilon) <= delta
            assert epsilon == 0.0 or gaussian_delta(noise, epsilon * (1 - 1e-9)) > delta * (1 - 1e-6)


def test_zcdp_conversion_is_the_least_over_a_fine_scan() -> None:
    for rho in (1e-8, 1e-3, 0.1, 3.0, 200.0):
        for delta in (1e-12, 1e-5, 0.2):
            over = np.exp(np.linspace(-20, 20, 400_001))
            order = 1 + over
            scan = order * rho + (-math.log(delta) - np.log(over) - order * np.log1p(1 / over)) / over
            assert zcdp_epsilon(rho, delta) == pytest.approx(max(scan.min(), 0.0), rel=1e-6)
    assert zcdp_epsilon(0.0, 1e-5) == 0.0


@pytest.mark.parametrize(("epsilon0", "count", "epsilon"), [(1, 1, 0.3), (1, 5, 1.0), (0.3, 20, 0.5), (0.1, 400, 1.0)])
def test_bounded_range_composition_is_the_attackers_best(epsilon0: float, count: int, epsilon: float) -> None:
    """Against a scan over the attacker's t: never below it, and within the scan's resolution above."""
    lows = np.arange(count + 1)
    best = 0.0
    for t in np.linspace(1e-6, epsilon0 * (1 - 1e-9), 4001):
        p = -math.expm1(t - epsilon0) / -math.expm1(-epsilon0)
        losses = count * t - lows * epsilon0
        best = max(best, float((binom.pmf(lows, count, 1 - p) * np.maximum(0, -np.expm1(epsilon - losses))).sum()))
    found = bounded_range_delta(epsilon0, count, epsilon)
    assert found >= best * (1 - 1e-9)
    assert found == pytest.approx(best, rel=1e-3)
    assert bounded_range_epsilon(epsilon0, count, found) == pytest.approx(epsilon, rel=1e-6)


RANGES = [0.05, 1.0, 8.0, 16.0, 24.0, 30.0, 36.0, 38.27, 40.0, 60.0, 120.0]


def attackers_best(epsilon0: float, count: int, epsilon: float) -> float:
    """``bounded_range_delta`` to so many digits that no chance near 1 loses what it hides."""
    with localcontext() as digits:
        digits.prec = 40 + int(count * epsilon0)
        whole, most, best = Decimal(epsilon0), Decimal(epsilon).exp(), Decimal(0)
        for losers in range(count):
            top = (Decimal(epsilon) + (losers + 1) * whole) / (count + 1)
            if top > whole:
                continue
            other = (1 - (-top).exp()) / (1 - (-whole).exp())
            chance = other * (top - whole).exp()
            for_lows = (
                math.comb(count, low)
                * (chance**low * (1 - chance) ** (count - low) - most * other**low * (1 - other) ** (count - low))
                for low in range(losers + 1)
            )
            best = max(best, sum(for_lows, Decimal(0)))
        return float(best)


def understated(epsilon0: float, count: int) -> bool:
    """Whether any δ, or the δ at an ε that is found for one, is larger than it is told to be."""
    shares = (0.05, 0.5, 0.9, 0.95, 0.99, 0.999)
    deltas = [(bounded_range_delta(epsilon0, count, part * count * epsilon0), part) for part in shares]
    low = any(told < attackers_best(epsilon0, count, part * count * epsilon0) * (1 - 1e-6) for told, part in deltas)
    found = {delta: bounded_range_epsilon(epsilon0, count, delta) for delta in (1e-9, 1e-6, 0.1)}
    return low or any(attackers_best(epsilon0, count, one) > delta * (1 + 1e-6) for delta, one in found.items())


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("epsilon0", RANGES)
def test_bounded_range_is_never_understated(epsilon0: float, count: int) -> None:
    assert not understated(epsilon0, count)
    epsilon = 0.9 * count * epsilon0
    if epsilon < 600.0:  # beyond, e^−ε is nothing to a computer and what is taken off δ with it
        assert bounded_range_delta(epsilon0, count, epsilon) == pytest.approx(
            attackers_best(epsilon0, count, epsilon), rel=1e-4, abs=1e-13
        )


def test_chances_near_1_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: the chance of the other outcome as what is left of 1."""
    exact = conversions._at_most
    monkeypatch.setattr(conversions, "_at_most", lambda losers, count, low, high: exact(losers, count, low, 1.0 - low))
    conversions._bounded_range_epsilon.cache_clear()
    assert [understated(epsilon0, 1) for epsilon0 in (8.0, 38.27)] == [False, True]
    conversions._bounded_range_epsilon.cache_clear()


def test_bounded_range_is_offered_only_for_draws_planned_in_advance() -> None:
    planned = [Cost.bounded_range(0.1, adaptive=False)] * 100
    assert compose(planned, 1e-5)["bounded_range"] < compose(planned, 1e-5)["zcdp"]
    assert "bounded_range" not in compose([Cost.bounded_range(0.1)] * 100, 1e-5)
    assert "bounded_range" not in compose([*planned, Cost.pure(0.1)], 1e-5)
    with pytest.raises(UnsupportedEvent):
        compose([Cost.bounded_range(0.1)], 1e-5, accountants=["bounded_range"])


def test_which_rules_hold_when_questions_react_to_answers() -> None:
    assert {name for name, when in VALID_WHEN.items() if when == "adaptive"} == {"basic", "zcdp", "rdp"}
    assert set(VALID_WHEN) == set(ACCOUNTANTS)


def test_the_running_total_is_the_composition() -> None:
    """Adding one by one gives what composing the list gives; convolution rounding is below 1e-6."""
    rng = np.random.default_rng(9)
    costs = [cost for _ in range(4) for cost in random_mix(rng)]
    total = RunningTotal()
    for cost in costs:
        total = total.add(cost)
    alone, together = total.epsilons(1e-5), compose(costs, 1e-5)
    assert alone == pytest.approx({name: together[name] for name in alone}, rel=1e-6)


def test_deltas_match_epsilons() -> None:
    for costs in ([Cost.gaussian(2, 1e-6)] * 3, [Cost.pure(0.3)] * 5, [Cost.gaussian(2, 1e-6), Cost.laplace(3)]):
        total = RunningTotal()
        for cost in costs:
            total = total.add(cost)
        epsilon = total.epsilons(1e-4)["pld"]
        assert total.deltas(np.array([0.0, epsilon]))[1] == pytest.approx(1e-4, rel=1e-5)


def test_releases_without_a_rho_enter_zcdp_with_their_delta() -> None:
    loose = [Cost(epsilon=0.1, delta=1e-6)] * 3
    assert compose(loose, 1e-5)["zcdp"] == pytest.approx(zcdp_epsilon(3 * 0.005, 7e-6))
    assert "zcdp" not in compose(loose, 2e-6)
    assert "basic" not in compose(loose, 2e-6)
    assert compose([], 1e-6)["best"] == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -0.1},
        {"epsilon": math.nan},
        {"epsilon": 1.0, "rho": -1.0},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": True},
        {"epsilon": "1"},
        {"epsilon": 0.1, "event": PureEvent(epsilon=1.0)},
        {"epsilon": 1.0, "event": BoundedRangeEvent(epsilon=0.5, count=3)},
        {"epsilon": 1.0, "event": GaussianEvent(noise_multiplier=1.0)},
        {"epsilon": 1.0, "delta": 1e-6, "rho": 0.01, "event": GaussianEvent(noise_multiplier=1.0)},
    ],
)
def test_a_cost_that_cannot_be_true_is_refused(wrong: dict) -> None:
    with pytest.raises(InvalidCost):
        Cost(**wrong)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, math.nan, "x"])
def test_delta_must_be_a_probability(delta: object) -> None:
    with pytest.raises(InvalidArgument, match="delta"):
        compose([Cost.pure(1.0)], delta)
    with pytest.raises(InvalidArgument, match="accountants"):
        compose([Cost.pure(1.0)], 1e-5, accountants=["guess"])
