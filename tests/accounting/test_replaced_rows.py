"""What a release that hides rows added or removed promises where a row is replaced, against exact laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.accounting import Cost, gaussian_epsilon, zcdp_epsilon
from dpcore.conversions import gaussian_delta
from dpcore.events import BoundedRangeEvent, GaussianEvent, LaplaceEvent, PureEvent, SampledGaussianEvent
from dpcore.selection import Exponential

SLACK = 1e-9


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


chances = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4).map(lambda found: np.array(found) / sum(found))


@settings(max_examples=300, deadline=None)
@given(first=chances, middle=chances, last=chances, epsilon=st.floats(0.0, 2.0))
def test_two_steps_of_any_release(first: np.ndarray, middle: np.ndarray, last: np.ndarray, epsilon: float) -> None:
    """Three neighbouring laws in a row: the first and the last keep what the cost says for a replaced row."""
    pairs = [(first, middle), (middle, first), (middle, last), (last, middle)]
    delta = max(hockey_stick(p, q, epsilon) for p, q in pairs)
    if not 0.0 < delta < 0.2:
        return
    cost = Cost(epsilon=epsilon, delta=delta, rho=math.inf).for_replaced_row()
    found = max(hockey_stick(first, last, cost.epsilon), hockey_stick(last, first, cost.epsilon))
    assert found <= cost.delta + SLACK


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_the_exponential_mechanism_on_counts(epsilon: float) -> None:
    """Counts move one way when a row is added or removed; replaced, one goes up and another down."""
    mechanism = Exponential(epsilon=epsilon, sensitivity=1.0, monotonic=True)
    counts = np.array([10.0, 9.0, 4.0])
    before, after = (np.asarray(mechanism.probabilities(one)) for one in (counts, counts + np.array([-1.0, 1.0, 0.0])))
    ratios = np.log(before / after)
    cost = mechanism.cost.for_replaced_row()
    assert cost.epsilon == pytest.approx(2 * epsilon)
    assert np.ptp(ratios) <= cost.epsilon + SLACK
    assert isinstance(cost.event, BoundedRangeEvent)
    assert np.ptp(ratios) <= cost.event.epsilon + SLACK
    # nothing less would do: the two that moved are 2ε apart
    assert np.ptp(ratios) == pytest.approx(2 * epsilon)


def test_noise_counts_with_half_its_multiplier() -> None:
    laplace = Cost.laplace(4.0, count=3).for_replaced_row()
    assert laplace == Cost.laplace(2.0, count=3)
    gaussian = Cost.gaussian(8.0, 1e-6, count=5).for_replaced_row()
    assert gaussian.event == GaussianEvent(noise_multiplier=4.0, count=5)
    assert gaussian.rho == pytest.approx(5 / (2 * 4.0**2))
    assert gaussian.delta == 1e-6
    exact = gaussian_epsilon(4.0 / math.sqrt(5), 1e-6)
    assert exact <= gaussian.epsilon <= 1.1 * exact
    assert gaussian_delta(4.0 / math.sqrt(5), gaussian.epsilon) <= 1e-6
    assert gaussian.epsilon == zcdp_epsilon(4 * Cost.gaussian(8.0, 1e-6, count=5).zcdp, 1e-6)


def test_events_say_the_same_as_their_costs() -> None:
    assert Cost.pure(0.3, count=2).for_replaced_row() == Cost.pure(0.6, count=2)
    assert Cost.bounded_range(0.3, count=2).for_replaced_row() == Cost.bounded_range(0.6, count=2)
    assert Cost.pure(0.3).for_replaced_row().event == PureEvent(epsilon=0.6)
    assert Cost.laplace(1.0).for_replaced_row().event == LaplaceEvent(noise_multiplier=0.5)
    sampled = SampledGaussianEvent(noise_multiplier=1.0, sampling_rate=0.01, count=10)
    cost = Cost(epsilon=1.0, delta=1e-6, rho=math.inf, event=sampled).for_replaced_row()
    assert cost.event == SampledGaussianEvent(
        noise_multiplier=1.0, sampling_rate=0.01, count=10, neighbours="replace_one"
    )
    assert (cost.epsilon, cost.delta) == (2.0, pytest.approx(1e-6 * (1 + math.e)))


def test_a_promise_that_would_fail_surely_is_none() -> None:
    cost = Cost(epsilon=20.0, delta=1e-6, rho=math.inf).for_replaced_row()
    assert (cost.epsilon, cost.delta) == (math.inf, 0.0)
    only_rho = Cost(epsilon=math.inf, rho=0.5).for_replaced_row()
    assert (only_rho.epsilon, only_rho.rho, only_rho.delta) == (math.inf, 2.0, 0.0)
