"""Theorems: their numbers, that they hold on hard sequences, and when they say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.experts import (
    STORIES,
    THEOREMS,
    Batched,
    NonPrivate,
    Scenario,
    WeightedMajority,
    held_bound,
    regret_bound,
)

RUN = {"rounds": 1000, "experts": 10, "epsilon": 1.0, "delta": 1e-6}


def test_the_numbers() -> None:
    log_k, log_d = math.log(10), math.log(1e6)
    assert regret_bound("hedge", rounds=1000, experts=10).total == pytest.approx(math.sqrt(500 * log_k))
    assert regret_bound("11.1", rounds=1000, experts=10).total == pytest.approx(2 * math.sqrt(1000 * log_k))
    private = regret_bound("11.3", **RUN)
    rate = 1 / math.sqrt(32_000 * log_d)
    assert private.total == pytest.approx(1000 * rate + log_k / rate)
    assert private.per_round == pytest.approx(private.total / 1000)
    assert private.shortcut == pytest.approx(math.sqrt(128_000 * log_d) * log_k)
    tail = regret_bound("11.4", beta=0.1, **RUN).total - private.total
    assert tail == pytest.approx(math.sqrt(500 * math.log(10)))


def test_the_shortcut_has_a_condition() -> None:
    """Trap 3: ε² ≤ 32 ln(1/δ) ln k; where it fails the shortcut would be below the bound it shortens."""
    limit = math.sqrt(32 * math.log(1e6) * math.log(10))
    inside = regret_bound("11.3", **RUN | {"epsilon": limit * 0.999})
    assert inside.shortcut is not None
    assert inside.shortcut >= inside.total
    assert regret_bound("11.3", **RUN | {"epsilon": limit * 1.001}).shortcut is None


def test_vacuous_is_said() -> None:
    """At T = 1e5, k = 1000, ε = .1 the bound exceeds T (mechanisms.md §0.3)."""
    assert regret_bound("11.3", rounds=100_000, experts=1000, epsilon=0.1, delta=1e-6).vacuous
    assert not regret_bound("11.3", rounds=100_000, experts=1000, epsilon=10.0, delta=1e-6).vacuous
    assert not regret_bound("hedge", rounds=1000, experts=10).vacuous
    assert regret_bound("11.1", rounds=2, experts=10).vacuous


@pytest.mark.parametrize("story", list(STORIES))
@pytest.mark.parametrize("rounds", [40, 1000])
def test_bounds_hold(story: str, rounds: int) -> None:
    losses = Scenario(story=story, experts=4, period=rounds // 4, seed=2).losses(rounds)
    free = NonPrivate(rounds=rounds, experts=4).expected_regret(losses)
    tight = regret_bound("hedge", rounds=rounds, experts=4).total
    assert free <= tight <= regret_bound("11.1", rounds=rounds, experts=4).total
    for epsilon in (0.1, 1.0, 10.0):
        book = WeightedMajority(epsilon=epsilon, delta=1e-6, rounds=rounds, experts=4, rule="textbook")
        promised = regret_bound("11.3", rounds=rounds, experts=4, epsilon=epsilon, delta=1e-6)
        assert book.expected_regret(losses) <= promised.total
        batched = Batched(epsilon=epsilon, delta=1e-6, rounds=rounds, experts=4)
        assert batched.expected_regret(losses) <= held_bound(batched.rate, rounds, 4, batched.held)


def test_the_tight_bound_is_nearly_reached() -> None:
    """Fair coins, two experts: regret is within a factor of 2 of √(T ln k / 2), so the bound is not just large."""
    rounds = 4000
    coins = np.random.default_rng(0).integers(0, 2, (20, rounds))
    found = [NonPrivate(rounds=rounds, experts=2).expected_regret(np.stack([c, 1 - c], axis=1)) for c in coins]
    assert np.mean(found) > 0.5 * regret_bound("hedge", rounds=rounds, experts=2).total


def test_the_likely_bound_holds_as_often_as_it_says() -> None:
    """Played losses exceed mean + √(T ln(1/β)/2) in at most a share β of runs: 400 runs, β = .2, plus 3 sd."""
    losses = np.random.default_rng(1).random((60, 3)).round()
    run = WeightedMajority(epsilon=1.0, delta=1e-6, rounds=60, experts=3)
    rng = np.random.default_rng(2)
    totals = np.array([losses[np.arange(60), run.play(losses, rng)].sum() for _ in range(400)])
    limit = run.expected_regret(losses) + losses.sum(axis=0).min() + math.sqrt(30 * math.log(5))
    assert np.mean(totals > limit) <= 0.2 + 3 * math.sqrt(0.16 / 400)


@pytest.mark.parametrize(
    ("theorem", "change", "name"),
    [
        ("11.2", {}, "theorem"),
        ("11.3", {"epsilon": None}, "epsilon"),
        ("11.3", {"delta": 0.0}, "delta"),
        ("11.4", {"beta": 1.0}, "beta"),
        ("hedge", {"rounds": 0}, "rounds"),
        ("hedge", {"experts": 1}, "experts"),
    ],
)
def test_bad_arguments_are_named(theorem: str, change: dict, name: str) -> None:
    assert "11.2" not in THEOREMS  # a statement about privacy
    with pytest.raises(InvalidArgument) as caught:
        regret_bound(theorem, **RUN | change)
    assert caught.value.argument == name
