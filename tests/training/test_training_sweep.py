"""Sweeps in slices, and training as a question of ``dpcore.tradeoff``."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import load_sample
from dpcore.errors import InvalidArgument
from dpcore.tradeoff import COLUMNS, epsilon_for, sweep_both, sweep_epsilon, sweep_size
from dpcore.training import (
    Features,
    LineProblem,
    OneNumberProblem,
    Part,
    Squared,
    Sweep,
    TrainingProblem,
    catalog,
    collect,
    majority_share,
    rate,
    reaching,
    run_slice,
    stream,
    usual_methods,
)
from tests.training.conftest import classes, numbers

METHODS = ("noisy_gradient_descent", "output_perturbation", "adassp")


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    X, y = classes(900, 4)
    return Sweep(
        X=X[:700], y=y[:700], X_test=X[700:], y_test=y[700:], methods=METHODS, epsilon=(0.1, 1.0, 10.0), seeds=10
    )


@pytest.fixture(scope="module")
def frames(sweep) -> list[tuple[float, pd.DataFrame]]:
    return list(stream(sweep))


def test_the_frame_is_tidy_and_complete(sweep, frames) -> None:
    done, frame = frames[-1]
    assert done == 1.0
    assert tuple(frame.columns) == COLUMNS
    assert set(frame["kind"]) == {"simulated", "exact"}
    assert (frame["low"] <= frame["value"] + 1e-12).all()
    assert (frame["value"] <= frame["high"] + 1e-12).all()
    shown = frame[frame["metric"] == "accuracy"].groupby("method").size()
    assert shown.to_dict() == dict.fromkeys((*METHODS, "non_private", "majority_class"), 3)
    # AdaSSP fits squares: its logistic excess would compare different things
    assert "adassp" not in set(frame[frame["metric"] == "excess_risk"]["method"])
    guesses = frame[frame["method"] == "majority_class"].groupby("metric")["value"].agg(["min", "max"])
    second = float((sweep.y_test > 0.0).mean())
    assert {key: tuple(row) for key, row in guesses.iterrows()} == {
        "accuracy": (majority_share(sweep.y_test),) * 2,
        "found": (float(second > 0.5),) * 2,
        "balanced": (0.5, 0.5),
    }


def test_partial_frames_come_slice_by_slice(sweep, frames) -> None:
    """Baselines first, every method after a quick first round, then more replicas of the same."""
    fractions = [done for done, _ in frames]
    assert fractions == sorted(fractions)
    assert len(fractions) == len(sweep.parts()) == 1 + 2 * len(METHODS)
    assert set(frames[0][1]["kind"]) == {"exact"}
    assert set(frames[len(METHODS)][1]["method"]) >= set(METHODS)


def test_a_slice_is_plain_data_and_gives_the_same_numbers_anywhere(sweep) -> None:
    task, part = pickle.loads(pickle.dumps((sweep, sweep.parts()[1])))  # noqa: S301 - our own bytes
    here, there = run_slice(sweep, sweep.parts()[1]), run_slice(task, part)
    for name, values in here.values.items():
        assert values.shape == (3, part.replicas)
        np.testing.assert_array_equal(values, there.values[name])


def test_order_of_slices_does_not_matter_and_none_need_be_there(sweep) -> None:
    results = [run_slice(sweep, part) for part in sweep.parts()]
    pd.testing.assert_frame_equal(collect(sweep, results), collect(sweep, results[::-1]))
    assert len(collect(sweep, [])) == 0
    without_baseline = collect(sweep, results[1:2])
    assert set(without_baseline["metric"]) == {"accuracy", "found", "balanced"}  # excess needs the minimum


def test_how_many_of_a_class_are_found_is_enough_from_some_place_on() -> None:
    """Models that are all noise find one half of a rare class, and better ones fewer before they find more."""
    levels, found = (0.01, 0.1, 1.0, 10.0), (0.5, 0.1, 0.3, 0.9)
    rows = [
        ("m", level, 100, "found", value, value, value, "simulated") for level, value in zip(levels, found, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    enough = reaching(frame, 0.6, method="m", metric="found")
    assert enough == pytest.approx(10**0.5)
    assert reaching(frame, 0.4, method="m", metric="found") == pytest.approx(10 ** (1 / 6))
    assert reaching(frame, 0.05, method="m", metric="found") == pytest.approx(0.01)
    assert reaching(frame, 0.95, method="m", metric="found") is None
    wavy = frame.assign(metric="accuracy")
    assert reaching(wavy, 0.3, method="m", metric="accuracy") < 1.0, "or nothing was tested"


def test_slow_slices_are_cut_into_fewer_epsilons(sweep) -> None:
    X, y = classes(3000, 60)
    large = replace(sweep, X=np.tile(X, (10, 1)), y=np.tile(y, 10), X_test=X, y_test=y, seeds=200)
    parts = [part for part in large.parts() if part.method == "noisy_gradient_descent" and part.number == 1]
    assert len(parts) == 3
    assert sum(len(part.epsilon) for part in parts) == 3


def test_more_privacy_or_fewer_people_cost_accuracy(sweep, frames) -> None:
    frame = frames[-1][1]
    for key in METHODS[:2]:
        curve = frame[(frame["method"] == key) & (frame["metric"] == "excess_risk")]["value"].to_numpy()
        assert curve[0] > curve[1] > curve[2]
    sizes = replace(sweep, epsilon=(1.0,), sizes=(100, 700, 4900))
    by_size = list(stream(sizes))[-1][1]
    curve = by_size[(by_size["method"] == METHODS[0]) & (by_size["metric"] == "excess_risk")]
    assert curve["n"].tolist() == [100, 700, 4900]
    assert curve["value"].is_monotonic_decreasing
    X, _ = sizes.training_rows(4900)
    assert X.shape == (4900, 4)
    np.testing.assert_array_equal(np.unique(X, axis=0), np.unique(sweep.X, axis=0))


def test_reading_a_target_off_a_curve(frames) -> None:
    frame = frames[-1][1]
    made = frame[(frame["method"] == METHODS[0]) & (frame["metric"] == "accuracy")].sort_values("epsilon")
    made = made.assign(value=[0.6, 0.8, 0.7])
    halfway = reaching(made, 0.675, method=METHODS[0], metric="accuracy")
    assert halfway == pytest.approx(np.sqrt(0.1), rel=1e-6)  # the last two are pooled to .75; half of the log scale
    assert reaching(made, 0.76, method=METHODS[0], metric="accuracy") is None
    assert reaching(frame, 0.0, method=METHODS[0], metric="accuracy") == pytest.approx(0.1)
    assert reaching(frame, 1.01, method=METHODS[0], metric="accuracy") is None
    risk = reaching(frame, 1e9, method=METHODS[0], metric="excess_risk")
    assert risk == pytest.approx(0.1)
    with pytest.raises(InvalidArgument, match="method"):
        reaching(frame, 0.5, method="dp_sgd", metric="accuracy")


def test_a_number_to_predict() -> None:
    X, y = numbers(500, 3)
    task = Sweep(
        X=X[:400],
        y=y[:400],
        X_test=X[400:],
        y_test=y[400:],
        methods=METHODS,
        epsilon=(1.0, 20.0),
        loss=Squared(),
        seeds=6,
    )
    frame = list(stream(task))[-1][1]
    assert set(frame["metric"]) == {"squared_error", "excess_risk"}
    assert set(frame["method"]) == {*METHODS, "non_private"}


def test_a_sweep_from_a_table() -> None:
    """Eight tenths to train on; the methods that need public constants get those of the features."""
    town = load_sample("town")
    features = Features.of(town.schema, target="condition")
    made = Sweep.of(features, features.prepare(town), epsilon=[1.0], methods=["statistical_queries"], seeds=2)
    assert (made.n, len(made.y_test)) == (8000, 2000)
    assert made.method("statistical_queries", 1.0).high == features.bounds[1]
    assert made.method("book_gradient_descent", 1.0).row_norm == features.scale
    assert set(usual_methods(two_classes=True)) | set(usual_methods(two_classes=False)) <= set(catalog())
    number = Features.of(town.schema, target="income")
    squares = Sweep.of(number, number.prepare(town), epsilon=[1.0], seeds=2)
    assert squares.loss == Squared()
    assert squares.methods == usual_methods(two_classes=False)
    last = list(stream(made))[-1][1]
    assert {"statistical_queries", "majority_class"} <= set(last["method"])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"methods": ("nothing",)}, "methods"),
        ({"epsilon": (0.0,)}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"seeds": 0}, "seeds"),
        ({"sizes": (1,)}, "sizes"),
    ],
)
def test_bad_sweeps_are_refused_by_name(sweep, change, name) -> None:
    with pytest.raises(InvalidArgument, match=name):
        replace(sweep, **change)


def test_training_as_a_tradeoff_problem(sweep) -> None:
    problem = TrainingProblem(sweep=sweep)
    frame = sweep_epsilon(problem, [0.5, 5.0], methods=["output_perturbation", "non_private", "rate_pure"])
    assert tuple(frame.columns) == COLUMNS
    assert frame.groupby("method")["kind"].first().to_dict() == {
        "output_perturbation": "simulated",
        "non_private": "exact",
        "rate_pure": "bound",
    }
    by_size = sweep_size(problem, [200, 700], epsilon=1.0, methods=["adassp"], metrics=["accuracy"])
    assert len(by_size) == 2
    both = sweep_both(problem, [0.5, 5.0], [200, 700], method="output_perturbation", metric="excess_risk")
    assert both["value"].notna().all()
    part = Part(method="output_perturbation", size=700, epsilon=(0.5, 5.0), replicas=10, number=0)
    assert run_slice(replace(sweep, epsilon=(0.5, 5.0)), part).values["accuracy"].mean() == pytest.approx(
        frame[(frame["method"] == "output_perturbation") & (frame["metric"] == "accuracy")]["value"].mean()
    )


def test_rates_to_draw_beside_the_curves() -> None:
    one, people = np.array([1.0, 1.0]), np.array([100.0, 1000.0])
    np.testing.assert_allclose(rate("rate_pure", d=10, epsilon=one, n=people, delta=1e-5), [0.1, 0.01])
    np.testing.assert_allclose(rate("rate_sampling", d=10, epsilon=one, n=people, delta=1e-5), people**-0.5)
    root = np.sqrt(10 * np.log(1e5))
    found = rate("rate_approximate", d=10, epsilon=one, n=people, delta=1e-5)
    np.testing.assert_allclose(found, [root / 100, root / 1000])


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_one_number_is_exact_and_can_be_inverted(statistic) -> None:
    problem = OneNumberProblem(values=np.linspace(-0.6, 0.8, 301), statistic=statistic)
    frame = sweep_epsilon(problem, np.geomspace(0.01, 10, 12))
    assert set(frame["kind"]) == {"exact", "bound"}
    better, by_loss = problem.methods[:2]
    wide = frame.pivot_table(index="epsilon", columns="method", values="value")
    assert (wide[better] < wide[by_loss]).loc[0.1:].all()
    assert (wide[by_loss] <= wide["theory"]).all()
    level = epsilon_for(1e-3, problem, method=better, metric="excess_risk")
    assert level is not None
    assert problem.evaluate(better, "excess_risk", np.array([level]), np.array([301.0])).value[0] <= 1e-3


def test_a_straight_line() -> None:
    rng = np.random.Generator(np.random.SFC64(4))
    x = rng.uniform(-1, 1, 200)
    problem = LineProblem(x=x, y=np.clip(0.3 - 0.5 * x + 0.05 * rng.standard_normal(200), -1, 1), seeds=10)
    frame = sweep_epsilon(problem, [0.3, 3.0])
    assert frame.groupby("method")["kind"].first()["ball"] == "exact"
    wide = frame.pivot_table(index="epsilon", columns="method", values="value")
    assert (wide.loc[3.0] < wide.loc[0.3]).all()
    assert (wide["ball"] < wide["theory"]).all()
    with pytest.raises(InvalidArgument, match="x"):
        LineProblem(x=10 * x, y=x)
