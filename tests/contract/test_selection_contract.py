"""What every entry of the selection catalogue keeps, whatever it is. A new mechanism is tested by being there."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpcore.accounting import Cost
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.events import BoundedRangeEvent
from dpcore.releases.selection import BestScore
from dpcore.selection import FiniteClassProblem, MostCommon, Selector, catalog, expected_loss, laws, summaries
from tests.audit.selection_exact import bases, moves
from tests.contract.about import check_about

KINDS = sorted(catalog().values(), key=lambda kind: kind.key)
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
SCORES = {
    "one": [3.0],
    "two": [1.0, 0.0],
    "tied": [7.0, 7.0, 7.0],
    "mixed": [5.0, 4.0, 4.0, 2.0, 0.0, -1.0],
    "far": [1e6, 0.0, -1e6, 999_999.0],
    "many": list(np.random.default_rng(5).normal(size=300) * 20),
    "ties and many": list(np.random.default_rng(6).integers(0, 9, size=2000)),
}
scores_of = pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES.keys())


def public(kind: type[Selector], **fields: object) -> Selector:
    return kind(**({"epsilon": 1.0} | fields))


@every
def test_it_is_data_with_a_name(kind: type[Selector]) -> None:
    assert catalog()[kind.key] is kind
    assert (kind.__doc__ or "").strip()
    fields = {field.name: field for field in dataclasses.fields(kind)}
    assert list(fields)[:3] == ["epsilon", "sensitivity", "monotonic"]
    assert fields["sensitivity"].default == 1.0
    assert fields["monotonic"].default is False
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in inspect.signature(kind).parameters.values())
    mechanism = public(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.epsilon = 2.0
    assert not hasattr(mechanism, "__dict__")


@every
def test_it_tells_about_itself(kind: type[Selector]) -> None:
    check_about(kind, catalog())


@every
@scores_of
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_law_is_a_law(kind: type[Selector], scores: list[float], monotonic: bool) -> None:
    """Positive, sums to 1, equal for equal scores, higher for higher ones, and only differences count."""
    for epsilon in (1e-6, 0.05, 1.0, 30.0, 1e9):
        mechanism = public(kind, epsilon=epsilon, monotonic=monotonic)
        law = mechanism.probabilities(scores)
        assert law.shape == (len(scores),)
        assert (law > 0).all()
        # quadrature is exact to 1e-13; a million-fold sum of rounding stays below 1e-12
        assert abs(law.sum() - 1) < 1e-12
        order = np.argsort(scores, kind="stable")
        assert (np.diff(law[order]) >= -1e-15).all()
        values, place = np.unique(scores, return_inverse=True)
        for i in range(values.size):
            assert np.ptp(law[place == i]) == 0.0
        shuffled = np.random.default_rng(1).permutation(len(scores))
        assert np.array_equal(mechanism.probabilities(np.asarray(scores)[shuffled]), law[shuffled])
        assert np.allclose(mechanism.probabilities(np.asarray(scores) + 1000.0), law, rtol=1e-6, atol=1e-300)


@every
@scores_of
def test_many_levels_at_once_agree_with_one_at_a_time(kind: type[Selector], scores: list[float]) -> None:
    levels = np.geomspace(0.01, 10, 7)
    table = laws(kind.key, scores, levels, sensitivity=2.0, monotonic=True)
    short = summaries(kind, scores, levels, sensitivity=2.0, monotonic=True)
    best = np.asarray(scores) == max(scores)
    for i, level in enumerate(levels):
        one = public(kind, epsilon=level, sensitivity=2.0, monotonic=True)
        assert np.allclose(table[i], one.probabilities(scores), rtol=1e-11, atol=0)
        assert short.success[i] == pytest.approx(table[i][best].sum(), rel=1e-11)
        assert short.expected_loss[i] == pytest.approx(expected_loss(one, scores), rel=1e-10, abs=1e-280)


@every
def test_more_budget_is_never_worse(kind: type[Selector]) -> None:
    for scores in SCORES.values():
        short = summaries(kind, scores, np.geomspace(1e-3, 1e3, 200))
        assert (np.diff(short.success) >= -1e-13).all()
        assert (np.diff(short.expected_loss) <= 1e-10 * max(1.0, np.ptp(scores))).all()


@pytest.mark.thorough
@every
@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.2, 1.0), (3.0, 5.0)])
def test_no_neighbour_tells_more_than_epsilon(
    kind: type[Selector], one_way: bool, epsilon: float, sensitivity: float
) -> None:
    """Exact log-ratios over generated and worst-case neighbours; bounded range too, where the cost says so."""
    mechanism = public(kind, epsilon=epsilon, sensitivity=sensitivity, monotonic=one_way)
    ranged = isinstance(mechanism.cost.event, BoundedRangeEvent)
    rng = np.random.default_rng(3)
    for scores in bases(rng):
        scores = scores * sensitivity
        before = np.log(mechanism.probabilities(scores))
        some = moves(scores.size, one_way)
        for move in some[rng.permutation(len(some))[:24]]:
            ratio = np.log(mechanism.probabilities(scores + sensitivity * move)) - before
            assert np.abs(ratio).max() <= epsilon + 1e-9
            assert not ranged or np.ptp(ratio) <= epsilon + 1e-9


@every
def test_a_broken_twin_is_found_out(kind: type[Selector]) -> None:
    """Four times as much budget in the noise as in the promise: the search of the test above exceeds the promise."""
    twin = public(kind, epsilon=4.0)
    rng = np.random.default_rng(3)
    worst = 0.0
    for scores in bases(rng):
        before = np.log(twin.probabilities(scores))
        some = moves(scores.size, False)
        for move in some[rng.permutation(len(some))[:24]]:
            worst = max(worst, float(np.abs(np.log(twin.probabilities(scores + move)) - before).max()))
    assert worst > 1.3


RELEASED = [kind for kind in KINDS if kind.about.release is not None]


@pytest.mark.parametrize("kind", RELEASED, ids=lambda kind: kind.key)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_release_it_names_draws_exactly_it(kind: type[Selector], monotonic: bool) -> None:
    """Law and cost of the request are those of the mechanism; with another mechanism's law the test would fail."""
    scores, names = np.array([7.0, 5.0, 5.0, 1.0]), ("a", "b", "c", "d")
    declared = Declaration(
        columns=(
            Column(name="name", type="category", categories=names),
            Column(name="score", type="integer", low=-100, high=100, sensitivity=2, counts=monotonic),
        ),
        each_row="option",
    )
    request = BestScore.of(declared, option="name", score="score", epsilon=0.8, rule=kind.about.release)
    rows = PrivateRows(pd.DataFrame({"name": names, "score": [str(int(score)) for score in scores]}))
    mechanism = public(kind, epsilon=0.8, sensitivity=2.0, monotonic=monotonic)
    assert np.allclose(request.law(rows), mechanism.probabilities(scores), rtol=1e-12)
    assert request.cost == mechanism.cost
    others = [other(epsilon=0.8, sensitivity=2.0, monotonic=monotonic) for other in RELEASED if other is not kind]
    assert not any(np.allclose(request.law(rows), other.probabilities(scores), rtol=1e-3) for other in others)


@every
def test_the_problems_evaluate_it(kind: type[Selector]) -> None:
    counts = MostCommon(scores=[30.0, 20.0, 5.0])
    rules = FiniteClassProblem(errors=[3.0, 9.0, 20.0], people=40)
    levels = np.array([0.01, 0.3, 10.0])
    for problem in (counts, rules):
        assert problem.abouts[kind.key] is kind.about
        for name, metric in problem.metrics.items():
            found = problem.evaluate(kind.key, name, levels, np.full(3, float(problem.n)))
            better = np.diff(found.value) * (1 if metric.higher else -1)
            assert (better >= -1e-12).all()
            assert better.sum() > 0


@every
def test_the_promise_of_theory_holds(kind: type[Selector]) -> None:
    """Exact chance of a loss above the bound, where it is worst: one ahead of many by just more than the bound."""
    for k in (2, 10, 1000):
        for beta in (0.5, 0.05, 1e-4):
            for monotonic in (False, True):
                mechanism = public(kind, epsilon=0.7, sensitivity=3.0, monotonic=monotonic)
                bound = mechanism.utility_bound(k, beta)
                law = mechanism.probabilities(np.r_[bound * (1 + 1e-9), np.zeros(k - 1)])
                assert law[1:].sum() <= beta


@every
def test_the_promise_of_theory_is_one_length(kind: type[Selector]) -> None:
    """``utility_bound`` is (ln k + ln(1/β)) times a length that shrinks as ε grows, which every measure builds on."""
    for k in (2, 10, 1000):
        for monotonic in (False, True):
            lengths = [
                public(kind, epsilon=epsilon, sensitivity=3.0, monotonic=monotonic).utility_bound(k, beta)
                * float(kind.slopes(epsilon, k, 3.0, monotonic))
                / (np.log(k) - np.log(beta))
                for epsilon in (0.1, 0.7, 5.0)
                for beta in (0.5, 0.05, 1e-4)
            ]
            assert np.allclose(lengths, lengths[0]), "utility_bound must be (ln k + ln(1/β)) / slope times a number"


@every
def test_theory_never_promises_more_than_the_mechanism_keeps(kind: type[Selector]) -> None:
    """Each measure's promise, made of this mechanism's own theorem, against its exact value."""
    levels = np.geomspace(0.01, 10.0, 25)
    counts = MostCommon(scores=[92.0, 83.0, 60.0, 45.0, 30.0, 6.0], theorem=kind.key)
    rules = FiniteClassProblem(errors=[3.0, 9.0, 20.0, 21.0], people=40, theorem=kind.key)
    for problem in (counts, rules):
        sizes = np.full_like(levels, float(problem.n))
        for name, metric in problem.metrics.items():
            exact = problem.evaluate(kind.key, name, levels, sizes).value
            bound = problem.evaluate("theory", name, levels, sizes).value
            slack = exact - bound if metric.higher else bound - exact
            assert (slack >= -1e-12).all(), name


def test_another_theorem_promises_too_much() -> None:
    """What the test above must find: noise on every score is worse than the exponential mechanism's theorem says."""
    levels, sizes = np.geomspace(0.01, 10.0, 25), np.full(25, 316.0)
    counts = MostCommon(scores=[92.0, 83.0, 60.0, 45.0, 30.0, 6.0], theorem="exponential")
    kept = counts.evaluate("naive_laplace", "success", levels, sizes).value
    assert (counts.evaluate("theory", "success", levels, sizes).value > kept + 0.05).any()


@every
def test_the_cost_is_epsilon(kind: type[Selector]) -> None:
    cost = public(kind, epsilon=0.3).cost
    assert isinstance(cost, Cost)
    assert cost.epsilon == pytest.approx(0.3), "cost is the whole ε that it is given; use it up"
    assert cost.delta == 0.0
    assert cost.rho is not None
    assert cost.rho <= 0.3**2 / 2


def chi_square(indices: np.ndarray, law: np.ndarray) -> float:
    """p-value; cells that expect fewer than 5 are taken together."""
    expected = law * indices.size
    seen = np.bincount(indices, minlength=law.size).astype(float)
    small = expected < 5
    if small.any():
        expected = np.r_[expected[~small], expected[small].sum()]
        seen = np.r_[seen[~small], seen[small].sum()]
    return float(stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue)


@every
@pytest.mark.parametrize("monotonic", [False, True])
def test_samples_and_noise_follow_the_law(kind: type[Selector], monotonic: bool) -> None:
    """Chi-square of 20,000 draws at level 1e-4, for the sampler and for the largest of score + noise; and the same
    test rejects the law of 20 % less noise beyond doubt, so passing means something."""
    scores = np.array([5.0, 4.0, 4.0, 2.0, 0.0, -1.0]) * 2.5
    mechanism = public(kind, epsilon=1.0, sensitivity=1.5, monotonic=monotonic)
    law = mechanism.probabilities(scores)
    louder = public(kind, epsilon=1.25, sensitivity=1.5, monotonic=monotonic).probabilities(scores)
    drawn = mechanism.sample(scores, np.random.default_rng(11), 20_000)
    noise = mechanism.noise(scores.size, np.random.default_rng(12), 20_000)
    assert drawn.shape == (20_000,)
    assert drawn.dtype == np.int64
    assert noise.shape == (20_000, 6)
    for indices in (drawn, (scores + noise).argmax(axis=1)):
        assert chi_square(indices, law) > 1e-4
        assert chi_square(indices, louder) < 1e-6


@every
def test_sampling_is_repeatable_and_changes_nothing(kind: type[Selector]) -> None:
    scores = np.array([1.0, 2.0, 3.0])
    scores.flags.writeable = False
    mechanism = public(kind)
    first = mechanism.sample(scores, np.random.default_rng(1), 50)
    assert np.array_equal(first, mechanism.sample(scores, np.random.default_rng(1), 50))
    assert mechanism.sample(scores, np.random.default_rng(1), 0).shape == (0,)


BAD_NUMBERS = [0.0, -1.0, float("nan"), float("inf"), "1", None, True]


@every
def test_every_invalid_argument_is_refused_by_name(kind: type[Selector]) -> None:
    rng = np.random.default_rng(0)
    for name in ("epsilon", "sensitivity"):
        for bad in BAD_NUMBERS:
            with pytest.raises(InvalidArgument, match=rf"^{name} "):
                public(kind, **{name: bad})
    for bad in (1, 0, None, "yes"):
        with pytest.raises(InvalidArgument, match=r"^monotonic "):
            public(kind, monotonic=bad)
    mechanism = public(kind)
    for bad in ([], [1.0, float("nan")], [float("inf")], [[1.0, 2.0]], ["a"], None, 3.0):
        with pytest.raises(InvalidArgument, match=r"^scores "):
            mechanism.probabilities(bad)
        with pytest.raises(InvalidArgument, match=r"^scores "):
            mechanism.sample(bad, rng, 1)
        with pytest.raises(InvalidArgument, match=r"^scores "):
            expected_loss(mechanism, bad)
    for bad in (-1, 1.5, float("nan"), "3", None):
        with pytest.raises(InvalidArgument, match=r"^size "):
            mechanism.sample([1.0, 2.0], rng, bad)
    for bad in (None, 7, np.random):
        with pytest.raises(InvalidArgument, match=r"^rng "):
            mechanism.sample([1.0], bad, 1)
        with pytest.raises(InvalidArgument, match=r"^rng "):
            mechanism.noise(2, bad, 1)
    for bad in (0, -3, 2.5, "2", None):
        with pytest.raises(InvalidArgument, match=r"^k "):
            mechanism.utility_bound(bad, 0.1)
        with pytest.raises(InvalidArgument, match=r"^k "):
            mechanism.noise(bad, rng, 1)
    for bad in (0.0, 1.0, -0.1, float("nan"), "0.1", None):
        with pytest.raises(InvalidArgument, match=r"^beta "):
            mechanism.utility_bound(3, bad)
    with pytest.raises(TypeError):
        kind(1.0)


def test_messages_hold_no_values() -> None:
    """Scores are private: what is wrong with them is said without them."""
    for kind in KINDS:
        with pytest.raises(InvalidArgument) as caught:
            public(kind).probabilities([12345.678, float("nan")])
        assert "12345" not in str(caught.value)


def test_unknown_methods_and_levels_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"^method "):
        laws("gumbel", [1.0, 2.0], [1.0])
    with pytest.raises(InvalidArgument, match=r"^epsilons "):
        laws("exponential", [1.0, 2.0], [1.0, 0.0])
    with pytest.raises(InvalidArgument, match=r"^sensitivity "):
        summaries("exponential", [1.0, 2.0], [1.0], sensitivity=-1.0)
