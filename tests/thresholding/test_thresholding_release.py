"""The alarm that is released: its discrete law keeps the promise, draws follow the law, and one run is one charge."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpcore.accounting import Cost
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import BudgetExceeded, InvalidArgument, ReleaseRefused
from dpcore.ledger import Ledger
from dpcore.release import release
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.asked import CHOSEN
from dpcore.thresholding import AboveThreshold, NoisePair
from dpcore.thresholding.discrete import discrete_alarm_law, discrete_log_probability
from tests.audit.thresholding_exact import largest_loss


def series(**how: Any) -> AlarmRun:
    """A run over a column of steps: of counts where ``one_way``, else of whole numbers."""
    fields = {"epsilon": 1.0, "threshold": 5.0, "entries": 10} | how
    kind = fields.pop("type", "integer")
    one_way = fields.pop("one_way", False)
    column = Column(name="n", type=kind, sensitivity=fields.pop("sensitivity", 1.0), counts=one_way)
    return AlarmRun.of(Declaration(columns=(column,), each_row="step"), "n", **fields)


def file(answers: Any) -> PrivateRows:
    return PrivateRows(pd.DataFrame({"n": [repr(float(answer)) for answer in answers]}))


VARIANTS = list(itertools.product(("laplace", "exponential"), (False, True), (1, 3)))
variants = pytest.mark.parametrize(("noise", "one_way", "limit"), VARIANTS)


def loss(request: AlarmRun, pair: NoisePair) -> float:
    """The largest log-ratio of discrete noise of these scales over worst-case and generated neighbours, exactly."""

    def log_probability(series: np.ndarray, alarms: list[int]) -> float:
        answers = np.round(series).astype(np.int64)
        asked = answers[: alarms[-1] + 1] if len(alarms) == request.limit else answers
        raised = np.zeros(asked.size, dtype=np.bool_)
        raised[alarms] = True
        return discrete_log_probability(pair, asked, 0, raised)

    def rounded(series: np.ndarray, alarms: list[int]) -> float:
        return log_probability(series * request.steps, alarms)

    # Generated series and moves are rounded to whole answers before the sensitivity multiplies them.
    return largest_loss(
        lambda series, alarms: rounded(np.round(series), alarms),
        limit=request.limit,
        sensitivity=1.0,
        one_way=request.one_way,
    )


@pytest.mark.thorough
@variants
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.3, 1), (2.0, 3)])
def test_the_discrete_law_keeps_the_promise(
    noise: str, one_way: bool, limit: int, epsilon: float, sensitivity: int
) -> None:
    """Sums over all integers are exact to rounding: the loss reaches ε, never exceeds it; less noise is found out."""
    request = series(
        epsilon=epsilon,
        threshold=0,
        entries=100,
        limit=limit,
        noise=noise,
        one_way=one_way,
        sensitivity=sensitivity,
    )
    pair = request.scales
    found = loss(request, pair)
    assert found <= epsilon + 1e-9
    assert found > 0.99 * epsilon
    less = replace(pair, threshold_scale=0.8 * pair.threshold_scale, query_scale=0.8 * pair.query_scale)
    assert loss(request, less) > 1.2 * epsilon


@variants
def test_scales_are_never_rounded_down(noise: str, one_way: bool, limit: int) -> None:
    """In exact fractions of the floats handed to the noise library, the guarantee is at most ε, and barely less."""
    for epsilon in (0.1, 1 / 3, 0.7, 1.0, math.pi, 1e-5):
        for share in (None, 0.3):
            request = series(
                epsilon=epsilon,
                threshold=1,
                entries=9,
                limit=limit,
                noise=noise,
                one_way=one_way,
                sensitivity=7,
                threshold_share=share,
            )
            spent = request.units.spent(request.scales, request.steps, limit, one_way)
            assert Fraction(epsilon) * (1 - Fraction(1, 10**12)) < spent <= Fraction(epsilon)


@pytest.mark.thorough
@pytest.mark.parametrize(("noise", "limit"), [("laplace", 1), ("exponential", 1), ("exponential", 3)])
def test_answers_follow_the_discrete_law(noise: str, limit: int) -> None:
    """Chi-square of 700 real answers on the place of the last alarm; twice the noise, or half of it, is rejected."""
    answers = [2, 5, 3, 9, 4, 12, 1]
    request = series(epsilon=3.0 * limit, threshold=8, entries=7, limit=limit, noise=noise)
    places = np.zeros(8)
    found = request.read(file(answers))
    for _ in range(700):
        given = request.draw(found)
        places[given["alarms"][-1] if given["stopped"] else 7] += 1
    pair = request.scales
    p_values = []
    for factor in (1.0, 0.5, 2.0):
        scaled = replace(pair, threshold_scale=factor * pair.threshold_scale, query_scale=factor * pair.query_scale)
        law = discrete_alarm_law(scaled, answers, request.bar, limit).position[-1]
        kept = law * places.sum() > 5
        expected = np.append(law[kept], max(law[~kept].sum(), 1e-9)) * places.sum()
        observed = np.append(places[kept], places[~kept].sum())
        statistic = float(((observed - expected) ** 2 / np.maximum(expected, 1.0)).sum())
        p_values.append(float(stats.chi2.sf(statistic, kept.sum())))
    # answers cannot be seeded: by chance alone one run of the tests in 10⁵ would fail here
    assert p_values[0] > 1e-6
    assert max(p_values[1:]) < 1e-6


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_the_discrete_law_against_every_outcome_and_the_continuous_one(noise: str) -> None:
    """Outcomes' likelihoods add up to the law of places; with noise many units wide that is the continuous law."""
    answers = np.array([3, -2, 6, 5, 0])
    pair = series(epsilon=1.5, threshold=4, entries=5, limit=2, noise=noise).scales
    law = discrete_alarm_law(pair, answers, 4, 2)
    position = np.zeros((2, 6))
    for alarms in range(3):
        for places in itertools.combinations(range(5), alarms):
            asked = places[-1] + 1 if alarms == 2 else 5
            raised = np.isin(np.arange(asked), places)
            chance = math.exp(discrete_log_probability(pair, answers[:asked], 4, raised))
            for j in range(2):
                position[j, places[j] if j < alarms else 5] += chance
    assert np.abs(law.position - position).max() < 1e-12
    assert law.count.sum() == pytest.approx(1, abs=1e-12)
    fine = series(epsilon=0.002, threshold=4, entries=5, noise=noise)
    continuous = AboveThreshold(epsilon=0.002, noise=noise, threshold_share="best")
    discrete = discrete_alarm_law(fine.scales, answers * 300, 1200).position[0]
    # noise of some 1,000 units: a unit's width moves a chance by about a thousandth
    assert np.abs(discrete - continuous.stop_law(answers * 300, 1200)).max() < 2e-3


def test_numbers_are_rounded_to_units_and_the_sensitivity_covers_it() -> None:
    """However two series within the sensitivity are rounded, no answer moves by more than ``steps`` units."""
    request = series(threshold=10.3, entries=1000, sensitivity=0.7, offset=0.05, type="number")
    unit = request.unit_of_answers
    assert unit == 2.0**-11
    assert request.steps == math.ceil(0.7 / unit) + 1
    assert request.bar == math.ceil((10.3 + 0.05) / unit)
    rng = np.random.default_rng(1)
    answers = rng.normal(size=1000) * 50
    moved = answers + rng.choice([-0.7, 0.7, 0.3], 1000)
    assert np.abs(request.read(file(answers)) - request.read(file(moved))).max() <= request.steps
    counts = series(threshold=9.5, entries=3, one_way=True)
    assert (counts.unit_of_answers, counts.steps, counts.bar) == (1.0, 1, 10)  # a count reaches 9.5 at 10
    assert counts.read(file([1.0, 2.0, 3.0])).tolist() == [1, 2, 3]


def test_the_sensitivity_is_declared_or_the_whole_range() -> None:
    """Never 1 because nothing was said; counts by as many as one person is counted; only where so declared."""

    def asked(rows_per_person: int = 1, **column: Any) -> AlarmRun:
        declared = Column(name="n", **({"type": "integer"} | column))
        steps = Declaration(columns=(declared,), each_row="step", rows_per_person=rows_per_person)
        return AlarmRun.of(steps, "n", threshold=5, epsilon=1.0, entries=9)

    revenue = asked(low=0, high=100_000)
    assert (revenue.sensitivity, revenue.one_way) == (100_000, False)
    assert "over its whole declared range of 0 to 100,000" in revenue.promise
    assert asked(sensitivity=2).sensitivity == 2
    assert not asked(sensitivity=1).one_way
    assert asked(rows_per_person=4, counts=True, low=0, high=9).sensitivity == 9, "rows are not times in one entry"
    cases = asked(rows_per_person=4, counts=True, sensitivity=4)
    assert (cases.sensitivity, cases.one_way) == (4, True)
    assert not replace(cases, neighbours="replace_one").one_way
    with pytest.raises(InvalidArgument, match="sensitivity"):
        asked()
    with pytest.raises(InvalidArgument, match="columns"):
        asked(type="text")


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_no_charge_is_made_for_noise_that_cannot_be_drawn(share: float) -> None:
    """The line has noise of its own, which a small share of ε makes the larger one."""
    ward = Column(name="ward", type="category", categories=("a", "b"))
    declared, rows = Declaration(columns=(ward,)), PrivateRows(pd.DataFrame({"ward": ["a"]}, dtype="str"))
    made = refused = 0
    for exponent in range(1, 18):
        try:
            asked = AlarmRun.of(
                declared, "ward", threshold=1, epsilon=10.0**-exponent, threshold_share=share, noise="laplace"
            )
        except InvalidArgument as error:
            refused += str(error).endswith("is too small: the noise would not fit")
            continue
        made += 1
        asked.answer(rows)
    assert made > 0
    assert made + refused == 17


DAYS = Declaration(
    columns=(
        Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 4)),
        Column(name="ward", type="category", categories=("a", "b")),
        Column(name="ill", type="yes/no"),
    ),
    rows_per_person=2,
)
VISITS = PrivateRows(
    pd.DataFrame(
        {
            "day": [
                "2024-01-01",
                "2024-01-02 23:59",
                "2024-01-02T00:01",
                "",
                "2023-12-31",
                "2025-01-01",
                "2024-01-04",
                "x",
            ],
            "ward": ["a", "b", "b", "b", "z", "", "a", "a"],
            "ill": ["yes", "no", "yes", "yes", "yes", "yes", "", "yes"],
        }
    )
)


def test_rows_are_counted_by_declared_days_and_options() -> None:
    """Clock times fall on their day; days outside, missing and unknown cells count for none; a person counts twice."""
    per_day = AlarmRun.of(DAYS, "day", threshold=2, epsilon=1.0)
    assert per_day.read(VISITS).tolist() == [1, 2, 0, 1]
    assert (per_day.entries, per_day.sensitivity, per_day.one_way, per_day.steps) == (4, 2.0, True, 2)
    assert [per_day.name_of(place) for place in (0, 3)] == ["2024-01-01", "2024-01-04"]
    assert AlarmRun.of(DAYS, "day", threshold=2, epsilon=1.0, where="ill").read(VISITS).tolist() == [1, 1, 0, 0]
    per_ward = AlarmRun.of(DAYS, "ward", threshold=2, epsilon=1.0)
    assert per_ward.read(VISITS).tolist() == [3, 3]
    assert per_ward.name_of(1) == "b"
    (note,) = per_day.notes
    assert note.startswith("That one person has at most 2 rows was stated and not checked.")
    for wrong, name in (({"where": "ward"}, "where"), ({"entries": 3}, "entries"), ({"labels": ("x",)}, "entries")):
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            AlarmRun.of(DAYS, "day", threshold=2, epsilon=1.0, **wrong)
    with pytest.raises(InvalidArgument, match="columns"):
        AlarmRun.of(Declaration(columns=(Column(name="day", type="date"),)), "day", threshold=2, epsilon=1.0)


@pytest.mark.parametrize(("noise", "limit"), list(itertools.product(("laplace", "exponential"), (1, 3))))
def test_noise_for_both_ways_keeps_the_promise_for_one_way_too(noise: Any, limit: int) -> None:
    """It is the noise of a column that is no count, so it covers moves either way, and those one way among them.

    Four ninths of it do not, so the search would notice.
    """
    request = series(noise=noise, limit=limit, one_way=True, both_ways=True, epsilon=0.7)
    assert not request.one_way
    assert request.scales == series(noise=noise, limit=limit, epsilon=0.7).scales
    assert request.scales.query_scale > series(noise=noise, limit=limit, one_way=True, epsilon=0.7).scales.query_scale
    counts = replace(request, both_ways=False)  # the neighbours that the search walks: all answers one way
    assert loss(counts, request.scales) <= 0.7 + 1e-9
    little = NoisePair(
        threshold_scale=request.scales.threshold_scale / 2.25,
        query_scale=request.scales.query_scale / 2.25,
        one_sided=request.scales.one_sided,
    )
    assert loss(counts, little) > 0.7


@pytest.mark.parametrize("line", [50.0, 47.0])
def test_a_line_chosen_after_looking_is_on_the_receipt(line: float) -> None:
    chosen = series(threshold=line, chosen_after_looking=True)
    assert chosen.notes == (*series(threshold=line).notes, CHOSEN)


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_the_error_bound_holds_by_the_exact_law(noise: str) -> None:
    """Answers as far below the line as promised, and one as far above: a wrong alarm or none is rarer than β."""
    for beta in (0.3, 0.02):
        request = series(threshold=0.0, entries=6, noise=noise, epsilon=0.8, sensitivity=2)
        far = math.ceil(request.error_bound(beta).number)
        wrong = 1.0 - request.law(file([-far, -far, far, -far, 0, 0]))[0][2]
        assert wrong <= beta


def test_a_run_stops_when_its_alarms_are_spent() -> None:
    """With plenty of ε the answers are those of no noise at all, through several blocks; the answer is plain JSON."""
    days = tuple(f"day {i}" for i in range(10_000))
    steps = np.zeros(10_000, dtype=np.int64)
    steps[[4000, 4096, 9999]] = 10**6
    ask = series(epsilon=50.0, threshold=10**5, entries=10_000, limit=2, labels=days)
    assert ask.answer(file(steps)) == {
        "alarms": [4000, 4096],
        "names": ["day 4000", "day 4096"],
        "compared": 4097,
        "stopped": True,
    }
    all_of_them = replace(ask, limit=5, labels=()).answer(file(steps))
    assert all_of_them == {
        "alarms": [4000, 4096, 9999],
        "names": ["4001", "4097", "10000"],
        "compared": 10_000,
        "stopped": False,
    }
    assert json.loads(json.dumps(all_of_them)) == all_of_them


BAD = [
    ("epsilon", 0.0),
    ("epsilon", -1.0),
    ("epsilon", math.nan),
    ("threshold", math.inf),
    ("threshold", None),
    ("entries", 0),
    ("entries", 10**7),
    ("sensitivity", 1e200),
    ("limit", 0),
    ("limit", 11),
    ("noise", "none"),
    ("neighbours", "anyone"),
    ("offset", math.nan),
    ("labels", ("only one",)),
]


@pytest.mark.parametrize(("field", "value"), BAD, ids=str)
def test_declarations_are_checked(field: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        series(**{field: value})
    assert refusal.value.argument == ("epsilon" if field == "sensitivity" else field)


def test_whatever_the_cells_hold_there_are_answers() -> None:
    """Too few rows, too many, missing, a fraction, beyond every float: a missing entry is what is nearest to 0."""
    request = series(entries=4)
    odd = PrivateRows(pd.DataFrame({"n": ["3", "2.5", "", "1e400", "7", "8"]}))
    assert request.read(odd).tolist() == [3, 3, 0, 2**50]
    assert series(entries=8).read(odd).tolist() == [3, 3, 0, 2**50, 7, 8, 0, 0]
    assert series(entries=1).read(PrivateRows(pd.DataFrame({"n": ["9" * 17]}))).tolist() == [2**50]
    assert set(request.answer(odd)) == {"alarms", "names", "compared", "stopped"}


def test_one_run_is_one_charge(tmp_path: Path) -> None:
    """Charged once however many answers it compares; repeated, it is the same answer; refused, it costs nothing."""
    rows = file(np.arange(200))
    ask = series(epsilon=0.4, threshold=150, entries=200, limit=3, one_way=True)
    assert ask.cost == Cost.pure(0.4)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.open_budget("ward", epsilon=1.0)
        first = release(ledger, "run-1", "ward", ask, rows)
        assert set(first.answer) == {"alarms", "names", "compared", "stopped"}
        assert first.what.startswith("Which of 200 entries of “n” are the first 3 to reach 150? That one person")
        assert first.mechanism == "Sparse vector with geometric noise, at most 3 alarms"
        assert first.neighbours == "add_remove"
        again = release(ledger, "run-1", "ward", ask, rows)
        assert again.answer == first.answer
        assert ledger.remaining("ward").epsilon == pytest.approx(0.6)
        with pytest.raises(ReleaseRefused):
            release(ledger, "run-2", "ward", ask, PrivateRows(pd.DataFrame({"m": ["1"]})))
        assert ledger.remaining("ward").epsilon == pytest.approx(0.6)
        with pytest.raises(BudgetExceeded):
            release(ledger, "run-3", "ward", replace(ask, epsilon=0.7), rows)
        assert ledger.remaining("ward").epsilon == pytest.approx(0.6)
