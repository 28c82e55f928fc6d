"""The released model on steps: exact sums in whole numbers, one person's part, what it all costs, and predicting."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dpcore.calibration import zcdp_rho
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply
from dpcore.errors import InvalidArgument
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.whole_codes import SUM_UNIT, WholeCodes, clip_units, scale_units
from dpcore.training import CodedRows, DenseRows, ScaledSteps, load_model, scaled_descent
from dpcore.training.losses import SQUARED

COLUMNS = (
    Column(name="age", type="integer", low=0, high=100),
    Column(name="job", type="category", categories=("office", "farm", "school")),
    Column(name="smokes", type="yes/no"),
    Column(name="since", type="date", earliest=date(2000, 1, 1), latest=date(2020, 1, 1)),
    Column(name="ill", type="yes/no"),
    Column(name="cost", type="number", low=0, high=1000),
)
DECLARED = Declaration(columns=COLUMNS)
FROM = ["age", "job", "smokes", "since"]


def cells(n: int, seed: int = 3) -> pd.DataFrame:
    """Ill are those between 40 and 60 and most farmers: no straight line tells the former from both ends."""
    rng = np.random.Generator(np.random.SFC64(seed))
    age, job = rng.integers(0, 101, n), rng.choice(["office", "farm", "school"], n)
    ill = (abs(age - 50) < 10) | ((job == "farm") & (rng.random(n) < 0.8))
    return pd.DataFrame(
        {
            "age": age.astype(str),
            "job": job,
            "smokes": rng.choice(["yes", "no"], n),
            "since": [f"20{k % 20:02d}-0{k % 9 + 1}-11" for k in rng.integers(0, 200, n)],
            "ill": np.where(ill, "yes", "no"),
            "cost": (400 * ill + age).astype(str),
        }
    )


def request(target: str = "ill", epsilon: float = 1.0, declared: Declaration = DECLARED, **changed) -> ScaledModel:
    return replace(ScaledModel.of(declared, target=target, columns=FROM, epsilon=epsilon, delta=1e-5), **changed)


def whole(asked: ScaledModel, frame: pd.DataFrame) -> WholeCodes:
    return asked.read(PrivateRows(frame))


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_sums_are_those_of_the_loop(target, rng) -> None:
    """Against per-person gradients in double precision, of rows of ones times scales; units leave 2e-3 a row."""
    asked, frame = request(target), cells(150)
    table = apply(Schema(columns=COLUMNS), frame).table(fingerprint="f", lineage="l").frame
    typed = [column.typed(table[column.name]) for column in asked.features.columns]
    ones = asked.features.coded(typed, missing=False).dense()
    y = asked.features.answers(asked.features.target.typed(table[target]))
    ready = whole(asked, frame)
    np.testing.assert_array_equal(ready.counts(), ones.sum(axis=0))
    assert ready.most_ones == ones.sum(axis=1).max()
    for clip in (0.25, 1.0):
        scales, weights = scale_units(rng.uniform(0.1, 2.0, ready.d)), rng.standard_normal(ready.d)
        rows = ones * scales / 4096.0
        margins = rows @ weights
        slopes = (margins - y) if target == "cost" else -y * expit(-y * margins)
        parts = slopes[:, None] * rows
        parts *= np.minimum(1.0, clip / np.linalg.norm(parts, axis=1, keepdims=True))
        found = ready.sums(weights, scales, clip_units(clip)) * SUM_UNIT
        np.testing.assert_allclose(found, parts.sum(axis=0), atol=150 * 2e-3)


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_one_person_s_part_is_exact_whoever_else_is_there(target, rng) -> None:
    """Adding a row changes all that is drawn from by its own, to the last unit, and the largest is at the claim.

    More rows than one chunk holds; weights up to where points stop; a row of gaps; one without an answer adds nothing.
    """
    asked = request(target)
    crowd = cells(70_000, 5)
    gaps = cells(2, 7).assign(age="unknown", job="circus", since="")
    extra = pd.concat([cells(4, 6), gaps, cells(1, 8).assign(**{target: ""})], ignore_index=True)
    base, largest = whole(asked, crowd), 0.0
    scales = scale_units(rng.uniform(0.1, 2.0, base.d))
    for k in range(len(extra)):
        one = whole(asked, extra.iloc[[k]])
        more = whole(asked, pd.concat([extra.iloc[[k]], crowd], ignore_index=True))
        np.testing.assert_array_equal(more.counts() - base.counts(), one.counts())
        assert np.linalg.norm(one.counts()) <= asked.counts_sensitivity(base.most_ones) + 1e-9
        for size in (1.0, 5000.0):
            weights = size * np.ones(base.d)
            sums = [found.sums(weights, scales, clip_units(0.25)) for found in (more, base, one)]
            np.testing.assert_array_equal(sums[0] - sums[1], sums[2])
            largest = max(largest, float(np.linalg.norm(sums[2].astype(float))))
            assert one.cells(weights).sum() <= 1
        if k == len(extra) - 1:
            assert one.rows == 0
            assert not one.counts().any()
    assert 0.99 * asked.sums_sensitivity(0.25) < largest <= asked.sums_sensitivity(0.25)


@pytest.mark.parametrize("target", ["ill", "cost"])
@pytest.mark.parametrize(
    ("hidden", "rows_per_person", "sums", "counts"),
    [("add_remove", 1, 1, 1.0), ("replace_one", 1, 2, 2**0.5), ("add_remove", 3, 3, 3.0)],
)
def test_all_that_is_drawn_adds_up_to_the_cost(drawn, target, hidden, rows_per_person, sums, counts) -> None:
    """Every draw with the sensitivity that the declaration asks for; their ρ are the ρ of the cost together. A step
    more than is counted would be seen."""
    declared = replace(DECLARED, rows_per_person=rows_per_person, hidden=hidden)
    asked, frame = request(target, declared=declared, steps=20), cells(60)
    answer = asked.answer(PrivateRows(frame))
    assert sum(rho for _, rho, _ in drawn) == pytest.approx(asked.cost.rho) == pytest.approx(zcdp_rho(1.0, 1e-5))
    assert len(drawn) == 21 + (target == "ill")
    most = whole(asked, frame).most_ones
    assert drawn[0][0] == pytest.approx(counts * most**0.5)
    assert {sensitivity for sensitivity, _, _ in drawn[1:21]} == {sums * clip_units(answer["about"]["clip"])}
    if target == "ill":
        assert drawn[-1][0] == pytest.approx(counts)
    drawn.append(drawn[1])
    assert sum(rho for _, rho, _ in drawn) > 1.01 * asked.cost.rho


def test_it_tells_what_no_line_tells_and_its_chances_can_be_believed() -> None:
    """At ε = 2 on 6,000 rows; the file says which cuts were declared and that the number of rows is a noisy count."""
    asked, frame = request(epsilon=2.0), cells(6000)
    answer = json.loads(json.dumps(asked.answer(PrivateRows(frame))))
    model, test = load_model(answer), cells(3000, 9)
    right = np.mean(np.array(model.predict(test)) == test["ill"])
    assert right > 0.88, "a straight line is right about 81 in 100 times"
    chance = model.chances(test)
    assert abs(chance.mean() - (test["ill"] == "yes").mean()) < 0.05
    sure = chance > 0.5
    assert abs(chance[sure].mean() - (test["ill"][sure] == "yes").mean()) < 0.08
    assert model.features.columns[0].levels == asked.features.columns[0].levels
    assert len(model.features.columns[0].levels) == 2
    about = answer["about"]
    assert about["people_from"] == "noisy count"
    assert 5000 < about["people"] < 7000
    assert "accuracy" not in json.dumps(answer)


def test_a_number_on_steps() -> None:
    asked, frame = request("cost", epsilon=5.0), cells(5000)
    model, test = load_model(asked.answer(PrivateRows(frame))), cells(1000, 9)
    wrong = np.abs(np.array(model.predict(test)) - test["cost"].astype(float))
    assert wrong.mean() < 0.75 * np.abs(test["cost"].astype(float) - test["cost"].astype(float).mean()).mean()


def test_the_released_descent_is_the_simulated_one() -> None:
    """With noise left out of both, their points are the same to what whole units leave, for the same rows."""
    asked, frame = request(people=2000), cells(2000)
    ready = whole(asked, frame)
    counts, people = ready.counts(), 2000
    scales, clip = asked.scales(counts, people, ready.most_ones), asked.clip_for(people)
    points = asked.descend(lambda weights: ready.sums(weights, scales, clip_units(clip)), people, scales)
    table = apply(Schema(columns=COLUMNS), frame).table(fingerprint="f", lineage="l").frame
    typed = [column.typed(table[column.name]) for column in asked.features.columns]
    rows = asked.features.coded(typed, missing=False)
    y = asked.features.answers(asked.features.target.typed(table["ill"]))
    method = ScaledSteps(epsilon=1.0, delta=1e-5, clip=clip).descent()
    floats = (scales / 4096.0).astype(np.float32)[:, None]
    sums = scaled_descent.ScaledSums(method, rows, y.astype(np.float32), floats, np.array([clip]))
    noise = asked.sums_sensitivity(clip) * SUM_UNIT * asked.noise_of(asked.steps_share / asked.steps)
    other = scaled_descent._descend(method, sums, np.array([2000.0]), np.array([noise]), np.array([2.5]), _Silent())
    np.testing.assert_allclose(points, (other[:, 0, 0] * floats[:, 0]), atol=0.02)


class _Silent:
    """A generator that draws zeros."""

    def standard_normal(self, shape, dtype=float):
        return np.zeros(shape, dtype=dtype)


def test_forms_are_refused_by_name() -> None:
    for name, bad in (("clip", 2.0), ("counts_share", 0.0), ("calibration_share", 0.95), ("steps", 0), ("delta", 0.0)):
        with pytest.raises(InvalidArgument, match=name):
            request(**{name: bad})
    line = request().features
    with pytest.raises(InvalidArgument, match="features"):
        request(features=replace(line, columns=(replace(line.columns[0], levels=()), *line.columns[1:])))
    with pytest.raises(InvalidArgument, match="fit"):
        request(declared=replace(DECLARED, rows_per_person=10**6), epsilon=0.01)


def test_points_of_ones_are_weights_of_rows(rng) -> None:
    """A model's file predicts by ``rows``; the descent knows ones: their margins are the same."""
    features = request().features
    table = apply(Schema(columns=COLUMNS), cells(60)).table(fingerprint="f", lineage="l").frame
    typed = [column.typed(table[column.name]) for column in features.columns]
    coded = features.coded(typed, missing=False)
    points = rng.standard_normal(coded.shape[1])
    np.testing.assert_allclose(features.rows(typed) @ features.as_weights(points), coded.dense() @ points, atol=1e-9)


def test_plain_rows_move_sums_of_squares_by_at_most_one(rng) -> None:
    """What ``DenseRows`` counts, and its gradient sums against the coded ones of the same rows."""
    codes = rng.integers(3, size=80)
    coded = CodedRows.of([codes, np.zeros(80, dtype=np.int64)], [np.eye(3), np.ones((1, 1))])
    X = coded.dense() / np.sqrt(2.0)
    dense = DenseRows(X)
    assert all(np.linalg.norm(DenseRows(row[None]).counts()) <= dense.most_ones for row in X)
    y = rng.uniform(-1, 1, 80)
    method = ScaledSteps(epsilon=1.0, delta=1e-5, loss=SQUARED).descent()
    scales = rng.uniform(0.5, 1.0, (4, 2)).astype(np.float32)
    weights = rng.standard_normal((4, 2, 1)).astype(np.float32)
    clip = np.array([0.3, 3.0])
    sums = [
        scaled_descent.ScaledSums(method, rows, y.astype(np.float32), own, clip)(weights)
        for rows, own in ((coded, scales), (dense, scales * np.float32(2**0.5)))
    ]
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("hidden", ["add_remove", "replace_one"])
def test_a_replaced_row_has_the_noise_for_it(hidden) -> None:
    plain, other = (ScaledSteps(epsilon=1.0, delta=1e-5, neighbours=who).descent() for who in ("add_remove", hidden))
    factor = 1.0 if hidden == "add_remove" else 2.0
    assert other.step_noise == pytest.approx(factor * plain.step_noise)
    assert other.counts_noise(4) == pytest.approx(factor**0.5 * plain.counts_noise(4))
    assert other.calibration_noise == pytest.approx(factor**0.5 * plain.calibration_noise)
    assert other.cost == plain.cost
