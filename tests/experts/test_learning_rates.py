"""Learning rates: golden values, and that composition claims neither less nor more than the exact optimum."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

from dpcore.calibration import zcdp_rho
from dpcore.errors import InvalidArgument
from dpcore.experts import RULES, Batched, WeightedMajority, hedge_rate, learning_rate
from dpcore.experts.rates import best_hold, capped_rate, draws_with_data, plays_cost

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "laws.json").read_text(encoding="utf-8"))["learning_rates"]


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"ε={row['epsilon']} T={row['T']}")
def test_golden_values(row: dict) -> None:
    """Tolerance 1e-7 relative."""
    for rule in RULES:
        expected = row["bounded_range_T_draws" if rule == "bounded_range" else rule]
        found = learning_rate(row["epsilon"], row["delta"], row["T"], rule)
        assert found == pytest.approx(expected, rel=1e-7), rule


def optimum_delta(width: float, count: int, epsilon: float) -> float:
    """δ(ε) of the best attacker on ``count`` draws of bounded range ``width``: the double sum as it is written.

    Dong, Durfee & Rogers 2020: maximum over t of Σ_i C(N, i) p^(N−i) (1−p)^i (1 − e^(ε − (N t − i e₀)))₊.
    """
    i = np.arange(count + 1)
    log_choose = gammaln(count + 1) - gammaln(i + 1) - gammaln(count - i + 1)
    worst = 0.0
    for step in range(count + 1):
        t = (epsilon + (step + 1) * width) / (count + 1)
        if not 0 < t < width:
            continue
        high = -math.expm1(t - width) / -math.expm1(-width)  # the chance p of log-ratio t: E[e^−loss] = 1
        mass = np.exp(log_choose + (count - i) * math.log(high) + i * np.log1p(-high))
        gain = np.maximum(-np.expm1(np.minimum(epsilon - (count * t - i * width), 0.0)), 0.0)
        worst = max(worst, float(mass @ gain))
    return worst


@pytest.mark.parametrize("count", [1, 2, 9, 60, 400])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_never_less_and_never_more_than_the_optimum(count: int, epsilon: float, delta: float) -> None:
    """At the rate given the optimal attacker's δ is at most δ; one part in 10⁵ faster it is above.

    ``optimum_delta`` sums every outcome, without the shortcuts of dpcore. 1e-7: rounding in its binomial weights.
    """
    width = 2 * learning_rate(epsilon, delta, count, "bounded_range")
    assert optimum_delta(width, count, epsilon) <= delta * (1 + 1e-7)
    assert optimum_delta(width * (1 + 1e-5), count, epsilon) > delta


def test_a_run_uses_the_whole_promise() -> None:
    """Real neighbours: one early round decides between two experts and all later plays are alike.

    Each of the 200 plays then tells the same two-point story, so δ is a sum over how often expert 0 was played. It
    stays under the promise, and reaches 90 % of it: the account has no slack to speak of on actual losses either. With
    noise × 0.8 (η / 0.8) it is well over.
    """
    run = WeightedMajority(epsilon=1.0, delta=1e-3, rounds=201, experts=2)

    def spent(rate: float) -> float:
        one = 1 / (1 + math.exp(rate))  # chance of the expert who lost the first round
        k = np.arange(201)
        log_choose = gammaln(201) - gammaln(k + 1) - gammaln(201 - k)
        here = log_choose + k * math.log(one) + (200 - k) * math.log1p(-one)
        there = log_choose + k * math.log1p(-one) + (200 - k) * math.log(one)
        return float(np.maximum(np.exp(here) - np.exp(run.epsilon + there), 0.0).sum())

    assert 0.9 * run.delta < spent(run.rate) <= run.delta
    assert spent(run.rate / 0.8) > 3 * run.delta


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (8.0, 0.05), (300.0, 0.5)])
def test_costs_keep_the_promise(rule: str, epsilon: float, delta: float) -> None:
    """The claim is never above what was asked for, also where the textbook's shortcut promises too much (trap 6)."""
    for rounds in (1, 2, 50, 3000):
        cost = WeightedMajority(epsilon=epsilon, delta=delta, rounds=rounds, experts=10, rule=rule).cost
        assert cost.epsilon <= epsilon
        assert cost.delta <= delta


def test_the_textbook_formula_is_held_back_where_it_promises_too_much() -> None:
    """For very large ε the formula exceeds what zCDP allows; the strategy then uses the latter. Below, it is kept."""
    assert learning_rate(1000.0, 0.05, 100, "textbook") > learning_rate(1000.0, 0.05, 99, "zcdp")
    assert capped_rate(1000.0, 0.05, 100, 10**6, rule="textbook") <= learning_rate(1000.0, 0.05, 99, "zcdp")
    assert capped_rate(1.0, 1e-6, 100, 10, rule="textbook") == learning_rate(1.0, 1e-6, 100, "textbook")


def test_better_accounts_learn_faster() -> None:
    """About 4.6 and 5.0 times the textbook's rate (mechanisms.md §3, ε = 1, δ = 1e-6, T = 1000)."""
    slow, middle, fast = (learning_rate(1.0, 1e-6, 1000, rule) for rule in RULES)
    assert middle / slow == pytest.approx(4.6, abs=0.1)
    assert fast / slow == pytest.approx(5.0, abs=0.1)


def test_the_cap() -> None:
    assert capped_rate(1e4, 1e-6, 100, 10) == hedge_rate(100, 10)
    assert capped_rate(1.0, 1e-6, 1, 10) == 0.0
    assert capped_rate(0.1, 1e-6, 100, 10) == learning_rate(0.1, 1e-6, 99)


def test_plays_without_data_are_free() -> None:
    assert draws_with_data(1) == 0
    assert plays_cost(0.3, 0, 1.0, 1e-6, reacting=False).epsilon == 0.0


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("experts", [2, 50])
def test_the_hold_is_the_one_that_learns_fastest(epsilon: float, experts: int) -> None:
    """Against every hold there is, by the same zCDP account: within 15 % of the best rate, the grid's spacing."""
    rounds, rho = 2000, zcdp_rho(epsilon, 1e-6)
    holds = np.arange(1, rounds)
    draws = np.array([draws_with_data(rounds, int(hold)) for hold in holds])
    caps = np.array([hedge_rate(rounds, experts, int(hold)) for hold in holds])
    best = np.minimum(np.sqrt(2 * rho / draws), caps).max()
    chosen = best_hold(rho, rounds, experts)
    assert min(math.sqrt(2 * rho / draws_with_data(rounds, chosen)), hedge_rate(rounds, experts, chosen)) > best / 1.15


def test_one_round_holds_are_weighted_majority() -> None:
    """Batched with hold 1 is weighted majority with the bounded-range rule, to the last digit."""
    losses = np.random.default_rng(0).random((60, 4))
    batched = Batched(epsilon=1.0, delta=1e-6, rounds=60, experts=4, hold=1)
    fresh = WeightedMajority(epsilon=1.0, delta=1e-6, rounds=60, experts=4)
    assert batched.expected_regret(losses) == fresh.expected_regret(losses)
    assert batched.cost == fresh.cost


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1e-6, 10, "zcdp"), "epsilon"),
        ((1.0, 0.0, 10, "zcdp"), "delta"),
        ((1.0, 1.0, 10, "zcdp"), "delta"),
        ((1.0, 1e-6, 0, "zcdp"), "rounds"),
        ((1.0, 1e-6, 1.5, "zcdp"), "rounds"),
        ((1.0, 1e-6, 10, "fast"), "rule"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple, name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        learning_rate(*arguments)
    assert caught.value.argument == name
