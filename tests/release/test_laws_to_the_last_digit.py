"""What is called an exact law is that to the last digit, whatever ε is."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pytest

from dpcore.datasets import Column
from dpcore.datasets import Declaration as Declared
from dpcore.releases.count import NoisyCount
from dpcore.training import count_noise
from dpcore.training.count_noise import GaussianNoise, LaplaceNoise

Law = Callable[[float, int], float]
"""The chance that geometric noise of both signs, of a scale, is a whole number."""


def of_a_count(scale: float, away: int) -> float:
    most = max(math.ceil(scale * 1e-6), 1)  # rows of one person, who has an ε of 1e-6 at least
    declared = Declared(columns=(Column(name="who", type="text"),), id_column="who", rows_per_person=most)
    request = NoisyCount.of(declared, epsilon=most / scale)
    assert request.scale == pytest.approx(scale)
    return float(request.law_of(0, away)[away])


def of_a_told_count(scale: float, away: int) -> float:
    return float(LaplaceNoise(scale=scale, counts=1).chance(np.array([away]))[0])


LAWS: dict[str, Law] = {"a count": of_a_count, "what a model's hits are told by": of_a_told_count}
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
SCALES = [0.7 * 2.0**power for power in (-5, -1, 0, 3, 10, 20, 30, 39)]


def exact(scale: float, away: int) -> float:
    with localcontext(prec=60):
        p = (-1 / Decimal(scale)).exp()
        return float((1 - p) / (1 + p) * p**away)


@pytest.mark.parametrize("law", LAWS)
def test_a_law_is_exact_at_every_scale(law: str) -> None:
    for scale in SCALES:
        for away in (0, 1, 7):
            assert LAWS[law](scale, away) == pytest.approx(exact(scale, away), rel=1e-12, abs=0), scale


def exact_gaussian(scale: float, away: int) -> float:
    """Over the sum of all weights; where that has many terms by its Poisson sum, of which two terms are enough."""
    with localcontext(prec=60):
        twice, root = 2 * Decimal(scale) ** 2, Decimal(scale) * (2 * PI).sqrt()
        terms = range(1, math.ceil(20 * scale) + 1)
        added = 1 + 2 * sum((-Decimal(k * k) / twice).exp() for k in terms) if scale < 20 else root
        if 1 < scale < 20:
            poisson = root * (1 + 2 * (-PI * PI * twice).exp())
            assert abs(poisson / added - 1) < Decimal("1e-25")
        return float((-Decimal(away * away) / twice).exp() / added)


def test_a_gaussian_law_is_exact_at_every_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(scale: float, away: int) -> float:
        return float(GaussianNoise(scale=scale, counts=1).chance(away))

    for scale in (0.1, *SCALES):
        for away in (0, 1, 7):
            assert told(scale, away) == pytest.approx(exact_gaussian(scale, away), rel=1e-12, abs=1e-300), scale
    monkeypatch.setattr(count_noise, "_SUMMED", 0.0)
    assert told(0.7, 1) != pytest.approx(exact_gaussian(0.7, 1), rel=1e-6), "as if noise of any scale were smooth"


def test_one_that_loses_digits_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded(self: NoisyCount, count: int, reach: int = 100) -> np.ndarray:
        p = math.exp(-1.0 / self.scale)
        return np.asarray((1.0 - p) / (1.0 + p) * p ** np.arange(reach + 1))

    monkeypatch.setattr(NoisyCount, "law_of", rounded)
    with pytest.raises(AssertionError):
        test_a_law_is_exact_at_every_scale("a count")
