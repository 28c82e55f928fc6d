"""What one release costs: a guarantee that holds for it alone, and the event that later accounting can use."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpcore.conversions import bounded_range_delta, gaussian_delta, gaussian_epsilon, zcdp_epsilon
from dpcore.errors import InvalidCost
from dpcore.events import BoundedRangeEvent, Event, GaussianEvent, LaplaceEvent, PureEvent, SampledGaussianEvent

_SLACK = 1e-9  # relative; a cost built from an event may differ from it by rounding only
_SLACK_OF_DELTA = 1e-6  # of an ε and its δ, where a search by one of them found the noise
_SMALL = 1e-2  # ε below which a difference of nearly equal numbers is written by its first terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The guarantee of one release, or an amount of budget.

    ``(epsilon, delta)`` is a differential privacy guarantee of the release on its own; ``rho`` a zero-concentrated
    one that holds on its own too, without any δ (Bun & Steinke, TCC 2016): ε²/2 when not given and δ is 0, infinite
    when there is none. ``event`` says what happened, for the accountants that can use it; a cost that promises more
    than its event can give is refused: a smaller ρ, or without δ a smaller ε, than the worst case of all its releases,
    and at a δ a smaller ε than that of all of Gaussian noise or bounded range, and of one release of any other event.
    Raises InvalidCost for that and for anything negative or NaN.
    """

    epsilon: float
    rho: float | None = None
    delta: float = 0.0
    event: Event | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon", "rho", "delta"):
            value = getattr(self, name)
            if value is None and name == "rho":
                continue
            amount = _amount(value)
            if not amount >= 0.0:
                raise InvalidCost(name, "of a cost must be a number of at least 0")
            object.__setattr__(self, name, amount)
        if self.delta >= 1.0:
            raise InvalidCost("delta", "of a cost must be less than 1")
        if self.rho is None:
            object.__setattr__(self, "rho", self.epsilon * self.epsilon / 2 if self.delta == 0.0 else math.inf)
        self._match_event()

    @property
    def zcdp(self) -> float:
        """``rho`` as a plain number (infinite when the release has no zero-concentrated guarantee without δ)."""
        return math.inf if self.rho is None else self.rho

    @classmethod
    def kept(cls, *, epsilon: float, rho: float, delta: float, event: Event | None) -> Cost:
        """A cost as a ledger keeps it, whatever its event can give: what was charged is told as it was charged."""
        cost = cls(epsilon=epsilon, rho=rho, delta=delta)
        object.__setattr__(cost, "event", event)
        return cost

    def _match_event(self) -> None:
        event = self.event
        if not isinstance(event, Event):
            return
        if isinstance(event, (GaussianEvent, SampledGaussianEvent)):
            if self.delta == 0.0 and math.isfinite(self.epsilon):
                raise InvalidCost("epsilon", "of Gaussian noise holds only together with a delta above 0")
        elif self.delta == 0.0 and self.epsilon < _least_epsilon(event) * (1 - _SLACK):
            raise InvalidCost("epsilon", "of a cost promises more than its event gives")
        if self.zcdp < _least_rho(event) * (1 - _SLACK):
            raise InvalidCost("rho", "of a cost promises more than its event gives")
        if self.delta > 0.0 and math.isfinite(self.epsilon):
            least = _least_delta(event, self.epsilon * (1 + _SLACK_OF_DELTA))
            if self.delta < least * (1 - _SLACK_OF_DELTA):
                raise InvalidCost("epsilon", "of a cost promises more than its event gives at this delta")

    def for_replaced_row(self) -> Cost:
        """What a release that protects a row added or removed guarantees where a row is replaced: both at once.

        Groups of two: 4ρ (Bun & Steinke, TCC 2016, proposition 1.9), with its ε at the same δ; without a ρ
        (2ε, (1 + e^ε)δ) (Vadhan 2017, lemma 2.2). Noise counts with half its multiplier, because the sensitivity at
        most doubles. An ε whose δ would not be below 1 is no promise, and comes back infinite with δ = 0.
        """
        event = self.event
        if isinstance(event, (LaplaceEvent, GaussianEvent)):
            event = replace(event, noise_multiplier=event.noise_multiplier / 2)
        elif isinstance(event, (PureEvent, BoundedRangeEvent)):
            event = replace(event, epsilon=2 * event.epsilon)
        elif isinstance(event, SampledGaussianEvent):
            event = replace(event, neighbours="replace_one")
        rho, epsilon, delta = 4 * self.zcdp, 2 * self.epsilon, self.delta
        if delta > 0.0 and math.isfinite(rho):
            epsilon = zcdp_epsilon(rho, delta)
        elif delta > 0.0:
            delta *= 1 + math.exp(min(self.epsilon, 700.0))
        if delta >= 1.0:
            epsilon, delta = math.inf, 0.0
        return Cost(epsilon=epsilon, rho=rho, delta=delta, event=event)

    @classmethod
    def pure(cls, epsilon: float, count: int = 1) -> Cost:
        """``count`` releases of ε-DP each, with nothing more known about them."""
        event = PureEvent(epsilon=epsilon, count=count)
        each, many = event.epsilon, event.count
        return cls(epsilon=each * many, rho=many * each * each / 2, event=event)

    @classmethod
    def bounded_range(cls, epsilon: float, count: int = 1, *, adaptive: bool = True) -> Cost:
        """``count`` releases of ε-bounded range each: ε-DP and ε²/8-zCDP (Cesar & Rogers, ALT 2021, Lemma 3.4)."""
        event = BoundedRangeEvent(epsilon=epsilon, count=count, adaptive=adaptive)
        each, many = event.epsilon, event.count
        return cls(epsilon=each * many, rho=many * each * each / 8, event=event)

    @classmethod
    def laplace(cls, noise_multiplier: float, count: int = 1) -> Cost:
        """``count`` releases with Laplace noise of scale ``noise_multiplier`` × L1 sensitivity each."""
        event = LaplaceEvent(noise_multiplier=noise_multiplier, count=count)
        noise, many = event.noise_multiplier, event.count
        return cls(epsilon=many / noise, rho=_rho(many, noise), event=event)

    @classmethod
    def gaussian(cls, noise_multiplier: float, delta: float, count: int = 1) -> Cost:
        """``count`` releases with Gaussian noise: count/(2σ²)-zCDP, and the exact ε of all of them at ``delta``."""
        event = GaussianEvent(noise_multiplier=noise_multiplier, count=count)
        noise, many = event.noise_multiplier, event.count
        epsilon = gaussian_epsilon(noise / math.sqrt(many), delta)
        return cls(epsilon=epsilon, rho=_rho(many, noise), delta=delta, event=event)


def _amount(value: object) -> float:
    """A number as a float holds it; NaN for anything else, whole numbers beyond all floats too."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _rho(count: int, noise: float) -> float:
    """The ρ of so many releases with Laplace or Gaussian noise: infinite where that is so small."""
    squared = 2 * (noise * noise)
    return count / squared if squared > 0.0 else math.inf


def _least_epsilon(event: PureEvent | BoundedRangeEvent | LaplaceEvent) -> float:
    """The ε without δ of an event's worst case."""
    if isinstance(event, LaplaceEvent):
        return event.count / event.noise_multiplier
    return event.epsilon * event.count


def _least_rho(event: Event) -> float:
    """The ρ of an event's worst case: the mean of its log-ratio, which no Rényi divergence over its order exceeds but
    a sample's, whose limit for large orders is the noise without the sample.
    """
    if isinstance(event, (GaussianEvent, SampledGaussianEvent)):
        twice = isinstance(event, SampledGaussianEvent) and event.neighbours == "replace_one"
        size = (2.0 if twice else 1.0) / event.noise_multiplier
        return event.count * size * size / 2
    if isinstance(event, PureEvent):
        return event.count * event.epsilon * math.tanh(event.epsilon / 2)
    if isinstance(event, LaplaceEvent):
        size = 1 / event.noise_multiplier
        near = size * size / 2 * (1 - size / 3)
        return event.count * (near if size < _SMALL else size + math.expm1(-size))
    size = event.epsilon
    near = size * size / 8 * (1 - size * size / 72)
    far = size + math.log(-math.expm1(-size) / size) - 1 + size * math.exp(-size) / -math.expm1(-size)
    return event.count * (near if size < _SMALL else far)


def _least_delta(event: Event, epsilon: float) -> float:
    """A δ that the event's worst case passes at ``epsilon``: of all its releases where that is known in closed form,
    else of one."""
    if isinstance(event, GaussianEvent):
        return gaussian_delta(event.noise_multiplier / math.sqrt(event.count), epsilon)
    if isinstance(event, SampledGaussianEvent):  # of a row whose gradient is nothing also where one is replaced
        rate = event.sampling_rate
        inside = epsilon - math.log(rate) + math.log1p(-(1 - rate) * math.exp(-epsilon)) if epsilon > 0.0 else 0.0
        return rate * gaussian_delta(event.noise_multiplier, max(inside, 0.0))
    if isinstance(event, BoundedRangeEvent):
        return bounded_range_delta(event.epsilon, event.count, epsilon)
    over = _least_epsilon(replace(event, count=1)) - epsilon
    if over <= 0.0:
        return 0.0
    if isinstance(event, LaplaceEvent):
        return -math.expm1(-over / 2)
    return -math.expm1(-over) / (1 + math.exp(-event.epsilon))


def check_cost(cost: Cost) -> None:
    """Refuse what no ledger may charge, however it was made. Raises InvalidCost."""
    check_amounts(cost)
    cost._match_event()


def check_amounts(cost: Cost) -> None:
    """``check_cost`` of what was charged already or is only reckoned with, whatever its event can give."""
    if not isinstance(cost, Cost):
        raise InvalidCost("cost", "must be a Cost")
    if cost.event is not None and not isinstance(cost.event, Event):
        raise InvalidCost("cost", "must have an event that accounting knows, or none")
    amounts = (cost.epsilon, cost.zcdp, cost.delta)
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in amounts):
        raise InvalidCost("cost", "must hold numbers")
    if not all(_amount(value) >= 0.0 for value in amounts) or cost.delta >= 1.0:
        raise InvalidCost("cost", "must not be negative or NaN, and its delta must be less than 1")
    if not math.isfinite(cost.epsilon) and not math.isfinite(cost.zcdp):
        raise InvalidCost("cost", "must be finite: it has neither an epsilon nor a rho")
    if cost.epsilon == 0.0 or (cost.zcdp == 0.0 and not cost.epsilon < 1e-100):  # ε²/2 may vanish
        raise InvalidCost("cost", "must be greater than 0")
