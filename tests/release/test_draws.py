"""The integer draws have the laws they name, exactly calibrated, and refuse what the library would let through."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from dpcore.errors import InvalidArgument, ReleaseRefused
from dpcore.in_units import binary_unit, to_units
from dpcore.releases import draws
from dpcore.selection import catalog

DRAWS = 40_000
SURE = 1e-6  # chance that a right sampler fails one of these tests


def pmf(points: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
    weights = np.exp(log_weight - log_weight.max())
    return weights / weights.sum()


def fits(drawn: np.ndarray, points: np.ndarray, law: np.ndarray) -> float:
    """p-value of Pearson's χ² test, cells with fewer than 20 expected put together at the ends."""
    inside = law * drawn.size >= 20
    counts = np.array([(drawn == point).sum() for point in points[inside]])
    expected = law[inside] * drawn.size
    rest = law[~inside].sum() * drawn.size
    if (~inside).any():
        counts, expected = np.append(counts, drawn.size - counts.sum()), np.append(expected, rest)
    assert counts.sum() == drawn.size
    return float(chisquare(counts, expected * (drawn.size / expected.sum())).pvalue)


WIDE = np.arange(-400, 401)


def laplace_law(scale: float) -> np.ndarray:
    return pmf(WIDE, -np.abs(WIDE) / scale)


def gaussian_law(scale: float) -> np.ndarray:
    return pmf(WIDE, -(WIDE**2) / (2 * scale**2))


def geometric_law(scale: float) -> np.ndarray:
    return pmf(WIDE, np.where(WIDE >= 0, -WIDE / scale, -np.inf))


@pytest.mark.parametrize(
    ("drawn", "law", "scale"),
    [
        (lambda: draws.laplace_noise(DRAWS, 2.5), laplace_law, 2.5),
        (lambda: draws.laplace(np.zeros(DRAWS, np.int64), sensitivity=3, epsilon=1.2), laplace_law, 2.5),
        (lambda: draws.gaussian_noise(DRAWS, 3.0), gaussian_law, 3.0),
        (lambda: draws.gaussian(np.zeros(DRAWS, np.int64), sensitivity=6.0, rho=2.0), gaussian_law, 3.0),
        (lambda: draws.geometric_noise(DRAWS, 4.0), geometric_law, 4.0),
    ],
)
def test_noise_has_its_law_and_the_test_would_see_a_fifth_less(drawn: object, law: object, scale: float) -> None:
    sample = drawn()
    assert sample.dtype == np.int64
    assert fits(sample, WIDE, law(scale)) > SURE
    assert fits(sample, WIDE, law(0.8 * scale)) < 1e-12
    assert fits(sample, WIDE, law(1.25 * scale)) < 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize(("rule", "key"), [("permute_and_flip", "permute_and_flip"), ("exponential", "exponential")])
@pytest.mark.parametrize("monotonic", [False, True])
def test_noisy_max_has_the_law_of_the_mechanism_it_names(rule: str, key: str, monotonic: bool) -> None:
    """Against the engine's exact laws; swapping the two names would be noticed."""
    scores, size = np.array([5, 4, 4, 2, 0, -1]), 8_000
    mechanism = catalog()[key](epsilon=1.0, sensitivity=1.0, monotonic=monotonic)
    sample = np.array(
        [draws.noisy_max(scores, sensitivity=1, epsilon=1.0, monotonic=monotonic, rule=rule) for _ in range(size)]
    )
    points = np.arange(6)
    assert fits(sample, points, mechanism.probabilities(scores.astype(float))) > SURE
    other = "exponential" if key == "permute_and_flip" else "permute_and_flip"
    wrong = catalog()[other](epsilon=1.0, sensitivity=1.0, monotonic=monotonic)
    assert fits(sample, points, wrong.probabilities(scores.astype(float))) < 1e-5


def test_values_are_kept_and_large_ones_do_not_saturate() -> None:
    """The library's default i32 would stop at 2³¹; ours are i64."""
    values = np.array([-(2**50), 0, 2**50])
    noisy = draws.laplace(values, sensitivity=1, epsilon=1.0)
    assert (np.abs(noisy - values) < 200).all()  # e⁻²⁰⁰
    assert draws.laplace([], sensitivity=1, epsilon=1.0).shape == (0,)


BAD_VALUES = [[1.5], [math.nan], [math.inf], [True], ["1"], [None], [2**61], [-(2**61)], [[1]], 3, "text"]


@pytest.mark.parametrize("values", BAD_VALUES, ids=repr)
def test_only_whole_numbers_reach_the_library(values: object) -> None:
    for draw in (
        lambda: draws.laplace(values, sensitivity=1, epsilon=1.0),
        lambda: draws.gaussian(values, sensitivity=1.0, rho=1.0),
        lambda: draws.noisy_max(values, sensitivity=1, epsilon=1.0),
    ):
        with pytest.raises(InvalidArgument) as refused:
            draw()
        assert "2305843009213693952" not in str(refused.value)


@pytest.mark.parametrize("level", [0.0, -1.0, math.nan, math.inf, 1e-300, "1", None, True])
def test_levels_that_are_none_are_refused(level: object) -> None:
    """A scale of 0 (ε = ∞) and NaN pass in the library; here they do not."""
    for draw in (
        lambda: draws.laplace([1], sensitivity=1, epsilon=level),
        lambda: draws.gaussian([1], sensitivity=1.0, rho=level),
        lambda: draws.noisy_max([1, 2], sensitivity=1, epsilon=level),
    ):
        with pytest.raises(InvalidArgument):
            draw()
    for noise in (draws.laplace_noise, draws.gaussian_noise, draws.geometric_noise):
        for scale in (0.0, -1.0, math.nan, math.inf, 1e300):
            with pytest.raises(InvalidArgument, match="scale"):
                noise(3, scale)
        with pytest.raises(InvalidArgument, match="size"):
            noise(-1, 1.0)


@pytest.mark.parametrize("sensitivity", [0, -1, 0.5, math.nan, "1", 2**61])
def test_sensitivities_are_whole_units(sensitivity: object) -> None:
    with pytest.raises(InvalidArgument, match="sensitivity"):
        draws.laplace([1], sensitivity=sensitivity, epsilon=1.0)
    with pytest.raises(InvalidArgument, match="sensitivity"):
        draws.noisy_max([1], sensitivity=sensitivity, epsilon=1.0)
    with pytest.raises(InvalidArgument, match="scores"):
        draws.noisy_max([], sensitivity=1, epsilon=1.0)
    with pytest.raises(InvalidArgument, match="rule"):
        draws.noisy_max([1], sensitivity=1, epsilon=1.0, rule="laplace")


def test_the_librarys_own_privacy_map_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """If construction and guarantee ever disagree, nothing is drawn."""
    monkeypatch.setattr(draws, "_scale", lambda value: 0.8 * value)
    for draw in (
        lambda: draws.laplace([1], sensitivity=1, epsilon=1.0),
        lambda: draws.gaussian([1], sensitivity=1.0, rho=1.0),
        lambda: draws.noisy_max([1, 2], sensitivity=1, epsilon=1.0),
        lambda: draws.noisy_max([1, 2], sensitivity=1, epsilon=1.0, rule="exponential"),
    ):
        with pytest.raises(ReleaseRefused, match="own privacy check"):
            draw()


class TestUnits:
    def test_rounding_keeps_the_order_and_the_distance(self) -> None:
        rng = np.random.default_rng(2)
        values = np.sort(np.concatenate([rng.uniform(-50, 50, 2000), np.arange(-50, 50) / 2]))
        units = to_units(values, 1.0)
        assert (np.diff(units) >= 0).all()
        assert np.abs(units - values).max() <= 0.5
        assert list(to_units([0.5, 1.5, 2.5, -0.5], 1.0)) == [1, 2, 3, 0]
        assert list(to_units([2.0**53 + 2, 2.0**52 - 0.5], 1.0)) == [2**53 + 2, 2**52]

    @pytest.mark.parametrize("unit", [1.0, 0.25, 2**-20, 8.0])
    @pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.3, 7.7), (10.1, 29.9)])
    def test_one_record_moves_a_clamped_total_by_at_most_its_sensitivity(
        self, low: float, high: float, unit: float
    ) -> None:
        """Over values at, beside and beyond the bounds; the bound itself is reached."""
        if to_units([low], unit)[0] == to_units([high], unit)[0]:
            with pytest.raises(InvalidArgument, match="unit"):
                draws.clamped_sensitivity(low, high, unit, "replace_one")
            return
        values = np.concatenate([np.linspace(low - 1, high + 1, 101), [low, high, -1e9, 1e9]])
        alone = np.array([draws.clamped_total([value], low, high, unit) for value in values])
        moved = np.abs(alone[:, None] - alone[None, :]).max()
        assert moved == draws.clamped_sensitivity(low, high, unit, "replace_one")
        assert np.abs(alone).max() == draws.clamped_sensitivity(low, high, unit, "add_remove")
        assert draws.clamped_total(values, low, high, unit) == alone.sum()

    def test_refusals_hold_no_value(self) -> None:
        for values in ([math.nan], [1e300], [math.inf], ["secret"]):
            with pytest.raises(InvalidArgument) as refused:
                to_units(values, 1.0)
            assert "secret" not in str(refused.value)
            assert "e+" not in str(refused.value)
        with pytest.raises(InvalidArgument, match="unit"):
            draws.clamped_total([2.0**59] * 4, 0.0, 2.0**59, 1.0)

    def test_binary_units_are_exact(self) -> None:
        assert binary_unit(0.01) == 2**-7
        assert binary_unit(1.0) == 1.0
        assert draws.from_units(np.array([3, -1]), 2**-7).tolist() == [3 / 128, -1 / 128]


def test_quantile_scores_move_little() -> None:
    """One record added moves a score by at most max(m, d − m), one replaced by at most d; both are reached."""
    rng = np.random.default_rng(1)
    candidates = np.arange(0, 100, 5)
    most_added = most_replaced = 0
    for _ in range(300):
        values = np.sort(rng.integers(0, 100, rng.integers(1, 12)))
        scores = draws.quantile_scores(values, candidates, numerator=1, denominator=4)
        more = np.sort(np.append(values, rng.integers(0, 100)))
        other = values.copy()
        other[rng.integers(values.size)] = rng.integers(0, 100)
        for neighbour, replaced in ((more, False), (np.sort(other), True)):
            moved = np.abs(draws.quantile_scores(neighbour, candidates, numerator=1, denominator=4) - scores).max()
            most_added, most_replaced = (
                (most_added, max(most_replaced, moved)) if replaced else (max(most_added, moved), most_replaced)
            )
    assert most_added == 3
    assert most_replaced == 4
    best = draws.quantile_scores(np.arange(100), candidates, numerator=1, denominator=4).argmax()
    assert candidates[best] == 25
    for wrong in ({"numerator": 0, "denominator": 4}, {"numerator": 4, "denominator": 4}):
        with pytest.raises(InvalidArgument):
            draws.quantile_scores(np.arange(3), candidates, **wrong)
    with pytest.raises(InvalidArgument, match="rising"):
        draws.quantile_scores(np.array([2, 1]), candidates, numerator=1, denominator=2)
