"""The two releases of a live room: their exact laws, what one phone can change, and draws that follow the law."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.releases.taps import TapAlarm
from dpcore.releases.teams import ONE, TeamToFollow, first_play, moved, plays_epsilon, sizes, team_rate
from dpcore.validate import IntArray

TEAMS = ("A", "B", "C")


def play(phones: int, happened: tuple[int, ...], rate: float = 0.7) -> TeamToFollow:
    return TeamToFollow(subject="Heads or tails?", teams=TEAMS, phones=phones, happened=happened, rate=rate)


def test_a_team_s_loss_is_the_share_of_its_phones_that_were_wrong() -> None:
    # phones 0 and 3 are in team A, 1 and 4 in B, 2 alone in C
    request = play(5, (1, 0))
    made = np.array([[1, 0], [0, 1], [-1, -1], [1, 1], [0, -1]])
    shares = [[0.0, 1.0, 0.5], [0.5, 0.75, 0.5]]
    assert request.losses(made) / ONE == pytest.approx(np.array(shares), abs=1e-5)
    assert request.law(made) == pytest.approx(_softmax(-0.7 * np.sum(shares, axis=0)), rel=1e-4)


def _softmax(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


@pytest.mark.parametrize("phones", [3, 4, 7])
def test_one_phone_s_predictions_change_no_chance_by_more_than_e_to_the_epsilon(phones: int) -> None:
    """Every prediction of every phone in all rounds, against every other row in its place: exhaustive."""
    rng = np.random.Generator(np.random.PCG64(1))
    worst = 0.0
    for happened in ((1,), (0, 1)):
        request = play(phones, happened)
        rows = list(itertools.product((0, 1, -1), repeat=len(happened)))
        for _ in range(20):
            made = rng.integers(-1, 2, size=(phones, len(happened)))
            for phone in range(phones):
                laws = []
                for row in rows:
                    made[phone] = row
                    laws.append(np.log(request.law(made)))
                spread = np.ptp(np.array(laws), axis=0).max()
                assert spread <= request.epsilon * (1 + 1e-9)
                worst = max(worst, spread / request.epsilon)
    # the bound is no idle one: a team that is all but out of the running moves by nearly all of it
    request = play(phones, (1,) * 30, rate=5.0)
    made = np.zeros((phones, 30), dtype=np.int64)
    made[1::3] = 1
    before = np.log(request.law(made))
    made[2] = 1
    assert np.abs(np.log(request.law(made)) - before).max() == pytest.approx(request.epsilon, rel=0.01)
    assert worst > 0.5


def test_all_plays_together_cost_what_was_declared_or_less() -> None:
    for phones, rounds, epsilon in itertools.product((3, 12, 100), (2, 8, 20), (0.1, 1.0, 5.0)):
        rate = team_rate(epsilon, rounds=rounds, phones=phones, teams=3)
        costs = [play(phones, (0,) * done, rate).cost.epsilon for done in range(1, rounds)]
        assert math.fsum(costs) <= epsilon
        assert math.fsum(costs) == pytest.approx(plays_epsilon(rate, rounds=rounds, phones=phones, teams=3), rel=1e-9)
        capped = rate == pytest.approx(math.sqrt(8 * math.log(3) / rounds))
        assert capped or math.fsum(costs) == pytest.approx(epsilon, rel=1e-5)


def test_teams_are_as_even_as_they_can_be() -> None:
    for phones in range(3, 20):
        found = [sum(place % 3 == team for place in range(phones)) for team in range(3)]
        assert sizes(phones, 3) == found
        assert moved(phones, 3) <= ONE // min(found)


def test_draws_follow_the_law() -> None:
    request = play(6, (1, 1, 0), rate=1.5)
    made = np.array([[1, 1, 0], [0, 0, 1], [1, 0, -1], [1, 1, 1], [0, 1, 1], [-1, -1, -1]])
    count = 1000
    drawn = [request.answer(made)["team"] for _ in range(count)]
    law = request.law(made)
    for team, chance in zip(TEAMS, law, strict=True):
        assert drawn.count(team) / count == pytest.approx(chance, abs=5 * math.sqrt(chance * (1 - chance) / count))
    assert {first_play(TEAMS)["team"] for _ in range(100)} == set(TEAMS)


@pytest.mark.parametrize(
    "wrong", [{"teams": ("A",)}, {"teams": ("A", "A", "B")}, {"phones": 2}, {"happened": ()}, {"happened": (2,)}]
)
def test_what_cannot_be_followed_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        replace(play(6, (1, 0)), **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        replace(play(6, (1,)), neighbours="add_remove")


# -- the alarm ---------------------------------------------------------------------------------------------------------


class Recorded:
    """Counts that are known already."""

    def __init__(self, counts: list[int]) -> None:
        self.kept, self.looked = counts, 0

    def counts(self) -> Iterator[int]:
        for count in self.kept:
            self.looked += 1
            yield count


def alarm(looks: int, line: int = 5, epsilon: float = 1.0) -> TapAlarm:
    return TapAlarm(subject="I am lost", line=line, looks=looks, epsilon=epsilon)


def taps(times: tuple[int, ...], looks: int) -> IntArray:
    """Counts at each look when phones tap at these looks; a time of ``looks`` or more is never."""
    return np.array([sum(time <= look for time in times) for look in range(looks)], dtype=np.int64)


def test_one_phone_s_tap_changes_no_chance_by_more_than_e_to_the_epsilon() -> None:
    """Whenever one phone taps, or never, against any other time: exhaustive over its times and over the others'."""
    looks, request = 5, alarm(5, line=3, epsilon=1.0)
    worst = 0.0
    for others in itertools.combinations_with_replacement(range(looks + 1), 4):
        laws = np.log([request.law(taps((*others, mine), looks)) for mine in range(looks + 1)])
        worst = max(worst, float(np.ptp(laws, axis=0).max()))
    assert 0.8 <= worst <= 1.0 + 1e-9


def test_a_tap_that_could_be_taken_back_would_cost_more() -> None:
    """Why a tap stays: counts that one phone moves up here and down there are not covered by this noise."""
    request = alarm(40, line=1, epsilon=1.0)
    low = np.array([0] * 39 + [1], dtype=np.int64)
    high = np.array([1] * 39 + [0], dtype=np.int64)
    assert abs(np.log(request.law(low)[39]) - np.log(request.law(high)[39])) > 1.0 + 1e-6


def test_scales_are_never_too_small() -> None:
    for epsilon in (0.01, 0.1, 1 / 3, 0.5, 1.0, 2.0, 10.0):
        pair = alarm(3, epsilon=epsilon).scales
        assert 1 / Fraction(pair.threshold_scale) + 1 / Fraction(pair.query_scale) <= Fraction(epsilon)


def test_the_alarm_s_draws_follow_the_law_and_stop_listening() -> None:
    counts = [0, 1, 2, 4, 6, 7]
    request, runs = alarm(6, line=4, epsilon=2.0), 600
    drawn = [request.answer(Recorded(counts))["look"] for _ in range(runs)]
    for look, chance in zip((1, 2, 3, 4, 5, 6, None), request.law(np.array(counts)), strict=True):
        assert drawn.count(look) / runs == pytest.approx(chance, abs=5 * math.sqrt(chance * (1 - chance) / runs) + 1e-9)
    heard = Recorded([10**6, 0, 0])
    assert alarm(3).answer(heard) == {"look": 1, "looks": 3}
    assert heard.looked == 1
    endless = Recorded([0] * 100)
    assert alarm(4, line=1000).answer(endless) == {"look": None, "looks": 4}
    assert endless.looked == 4
