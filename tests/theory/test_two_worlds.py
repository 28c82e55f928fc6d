"""Two worlds of every mechanism: promises kept on random neighbours, and broken where a mechanism is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.experts import changed_day
from dpcore.experts.hedge import hedge_chances
from dpcore.experts.linear import VertexExponential, VertexPermuteAndFlip, one_row, row_worlds
from dpcore.selection import NoisyMaxLaplace, Quantile, catalog, choice_worlds, quantile_worlds
from dpcore.thresholding import AboveThreshold, alarm_worlds, proof_step
from dpcore.training import NoisyGradientDescent, SumWorlds
from dpcore.two_worlds import TwoWorlds

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("method", sorted(catalog()))
def test_a_choice_in_two_worlds(method: str) -> None:
    """Replaced rows move scores either way: at most ε everywhere; laws add up to 1 in both worlds."""
    for _ in range(30):
        scores = RNG.integers(0, 12, 6).astype(float)
        worlds = choice_worlds(catalog()[method](epsilon=0.7), scores, scores + RNG.choice([-1.0, 0.0, 1.0], 6))
        assert worlds.holds
        assert worlds.before.sum() == pytest.approx(1.0)
        assert worlds.realised == abs(worlds.log_ratio[worlds.worst])
    with pytest.raises(InvalidArgument, match=r"^neighbour "):
        choice_worlds(catalog()[method](epsilon=0.7), [1.0, 2.0], [1.0, 4.0])


def test_a_broken_choice_shows_it() -> None:
    """Trap 9: Laplace noise of scale Δ/ε on scores that move both ways loses almost 2ε (the mutant of the picture)."""
    broken = NoisyMaxLaplace(epsilon=0.5, monotonic=True)
    scores = np.array([0.0, 40.0, 40.0, 40.0])
    worlds = choice_worlds(broken, scores, scores + np.array([1.0, -1.0, -1.0, -1.0]))
    assert not worlds.holds
    assert worlds.realised > 1.9 * 0.5


def test_a_quantile_in_two_worlds() -> None:
    for relation in ("replace_one", "add_remove"):
        quantile = Quantile(epsilon=0.8, low=0.0, high=10.0, relation=relation)
        for _ in range(20):
            values = RNG.uniform(0, 10, 9)
            other = values[1:] if relation == "add_remove" else np.append(values[1:], RNG.uniform(0, 10))
            worlds = quantile_worlds(quantile, values, other)
            assert worlds.holds
            widths = np.diff(worlds.edges)
            assert worlds.before @ widths == pytest.approx(1.0)
            assert worlds.after @ widths == pytest.approx(1.0)
    # noise for a person added, used for a row replaced: a narrow gap worse by 1 while all others get better by 1
    values = np.repeat([0.0, 0.001, 10.0], [4, 3, 3])
    loud = quantile_worlds(Quantile(epsilon=0.8, low=0.0, high=10.0), values, np.append(values[1:], 10.0))
    assert not loud.holds
    assert loud.realised > 1.9 * 0.8


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_an_alarm_in_two_worlds(noise: str) -> None:
    """The first alarm's law on random neighbours, and on a bad pair: many answers that move up, the last one down."""
    watch = AboveThreshold(epsilon=1.0, noise=noise)
    for _ in range(6):
        answers = RNG.integers(0, 10, 8).astype(float)
        worlds = alarm_worlds(watch, answers, answers + RNG.choice([-1.0, 0.0, 1.0], 8), 6.0)
        assert worlds.holds
        np.testing.assert_allclose(worlds.before, watch.stop_law(answers, 6.0), rtol=1e-6, atol=1e-12)
    answers = np.append(np.full(60, 0.0), -20.0)
    worst = alarm_worlds(watch, answers, np.append(np.full(60, 1.0), -21.0), -12.0)
    assert worst.holds
    assert worst.realised > 0.8
    broken = TwoWorlds(before=worst.before, after=worst.after, promised=0.5)
    assert not broken.holds


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_the_proof_of_above_threshold_step_by_step(noise: str) -> None:
    """For drawn noise the second world stops at the same answer; shifts at most Δ and 2Δ, costs at most ε together."""
    watch = AboveThreshold(epsilon=1.0, noise=noise, threshold_share=0.5, sensitivity=2.0)
    seen = 0
    for _ in range(300):
        answers = RNG.uniform(0, 10, 6)
        other = answers + RNG.uniform(-2, 2, 6)
        drawn = watch.scales.draw_queries(RNG, 6)
        rho = float(watch.scales.draw_threshold(RNG, 1)[0])
        step = proof_step(watch, answers, other, 8.0, threshold_noise=rho, answer_noise=drawn)
        if step is None:
            continue
        seen += 1
        assert step.same
        assert abs(step.threshold_shift) <= 2.0 + 1e-12
        assert abs(step.answer_shift) <= 4.0 + 1e-12
        assert step.threshold_cost + step.answer_cost <= 1.0 + 1e-12
    assert seen > 100


def test_a_changed_day() -> None:
    """Plays as Hedge draws them; nothing before the day, at most 2η after it, in sum at most 2η a round; reached."""
    losses = RNG.random((60, 5))
    other = RNG.integers(0, 2, 5).astype(float)
    found = changed_day(losses, 20, other, 0.3)
    np.testing.assert_allclose(np.exp(found.before), np.concatenate(list(hedge_chances(losses, 0.3))), rtol=1e-12)
    moved = losses.copy()
    moved[20] = other
    np.testing.assert_allclose(np.exp(found.after), np.concatenate(list(hedge_chances(moved, 0.3))), rtol=1e-12)
    assert (found.worst[:21] == 0).all()
    assert (found.worst <= 0.6 + 1e-12).all()
    assert (found.spread <= 0.6 + 1e-12).all()
    assert (found.total <= 0.6 * np.arange(60)).all()
    assert found.play(30).holds
    far = np.zeros((41, 2))
    far[:40, 0] = 1.0  # an expert 40 rounds behind, and a round that turns from worst to best for it
    far[0] = 0.0, 1.0
    extreme = changed_day(far, 0, [1.0, 0.0], 0.5)
    assert extreme.worst[-1] == pytest.approx(1.0, rel=1e-6)
    assert not TwoWorlds(before=np.exp(extreme.before[-1]), after=np.exp(extreme.after[-1]), promised=0.5).holds
    with pytest.raises(InvalidArgument, match=r"^other "):
        changed_day(losses, 20, [2.0] * 5, 0.3)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", [VertexExponential, VertexPermuteAndFlip])
def test_a_row_of_costs_in_two_worlds(kind, relation) -> None:
    """Both laws are the method's own on the two tables; within ε on random tables, and reached where a row may."""
    comes = relation == "add_remove"
    for _ in range(20):
        costs = RNG.uniform(-1, 1, (7, 4))
        column = int(RNG.integers(4))
        row = np.where(np.arange(4) == column, -1.0, 1.0)
        rows = one_row(costs, column, relation)
        if comes:
            assert rows.row is None
            other = np.vstack([costs, row])
        else:
            other = costs.copy()
            other[rows.row] = row
        method = kind(epsilon=0.8, rows=7, columns=4, one_way=comes)
        worlds = row_worlds(method, rows)
        assert worlds.holds
        np.testing.assert_allclose(worlds.before, method.expected_choice(costs), rtol=1e-9)
        after = replace(method, rows=len(other))
        np.testing.assert_allclose(worlds.after, after.expected_choice(other), rtol=1e-9)
        if kind is VertexExponential:
            weights = np.exp(-(0.8 / (2.0 if comes else 4.0)) * other.sum(axis=0))
            np.testing.assert_allclose(worlds.after, weights / weights.sum(), rtol=1e-9)
    # the column is dearest by far, and the row is as much against it before as it is for it after
    far = np.tile([[1.0, -1.0, -1.0]], (40, 1))
    method = kind(epsilon=0.8, rows=40, columns=3, one_way=comes)
    rows = one_row(far, 0, relation)
    assert row_worlds(method, rows).holds
    assert row_worlds(method, rows).realised > 0.75
    # the mutant of the picture: the noise of a row that comes for one that changes
    broken = row_worlds(replace(method, one_way=True), one_row(far, 0, "replace_one"))
    assert not broken.holds
    assert broken.realised > 1.9 * 0.8
    with pytest.raises(InvalidArgument, match=r"^column "):
        one_row(far, 3, relation)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_noisy_sums_in_two_worlds(neighbours) -> None:
    """Step by step and together the same log-ratio; δ is the area beyond e^ε; broken by more steps or no clipping."""
    method = NoisyGradientDescent(epsilon=1.0, delta=1e-3, steps=9, neighbours=neighbours)
    worlds = SumWorlds(noise_multiplier=method.noise_multiplier, steps=9)
    sums = RNG.normal(0.0, method.noise_scale, (50, 9))
    each = ((sums - method.sensitivity) ** 2 - sums**2).sum(axis=1) / (2.0 * method.noise_scale**2)
    together = worlds.at(sums.mean(axis=1) / method.sensitivity, 1.0)
    np.testing.assert_allclose(together.log_ratio, each, rtol=1e-9, atol=1e-9)
    places, width = np.linspace(-12.0, 13.0, 400_001) * worlds.deviation, 25.0 * worlds.deviation / 400_000
    laws = worlds.at(places, 1.0)
    assert laws.before.sum() * width == pytest.approx(1.0)
    beyond = np.maximum(laws.before - np.e * laws.after, 0.0).sum() * width
    assert worlds.delta(1.0) == pytest.approx(beyond, rel=1e-6)
    assert worlds.delta(1.0) == pytest.approx(1e-3, rel=1e-6)
    assert SumWorlds(noise_multiplier=method.noise_multiplier, steps=10).delta(1.0) > 1.2e-3
    assert SumWorlds(noise_multiplier=method.noise_multiplier, steps=9, moved=2.0).delta(1.0) > 1e-2
    assert SumWorlds(noise_multiplier=method.noise_multiplier, steps=1).delta(1.0) < 1e-6
