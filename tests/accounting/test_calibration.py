"""Calibration meets the target from the safe side, for every kind of noise, and is tight."""

from __future__ import annotations

import math

import pytest

from dpcore.accounting import Cost, bounded_range_delta, compose, gaussian_delta, gaussian_epsilon, zcdp_epsilon
from dpcore.calibration import (
    adaptive_bounded_range_rate,
    bounded_range_rate,
    gaussian_noise_multiplier,
    laplace_noise_multiplier,
    pure_epsilon,
    sampled_gaussian_noise_multiplier,
    solve,
    zcdp_gaussian_noise_multiplier,
    zcdp_rho,
)
from dpcore.errors import InvalidArgument
from dpcore.events import SampledGaussianEvent

TARGETS = [(0.01, 1e-9), (0.1, 1e-6), (1.0, 1e-5), (5.0, 1e-7), (50.0, 1e-3)]


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_gaussian_noise_is_enough_and_no_more(epsilon: float, delta: float) -> None:
    noise = gaussian_noise_multiplier(epsilon, delta)
    assert gaussian_delta(noise, epsilon) <= delta
    assert gaussian_delta(noise * (1 - 1e-6), epsilon) > delta
    many = gaussian_noise_multiplier(epsilon, delta, count=7)
    assert gaussian_epsilon(many / math.sqrt(7), delta) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_rho_is_worth_epsilon(epsilon: float, delta: float) -> None:
    rho = zcdp_rho(epsilon, delta)
    assert epsilon * (1 - 1e-6) <= zcdp_epsilon(rho, delta) <= epsilon
    noise = zcdp_gaussian_noise_multiplier(rho, count=3)
    assert 3 / (2 * noise**2) == pytest.approx(rho)


@pytest.mark.parametrize("count", [1, 2, 10, 3000, 10**6])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (8.0, 1e-3)])
def test_bounded_range_rate_is_safe_and_beats_zcdp(epsilon: float, delta: float, count: int) -> None:
    rate = bounded_range_rate(epsilon, delta, count)
    assert bounded_range_delta(rate, count, epsilon) <= delta
    assert bounded_range_delta(rate * (1 + 1e-6), count, epsilon) > delta * (1 - 1e-3)
    assert rate >= adaptive_bounded_range_rate(epsilon, delta, count) * (1 - 1e-9)
    assert rate >= epsilon / count * (1 - 1e-9)


def test_the_planned_rate_is_five_times_the_textbooks() -> None:
    """T = 1e5, ε = 1, δ = 1e-6: exact accounting allows about 5.0 times the textbook's learning rate."""
    rounds, epsilon, delta = 10**5, 1.0, 1e-6
    textbook = 2 * epsilon / math.sqrt(32 * rounds * math.log(1 / delta))
    assert bounded_range_rate(epsilon, delta, rounds) / textbook == pytest.approx(4.98, abs=0.03)


def test_pure_and_laplace_plans() -> None:
    assert pure_epsilon(1.0, 0.0, 4) == 0.25
    assert laplace_noise_multiplier(2.0, count=3) == 1.5
    rate = pure_epsilon(2.0, 1e-5, 50)
    assert compose([Cost.pure(rate, 50)], 1e-5)["best"] <= 2.0
    assert rate > 2.0 / 50 * 1.1
    noise = laplace_noise_multiplier(2.0, 1e-5, 50)
    assert compose([Cost.laplace(noise, 50)], 1e-5)["best"] <= 2.0
    assert noise < 1 / rate


@pytest.mark.thorough
@pytest.mark.parametrize(("epsilon", "rate", "count"), [(0.5, 0.02, 200), (4.0, 0.05, 100)])
def test_sampled_noise_is_never_too_small(epsilon: float, rate: float, count: int) -> None:
    """On the grid it was found with it meets the target, and 0.2 % less noise does not."""
    noise = sampled_gaussian_noise_multiplier(epsilon, 1e-5, rate, count)

    def spent(multiplier: float) -> float:
        event = SampledGaussianEvent(noise_multiplier=multiplier, sampling_rate=rate, count=count)
        return compose([Cost(epsilon=math.inf, event=event)], 1e-5, accountants=["pld"])["pld"]

    assert spent(noise) <= epsilon < spent(noise * 0.998)


def test_replace_one_needs_more_noise() -> None:
    once = sampled_gaussian_noise_multiplier(1.0, 1e-5, 0.05, 50)
    replaced = sampled_gaussian_noise_multiplier(1.0, 1e-5, 0.05, 50, neighbours="replace_one")
    assert once < replaced < 2.1 * once
    full = sampled_gaussian_noise_multiplier(1.0, 1e-5, 1.0, 50, neighbours="replace_one")
    assert full == pytest.approx(2 * gaussian_noise_multiplier(1.0, 1e-5, 50))


def test_solve_keeps_its_promise_on_both_slopes() -> None:
    assert solve(lambda x: x * x, 2.0, low=1e-3, high=1e3, increasing=True) == pytest.approx(math.sqrt(2))
    assert solve(lambda x: x * x, 2.0, low=1e-3, high=1e3, increasing=True) ** 2 <= 2.0
    assert 1 / solve(lambda x: 1 / x, 3.0, low=1e-3, high=1e3, increasing=False) <= 3.0
    assert solve(lambda x: x, 5.0, low=1.0, high=2.0, increasing=True) == 2.0
    with pytest.raises(InvalidArgument, match="target"):
        solve(lambda x: x, 0.5, low=1.0, high=2.0, increasing=True)


@pytest.mark.parametrize("wrong", [(0.0, 1e-5), (-1.0, 1e-5), (math.nan, 1e-5), (1.0, 0.0), (1.0, 1.0), ("1", 1e-5)])
def test_wrong_targets_are_refused(wrong: tuple) -> None:
    for calibrate in (gaussian_noise_multiplier, zcdp_rho):
        with pytest.raises(InvalidArgument):
            calibrate(*wrong)
    with pytest.raises(InvalidArgument, match="count"):
        bounded_range_rate(1.0, 1e-5, 0)
    with pytest.raises(InvalidArgument, match="sampling_rate"):
        sampled_gaussian_noise_multiplier(1.0, 1e-5, 1.5, 10)
