"""Privacy loss distributions and Rényi curves of single events, by dp-accounting where no closed form is used.

The only file that imports dp-accounting. Three of its traps are avoided here: randomised response, whose count it
ignores, is composed by us; replace-one neighbours, which its Rényi accountant gets wrong for Gaussian and Laplace
noise, never reach that accountant; events it does not know are refused (UnsupportedEvent), never guessed.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dpcore.conversions import gaussian_deltas
from dpcore.errors import UnsupportedEvent
from dpcore.events import Event, LaplaceEvent, PureEvent, SampledGaussianEvent
from dpcore.memory import Memory
from dpcore.validate import FloatArray

ORDERS: FloatArray = np.array([1 + x / 10 for x in range(1, 100)] + [*range(11, 64), 128, 256, 512, 1024])
ORDERS.setflags(write=False)

_TAIL = 1e-15  # mass that truncation may move to an infinite loss, per composition


_LOSSES = Memory(256, room=64 << 20)
"""Distributions that were made: one has a number for every step of ``grid`` between its ends, up to some millions."""


def event_losses(event: Event, grid: float) -> Any:
    """The privacy loss distribution of all ``event.count`` repetitions, rounded up to a multiple of ``grid``.

    Gaussian events are left out on purpose: they merge exactly into one (``gaussian_losses``).
    """
    return _LOSSES((event, grid), lambda: _event_losses(event, grid))


def _event_losses(event: Event, grid: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as library

    if isinstance(event, PureEvent):
        one = generic_losses(event.epsilon, 0.0, grid)
    elif isinstance(event, LaplaceEvent):
        one = library.from_laplace_mechanism(event.noise_multiplier, value_discretization_interval=grid)
    elif isinstance(event, SampledGaussianEvent):
        one = library.from_gaussian_mechanism(
            event.noise_multiplier,
            sampling_prob=event.sampling_rate,
            value_discretization_interval=grid,
            neighboring_relation=_relation(event),
        )
    else:
        raise UnsupportedEvent(f"privacy loss distributions do not cover a {type(event).__name__} on its own")
    return one if event.count == 1 else one.self_compose(event.count, tail_mass_truncation=_TAIL)


def _relation(event: SampledGaussianEvent) -> Any:
    from dp_accounting import NeighboringRelation

    if event.neighbours == "replace_one":
        return NeighboringRelation.REPLACE_ONE
    return NeighboringRelation.ADD_OR_REMOVE_ONE


def generic_losses(epsilon: float, delta: float, grid: float) -> Any:
    """The worst case of (ε, δ)-DP: everything revealed with chance δ, else randomised response with that ε.

    Kairouz, Oh & Viswanath, ICML 2015. Not Laplace noise of scale 1/ε, which would understate it.
    """
    return _LOSSES((epsilon, delta, grid), lambda: _generic_losses(epsilon, delta, grid))


def _generic_losses(epsilon: float, delta: float, grid: float) -> Any:
    low, high = math.floor(-epsilon / grid), math.ceil(epsilon / grid)
    points = np.arange(low, high + 1) * grid
    with np.errstate(over="ignore"):
        likely = np.maximum(-np.expm1(points - epsilon), 0.0) / (1.0 + math.exp(-epsilon))
        unlikely = np.maximum(-np.expm1(points + epsilon), 0.0) / (1.0 + math.exp(epsilon))
    return _from_curve(low, delta + (1.0 - delta) * (likely + unlikely), grid)


def gaussian_losses(noise_multiplier: float, grid: float) -> Any:
    """The privacy loss distribution of one Gaussian release, from its exact δ(ε)."""
    # the loss is Gaussian with mean ½/σ² and deviation 1/σ; nine deviations leave 1e-19 to infinity
    middle, spread = 0.5 / noise_multiplier**2, 9.0 / noise_multiplier
    low, high = math.floor((middle - spread) / grid), math.ceil((middle + spread) / grid)
    points: FloatArray = np.arange(low, high + 1, dtype=np.float64) * grid
    return _from_curve(low, np.clip(gaussian_deltas(noise_multiplier, points), 0.0, 1.0), grid)


def _from_curve(low: int, deltas: FloatArray, grid: float) -> Any:
    """Connect the dots of a curve δ(ε) at consecutive grid points: the result is never more private."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    curve = np.minimum.accumulate(deltas)
    high = low + curve.size - 1
    return privacy_loss_distribution.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(grid, low, high, curve)
    )


@lru_cache(maxsize=256)
def event_rdp(event: Event) -> FloatArray:
    """Rényi divergences at ``ORDERS`` of all repetitions, shape of ORDERS. Raises UnsupportedEvent."""
    if isinstance(event, PureEvent):
        return event.count * pure_rdp(event.epsilon)
    if isinstance(event, LaplaceEvent):
        return event.count * _laplace_rdp(1.0 / event.noise_multiplier)
    if isinstance(event, SampledGaussianEvent) and event.neighbours == "add_remove":
        return _sampled_rdp(event)
    raise UnsupportedEvent(f"the Rényi accountant does not cover a {type(event).__name__} here")


def pure_rdp(epsilon: float) -> FloatArray:
    """Randomised response: ln(p^α q^{1−α} + q^α p^{1−α}) / (α − 1) with p = e^ε/(1+e^ε), q = 1 − p."""
    log_p, log_q = -np.logaddexp(0.0, -epsilon), -np.logaddexp(0.0, epsilon)
    rising = ORDERS * log_p + (1 - ORDERS) * log_q
    falling = ORDERS * log_q + (1 - ORDERS) * log_p
    curve: FloatArray = np.minimum(np.maximum(np.logaddexp(rising, falling), 0.0) / (ORDERS - 1), epsilon)
    return curve


def _laplace_rdp(epsilon: float) -> FloatArray:
    """Mironov, CSF 2017, Proposition 6."""
    inner = np.logaddexp(
        np.log(ORDERS / (2 * ORDERS - 1)) + (ORDERS - 1) * epsilon,
        np.log((ORDERS - 1) / (2 * ORDERS - 1)) - ORDERS * epsilon,
    )
    return np.minimum(np.maximum(inner, 0.0) / (ORDERS - 1), epsilon)


def _sampled_rdp(event: SampledGaussianEvent) -> FloatArray:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders=ORDERS)
    step = PoissonSampledDpEvent(event.sampling_rate, GaussianDpEvent(event.noise_multiplier))
    accountant.compose(SelfComposedDpEvent(step, event.count))
    return np.asarray(accountant.rdp, dtype=np.float64)


def rdp_epsilon(rdp: FloatArray, delta: float) -> float:
    """The smallest ε over ``ORDERS`` at δ. Canonne, Kamath & Steinke, NeurIPS 2020, Proposition 12."""
    values = rdp + np.log1p(-1.0 / ORDERS) - np.log(delta * ORDERS) / (ORDERS - 1)
    return max(0.0, float(np.min(np.where(np.isnan(values), np.inf, values))))
