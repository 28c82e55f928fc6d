"""What releases cost, alone and together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpcore.errors import InvalidCost
from dpcore.events import BoundedRangeEvent, Event, PureEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The guarantee of one release, or an amount of budget.

    ``(epsilon, delta)`` is a differential privacy guarantee of the release on its own; ``rho`` its zero-concentrated
    one (Bun & Steinke, TCC 2016), ε²/2 when not given and δ is 0, infinite when there is none. ``event`` says what
    happened, for the accountants that can use it. Raises InvalidCost for anything negative or NaN.
    """

    epsilon: float
    rho: float | None = None
    delta: float = 0.0
    event: Event | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon", "rho", "delta"):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0.0:
                raise InvalidCost(name, "of a cost must be a number of at least 0")
        if self.delta >= 1.0:
            raise InvalidCost("delta", "of a cost must be less than 1")
        if self.rho is None:
            object.__setattr__(self, "rho", self.epsilon**2 / 2 if self.delta == 0.0 else math.inf)

    @classmethod
    def pure(cls, epsilon: float) -> Cost:
        """ε-DP with nothing more known."""
        return cls(epsilon=epsilon, event=PureEvent(epsilon=epsilon))

    @classmethod
    def bounded_range(cls, epsilon: float) -> Cost:
        """ε-bounded range: ε-DP and ε²/8-zCDP (Cesar & Rogers, ALT 2021, Lemma 3.4)."""
        return cls(epsilon=epsilon, rho=epsilon**2 / 8, event=BoundedRangeEvent(epsilon=epsilon))
