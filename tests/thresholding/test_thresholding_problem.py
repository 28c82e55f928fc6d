"""The question as a trade-off: outcomes from the exact law, sweeps and their inversion, bands, other lengths."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.thresholding import alarm_problem
from dpcore.thresholding.alarm_problem import AlarmProblem
from dpcore.thresholding.noise import no_farther, offset_of
from dpcore.thresholding.queries import sweep_queries
from dpcore.thresholding.ways import catalog
from dpcore.tradeoff import COLUMNS, epsilon_for, size_for, sweep_both, sweep_epsilon, sweep_size

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def outbreak() -> np.ndarray:
    with (DATA / "outbreak.csv").open(encoding="utf-8") as file:
        return np.array([float(row["cases"]) for row in csv.DictReader(file)])


@pytest.fixture(scope="module")
def problem(outbreak: np.ndarray) -> AlarmProblem:
    return AlarmProblem(
        answers=outbreak, threshold=50, people=int(outbreak.sum()), monotonic=True, early_by=2, late_by=7
    )


def test_the_outbreak_file_is_what_its_generator_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(DATA / "make_outbreak.py"), str(tmp_path)], check=True)
    assert (tmp_path / "outbreak.csv").read_bytes() == (DATA / "outbreak.csv").read_bytes()


def test_the_outbreak_makes_a_good_first_example(problem: AlarmProblem) -> None:
    """From chance to certainty within the slider's range, 0.01 to 10, for the best method and for the textbook's."""
    for method in ("book", "exponential_monotone"):
        ends = problem.outcomes(method, np.array([0.01, 10.0]), np.full(2, problem.n)).on_time
        assert ends[0] < 0.1
        assert ends[1] > 0.99


@pytest.mark.parametrize("limit", [1, 3])
def test_outcomes_are_read_off_the_law(problem: AlarmProblem, limit: int) -> None:
    """For one alarm the four chances are sums of the stopping law over their days; for any number they add up to 1."""
    asked = replace(problem, limit=limit)
    assert asked.crossing is not None
    start, end = asked.crossing - 2, asked.crossing + 8
    for method in asked.methods[:-1]:
        for epsilon, n in ((0.05, asked.n), (0.5, asked.n), (0.5, asked.n * 3)):
            found = asked.outcomes(method, np.array([epsilon]), np.array([float(n)]))
            parts = np.array([found.on_time[0], found.false_alarm[0], found.late[0], found.missed[0]])
            assert parts.sum() == pytest.approx(1, abs=1e-9)
            law = asked.law(method, epsilon, n)
            assert found.false_alarms[0] == pytest.approx(law.per_query[:start].sum(), abs=1e-6)
            assert found.false_alarm[0] == pytest.approx(law.position[-1, :start].sum(), abs=1e-6)
            if limit == 1:
                stop = law.position[0]
                expected = [stop[start:end].sum(), stop[:start].sum(), stop[end:-1].sum(), stop[-1]]
                assert np.allclose(parts, expected, atol=1e-6)


def test_several_alarms_are_judged_by_the_next_one_due(outbreak: np.ndarray) -> None:
    """Simulated runs classified by hand agree with the exact chances (four standard errors of 20,000 runs)."""
    problem = AlarmProblem(answers=outbreak, threshold=50, limit=3, early_by=1, late_by=3)
    size, epsilon = 20_000, 0.3
    runs = problem.mechanism("exponential", epsilon).sample(outbreak, 50, np.random.default_rng(2), size)
    start, end = problem.crossing - 1, problem.crossing + 4
    after = np.where(runs >= start, runs, 10**6).min(axis=1)  # the first alarm that was due; 120 for none
    spent = (runs < start).sum(axis=1) == 3
    counted = {
        "false_alarm": spent,
        "on_time": ~spent & (after < end),
        "late": ~spent & (after >= end) & (after < outbreak.size),
        "missed": ~spent & (after >= outbreak.size),
    }
    found = problem.outcomes("exponential", np.array([epsilon]), np.array([1.0]))
    for name, hits in counted.items():
        chance = getattr(found, name)[0]
        assert abs(hits.mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / size) + 1e-9, name


def test_a_series_that_never_crosses(outbreak: np.ndarray) -> None:
    """Silence is right, any alarm is false, nothing can be late or missed; the theorem promises silence too."""
    quiet = AlarmProblem(answers=outbreak[:80], threshold=60)
    assert quiet.crossing is None
    found = quiet.outcomes("laplace", np.array([0.2, 2.0]), np.ones(2))
    never = [quiet.law("laplace", epsilon).position[0, -1] for epsilon in (0.2, 2.0)]
    assert np.allclose(found.on_time, never, atol=1e-6)
    assert np.allclose(found.on_time + found.false_alarm, 1, atol=1e-9)
    assert (found.late == 0).all()
    assert (found.missed == 0).all()
    book = quiet.outcomes("book", np.array([2.0]), np.ones(1))
    promise = quiet.evaluate("theory", "on_time", np.array([2.0]), np.ones(1))
    assert promise.kind == "bound"
    assert 0 < promise.value[0] < book.on_time[0]


def test_a_series_that_starts_above() -> None:
    problem = AlarmProblem(answers=[9.0, 9.0, 9.0], threshold=5.0, late_by=0)
    found = problem.outcomes("book", np.array([1.0]), np.ones(1))
    law = problem.law("book", 1.0).position[0]
    assert found.false_alarm[0] == 0
    assert found.on_time[0] == pytest.approx(law[0], abs=1e-6)
    assert found.missed[0] == pytest.approx(law[-1], abs=1e-6)


@pytest.mark.parametrize("metric", ["on_time", "false_alarm", "late", "missed", "alpha"])
def test_the_theorem_never_promises_too_much(problem: AlarmProblem, metric: str) -> None:
    """Its bound lies on the safe side of the textbook's exact value at every ε and n."""
    for limit in (1, 2):
        asked = replace(problem, limit=limit)
        for levels, sizes in ((np.geomspace(0.01, 100, 40), asked.n), (np.full(40, 0.5), np.geomspace(1, 1e6, 40))):
            sizes = np.broadcast_to(sizes, 40).astype(float)
            bound = asked.evaluate("theory", metric, levels, sizes).value
            exact = asked.evaluate("book", metric, levels, sizes).value
            if metric == "on_time":
                assert (bound <= exact + 1e-6).all()
                assert bound[-1] > 0.99  # and it is not empty
            else:
                assert (bound >= exact - 1e-6).all()


def test_better_noise_is_better(problem: AlarmProblem) -> None:
    """At the ε where the textbook is right half the time, each refinement gains, and α orders the methods."""
    level = epsilon_for(0.5, problem, method="book", metric="on_time")
    assert level is not None
    chance = {m: problem.evaluate(m, "on_time", np.array([level]), np.array([problem.n])).value[0] for m in catalog()}
    assert chance["book"] < chance["laplace"] < chance["exponential"] < chance["exponential_monotone"]
    alphas = [problem.evaluate(m, "alpha", np.ones(1), np.ones(1)).value[0] for m in catalog()]
    assert alphas == sorted(alphas, reverse=True)


def test_sweeps_and_their_inversion(problem: AlarmProblem) -> None:
    """The frames are tidy, exact laws have no band, and the inverted values reach the target and no less."""
    frame = sweep_epsilon(problem, np.geomspace(0.05, 2, 5))
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 5 * len(problem.methods) * len(problem.metrics)
    assert set(frame[frame["method"] == "theory"]["kind"]) == {"bound"}
    exact = frame[frame["kind"] == "exact"]
    assert (exact["low"] == exact["value"]).all()
    for method in problem.methods:
        level = epsilon_for(0.9, problem, method=method, metric="on_time")
        size = size_for(0.9, problem, method=method, metric="on_time", epsilon=0.1)
        assert level is not None
        assert size is not None
        near = problem.evaluate(method, "on_time", np.array([level, level * 0.99]), np.full(2, problem.n)).value
        assert near[0] >= 0.9 > near[1]
        around = problem.evaluate(method, "on_time", np.full(2, 0.1), np.array([size, size * 0.99])).value
        assert around[0] >= 0.9 > around[1]
    by_size = sweep_size(problem, [problem.n], epsilon=0.1, methods=["book"], metrics=["on_time"])
    grid = sweep_both(problem, [0.1, 0.2], [problem.n, 2 * problem.n], method="book", metric="on_time")
    assert by_size["value"][0] == pytest.approx(grid["value"][0], abs=1e-12)
    # twice the people at half the ε: all margins and all noises double
    assert grid["value"][1] == pytest.approx(grid["value"][2], abs=1e-6)


def test_bands_show_other_periods(problem: AlarmProblem) -> None:
    """The band holds the exact value, repeats itself, and about as many fresh series as it says lie in it."""
    wide = replace(problem, band=0.8)
    levels = np.array([0.1, 0.3])
    sizes = np.full(2, float(problem.n))
    estimate = wide.evaluate("laplace", "on_time", levels, sizes)
    again = wide.evaluate("laplace", "on_time", levels, sizes)
    assert estimate.kind == "exact"
    assert np.array_equal(estimate.low, again.low)
    assert (estimate.low <= estimate.value).all()
    assert (estimate.value <= estimate.high).all()
    rng, inside = np.random.default_rng(77), 0
    for _ in range(200):
        series = rng.poisson(problem.answers).astype(float)
        fresh = replace(problem, answers=series)
        fitted = problem.family("laplace")
        start, end = problem.crossing - 2, problem.crossing + 8
        law = fitted.mechanism(0.3, 1.0).stop_law(fresh.answers, 50)
        inside += bool(estimate.low[1] <= law[start:end].sum() <= estimate.high[1])
    # 80 of 100 expected; 32 redraws place each end to about ± 7 of 100, 200 series count it to ± 3
    assert 120 <= inside <= 196
    with pytest.raises(InvalidArgument, match="band"):
        AlarmProblem(answers=[-1.0, 2.0], threshold=1.0, band=0.5)


def test_more_people_see_less_chance_in_their_period(problem: AlarmProblem) -> None:
    """Sampling error shrinks with n: with privacy noise out of the way, the band closes."""
    wide = replace(problem, band=0.8)
    estimate = wide.evaluate("laplace", "on_time", np.full(2, 1000.0), np.array([problem.n, problem.n * 100.0]))
    width = estimate.high - estimate.low
    assert width[0] >= width[1]
    assert width[1] < 0.01


def test_watching_for_longer(problem: AlarmProblem, outbreak: np.ndarray) -> None:
    """Quiet time is repeated or cut; the series itself stays as it is, at least from the crossing on."""
    longer = problem.watched_for(1000)
    assert longer.answers.size == 1000
    assert longer.answers[longer.crossing :].tolist() == outbreak[problem.crossing :].tolist()
    assert longer.answers[-120:].tolist() == outbreak.tolist()
    assert longer.answers[:-120].max() < 44  # the rise just before the crossing is not repeated
    shorter = problem.watched_for(60)
    assert shorter.answers.tolist() == outbreak[60:].tolist()
    assert problem.watched_for(10).answers.tolist() == outbreak[problem.crossing : problem.crossing + 10].tolist()
    chance = [
        asked.evaluate("book", "on_time", np.array([0.5]), np.array([problem.n])).value[0]
        for asked in (shorter, problem, longer)
    ]
    assert chance == sorted(chance, reverse=True)
    with pytest.raises(InvalidArgument, match="queries"):
        AlarmProblem(answers=[9.0, 1.0], threshold=5.0).watched_for(5)


def test_sweeps_over_the_number_of_queries(problem: AlarmProblem) -> None:
    """The frame is that of a sweep over ε with one column more; more queries are never easier."""
    frame = sweep_queries(problem, [120, 1000, 10_000], epsilon=0.5, methods=["book", "theory"], metrics=["alpha"])
    assert tuple(frame.columns) == (*COLUMNS, "queries")
    for method in ("book", "theory"):
        values = frame[frame["method"] == method]["value"].to_numpy()
        assert (np.diff(values) > 0).all()
    assert frame["value"][0] == problem.evaluate("book", "alpha", np.array([0.5]), np.ones(1)).value[0]


def test_only_known_names(problem: AlarmProblem) -> None:
    ones = np.ones(1)
    with pytest.raises(InvalidArgument, match="method"):
        problem.evaluate("gaussian", "on_time", ones, ones)
    with pytest.raises(InvalidArgument, match="metric"):
        problem.evaluate("book", "accuracy", ones, ones)
    for level in (0.0, -1.0, np.nan, np.inf, 1e300):
        with pytest.raises(InvalidArgument, match="epsilon"):
            problem.outcomes("book", np.array([level]), ones)
    general = replace(problem, monotonic=False)
    assert general.methods == ("book", "laplace", "exponential", "theory")
    with pytest.raises(InvalidArgument, match="method"):
        general.evaluate("laplace_monotone", "on_time", ones, ones)
    assert set(problem.methods) == {*catalog(), "theory"}
    with pytest.raises(ValueError, match="read-only"):
        problem.answers[0] = 1.0


# -- other people like these -------------------------------------------------------------------------------------------


def test_how_often_other_people_reach_the_line_elsewhere() -> None:
    """Against counts that are drawn anew 200,000 times (4 standard errors: 0.45 in 100)."""
    answers, line = np.array([3.0, 0.0, 6.0, 9.0, 12.0, 7.0, 20.0]), 9.5
    problem = AlarmProblem(answers=answers, threshold=line, late_by=1)
    start, end = problem.window
    assert (start, end) == (4, 6)
    reached = np.random.default_rng(7).poisson(answers, size=(200_000, answers.size)) >= line
    first = np.where(reached.any(axis=1), reached.argmax(axis=1), answers.size)
    outside = float(((first < start) | (first >= end)).mean())
    assert problem.elsewhere == pytest.approx(outside, abs=0.0045)


def test_where_nothing_is_due_other_people_may_make_it_due() -> None:
    problem = AlarmProblem(answers=np.array([1.0, 2.0]), threshold=2.5)
    quiet = np.exp(-1.0) * (1 + 1 + 0.5) * np.exp(-2.0) * (1 + 2 + 2)
    assert problem.elsewhere == pytest.approx(1.0 - quiet)


def test_only_counts_can_be_drawn_anew() -> None:
    with pytest.raises(InvalidArgument, match="must be counts"):
        _ = AlarmProblem(answers=np.array([-1.0, 5.0]), threshold=3.0).elsewhere


def test_one_home_says_how_far_an_offset_lies() -> None:
    """Of one setting and of many: each clipped for itself, so that a change of one was not the other's."""
    unit = np.array([1e-3, 1.0, 1e10, 1e16, 1e80])
    for factor in (-7.5, 0.0, 3.25):
        each = [offset_of(factor, one, 1.0) for one in unit.tolist()]
        assert no_farther(factor * unit).tolist() == each
    assert "np.clip" not in Path(alarm_problem.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize("sensitivity", [1e-200, 1e-90, 1e90, 2e100])
def test_a_sensitivity_that_no_noise_is_reckoned_with_for_is_refused_at_once(sensitivity: float) -> None:
    """And not by whatever asks for a number later, of which no page could say why."""
    with pytest.raises(InvalidArgument, match="too large or too small"):
        AlarmProblem(answers=[0.0, 1.0, 30.0], threshold=20.0, sensitivity=sensitivity)


@pytest.mark.parametrize("sensitivity", [1e-79, 1e-20, 1e20, 1e79])
@pytest.mark.parametrize("epsilon", [1e-3, 100.0])
def test_each_that_is_taken_is_reckoned_with(sensitivity: float, epsilon: float) -> None:
    cases = AlarmProblem(answers=[-1e15, 1.0, 1e15], threshold=1e15, sensitivity=sensitivity, monotonic=True)
    for method in cases.methods:
        for metric in cases.metrics:
            found = cases.evaluate(method, metric, np.array([epsilon]), np.ones(1))
            assert np.isfinite(found.value).all(), (method, metric)
