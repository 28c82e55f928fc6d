"""One number, one ball: a world of risk minimisation small enough to be drawn whole, exactly.

Points on a line, of which a number w is the mean or the median; or points in a plane, through which w draws a line,
y = (w₁ + w₂x)/√2. The exponential mechanism chooses w from a grid over the ball ‖w‖ ≤ R that no data decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, hyp1f1, ive

from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.theorem import settings
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import (
    FloatArray,
    Neighbours,
    finite_matrix,
    finite_vector,
    non_negative,
    one_of,
    positive,
    probability,
    whole,
)

Statistic = Literal["mean", "median", "line"]
_PIECE = 1 << 21
"""Losses that are there at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BallWorld:
    """A world of n ``points``: (n,) within [−1, 1] for ``mean`` and ``median``, (n, 2) of x and y for ``line``.

    One point's loss is ½(w − y)² (mean), |w − y| (median) or ½(w·(1, x)/√2 − y)² (line), times ``steepness``, and no
    more than ``cap`` where given; L(w) is their mean plus (``ridge``/2)‖w‖². w is chosen from ``grid`` with chance
    ∝ exp(−εnL/(2Δ)), or exp(−εnL/Δ) where a person is added or removed, Δ being ``sensitivity``: ε-DP over the grid
    itself, exactly. ``beta`` is the share that may fall into BAD. Raises InvalidArgument.
    """

    points: FloatArray
    statistic: Statistic = "mean"
    epsilon: float = 1.0
    radius: float = 1.0
    steepness: float = 1.0
    ridge: float = 0.0
    cap: float | None = None
    beta: float = 0.05
    neighbours: Neighbours = "replace_one"
    cells: int = 401
    grid: FloatArray = field(init=False, repr=False)
    loss: FloatArray = field(init=False, repr=False)
    probabilities: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        one_of(("mean", "median", "line"), statistic=self.statistic)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        for name in ("epsilon", "radius", "steepness"):
            positive(**{name: getattr(self, name)})
        non_negative(ridge=self.ridge)
        probability(beta=self.beta)
        whole(3, 4001, cells=self.cells)
        if self.cap is not None:
            positive(cap=self.cap)
        points = finite_matrix(points=self.points) if self.statistic == "line" else finite_vector(points=self.points)
        if np.abs(points).max() > 1.0 or (self.statistic == "line" and points.shape[1] != 2):
            raise InvalidArgument("points", "must lie between -1 and 1, as x and y for a line")
        grid = _grid(self.radius, self.cells, 2 if self.statistic == "line" else 1)
        penalty = 0.5 * self.ridge * (grid * grid).sum(axis=1)
        loss = self._mean_loss(grid, points) + penalty
        weights = np.exp(-self.slope * len(points) * (loss - loss.min()))
        derived = {"points": points.copy(), "grid": grid, "loss": loss, "probabilities": weights / weights.sum()}
        for name, value in derived.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def d(self) -> int:
        """Numbers in w: 1, or 2 for a line."""
        return int(self.grid.shape[1])

    @property
    def lipschitz(self) -> float:
        """G: the steepest one point's loss can be over the ball."""
        return self.steepness * (1.0 if self.statistic == "median" else 1.0 + self.radius)

    @property
    def sensitivity(self) -> float:
        """Δ: how far one point's loss at one w can move, for the worst w of the ball and the worst points."""
        reach = 1.0 + self.radius
        most = self.steepness * (reach if self.statistic == "median" else 0.5 * reach * reach)
        return most if self.cap is None else min(most, self.cap)

    @property
    def slope(self) -> float:
        """a: logits per unit of the summed loss, ε/(2Δ) or ε/Δ."""
        return self.epsilon / ((1.0 if self.neighbours == "add_remove" else 2.0) * self.sensitivity)

    @property
    def density(self) -> FloatArray:
        """Probability per unit of length or area at each point of the grid."""
        cell = (2.0 * self.radius / (self.cells - 1)) ** self.d
        return np.asarray(self.probabilities / cell)

    @property
    def excess(self) -> FloatArray:
        """L(w) above its least on the grid."""
        return np.asarray(self.loss - self.loss.min())

    @property
    def expected_excess(self) -> float:
        """Mean excess of the chosen w, exact."""
        return float(self.probabilities @ self.excess)

    @property
    def near(self) -> float:
        """r of the bound: what it gives for points so near the best that they fill a share (d/(nε′))^d of the ball.

        Infinite unless nε′ ≥ d (ε′ = ε/2, or ε where a person is added or removed), and where ``cap`` bends the loss,
        which the proof needs convex.
        """
        people = self.n * self.slope * self.sensitivity
        if people < self.d or self.cap is not None:
            return math.inf
        return (self.sensitivity + 0.5 * self.ridge * self.radius**2) * self.d / people

    @property
    def tail(self) -> float:
        """t of the bound: beyond r + t lies at most β of the chance, (Δ/(nε′))(d ln(nε′/d) + ln(1/β))."""
        people = self.n * self.slope * self.sensitivity
        if people < self.d or self.cap is not None:
            return math.inf
        return self.sensitivity / people * (self.d * math.log(people / self.d) + math.log(1.0 / self.beta))

    @property
    def half_cell(self) -> float:
        """By how much L may rise from the best point of the ball to the nearest of the grid."""
        away = self.radius / (self.cells - 1) * math.sqrt(self.d)
        return (self.lipschitz + self.ridge * self.radius) * away

    @property
    def bound(self) -> float:
        """r + t, and the half cell by which the grid may miss the best point of the ball."""
        return self.near + self.tail + self.half_cell

    @property
    def good(self) -> np.ndarray:
        """Points of the grid with an excess of at most ``bound``; the others are BAD. Shape (m,)."""
        return np.asarray(self.excess <= self.bound)

    @property
    def bad_chance(self) -> float:
        """Pr[BAD], exact; the theorem promises at most β."""
        return float(self.probabilities[~self.good].sum())

    def moved(self, index: int, to: ArrayLike) -> BallWorld:
        """The world with one point somewhere else: its ghost. Raises InvalidArgument."""
        points = self.points.copy()
        points[whole(0, self.n - 1, index=index)] = to
        return replace(self, points=points)

    def effect(self, other: BallWorld) -> FloatArray:
        """|L − L′| at each point of the grid: for one moved point at most Δ/n. Raises InvalidArgument."""
        self._same_ball(other)
        return np.abs(self.loss - other.loss)

    def two_worlds(self, other: BallWorld) -> TwoWorlds:
        """The laws of both over the grid. Raises InvalidArgument."""
        self._same_ball(other)
        logs = []
        for world in (self, other):
            logits = -world.slope * world.n * world.excess
            logs.append(logits - math.log(float(np.exp(logits).sum())))
        return TwoWorlds(
            before=self.probabilities,
            after=other.probabilities,
            promised=self.epsilon,
            log_before=logs[0],
            log_after=logs[1],
        )

    def _same_ball(self, other: BallWorld) -> None:
        if self.grid.shape != other.grid.shape or not np.array_equal(self.grid, other.grid):
            raise InvalidArgument("other", "must be a world over the same grid")

    def _mean_loss(self, grid: FloatArray, points: FloatArray) -> FloatArray:
        """Mean loss over the points at every point of the grid, shape (m,)."""
        rows, answers = np.ones((len(points), 1)), points
        if self.statistic == "line":
            rows = np.stack([np.ones(len(points)), points[:, 0]], axis=1) / math.sqrt(2.0)
            answers = points[:, 1]
        if self.statistic != "median" and self.cap is None:  # a quadratic form
            square, cross = rows.T @ rows / len(points), rows.T @ answers / len(points)
            quadratic = ((grid @ square) * grid).sum(axis=1) - 2.0 * grid @ cross
            return np.asarray(0.5 * self.steepness * (quadratic + float(answers @ answers) / len(points)))
        if self.statistic != "line":
            return self._by_order(grid[:, 0], np.sort(answers.ravel()))
        cap = math.inf if self.cap is None else self.cap
        total, size = np.zeros(len(grid)), max(1, _PIECE // len(grid))
        for start in range(0, len(points), size):  # never a loss of each point at each w at once
            part = slice(start, start + size)
            away = grid @ rows[part].T - answers[part]
            total += np.minimum(0.5 * self.steepness * away * away, cap).sum(axis=1)
        return total / len(points)

    def _by_order(self, grid: FloatArray, points: FloatArray) -> FloatArray:
        """Mean loss of numbers in rising order: by sums over those before, at each w of the grid, with the points whose
        loss is capped left out and counted."""
        n, squared = len(points), self.statistic != "median"
        reach = math.inf
        if self.cap is not None:
            reach = math.sqrt(2.0 * self.cap / self.steepness) if squared else self.cap / self.steepness
        first, last = np.searchsorted(points, grid - reach, "left"), np.searchsorted(points, grid + reach, "right")
        sums = np.concatenate([[0.0], np.cumsum(points)])
        if squared:
            squares = np.concatenate([[0.0], np.cumsum(points * points)])
            near = (last - first) * grid * grid - 2.0 * grid * (sums[last] - sums[first])
            total = 0.5 * self.steepness * (near + squares[last] - squares[first])
        else:
            middle = np.searchsorted(points, grid)
            below = grid * (middle - first) - (sums[middle] - sums[first])
            above = sums[last] - sums[middle] - grid * (last - middle)
            total = self.steepness * (below + above)
        beyond = 0.0 if self.cap is None else self.cap * (n - (last - first))
        return np.asarray((total + beyond) / n)


def _grid(radius: float, cells: int, d: int) -> FloatArray:
    axis = np.linspace(-radius, radius, cells)
    if d == 1:
        return axis[:, None]
    square = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return np.ascontiguousarray(square[(square * square).sum(axis=1) <= radius**2 * (1.0 + 1e-12)])


def pure_excess(d: ArrayLike, n: ArrayLike, epsilon: ArrayLike, neighbours: Neighbours = "replace_one") -> FloatArray:
    """Expected excess of ε-DP choice over the unit ball for losses −⟨w, x⟩, worst data; exact, grows like d/(εn).

    Everybody at the same x, ‖x‖ = 1: the exponential mechanism's w·x has density ∝ (1 − u²)^((d−1)/2) e^(κu), κ = an,
    a = ε/4 (ε/2 where a person is added or removed: the loss spans 2), of mean I_{d/2+1}(κ)/I_{d/2}(κ). Less agreement
    among people only lowers the excess. Arrays are broadcast together, d up to 300. Raises InvalidArgument.
    """
    one_of(("add_remove", "replace_one"), neighbours=neighbours)
    size, people, level = settings(columns=np.asarray(d, dtype=np.float64) + 1.0, n=n, epsilon=epsilon)
    if size.max() > 301.0:
        raise InvalidArgument("d", "must be at most 300")
    order = (size - 1.0) / 2.0
    strength = level * people / (2.0 if neighbours == "add_remove" else 4.0)
    lower, upper = ive(order, strength), ive(order + 1.0, strength)
    # where the functions underflow, the ratio is κ/(2(ν + 1)) to first order
    mean = np.where(lower > 1e-250, upper / np.maximum(lower, 1e-300), strength / (2.0 * (order + 1.0)))
    return np.asarray(1.0 - mean)


def approximate_excess(
    d: ArrayLike, n: ArrayLike, epsilon: ArrayLike, delta: float = 1e-5, neighbours: Neighbours = "replace_one"
) -> FloatArray:
    """The same for (ε, δ): the sum of all x with Gaussian noise, its direction the answer; worst data, like √d/(εn).

    With X ~ N(λe₁, I) in d dimensions E[X₁/‖X‖] = (λ/√2)·Γ((d+1)/2)/Γ((d+2)/2)·₁F₁(½; (d+2)/2; −λ²/2); data with
    ‖mean‖ = m have λ = mn/(hσ) and an excess of m(1 − that), largest at λ ≈ √d (found on a grid), m at most 1.
    Arrays are broadcast together, d from 2 to 300. Raises InvalidArgument.
    """
    one_of(("add_remove", "replace_one"), neighbours=neighbours)
    size, people, level = settings(columns=d, n=n, epsilon=epsilon)
    if size.max() > 300.0:
        raise InvalidArgument("d", "must be at most 300")
    levels, place = np.unique(np.ravel(level), return_inverse=True)
    single = np.array([gaussian_noise_multiplier(float(one), probability(delta=delta)) for one in levels])
    noise = single[place].reshape(level.shape) * (1.0 if neighbours == "add_remove" else 2.0) / people
    size, noise = np.broadcast_arrays(size, noise)
    agreement = np.geomspace(0.05, 8.0, 120) * np.sqrt(size)[..., None]
    length = np.minimum(agreement * noise[..., None], 1.0)
    agreement = length / noise[..., None]
    half = size[..., None] / 2.0
    scale = np.exp(gammaln(half + 0.5) - gammaln(half + 1.0)) / math.sqrt(2.0)
    direction = agreement * scale * hyp1f1(0.5, half + 1.0, -agreement * agreement / 2.0)
    return np.asarray((length * (1.0 - direction)).max(axis=-1))
