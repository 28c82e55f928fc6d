"""The released answer's exact law on neighbouring rooms, and what the phones are told about it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from dashboard.poll import forecast
from dashboard.poll.asked import Poll, Vote
from dashboard.words import at_most, odds
from dashboard.words import poll as said
from tests.poll.conftest import POLLS, SLEEP, SNACKS, YES_NO

ROUNDING = 1e-9


def possible(poll: Poll) -> list[Vote | None]:
    """All that one phone can have said, silence included."""
    return [None, *(poll.choices or [float(number) for number in poll.grid[::12]])]


def farthest(poll: Poll, epsilon: float, request_epsilon: float) -> float:
    """The largest |ln| of two laws' ratio over neighbouring rooms of up to four phones, at ``request_epsilon``."""
    worst = 0.0
    values = possible(poll)
    for others in itertools.chain(*(itertools.combinations_with_replacement(values, k) for k in range(3))):
        laws = [forecast.law(poll, [*others, mine], request_epsilon) for mine in values]
        for first, second in itertools.permutations(laws, 2):
            worst = max(worst, float(np.abs(np.log(first / second)).max()))
    return worst


@pytest.mark.parametrize("poll", POLLS, ids=lambda poll: poll.form)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_any_vote_for_any_other_moves_the_law_by_at_most_epsilon(poll: Poll, epsilon: float) -> None:
    """Every pair of votes, silence too, in every small room; and the bound is nearly used, so it is not a loose one."""
    worst = farthest(poll, epsilon, epsilon)
    assert worst <= epsilon + ROUNDING
    assert worst > 0.3 * epsilon


@pytest.mark.parametrize("poll", POLLS, ids=lambda poll: poll.form)
def test_the_check_above_finds_a_law_with_too_little_noise(poll: Poll) -> None:
    """A mutant: the answer drawn with the noise of four times the ε that is charged."""
    assert farthest(poll, 0.5, 2.0) > 0.5 + ROUNDING


def test_the_wrong_relation_would_break_the_promise_to_phones() -> None:
    """Were the poll charged as for a phone added or removed, a changed vote would move the law by more than ε."""
    wrong = replace(SNACKS.request, neighbours="add_remove")
    laws = [wrong.law(SNACKS.rows(["Fruit", "Cake", mine])) for mine in ("Fruit", "Cake", "Nothing")]
    worst = max(float(np.abs(np.log(a / b)).max()) for a, b in itertools.permutations(laws, 2))
    assert worst > SNACKS.epsilon + 0.1


@pytest.mark.parametrize("poll", POLLS, ids=lambda poll: poll.form)
def test_what_a_phone_is_told_is_what_the_laws_allow(poll: Poll) -> None:
    votes = possible(poll)[1:]
    for mine, other in itertools.permutations([*votes[:3], None], 2):
        found = forecast.otherwise(poll, forecast.usual_lead(poll), mine, other)
        assert found.allowed == pytest.approx(odds(poll.epsilon))
        assert 50.0 <= found.told <= found.allowed + ROUNDING
        assert found.mine.sum() == pytest.approx(1.0)
        even = found.mine / (found.mine + found.other)  # of an even bet, after each answer
        assert found.told == pytest.approx(100 * max(even.max(), 1 - even.min()))
    assert f"**{at_most(odds(0.5))}** in 100" in said.protection(0.5)
    assert at_most(odds(0.5)) == "62.3"  # 100·e^½/(1 + e^½) = 62.246, never rounded down


def test_the_forecast_is_the_request_s_own_law_in_a_simulated_room() -> None:
    """More privacy, fewer right answers; the curve passes through the chance that is said; and it knows no vote."""
    for poll in POLLS:
        lead = forecast.usual_lead(poll)
        frame = forecast.curve(poll, lead)
        value = frame["value"].to_numpy()
        votes = forecast.simulated(poll, lead, poll.people)
        assert len(votes) == poll.people
        at = forecast.law(poll, votes, float(frame["epsilon"].iloc[40]))[forecast.right(poll, votes)].sum()
        assert value[40] == pytest.approx(at)
        assert value[-1] > 0.97 > value[0]
        assert forecast.chance(poll, lead) == pytest.approx(
            np.interp(math.log(poll.epsilon), np.log(frame["epsilon"]), value), abs=0.01
        )


def test_a_wider_lead_is_easier() -> None:
    poll = replace(YES_NO, people=200)
    assert forecast.chance(poll, 80) > forecast.chance(poll, 55)
    counts = forecast.counted(poll, forecast.simulated(poll, 80, 200))
    assert counts.sum() == 200
    assert counts[0] > 140


def test_the_released_frequencies_follow_the_law() -> None:
    """OpenDP's draws against the exact law: a chi-square of 3,000 answers, passed by all but 1 in 100,000 runs."""
    votes = ["Fruit"] * 5 + ["Cake"] * 3 + ["Nothing"]
    law = forecast.law(SNACKS, votes)
    rows = SNACKS.rows(votes)
    found = SNACKS.request.read(rows)
    drawn = [SNACKS.outcomes.index(SNACKS.request.draw(found)["option"]) for _ in range(3000)]
    counts = np.bincount(drawn, minlength=3)
    assert float((((counts - 3000 * law) ** 2) / (3000 * law)).sum()) < 23.03  # χ² with 2 degrees, 1e-5
    assert SLEEP.outcomes[:3] == ("0", "0.5", "1")
