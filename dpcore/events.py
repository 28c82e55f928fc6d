"""What one release did, in the terms an accountant composes. Events are data; accountants are code.

Sensitivities are folded in: a noise multiplier is noise scale divided by the sensitivity of the whole released
vector under the neighbour relation the mechanism states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.validate import Neighbours, boolean, in_range, one_of, positive, whole


def _take(event: Any, **checked: Any) -> None:
    """Have an event hold what was checked in the type that the check gives: of NumPy's numbers, plain ones."""
    for name, value in checked.items():
        object.__setattr__(event, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent:
    """Any ε-DP release: the worst case is randomised response with that ε."""

    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        _take(self, epsilon=positive(epsilon=self.epsilon), count=whole(1, count=self.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRangeEvent:
    """A release whose log-ratios span an interval of width ε, such as the exponential mechanism.

    Durfee & Rogers, NeurIPS 2019.
    ``adaptive`` says whether the data of later releases may react to earlier answers.
    """

    epsilon: float
    count: int = 1
    adaptive: bool = True

    def __post_init__(self) -> None:
        _take(self, epsilon=positive(epsilon=self.epsilon), count=whole(1, count=self.count))
        _take(self, adaptive=boolean(adaptive=self.adaptive))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent:
    """Laplace noise of scale ``noise_multiplier`` × L1 sensitivity."""

    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        noise = positive(noise_multiplier=self.noise_multiplier)
        _take(self, noise_multiplier=noise, count=whole(1, count=self.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent:
    """Gaussian noise of standard deviation ``noise_multiplier`` × L2 sensitivity."""

    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        noise = positive(noise_multiplier=self.noise_multiplier)
        _take(self, noise_multiplier=noise, count=whole(1, count=self.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGaussianEvent:
    """A Gaussian release on a Poisson sample: each row in with probability ``sampling_rate``.

    Here alone the multiplier is over the clipping norm C, whatever the neighbours: the sample decides how often a
    replaced row shows, so its factor 2 cannot be folded in.
    """

    noise_multiplier: float
    sampling_rate: float
    count: int = 1
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        noise = positive(noise_multiplier=self.noise_multiplier)
        rate = in_range(0.0, 1.0, open_low=True, sampling_rate=self.sampling_rate)
        _take(self, noise_multiplier=noise, sampling_rate=rate, count=whole(1, count=self.count))
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)


Event = PureEvent | BoundedRangeEvent | LaplaceEvent | GaussianEvent | SampledGaussianEvent
