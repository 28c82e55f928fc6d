"""α against the number of queries, its split into two noises, the two kinds of error, and the theorem."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.thresholding import AboveThreshold, Sparse, alpha_against_queries, alpha_split, error_kinds
from dpcore.thresholding.theory import theorems

WATCHERS = [
    AboveThreshold(epsilon=1.0),
    AboveThreshold(epsilon=0.5, noise="exponential"),
    AboveThreshold.tuned(epsilon=1.0, k=200),
    Sparse(epsilon=1.0, limit=3),
]


@pytest.mark.parametrize("watcher", WATCHERS, ids=["book", "exponential", "tuned", "sparse"])
def test_each_noise_alone_against_draws(watcher) -> None:
    """With one noise taken away a run on the worst series is right 1 − β of the time at that noise's α (four standard
    errors of 20,000 runs), and the whole lies between the larger part and the sum at β/2 each."""
    k, beta, size, rng = 40, 0.1, 20_000, np.random.default_rng(0)
    pair, limit = watcher.scales, getattr(watcher, "limit", 1)
    split = alpha_split(watcher, k, beta)
    rho = pair.draw_threshold(rng, (size, 1))
    nu = pair.draw_queries(rng, (size, k))
    for alpha, noise in ((split.threshold, -rho), (split.queries, nu), (split.exact, nu - rho)):
        lows = (noise[:, : k - limit] if noise.shape[1] > 1 else noise) - alpha - watcher.offset
        highs = (noise[:, k - limit :] if noise.shape[1] > 1 else noise) + alpha - watcher.offset
        right = ((lows < 0).all(axis=1) & (highs >= 0).all(axis=1)).mean()
        if alpha > 0:
            assert abs(right - (1 - beta)) <= 4 * math.sqrt(beta * (1 - beta) / size)
    halves = alpha_split(watcher, k, beta / 2)
    assert split.exact <= halves.threshold + halves.queries + 1e-9
    assert split.exact <= split.theorem


def test_the_two_kinds_of_error_are_beta_together() -> None:
    for watcher in WATCHERS:
        split = alpha_split(watcher, 100, 0.05)
        kinds = error_kinds(watcher, 100, split.exact)
        assert kinds.either == pytest.approx(0.05, rel=1e-5)
        assert min(kinds.false_alarm, kinds.missed) > 0
    one = error_kinds(WATCHERS[0], 1, 3.0)
    assert one.false_alarm == 0.0  # a single answer far above the line: it can only be missed


def test_alpha_against_queries() -> None:
    """Up to 10⁹ queries: α grows like ln k, the theorem's is above it, the threshold's part stays."""
    frame = alpha_against_queries(WATCHERS[0], np.geomspace(1, 1e9, 10).astype(int))
    assert (np.diff(frame["exact"]) > 0).all()
    assert (frame["exact"] < frame["theorem"]).all()
    assert np.ptp(frame["threshold"][1:]) < 1e-9
    book = theorems()["above_threshold"]
    np.testing.assert_allclose(book.value(k=frame["k"], epsilon=1.0, beta=0.05), frame["theorem"])
    growth = np.diff(frame["queries"])[3:] / np.diff(np.log(frame["k"]))[3:]
    np.testing.assert_allclose(growth, 4.0, rtol=1e-3)  # the queries' noise has scale 4 at ε = 1
    loose = book.loose_by(frame["exact"], k=frame["k"], epsilon=1.0)
    assert (loose > 1.5).all()
