"""How long accounting takes: one more release on a running total, a plan priced again, noise calibrated.

Run as ``python -m benchmarks.accounting``; exit code 1 when a goal is missed. The peer is dp-accounting's own
accountant composing the whole list anew on its default grid, in the same run.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcore.accounting import Cost, RunningTotal, compose, gaussian_epsilon
from dpcore.calibration import (
    bounded_range_rate,
    gaussian_noise_multiplier,
    sampled_gaussian_noise_multiplier,
    zcdp_rho,
)
from dpcore.events import SampledGaussianEvent
from dpcore.planning import PlannedAnswer, price

DELTA = 1e-5


def best(work: Callable[[], Any], times: int = 7) -> float:
    """Milliseconds of the fastest of several runs."""
    found = math.inf
    for _ in range(times):
        began = time.perf_counter()
        work()
        found = min(found, (time.perf_counter() - began) * 1e3)
    return found


def history(size: int) -> list[Cost]:
    """A budget page's worth of releases, all different."""
    rng = np.random.default_rng(5)
    kinds: list[Callable[[float], Cost]] = [
        Cost.pure,
        Cost.bounded_range,
        lambda level: Cost.laplace(1 / level),
        lambda level: Cost.gaussian(3 / level, 1e-6),
    ]
    return [kinds[number % 4](float(rng.uniform(0.02, 0.2))) for number in range(size)]


def peer(costs: list[Cost]) -> float:
    """The same releases composed anew by the library alone (bounded range as the Laplace noise it cannot exceed)."""
    from dp_accounting import GaussianDpEvent, LaplaceDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    for cost in costs:
        noise = getattr(cost.event, "noise_multiplier", None)
        gaussian = type(cost.event).__name__ == "GaussianEvent"
        accountant.compose(GaussianDpEvent(noise) if gaussian else LaplaceDpEvent(noise or 1 / cost.epsilon))
    return float(accountant.get_epsilon(DELTA))


def main() -> int:
    costs = history(200)
    total = RunningTotal()
    adding = []
    for cost in costs:
        began = time.perf_counter()
        total = total.add(cost)
        total.epsilons(DELTA)
        adding.append((time.perf_counter() - began) * 1e3)
    fresh = iter(np.linspace(0.051, 0.052, 1000))
    one_more = best(lambda: total.add(Cost.pure(float(next(fresh)))))
    read = best(lambda: total.epsilons(DELTA))
    anew = best(lambda: peer(costs), 1)
    plan = [
        PlannedAnswer(name="counts", cost=Cost.pure, epsilon=0.1, count=5),
        PlannedAnswer(name="medians", cost=Cost.bounded_range, epsilon=0.2, count=3),
        PlannedAnswer(name="a model", cost=lambda epsilon: Cost.gaussian(3 / epsilon, 1e-6), epsilon=0.5),
    ]
    levels = iter(np.linspace(0.1, 0.2, 1000))

    def priced() -> None:
        first = PlannedAnswer(name="counts", cost=Cost.pure, epsilon=float(next(levels)), count=5)
        price([first, *plan[1:]], DELTA)

    ours = compose([cost for cost in costs if type(cost.event).__name__ == "GaussianEvent"], DELTA)["pld"]
    exact = gaussian_epsilon(
        1 / math.sqrt(sum(2 * cost.zcdp for cost in costs if type(cost.event).__name__ == "GaussianEvent")), DELTA
    )
    levels_of_noise = iter(np.linspace(0.9, 1.1, 1000))
    rows = [
        ("one more release on 200, state kept", one_more, 10.0),
        ("… and every rule read again", one_more + read, None),
        ("median over the 200 as they came, with reading", float(np.median(adding)), 10.0),
        ("95th percentile of the same", float(np.percentile(adding, 95)), None),
        ("a plan of three kinds priced again, all rules", best(priced), 50.0),
        ("Gaussian noise for a new (ε, δ)", best(lambda: gaussian_noise_multiplier(next(levels_of_noise), DELTA)), 5.0),
        ("ρ for a new (ε, δ)", best(lambda: zcdp_rho(next(levels_of_noise), DELTA)), 10.0),
        ("rate of 10⁵ bounded-range draws", best(lambda: bounded_range_rate(next(levels_of_noise), 1e-6, 10**5)), 50.0),
        (
            "noise of 1,000 sampled steps (then cached)",
            best(lambda: sampled_gaussian_noise_multiplier(next(levels_of_noise), DELTA, 0.01, 1000), 2),
            None,
        ),
        ("peer: 200 releases composed anew by dp-accounting", anew, None),
    ]
    good = True
    print(f"{'':4} {'what':64} {'ms':>9}  goal")
    for what, took, goal in rows:
        fine = goal is None or took <= goal
        good &= fine
        print(f"{'ok' if fine else 'BAD':4} {what:64} {took:9.2f}  {'' if goal is None else f'{goal:g}'}")
    print(f"One more release is {anew / (one_more + read):,.0f} times faster than composing anew.")
    noise = sampled_gaussian_noise_multiplier(1.0, DELTA, 0.01, 1000)
    event = SampledGaussianEvent(noise_multiplier=noise, sampling_rate=0.01, count=1000)
    spent = compose([Cost(epsilon=math.inf, event=event)], DELTA, accountants=["pld"])["pld"]
    right = spent <= 1.0 and abs(ours - exact) < 1e-9
    print(f"{'ok' if right else 'BAD':4} calibrated noise spends ε = {spent:.5f} of 1; Gaussians compose exactly")
    return 0 if good and right else 1


if __name__ == "__main__":
    sys.exit(main())
