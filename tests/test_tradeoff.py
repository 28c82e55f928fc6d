"""Sweeps and their inversion, on a problem whose answers are known in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.tradeoff import (
    COLUMNS,
    Estimate,
    Metric,
    epsilon_for,
    epsilon_for_most,
    keyed,
    share_above,
    size_for,
    sweep_both,
    sweep_epsilon,
    sweep_size,
)


@dataclass(frozen=True)
class Toy:
    """success = 1 − exp(−ε·n/100), loss = 1/(ε·n); a bound half as good; a band when asked for."""

    n: int = 50
    band: float = 0.1
    methods: tuple[str, ...] = ("toy", "theory")

    @property
    def metrics(self) -> dict:
        return keyed(
            Metric(key="success", name="Success", title="success", better="higher"),
            Metric(key="loss", name="Loss", title="loss", better="lower"),
        )

    @property
    def central(self) -> Toy:
        return Toy(n=self.n, band=0.0)

    def evaluate(self, method: str, metric: str, epsilon: np.ndarray, n: np.ndarray) -> Estimate:
        strength = epsilon * n / (2.0 if method == "theory" else 1.0)
        value = 1 - np.exp(-strength / 100) if metric == "success" else 1 / strength
        if method == "theory":
            return Estimate.bound(value)
        return Estimate.exact(value, value - self.band, value + self.band)


def test_a_sweep_has_a_row_for_every_setting() -> None:
    frame = sweep_epsilon(Toy(), [0.1, 1.0, 10.0])
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 3 * 2 * 2
    assert (frame["n"] == 50).all()
    row = frame[(frame["method"] == "toy") & (frame["metric"] == "loss") & (frame["epsilon"] == 10)].iloc[0]
    assert row["value"] == pytest.approx(1 / 500)
    assert row["low"] == pytest.approx(1 / 500 - 0.1)
    assert row["kind"] == "exact"
    assert set(frame[frame["method"] == "theory"]["kind"]) == {"bound"}
    for column in ("epsilon", "n", "value", "low", "high"):
        assert frame[column].dtype == np.float64


def test_sweeps_may_choose_methods_metrics_and_sizes() -> None:
    frame = sweep_size(Toy(), [10, 20], epsilon=2.0, methods=["toy"], metrics=["loss"])
    assert frame["value"].tolist() == [1 / 20, 1 / 40]
    assert sweep_epsilon(Toy(), [1.0], n=400, methods=["toy"], metrics=["loss"])["value"].tolist() == [1 / 400]
    grid = sweep_both(Toy(), [1.0, 2.0], [10, 20, 30], method="toy", metric="loss")
    assert grid["n"].tolist() == [10, 10, 20, 20, 30, 30]
    assert grid["value"].tolist() == [1 / 10, 1 / 20, 1 / 20, 1 / 40, 1 / 30, 1 / 60]
    assert (grid["low"] == grid["high"]).all()  # the map leaves bands out


def test_inversions_find_the_smallest() -> None:
    """To one part in a million for ε, exactly for n, and never on the wrong side."""
    level = epsilon_for(0.9, Toy(), method="toy", metric="success")
    assert level is not None
    assert 0 <= level / (np.log(10) * 100 / 50) - 1 < 1e-6
    assert epsilon_for(0.01, Toy(), method="toy", metric="loss") == pytest.approx(2.0, rel=1e-6)
    assert size_for(0.01, Toy(), method="toy", metric="loss", epsilon=0.7) == 143  # 100/0.7 = 142.86
    assert size_for(0.9, Toy(), method="theory", metric="success", epsilon=1.0) == 461  # 200 ln 10 = 460.5
    assert size_for(1e9, Toy(), method="toy", metric="loss", epsilon=1.0) == 1
    assert epsilon_for(0.9, Toy(), method="toy", metric="success", n=500) == pytest.approx(0.1 * level, rel=1e-6)


def test_what_cannot_be_reached_is_none() -> None:
    assert epsilon_for(2.0, Toy(), method="toy", metric="success") is None
    assert size_for(1e-12, Toy(), method="toy", metric="loss", epsilon=1e-3, high=1000) is None


def test_bad_settings_are_refused_by_name() -> None:
    for bad in ([], [0.0], [-1.0], [float("nan")], ["a"]):
        with pytest.raises(InvalidArgument, match=r"^epsilon "):
            sweep_epsilon(Toy(), bad)
        with pytest.raises(InvalidArgument, match=r"^n "):
            sweep_size(Toy(), bad, epsilon=1.0)
    with pytest.raises(InvalidArgument, match=r"^epsilon "):
        sweep_size(Toy(), [1.0], epsilon=0.0)
    with pytest.raises(InvalidArgument, match=r"^target "):
        epsilon_for(float("nan"), Toy(), method="toy", metric="success")
    with pytest.raises(InvalidArgument, match=r"^high "):
        epsilon_for(0.5, Toy(), method="toy", metric="success", low=1.0, high=0.1)
    with pytest.raises(InvalidArgument, match=r"^metric "):
        size_for(0.5, Toy(), method="toy", metric="speed", epsilon=1.0)


def test_what_most_answers_take_is_where_the_worse_edge_of_the_band_reaches_it() -> None:
    found = epsilon_for_most(0.5, Toy(), method="toy", metric="success")
    assert found == pytest.approx(-np.log(0.4) * 100 / 50, rel=2e-6)
    assert found >= -np.log(0.4) * 100 / 50
    assert epsilon_for_most(0.2, Toy(), method="toy", metric="loss") == pytest.approx(1 / 50 / 0.1, rel=2e-6)
    assert epsilon_for_most(0.95, Toy(), method="toy", metric="success", high=1e3) is None, "the edge ends at .9"
    assert epsilon_for_most(-0.1, Toy(), method="toy", metric="success", low=0.01) == 0.01
    for call in (epsilon_for, epsilon_for_most):
        with pytest.raises(InvalidArgument, match="metric"):
            call(0.5, Toy(), method="toy", metric="speed")


def test_from_there_on_no_level_fails_where_answers_differ_most_in_between() -> None:
    @dataclass(frozen=True)
    class Bump(Toy):
        """A loss that hardly falls, and a band that is wide around ε = 1 alone."""

        def evaluate(self, method: str, metric: str, epsilon: np.ndarray, n: np.ndarray) -> Estimate:
            value = 1.0 - 0.01 * epsilon / (1.0 + epsilon)
            return Estimate.exact(value, value, value + np.exp(-4 * np.log(epsilon) ** 2))

    found = epsilon_for_most(1.1, Bump(), method="toy", metric="loss", low=1e-3, high=1e3)
    assert found is not None
    later = found * np.geomspace(1.0, 100.0, 200)
    assert (Bump().evaluate("toy", "loss", later, later).high <= 1.1).all()
    assert Bump().evaluate("toy", "loss", np.array([found * 0.999]), later).high[0] > 1.1
    assert found > 1.0, "the first level of all reaches it too, and is not the answer"


def test_a_tenth_lies_above_the_edge_of_a_band_of_eighty() -> None:
    assert share_above(12.0, 10.0, 12.0, 0.8) == pytest.approx(0.1)
    assert share_above(10.0, 10.0, 12.0, 0.8) == 0.5
    assert share_above(8.0, 10.0, 12.0, 0.8) == pytest.approx(0.9)
    with pytest.raises(InvalidArgument, match="high"):
        share_above(8.0, 10.0, 10.0, 0.8)
