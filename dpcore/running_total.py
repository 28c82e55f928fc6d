"""The composed state of a growing list of releases, under every accountant at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.conversions import bounded_range_epsilon, gaussian_deltas, gaussian_epsilon, zcdp_epsilon
from dpcore.costs import Cost
from dpcore.errors import UnsupportedEvent
from dpcore.events import BoundedRangeEvent, GaussianEvent, LaplaceEvent, PureEvent, SampledGaussianEvent
from dpcore.privacy_loss import (
    ORDERS,
    event_losses,
    event_rdp,
    gaussian_losses,
    generic_losses,
    pure_rdp,
    rdp_epsilon,
)
from dpcore.validate import FloatArray, finite_vector, probability

ACCOUNTANTS = ("basic", "advanced", "zcdp", "bounded_range", "rdp", "pld")

GRID = 1e-3  # of privacy losses: the same ε to three decimals as 1e-4, at a hundredth of the time
_SMALLEST_PLD_DELTA = 1e-10  # below it, rounding in the convolutions would be visible


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTotal:
    """The composed state of the releases so far. ``add`` returns a new total; ``epsilons`` reads it.

    Nothing is recomputed from the list of releases, so one more costs a few milliseconds however many there were.
    Gaussian releases merge exactly into one and stay out of ``losses``. Accountants not in ``kept`` are left out.
    """

    grid: float = GRID
    kept: frozenset[str] = frozenset(ACCOUNTANTS)
    stated_epsilon: float = 0.0  # Σ ε of releases that are not Gaussian, and Σ δ of those that need one
    stated_delta: float = 0.0
    parts: float = 0.0  # number of pure parts, for advanced composition: Σ ε², Σ ε(e^ε − 1)
    squares: float = 0.0
    drift: float = 0.0
    rho: float = 0.0  # zCDP of everything; releases with only (ε, δ) enter as δ-approximate ε²/2-zCDP
    loose_delta: float = 0.0  # Σ δ of those
    gaussians: tuple[tuple[float, int], ...] = ()  # (noise multiplier, count)
    ranges: tuple[float, int] | None = None  # (largest ε, count) while all are bounded range and planned
    ranges_apply: bool = True
    rdp: FloatArray | None = None
    rdp_applies: bool = True
    losses: Any = None
    losses_apply: bool = True

    def add(self, cost: Cost, times: int = 1) -> RunningTotal:
        """This total with ``times`` more releases of ``cost``."""
        total = self._add_stated(cost, times)
        return total._add_ranges(cost, times)._add_rdp(cost, times)._add_losses(cost, times)

    def _add_stated(self, cost: Cost, times: int) -> RunningTotal:
        event = cost.event
        exact = math.isfinite(cost.zcdp)
        total = replace(
            self,
            rho=self.rho + times * (cost.zcdp if exact else cost.epsilon * cost.epsilon / 2),
            loose_delta=self.loose_delta + (0.0 if exact else times * cost.delta),
        )
        if isinstance(event, GaussianEvent):
            merged = dict(self.gaussians)
            merged[event.noise_multiplier] = merged.get(event.noise_multiplier, 0) + times * event.count
            return replace(total, gaussians=tuple(merged.items()))
        epsilon, count = cost.epsilon, times
        if isinstance(event, (PureEvent, BoundedRangeEvent)):
            epsilon, count = event.epsilon, times * event.count
        elif isinstance(event, LaplaceEvent):
            epsilon, count = 1.0 / event.noise_multiplier, times * event.count
        growth = math.expm1(epsilon) if epsilon < 700.0 else math.inf
        return replace(
            total,
            stated_epsilon=self.stated_epsilon + times * cost.epsilon,
            stated_delta=self.stated_delta + times * cost.delta,
            parts=self.parts + count,
            squares=self.squares + count * epsilon * epsilon,
            drift=self.drift + count * epsilon * growth if epsilon > 0.0 else self.drift,
        )

    def _add_ranges(self, cost: Cost, times: int) -> RunningTotal:
        event = cost.event
        if not isinstance(event, BoundedRangeEvent) or event.adaptive:
            return replace(self, ranges_apply=False, ranges=None)
        widest, count = self.ranges or (0.0, 0)
        return replace(self, ranges=(max(widest, event.epsilon), count + times * event.count))

    def _add_rdp(self, cost: Cost, times: int) -> RunningTotal:
        event = cost.event
        if "rdp" not in self.kept:
            return self
        before = np.zeros_like(ORDERS) if self.rdp is None else self.rdp
        with np.errstate(invalid="ignore"):
            concentrated = ORDERS * cost.zcdp
        if isinstance(event, (PureEvent, LaplaceEvent)):
            more = event_rdp(event)
        elif isinstance(event, SampledGaussianEvent):
            if event.neighbours != "add_remove":
                return replace(self, rdp_applies=False)
            more = event_rdp(event)
        elif isinstance(event, BoundedRangeEvent):
            more = np.minimum(concentrated, event.count * pure_rdp(event.epsilon))
        elif isinstance(event, GaussianEvent) or cost.delta > 0.0 or not math.isfinite(cost.epsilon):
            # without a Rényi curve of its own, (ε, δ) enters as randomised response beside its δ
            known = math.isfinite(cost.zcdp)
            more = concentrated if known else pure_rdp(cost.epsilon)
        else:
            more = np.minimum(concentrated, pure_rdp(cost.epsilon))
        return replace(self, rdp=before + times * more)

    def _add_losses(self, cost: Cost, times: int) -> RunningTotal:
        event = cost.event
        if isinstance(event, GaussianEvent) or not self.losses_apply or "pld" not in self.kept:
            return self
        if isinstance(event, (PureEvent, LaplaceEvent, SampledGaussianEvent)):
            more = event_losses(event, self.grid)
        elif isinstance(event, BoundedRangeEvent):
            more = event_losses(PureEvent(epsilon=event.epsilon, count=event.count), self.grid)
        elif math.isfinite(cost.epsilon):
            more = generic_losses(float(cost.epsilon), float(cost.delta), self.grid)
        else:
            return replace(self, losses=None, losses_apply=False)
        if times > 1:
            more = more.self_compose(times)
        return replace(self, losses=more if self.losses is None else self.losses.compose(more))

    def epsilons(self, delta: float) -> dict[str, float]:
        """ε of everything together at total δ, by accountant name; only those that apply, in ``ACCOUNTANTS`` order."""
        probability(delta=delta)
        found = {name: getattr(self, f"_{name}")(delta) for name in ACCOUNTANTS if name in self.kept}
        return {name: value for name, value in found.items() if value is not None and math.isfinite(value)}

    def _gaussian_multiplier(self) -> float:
        return 1.0 / math.sqrt(sum(count / noise**2 for noise, count in self.gaussians))

    def _basic(self, delta: float) -> float | None:
        left = delta - self.stated_delta
        if left < 0.0:
            return None
        shares = sum(count for _, count in self.gaussians)
        if shares and left == 0.0:
            return None
        alone = sum(count * gaussian_epsilon(noise, left / shares) for noise, count in self.gaussians)
        return self.stated_epsilon + alone

    def _advanced(self, delta: float) -> float | None:
        """Dwork & Roth 2014, Theorem 3.20, for unequal ε: √(2 ln(1/δ′) Σ ε²) + Σ ε(e^ε − 1), half of δ for δ′."""
        shares = sum(count for _, count in self.gaussians)
        left = delta - self.stated_delta
        if left <= 0.0 or self.parts + shares < 2:
            return None
        slack = left / 2 if shares else left
        squares, drift = self.squares, self.drift
        for noise, count in self.gaussians:
            one = gaussian_epsilon(noise, slack / shares)
            squares += count * one * one
            drift += count * one * (math.expm1(one) if one < 700.0 else math.inf)
        return math.sqrt(2 * math.log(1 / slack) * squares) + drift

    def _zcdp(self, delta: float) -> float | None:
        left = delta - self.loose_delta
        return zcdp_epsilon(self.rho, left) if left > 0.0 and math.isfinite(self.rho) else None

    def _bounded_range(self, delta: float) -> float | None:
        if not self.ranges_apply or self.ranges is None:
            return None
        return bounded_range_epsilon(self.ranges[0], self.ranges[1], delta)

    def _rdp(self, delta: float) -> float | None:
        left = delta - self.loose_delta
        if not self.rdp_applies or left <= 0.0:
            return None
        return 0.0 if self.rdp is None else rdp_epsilon(self.rdp, left)

    def _pld(self, delta: float) -> float | None:
        if not self.losses_apply:
            return None
        if self.losses is None:
            return gaussian_epsilon(self._gaussian_multiplier(), delta) if self.gaussians else 0.0
        if delta < _SMALLEST_PLD_DELTA:
            return None
        found = float(self._all_losses().get_epsilon_for_delta(delta))
        # rounding losses up to the grid may end above the plain sum, which is an upper bound as well
        basic = self._basic(delta)
        return found if basic is None else min(found, basic)

    def _all_losses(self) -> Any:
        if not self.gaussians:
            return self.losses
        return self.losses.compose(gaussian_losses(self._gaussian_multiplier(), self.grid))

    def deltas(self, epsilon: FloatArray) -> FloatArray:
        """The smallest δ of everything together at each ε ≥ 0 (rising), by privacy losses: for plans fixed in advance.

        Raises UnsupportedEvent when a release has no privacy loss distribution.
        """
        levels = finite_vector(epsilon=epsilon)
        if not self.losses_apply:
            raise UnsupportedEvent("a release without a finite epsilon has no privacy loss distribution")
        if self.losses is None:
            return gaussian_deltas(self._gaussian_multiplier(), levels) if self.gaussians else np.zeros_like(levels)
        return np.asarray(self._all_losses().get_delta_for_epsilon(levels), dtype=np.float64)
