"""From a person's table to losses, each thing that can be wrong with it in one sentence; and the simulated stories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.experts import STORIES, Scenario, check_days, from_forecasts, from_losses, from_prices, scenario_losses

NAMES = ("Ann", "Bo")
TABLE = np.array([[1.0, 4.0], [2.0, 3.0], [5.0, 1.0]])
OUTCOME = np.array([2.0, 2.0, 2.0])


def test_losses_by_bounds() -> None:
    found = from_losses(TABLE, NAMES, 0.0, 5.0)
    np.testing.assert_allclose(found.values, TABLE / 5)
    assert (found.rounds, found.experts, found.names) == (3, 2, NAMES)
    assert found.meaning == "0 is a loss of 0, 1 a loss of 5"
    assert not found.values.flags.writeable


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("squared", (TABLE - 2) ** 2 / 25),
        ("absolute", np.abs(TABLE - 2) / 5),
        ("zero_one", (TABLE != 2).astype(float)),
    ],
)
def test_forecasts(kind: str, expected: np.ndarray) -> None:
    np.testing.assert_allclose(from_forecasts(TABLE, OUTCOME, NAMES, 0.0, 5.0, kind=kind).values, expected)


def test_prices() -> None:
    """A rise by 10 % at bounds ±20 % is a loss of .25; a fall by 50 % is moved to the bound: 1."""
    prices = np.array([[1.0, 1.0], [1.1, 0.5], [1.1, 0.6]])
    np.testing.assert_allclose(from_prices(prices, NAMES, -0.2, 0.2).values, [[0.25, 1.0], [0.5, 0.0]], atol=1e-12)
    with pytest.raises(InvalidArgument, match="“Bo” goes outside"):
        from_prices(prices, NAMES, -0.2, 0.2, clip=False)


def test_clipping() -> None:
    np.testing.assert_allclose(from_losses(TABLE, NAMES, 1.0, 3.0, clip=True).values, [[0, 1], [0.5, 1], [1, 0]])


def gap() -> np.ndarray:
    broken = TABLE.copy()
    broken[1, 1] = np.nan
    return broken


@pytest.mark.parametrize(
    ("call", "argument", "sentence"),
    [
        (lambda: from_losses(TABLE, NAMES, 0, 4), "bounds", "“Ann” goes outside 0 to 4; widen them, or clip"),
        (lambda: from_forecasts(TABLE, OUTCOME + 9, NAMES, 0, 5), "bounds", "“outcome” goes outside"),
        (lambda: from_losses(gap(), NAMES, 0, 5), "losses", "missing days of “Bo”"),
        (lambda: from_forecasts(TABLE, np.array([1, np.nan, 2]), NAMES, 0, 5), "outcome", "missing days of “outcome”"),
        (lambda: from_losses(TABLE[:, :1], NAMES[:1], 0, 5), "experts", "at least two"),
        (lambda: from_losses(TABLE[:1], NAMES, 0, 5), "losses", "at least two days"),
        (lambda: from_prices(TABLE[:2], NAMES, -1, 1), "prices", "at least three days"),
        (lambda: from_prices(TABLE - 1, NAMES, -1, 1), "prices", "greater than 0"),
        (lambda: from_losses(TABLE, ("Ann", "Ann"), 0, 5), "experts", "same column was chosen twice"),
        (lambda: from_losses(TABLE[:, [0, 0]], NAMES, 0, 5), "experts", "“Ann” and “Bo” lose the same on every day"),
        (lambda: from_losses(TABLE.astype(str), NAMES, 0, 5), "losses", "must be numbers in every column"),
        (lambda: from_losses(TABLE, ("Ann", "Bo", "Cy"), 0, 5), "losses", "one column for each name"),
        (lambda: from_losses(np.where(TABLE > 4, np.inf, TABLE), NAMES, 0, 5), "losses", "finite"),
        (lambda: from_losses(TABLE, NAMES, 5, 0), "bounds", "lower one below"),
        (lambda: from_losses(TABLE, NAMES, 0, np.inf), "bounds", "infinite"),
        (lambda: from_forecasts(TABLE, OUTCOME[:2], NAMES, 0, 5), "outcome", "one value for each day"),
        (lambda: from_forecasts(TABLE, OUTCOME, NAMES, 0, 5, kind="cubic"), "kind", "one of squared"),
    ],
)
def test_each_fault_has_its_sentence(call: Callable[[], Any], argument: str, sentence: str) -> None:
    with pytest.raises(InvalidArgument, match=sentence) as caught:
        call()
    assert caught.value.argument == argument
    assert "\n" not in str(caught.value)


def test_days() -> None:
    assert check_days([1, 2, 3, 5, 6]) == 1
    assert check_days(np.array(["2024-01-05", "2024-01-08", "2024-01-09", "2024-01-10"], "M8[D]")) == 1
    assert check_days([3]) == 0
    for days, sentence in (
        ([1, 1, 2], "all be different"),
        ([2, 1], "the earliest first"),
        ([1.0, np.nan], "missing in any row"),
        (np.array(["2024-01-05", "NaT"], "M8[D]"), "missing in any row"),
        (["Monday"], "dates or numbers"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            check_days(days)


@pytest.mark.parametrize("story", list(STORIES))
def test_stories(story: str) -> None:
    """Zeros and ones, repeatable, another seed another run, and a longer run begins with the shorter one."""
    scenario = Scenario(story=story, experts=7, period=50, seed=3)
    losses = scenario.losses(300)
    assert losses.dtype == np.uint8
    assert set(np.unique(losses)) <= {0, 1}
    np.testing.assert_array_equal(losses, scenario.losses(300))
    np.testing.assert_array_equal(losses[:120], scenario.losses(120))
    assert STORIES[story].about.endswith(".")
    if story != "adversarial":
        assert (losses != Scenario(story=story, experts=7, period=50, seed=4).losses(300)).any()


def test_what_the_stories_tell() -> None:
    """Means of 4,000 rounds, sd .008; ±5 sd."""
    gap_ = Scenario(story="gap", experts=4, gap=0.2).losses(4000).mean(axis=0)
    np.testing.assert_allclose(gap_, [0.3, 0.5, 0.5, 0.5], atol=0.04)
    late = Scenario(story="late", experts=4, gap=0.2, period=2000).losses(4000)
    assert late[:2000, 3].mean() > 0.65
    assert late[2000:, 3].mean() < 0.15
    switching = Scenario(story="switching", experts=5, gap=0.3, period=1000).losses(3000)
    assert [int(part.mean(axis=0).argmin()) for part in np.split(switching, 3)] == [0, 1, 2]
    drifting = Scenario(story="drifting", experts=4, gap=0.5, period=400).losses(400)
    assert drifting[50:150, 0].mean() < 0.2 < 0.8 < drifting[250:350, 0].mean()


def test_the_adversary_always_hits_the_leader() -> None:
    losses = Scenario(story="adversarial", experts=3).losses(30)
    for day in range(30):
        assert losses[day, int(losses[:day].sum(axis=0).argmin())] == 1
        assert losses[day].sum() == 1


def test_scenario_refusals() -> None:
    for change, name in (
        ({"story": "calm"}, "story"),
        ({"experts": 1}, "experts"),
        ({"gap": 0.6}, "gap"),
        ({"period": 1}, "period"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            Scenario(**{"story": "gap"} | change)
        assert caught.value.argument == name
    with pytest.raises(InvalidArgument, match="1,000,000,000"):
        scenario_losses("gap", 10**9, 10)
    assert scenario_losses("switching", 30, 3).shape == (30, 3)
