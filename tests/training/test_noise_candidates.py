"""The candidates that ``benchmarks.noise`` races: each publishes what it says that it publishes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.noise_newton import inverse_moves, newton, sums
from benchmarks.noise_steps import Begun, GroupSums, descended, groups, mirrored, noise_variances, p_norm, shrunk
from dpcore.training import CodedRows, Encoding, ScaledDescent, cut
from dpcore.training.encoding import coded

OPTIONS = Encoding(name="a", kind="category", categories=("x", "y", "z"))
NUMBER = cut(Encoding(name="b", kind="number", low=0.0, high=10.0))


def rows_of(n: int, seed: int = 1) -> tuple[CodedRows, np.ndarray]:
    rng = np.random.Generator(np.random.SFC64(seed))
    typed = [rng.choice(3, n, p=[0.9, 0.09, 0.01]).astype(float), NUMBER.scaled(rng.random(n) * 10.0)]
    return coded([OPTIONS, NUMBER], typed), np.where(rng.random(n) < 0.4, 1.0, -1.0)


def begun(n: int = 300, classes: int = 2) -> tuple[Begun, np.random.Generator]:
    rows, y = rows_of(n)
    rng = np.random.Generator(np.random.SFC64(3))
    methods = [ScaledDescent(epsilon=one, delta=1e-5, classes=classes, steps=20) for one in (0.5, 2.0)]
    return Begun.of(methods, rows, y if classes == 2 else (y + 1.0) / 2.0, rng, 2), rng


@pytest.mark.parametrize("classes", [2, 3])
def test_the_descent_that_is_raced_is_the_products(classes: int) -> None:
    made, rng = begun(classes=classes)
    mine = made.finished(descended(made, made.clipped_whole(), rng), rng)
    again = np.random.Generator(np.random.SFC64(3))
    fits = ScaledDescent.fit_all(made.methods, made.rows, made.answers.astype(float), again, 2)
    assert np.array_equal(mine, np.concatenate([fit.weights * fit.factors[:, None, None] for fit in fits]))


@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_moves_sums_clipped_by_column_by_no_more_than_the_clip(classes: int) -> None:
    made, rng = begun(classes=classes)
    weights = rng.standard_normal((made.rows.shape[1], 4, made.methods[0].outputs)).astype(np.float32)
    moved = []
    for row in range(40):
        one = replace(made, rows=made.rows.take(np.array([row])), answers=made.answers[[row]])
        moved.append(np.sqrt((GroupSums(one)(weights) ** 2).sum(axis=(0, 2))) / made.clip)
    assert np.max(moved) <= 1.0
    assert np.max(moved) > 0.8
    free = replace(made, clip=np.full(4, 1e6))
    assert np.allclose(GroupSums(free)(weights), free.clipped_whole()(weights), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(("bend", "ridge"), [(0.25, 0.3), (1.0, 1.0), (0.25, 20.0)])
def test_one_row_moves_the_inverse_by_no_more_than_is_claimed(bend: float, ridge: float) -> None:
    rng = np.random.Generator(np.random.SFC64(4))
    found = []
    for spread in (0.0, 0.01, 1.0):
        roots = spread * rng.standard_normal((6, 4))
        base = roots.T @ roots + ridge * np.eye(4)
        v = rng.standard_normal(4)
        v *= np.sqrt(bend) / np.linalg.norm(v)
        found.append(np.linalg.norm(np.linalg.inv(base) - np.linalg.inv(base + np.outer(v, v)), 2))
    assert max(found) == pytest.approx(inverse_moves(bend, ridge), rel=1e-9)  # reached where there are no other rows


@pytest.mark.parametrize("logistic", [True, False])
def test_newtons_parabola_is_nowhere_below_the_loss(logistic: bool) -> None:
    X, y = np.ones((1, 1), dtype=np.float32), np.ones(1, dtype=np.float32)

    def loss(w: float) -> float:
        if logistic:
            return float(np.logaddexp(0.0, -w))
        off = abs(w - 1.0)
        return 0.5 * off**2 if off <= 0.5 else 0.5 * (off - 0.25)

    for at in (-3.0, -0.2, 0.4, 2.0):
        gradient, hessian = sums(X, y, np.array([at]), logistic=logistic, cap=0.5)
        for w in np.linspace(-6.0, 6.0, 49):
            above = loss(at) + float(gradient[0]) * (w - at) + 0.5 * float(hessian[0, 0]) * (w - at) ** 2
            assert above >= loss(float(w)) - 1e-5


def test_noise_has_the_variance_that_shrinking_takes_it_for() -> None:
    """Of steps on a parabola in each number alone, as it assumes; and the constant is not shrunk."""
    rows, y = rows_of(300)
    methods = [ScaledDescent(epsilon=1.0, delta=1e-5, steps=20)]
    made = Begun.of(methods, rows, y, np.random.Generator(np.random.SFC64(3)), 400)
    made = replace(made, people=np.full(400, 300.0), loads=np.repeat(made.loads[:, :1], 400, axis=1))
    pull = (made.smoothness * made.loads * made.people)[:, :, None].astype(np.float32)
    drawn = descended(made, lambda weights: pull * weights, np.random.Generator(np.random.SFC64(5)))
    claimed = noise_variances(made)
    assert drawn.var(axis=1)[:, 0].mean() == pytest.approx(claimed[:, 0].mean(), rel=0.1)
    small = shrunk(made, drawn)
    assert np.array_equal(small[groups(rows)[-1]], drawn[groups(rows)[-1]])
    assert (np.abs(small) <= np.abs(drawn)).all()
    assert np.abs(small[:-1]).mean() < 0.5 * np.abs(drawn[:-1]).mean()


def test_the_mirror_is_its_norms_gradient_and_plain_for_two() -> None:
    dual = np.random.Generator(np.random.SFC64(6)).standard_normal((5, 1)).astype(np.float32)
    assert np.allclose(p_norm(dual, 2.0), dual, atol=1e-6)
    power, step = 5.0, 1e-3

    def half(values: np.ndarray) -> float:
        return 0.5 * float((np.abs(values) ** power).sum() ** (2.0 / power))

    for place in range(5):
        moved = np.zeros((5, 1))
        moved[place] = step
        slope = (half(dual.astype(float) + moved) - half(dual.astype(float) - moved)) / (2.0 * step)
        assert p_norm(dual, power)[place, 0] == pytest.approx(slope, abs=1e-3)


def test_all_candidates_learn_with_much_budget() -> None:
    rows, _ = rows_of(3000)
    y = np.where(rows.codes[:, 1] < np.median(rows.codes[:, 1]), 1.0, -1.0)
    method = ScaledDescent(epsilon=1e4, delta=1e-5, steps=60)
    for way in (lambda made, rng: mirrored(made, rng), lambda made, rng: newton(made, rng, spoilt=0.001),
                lambda made, rng: descended(made, GroupSums(made), rng)):  # fmt: skip
        rng = np.random.Generator(np.random.SFC64(7))
        made = Begun.of([method], rows, y, rng, 1)
        weights = made.finished(way(made, rng), rng)[0]
        assert ((rows.margins(weights)[:, 0] > 0.0) == (y > 0.0)).mean() > 0.9
