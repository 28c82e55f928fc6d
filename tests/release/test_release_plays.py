"""Private plays: the exact law of what is drawn, its guarantee on neighbours, and one charge by the release path."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dpcore.errors import BudgetExceeded, InvalidArgument, ReleaseRefused
from dpcore.experts import Batched, DoublingLeader, WeightedMajority
from dpcore.ledger import Ledger
from dpcore.release import question_digest, release
from dpcore.releases.plays import ONE, UNIT, WAYS, PrivatePlays

NAMES = ("Ann", "Bo", "Cy")


def request(**fields: object) -> PrivatePlays:
    delta = 1e-6 if fields.get("way", "batched") == "batched" else 0.0
    return PrivatePlays(**{"epsilon": 2.0, "delta": delta, "rounds": 12, "experts": NAMES} | fields)


def laws(plays: PrivatePlays, losses: np.ndarray) -> np.ndarray:
    """The exact law of each batched play: OpenDP's Gumbel noise of scale 2·2²⁰/(2η) on whole numbers."""
    scores = np.array(list(plays.scores(losses)))
    logits = (scores - scores.max(axis=1, keepdims=True)) * (2 * plays.rate / (2 * ONE))
    weights = np.exp(logits)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def losses() -> np.ndarray:
    return np.random.default_rng(0).random((12, 3))


def test_scores_are_whole_and_one_round_moves_them_by_at_most_one(losses: np.ndarray) -> None:
    """For every round replaced by every corner, and by values that round either way; so sensitivity 2²⁰ is exact."""
    rng = np.random.default_rng(1)
    rows = [*map(np.array, itertools.product((0.0, 1.0), repeat=3)), *(rng.random((5, 3)) + UNIT / 2).clip(0, 1)]
    for way in WAYS:
        plays = request(way=way, hold=2 if way == "batched" else None)
        before = np.array(list(plays.scores(losses)))
        assert before.dtype == np.int64
        for place, row in itertools.product(range(12), rows):
            other = losses.copy()
            other[place] = row
            moved = np.abs(np.array(list(plays.scores(other))) - before)
            assert moved.max() <= ONE
            if way != "batched":
                assert (moved.max(axis=1) > 0).sum() <= 1  # each round is looked at once


def test_bounded_range_of_the_discrete_law_is_exact() -> None:
    """Worst-case neighbours: the log-ratio's range over experts is 2η, to rounding, and never more on others."""
    plays = request(hold=1)
    rng, worst = np.random.default_rng(2), 0.0
    for trial in range(100):
        table = rng.random((12, 3))
        other = table.copy()
        table[0], other[0] = ((0, 1, 1), (1, 0, 0)) if trial == 0 else rng.random((2, 3))
        worst = max(worst, float(np.ptp(np.log(laws(plays, table)) - np.log(laws(plays, other)), axis=1).max()))
    assert worst == pytest.approx(2 * plays.rate, rel=1e-9)


def test_the_law_is_the_strategies(losses: np.ndarray) -> None:
    """Rounding to 2⁻²⁰ aside, plays are those of the strategy that the curves show."""
    batched = Batched(epsilon=2.0, delta=1e-6, rounds=12, experts=3, hold=2, rule="zcdp")
    plays = request(hold=2)
    np.testing.assert_allclose(np.repeat(laws(plays, losses), 2, axis=0), batched.weights(losses), atol=1e-5)
    assert plays.cost == batched.cost
    assert request(hold=1).cost == WeightedMajority(epsilon=2.0, delta=1e-6, rounds=12, experts=3, rule="zcdp").cost
    assert request(way="doubling_leader").cost == DoublingLeader(epsilon=2.0, rounds=12, experts=3).cost
    assert request().held == Batched(epsilon=2.0, delta=1e-6, rounds=12, experts=3).held


def misfit(way: str, losses: np.ndarray, tilt: float) -> float:
    """p-value of the last of the plays in 600 answers against its exact law."""
    epsilon = 6.0 if way == "batched" else 2.0
    plays = request(epsilon=epsilon, way=way, hold=4 if way == "batched" else None)
    last = [plays.answer(losses)["plays"][-1] for _ in range(600)]
    if way == "batched":
        law = laws(plays, losses)[-1]
    else:
        from dpcore.selection import PermuteAndFlip

        law = PermuteAndFlip(epsilon=epsilon).probabilities(list(plays.scores(losses))[-1] * UNIT)
    law = law * np.where(law == law.max(), 1 - tilt, 1.0)
    return float(stats.chisquare(np.bincount(last, minlength=3), 600 * law / law.sum()).pvalue)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_drawn_obeys_the_law(way: str, losses: np.ndarray) -> None:
    """Operating-system entropy, so not repeatable: χ² at 10⁻⁶; a law with 60 % off the likeliest chance is refused."""
    assert misfit(way, losses, 0.0) > 1e-6
    assert misfit(way, losses, 0.6) < 1e-6


def test_the_answer(losses: np.ndarray) -> None:
    told: list[float] = []
    answer = request(hold=5).answer(losses, told.append)
    assert answer["starts"] == [0, 5, 10]
    assert answer["experts"] == list(NAMES)
    assert answer["rounds"] == 12
    assert len(answer["plays"]) == 3
    assert set(answer["plays"]) <= {0, 1, 2}
    assert told == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert request(way="doubling_leader").answer(losses)["starts"] == [0, 1, 3, 7]
    assert request(way="from_now_on").answer(losses)["starts"] == [12]


def test_one_charge_through_the_release_path(tmp_path: Path, losses: np.ndarray) -> None:
    """Paid before the noise, once for one request id; a second one that does not fit is refused, wrong data too."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    ledger.open_budget("people", epsilon=0.45, delta=1e-6)
    told: list[float] = []
    asked = request(epsilon=0.3)
    first = release(ledger, "once", "people", asked, losses, progress=told.append)
    assert told[-1] == 1.0
    left = ledger.remaining("people")
    assert release(ledger, "once", "people", asked, losses).answer == first.answer
    assert ledger.remaining("people") == left
    with pytest.raises(ReleaseRefused, match="cannot be used"):
        release(ledger, "bad", "people", asked, losses * 2)
    assert ledger.remaining("people") == left
    with pytest.raises(BudgetExceeded):
        release(ledger, "twice", "people", asked, losses)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"way": "doubling_leader", "delta": 1e-6}, "delta"),
        ({"way": "best"}, "way"),
        ({"rounds": 1}, "rounds"),
        ({"experts": ("Ann",)}, "experts"),
        ({"experts": ("Ann", "Ann")}, "experts"),
        ({"hold": 0}, "hold"),
        ({"hold": 13}, "hold"),
        ({"way": "from_now_on", "hold": 2}, "hold"),
    ],
)
def test_bad_requests_are_named(change: dict, name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        request(**change)
    assert caught.value.argument == name


def test_words() -> None:
    assert request().what == "Which of 3 experts to follow in each of 12 rounds"
    assert request(way="from_now_on").what == "Which of 3 experts to follow from now on, after 12 rounds"
    assert "Exponential mechanism" in request().mechanism
    assert "Permute-and-flip" in request(way="from_now_on").mechanism
    assert all(request(way=way).neighbours == "replace_one" for way in WAYS)


def test_what_the_losses_are_is_part_of_the_question() -> None:
    """Equal public numbers about other losses are another question, and its sentence says which."""
    rain, snow = request(subject="misses of rain"), request(subject="misses of snow")
    assert question_digest(rain) != question_digest(snow)
    assert "“misses of rain”" in rain.what
