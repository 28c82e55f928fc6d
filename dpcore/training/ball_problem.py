"""How well one number, or a line, is chosen from a ball at every ε and n: the small world as a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpcore.about import About
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.training.ball import Ball
from dpcore.training.ball_world import BallWorld
from dpcore.training.simple_problems import ABOUT_THEORY
from dpcore.validate import FloatArray, one_of

THEORY = "theory"
_TOGETHER = 256
"""Settings whose laws are held at once, each as long as the grid."""
_METRICS = keyed(
    Metric(key="likely", name="Seldom more than", title="excess loss that is seldom passed", better="lower"),
    Metric(key="mean", name="On average", title="excess loss, on average", better="lower"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BallProblem(Problem):
    """The choice of ``world`` at other ε and n, its points spread as they are; everything else is the world's own.

    Metrics, exact on its grid: ``likely``, the excess loss that is passed with chance β at most, and ``mean``.
    ``theory`` is r + t, or how far L can vary at all where that is less, as where the loss has a limit. One person is
    replaced, or added or removed, as in the world. Bassily, Smith & Thakurta, FOCS 2014.

    >>> import numpy as np
    >>> few = BallProblem(world=BallWorld(points=np.linspace(-0.5, 0.5, 50)))
    >>> few.evaluate("ball", "mean", np.array([1.0]), np.array([50.0])).value.round(3).tolist()
    [0.04]
    """

    world: BallWorld

    @property
    def n(self) -> int:
        return self.world.n

    @property
    def abouts(self) -> Mapping[str, About]:
        """The choice, and ``theory``."""
        return {Ball.key: Ball.about, THEORY: ABOUT_THEORY}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return _METRICS

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``."""
        one_of(self.methods, method=method)
        one_of(tuple(_METRICS), metric=metric)
        levels, people = np.broadcast_arrays(np.asarray(epsilon, np.float64), np.asarray(n, np.float64))
        if method == THEORY:
            return Estimate.bound(self._promised(levels, people))
        parts = [
            self._found(metric, levels[first : first + _TOGETHER] * people[first : first + _TOGETHER])
            for first in range(0, levels.size, _TOGETHER)
        ]
        return Estimate.exact(np.concatenate(parts) if parts else np.zeros(0))

    def _found(self, metric: str, strength: FloatArray) -> FloatArray:
        """The metric where ε times n is ``strength``, shape (m,)."""
        world = self.world
        order = np.argsort(world.excess)
        excess = world.excess[order]
        slope = world.slope / world.epsilon * strength
        weights = np.exp(-slope[:, None] * excess)
        if metric == "mean":
            return np.asarray(weights @ excess / weights.sum(axis=1))
        below = np.cumsum(weights, axis=1)
        enough = (1.0 - world.beta) * below[:, -1:]
        return np.asarray(excess[np.argmax(below >= enough, axis=1)])

    def _promised(self, epsilon: FloatArray, n: FloatArray) -> FloatArray:
        world = self.world
        penalty = 0.5 * world.ridge * world.radius**2
        most = world.sensitivity + penalty
        if world.cap is not None:
            return np.full(epsilon.shape, most)
        people = n * epsilon * (world.slope * world.sensitivity / world.epsilon)
        held = np.maximum(people, world.d)
        near = most * world.d / held
        tail = world.sensitivity / held * (world.d * np.log(held / world.d) + np.log(1.0 / world.beta))
        return np.where(people < world.d, most, np.minimum(near + tail + world.half_cell, most))
