"""What methods say they cost, against golden values and the accountants."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpcore.accounting import compose, gaussian_epsilon
from dpcore.calibration import sampled_gaussian_noise_multiplier
from dpcore.training import (
    BookGradientDescent,
    DisjointBatches,
    DpSgd,
    NoisyGradientDescent,
    OutputPerturbation,
    book_lesson,
    build,
    catalog,
)

GOLDEN = Path(__file__).parents[1] / "golden"
LAWS = json.loads((GOLDEN / "laws.json").read_text())["gaussian_sigma"]
ROWS = {row["what"]: row for row in json.loads((GOLDEN / "accounting.json").read_text())["rows"]}


@pytest.mark.parametrize("row", LAWS, ids=lambda row: f"{row['epsilon']}-{row['delta']}")
def test_descent_uses_the_analytic_gaussian(row) -> None:
    method = NoisyGradientDescent(epsilon=row["epsilon"], delta=row["delta"], steps=16)
    assert method.noise_multiplier == pytest.approx(4.0 * row["analytic_sigma"], rel=1e-7)
    once = OutputPerturbation(epsilon=row["epsilon"], delta=row["delta"], ridge=1.0)
    assert once.noise_scale_for(1.0) == pytest.approx(row["analytic_sigma"], rel=1e-7)


@pytest.mark.parametrize("key", [key for key, kind in catalog().items() if not kind.pure])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_accountants_agree_with_the_stated_epsilon(key, epsilon) -> None:
    """The best accountant never finds more than ε, and for Gaussian noise exactly ε."""
    cost = build(key, epsilon=epsilon, delta=1e-5).cost
    assert cost.epsilon == epsilon
    best = compose([cost], 1e-5)["best"]
    assert best <= epsilon * (1 + 1e-3)
    if cost.event is not None and type(cost.event).__name__ == "GaussianEvent":
        assert best == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("key", [key for key, kind in catalog().items() if kind.pure])
def test_pure_methods_cost_epsilon_and_no_delta(key) -> None:
    cost = build(key, epsilon=0.7, delta=1e-5).cost
    assert (cost.epsilon, cost.delta) == (0.7, 0.0)
    assert cost.zcdp <= 0.7**2 / 2 + 1e-12


def test_the_book_really_spends_a_fifth() -> None:
    """Golden: σ = 48.448, T = 10 is (0.2140, 1e-5)-DP, against a nominal total of 1."""
    golden = ROWS["Gaussian sigma=48.44805, T=10 (the book's noisy gradient descent at nominal epsilon 1)"]
    lesson = book_lesson(0.1)
    assert lesson.noise_multiplier == pytest.approx(48.44805, abs=1e-5)
    assert lesson.nominal_epsilon == pytest.approx(1.0)
    assert lesson.true_epsilon == pytest.approx(golden["pld"], abs=1e-5)
    assert lesson.true_epsilon < lesson.true_with_count < 0.32  # the count adds its 0.1 at most
    assert lesson.basic_delta == pytest.approx(1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_book_s_total_is_an_upper_bound(epsilon) -> None:
    assert BookGradientDescent(epsilon=epsilon, delta=1e-5).true_epsilon < epsilon


def test_sampled_steps_against_golden_values() -> None:
    golden = ROWS["calibrated sigma for Poisson q=.01, T=1000, epsilon=1"]["pld_sigma"]
    method = DpSgd(epsilon=1.0, delta=1e-5, sampling_rate=0.01, steps=1000)
    assert golden <= method.noise_multiplier * 1.0005  # 1e-4 grid against ours: never under-noised
    assert method.noise_multiplier == pytest.approx(golden, rel=5e-3)
    replaced = DpSgd(epsilon=1.0, delta=1e-5, sampling_rate=0.01, steps=1000, neighbours="replace_one")
    assert replaced.noise_multiplier > 1.2 * method.noise_multiplier


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.02, 0.3, 4.0])
def test_a_grid_in_proportion_to_epsilon_is_fine_enough(epsilon) -> None:
    """σ is at most 0.3 % above that of a grid ten times finer."""
    method = DpSgd(epsilon=epsilon, delta=1e-5, sampling_rate=0.05, steps=100)
    fine = sampled_gaussian_noise_multiplier(epsilon, 1e-5, 0.05, 100, grid=2e-4 * epsilon)
    assert 0.9995 * fine <= method.noise_multiplier <= 1.003 * fine


def test_an_epoch_of_disjoint_batches_costs_one_step() -> None:
    method = DisjointBatches(epsilon=1.0, delta=1e-5, batches=50, epochs=4)
    assert gaussian_epsilon(method.noise_multiplier / 2.0, 1e-5) == pytest.approx(1.0, rel=1e-6)


def test_sampling_rate_one_is_plain_composition() -> None:
    method = DpSgd(epsilon=1.0, delta=1e-5, sampling_rate=1.0, steps=9)
    assert method.noise_multiplier == pytest.approx(3.0 * LAWS[2]["analytic_sigma"], rel=1e-6)
    assert np.isclose(LAWS[2]["epsilon"], 1.0)
