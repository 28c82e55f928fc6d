"""What one release did, in the terms an accountant composes. Events are data; accountants are code.

Sensitivities are folded in: a noise multiplier is noise scale divided by the sensitivity of the whole released
vector under the neighbour relation the mechanism states.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.validate import in_range, positive, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent:
    """Any ε-DP release: the worst case is randomised response with that ε."""

    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        whole(1, count=self.count)


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
        positive(epsilon=self.epsilon)
        whole(1, count=self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent:
    """Laplace noise of scale ``noise_multiplier`` × L1 sensitivity."""

    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        positive(noise_multiplier=self.noise_multiplier)
        whole(1, count=self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent:
    """Gaussian noise of standard deviation ``noise_multiplier`` × L2 sensitivity."""

    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        positive(noise_multiplier=self.noise_multiplier)
        whole(1, count=self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGaussianEvent:
    """A Gaussian release on a Poisson sample: each row in with probability ``sampling_rate`` (add/remove only)."""

    noise_multiplier: float
    sampling_rate: float
    count: int = 1

    def __post_init__(self) -> None:
        positive(noise_multiplier=self.noise_multiplier)
        in_range(0.0, 1.0, open_low=True, sampling_rate=self.sampling_rate)
        whole(1, count=self.count)


Event = PureEvent | BoundedRangeEvent | LaplaceEvent | GaussianEvent | SampledGaussianEvent
