"""Cuts at private quantiles: what one row moves, the noise, how near they are, and what they cost a model."""

from __future__ import annotations

import json
from datetime import date
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from dpcore.calibration import gaussian_noise_multiplier, zcdp_rho
from dpcore.errors import InvalidArgument
from dpcore.training import PrivateClassifier, PrivateRegressor, ScaledDescent, load_scorecard, paid_cuts
from dpcore.training.paid_cuts import NoisyQuantiles, RecursiveQuantiles, fine_grid, places_of

QUIET = 1e-9


def skewed(n: int, seed: int = 0) -> np.ndarray:
    return np.clip(np.random.Generator(np.random.SFC64(seed)).lognormal(3.0, 1.0, n), 0.0, 1000.0)


def cells(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    return np.bincount(np.searchsorted(grid, values, side="right"), minlength=grid.size + 1)


def test_one_row_is_in_one_node_of_every_level_and_the_claim_is_reached() -> None:
    asked = NoisyQuantiles(bits=4, columns=3, noise=2.0)
    counts = np.array([3, 0, 5, 1, 2, 2, 9, 0, 1, 4, 4])
    for cell in range(counts.size):
        more = counts.copy()
        more[cell] += 1
        moved = np.concatenate([b - a for a, b in zip(asked.levels(counts), asked.levels(more), strict=True)])
        together = np.sqrt(3 * (moved**2).sum())  # the row is in every column
        assert together * asked.noise == pytest.approx(asked.count_noise)
    assert asked.levels(counts)[0] == counts.sum()


def noise_of(asked: NoisyQuantiles, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> tuple[float, int]:
    seen: list[np.ndarray] = []
    honest = paid_cuts._consistent

    def noted(noisy):
        seen.extend(noisy)
        return honest(noisy)

    monkeypatch.setattr(paid_cuts, "_consistent", noted)
    for _ in range(20):
        asked.draw(np.zeros(32, dtype=np.int64), rng)
    drawn = np.concatenate(seen)
    return float(((drawn / (2.0 * np.sqrt(3 * 6))) ** 2).sum()), drawn.size


def test_every_count_has_the_noise_that_is_claimed(monkeypatch, rng) -> None:
    """χ² at 1e-6; noise as if a row were in one level only is far outside."""
    total, count = noise_of(NoisyQuantiles(bits=5, columns=3, noise=2.0), monkeypatch, rng)
    assert chi2.ppf(1e-6, count) < total < chi2.isf(1e-6, count)

    class Forgetful(NoisyQuantiles):
        @property
        def count_noise(self) -> float:
            return self.noise * np.sqrt(self.columns)

    twin, _ = noise_of(Forgetful(bits=5, columns=3, noise=2.0), monkeypatch, rng)
    assert twin < chi2.ppf(1e-6, count)


def test_without_noise_quantiles_are_exact_and_counts_consistent(rng) -> None:
    grid, values = fine_grid(0.0, 1000.0), skewed(20_000)
    asked = NoisyQuantiles(bits=10, columns=1, noise=QUIET)
    shares = asked.draw(cells(values, grid), rng)
    cuts = grid[places_of(shares, 9) - 1]
    wanted = np.quantile(values, np.arange(1, 10) / 10)
    for cut, exact in zip(cuts, wanted, strict=True):
        near = np.abs(grid - exact).min()
        assert (
            abs((values < cut).mean() - (values < exact).mean()) <= (np.abs(values - exact) <= 2 * near + 1e-9).mean()
        )
    noisy = [level + rng.normal(0, 5, level.size) for level in asked.levels(cells(values, grid))]
    leaves = paid_cuts._consistent(noisy)
    best = np.linalg.lstsq(_tree(3), np.concatenate([np.arange(2**level) ** 1.5 for level in range(4)]), rcond=None)[0]
    np.testing.assert_allclose(paid_cuts._consistent([np.arange(2**level) ** 1.5 for level in range(4)]), best)
    assert leaves.size == 1024


def _tree(bits: int) -> np.ndarray:
    return np.vstack([np.kron(np.eye(2**level), np.ones(2 ** (bits - level))) for level in range(bits + 1)])


def rank_errors(n: int, epsilon: float, many: int, rng: np.random.Generator) -> dict[str, float]:
    """Mean distance in rows of the cuts' ranks from the wanted ones at (ε, 1e-5), by method, over 80 draws.

    Exponential mechanisms are counted as zCDP, which is how several of them add up.
    """
    grid, values = fine_grid(0.0, 1000.0), skewed(n)
    counts, rho = cells(values, grid), zcdp_rho(epsilon, 1e-5)
    ranks = np.concatenate([[0], np.cumsum(counts)])
    wanted = n * np.arange(1, many + 1) / (many + 1)
    bits = int(np.ceil(np.log2(counts.size)))
    tree = NoisyQuantiles(bits=bits, columns=1, noise=gaussian_noise_multiplier(epsilon, 1e-5))
    found: dict[str, list[float]] = {"at once": [], "recursion": [], "one by one": []}
    for _ in range(80):
        scores = -np.abs(ranks - wanted[:, None]) * np.sqrt(8 * rho / many) / 2
        at = {
            "at once": places_of(tree.draw(counts, rng), many),
            "recursion": RecursiveQuantiles(rho=rho).draw(counts, many, rng),
            "one by one": np.argmax(scores + rng.gumbel(size=scores.shape), axis=1),
        }
        for name, places in at.items():
            found[name].append(float(np.abs(ranks[places] - wanted).mean()))
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.parametrize(("n", "epsilon"), [(4000, 0.5), (40_000, 0.1)])
def test_all_at_once_beats_one_by_one_and_the_recursion(n, epsilon, rng) -> None:
    errors = rank_errors(n, epsilon, 19, rng)
    assert errors["at once"] < 0.9 * errors["one by one"], errors
    assert errors["at once"] < errors["recursion"], errors


def test_cuts_are_rising_inside_the_bounds_and_different(rng) -> None:
    for values, low, high in ((skewed(500), 0.0, 1000.0), (np.full(50, 7.0), 0.0, 10.0), (np.zeros(0), -5.0, 5.0)):
        for noise in (1.0, 100.0):
            levels = paid_cuts.paid_cuts(values, low, high, noise=noise, columns=2, rng=rng)
            assert 1 <= len(levels) <= 2
            for level in levels:
                assert all(b > a for a, b in pairwise((low, *level)))
                assert level[-1] <= high
    with pytest.raises(InvalidArgument, match="high"):
        fine_grid(1.0, 1.0)
    for bad in ({"bits": 0}, {"columns": 0}, {"noise": 0.0}):
        with pytest.raises(InvalidArgument, match=next(iter(bad))):
            NoisyQuantiles(**({"bits": 3, "columns": 1, "noise": 1.0} | bad))


def test_cuts_and_training_add_up_to_one_gaussian_release() -> None:
    """Shares of 1/σ² of all that is drawn, cuts among them, are 1 together; free cuts would be more than 1."""
    own = ScaledDescent(epsilon=1.0, delta=1e-5, cuts_share=0.1, names_share=0.1)
    parts = {
        "counts": 8 / own.counts_noise(8) ** 2,
        "steps": own.steps / own.step_noise**2,
        "calibration": 1 / own.calibration_noise**2,
        "names": 1 / own.names_noise**2,
        "cuts": 1 / own.cuts_noise**2,
    }
    assert sum(parts.values()) * own.noise_multiplier**2 == pytest.approx(1.0)
    free = ScaledDescent(epsilon=1.0, delta=1e-5, names_share=0.1)
    assert free.steps / free.step_noise**2 + sum(parts.values()) - parts["steps"] > 1.05 / own.noise_multiplier**2


def wide(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A number within 0..10⁶ that lies between 500 and 540 in everybody: round cuts see one step."""
    rng = np.random.Generator(np.random.SFC64(seed))
    x = 520_000 + rng.uniform(-20_000, 20_000, n)
    return pd.DataFrame({"x": x, "day": [date(2020, 1, 1 + k % 28) for k in range(n)]}), x > 520_000


def test_paid_cuts_find_where_people_are_and_are_taken_home() -> None:
    frame, y = wide(4000, 1)
    test, truth = wide(1000, 2)
    days = (date(2000, 1, 1), date(2030, 1, 1), "paid")
    right = {}
    for kind in ("even", "paid"):
        model = PrivateClassifier(
            epsilon=2.0, columns={"x": (0, 10**6, kind), "day": days}, classes=[False, True], random_state=3
        ).fit(frame, y)
        right[kind] = float((model.predict(test) == truth).mean())
    assert right["paid"] > 0.9 > 0.6 > right["even"]
    again = load_scorecard(json.loads(model.to_json()))
    assert again.predict(test) == model.predict(test).tolist()
    lonely = PrivateClassifier(epsilon=0.01, columns={"x": (0, 10**6, "paid")}, classes=None, random_state=3)
    with pytest.raises(InvalidArgument, match="too few rows"):
        lonely.fit(frame[:5], y[:5])
    same = PrivateClassifier(epsilon=5.0, columns={"x": (0, 10**6, "paid")}, random_state=3)
    assert set(same.fit(frame, np.full(4000, "a")).predict(test)) == {"a"}
    number = PrivateRegressor(epsilon=2.0, columns={"x": (0, 10**6, "paid")}, target=(0, 1), random_state=3).fit(
        frame, y.astype(float)
    )
    assert np.abs(number.predict(test) - truth).mean() < 0.3
