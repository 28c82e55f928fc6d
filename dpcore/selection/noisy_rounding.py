"""One mechanism behind many: the exponential mechanism as noisy rounding around an answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.selection.scores import DEEP, logit_slope
from dpcore.validate import FloatArray, finite_vector, generator, positive, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRounding:
    """The exponential mechanism with score −|answer − r| over outputs r: from ``low`` to ``high`` in steps of ``step``,
    or every number between them when ``step`` is 0; both may be infinite.

    One person moves the answer, and so every score, by up to ``sensitivity`` Δ, some scores up and others down. The
    mechanism must therefore use a = ε/(2Δ): around the answer its law is that of Laplace noise of scale 2Δ/ε, twice
    that of the Laplace mechanism at the same ε. Where textbooks recover the Laplace mechanism itself, they take the
    score −2|answer − r| and forget that it moves by 2Δ.

    Over an infinite set of outputs nothing is cut off, the normaliser is the same for every answer, and the mechanism
    turns out to be (ε/2)-DP: the factor of 2 that the general proof pays is not used. Over a finite set the
    normaliser moves too, and what is lost lies between ε/2 and ε: see ``realised_epsilon``. Raises InvalidArgument.
    """

    epsilon: float
    sensitivity: float = 1.0
    low: float = -np.inf
    high: float = np.inf
    step: float = 0.0

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        positive(sensitivity=self.sensitivity)
        for name in ("low", "high", "step"):
            if np.isnan(getattr(self, name)):
                raise InvalidArgument(name, "must be a number, not NaN")
        if not self.high > self.low:
            raise InvalidArgument("high", "must be greater than low")
        if not 0.0 <= self.step < np.inf:
            raise InvalidArgument("step", "must be at least 0")
        if self.step and not (np.isfinite(self.low) and np.isfinite(self.high)):
            raise InvalidArgument("step", "needs finite low and high; leave it 0 for every number")

    @property
    def scale(self) -> float:
        """Distance over which the law falls by a factor e, 2Δ/ε: what the Laplace mechanism would have at ε/2."""
        return 1 / float(logit_slope(self.epsilon, self.sensitivity, one_way=False))

    @property
    def laplace_scale(self) -> float:
        """Scale Δ/ε of the Laplace mechanism at the same ε (Dwork, McSherry, Nissim & Smith, TCC 2006)."""
        return self.scale / 2

    @property
    def outputs(self) -> FloatArray:
        """The grid of outputs, shape (k,). Raises InvalidArgument when outputs are not a grid."""
        if not self.step:
            raise InvalidArgument("step", "must be greater than 0 for a list of outputs")
        count = int((self.high - self.low) / self.step * (1 + 1e-12)) + 1
        grid: FloatArray = self.low + self.step * np.arange(float(count))
        return grid

    def probabilities(self, answer: float) -> FloatArray:
        """The law on the grid of ``outputs``, shape (k,). Raises InvalidArgument."""
        return _on_grid(self.outputs, answer, self.scale)

    def laplace_probabilities(self, answer: float) -> FloatArray:
        """What the Laplace mechanism's scale would give on the same grid, shape (k,), to draw beside the law."""
        return _on_grid(self.outputs, answer, self.laplace_scale)

    def density(self, answer: float, r: ArrayLike) -> FloatArray:
        """The law's density at outputs ``r`` (m,) when every number may come out, (m,). Raises InvalidArgument."""
        return self._density(answer, r, self.scale, self.low, self.high)

    def laplace_density(self, answer: float, r: ArrayLike) -> FloatArray:
        """Density of the Laplace mechanism at the same ε, without bounds, at ``r`` (m,). Raises InvalidArgument."""
        return self._density(answer, r, self.laplace_scale, -np.inf, np.inf)

    def realised_epsilon(self, answer: float) -> float:
        """The largest log-ratio between the laws at ``answer`` and one Δ away on either side: between ε/2 and ε."""
        centre = float(finite_vector(answer=[answer])[0])
        worst = 0.0
        for neighbour in (centre - self.sensitivity, centre + self.sensitivity):
            shift = self._log_mass(neighbour) - self._log_mass(centre)
            # |r − neighbour| − |r − centre| is monotone in r, so its extremes are at the extreme outputs
            ends = [self._reach(neighbour, end) - self._reach(centre, end) for end in (-1, 1)]
            differences = [float(np.clip(end, -self.sensitivity, self.sensitivity)) / self.scale for end in ends]
            worst = max(worst, *(abs(shift + difference) for difference in differences))
        return worst

    def sample(self, answer: float, rng: np.random.Generator, size: int) -> FloatArray:
        """``size`` simulated outputs, shape (size,). Raises InvalidArgument."""
        draws = generator(rng=rng).random(whole(0, size=size))
        centre = float(finite_vector(answer=[answer])[0])
        if self.step:
            steps = np.cumsum(self.probabilities(centre))
            place = np.searchsorted(steps, draws * steps[-1], side="right")
            chosen: FloatArray = self.outputs[np.minimum(place, steps.size - 1)]
            return chosen
        # exponential tails on either side of the answer, each between the bounds
        low, high = (self.low - centre) / self.scale, (self.high - centre) / self.scale
        down, up = min(0.0, high), max(0.0, low)
        below, above = _between(low, down), _between(up, high)
        left = draws * (below + above) < below
        tail = -np.log1p(rng.random(size) * np.expm1(-np.where(left, down - low, high - up)))
        drawn: FloatArray = centre + self.scale * np.where(left, down - tail, up + tail)
        return drawn

    @property
    def cost(self) -> Cost:
        """One output: ε-bounded range."""
        return Cost.bounded_range(self.epsilon)

    def _density(self, answer: float, r: ArrayLike, scale: float, low: float, high: float) -> FloatArray:
        centre = float(finite_vector(answer=[answer])[0])
        points = finite_vector(r=r)
        mass = 2 * scale * _between((low - centre) / scale, (high - centre) / scale)
        inside = (points >= low) & (points <= high)
        density: FloatArray = np.where(inside, np.exp(-np.abs(points - centre) / scale) / mass, 0.0)
        return density

    def _reach(self, centre: float, end: int) -> float:
        """Distance from ``centre`` to the extreme output on one side, an infinite one taken relative to 0."""
        extreme = (self.outputs[0] if end < 0 else self.outputs[-1]) if self.step else (self.low, self.high)[end > 0]
        return abs(extreme - centre) if np.isfinite(extreme) else -end * centre

    def _log_mass(self, centre: float) -> float:
        if self.step:
            depths = np.abs(self.outputs - centre) / self.scale
            return float(np.log(np.exp(depths.min() - depths).sum()) - depths.min())
        return float(np.log(_between((self.low - centre) / self.scale, (self.high - centre) / self.scale)))


def _on_grid(outputs: FloatArray, answer: float, scale: float) -> FloatArray:
    depths = np.abs(outputs - float(finite_vector(answer=[answer])[0])) / scale
    law: FloatArray = np.exp(-np.minimum(depths - depths.min(), DEEP))
    law /= law.sum()
    return law


def _between(low: float, high: float) -> float:
    """Chance that Laplace noise of scale 1 falls between two points, without cancellation in the tails."""
    if high <= low:
        return 0.0
    if low >= 0:
        return float((np.exp(-low) - np.exp(-high)) / 2)
    if high <= 0:
        return float((np.exp(high) - np.exp(low)) / 2)
    return float(-(np.expm1(low) + np.expm1(-high)) / 2)
