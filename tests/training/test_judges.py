"""How much a squared error hangs on the rows that judged it, held against rows that are drawn again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.training import PartResult, Squared, Sweep, collect, judges, run_slice
from dpcore.training.judges import EIGHTY, FOURTH, SECOND, moments
from dpcore.training.plan import Part
from dpcore.validate import FloatArray

ROWS, MODELS, DRAWS = 400, 3, 4000
SKEWED = np.random.Generator(np.random.SFC64(5)).gamma(0.7, 1.0, (ROWS, MODELS))


def part(errors: FloatArray, number: int = 0, size: int = 50, method: str = "adassp") -> PartResult:
    """As a slice of one level."""
    at = Part(method=method, size=size, epsilon=(1.0,), replicas=errors.shape[1], number=number)
    measured = {"squared_error": errors.mean(axis=0), **moments(errors)}
    return PartResult(part=at, values={name: value[None] for name, value in measured.items()})


def test_other_rows_move_it_as_far_as_drawing_them_again_does() -> None:
    """The bootstrap of one model's mean: its standard error is exact, 80 of 100 lie within half of it (4 errors)."""
    rng = np.random.Generator(np.random.SFC64(6))
    errors = SKEWED[:, :1]
    half, error = judges([part(errors)], "adassp", ROWS, 50)[["half", "error"]].to_numpy()[0]
    means = errors[rng.integers(0, ROWS, (DRAWS, ROWS)), 0].mean(axis=1)
    assert half / EIGHTY == pytest.approx(means.std() * math.sqrt(ROWS / (ROWS - 1)), rel=4 / math.sqrt(2 * DRAWS))
    within = float((np.abs(means - errors.mean()) <= half).mean())
    assert within == pytest.approx(0.8, abs=4 * math.sqrt(0.8 * 0.2 / DRAWS))
    assert 0.03 < error < 0.15


def test_its_own_error_is_that_of_other_people_s_rows() -> None:
    """Rows of a known law drawn anew: the half found spreads around the true one by the share that is said."""
    rng = np.random.Generator(np.random.SFC64(7))
    found = np.array(
        [
            judges([part(rng.gamma(2.0, 1.0, (ROWS, 1)))], "adassp", ROWS, 50)[["half", "error"]].to_numpy()[0]
            for _ in range(400)
        ]
    )
    true = EIGHTY * math.sqrt(2.0 / ROWS)
    kurtosis = 3.0 + 6.0 / 2.0
    assert found[:, 0].mean() == pytest.approx(true, rel=0.01)
    assert found[:, 0].std() / true == pytest.approx(math.sqrt((kurtosis - 1) / ROWS) / 2, rel=0.2)
    assert found[:, 1].mean() == pytest.approx(math.sqrt((kurtosis - 1) / ROWS) / 2, rel=0.1)


def test_models_of_several_slices_count_together_and_others_do_not() -> None:
    alone = judges([part(SKEWED)], "adassp", ROWS, 50)
    apart = [part(SKEWED[:, :2]), part(SKEWED[:, 2:], 1), part(9 * SKEWED, size=70), part(9 * SKEWED, method="dp_sgd")]
    np.testing.assert_allclose(judges(apart, "adassp", ROWS, 50), alone)
    assert judges(apart, "non_private", ROWS, 50).empty
    assert judges([part(SKEWED[:1])], "adassp", 1, 50)["half"].tolist() == [0.0]


def test_a_sweep_tells_it_of_numbers_and_its_curves_stay_as_they_were() -> None:
    rng = np.random.Generator(np.random.SFC64(8))
    X = rng.uniform(-0.5, 0.5, (300, 2))
    y = np.clip(X @ [0.9, -0.4] + rng.normal(0, 0.1, 300), -1, 1)
    task = Sweep(
        X=X[:200],
        y=y[:200],
        X_test=X[200:],
        y_test=y[200:],
        methods=("adassp",),
        epsilon=(0.1, 10.0),
        loss=Squared(),
        seeds=5,
    )
    results = [run_slice(task, one) for one in task.parts()]
    assert all(SECOND in one.values and FOURTH in one.values for one in results)
    found = judges(results, "adassp", 100, 200)
    assert found["epsilon"].tolist() == [0.1, 10.0]
    assert (found["half"] > 0).all()
    assert set(collect(task, results)["metric"]) == {"squared_error", "excess_risk"}
