"""Several classes told apart by one model: exact sums, what one person moves, what it costs, the file and the sweep."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from dpcore.calibration import zcdp_rho
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply
from dpcore.errors import InvalidArgument
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.model import PrivateModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.whole_classes import WholeClasses
from dpcore.releases.whole_codes import SUM_UNIT, clip_units, scale_units
from dpcore.training import (
    BoughtSteps,
    Features,
    ScaledSteps,
    Sweep,
    judge,
    load_model,
    released_estimator,
    scaled_descent,
)
from dpcore.training.scaled_descent import SURE, surest
from dpcore.training.sweep import collect, run_slice

COLUMNS = (
    Column(name="age", type="integer", low=0, high=100),
    Column(name="smokes", type="yes/no"),
    Column(name="job", type="category", categories=("school", "office", "farm")),
)
DECLARED = Declaration(columns=COLUMNS)
SCHEMA = Schema(columns=COLUMNS)


def people(n: int, seed: int = 3) -> pd.DataFrame:
    """School to 25, farm from 60, office between; no line through age tells the middle."""
    rng = np.random.Generator(np.random.SFC64(seed))
    age = rng.integers(0, 101, n)
    job = np.select([age < 25, age >= 60], ["school", "farm"], "office")
    return pd.DataFrame({"age": age.astype(str), "smokes": rng.choice(["yes", "no"], n), "job": job})


def request(epsilon: float = 1.0, declared: Declaration = DECLARED, **changed) -> ScaledModel:
    asked = ScaledModel.of(declared, target="job", columns=["age", "smokes"], apart=True, epsilon=epsilon, delta=1e-5)
    return replace(asked, **changed)


def typed(features: Features, frame: pd.DataFrame) -> tuple[list[np.ndarray], np.ndarray]:
    table = apply(SCHEMA, frame).table(fingerprint="f", lineage="l").frame
    numbers = [column.typed(table[column.name]) for column in features.columns]
    return numbers, features.answers(features.target.typed(table["job"]))


def whole(asked: ScaledModel, frame: pd.DataFrame) -> WholeClasses:
    return asked.read(PrivateRows(frame))


def test_sums_and_cells_are_those_of_the_loop(rng) -> None:
    """Against per-person gradients of the softmax in double precision; units leave 3e-3 a row."""
    asked, frame = request(), people(150)
    numbers, y = typed(asked.features, frame)
    ones, ready = asked.features.coded(numbers, missing=False).dense(), whole(asked, frame)
    for clip in (0.25, 1.4):
        scales, weights = scale_units(rng.uniform(0.1, 2.0, ready.d)), rng.standard_normal((ready.d, 3))
        rows = ones * scales / 4096.0
        slopes = softmax(rows @ weights, axis=1) - np.eye(3)[y.astype(int)]
        parts = rows[:, :, None] * slopes[:, None, :]
        parts *= np.minimum(1.0, clip / np.linalg.norm(parts, axis=(1, 2), keepdims=True))
        found = ready.sums(weights, scales, clip_units(clip)) * SUM_UNIT
        np.testing.assert_allclose(found, parts.sum(axis=0), atol=150 * 3e-3)
    points = rng.standard_normal((ready.d, 3))
    sure, told = surest((ones @ points).astype(np.float32)[:, None, :])
    place = 2 * np.searchsorted(SURE, sure[:, 0], side="right") + (told[:, 0] == y)
    np.testing.assert_array_equal(ready.cells(points), np.bincount(place, minlength=2 * SURE.size + 2))


def test_one_person_s_part_is_exact_and_reaches_the_claim(rng) -> None:
    asked, crowd = request(), people(400, 5)
    extra = pd.concat([people(4, 6), people(1, 7).assign(age="x", smokes=""), people(1, 8).assign(job="")])
    base, largest = whole(asked, crowd), 0.0
    scales, clip = scale_units(rng.uniform(0.1, 2.0, base.d)), clip_units(0.25 * asked.per_clip)
    for k in range(len(extra)):
        one = whole(asked, extra.iloc[[k]])
        more = whole(asked, pd.concat([extra.iloc[[k]], crowd], ignore_index=True))
        for size in (1.0, 5000.0):
            weights = size * rng.standard_normal((base.d, 3))
            sums = [found.sums(weights, scales, clip) for found in (more, base, one)]
            np.testing.assert_array_equal(sums[0] - sums[1], sums[2])
            largest = max(largest, float(np.linalg.norm(sums[2].astype(float))))
            assert one.cells(weights).sum() == (k < len(extra) - 1)
    assert 0.99 * clip < largest <= clip == asked.sums_sensitivity(0.25 * 2**0.5)


@pytest.mark.parametrize(
    ("hidden", "rows_per_person", "sums"), [("add_remove", 1, 1), ("replace_one", 1, 2), ("add_remove", 3, 3)]
)
def test_all_that_is_drawn_adds_up_to_the_cost(drawn, hidden, rows_per_person, sums) -> None:
    """One budget for all classes; a release for each class alone would be seen."""
    declared = replace(DECLARED, rows_per_person=rows_per_person, hidden=hidden)
    asked = request(declared=declared, steps=5)
    assert asked.what == "A model that predicts “job”, all 3 classes apart, from 2 columns"
    answer = asked.answer(PrivateRows(people(60)))
    assert sum(rho for _, rho, _ in drawn) == pytest.approx(asked.cost.rho) == pytest.approx(zcdp_rho(1.0, 1e-5))
    assert [size for _, _, size in drawn] == [len(answer["weights"]) + 1, *[3 * drawn[0][2]] * 5, 28]
    assert {sensitivity for sensitivity, _, _ in drawn[1:6]} == {sums * clip_units(answer["about"]["clip"])}
    assert sum(rho for _, rho, _ in [*drawn, *drawn[1:3]]) > 1.01 * asked.cost.rho


def test_the_released_descent_is_the_simulated_one() -> None:
    """With noise left out of both, their points are the same to what whole units leave, for the same rows."""
    asked, frame = request(people=2000), people(2000)
    ready = whole(asked, frame)
    scales, clip = asked.scales(ready.counts(), 2000, ready.most_ones), asked.clip_for(2000)
    points = asked.descend(lambda weights: ready.sums(weights, scales, clip_units(clip)), 2000, scales)
    numbers, y = typed(asked.features, frame)
    method = ScaledSteps(epsilon=1.0, delta=1e-5, classes=3).descent()
    assert clip == pytest.approx(method.per_clip * float(method.clips(np.array([2000.0]))[0]), rel=0.05)
    floats = (scales / 4096.0).astype(np.float32)[:, None]
    rows = asked.features.coded(numbers, missing=False)
    sums = scaled_descent.ScaledSums(method, rows, y.astype(np.float32), floats, np.array([clip]))
    noise = asked.sums_sensitivity(clip) * SUM_UNIT * asked.noise_of(asked.steps_share / asked.steps)
    other = scaled_descent._descend(method, sums, np.array([2000.0]), np.array([noise]), np.array([2.5]), _Silent())
    np.testing.assert_allclose(points, other[:, 0, :] * floats, atol=0.02)


class _Silent:
    """A generator that draws zeros."""

    def standard_normal(self, shape, dtype=float):
        return np.zeros(shape, dtype=dtype)


def test_a_file_tells_all_classes_and_its_chances_can_be_believed() -> None:
    asked, test = request(epsilon=3.0, steps=100), people(800, 9)
    answer = json.loads(json.dumps(asked.answer(PrivateRows(people(3000)))))
    model = load_model(answer)
    told, chances = np.array(model.predict(test)), model.chances(test)
    assert np.mean(told == test["job"]) > 0.9
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert abs(chances.max(axis=1).mean() - np.mean(told == test["job"])) < 0.08
    assert load_model(model.plain()).predict(test) == told.tolist()
    assert "Tells the classes of the column “job” apart: “school”, “office”, “farm”." in model.card()
    estimator = released_estimator(answer)
    assert estimator.predict_proba(test).shape == (800, 3)
    assert estimator.classes_.tolist() == ["school", "office", "farm"]
    for wrong in ({"version": 1}, {"weights": answer["weights"][:-1]}, {"predicts": answer["predicts"] | {"apart": 1}}):
        with pytest.raises(InvalidArgument):
            load_model(answer | wrong)


def test_a_sweep_of_several_classes_has_its_lines_and_is_judged() -> None:
    features = Features.of(SCHEMA, target="job", apart=True)
    table = apply(SCHEMA, people(600)).table(fingerprint="f", lineage="l")
    prepared, stepped = features.prepare(table), features.stepped
    coded = stepped.coded([column.typed(table.frame[column.name]) for column in stepped.columns], missing=False)
    train, test = np.arange(450), np.arange(450, 600)
    sweep = Sweep(
        X=prepared.X[train],
        y=prepared.y[train],
        X_test=prepared.X[test],
        y_test=prepared.y[test],
        methods=("scaled_descent",),
        epsilon=(0.01, 20.0),
        seeds=3,
        coded=coded.take(train),
        coded_test=coded.take(test),
        classes=3,
    )
    frame = collect(sweep, [run_slice(sweep, part) for part in sweep.parts()])
    assert set(frame["metric"]) == {"accuracy"}
    value = frame.set_index(["method", "epsilon"])["value"]
    commonest = np.bincount(prepared.y[test].astype(int)).max() / 150
    assert value["majority_class", 20.0] == commonest
    assert value["scaled_descent", 20.0] > 0.9
    assert value["non_private", 20.0] > 0.9 > commonest + 0.2
    assert value["scaled_descent", 0.01] < 0.7
    found = judge(sweep, "scaled_descent", 20.0, models=3)
    np.testing.assert_allclose(found.confusion.sum(axis=1), np.bincount(prepared.y[test].astype(int)))
    assert np.trace(found.confusion) / 150 > 0.9
    assert (found.balanced > 0.85).all()
    assert found.gap < 0.2


def test_forms_are_refused_by_name() -> None:
    with pytest.raises(InvalidArgument, match="apart needs a column of three"):
        Features.of(SCHEMA, target="smokes", apart=True)
    with pytest.raises(InvalidArgument, match="positive must be left out"):
        Features.of(SCHEMA, target="job", positive="farm", apart=True)
    with pytest.raises(InvalidArgument, match="one class from the others"):
        PrivateModel.of(DECLARED, target="job", columns=["age"], apart=True, epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match="classes must be 2"):
        ScaledSteps(epsilon=1.0, delta=1e-5, classes=3, loss=scaled_descent.Squared())
    with pytest.raises(InvalidArgument, match="coded rows"):
        ScaledSteps(epsilon=1.0, delta=1e-5, classes=3).fit(np.ones((4, 1)), np.zeros(4), np.random.default_rng(0))
    many = tuple(Column(name=f"c{k}", type="category", categories=tuple("abcdefgh")) for k in range(90))
    with pytest.raises(InvalidArgument, match="for each of 9 classes"):
        Features.of(
            Schema(columns=(*many, Column(name="t", type="category", categories=tuple("abcdefghi")))),
            target="t",
            apart=True,
        )
    wide = tuple(Column(name=f"n{k}", type="number", low=0, high=1) for k in range(90))
    cut = Features.of(Schema(columns=(*wide, COLUMNS[2])), target="job", apart=True).stepped
    assert all(len(column.levels) == 1 for column in cut.columns), "coarse where all levels would take too long to draw"


def test_classes_are_told_apart_on_bought_cuts_too(drawn, rng) -> None:
    """On the page and in a release: both buy the cuts once for all classes, and what is drawn is what is charged."""
    asked = BoughtModel.of(DECLARED, target="job", columns=["age", "smokes"], apart=True, epsilon=4.0, delta=1e-5)
    asked = replace(asked, steps=40)
    model = load_model(asked.answer(PrivateRows(people(1500))))
    test = people(300, 9)
    assert np.mean(np.array(model.predict(test)) == test["job"]) > 0.85
    assert sum(rho for _, rho, _ in drawn) == pytest.approx(asked.cost.rho)
    (numbers, y), (others, truth) = (typed(asked.features, people(1500, seed)) for seed in (1, 2))
    rows, held = (asked.features.uncut_rows(values) for values in (numbers, others))
    fit = BoughtSteps(epsilon=4.0, delta=1e-5, classes=3, steps=40).fit(rows, y, rng)
    assert fit.weights.shape == (1, rows.shape[1], 3)
    assert np.mean(held.margins(fit.weights[0]).argmax(axis=1) == truth) > 0.85
