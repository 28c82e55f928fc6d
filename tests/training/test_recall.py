"""How many rows of the second class private models find, beside how often they are right."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.words import predict as said
from dpcore.training import Sweep, collect, judge, recall, run_slice
from dpcore.training.recall import FOUND, of_two_classes

METHOD, EPSILON = "output_perturbation", (0.5, 4.0)


def test_shares_are_of_all_rows_and_of_the_second_class() -> None:
    right = np.array([[True, False], [True, True], [False, True], [False, False]])
    y = np.array([1.0, 1.0, 1.0, -1.0])
    found = of_two_classes(right, y)
    assert found["accuracy"].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(found[FOUND], [2 / 3, 2 / 3])
    assert FOUND not in of_two_classes(right, -np.ones(4)), "of none nothing can be said"


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    rng = np.random.default_rng(5)
    X = rng.uniform(-0.5, 0.5, (600, 3))
    y = np.where(X[:, 0] + 0.2 * rng.standard_normal(600) > 0.25, 1.0, -1.0)  # the second class is rare
    return Sweep(
        methods=(METHOD,), epsilon=EPSILON, X=X[:400], y=y[:400], X_test=X[400:], y_test=y[400:], delta=1e-6, seeds=200
    )


def test_what_is_found_agrees_with_the_models_that_are_judged_row_by_row(sweep: Sweep) -> None:
    results = [run_slice(sweep, part) for part in sweep.parts()]
    shares = recall(results, METHOD, sweep.n)
    assert shares["epsilon"].tolist() == list(EPSILON)
    frame = collect(sweep, results)
    assert set(frame["metric"]) <= {"accuracy", "excess_risk"}, "no line of its own"
    second = float((sweep.y_test > 0).mean())
    for level, hit in zip(EPSILON, shares["found"], strict=True):
        (spared, alarmed), (missed, found) = judge(sweep, METHOD, level, models=400).confusion
        assert hit == pytest.approx(found / (found + missed), abs=0.05)
        value = float(frame[(frame["method"] == METHOD) & (frame["epsilon"] == level)]["value"].iloc[0])
        right_of_others = (value - second * hit) / (1 - second)
        assert right_of_others == pytest.approx(spared / (spared + alarmed), abs=0.05)
    assert recall(results, "other", sweep.n).empty


def test_the_sentence_names_both_kinds_of_mistakes() -> None:
    told = said.mistakes(("benign", "malignant"), 0.357, 0.004)
    assert "of 100 that are “malignant” it misses 36" in told
    assert "of 100 that are “benign” it takes fewer than 1 for “malignant”" in told
