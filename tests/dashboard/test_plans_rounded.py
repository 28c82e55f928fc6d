"""Plans and what is said of a budget are rounded to the side of caution: needs and what is spent up, the rest down."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.budget import kinds
from dashboard.budget.kinds import Wish
from dashboard.budget.pricing import priced
from dashboard.words import release as release_said
from dashboard.words import tracker as said
from dpcore.calibration import zcdp_gaussian_noise_multiplier, zcdp_rho
from dpcore.planning import price
from dpcore.training.count_noise import GaussianNoise, LaplaceNoise
from tests.dashboard.conftest import text
from tests.dashboard.test_budget_page import go

Open = Callable[..., AppTest]
DELTA = 1e-7
NEAR = (0.5, 0.99, 1.0, 1.5, 1.9, 2.0, 2.9, 5.9, 10.0, 10.9, 50.0, 777.7, 1e6)


def within(kind: str, epsilon: float, near: float) -> float:
    """How often a count is at most ``near`` people off, exactly."""
    if kind == "count":
        noise: LaplaceNoise | GaussianNoise = LaplaceNoise(scale=1.0 / epsilon, counts=1)
    else:
        noise = GaussianNoise(scale=zcdp_gaussian_noise_multiplier(zcdp_rho(epsilon, DELTA)), counts=1)
    return 1.0 - 2.0 * float(noise.at_least(math.floor(near) + 1.0))


def as_written(told: str) -> float:
    return float(told.replace(",", ""))


@pytest.mark.parametrize("kind", ["count", "count_gaussian"])
def test_the_epsilon_that_a_count_needs_keeps_it_that_near(kind: str) -> None:
    """In whole people, at the number as it is written, and with no less noise than that takes."""
    needed = kinds.kinds()[kind].needed
    assert needed is not None
    for near in NEAR:
        epsilon = needed(near, DELTA, None, "")
        assert epsilon is not None
        assert within(kind, epsilon, near) == pytest.approx(0.95, abs=1e-6), near
        assert within(kind, as_written(words.no_less(epsilon)), near) >= 0.95, near
        assert within(kind, epsilon * 0.98, near) < 0.95
    assert within("count", math.log(20) / 1.9, 1.9) < 0.94, "what shows that it can fail: noise on any number"


def past(write: Callable[[float], str]) -> int:
    """How many plans cost more than the total where each answer has the ε that is written."""
    found = 0
    for count in (3, 7, 18, 41):
        for total in (1.0, 3.0, 10.0):
            plan = priced([Wish(kind="any", count=count, epsilon=0.5)], 1e-6, None, None, total)
            assert not isinstance(plan, str)
            for rule, share in plan.shares.items():
                wish = Wish(kind="any", count=count, epsilon=as_written(write(0.5 * share)))
                costs = {one.rule: one.epsilon for one in price(kinds.planned([wish], 1e-6, None) or (), 1e-6)}
                found += costs[rule] > total * (1 + 1e-9)
    return found


def test_shares_of_a_plan_keep_the_total() -> None:
    assert past(words.no_more) == 0
    assert past(words.number) > 0, "what shows that it can fail: the nearest number"
    for value in (1 / 6, 2 / 3, 1234.6, 0.0099999, 1.0, 123_456.0):
        assert as_written(words.no_more(value)) <= value <= as_written(words.no_less(value))


def test_the_page_says_them_so(open_app: Open) -> None:
    app = go(open_app("budget", plan_kind="count", plan_count="6", plan_goal_count="1.9"), "Plan answers")
    epsilon = kinds.kinds()["count"].needed(1.9, DELTA, None, "")  # type: ignore[misc]
    assert f"Each needs ε = {words.no_less(epsilon or 0.0)}." in text(app)


SHARES = (0.0, 1e-6, 0.002, 0.0099, 0.01, 0.024, 0.026, 0.5, 0.985, 0.991, 0.997, 1 - 1e-6, 1.0)


def misread(write: Callable[[float], str], *, left: bool) -> list[float]:
    """Shares that read as another side of caution, or as nothing or all before they are."""
    wrong = []
    for share in SHARES:
        told = write(share)
        number = int(re.findall(r"\d+", told)[0]) / 100
        if told.startswith("less than"):
            good = 0.0 < share < number
        elif told.startswith("more than"):
            good = number < share < 1.0
        else:
            good = (number <= share + 1e-9 if left else number >= share - 1e-9) and (number in (0.0, 1.0)) == (
                share in (0.0, 1.0)
            )
        if not good:
            wrong.append(share)
    return wrong


def test_what_is_spent_is_rounded_up_and_what_is_left_down_and_neither_to_nothing_or_all() -> None:
    assert misread(words.in_100, left=False) == []
    assert misread(lambda share: words.in_100(share, left=True), left=True) == []
    nearest = "{:.0f}".format
    assert misread(lambda share: nearest(100 * share), left=False), "what shows that it can fail"
    assert misread(lambda share: nearest(100 * share), left=True)


def test_sentences_have_it_from_there() -> None:
    assert "Less than 1 in 100 of the privacy budget is left" in said.left_share(1.0, 1e-6, 0.003)
    assert "About 99 in 100 of the privacy budget is left" in said.left_share(1.0, 1e-6, 0.997)
    assert release_said.of_budget(0.997, 0.003) == "more than 99 in 100 of the budget, and less than 1 in 100 is left"
    assert release_said.share(0.024) == "about 3 in 100 of the budget"
