"""Scaled descent: its sums against a plain loop, how far one row moves them, what it all costs, and broken twins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, ndtri, softmax

from dpcore.conversions import gaussian_delta
from dpcore.errors import InvalidArgument
from dpcore.training import CodedRows, NoisyClassNames, ScaledDescent, scaled_descent
from dpcore.training.coded import Single
from dpcore.training.losses import SQUARED
from dpcore.training.scaled_descent import ScaledSums, calibrating, scaled

SHAPES = (4, 3, 2)  # codes of three columns; the first stands for two ones
KINDS = {"two": {}, "three": {"classes": 3}, "number": {"loss": SQUARED}}


def tables() -> list[np.ndarray]:
    """One-hot steps, the first column in two levels, and the constant."""
    coarse = np.repeat(np.eye(2), 2, axis=0)
    return [np.hstack([coarse, np.eye(4)]), np.eye(3), np.eye(2), np.ones((1, 1))]


def coded(n: int, seed: int = 0) -> CodedRows:
    rng = np.random.Generator(np.random.SFC64(seed))
    return CodedRows.of([*(rng.integers(many, size=n) for many in SHAPES), np.zeros(n, dtype=np.int64)], tables())


def answers(n: int, kind: str, seed: int = 1) -> np.ndarray:
    rng = np.random.Generator(np.random.SFC64(seed))
    if kind == "number":
        return rng.uniform(-1.0, 1.0, n)
    return rng.integers(3, size=n).astype(float) if kind == "three" else rng.choice([-1.0, 1.0], n)


def method(kind: str, **options) -> ScaledDescent:
    return ScaledDescent(**{"epsilon": 1.0, "delta": 1e-5, **KINDS[kind], **options})


def by_loop(x: np.ndarray, y: float, kind: str, weights: np.ndarray, scales: np.ndarray, clip: float) -> np.ndarray:
    """One row's clipped gradient (d, outputs), in double precision, as the docstring has it."""
    row = x * scales
    margins = row @ weights
    if kind == "three":
        residual = softmax(margins)
        residual[int(y)] -= 1.0
    else:
        residual = margins - y if kind == "number" else -y * expit(-y * margins)
    gradient = np.outer(row, residual)
    return gradient * min(1.0, clip / np.linalg.norm(gradient))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_a_plain_loop(kind, rng) -> None:
    """Two models at once, clips that bind for some rows, to single precision and the slack of 1e-5."""
    rows, y = coded(40), answers(40, kind)
    own = method(kind)
    weights = rng.standard_normal((rows.shape[1], 2, own.outputs)).astype(np.float32)
    scales = rng.uniform(0.2, 2.0, (rows.shape[1], 2)).astype(np.float32)
    clip = np.array([0.3, 5.0])
    found = ScaledSums(own, rows, y.astype(np.float32), scales, clip)(weights)
    for model in range(2):
        parts = [
            by_loop(x, one, kind, weights[:, model], scales[:, model], clip[model])
            for x, one in zip(rows.dense(), y, strict=True)
        ]
        np.testing.assert_allclose(found[:, model], np.sum(parts, axis=0), atol=40 * 5.0 * 2e-5)
    flat = weights[:, :, 0]
    np.testing.assert_allclose(rows.margins(flat), rows.dense() @ flat, atol=1e-5)
    np.testing.assert_allclose(rows.counts(), rows.dense().sum(axis=0))
    np.testing.assert_array_equal(rows.take(np.array([3, 5])).dense(), rows.dense()[[3, 5]])
    assert rows.most_ones == 5 == rows.dense().sum(axis=1).max()


def furthest(kind: str, sums: type[ScaledSums], rng: np.random.Generator) -> float:
    """How far, over the clip, one row of any codes moves the sum at random and extreme weights and scales."""
    reached = 0.0
    own = method(kind)
    for trial in range(60):
        row = coded(1, seed=trial)
        y = answers(1, kind, seed=trial)
        weights = 30.0 * rng.standard_normal((row.shape[1], 3, own.outputs)).astype(np.float32)
        scales = np.exp(rng.uniform(-3, 3, (row.shape[1], 3))).astype(np.float32)
        moved = sums(own, row, y.astype(np.float32), scales, np.full(3, 0.25))(weights)
        reached = max(reached, float(np.sqrt((moved.astype(float) ** 2).sum(axis=(0, 2))).max()) / 0.25)
    return reached


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_moves_a_sum_by_the_clip_at_most(kind, rng) -> None:
    """Reached, never passed, whatever the scales; the twin that caps slopes without looking at the scales is caught."""

    class Unscaled(ScaledSums):
        def __init__(self, *given) -> None:
            super().__init__(*given)
            self._lengths = self._rows.table(np.ones_like(self._scales))

    assert 0.99 < furthest(kind, ScaledSums, rng) <= 1.0
    assert furthest(kind, Unscaled, rng) > 1.5


@pytest.mark.parametrize("kind", KINDS)
def test_the_shares_add_up_to_the_whole(kind) -> None:
    """Σ (sensitivity/noise)² over all releases is 1/σ² exactly; forgetting √m in the counts would be seen."""
    own = method(kind, calibration_share=0.0 if kind == "number" else 0.03, names_share=0.1)
    ones, steps = 5, own.steps
    spent = {
        "counts": ones / own.counts_noise(ones) ** 2,
        "steps": steps / own.step_noise**2,
        "calibration": 1.0 / own.calibration_noise**2,
        "names": 1.0 / own.names_noise**2,
    }
    assert sum(spent.values()) == pytest.approx(1.0 / own.noise_multiplier**2, rel=1e-12)
    assert gaussian_delta(sum(spent.values()) ** -0.5, 1.0) == pytest.approx(1e-5, rel=1e-6)
    twin = spent | {"counts": ones**2 / own.counts_noise(ones) ** 2}
    assert gaussian_delta(sum(twin.values()) ** -0.5, 1.0) > 1.5e-5
    assert own.cost.epsilon == 1.0


def test_noise_on_the_counts_has_the_stated_spread(rng) -> None:
    """Standard deviation of 4,000 noisy numbers of rows to 5 %, four and a half standard errors."""
    rows = coded(5000)
    people, scales = scaled(rows, np.full(4000, 40.0), rng)
    assert np.std(people) == pytest.approx(40.0, rel=0.05)
    shares = rows.counts() / 5000
    np.testing.assert_allclose((shares[:, None] * scales**2).sum(axis=0), 1.0, atol=0.08)


def separation(kind: type[ScaledDescent], rng: np.random.Generator) -> float:
    """Over the stated 1/σ, how far apart a fitted model's margin on one row's ones is with and without that row.

    The first step is at weights 0, so one step tells most. Noise is Gaussian: distance over spread is the μ of the
    pair, from 2 × 6,000 models, standard error about 1.8 %·√(1 + 1/μ²)/μ of it.
    """
    without = CodedRows.of([np.zeros(0, dtype=np.int64)] * 4, tables())
    row = coded(1)
    own = kind(epsilon=6.0, delta=1e-2, steps=1, counts_share=0.01, calibration_share=0.0, momentum=0.0, clip=0.25)
    margins = []
    for rows, y in ((without, np.zeros(0)), (row, np.ones(1))):
        fitted = own.fit(rows, y, rng, 6000)
        margin = row.margins(fitted.weights[:, :, 0].T)[0].astype(float)
        margins.append(margin)
    spread = np.median(np.abs(margins[0])) / ndtri(0.75)
    return float(np.median(margins[1]) / spread * own.noise_multiplier)


def test_an_audit_from_outside_finds_no_more_than_stated(rng, monkeypatch) -> None:
    """One person or nobody, seen from the released weights; a twin with a third of the noise is caught.

    The scales are fixed here, as data that other people decide would fix them.
    """

    class Quiet(ScaledDescent):
        @property
        def step_noise(self) -> float:
            return super().step_noise / 3.0

    def fixed(rows: CodedRows, noise: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, Single]:
        return np.ones_like(noise), np.ones((rows.shape[1], noise.shape[0]), dtype=np.float32)

    monkeypatch.setattr(scaled_descent, "scaled", fixed)
    assert 0.85 < separation(ScaledDescent, rng) < 1.1
    assert separation(Quiet, rng) > 2.5


def test_the_number_of_rows_is_not_used_but_through_noisy_counts(monkeypatch, rng) -> None:
    """With noisy counts and sums held fixed, 30 rows and 31 give the same weights to the last bit."""
    fixed = (np.array([25.0]), np.ones((coded(1).shape[1], 1), dtype=np.float32))
    monkeypatch.setattr(scaled_descent, "scaled", lambda rows, noise, rng: fixed)
    monkeypatch.setattr(ScaledSums, "__call__", lambda self, weights: np.full_like(weights, 0.1))
    monkeypatch.setattr(ScaledSums, "cells", lambda self, weights: np.ones((1, 14, 2)))
    found = [
        ScaledDescent(epsilon=1.0, delta=1e-5).fit(coded(n), answers(n, "two"), np.random.Generator(np.random.SFC64(3)))
        for n in (30, 31)
    ]
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    assert found[0].factors == found[1].factors


@pytest.mark.parametrize("kind", ["two", "three"])
def test_calibration_counts_each_row_once(kind, rng) -> None:
    """One row more is one more in one cell: sensitivity 1."""
    own = method(kind)
    weights = rng.standard_normal((coded(1).shape[1], 2, own.outputs)).astype(np.float32)
    scales = np.ones((coded(1).shape[1], 2), dtype=np.float32)
    rows, y = coded(31), answers(31, kind).astype(np.float32)
    cells = [ScaledSums(own, rows.take(np.arange(n)), y[:n], scales, np.ones(2)).cells(weights) for n in (30, 31)]
    moved = cells[1] - cells[0]
    assert (moved >= 0.0).all()
    np.testing.assert_array_equal(moved.sum(axis=(1, 2)), 1.0)


def test_the_factor_finds_what_was_done_to_the_chances(rng) -> None:
    """Log-odds three times too sure give a factor of a third, to 15 %; with noise far above the counts it is near 1."""
    true = rng.normal(0.0, 1.5, 40_000)
    right = rng.random(40_000) < expit(np.abs(true))
    bins = np.searchsorted(scaled_descent.SURE, 3.0 * np.abs(true), side="right")
    cells = np.bincount(2 * bins + right, minlength=28).reshape(-1, 2).astype(float)
    assert calibrating(cells, 1.0) == pytest.approx(1 / 3, rel=0.15)
    assert 0.7 < calibrating(cells, 1e6) < 1.4


def test_it_learns_and_several_levels_at_once_are_each_private_models(rng) -> None:
    """Three classes told by one column; more ε tells more; weights of different replicas differ."""
    rows = coded(6000)
    y = rows.codes[:, 1].astype(float)
    methods = [ScaledDescent(epsilon=level, delta=1e-5, classes=3, steps=60) for level in (0.02, 2.0)]
    fits = ScaledDescent.fit_all(methods, rows, y, rng, 2)
    share = [np.mean([(rows.margins(one).argmax(axis=1) == y).mean() for one in fitted.weights]) for fitted in fits]
    assert share[1] > 0.99
    assert share[1] >= share[0]
    assert np.abs(fits[0].weights[0] - fits[0].weights[1]).max() > 0.01
    assert fits[0].cost.epsilon == 0.02


@pytest.mark.parametrize("options", [
    {"epsilon": 0.0}, {"delta": 0.0}, {"classes": 1}, {"steps": 0}, {"clip": -1.0}, {"counts_share": 0.99},
    {"calibration_share": 1.0}, {"loss": replace(SQUARED, ridge=1.0)}, {"momentum": 1.0},
])  # fmt: skip
def test_settings_that_mean_nothing_are_refused(options) -> None:
    with pytest.raises(InvalidArgument):
        ScaledDescent(**{"epsilon": 1.0, "delta": 1e-5, **options})


@pytest.mark.parametrize(
    ("kind", "y"), [("two", [0.0, 1.0]), ("three", [0.0, 3.0]), ("number", [0.0, 2.0]), ("two", [1.0])]
)
def test_answers_that_the_proof_does_not_cover_are_refused(kind, y, rng) -> None:
    with pytest.raises(InvalidArgument):
        method(kind).fit(coded(2), np.array(y), rng)


def names_delta(finder: NoisyClassNames, epsilon: float, many: int) -> float:
    """The exact δ at ε between tables with names a (``many`` rows) and with one more row, of a new name or of a."""
    worst = 0.0
    for with_row, without in (({"a": many, "b": 1}, {"a": many}), ({"a": many + 1}, {"a": many})):
        laws = []
        for counts in (with_row, without):
            a, b = (finder.chance(counts.get(name, 0)) for name in "ab")
            laws.append(np.array([(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b]))
        for one, other in ((0, 1), (1, 0)):
            worst = max(worst, float(np.maximum(laws[one] - math.exp(epsilon) * laws[other], 0.0).sum()))
    return worst


def test_class_names_are_private_and_a_name_of_one_person_stays_hidden(rng) -> None:
    """Exact δ over neighbours at every count is within the stated one; a threshold of 1.5 rows is caught."""
    failure = 1e-3
    finder = NoisyClassNames(noise=4.0, failure=failure)
    assert finder.chance(1) == pytest.approx(failure)
    assert finder.chance(0) == 0.0
    stated = gaussian_delta(4.0, 0.5) + failure / (1 - failure)
    assert max(names_delta(finder, 0.5, many) for many in range(1, 40)) <= stated
    twin = NoisyClassNames(noise=4.0, failure=0.45)
    assert twin.threshold == pytest.approx(1.5, abs=0.01)
    assert names_delta(twin, 0.5, 20) > stated
    drawn = [finder.draw({"z": 1, "b": 500, "a": 14}, rng) for _ in range(300)]
    assert all("b" in names and names == sorted(names) for names in drawn)
    seen = sum("a" in names for names in drawn)
    assert abs(seen - 300 * finder.chance(14)) < 4.5 * math.sqrt(300 * 0.25)
    assert sum("z" in names for names in drawn) <= 5
