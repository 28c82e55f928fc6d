"""Private quantiles on a grid: the very law of their release, private by exact laws of neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dashboard import catalogue
from dashboard.controls import Setting
from dashboard.question import Offer, Question
from dashboard.questions.selection.quantile_law import law_picture
from dashboard.view import View
from dpcore.datasets import Column, Declaration, PrivateRows, Schema
from dpcore.datasets.schema import ColumnType
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import QuantileValue
from dpcore.selection import Quantile, QuantileProblem, quantile_worlds, true_quantile
from dpcore.selection.quantile import IntervalLaw
from dpcore.theorems import theorems
from dpcore.validate import Neighbours
from tests.questions.samples import KEYS, sample_case

RNG = np.random.default_rng(12)
AGES = np.round(RNG.normal(45, 14, 300)).clip(10, 95)
KINDS = {
    "ages": AGES,
    "few": np.array([20.0, 20.0, 41.0, 90.0]),
    "all one": np.full(40, 44.0),
    "two in the middle": np.repeat([30.0, 31.0], 20),
    "between the points": np.round(RNG.uniform(17, 90, 50), 2),
    "outside": np.array([-5.0, 300.0, 44.0]),
}
PAY = {
    "spike": np.repeat([50_520.0, 50_560.0], [40, 60]),
    "hundreds": np.round(RNG.lognormal(10, 0.4, 200), -2),
    "cents": np.round(RNG.lognormal(10, 0.4, 200), 2),
}


def declared(kind: ColumnType = "integer", low: float = 17.0, high: float = 90.0) -> Declaration:
    return Declaration.of(Schema(columns=(Column(name="x", type=kind, low=low, high=high),), unit="person"))


def both(request: QuantileValue, values: np.ndarray) -> tuple[IntervalLaw, np.ndarray]:
    """The law as a page shows it, and the chance of each number by the release itself."""
    rows = PrivateRows(pd.DataFrame({"x": [np.format_float_positional(value) for value in values]}, dtype="str"))
    shown = Quantile(
        epsilon=request.epsilon,
        low=request.low,
        high=request.high,
        q=request.q,
        relation=request.neighbours,
        points=request.points,
    )
    return shown.law(values), request.law_of(request.read(rows))


@pytest.mark.parametrize("q", [0.5, 0.1, 0.75])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_what_a_page_shows_is_the_law_of_the_release(q: float, relation: Neighbours) -> None:
    """Of whole numbers and of others, tied or not; the law between the points would be another."""
    cases = [(declared(), name, values) for name, values in KINDS.items() if name != "between the points"]
    cases += [(declared("number"), name, values) for name, values in KINDS.items()]
    cases += [(declared("number", 0.0, 200_000.0), name, values) for name, values in PAY.items()]
    cases += [(declared("number", 0.1, 0.9), "tenths", np.round(RNG.uniform(0, 1, 100), 1))]
    worst = 0.0
    for declaration, name, values in cases:
        request = QuantileValue.of(declaration, "x", q=q, epsilon=0.3, neighbours=relation)
        law, released = both(request, values)
        np.testing.assert_allclose(law.probabilities, released, rtol=1e-9, err_msg=name)
        assert law.intervals.ends[0].tolist() == request.grid.tolist()
        between = Quantile(epsilon=0.3, low=request.low, high=request.high, q=q, relation=relation).law(values)
        edges = np.clip(law.intervals.edges, request.low, request.high)
        worst = max(worst, float(np.abs(np.diff(between.below(edges)) - released).max()))
    assert worst > 0.02


def test_only_a_column_of_whole_numbers_has_whole_answers() -> None:
    """Where they are at most 1,001 and the bounds are among them; else, and where asked for, others come out too."""

    def grid(kind: ColumnType, low: float, high: float) -> np.ndarray:
        return QuantileValue.of(declared(kind, low, high), "x", epsilon=1.0).grid

    assert grid("integer", 17, 90).tolist() == list(range(17, 91))
    assert grid("integer", 0, 1).tolist() == [0, 1]
    assert grid("integer", -500, 500).tolist() == list(range(-500, 501))
    for other in (grid("integer", 0, 1001), grid("integer", 0.5, 90), grid("number", 17, 90)):
        assert other.size == 1001
        assert (other != np.round(other)).any()
    assert QuantileValue.of(declared(), "x", epsilon=1.0, points=1001).grid.size == 1001


@pytest.mark.thorough
def test_every_sample_shows_the_release_it_offers() -> None:
    """Headline, quartiles and picture, for two quantiles of a sample's first columns."""
    looked = 0
    for name in KEYS:
        case = sample_case(name, 0.2)
        schema = case.table.schema
        numbers = [column.name for column in schema.columns if column.is_numeric and column.bounded]
        for column in numbers[:8] if schema.each_row != "option" else []:
            for q in (0.5, 0.9):
                setting = Setting({"quantile": q, "quantile_column": column})
                question = catalogue.questions("selection")["quantile"].ask(case, setting)
                assert isinstance(question, Question)
                assert isinstance(question.offer, Offer)
                view, request = question.view, question.offer.request
                assert isinstance(view, View)
                problem = view.problem
                assert isinstance(problem, QuantileProblem)
                released = request.law_of(case.read(request))
                law = problem.mechanism(0.2).law(problem.values).probabilities
                np.testing.assert_allclose(law, released, rtol=1e-6, atol=1e-15)
                near = np.abs(request.grid - problem.truth) <= float(problem.tolerance or 0.0) * (1.0 + 1e-12)
                assert view.at("quantile", "success") == pytest.approx(float(released[near].sum()), abs=1e-9)
                looked += 1
    assert looked > 20


def largest_loss(mechanism: Quantile) -> tuple[float, float]:
    """Largest loss, and largest range of losses, over every pair of small neighbours."""
    loss, spread = 0.0, 0.0
    for _ in range(300):
        values = RNG.choice([RNG.integers(0, 11, 7).astype(float), RNG.uniform(-3, 13, 7)])[: RNG.integers(1, 8)]
        new = RNG.choice([0.0, 10.0, values[0], RNG.integers(0, 11), RNG.uniform(0, 10)])
        neighbour = np.append(values[1:], new) if mechanism.relation == "replace_one" else values[1:]
        ratio = np.log(mechanism.law(values).probabilities / mechanism.law(neighbour).probabilities)
        loss, spread = max(loss, float(np.abs(ratio).max())), max(spread, float(np.ptp(ratio)))
    return loss, spread


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("q", [0.5, 0.1, 0.9])
def test_no_neighbour_tells_more_than_epsilon(relation: Neighbours, q: float) -> None:
    """ε-DP and ε-bounded range; nearly used up; with twice the ε it is broken."""
    loss, spread = largest_loss(Quantile(epsilon=1.0, low=0.0, high=10.0, q=q, relation=relation, points=1001))
    assert 0.5 < loss <= 1.0 + 1e-9
    assert spread <= 1.0 + 1e-9
    assert largest_loss(Quantile(epsilon=2.0, low=0.0, high=10.0, q=q, relation=relation, points=1001))[0] > 1.05


def test_two_worlds_on_a_grid() -> None:
    quantile = Quantile(epsilon=0.8, low=17.0, high=90.0, points=74)
    worlds = quantile_worlds(quantile, AGES, AGES[1:])
    assert worlds.edges is not None
    assert worlds.edges.tolist() == np.arange(16.5, 91.0).tolist()
    assert worlds.before.tolist() == quantile.law(AGES).probabilities.tolist()
    assert 0.0 < worlds.realised <= 0.8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("q", [0.5, 0.1])
def test_every_figure_is_a_sum_over_the_numbers(kind: str, q: float) -> None:
    values, numbers = KINDS[kind], np.arange(17.0, 91.0)
    inside = np.clip(values, 17.0, 90.0)
    problem = QuantileProblem(values=values, low=17.0, high=90.0, q=q, tolerance=1.0, points=74)
    law = problem.mechanism(0.2).law(values).probabilities
    below = (inside < numbers[:, None]).mean(axis=1)
    above = (inside > numbers[:, None]).mean(axis=1)
    truth = true_quantile(inside, q)
    wanted = {
        "expected_error": law @ np.abs(numbers - truth),
        "success": law[np.abs(numbers - truth) <= 1.0].sum(),
        "rank_error": law @ np.abs((1 - q) * below - q * above),
    }
    at = np.array([0.2]), np.array([float(values.size)])
    for metric, value in wanted.items():
        assert problem.evaluate("quantile", metric, *at).value[0] == pytest.approx(value, rel=1e-10), metric
    one = problem.mechanism(0.2)
    assert one.expected_error(values) == pytest.approx(wanted["expected_error"])
    assert one.success(values, 1.0) == pytest.approx(wanted["success"])
    assert one.rank_error(values) == pytest.approx(wanted["rank_error"])
    seen = law_picture(problem, 0.2, 1.0)
    assert seen.chances[1] == pytest.approx(wanted["success"])
    assert seen.chances[0] == pytest.approx(law[numbers < truth - 1.0].sum(), abs=1e-12)
    assert sum(seen.chances) == pytest.approx(1.0)
    assert seen.each.tolist() == law[np.isin(numbers, seen.numbers)].tolist()
    assert all(float(end).is_integer() for end in (*seen.quartiles, *seen.likely))
    low, high = seen.likely
    assert law[(numbers >= low) & (numbers <= high)].sum() >= 0.95
    assert law[(numbers > low) & (numbers <= high)].sum() < 0.975 + 1e-12


def test_theory_never_promises_too_much() -> None:
    levels = np.geomspace(1e-3, 10, 40)
    for values in KINDS.values():
        for relation in ("add_remove", "replace_one"):
            problem = QuantileProblem(values=values, low=17.0, high=90.0, relation=relation, points=74)
            sizes = np.full_like(levels, problem.n)
            for metric, shown in problem.metrics.items():
                exact = problem.evaluate("quantile", metric, levels, sizes).value
                bound = problem.evaluate("theory", metric, levels, sizes).value
                slack = bound - exact if shown.better == "lower" else exact - bound
                assert (slack >= -1e-12).all(), metric


def test_the_theorem_about_ranks_holds_on_a_grid() -> None:
    """Exact chance of a rank off by more than promised: at most β for any data; by a tenth of it, more."""
    worst = 0.0
    for relation, sensitivity in (("add_remove", 0.5), ("replace_one", 1.0)):
        for values in KINDS.values():
            law = Quantile(epsilon=0.4, low=17.0, high=90.0, relation=relation, points=74).law(values)
            off = np.abs(law.intervals.off(0.5)) * values.size
            near = float(off.min())
            settings = {"epsilon": 0.4, "beta": 0.1, "sensitivity": sensitivity}
            bound = float(theorems()["quantile"].value(share=(off <= near).mean(), **settings))
            assert law.probabilities[off > near + bound].sum() <= 0.1
            worst = max(worst, float(law.probabilities[off > near + bound / 10].sum()))
    assert worst > 0.1


def test_the_band_is_what_drawing_people_does() -> None:
    """Against 600 bootstrap samples, where a seventh of all are of one age."""
    values = np.r_[AGES[:260], np.full(40, 45.0)]
    problem = QuantileProblem(values=values, low=17.0, high=90.0, tolerance=1.0, points=74)
    estimate = problem.evaluate("quantile", "success", np.array([0.1]), np.array([300.0]))
    one, rng = problem.mechanism(0.1), np.random.default_rng(10)
    drawn = []
    for _ in range(600):
        law = one.law(rng.choice(values, size=300))
        drawn.append(law.probabilities @ law.intervals.share_within(problem.truth, 1.0))
    assert estimate.low[0] == pytest.approx(np.quantile(drawn, 0.1), abs=0.05)
    assert estimate.low[0] <= estimate.value[0] <= estimate.high[0]


def test_samples_follow_the_law_and_the_test_would_notice() -> None:
    mechanism = Quantile(epsilon=0.1, low=17.0, high=90.0, points=74)
    drawn = mechanism.sample(AGES, np.random.default_rng(7), 20_000)
    counts = np.bincount(drawn.astype(int) - 17, minlength=74)
    assert (drawn == np.round(drawn)).all()

    def fits(epsilon: float) -> float:
        law = Quantile(epsilon=epsilon, low=17.0, high=90.0, points=74).law(AGES).probabilities
        often = law * 20_000 >= 5
        seen = np.append(counts[often], counts[~often].sum())
        chances = np.append(law[often], law[~often].sum())
        return float(stats.chisquare(seen, chances / chances.sum() * seen.sum()).pvalue)

    assert fits(0.1) > 1e-4
    assert fits(0.12) < 1e-6


def test_no_values_at_all_give_a_uniform_answer() -> None:
    law = Quantile(epsilon=1.0, low=2.0, high=4.0, points=3).law([])
    assert law.probabilities == pytest.approx([1 / 3] * 3)
    assert law.quantiles([0.0, 0.5, 1.0]).tolist() == [2.0, 3.0, 4.0]
    assert law.below([1.0, 2.0, 2.5, 9.0]) == pytest.approx([0.0, 0.0, 1 / 3, 1.0])


@pytest.mark.parametrize("points", [1, 10**5 + 1, 2.5])
def test_a_grid_that_is_none_is_refused(points: int) -> None:
    with pytest.raises(InvalidArgument, match=r"^points "):
        Quantile(epsilon=1.0, low=0.0, high=1.0, points=points)
    with pytest.raises(InvalidArgument, match=r"^points "):
        QuantileProblem(values=[1.0], low=0.0, high=1.0, points=points)
    with pytest.raises(InvalidArgument, match=r"^points "):
        Quantile(epsilon=1.0, low=1e17, high=1e17 + 64, points=1001)
