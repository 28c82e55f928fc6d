"""Which option is most common: the problem against the mechanisms, its bounds, its bands and its inversion."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.calibration import bounded_range_rate
from dpcore.errors import InvalidArgument
from dpcore.selection import Exponential, MostCommon, PermuteAndFlip, catalog, expected_loss
from dpcore.tradeoff import COLUMNS, epsilon_for, size_for, sweep_both, sweep_epsilon, sweep_size

COUNTS = [96, 83, 50, 38, 22, 15, 12]
LEVELS = np.geomspace(0.01, 10, 30)


def at(problem: MostCommon, method: str, metric: str, epsilon: float, n: float | None = None) -> float:
    size = float(problem.n if n is None else n)
    return float(problem.evaluate(method, metric, np.array([epsilon]), np.array([size])).value[0])


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("key", sorted(catalog()))
def test_values_are_those_of_the_mechanism(key: str, relation: str) -> None:
    problem = MostCommon(scores=COUNTS, relation=relation, sensitivity=2.0)
    mechanism = catalog()[key](epsilon=0.2, sensitivity=2.0, monotonic=relation == "add_remove")
    law = mechanism.probabilities(COUNTS)
    assert problem.mechanism(key, 0.2) == mechanism
    assert problem.n == 316
    assert np.allclose(problem.law(key, 0.2), law, rtol=1e-12)
    assert at(problem, key, "success", 0.2) == pytest.approx(law[0], rel=1e-11)
    assert at(problem, key, "expected_loss", 0.2) == pytest.approx(expected_loss(mechanism, COUNTS), rel=1e-11)
    assert at(problem, key, "loss_share", 0.2) == pytest.approx(expected_loss(mechanism, COUNTS) / 316, rel=1e-11)
    scaled = np.array(COUNTS) * 2.5
    assert at(problem, key, "success", 0.2, 790) == pytest.approx(mechanism.probabilities(scaled)[0], rel=1e-10)
    assert at(problem, key, "expected_loss", 0.2, 790) == pytest.approx(expected_loss(mechanism, scaled), rel=1e-10)
    assert np.allclose(problem.law(key, 0.2, 790), mechanism.probabilities(scaled), rtol=1e-10)


def test_likely_loss_is_the_quantile_of_the_loss() -> None:
    problem = MostCommon(scores=COUNTS, beta=0.1)
    law = PermuteAndFlip(epsilon=0.03, monotonic=True).probabilities(COUNTS)
    loss = at(problem, "permute_and_flip", "likely_loss", 0.03)
    gaps = 96.0 - np.array(COUNTS)
    assert law[gaps <= loss].sum() >= 0.9
    assert law[gaps < loss].sum() < 0.9


def test_theory_never_promises_too_much_and_is_the_published_bound() -> None:
    """Corollary 3.12 is about the exponential mechanism; permute-and-flip keeps it too."""
    for scores in (COUNTS, [10, 10, 3], [1000, 0], [5, 5, 5], list(range(200))):
        for relation in ("add_remove", "replace_one"):
            problem = MostCommon(scores=scores, relation=relation)
            sizes = np.full_like(LEVELS, problem.n)
            for metric, shown in problem.metrics.items():
                bound = problem.evaluate("theory", metric, LEVELS, sizes)
                assert bound.kind == "bound"
                for key in ("exponential", "permute_and_flip"):
                    exact = problem.evaluate(key, metric, LEVELS, sizes).value
                    slack = bound.value - exact if shown.better == "lower" else exact - bound.value
                    assert (slack >= -1e-12).all()
    problem = MostCommon(scores=COUNTS, beta=0.05)
    bound = Exponential(epsilon=1.0, monotonic=True).utility_bound(7, 0.05)
    assert at(problem, "theory", "likely_loss", 1.0) == pytest.approx(bound)
    assert at(problem, "theory", "success", 1.0) == pytest.approx(1 - 7 * np.exp(-13.0))


@pytest.mark.parametrize("scores", [COUNTS, [60, 40], [30, 30, 20, 20], [100, 95, 95, 95, 95]])
@pytest.mark.parametrize("method", ["exponential", "permute_and_flip"])
def test_bands_are_what_drawing_people_does(scores: list[int], method: str) -> None:
    """Against 4,000 multinomial samples: the 10 % and 90 % points of the exact success and loss given the sample.

    Tolerance .08: the path is a one-dimensional stand-in for k − 1 dimensions, and four rivals tied behind the leader
    are its hardest case; with two options only the normal approximation of counts is left.
    """
    rng = np.random.default_rng(3)
    problem = MostCommon(scores=scores)
    shares = np.array(scores) / sum(scores)
    law_of = catalog()[method].law
    for epsilon in (0.05, 0.3):
        for times in (1, 5):
            n = sum(scores) * times
            drawn = rng.multinomial(n, shares, size=4000).astype(float)
            law = law_of.rows((drawn.max(axis=1, keepdims=True) - drawn) * epsilon, np.ones(len(scores)))
            right = law[:, shares == shares.max()].sum(axis=1)
            estimate = problem.evaluate(method, "success", np.array([epsilon]), np.array([float(n)]))
            assert estimate.low[0] == pytest.approx(np.quantile(right, 0.1), abs=0.08)
            assert estimate.high[0] == pytest.approx(np.quantile(right, 0.9), abs=0.08)
            lost = law @ (shares.max() - shares)
            share = problem.evaluate(method, "loss_share", np.array([epsilon]), np.array([float(n)]))
            worst = (shares.max() - shares).max()
            assert share.low[0] == pytest.approx(np.quantile(lost, 0.1), abs=0.08 * worst)
            assert share.high[0] == pytest.approx(np.quantile(lost, 0.9), abs=0.08 * worst)


def test_bands_hold_the_value_and_can_be_left_out() -> None:
    problem = MostCommon(scores=COUNTS)
    for key in catalog():
        for metric in problem.metrics:
            estimate = problem.evaluate(key, metric, LEVELS, np.full_like(LEVELS, 316))
            assert (estimate.low <= estimate.value).all()
            assert (estimate.value <= estimate.high).all()
            plain = problem.central.evaluate(key, metric, LEVELS, np.full_like(LEVELS, 316))
            assert np.array_equal(plain.value, estimate.value)
            assert np.array_equal(plain.low, plain.high)
    table = MostCommon(scores=[3.0, 2.0], counted=False)
    estimate = table.evaluate("exponential", "success", LEVELS, np.full_like(LEVELS, 3))
    assert np.array_equal(estimate.low, estimate.high)


def test_inversions_are_exact() -> None:
    problem = MostCommon(scores=COUNTS)
    for key in (*catalog(), "theory"):
        level = epsilon_for(0.95, problem, method=key, metric="success")
        assert level is not None
        assert at(problem, key, "success", level) >= 0.95
        assert at(problem, key, "success", level * (1 - 3e-6)) < 0.95
        size = size_for(0.95, problem, method=key, metric="success", epsilon=0.2)
        assert size is not None
        assert at(problem, key, "success", 0.2, size) >= 0.95
        assert at(problem, key, "success", 0.2, size - 1) < 0.95
    assert epsilon_for(0.95, MostCommon(scores=[5, 5, 1]), method="theory", metric="success", low=0.1, high=0.2) is None
    people = size_for(1e-4, problem, method="exponential", metric="loss_share", epsilon=0.1)
    assert people is not None
    assert at(problem, "exponential", "loss_share", 0.1, people - 1) > 1e-4


def test_permute_and_flip_needs_fewer_people() -> None:
    """About 7 % fewer records for the same chance at k = 1000, the figure mechanisms.md gives, and fewer at any k."""
    scores = np.r_[60.0, np.full(999, 40.0)]
    problem = MostCommon(scores=scores)
    flip = size_for(0.95, problem, method="permute_and_flip", metric="success", epsilon=0.5)
    softmax = size_for(0.95, problem, method="exponential", metric="success", epsilon=0.5)
    assert flip is not None
    assert softmax is not None
    assert 0.9 < flip / softmax < 0.95


def test_many_questions_reverse_the_order() -> None:
    """One answer: permute-and-flip wins. A hundred that share (ε, δ): the exponential mechanism composes better."""
    one = MostCommon(scores=COUNTS)
    assert at(one, "permute_and_flip", "success", 0.1) > at(one, "exponential", "success", 0.1)
    pure = MostCommon(scores=COUNTS, questions=100)
    assert at(pure, "exponential", "success", 2.0) == pytest.approx(at(one, "exponential", "success", 0.02))
    many = MostCommon(scores=COUNTS, questions=100, delta=1e-6)
    share = bounded_range_rate(2.0, 1e-6, 100)
    assert at(many, "exponential", "success", 2.0) == pytest.approx(at(one, "exponential", "success", share))
    assert many.mechanism("exponential", 2.0).epsilon == pytest.approx(share)
    assert at(many, "exponential", "success", 2.0) > at(many, "permute_and_flip", "success", 2.0)
    assert at(many, "permute_and_flip", "success", 2.0) > at(pure, "permute_and_flip", "success", 2.0)


def test_who_is_hidden_decides_the_noise() -> None:
    """Add/remove moves all counts one way; a replaced row does not; a score table can be said not to."""
    added = MostCommon(scores=COUNTS, relation="add_remove")
    replaced = MostCommon(scores=COUNTS, relation="replace_one")
    for key in ("exponential", "permute_and_flip", "noisy_max_laplace"):
        assert at(replaced, key, "success", 0.4) == pytest.approx(at(added, key, "success", 0.2), rel=1e-12)
    table = MostCommon(scores=[4.0, -2.0], counted=False, monotonic=False)
    assert not table.mechanism("exponential", 1.0).monotonic
    assert table.n == 4
    assert MostCommon(scores=[4.0, -2.0], counted=False, people=50).n == 50


def test_sweeps_are_tidy() -> None:
    problem = MostCommon(scores=COUNTS)
    frame = sweep_epsilon(problem, [0.1, 1.0])
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 2 * len(problem.methods) * len(problem.metrics)
    assert set(frame["kind"]) == {"exact", "bound"}
    sizes = sweep_size(problem, [100, 200, 400], epsilon=0.3, methods=["exponential"], metrics=["success"])
    assert sizes["n"].tolist() == [100, 200, 400]
    assert sizes["value"].is_monotonic_increasing
    both = sweep_both(problem, [0.1, 1.0], [50, 500], method="exponential", metric="success")
    assert both[["epsilon", "n"]].to_numpy().tolist() == [[0.1, 50], [1.0, 50], [0.1, 500], [1.0, 500]]
    for row in frame.itertuples():
        assert row.value == pytest.approx(at(problem, row.method, row.metric, row.epsilon), rel=1e-12)


def test_the_problem_keeps_its_own_copy() -> None:
    scores = np.array([3.0, 1.0])
    problem = MostCommon(scores=scores)
    scores[0] = 0.0
    assert problem.scores.tolist() == [3.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        problem.scores[0] = 5.0


def test_invalid_arguments_are_refused_by_name() -> None:
    for name, bad in [
        ("scores", []),
        ("scores", [float("nan"), 1.0]),
        ("scores", [-1.0, 2.0]),
        ("scores", [0.0, 0.0]),
        ("relation", "nobody"),
        ("sensitivity", 0.0),
        ("counted", 1),
        ("monotonic", "yes"),
        ("people", 0),
        ("questions", 0),
        ("questions", 1.5),
        ("delta", 1.0),
        ("beta", 0.0),
        ("band", -0.1),
    ]:
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            MostCommon(**({"scores": [1.0, 2.0]} | {name: bad}))
    with pytest.raises(InvalidArgument, match=r"^monotonic "):
        MostCommon(scores=[1.0, 2.0], relation="replace_one", monotonic=True)
    problem = MostCommon(scores=[1.0, 2.0])
    with pytest.raises(InvalidArgument, match=r"^metric "):
        problem.evaluate("exponential", "speed", np.ones(1), np.ones(1))
    with pytest.raises(InvalidArgument, match=r"^method "):
        problem.evaluate("gumbel", "success", np.ones(1), np.ones(1))
    with pytest.raises(InvalidArgument, match=r"^epsilon "):
        problem.law("exponential", 0.0)


def test_one_option_is_always_right() -> None:
    problem = MostCommon(scores=[7.0])
    for method in problem.methods:
        assert at(problem, method, "success", 0.1) == pytest.approx(1.0)
        assert at(problem, method, "expected_loss", 0.1) == 0.0
