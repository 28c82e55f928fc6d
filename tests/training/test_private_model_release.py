"""The released model: exact sums in whole numbers, one person's part in them, the noise, and predicting from JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from dpcore.calibration import zcdp_rho
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply, load_sample, sample_rows
from dpcore.datasets.schema import CLOSEST, FARTHEST
from dpcore.errors import InvalidArgument, ReleaseRefused
from dpcore.ledger import Ledger
from dpcore.release import question_digest, release
from dpcore.releases import catalog, draws
from dpcore.releases.model import PrivateModel
from dpcore.releases.whole_rows import SUM_UNIT, WholeRows, clip_units
from dpcore.training import NoisyGradientDescent, accuracy, load_model, predict
from dpcore.training.encoding import Encoding
from dpcore.training.losses import LOGISTIC, SQUARED

COLUMNS = (
    Column(name="age", type="integer", low=0, high=100),
    Column(name="height", type="number", low=1.0, high=2.2),
    Column(name="job", type="category", categories=("office", "farm", "school")),
    Column(name="since", type="date", earliest=date(2000, 1, 1), latest=date(2020, 1, 1)),
    Column(name="ill", type="yes/no"),
)
SCHEMA = Schema(columns=COLUMNS)


def cells(n: int, seed: int = 3) -> pd.DataFrame:
    rng = np.random.Generator(np.random.SFC64(seed))
    return pd.DataFrame(
        {
            "age": rng.integers(0, 101, n).astype(str),
            "height": rng.uniform(1.0, 2.2, n).round(3).astype(str),
            "job": rng.choice(["office", "farm", "school"], n),
            "since": [f"20{k % 20:02d}-0{k % 9 + 1}-11" for k in rng.integers(0, 200, n)],
            "ill": rng.choice(["yes", "no"], n),
        }
    )


DECLARED = Declaration(columns=COLUMNS, people=400)


def table(frame: pd.DataFrame):
    return apply(SCHEMA, frame).table(fingerprint="f", lineage="l")


def request(target: str = "ill", **changed) -> PrivateModel:
    names = [column.name for column in COLUMNS if column.name != target]
    made = PrivateModel.of(DECLARED, target=target, columns=names, epsilon=1.0, delta=1e-5)
    return replace(made, **changed)


def whole(asked: PrivateModel, frame: pd.DataFrame) -> WholeRows:
    return asked.read(PrivateRows(frame))


@pytest.mark.parametrize("target", ["ill", "height"])
def test_sums_are_those_of_the_loop(target, rng) -> None:
    """Against per-person gradients in double precision: the units and the table's step of 2⁻¹² leave 1e-3 a row."""
    asked = request(target, clip=0.3)
    frame = cells(200)
    ready = asked.features.prepare(table(frame))
    loss = LOGISTIC if target == "ill" else SQUARED
    for _ in range(5):
        weights = rng.standard_normal(asked.features.d) * 3
        slopes = loss.slopes(ready.X @ weights, ready.y)
        gradients = slopes[:, None] * ready.X
        lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
        exact = (gradients * np.minimum(1.0, 0.3 / np.maximum(lengths, 1e-12))).sum(axis=0)
        np.testing.assert_allclose(whole(asked, frame).sums(weights) * SUM_UNIT, exact, atol=200 * 1e-3)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-FARTHEST, FARTHEST), (-FARTHEST, 0.7 * FARTHEST), (0.0, CLOSEST), (1e9, 1e9 * (1 + 1e-12)), (0, 9)],
)
def test_no_cell_moves_the_sums_by_more_than_is_covered(low: float, high: float) -> None:
    declared = Declaration(columns=(Column(name="x", type="number", low=low, high=high), COLUMNS[-1]), people=300)
    asked = PrivateModel.of(declared, target="ill", columns=["x"], epsilon=0.1, delta=1e-6)
    weights = np.zeros(asked.features.d)

    def sums(*odd: str) -> np.ndarray:
        frame = pd.DataFrame({"x": [""] * 30 + list(odd), "ill": ["yes", "no"] * 15 + ["yes"] * len(odd)}, dtype=str)
        return whole(asked, frame).sums(weights).astype(float)

    before = sums()
    for cell in ("", "50", "1e308", "-1e308", "9" * 400, "nan", "inf", "-Infinity", "5e-324", repr(low), repr(high)):
        assert np.linalg.norm(sums(cell) - before) <= asked.sensitivity, cell


@pytest.mark.parametrize("low", [-1e308, -1e100, -5e-324, 0.0, 1.0])
@pytest.mark.parametrize("high", [7e307, 1e100, 5e-324, 1.0 + 2**-52])
def test_a_scaled_number_lies_within_one_of_the_middle(low: float, high: float) -> None:
    if not low < high:
        return
    edges = [low, high, 0.0, 50.0, 1.7e308, -1.7e308, np.inf, -np.inf, 5e-324, np.nan]
    found = Encoding(name="x", kind="number", low=low, high=high).scaled(np.array(edges))
    assert np.isnan(found[-1])
    assert (np.abs(found[:-1]) <= 1.0).all()


@pytest.mark.parametrize("target", ["ill", "height"])
def test_one_person_s_part_is_exact_whoever_else_is_there(target, rng) -> None:
    """Adding a row changes the sums by that row's own sums, to the last unit, and by at most ``sensitivity`` in L2."""
    asked = request(target, clip=0.25)
    crowd, extra = cells(70_000, 5), cells(12, 6)  # more rows than one chunk holds
    base = whole(asked, crowd)
    for scale in (1.0, 2000.0):
        weights = rng.standard_normal(asked.features.d) * scale
        before = base.sums(weights)
        for k in range(4):
            one = extra.iloc[[k]]
            alone = whole(asked, one).sums(weights)
            together = whole(asked, pd.concat([one, crowd], ignore_index=True)).sums(weights)
            np.testing.assert_array_equal(together - before, alone)
            assert float(np.sqrt((alone.astype(float) ** 2).sum())) <= asked.sensitivity


def test_the_order_of_rows_does_not_matter(rng) -> None:
    asked, frame = request(), cells(5000)
    weights = rng.standard_normal(asked.features.d)
    shuffled = frame.sample(frac=1.0, random_state=1)
    np.testing.assert_array_equal(whole(asked, frame).sums(weights), whole(asked, shuffled).sums(weights))


@pytest.mark.thorough
def test_every_row_stays_within_the_clip_at_extreme_values() -> None:
    """Corners of the declared bounds, weights up to the largest: each row alone is within the sensitivity, or at it."""
    asked = request(clip=0.5)
    corners = pd.DataFrame(
        [
            (age, height, job, day, ill)
            for age in ("0", "100")
            for height in ("1", "2.2")
            for job in ("farm", "school")
            for day in ("2000-01-01", "2020-01-01")
            for ill in ("yes", "no")
        ],
        columns=["age", "height", "job", "since", "ill"],
    )
    largest = 0.0
    for weights in (
        np.full(asked.features.d, 2.0**11),
        np.full(asked.features.d, -(2.0**11)),
        np.zeros(asked.features.d),
    ):
        for k in range(len(corners)):
            part = whole(asked, corners.iloc[[k]]).sums(weights)
            largest = max(largest, float(np.sqrt((part.astype(float) ** 2).sum())))
    assert 0.999 * asked.sensitivity < largest <= asked.sensitivity


def test_every_row_counts_by_public_constants() -> None:
    """A missing number is the middle of its range, an unknown word none of the options; a row without an answer adds
    nothing. So a row of gaps counts as the row that says the same in full."""
    asked, frame = request(), cells(50)
    weights = np.ones(asked.features.d)
    gaps = frame.iloc[:3].assign(age="unknown", height="")
    middles = frame.iloc[:3].assign(age="50", height="1.6")
    for more, same in ((gaps, middles), (frame.iloc[:2].assign(ill=""), frame.iloc[:0])):
        pair = [whole(asked, pd.concat([frame, rest], ignore_index=True)).sums(weights) for rest in (more, same)]
        np.testing.assert_array_equal(*pair)
    strange = whole(asked, frame.assign(job="circus"))
    assert strange.rows == 50
    assert (strange.sums(weights) != whole(asked, frame).sums(weights)).any()


@pytest.mark.parametrize(
    ("neighbours", "rows_per_person", "factor"), [("add_remove", 1, 1), ("replace_one", 1, 2), ("add_remove", 3, 3)]
)
def test_the_cost_and_the_noise_follow_the_declaration(neighbours, rows_per_person, factor) -> None:
    declared = replace(DECLARED, rows_per_person=rows_per_person, hidden=neighbours)
    asked = PrivateModel.of(declared, target="ill", columns=["age", "job"], epsilon=1.0, delta=1e-5)
    assert asked.sensitivity == factor * clip_units(0.5) == factor * 2**31
    assert asked.cost.rho == zcdp_rho(1.0, 1e-5)
    assert asked.cost.event.count == 100
    assert asked.noise_multiplier == pytest.approx(np.sqrt(100 / (2 * asked.rho)))


CUT = {"age": "even", "height": (1.5, 1.8), "since": "even"}


def cut_request(**changed) -> PrivateModel:
    names = [column.name for column in COLUMNS if column.name != "ill"]
    made = PrivateModel.of(DECLARED, target="ill", columns=names, shapes=CUT, epsilon=1.0, delta=1e-5)
    return replace(made, **changed)


def test_a_cut_model_s_rows_are_exact_and_reach_the_sensitivity(rng) -> None:
    """Steps at public numbers: sums are those of the loop, one row moves them by its own part and by no more than the
    sensitivity, which is reached; what is missing is in no step."""
    asked, frame = cut_request(clip=0.3), cells(200)
    ready = asked.features.prepare(table(frame))
    weights = rng.standard_normal(asked.features.d) * 3
    slopes = LOGISTIC.slopes(ready.X @ weights, ready.y)[:, None] * ready.X
    exact = (slopes * np.minimum(1.0, 0.3 / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-12))).sum(0)
    rows = whole(asked, frame)
    np.testing.assert_allclose(rows.sums(weights) * SUM_UNIT, exact, atol=200 * 1e-3)
    largest, steep = 0.0, np.full(asked.features.d, 2.0**11)
    extra = pd.concat([cells(5, 6), cells(2, 7).assign(age="unknown", since="")], ignore_index=True)
    for k in range(len(extra)):
        one = whole(asked, extra.iloc[[k]])
        more = whole(asked, pd.concat([frame, extra.iloc[[k]]], ignore_index=True))
        for at in (weights, steep, -steep):
            alone = one.sums(at)
            np.testing.assert_array_equal(more.sums(at) - rows.sums(at), alone)
            largest = max(largest, float(np.sqrt((alone.astype(float) ** 2).sum())))
    assert 0.999 * asked.sensitivity < largest <= asked.sensitivity
    assert "Cut into steps at public numbers, what is missing in none of them: age, height, since." in asked.rules


def test_a_cut_is_a_part_of_the_question_and_of_the_model() -> None:
    """Other cuts are another question; bounds alone decide them; the model's file predicts by them."""
    asked, plain = cut_request(epsilon=50.0), request(epsilon=50.0)
    assert question_digest(asked) != question_digest(plain)
    assert question_digest(asked) != question_digest(cut_request(epsilon=50.0, clip=0.4))
    assert asked.cost == plain.cost
    frame = cells(4000).assign(ill=lambda cell: np.where(cell["age"].astype(int).between(40, 59), "yes", "no"))
    model = load_model(json.dumps(asked.answer(PrivateRows(frame))))
    assert model.features == asked.features
    record = {"height": 1.6, "job": "farm", "since": "2010-05-05"}
    found = [predict(model, record | {"age": age})[0] for age in (20, 50, 90)]
    assert found == ["no", "yes", "no"]  # no straight line tells the middle from both ends


def test_the_noise_is_the_stated_gaussian() -> None:
    """χ² on OpenDP's own draws, unseeded, so at a level of 1e-7; 20 % less is outside of what passes.

    400 rows of the same person cancel: their sums at weight 0 are the difference of labels, here 0.
    """
    asked = request(steps=25)
    frame = cells(1).loc[[0] * 2].assign(ill=["yes", "no"])
    rows = whole(asked, frame)
    assert (rows.sums(np.zeros(asked.features.d)) == 0).all()
    noise = np.concatenate(
        [
            draws.gaussian(rows.sums(np.zeros(asked.features.d)), sensitivity=asked.sensitivity, rho=asked.rho / 25)
            for _ in range(150)
        ]
    )
    total = float(((noise / (asked.sensitivity * asked.noise_multiplier)) ** 2).sum())
    assert chi2.ppf(1e-7, noise.size) < total < chi2.isf(1e-7, noise.size)
    assert 0.64 * total < chi2.ppf(1e-7, noise.size)


def test_every_step_draws_and_nothing_else_sees_the_rows() -> None:
    """With noise left out, the released descent is the simulated one without noise; it asks for sums once a step."""
    asked, frame = request(people=3000, epsilon=2.0), cells(3000)
    rows, seen = whole(asked, frame), []

    def exact(weights):
        seen.append(weights)
        return rows.sums(weights)

    weights = asked.descend(exact, 3000)
    assert len(seen) == asked.steps
    ready = asked.features.prepare(table(frame))
    huge = NoisyGradientDescent(epsilon=1e6, delta=1e-5, rate=_rate(asked))
    plain = huge.fit(ready.X, ready.y, np.random.Generator(np.random.SFC64(1)), 1).weights[0]
    np.testing.assert_allclose(weights, plain, atol=0.02 * np.linalg.norm(plain))


def _rate(asked: PrivateModel) -> float:
    from dpcore.training.descent import step_length

    noise = asked.sensitivity * SUM_UNIT * asked.noise_multiplier / asked.steps**0.5
    return step_length(asked.loss, asked.people, noise, asked.steps, asked.momentum)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    opened = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    opened.open_budget("people", epsilon=10.0, delta=1e-4)
    return opened


def test_a_release_from_table_to_prediction(ledger, tmp_path) -> None:
    """Charged once, stored, as good as simulated at the same ε, and two lines of Python predict from the file."""
    town = load_sample("town")
    names = ["age", "occupation", "ward", "income", "visits"]
    declared = replace(Declaration.of(town.schema), people=5000)
    asked = PrivateModel.of(declared, target="condition", columns=names, epsilon=2.0, delta=1e-5)
    rows = sample_rows("town")
    receipt = release(ledger, "one", "people", asked, rows)
    again = release(ledger, "one", "people", asked, rows)
    assert receipt.answer == again.answer
    assert receipt.rho == pytest.approx(asked.rho, rel=1e-6)
    text = json.dumps(receipt.answer)
    for word in ("loss_", "accuracy", "objective", "gradient_sum"):
        assert word not in text, "weights only: nothing measured on the data"
    assert set(receipt.answer["about"]) == {
        *("method", "loss", "epsilon", "delta", "rho", "neighbours", "people", "rows_per_person", "steps", "clip"),
        *("noise_multiplier", "people_from", "unit", "notes", "words_from_file", "named_by_rows"),
    }
    assert receipt.answer["about"]["people"] == 5000
    file = tmp_path / "model.json"
    file.write_text(text, encoding="utf-8")
    person = {"age": 71, "occupation": "Retired", "ward": "Dock", "income": 21_000, "visits": 14}
    assert load_model(file).predict([person])[0] in ("yes", "no")
    assert predict(receipt.answer, person) == load_model({"answer": receipt.answer}).predict(person)
    model = load_model(text)
    assert 0.0 < model.chances(person)[0] < 1.0
    right = np.mean(np.array(model.predict(town.frame)) == np.where(town.frame["condition"], "yes", "no"))
    ready = asked.features.prepare(town)
    simulated = NoisyGradientDescent(epsilon=2.0, delta=1e-5).fit(
        ready.X, ready.y, np.random.Generator(np.random.SFC64(1)), 30
    )
    usual = accuracy(simulated, ready.X, ready.y)
    assert right > usual.mean() - 6 * usual.std() - 0.005
    assert ledger.remaining("people").epsilon < 10.0


def test_a_number_is_predicted_in_its_own_unit() -> None:
    asked = request("height", people=300)
    model = load_model(asked.answer(PrivateRows(cells(300))))
    found = model.predict(cells(5))
    assert all(1.0 <= value <= 2.2 for value in found)
    assert model.features.names == asked.features.names
    with pytest.raises(InvalidArgument, match="number"):
        model.chances(cells(5))


def test_bounds_read_from_the_file_are_refused() -> None:
    open_ended = Schema(columns=(Column(name="age", type="integer", low=1, high=99, from_file=True), COLUMNS[-1]))
    with pytest.raises(InvalidArgument, match="until its bounds or categories are declared"):
        PrivateModel.of(Declaration.of(open_ended), target="ill", columns=["age"], epsilon=1.0, delta=1e-5)


def test_data_without_its_columns_are_refused_with_the_one_sentence(ledger) -> None:
    with pytest.raises(ReleaseRefused, match="nothing was charged"):
        release(ledger, "two", "people", request(), PrivateRows(cells(30)[["age", "ill"]]))
    assert ledger.remaining("people").epsilon == 10.0


@pytest.mark.parametrize("field", ["epsilon", "delta", "people", "steps", "clip", "momentum", "tail", "neighbours"])
def test_bad_requests_are_refused_by_name(field) -> None:
    good = request()
    fields = {"features": good.features, "reads": good.reads, "epsilon": 1.0, "delta": 1e-5, "people": 100}
    with pytest.raises(InvalidArgument, match=field):
        PrivateModel(**(fields | {field: -1}))


def test_noise_that_would_not_fit_is_refused_before_anything_is_charged() -> None:
    with pytest.raises(InvalidArgument, match="rows per person"):
        request(epsilon=1e-3, reads=replace(request().reads, most=1000))


@pytest.mark.parametrize("source", ["{}", "[]", "no such file", {"kind": "other"}, "{broken"])
def test_other_files_are_not_models(source) -> None:
    with pytest.raises(InvalidArgument, match="source"):
        load_model(source)


def test_a_model_file_that_was_changed_is_refused() -> None:
    plain = request().answer(PrivateRows(cells(40)))
    for change in ({"weights": plain["weights"][:-1]}, {"columns": []}, {"predicts": {}}, {"version": 2}):
        with pytest.raises(InvalidArgument):
            load_model(plain | change)


def test_records_may_be_incomplete_but_must_name_every_column() -> None:
    model = load_model(request().answer(PrivateRows(cells(40))))
    assert len(model.predict([{"age": None, "height": "tall", "job": "circus", "since": ""}])) == 1
    with pytest.raises(InvalidArgument, match="height"):
        model.predict({"age": 3, "job": "farm", "since": "2004-01-01"})


def test_how_many_rows_there_are_is_stated_or_bought() -> None:
    """The exact number is in nothing; a noisy one is one more equal part of the same ρ, and is not the true one."""
    names = ["age", "job"]
    bought = PrivateModel.of(replace(DECLARED, people=None), target="ill", columns=names, epsilon=1.0, delta=1e-5)
    stated = PrivateModel.of(DECLARED, target="ill", columns=names, epsilon=1.0, delta=1e-5)
    assert bought.cost.rho == stated.cost.rho
    assert (bought.cost.event.count, stated.cost.event.count) == (101, 100)
    assert bought.noise_multiplier == pytest.approx(stated.noise_multiplier * np.sqrt(1.01))
    assert "took 1/101 of ρ" in " ".join(bought.notes)
    assert "about 400 rows was stated" in " ".join(stated.notes)
    rows = PrivateRows(cells(600))
    ready = bought.read(rows)
    told = [bought.draw(ready)["about"] for _ in range(12)]
    people = np.array([one["people"] for one in told])
    assert {one["people_from"] for one in told} == {"noisy count"}
    assert len(set(people)) > 3
    # the noise has a standard deviation of ``noise_multiplier`` rows, about 50; a mean of twelve is within 8 of its own
    assert abs(people.mean() - 600) < 8 * bought.noise_multiplier / np.sqrt(12)
    assert stated.answer(rows)["about"]["people"] == 400
    with pytest.raises(InvalidArgument, match="people"):
        PrivateModel.of(
            replace(DECLARED, people=None, hidden="replace_one"), target="ill", columns=names, epsilon=1.0, delta=1e-5
        )


def test_it_is_in_the_catalogue_of_releases() -> None:
    assert catalog()["model"] is PrivateModel
    assert request().what == "A model that predicts “ill” from 4 columns"
