"""Private plays: the exact law of what is drawn, its guarantee on neighbours, and one charge by the release path."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import BudgetExceeded, InvalidArgument, ReleaseRefused
from dpcore.experts import Batched, DoublingLeader, WeightedMajority
from dpcore.ledger import Ledger
from dpcore.release import question_digest, release
from dpcore.releases.plays import ONE, UNIT, WAYS, PrivatePlays

NAMES = ("Ann", "Bo", "Cy")
COLUMNS = tuple(Column(name=name, type="number", low=0, high=1) for name in NAMES)
DAYS = Declaration(columns=(*COLUMNS, Column(name="rain", type="yes/no")), each_row="step", hidden="replace_one")


def request(**fields: object) -> PrivatePlays:
    delta = 1e-6 if fields.get("way", "batched") == "batched" else 0.0
    experts = fields.pop("experts", NAMES)
    return PrivatePlays.of(DAYS, experts, **{"epsilon": 2.0, "delta": delta, "rounds": 12} | fields)  # type: ignore[arg-type]


def file(losses: np.ndarray) -> PrivateRows:
    """Losses as the cells of a file, to the last digit."""
    return PrivateRows(
        pd.DataFrame({name: [repr(float(x)) for x in column] for name, column in zip(NAMES, losses.T, strict=True)})
    )


def laws(plays: PrivatePlays, losses: np.ndarray) -> np.ndarray:
    """The exact law of each batched play: OpenDP's Gumbel noise of scale 2·2²⁰/(2η) on whole numbers."""
    scores = np.array(list(plays.scores(plays.read(file(losses)))))
    logits = (scores - scores.max(axis=1, keepdims=True)) * (2 * plays.rate / (2 * ONE))
    weights = np.exp(logits)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def losses() -> np.ndarray:
    return np.random.default_rng(0).random((12, 3))


@pytest.mark.thorough
def test_scores_are_whole_and_one_round_moves_them_by_at_most_one(losses: np.ndarray) -> None:
    """For every round replaced by every corner, and by values that round either way; so sensitivity 2²⁰ is exact."""
    rng = np.random.default_rng(1)
    rows = [*map(np.array, itertools.product((0.0, 1.0), repeat=3)), *(rng.random((5, 3)) + UNIT / 2).clip(0, 1)]
    for way in WAYS:
        plays = request(way=way, hold=2 if way == "batched" else None)
        before = np.array(list(plays.scores(plays.read(file(losses)))))
        assert before.dtype == np.int64
        for place, row in itertools.product((0, 1, 6, 11), rows):
            other = losses.copy()
            other[place] = row
            moved = np.abs(np.array(list(plays.scores(plays.read(file(other))))) - before)
            assert moved.max() <= ONE
            if way != "batched":
                assert (moved.max(axis=1) > 0).sum() <= 1  # each round is looked at once


@pytest.mark.parametrize("each_row", ["step", "record"])
def test_a_row_left_empty_moves_its_own_round_alone(each_row: str, losses: np.ndarray) -> None:
    """The rounds after it stay where they are; else one row would move them all."""
    plays = PrivatePlays.of(replace(DAYS, each_row=each_row), NAMES, rounds=12, epsilon=2.0, delta=1e-6)
    cells = pd.DataFrame({name: [repr(float(x)) for x in row] for name, row in zip(NAMES, losses.T, strict=True)})
    empty = cells.copy()
    empty.loc[3] = ""
    apart = plays.read(PrivateRows(cells)) - plays.read(PrivateRows(empty))
    assert np.flatnonzero(np.abs(apart).max(axis=1)).tolist() == [3]
    assert np.abs(apart).max() <= ONE // 2


def test_bounded_range_of_the_discrete_law_is_exact() -> None:
    """Worst-case neighbours: the log-ratio's range over experts is 2η, to rounding, and never more on others."""
    plays = request(hold=1)
    rng, worst = np.random.default_rng(2), 0.0
    for trial in range(30):
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
    units = plays.read(file(losses))
    last = [plays.draw(units)["plays"][-1] for _ in range(600)]
    law = plays.law_of(units)[-1]
    law = law * np.where(law == law.max(), 1 - tilt, 1.0)
    return float(stats.chisquare(np.bincount(last, minlength=3), 600 * law / law.sum()).pvalue)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_drawn_obeys_the_law(way: str, losses: np.ndarray) -> None:
    """Operating-system entropy, so not repeatable: χ² at 10⁻⁶; a law with 60 % off the likeliest chance is refused."""
    assert misfit(way, losses, 0.0) > 1e-6
    assert misfit(way, losses, 0.6) < 1e-6


def test_the_answer(losses: np.ndarray) -> None:
    told: list[float] = []
    answer = request(hold=5).answer(file(losses), told.append)
    assert answer["starts"] == [0, 5, 10]
    assert answer["experts"] == list(NAMES)
    assert answer["rounds"] == 12
    assert len(answer["plays"]) == 3
    assert set(answer["plays"]) <= {0, 1, 2}
    assert told == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert request(way="doubling_leader").answer(file(losses))["starts"] == [0, 1, 3, 7]
    assert request(way="from_now_on").answer(file(losses))["starts"] == [12]


def test_one_charge_through_the_release_path(tmp_path: Path, losses: np.ndarray) -> None:
    """Paid before the noise, once for one request id; a second one that does not fit is refused, wrong data too."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    ledger.open_budget("people", epsilon=0.45, delta=1e-6)
    told: list[float] = []
    asked = request(epsilon=0.3)
    first = release(ledger, "once", "people", asked, file(losses), progress=told.append)
    assert told[-1] == 1.0
    left = ledger.remaining("people")
    assert release(ledger, "once", "people", asked, file(losses)).answer == first.answer
    assert ledger.remaining("people") == left
    with pytest.raises(ReleaseRefused, match="lack a column"):
        release(ledger, "bad", "people", asked, PrivateRows(pd.DataFrame({"Ann": ["1"]})))
    assert ledger.remaining("people") == left
    with pytest.raises(BudgetExceeded):
        release(ledger, "twice", "people", asked, file(losses))


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
    asked = "Which of 3 experts (what each lost, from 0 to 1) should be followed"
    assert request().what == f"{asked} in each of 12 rounds?"
    assert request(way="from_now_on").what == f"{asked} from now on, after 12 rounds?"
    assert "Exponential mechanism" in request().mechanism
    assert "Permute-and-flip" in request(way="from_now_on").mechanism
    assert all(request(way=way).neighbours == "replace_one" for way in WAYS)


def test_what_the_losses_are_is_part_of_the_question() -> None:
    """Equal public numbers about other losses are another question, and its sentence says which."""
    losses, misses = request(), request(kind="squared", outcome="rain")
    assert question_digest(losses) != question_digest(misses)
    assert "judged by the squared miss of “rain”" in misses.what


def test_every_cell_makes_a_loss() -> None:
    """Missing, unreadable and far out; fewer rows and more rows than rounds; equal columns: all are answered."""
    cells = {
        "Ann": ["", "x", "7", "-1", "0.25"],
        "Bo": ["0.5"] * 5,
        "Cy": ["0.5"] * 5,
        "rain": ["yes", "", "?", "no", "yes"],
    }
    odd = PrivateRows(pd.DataFrame(cells))
    asked = request(rounds=7, way="from_now_on")
    units = asked.read(odd)
    assert (units[:, 0] / ONE).tolist() == [0.5, 0.5, 1.0, 0.0, 0.25, 0.5, 0.5]
    assert (units[:, 1] == units[:, 2]).all()
    assert asked.answer(odd)["plays"][0] in (0, 1, 2)
    assert request(rounds=2).read(odd).shape == (2, 3)
    wrong = request(rounds=5, kind="zero_one", outcome="rain").read(odd) / ONE
    assert wrong[:, 0].tolist() == [0.5, 0.5, 0.5, 0.0, 1.0]


def market(gold: list[str], tin: list[str]) -> PrivateRows:
    return PrivateRows(pd.DataFrame({"gold": gold, "tin": tin}))


PRICES = Declaration(
    columns=tuple(Column(name=name, type="number") for name in ("gold", "tin")), each_row="step", hidden="replace_one"
)


@pytest.mark.thorough
def test_one_price_moves_a_total_by_one_and_separate_epochs_by_one_each() -> None:
    """Whatever becomes of one row; which is why the doubling leader alone pays for two rounds."""
    rng = np.random.default_rng(5)
    cells = ["100", "130", "70", "0", "", "x", "1e300", "1e-300"]
    least, apart = 0, 0
    asked = {
        way: PrivatePlays.of(PRICES, ["gold", "tin"], rounds=4, epsilon=1.0, kind="prices", way=way)
        for way in ("from_now_on", "doubling_leader")
    }
    assert {way: one.touched for way, one in asked.items()} == {"from_now_on": 1, "doubling_leader": 2}
    for trial in range(40):
        gold, tin = ([cells[place] for place in rng.integers(8, size=5)] for _ in range(2))
        place = int(rng.integers(5))
        other = [cells[rng.integers(8)] if row == place else cell for row, cell in enumerate(gold)]
        if trial < 2:  # both changes turned over, or the last one alone
            gold, other = ["100", "130", "100", "100", "100"], ["100", "70", "100", "100", "100"]
            if trial == 1:
                gold, other = ["100"] * 4 + ["130"], ["100"] * 4 + ["70"]
        for way, one in asked.items():
            pair = [np.array(list(one.scores(one.read(market(first, tin))))) for first in (gold, other)]
            moved = np.abs(pair[0] - pair[1])
            if way == "from_now_on":
                least = max(least, int(moved.max()))
            else:
                apart = max(apart, int(moved.sum(axis=0).max()))
    assert least == ONE
    assert ONE < apart <= 2 * ONE


def test_error_bounds_hold() -> None:
    """From now on by the exact law; batched on average by the exact expected regret; doubling promises nothing."""
    rng = np.random.default_rng(6)
    losses = (rng.random((12, 3)) < (0.2, 0.5, 0.8)).astype(float)
    asked = request(way="from_now_on", epsilon=4.0)
    bound = asked.error_bound(0.1)
    assert bound is not None
    totals = losses.sum(axis=0)
    assert asked.law(file(losses))[0][totals > totals.min() + bound.number].sum() <= 0.1
    batched = request(hold=2)
    law = np.repeat(batched.law(file(losses)), 2, axis=0)
    promised = batched.error_bound()
    assert promised is not None
    assert promised.confidence is None
    assert float((law * losses).sum() - totals.min()) <= promised.number
    assert request(way="doubling_leader").error_bound() is None


def test_what_experts_cannot_be_asked_about() -> None:
    for wrong, name in (
        ({"kind": "squared"}, "outcome"),
        ({"outcome": "rain"}, "outcome"),
        ({"kind": "squared", "outcome": "Ann"}, "outcome"),
        ({"kind": "dreams"}, "kind"),
        ({"move": 0.0}, "move"),
        ({"experts": ("Ann", "rain")}, "columns"),
    ):
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            request(**wrong)
    with pytest.raises(InvalidArgument, match="neighbours"):
        replace(request(), neighbours="add_remove")
