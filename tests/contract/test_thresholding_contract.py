"""What every entry of the catalogue keeps, and how bad input is refused: one sentence that names the argument."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpcore.accounting import Cost
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun
from dpcore.thresholding import AboveThreshold, NumericSparse, Sparse, catalog, stop_laws, ways
from dpcore.thresholding.accuracy import exact_alpha
from dpcore.thresholding.alarm_problem import AlarmProblem
from dpcore.thresholding.methods import family
from tests.audit.thresholding_exact import largest_loss
from tests.contract.about import check_about

every = pytest.mark.parametrize("kind", list(catalog().values()), ids=list(catalog()))


def make(kind: type, **fields: Any) -> Any:
    names = {field.name for field in dataclasses.fields(kind)}
    given = {"epsilon": 1.0} | ({"limit": 1} if "limit" in names else {}) | fields
    return kind(**given)


def test_the_catalogues() -> None:
    """Mechanisms only: nothing broken, no problems, in the order pages show them."""
    assert list(catalog())[:3] == ["above_threshold", "sparse", "numeric_sparse"]
    assert set(catalog().values()) >= {AboveThreshold, Sparse, NumericSparse}
    usual = ["book", "laplace", "exponential", "laplace_monotone", "exponential_monotone"]
    assert list(ways.catalog())[:5] == usual


@every
def test_it_is_data_with_a_name(kind: type) -> None:
    check_about(kind, catalog())
    assert kind.__doc__
    fields = {field.name: field.default for field in dataclasses.fields(kind)}
    assert {name: fields[name] for name in ("sensitivity", "noise", "threshold_share", "monotonic", "offset")} == {
        "sensitivity": 1.0,
        "noise": "laplace",
        "threshold_share": None,
        "monotonic": False,
        "offset": 0.0,
    }
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in inspect.signature(kind).parameters.values())
    mechanism = make(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.epsilon = 2.0
    assert not hasattr(mechanism, "__dict__")
    assert mechanism.cost == Cost.pure(1.0)


@every
def test_inputs_are_not_changed(kind: type) -> None:
    answers = np.array([3.0, 1.0, 2.0])
    answers.flags.writeable = False
    mechanism = make(kind)
    mechanism.stop_law(answers, 2.0)
    mechanism.sample(answers, 2.0, np.random.default_rng(1), 10)
    mechanism.error_rates(answers)


BAD_FIELDS = [
    ("epsilon", 0.0),
    ("epsilon", -1.0),
    ("epsilon", np.nan),
    ("epsilon", np.inf),
    ("epsilon", "1"),
    ("epsilon", 1e-300),
    ("sensitivity", 0.0),
    ("sensitivity", np.inf),
    ("noise", "gaussian"),
    ("threshold_share", 0.0),
    ("threshold_share", 1.0),
    ("threshold_share", "half"),
    ("monotonic", 1),
    ("offset", np.nan),
    ("limit", 0),
    ("limit", 1.5),
    ("limit", -3),
    ("value_share", 1.0),
]
WRONG = [
    (kind, field, value)
    for kind in catalog().values()
    for field, value in BAD_FIELDS
    if field in {f.name for f in dataclasses.fields(kind)}
]


@pytest.mark.parametrize(("kind", "field", "value"), WRONG, ids=lambda part: getattr(part, "key", repr(part)))
def test_parameters_are_checked(kind: type, field: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        make(kind, **{field: value})
    assert refusal.value.argument == field


BAD_SERIES = [
    ("no queries", [], 1.0, "answers"),
    ("a missing value", [1.0, np.nan], 1.0, "answers"),
    ("an infinite value", [1.0, np.inf], 1.0, "answers"),
    ("words", ["many", "few"], 1.0, "answers"),
    ("nothing", None, 1.0, "answers"),
    ("a table", [[1.0, 2.0]], 1.0, "answers"),
    ("too large", [1e300], 1.0, "answers"),
    ("no threshold", [1.0, 2.0], None, "threshold"),
    ("a threshold that is no number", [1.0, 2.0], "high", "threshold"),
    ("a missing threshold", [1.0, 2.0], np.nan, "threshold"),
    ("an infinite threshold", [1.0, 2.0], -np.inf, "threshold"),
]


@every
@pytest.mark.parametrize(
    ("answers", "threshold", "argument"), [c[1:] for c in BAD_SERIES], ids=[c[0] for c in BAD_SERIES]
)
def test_series_are_checked(kind: type, answers: Any, threshold: Any, argument: str) -> None:
    mechanism, rng = make(kind), np.random.default_rng(1)
    for attempt in (
        lambda: mechanism.stop_law(answers, threshold),
        lambda: mechanism.sample(answers, threshold, rng, 5),
        lambda: stop_laws(AboveThreshold(epsilon=1.0), [1.0], answers, threshold),
        lambda: AlarmProblem(answers=answers, threshold=threshold),
    ):
        with pytest.raises(InvalidArgument) as refusal:
            attempt()
        assert refusal.value.argument == argument
        message = str(refusal.value)
        assert "\n" not in message
        assert "1e+300" not in message  # no value of the data in it


def test_more_alarms_than_answers() -> None:
    for attempt in (
        lambda: Sparse(epsilon=1.0, limit=3).alarm_law([1.0, 2.0], 1.0),
        lambda: NumericSparse(epsilon=1.0, limit=3).sample([1.0, 2.0], 1.0, np.random.default_rng(1), 5),
        lambda: AlarmProblem(answers=[1.0, 2.0], threshold=1.0, limit=3),
    ):
        with pytest.raises(InvalidArgument, match="limit must be at most the number of answers"):
            attempt()


def test_outcomes_that_cannot_be() -> None:
    mechanism = Sparse(epsilon=1.0, limit=2)
    for alarms in ([0, 1, 2], [1, 0], [1, 1], [-1], [7]):
        with pytest.raises(InvalidArgument):
            mechanism.log_probability([1.0, 2.0, 3.0], 1.0, alarms)
    with pytest.raises(InvalidArgument):
        AboveThreshold(epsilon=1.0).log_probability([1.0], 1.0, 3)
    with pytest.raises(InvalidArgument):
        NumericSparse(epsilon=1.0, limit=1).log_density([1.0], 1.0, [0], [])


@every
def test_one_query_is_enough(kind: type) -> None:
    law = make(kind).stop_law([2.0], 1.0)
    assert law.shape == (2,)
    assert law.sum() == pytest.approx(1)


def test_a_million_queries_are_answered() -> None:
    answers = np.zeros(10**6)
    law = AboveThreshold(epsilon=1.0).stop_law(answers, 50.0)
    assert law.shape == (10**6 + 1,)
    assert law.sum() == pytest.approx(1)
    with pytest.raises(InvalidArgument, match="too large"):
        Sparse(epsilon=1.0, limit=1000).alarm_law(answers, 50.0)


def test_simulations_take_a_generator_and_a_size() -> None:
    mechanism = AboveThreshold(epsilon=1.0)
    with pytest.raises(InvalidArgument, match="rng"):
        mechanism.sample([1.0], 1.0, 7, 5)
    with pytest.raises(InvalidArgument, match="size"):
        mechanism.sample([1.0], 1.0, np.random.default_rng(1), 0)


def test_listing_the_mechanisms_loads_no_compiler() -> None:
    """Importing the package and its catalogue stays quick; the compiled loops load when a law is first asked for."""
    code = (
        "import sys; from dpcore.thresholding import catalog; catalog();"
        "print([m for m in ('numba', 'scipy.optimize', 'scipy.stats', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


every_way = pytest.mark.parametrize("way", list(ways.catalog().values()), ids=list(ways.catalog()))
limits = pytest.mark.parametrize("limit", [1, 3])


@every_way
def test_a_way_tells_about_itself(way: type[ways.Way]) -> None:
    check_about(way, ways.catalog())
    assert way.__doc__
    assert way.noise in ("laplace", "exponential")
    assert isinstance(way.monotonic, bool)


@pytest.mark.thorough
@every_way
@limits
def test_a_way_costs_what_was_asked_and_keeps_it(way: type[ways.Way], limit: int) -> None:
    """Exact log-ratios of every outcome on worst-case and generated neighbours; all of ε is used up, none is exceeded.

    With four fifths of the noise the same search finds more than ε, so it would notice.
    """
    epsilon, sensitivity = 0.7, 2.0
    mechanism = family(way.key, 12, limit, 0.05).mechanism(epsilon, sensitivity)
    assert mechanism.cost == Cost.pure(epsilon)
    twin = dataclasses.replace(mechanism, epsilon=epsilon / 0.8)

    def loss(asked: Any) -> float:
        def chance(series: np.ndarray, alarms: Any) -> float:
            if limit > 1:
                return asked.log_probability(series, 0.5, alarms)
            return asked.log_probability(series, 0.5, alarms[0] if len(alarms) else None)

        return largest_loss(chance, limit=limit, sensitivity=sensitivity, one_way=way.monotonic)

    assert 0.98 * epsilon < loss(mechanism) <= epsilon + 1e-7
    assert loss(twin) > epsilon + 1e-3


@every_way
@limits
def test_a_way_s_law_is_a_law_and_its_sampler_follows_it(way: type[ways.Way], limit: int) -> None:
    """The last alarm: chi-square of 20,000 runs at level 1e-4, which three fifths of the noise fail beyond doubt."""
    answers = np.array([0.0, 3.0, -2.0, 5.0, 1.0, 8.0])
    mechanism = family(way.key, answers.size, limit, 0.05).mechanism(2.0, 1.0)
    law = mechanism.stop_law(answers, 4.0)
    assert law.shape == (answers.size + 1,)
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1, abs=1e-9)
    usual = law * 20_000 >= 5
    due = 20_000 * np.append(law[usual], law[~usual].sum())
    for asked, follows in ((mechanism, True), (dataclasses.replace(mechanism, epsilon=2.0 / 0.6), False)):
        runs = asked.sample(answers, 4.0, np.random.default_rng(7), 20_000).reshape(20_000, -1)
        counts = np.bincount(runs[:, -1], minlength=law.size)
        seen = np.append(counts[usual], counts[~usual].sum())
        misfit = ((seen - due)[due > 0] ** 2 / due[due > 0]).sum()
        assert (stats.chi2.sf(misfit, (due > 0).sum() - 1) > 1e-4) == follows


@every_way
@limits
def test_a_way_s_accuracy_is_what_its_design_states(way: type[ways.Way], limit: int) -> None:
    """The α that a page shows is the exact one of the mechanism that is run, at any ε and sensitivity."""
    fitted = family(way.key, 12, limit, 0.05)
    mechanism = fitted.mechanism(0.5, 3.0)
    found = exact_alpha(mechanism.scales, 12, limit, 0.05, mechanism.offset)
    assert fitted.alpha_factor * 3.0 / 0.5 == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize("way", [way for way in ways.catalog().values() if way.about.release], ids=lambda way: way.key)
@limits
def test_the_release_a_way_names_draws_it(way: type[ways.Way], limit: int) -> None:
    """Counts of which one person moves 64: the law of the request is that of the way to two percent, its cost too.

    That of 0.7 ε is not, nor is that of noise that uses one-way moves as another way does.
    """
    answers, step = np.array([0, 3, -2, 5, 1, 8]), 64
    assert way.about.release == AlarmRun.key
    column = Column(name="n", type="integer", counts=True, sensitivity=step)
    rows = PrivateRows(pd.DataFrame({"n": [str(answer * step) for answer in answers]}))
    for epsilon, both_ways, same in ((2.0, False, True), (1.4, False, False), (2.0, True, False)):
        mechanism = family(way.key, answers.size, limit, 0.05).mechanism(epsilon, 1.0)
        request = AlarmRun.of(
            Declaration(columns=(column,), each_row="step"),
            "n",
            epsilon=epsilon,
            threshold=4.0 * step,
            entries=answers.size,
            limit=limit,
            noise=way.noise,
            threshold_share=mechanism.share,
            offset=mechanism.offset * step,
            both_ways=way.monotonic == both_ways,
        )
        assert request.cost == mechanism.cost
        asked = dataclasses.replace(mechanism, epsilon=2.0)
        apart = np.abs(request.law(rows)[-1] - asked.stop_law(answers, 4.0)).max()
        assert (apart < 0.02) == same


@every_way
def test_a_way_is_evaluated_by_the_problem(way: type[ways.Way]) -> None:
    """Where one person moves answers both ways, only the ways that allow it are offered."""
    problem = AlarmProblem(answers=[1.0, 2.0, 9.0, 3.0], threshold=5.0, people=15, monotonic=way.monotonic)
    assert problem.abouts[way.key] is way.about
    levels, sizes = np.array([0.1, 1.0, 10.0]), np.full(3, 15.0)
    chances = [problem.evaluate(way.key, name, levels, sizes).value for name in problem.metrics if name != "alpha"]
    assert np.allclose(np.sum(chances, axis=0), 1.0)
    assert (np.diff(problem.evaluate(way.key, "alpha", levels, sizes).value) < 0).all()
    if way.monotonic:
        assert way.key not in AlarmProblem(answers=[1.0, 9.0], threshold=5.0).methods
