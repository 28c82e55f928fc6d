"""How many rows of the second class private models find, and of both alike, beside how often they are right."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.words import measured as said
from dpcore.training import Sweep, collect, judge, run_slice
from dpcore.training.recall import BALANCED, FOUND, commonest, of_two_classes

METHOD, EPSILON = "output_perturbation", (0.5, 4.0)


def test_shares_are_of_all_rows_of_the_second_class_and_of_both_alike() -> None:
    right = np.array([[True, False], [True, True], [False, True], [False, False]])
    y = np.array([1.0, 1.0, 1.0, -1.0])
    found = of_two_classes(right, y)
    assert found["accuracy"].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(found[FOUND], [2 / 3, 2 / 3])
    np.testing.assert_allclose(found[BALANCED], [1 / 3, 1 / 3])


def test_of_a_class_without_rows_nothing_is_said() -> None:
    right = np.ones((4, 2), dtype=bool)
    assert set(of_two_classes(right, -np.ones(4))) == {"accuracy"}
    assert set(of_two_classes(right, np.ones(4))) == {"accuracy", FOUND}
    assert commonest(-np.ones(4)) == {FOUND: 0.0}
    assert commonest(np.array([1.0, 1.0, -1.0])) == {FOUND: 1.0, BALANCED: 0.5}
    assert commonest(np.array([1.0, -1.0])) == {FOUND: 0.0, BALANCED: 0.5}, "of two as common the first"


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    rng = np.random.default_rng(5)
    X = rng.uniform(-0.5, 0.5, (600, 3))
    y = np.where(X[:, 0] + 0.2 * rng.standard_normal(600) > 0.25, 1.0, -1.0)  # the second class is rare
    return Sweep(
        methods=(METHOD,), epsilon=EPSILON, X=X[:400], y=y[:400], X_test=X[400:], y_test=y[400:], delta=1e-6, seeds=200
    )


def test_what_is_found_agrees_with_the_models_that_are_judged_row_by_row(sweep: Sweep) -> None:
    frame = collect(sweep, [run_slice(sweep, part) for part in sweep.parts()])
    assert set(frame["metric"]) == set(sweep.metrics) == {"accuracy", "excess_risk", FOUND, BALANCED}
    second = float((sweep.y_test > 0).mean())
    for level in EPSILON:
        (spared, alarmed), (missed, found) = judge(sweep, METHOD, level, models=400).confusion
        at = frame[(frame["method"] == METHOD) & (frame["epsilon"] == level)].set_index("metric")["value"]
        assert at[FOUND] == pytest.approx(found / (found + missed), abs=0.05)
        alike = (found / (found + missed) + spared / (spared + alarmed)) / 2
        assert at[BALANCED] == pytest.approx(alike, abs=0.05)
        others = 2 * at[BALANCED] - at[FOUND]
        assert at["accuracy"] == pytest.approx(second * at[FOUND] + (1 - second) * others)


def test_the_sentence_names_both_kinds_of_mistakes() -> None:
    told = said.mistakes(("benign", "malignant"), 0.357, 0.004, 0.06)
    assert "of 100 that are “malignant” it misses 36 (6 without privacy)" in told
    assert "of 100 that are “benign” it takes fewer than 1 for “malignant”" in told
