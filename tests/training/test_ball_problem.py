"""The small world as a question: the same numbers as the world itself, inside its theorem, at every ε and n."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.training import BallProblem, BallWorld

RNG = np.random.default_rng(5)
LINE = BallWorld(points=RNG.uniform(-1, 1, (40, 2)), statistic="line", epsilon=2.0, cells=41)
WORLDS = {
    "mean": BallWorld(points=RNG.uniform(-1, 1, 60), epsilon=2.0),
    "median": BallWorld(points=RNG.uniform(-1, 1, 60), statistic="median", neighbours="add_remove", steepness=3.0),
    "ridge": BallWorld(points=RNG.uniform(-1, 1, 60), ridge=2.0, radius=0.5),
    "line": LINE,
}
LEVELS = np.geomspace(0.01, 100.0, 300)


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_at_its_own_epsilon_and_n_it_is_the_world(world: BallWorld) -> None:
    problem, here = BallProblem(world=world), (np.array([world.epsilon]), np.array([world.n]))
    assert problem.evaluate("ball", "mean", *here).value[0] == pytest.approx(world.expected_excess)
    likely = problem.evaluate("ball", "likely", *here).value[0]
    assert world.probabilities[world.excess > likely].sum() <= world.beta
    assert world.probabilities[world.excess >= likely].sum() >= world.beta
    promised = problem.evaluate("theory", "likely", *here).value[0]
    assert promised == pytest.approx(min(world.bound, world.sensitivity + 0.5 * world.ridge * world.radius**2))


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_the_theorem_holds_at_every_setting_and_its_mutant_does_not(world: BallWorld) -> None:
    problem, n = BallProblem(world=world), np.full(LEVELS.size, 200.0)
    likely, promised = (problem.evaluate(one, "likely", LEVELS, n).value for one in ("ball", "theory"))
    assert (likely <= promised).all()
    assert (np.diff(likely) <= 1e-12).all()
    assert (likely > promised / 12).any()


def test_another_size_is_another_epsilon() -> None:
    """Only εn counts, and a world of twice the points, each twice, is that."""
    twice = replace(LINE, points=np.repeat(LINE.points, 2, axis=0))
    at = BallProblem(world=LINE).evaluate("ball", "mean", np.array([2.0]), np.array([80.0])).value[0]
    assert at == pytest.approx(twice.expected_excess)


def test_where_nothing_is_proved_it_promises_what_is_trivial() -> None:
    capped = BallProblem(world=BallWorld(points=np.zeros(9), cap=0.3))
    assert capped.evaluate("theory", "likely", LEVELS, np.full(300, 1e6)).value.tolist() == [0.3] * 300
    few = BallProblem(world=WORLDS["mean"]).evaluate("theory", "likely", np.array([0.01]), np.array([3.0]))
    assert few.value[0] == WORLDS["mean"].sensitivity
    with pytest.raises(InvalidArgument, match=r"^method "):
        capped.evaluate("nonsense", "mean", LEVELS, LEVELS)
