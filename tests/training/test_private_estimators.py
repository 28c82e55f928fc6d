"""The private estimators as scikit-learn sees them, and the model that is taken home."""

from __future__ import annotations

import json
import math
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from dpcore.errors import InvalidArgument
from dpcore.training import (
    PrivateClassifier,
    PrivateRegressor,
    area_under_curve,
    balanced_accuracy,
    calibration_table,
    confusion_table,
    load_scorecard,
    mean_absolute_error,
)

COLUMNS = {"age": (17, 90), "gain": (0, 100_000, "heavy"), "job": ["clerk", "cook", "pilot"]}
# Checks that ask for what would tell about people: why each is not met.
NOT_MET = {
    "check_classifiers_regression_target": "refusing classes by their values would tell one odd value",
    "check_supervised_y_no_nan": "a row without an answer is left out: refusing would tell it is there",
    "check_estimators_empty_data_messages": "refusing a table of no rows would tell it from one of one row",
}


@lru_cache
def table(n: int = 3000) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.Generator(np.random.SFC64(5))
    frame = pd.DataFrame({
        "age": rng.integers(17, 90, n),
        "gain": np.where(rng.random(n) < 0.1, rng.integers(1, 90_000, n), 0),
        "job": rng.choice(["clerk", "cook", "pilot"], n),
    })  # fmt: skip
    margin = 4.0 * ((frame["age"] > 40) & (frame["age"] < 65)) + 2.0 * (frame["job"] == "pilot") - 3.0
    chance = 1.0 / (1.0 + np.exp(-margin))
    return frame, pd.Series(np.where(rng.random(n) < chance, "rich", "poor"))


@pytest.mark.thorough
@pytest.mark.parametrize("estimator", [
    PrivateClassifier(epsilon=1e3, delta=1e-5, columns=(-5.0, 5.0), random_state=0),
    PrivateRegressor(epsilon=1e3, delta=1e-5, columns=(-5.0, 5.0), target=(-5.0, 5.0), random_state=0),
], ids=["classifier", "regressor"])  # fmt: skip
def test_scikit_learn_s_own_checks(estimator) -> None:
    """All pass, but for those that ask to refuse values; these fail, or the list above would be too long."""
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= set(NOT_MET)
    assert "check_supervised_y_no_nan" in failed
    assert sum(result["status"] == "passed" for result in results) > 45


def test_the_plain_way_to_call_it() -> None:
    """A frame, names and chances; a model of ages in the middle finds what no straight line does."""
    frame, y = table()
    model = PrivateClassifier(epsilon=2.0, delta=1e-5, columns=COLUMNS, random_state=1).fit(frame, y)
    assert model.classes_.tolist() == ["poor", "rich"]
    chances = model.predict_proba(frame)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (model.predict(frame) == y).mean() > 0.75
    assert roc_auc_score(y == "rich", chances[:, 1]) > 0.8
    assert (model.cost_.epsilon, model.cost_.delta) == (2.0, 1e-5)
    assert 2700 < model.scorecard_.about["rows"] < 3300
    again = clone(model).fit(frame, y)
    np.testing.assert_array_equal(again.predict_proba(frame), chances)
    fresh = clone(model).set_params(random_state=None).fit(frame, y)
    assert np.abs(fresh.predict_proba(frame) - chances).max() > 1e-6
    piped = make_pipeline(clone(model)).fit(frame, y)
    np.testing.assert_array_equal(piped.predict(frame), model.predict(frame))


def test_three_classes_an_array_and_categories_as_declared_classes() -> None:
    frame, _ = table()
    y = frame["job"].astype("category")
    coded = np.column_stack([frame["age"], y.cat.codes])
    model = PrivateClassifier(epsilon=3.0, columns={0: (17, 90), 1: [0, 1, 2]}, random_state=0).fit(coded, y)
    assert model.classes_.tolist() == ["clerk", "cook", "pilot"]
    assert model.decision_function(coded).shape == model.predict_proba(coded).shape == (3000, 3)
    assert (model.predict(coded) == y).mean() > 0.97


def test_nothing_about_values_is_refused_and_rare_classes_are_not_named() -> None:
    """A class of one person, a missing answer, a word in a number: the fit goes on and does not name that class.

    With ``classes`` declared, those classes are there whoever has them.
    """
    frame, y = table()
    odd = frame.astype(object)
    odd.iloc[0] = ["old", None, "astronaut"]
    strange = y.copy()
    strange.iloc[0], strange.iloc[1] = "secret", None
    model = PrivateClassifier(epsilon=2.0, columns=COLUMNS, random_state=1).fit(odd, strange)
    assert model.classes_.tolist() == ["poor", "rich"]
    assert np.isfinite(model.predict_proba(odd)).all()
    declared = PrivateClassifier(epsilon=2.0, columns=COLUMNS, random_state=1, classes=["rich", "poor", "royal"])
    assert declared.fit(frame, y).classes_.tolist() == ["poor", "rich", "royal"]
    for empty in (frame.iloc[:0], frame.iloc[:1]):
        assert declared.fit(empty, y.iloc[: len(empty)]).predict_proba(frame).shape == (3000, 3)
    with pytest.raises(InvalidArgument, match="declared"):
        PrivateClassifier(epsilon=2.0, columns=COLUMNS, random_state=1).fit(frame.iloc[:5], y.iloc[:5])


@pytest.mark.parametrize("as_is", ["rows", "array", "frame"])
@pytest.mark.parametrize("odd", ["\ud800", "\x00", float("nan"), None, b"a", 1 << 80], ids=ascii)
def test_one_odd_entry_never_refuses_the_rows(as_is: str, odd: object) -> None:
    """Half a sign among them, which no type for words takes: a refusal would tell of one row."""
    rows = [[float(place % 10), "ab"[place % 2]] for place in range(400)]
    classes, numbers = ["p" if place % 3 else "q" for place in range(400)], [float(place % 7) for place in range(400)]
    columns = {0: (0, 9), 1: ["a", "b"]}
    classifier = PrivateClassifier(epsilon=5.0, delta=1e-5, columns=columns, random_state=0, classes=["p", "q"])
    regressor = PrivateRegressor(epsilon=5.0, delta=1e-5, columns=columns, target=(0, 7), random_state=0)
    made = {
        "rows": lambda found: found,
        "array": lambda found: np.array(found, dtype=object),
        "frame": lambda found: pd.DataFrame(found, columns=range(len(found[0])), dtype=object),
    }[as_is]
    for model, answers, usual in ((classifier, classes, "p"), (regressor, numbers, 1.0)):
        model.fit(made([*rows, [1.0, odd]]), [*answers, usual])
        model.fit(made([*rows, [1.0, "a"]]), [*answers, odd])


def test_a_regressor_stays_within_its_bounds_and_tells_the_shape() -> None:
    frame, _ = table()
    y = 1000.0 * np.abs(frame["age"] - 50.0)
    model = PrivateRegressor(epsilon=2.0, columns=COLUMNS, target=(0, 40_000), random_state=0).fit(frame, y)
    told = model.predict(frame)
    assert told.min() >= 0.0
    assert told.max() <= 40_000.0
    assert model.score(frame, y) > 0.8
    assert mean_absolute_error(y.to_numpy(), told) < 4000.0
    with_odd = y.astype(object)
    with_odd.iloc[:2] = [None, 1e12]
    assert math.isfinite(clone(model).fit(frame, with_odd).predict(frame).sum())


@pytest.mark.parametrize("change", [
    {"columns": None}, {"columns": {}}, {"columns": {"height": (0, 1)}}, {"columns": {"age": (9, 1)}}, {"epsilon": 0},
    {"columns": {"age": (0, 10**400)}},
    {"delta": 0.0}, {"classes": ["one"]}, {"columns": "age"},
])  # fmt: skip
def test_declarations_that_are_missing_or_wrong_are_refused_in_a_sentence(change) -> None:
    frame, y = table()
    with pytest.raises(InvalidArgument):
        PrivateClassifier(**{"epsilon": 1.0, "columns": COLUMNS, **change}).fit(frame, y)


@pytest.mark.parametrize("target", [None, (1, 1), (0, np.inf), 3, ("a", "b"), (0, 10**400)])
def test_a_target_without_bounds_is_refused(target) -> None:
    frame, _ = table()
    with pytest.raises(InvalidArgument):
        PrivateRegressor(columns=COLUMNS, target=target).fit(frame, frame["age"])


def test_the_model_taken_home_says_the_same_without_the_data() -> None:
    """JSON and back; points by step in words; a card that names the cost and what decides."""
    frame, y = table()
    model = PrivateClassifier(epsilon=2.0, columns=COLUMNS, random_state=1).fit(frame, y)
    text = model.to_json()
    home = load_scorecard(text)
    np.testing.assert_allclose(home.chances(frame), model.predict_proba(frame))
    assert home.predict(frame) == model.predict(frame).tolist()
    plain = json.loads(text)
    assert plain["columns"][2]["steps"] == ["clerk", "cook", "pilot", "missing or unknown"]
    assert len(plain["columns"][0]["points"]) == len(plain["columns"][0]["steps"])
    card = model.card()
    assert "(2, 1e-05)-differential privacy" in card
    assert card.index("- age") < card.index("## Use")
    number = PrivateRegressor(epsilon=2.0, columns=COLUMNS, target=(0, 90), random_state=0).fit(frame, frame["age"])
    back = load_scorecard(json.loads(number.to_json()))
    np.testing.assert_allclose(back.predict(frame), number.predict(frame))
    assert "from 0 to 90" in back.card()
    with pytest.raises(InvalidArgument):
        back.chances(frame)
    with pytest.raises(InvalidArgument, match="job"):
        home.predict(frame[["age", "gain"]])
    for broken in ("{}", "nowhere.json", {"kind": "other"}, text.replace('"version": 1', '"version": 2')):
        with pytest.raises(InvalidArgument):
            load_scorecard(broken)


def test_chances_can_be_believed() -> None:
    """On people it was not trained on: expected calibration error below 0.05 for chances said by the fitted model."""
    frame, y = table()
    model = PrivateClassifier(epsilon=3.0, columns=COLUMNS, random_state=1).fit(frame[:2000], y[:2000])
    right = (y[2000:] == "rich").to_numpy()
    said = calibration_table(right, model.predict_proba(frame[2000:])[:, 1])
    error = float((said["rows"] * (said["chance"] - said["share"]).abs()).sum() / said["rows"].sum())
    assert said["rows"].sum() == 1000
    assert error < 0.06


def test_measures_of_quality(rng) -> None:
    """AUC against scikit-learn's with many ties; the confusion table and balanced accuracy by hand."""
    right, score = rng.random(500) < 0.3, np.round(rng.random(500), 1)
    assert area_under_curve(right, score) == pytest.approx(roc_auc_score(right, score), abs=1e-12)
    assert math.isnan(area_under_curve(np.ones(3, dtype=bool), np.zeros(3)))
    counts = confusion_table(["a", "a", "a", "b"], ["a", "b", "a", "b"], ["a", "b", "c"])
    assert counts.to_numpy().tolist() == [[2, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert balanced_accuracy(counts) == pytest.approx((2 / 3 + 1) / 2)
    with pytest.raises(InvalidArgument):
        confusion_table(["a"], ["x"], ["a"])
    assert calibration_table(np.array([True, False]), np.array([1.0, 0.0])).to_numpy().tolist() == [
        [1, 0, 0],
        [1, 1, 1],
    ]
