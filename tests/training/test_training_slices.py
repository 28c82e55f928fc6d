"""No slice of a sweep is long: nobody can stop one that runs, and others wait for it."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.training import Sweep, collect, plan, run_slice


def swept(rows: int, columns: int, seeds: int = 50) -> Sweep:
    X = np.zeros((rows, columns))
    X[:, 0] = np.linspace(-0.5, 0.5, rows)
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    methods = ("adassp", "dp_sgd", "noisy_gradient_descent", "output_perturbation", "proved_descent")
    return Sweep(X=X, y=y, X_test=X, y_test=y, methods=methods, epsilon=(0.1, 1.0, 10.0), seeds=seeds)


@pytest.mark.parametrize(("rows", "columns"), [(50, 2), (2_000, 60), (18_000, 190), (200_000, 60)])
def test_a_slice_is_no_longer_than_one_model_or_a_second(rows: int, columns: int) -> None:
    task = swept(rows, columns)
    parts = [part for part in task.parts() if part.epsilon]
    for part in parts:
        assert task._cost(part) <= plan._LONGEST or (part.replicas, len(part.epsilon)) == (1, 1)
    for method in task.methods:
        for epsilon in task.epsilon:
            assert sum(part.replicas for part in parts if part.method == method and epsilon in part.epsilon) == 50
    told = [(part.method, part.size, part.epsilon, part.number) for part in parts]
    assert len(set(told)) == len(told), "each draws by itself"


def test_slices_that_are_not_long_are_what_they_were() -> None:
    """What they draw hangs on their numbers."""
    assert {part.number for part in swept(50, 2).parts()} == {0, 1}


def test_models_of_several_slices_are_collected_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_LONGEST", 1e-9)
    task = swept(60, 3, seeds=7)
    parts = task.parts()
    assert {part.replicas for part in parts} == {1}
    results = [run_slice(task, part) for part in parts]
    own = [
        one.values["accuracy"][one.part.epsilon.index(0.1), 0]
        for one in results
        if one.part.method == "dp_sgd" and 0.1 in one.part.epsilon
    ]
    assert (len(own), len(set(own)) > 1) == (7, True), "each draws by itself"
    frame = collect(task, results).query("method == 'dp_sgd' and epsilon == 0.1 and metric == 'accuracy'")
    assert frame["value"].tolist() == pytest.approx([np.mean(own)])
