"""Composition agrees with dp-accounting's own numbers, and refuses where those are known to be wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dpcore.accounting import Cost, compose
from dpcore.calibration import sampled_gaussian_noise_multiplier
from dpcore.errors import UnsupportedEvent
from dpcore.events import SampledGaussianEvent

ROWS = {
    row["what"]: row
    for row in json.loads((Path(__file__).parents[1] / "golden" / "accounting.json").read_text(encoding="utf-8"))[
        "rows"
    ]
}


def sampled(rate: float, noise: float, count: int, neighbours: str = "add_remove") -> list[Cost]:
    event = SampledGaussianEvent(noise_multiplier=noise, sampling_rate=rate, count=count, neighbours=neighbours)
    return [Cost(epsilon=math.inf, event=event)]


def gaussians(noise: float, count: int) -> list[Cost]:
    return [Cost.gaussian(noise, 1e-5)] * count


# Every row but the calibrated one; replace-one Gaussians fold the factor 2 into the multiplier.
PLANS = {
    "Gaussian sigma=1, T=1": gaussians(1, 1),
    "Gaussian sigma=4, T=1": gaussians(4, 1),
    "Gaussian sigma=4, T=10": gaussians(4, 10),
    "Gaussian sigma=4, T=10, replace-one": gaussians(2, 10),
    "Gaussian sigma=48.44805, T=10 (the book's noisy gradient descent at nominal epsilon 1)": gaussians(48.44805, 10),
    "Gaussian sigma=20, T=1000": gaussians(20, 1000),
    "Poisson q=.01, Gaussian sigma=1, T=1000": sampled(0.01, 1, 1000),
    "Poisson q=.01, Gaussian sigma=1, T=1000, replace-one": sampled(0.01, 1, 1000, "replace_one"),
    "Poisson q=256/60000, Gaussian sigma=1.1, T=14063": sampled(256 / 60000, 1.1, 14063),
    "Poisson q=.05, Gaussian sigma=2, T=500": sampled(0.05, 2, 500),
    "Poisson q=.001, Gaussian sigma=.8, T=10000": sampled(0.001, 0.8, 10000),
    "Laplace b=10, T=10": [Cost.laplace(10)] * 10,
    "Laplace b=10, T=100": [Cost.laplace(10, 100)],
    "Laplace b=100, T=1000": [Cost.laplace(100)] * 1000,
    "Gaussian sigma=5 x20 + Laplace b=8 x5": [*gaussians(5, 20), *[Cost.laplace(8)] * 5],
    "zCDP rho=.1": [Cost(epsilon=math.inf, rho=0.1)],
    "pure epsilon0=.1, T=100, optimal (Kairouz-Oh-Viswanath)": [Cost.pure(0.1)] * 100,
}
# On the grid used for the screen, small sampling rates come out above by this much (relative); never below.
COARSE = {
    "Poisson q=256/60000, Gaussian sigma=1.1, T=14063": 5e-3,
    "Poisson q=.001, Gaussian sigma=.8, T=10000": 1.5e-2,
}


def test_every_golden_row_is_covered() -> None:
    assert set(ROWS) - set(PLANS) == {"calibrated sigma for Poisson q=.01, T=1000, epsilon=1"}


@pytest.mark.parametrize("what", PLANS)
def test_rdp_and_pld_agree_with_the_golden_values(what: str) -> None:
    """Golden PLD values are rounded up to a grid of 1e-4, ours to 1e-3 or exact; 5e-4 covers both."""
    row = ROWS[what]
    found = compose(PLANS[what], row["delta"])
    if row["pld"] is None:
        assert "pld" not in found
    else:
        assert found["pld"] == pytest.approx(row["pld"], rel=max(COARSE.get(what, 0.0), 5e-4))
        assert found["pld"] >= row["pld"] * (1 - 1e-4)
    # Gaussian replace-one has a sound Rényi value of ours, since the factor 2 is folded in; golden has none
    if row.get("rdp") is not None:
        assert found["rdp"] == pytest.approx(row["rdp"], abs=2e-6)
    if "tight" in row:
        assert found["zcdp"] == pytest.approx(row["tight"], abs=1e-6)


def test_a_finer_grid_reaches_the_golden_value() -> None:
    """The pessimistic gap of small sampling rates is the grid's: at 1e-4 it is gone."""
    what = "Poisson q=.001, Gaussian sigma=.8, T=10000"
    found = compose(PLANS[what], 1e-6, accountants=["pld"], grid=1e-4)
    assert found["pld"] == pytest.approx(ROWS[what]["pld"], abs=2e-6)


def test_calibrated_noise_agrees_and_is_never_too_small() -> None:
    row = ROWS["calibrated sigma for Poisson q=.01, T=1000, epsilon=1"]
    noise = sampled_gaussian_noise_multiplier(1.0, 1e-5, 0.01, 1000)
    assert row["pld_sigma"] * (1 - 1e-5) <= noise <= row["pld_sigma"] * 1.002
    assert compose(sampled(0.01, noise, 1000), 1e-5)["pld"] <= 1.0


class TestTrapsOfTheLibrary:
    """What dp-accounting 0.6.0 answers wrongly never reaches a person."""

    def test_randomised_response_is_counted_every_time(self) -> None:
        """Its compose(event, count) ignores count: 100 releases would cost as much as one, ε = 0.1."""
        assert compose([Cost.pure(0.1, count=100)], 1e-5)["pld"] == pytest.approx(4.30679, abs=2e-5)
        assert compose([Cost.pure(0.1)] * 100, 1e-5)["pld"] == pytest.approx(4.30679, abs=2e-5)

    def test_replace_one_sampling_has_no_renyi_number(self) -> None:
        """Its Rényi accountant gives add/remove numbers for replace-one neighbours."""
        costs = sampled(0.01, 1, 1000, "replace_one")
        assert "rdp" not in compose(costs, 1e-5)
        with pytest.raises(UnsupportedEvent, match="rdp"):
            compose(costs, 1e-5, accountants=["rdp"])

    def test_replace_one_gaussian_is_not_the_number_without_the_factor(self) -> None:
        """σ = 4 over C is a multiplier of 2 for neighbours 2C apart: 8.08, where the library says 3.617."""
        assert compose(gaussians(2, 10), 1e-5)["rdp"] == pytest.approx(8.0794, abs=1e-3)

    def test_zcdp_has_no_privacy_losses(self) -> None:
        with pytest.raises(UnsupportedEvent, match="pld"):
            compose([Cost(epsilon=math.inf, rho=0.1)], 1e-5, accountants=["pld"])

    def test_generic_pure_releases_are_not_laplace(self) -> None:
        """Laplace noise of scale 1/ε understates what ε-DP alone promises."""
        pure = compose([Cost.pure(0.1)] * 100, 1e-5)["pld"]
        assert compose([Cost.laplace(10)] * 100, 1e-5)["pld"] < pure - 0.05
