"""A cost promises no more than its event can give: held against worst cases that are computed otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from dpcore import costs
from dpcore.accounting import Cost, compose, gaussian_epsilon
from dpcore.errors import InvalidCost
from dpcore.events import BoundedRangeEvent, Event, GaussianEvent, LaplaceEvent, PureEvent, SampledGaussianEvent

SIZES = (1e-6, 0.009, 0.011, 0.3, 1.0, 4.0)
DELTA = 1e-6
Law = tuple[np.ndarray, np.ndarray]
"""The chances of finitely many answers, and their log-ratios to a neighbour."""


def two(up: float, low: float) -> Law:
    """Two answers whose log-ratios are ``up`` and ``low`` (below 0)."""
    chance = -math.expm1(low) / -math.expm1(low - up)
    return np.array([chance, 1 - chance]), np.array([up, low])


def laws(event: Event) -> Iterator[Law]:
    """Some of what one release of an event may do, the worst among them."""
    if isinstance(event, PureEvent):
        yield two(event.epsilon, -event.epsilon)
    elif isinstance(event, BoundedRangeEvent):
        yield from (two(part * event.epsilon, (part - 1) * event.epsilon) for part in np.linspace(0.001, 0.999, 999))
    else:
        assert isinstance(event, LaplaceEvent)
        size = 1 / event.noise_multiplier
        cuts = np.linspace(0.0, size, 4001)  # log-ratios are between −size and size, and of both ends whole parts
        inside = np.diff(-0.5 * np.exp(-cuts))
        chances = np.concatenate([[0.5 * math.exp(-size)], inside[::-1], [0.5]])
        yield chances, np.concatenate([[-size], (size - cuts[:-1] - cuts[1:])[::-1], [size]])


def rho(event: Event) -> float:
    """The largest mean of the log-ratio."""
    return max(float(chances @ ratios) for chances, ratios in laws(event))


def delta(event: Event, epsilon: float) -> float:
    return max(float(chances @ -np.expm1(np.minimum(epsilon - ratios, 0.0))) for chances, ratios in laws(event))


def honest(size: float, count: int) -> list[Cost]:
    gaussian = Cost.gaussian(1 / size, DELTA, count)
    found = [Cost.pure(size, count), Cost.bounded_range(size, count), Cost.laplace(1 / size, count), gaussian]
    if size in (0.3, 1.0):
        found.append(of_samples(size, count))
    return [*found, *(cost.for_replaced_row() for cost in found)]


@cache
def of_samples(size: float, count: int) -> Cost:
    sampled = SampledGaussianEvent(noise_multiplier=1 / size + 0.5, sampling_rate=0.3, count=count)
    epsilon = compose([Cost(epsilon=math.inf, event=sampled)], DELTA, accountants=["pld"])["pld"]
    return Cost(epsilon=epsilon, delta=DELTA, event=sampled)


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("size", SIZES)
def test_what_holds_is_taken(size: float, count: int) -> None:
    """The worst case itself, too: all of it, and nothing over."""
    assert honest(size, count)
    for event in (PureEvent(epsilon=size), BoundedRangeEvent(epsilon=size), LaplaceEvent(noise_multiplier=1 / size)):
        Cost(epsilon=size, rho=rho(event) * (1 + 1e-5), event=event)
        part = 0.4 * size
        Cost(epsilon=part, delta=delta(event, part) * (1 + 1e-3), rho=size * size, event=event)


def less(cost: Cost) -> Iterator[dict[str, object]]:
    """One part of a cost's promise made larger by some hundredths."""
    event = cost.event
    assert event is not None
    asked = {"epsilon": cost.epsilon, "rho": cost.rho, "delta": cost.delta, "event": event}
    if not isinstance(event, (GaussianEvent, SampledGaussianEvent)):
        yield {**asked, "rho": 0.97 * event.count * rho(event)}
        yield {**asked, "epsilon": 0.97 * cost.epsilon}
        part = 0.4 * cost.epsilon / event.count
        yield {**asked, "epsilon": part, "delta": 0.97 * delta(event, part)}
        return
    yield {**asked, "rho": 0.97 * event.count / (2 * event.noise_multiplier**2)}
    if math.isfinite(cost.epsilon):
        yield {**asked, "delta": 0.0}
    if isinstance(event, GaussianEvent):
        exact = gaussian_epsilon(event.noise_multiplier / math.sqrt(event.count), DELTA)
        yield {**asked, "epsilon": 0.97 * exact, "rho": 2 * cost.zcdp}
    elif (event.count, event.neighbours) == (1, "add_remove"):
        yield {**asked, "epsilon": 0.97 * cost.epsilon}


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("size", SIZES[1:])
def test_what_promises_more_is_refused(size: float, count: int) -> None:
    for cost in honest(size, count):
        for asked in less(cost):
            with pytest.raises(InvalidCost, match=r"promises more|only together with a delta"):
                Cost(**asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("lacking", ["_least_rho", "_least_delta"])
def test_a_check_of_half_of_it_is_found_out(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, lacking, lambda *asked: 0.0)
    with pytest.raises(pytest.fail.Exception):
        test_what_promises_more_is_refused(1.0, 1)
