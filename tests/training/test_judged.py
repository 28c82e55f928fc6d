"""How far private models can be trusted: tables and curves against plain counting; the card of a released model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dpcore.errors import InvalidArgument
from dpcore.training import CodedRows, Judged, Sweep, absolute_errors, area_under_curve, judge, judged, load_model
from dpcore.training.losses import SQUARED
from dpcore.training.model_card import column_spread
from dpcore.training.sweep import run_slice, trained
from tests.training.conftest import classes, numbers
from tests.training.test_steps_release import cells, request


def sweep(n: int = 300, **changed) -> Sweep:
    X, y = classes(n, 3)
    codes = CodedRows.of(
        [(X[:, 0] > 0).astype(np.int64), (X[:, 1] > 0).astype(np.int64), np.zeros(n, dtype=np.int64)],
        [np.eye(2), np.eye(2), np.ones((1, 1))],
    )
    cut = n * 2 // 3
    rows = [(X[part], y[part], codes.take(np.arange(n)[part])) for part in (slice(cut), slice(cut, n))]
    (X, y, coded), (X_test, y_test, coded_test) = rows
    common = {"X": X, "y": y, "X_test": X_test, "y_test": y_test, "coded": coded, "coded_test": coded_test}
    return Sweep(**common, methods=("noisy_gradient_descent", "scaled_descent"), epsilon=(2.0,), seeds=3, **changed)


@pytest.mark.parametrize("method", ["noisy_gradient_descent", "scaled_descent"])
def test_what_is_judged_is_counted(method) -> None:
    one = sweep()
    found, margins = judge(one, method, 2.0, models=5), trained(one, method, 2.0, 5)
    right = one.y_test > 0
    table = np.zeros((2, 2))
    for margin in margins.T:
        for own, said in zip(right, margin > 0, strict=True):
            table[int(own), int(said)] += 1 / 5
    np.testing.assert_allclose(found.confusion, table)
    shares = [np.mean([(margin[right] > 0).mean(), (margin[~right] <= 0).mean()]) for margin in margins.T]
    np.testing.assert_allclose(found.balanced, shares)
    np.testing.assert_allclose(found.area, [area_under_curve(right, margin) for margin in margins.T])
    assert found.calibration["rows"].sum() == margins.size
    stated = float((found.calibration["chance"] * found.calibration["rows"]).sum() / margins.size)
    assert stated == pytest.approx(float(expit(margins).mean()))
    assert 0.0 <= found.gap <= 1.0
    assert found.area.mean() > 0.6


def test_models_that_are_judged_one_by_one_are_judged_as_together(monkeypatch: pytest.MonkeyPatch) -> None:
    one, method = sweep(), "scaled_descent"
    each = [trained(one, method, 2.0, 1, number) for number in range(5)]
    assert len({margins.tobytes() for margins in each}) == 5, "each is another one"
    apart = Judged.together([judge(one, method, 2.0, models=1, number=number) for number in range(5)])
    monkeypatch.setattr(judged, "trained", lambda *_: np.concatenate(each, axis=1))
    whole = judge(one, method, 2.0, models=5)
    np.testing.assert_allclose(apart.confusion, whole.confusion)
    np.testing.assert_allclose(apart.area, whole.area)
    np.testing.assert_allclose(apart.balanced, whole.balanced)
    pd.testing.assert_frame_equal(apart.calibration, whole.calibration)
    assert apart.gap == pytest.approx(whole.gap)


def test_one_class_alone_has_no_area() -> None:
    one = sweep()
    lonely = judge(Sweep(**_all(one) | {"y_test": np.ones_like(one.y_test)}), "scaled_descent", 2.0, models=2)
    assert np.isnan(lonely.area).all()
    assert np.isnan(lonely.balanced).all()


def test_a_number_is_judged_by_its_error() -> None:
    X, y = numbers(200, 3)
    one = Sweep(X=X, y=y, X_test=X, y_test=y, methods=("noisy_gradient_descent",), epsilon=(5.0,), loss=SQUARED)
    errors = absolute_errors(one, "noisy_gradient_descent", 5.0, models=4)
    margins = trained(one, "noisy_gradient_descent", 5.0, 4)
    assert errors.shape == (4,)
    assert errors[0] == pytest.approx(np.abs(np.clip(margins[:, 0], -1, 1) - y).mean())
    with pytest.raises(InvalidArgument, match="about classes"):
        judge(one, "noisy_gradient_descent", 1.0)
    with pytest.raises(InvalidArgument, match="number"):
        absolute_errors(sweep(), "noisy_gradient_descent", 1.0)


def test_a_sweep_measures_a_method_on_steps_on_its_own_rows() -> None:
    """Its slice has the accuracy of coded test rows and no excess risk; without coded rows it takes the plain ones."""
    one = sweep()
    part = next(part for part in one.parts() if part.method == "scaled_descent")
    found = run_slice(one, part)
    assert set(found.values) == {"accuracy", "found", "balanced"}
    plain = Sweep(**_all(one) | {"coded": None, "coded_test": None})
    assert set(run_slice(plain, part).values) == {"accuracy", "objective", "found", "balanced"}
    with pytest.raises(InvalidArgument, match="coded"):
        Sweep(**_all(one) | {"coded_test": None})
    with pytest.raises(InvalidArgument, match="same rows"):
        Sweep(**_all(one) | {"coded": one.coded_test})


def _all(one: Sweep) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def test_a_card_says_what_the_file_says_and_no_more() -> None:
    from dpcore.datasets import PrivateRows

    asked = request(epsilon=3.0)
    answer = asked.answer(PrivateRows(cells(1500)))
    model = load_model(answer)
    card = model.card()
    assert "Tells “yes” from “no” in the column “ill”." in card
    assert "(3, 10⁻⁵)-differential privacy" in card
    assert "a noisy count" in card
    assert "Cut into steps at declared numbers: age, since" in card
    spread = column_spread(model)
    assert list(spread) == ["age", "job", "smokes", "since"]
    base = {"age": 5, "job": "farm", "smokes": "no", "since": "2003-05-05"}
    jobs = [model.margins([base | {"job": job}])[0] for job in ("office", "farm", "school")]
    assert spread["job"] == pytest.approx(max(jobs) - min(jobs))
    ages = [model.margins([base | {"age": age}])[0] for age in range(101)]
    assert spread["age"] == pytest.approx(max(ages) - min(ages))
    smokes = [model.margins([base | {"smokes": word}])[0] for word in ("yes", "no")]
    assert spread["smokes"] == pytest.approx(abs(smokes[0] - smokes[1]))


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_a_released_model_is_an_estimator(target, tmp_path) -> None:
    """It predicts as the file does, in scikit-learn's own scoring, cloning and pipelines; fitting trains nothing."""
    import json

    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    from dpcore.datasets import PrivateRows
    from dpcore.training import released_estimator

    file = tmp_path / "model.json"
    asked = request(target, epsilon=3.0, steps=30)
    file.write_text(json.dumps(asked.answer(PrivateRows(cells(800)))), encoding="utf-8")
    model, test = load_model(file), cells(60, 5)
    y = test[target] if target == "ill" else test[target].astype(float)
    found = released_estimator(file)
    assert list(found.predict(test)) == model.predict(test)
    assert clone(found).fit(test, y).predict(test).tolist() == found.predict(test).tolist()
    piped = make_pipeline(FunctionTransformer(), found)
    assert piped.predict(test).tolist() == found.predict(test).tolist()
    scores = cross_val_score(found, test, y, cv=3)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    if target == "ill":
        assert found.classes_.tolist() == ["no", "yes"]
        np.testing.assert_allclose(found.predict_proba(test)[:, 1], model.chances(test))
        assert found.score(test, y) == np.mean(found.predict(test) == y)
        assert ((found.decision_function(test) > 0) == (found.predict(test) == "yes")).all()
    with pytest.raises(ValueError, match="frame"):
        found.predict(np.zeros((3, 4)))
    with pytest.raises(InvalidArgument, match="model file"):
        released_estimator("{}")
