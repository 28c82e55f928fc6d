"""What accuracy is promised for the worst series: the reference table, the theorem, and the margin for selecting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.selection import PermuteAndFlip
from dpcore.thresholding import AboveThreshold, NumericSparse, Sparse, best_design, select_instead
from dpcore.thresholding.accuracy import theorem_alpha, theorem_beta

K, BETA = 1000, 0.05


def test_the_reference_table() -> None:
    """Worst-case α at ε = 1, k = 1000, β = .05: each number of the table to its one decimal."""
    book = AboveThreshold(epsilon=1.0)
    # the offset alone: the best one for the textbook's own split, searched on a grid of 0.1
    offsets = [replace(book, offset=offset).exact_alpha(K, BETA) for offset in np.arange(12.0, 16.0, 0.1)]

    def tuned(noise: str, monotonic: bool) -> float:
        return AboveThreshold.tuned(epsilon=1.0, k=K, beta=BETA, noise=noise, monotonic=monotonic).exact_alpha(K, BETA)

    found = [
        book.accuracy_bound(K, BETA),
        book.exact_alpha(K, BETA),
        min(offsets),
        tuned("laplace", False),
        tuned("exponential", False),
        tuned("laplace", True),
        tuned("exponential", True),
    ]
    assert np.round(found, 1).tolist() == [84.8, 37.7, 26.8, 22.5, 19.1, 14.4, 11.9]


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.parametrize("limit", [1, 3])
def test_alpha_is_where_the_worst_series_is_right_just_often_enough(noise: str, limit: int) -> None:
    """At the exact α the run on the worst series itself is right with probability 1 − β; the theorem's α is larger."""
    k, beta, threshold = 40, 0.1, 7.0
    mechanism = Sparse(epsilon=0.7, limit=limit, noise=noise, sensitivity=2.0, offset=3.0)
    alpha = mechanism.exact_alpha(k, beta)
    answers = np.r_[np.full(k - limit, threshold - alpha), np.full(limit, threshold + alpha)]
    right = np.exp(mechanism.log_probability(answers, threshold, range(k - limit, k)))
    assert right == pytest.approx(1 - beta, abs=1e-8)
    assert alpha < mechanism.accuracy_bound(k, beta)


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_theorem_holds_exactly(noise: str, share: float) -> None:
    """With margins of the theorem's α the exact chance of being right is at least 1 − β, for any split and noise."""
    for k, beta in ((1, 0.3), (20, 0.05), (5000, 0.01)):
        mechanism = AboveThreshold(epsilon=1.3, noise=noise, threshold_share=share, offset=-1.5)
        alpha = mechanism.accuracy_bound(k, beta)
        answers = np.r_[np.full(k - 1, -alpha), alpha]
        assert mechanism.stop_law(answers, 0.0)[k - 1] >= 1 - beta


def test_the_theorem_turned_round() -> None:
    pair = AboveThreshold(epsilon=0.4).scales
    distance = np.array([theorem_alpha(pair, 300, beta) for beta in (0.2, 0.01)])
    assert np.allclose(theorem_beta(pair, 300, distance), [0.2, 0.01])
    assert theorem_beta(pair, 300, np.array([-1.0, 0.0])).tolist() == [1.0, 1.0]


def test_designs_are_best_and_scale() -> None:
    """No neighbouring share or offset is better by more than the stated 0.1 %; α is inversely proportional to ε."""
    design = best_design(200, 0.05, "exponential")
    base = AboveThreshold.tuned(epsilon=1.0, k=200, beta=0.05)
    for factor in (0.85, 0.95, 1.05, 1.15):
        assert replace(base, threshold_share=design.share * factor).exact_alpha(200, 0.05) > design.alpha * 0.999
        assert replace(base, offset=design.offset * factor).exact_alpha(200, 0.05) > design.alpha * 0.999
    small = AboveThreshold.tuned(epsilon=0.02, k=200, beta=0.05, sensitivity=3.0)
    assert small.exact_alpha(200, 0.05) == pytest.approx(design.alpha * 3.0 / 0.02, rel=1e-6)
    several = Sparse.tuned(epsilon=1.0, limit=4, k=200, beta=0.05)
    assert several.exact_alpha(200, 0.05) == pytest.approx(best_design(200, 0.05, "exponential", 4).alpha, rel=1e-6)
    assert best_design(1, 0.05, "laplace").alpha > 0  # one query: reckoned with two, else "always" would be best


def test_tiny_failure_chances() -> None:
    """Down to 1e-9 the exact α is found and below the theorem's; beyond what the integral resolves it is refused."""
    mechanism = AboveThreshold(epsilon=1.0)
    assert mechanism.exact_alpha(K, 1e-9) < mechanism.accuracy_bound(K, 1e-9)
    with pytest.raises(InvalidArgument, match="beta"):
        mechanism.exact_alpha(K, 1e-12)


def test_selecting_needs_less() -> None:
    """18.4 for permute-and-flip, 38.2 for the best run, 75.4 for the textbook's; the first from its exact law."""
    margins = select_instead(K, 1.0, BETA)
    assert {name: round(value, 1) for name, value in margins.items()} == {
        "permute_and_flip": 18.4,
        "best": 38.2,
        "book": 75.4,
    }
    for monotonic in (False, True):
        margin = select_instead(50, 0.3, 0.1, sensitivity=2.0, monotonic=monotonic)["permute_and_flip"]
        flip = PermuteAndFlip(epsilon=0.3, sensitivity=2.0, monotonic=monotonic)
        assert flip.probabilities([margin] + [0.0] * 49)[0] == pytest.approx(0.9, abs=1e-9)
    assert select_instead(1, 1.0, 0.1)["permute_and_flip"] == 0.0


def test_values_come_with_their_exact_error() -> None:
    """c independent Laplace errors all stay within ``value_error`` with probability 1 − β."""
    numeric = NumericSparse(epsilon=1.0, limit=3, value_share=0.25)
    assert numeric.value_scale == pytest.approx(12.0)
    inside = (1 - np.exp(-numeric.value_error(0.1) / 12.0)) ** 3
    assert inside == pytest.approx(0.9)
    assert numeric.accuracy_bound(100, 0.1) >= numeric.exact_alpha(100, 0.1)
