"""How long accounting takes: one more release on a running total, a plan priced again, noise calibrated.

Run as ``python -m benchmarks.accounting``; exit code 1 when a goal is missed. The peer is dp-accounting's own
accountant on its default grid, in the same run: composing the whole list anew, or finding noise by its own search.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.yardsticks import Goals, best_of
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


def peer_noise(epsilon: float) -> float:
    """Gaussian noise for (ε, δ) as the library finds it."""
    from dp_accounting import GaussianDpEvent, calibrate_dp_mechanism
    from dp_accounting.pld import PLDAccountant

    return float(calibrate_dp_mechanism(PLDAccountant, GaussianDpEvent, epsilon, DELTA))


def main() -> int:
    costs = history(200)
    total = RunningTotal()
    adding = []
    for cost in costs:
        began = time.process_time()
        total = total.add(cost)
        total.epsilons(DELTA)
        adding.append(time.process_time() - began)
    fresh = iter(np.linspace(0.051, 0.052, 1000))
    one_more = best_of(lambda: total.add(Cost.pure(float(next(fresh)))), 7)
    read = best_of(lambda: total.epsilons(DELTA), 7)
    anew = best_of(lambda: peer(costs), 1)
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
    alone = best_of(lambda: peer([answer.cost(answer.epsilon) for answer in plan for _ in range(answer.count)]))
    searched = best_of(lambda: peer_noise(1.0), 1)
    goals = Goals()
    print(f"200 releases composed anew by dp-accounting: {anew:.2f} s; a plan of three kinds: {alone * 1e3:.0f} ms")
    goals.at_least("one more release on 200, state kept: times faster than anew", anew / one_more, 1000.0)
    goals.at_least("… and every rule read again", anew / (one_more + read), 200.0)
    goals.at_least("median over the 200 as they came, with reading", anew / float(np.median(adding)), 200.0)
    goals.at_least("95th percentile of the same", anew / float(np.percentile(adding, 95)), 30.0)
    goals.at_least("a plan of three kinds priced again, all rules", alone / best_of(priced, 7), 3.0)
    calibrations: list[tuple[str, Callable[[float], object], float]] = [
        ("Gaussian noise for a new (ε, δ)", lambda level: gaussian_noise_multiplier(level, DELTA), 500.0),
        ("ρ for a new (ε, δ)", lambda level: zcdp_rho(level, DELTA), 300.0),
        ("rate of 10⁵ bounded-range draws", lambda level: bounded_range_rate(level, 1e-6, 10**5), 50.0),
    ]
    print(f"Gaussian noise by dp-accounting's search: {searched:.2f} s; times faster:")
    for what, work, goal in calibrations:
        seconds = best_of(lambda work=work: work(next(levels_of_noise)), 7)
        goals.at_least(what, searched / seconds, goal)
    sampled = best_of(lambda: sampled_gaussian_noise_multiplier(next(levels_of_noise), DELTA, 0.01, 1000), 2)
    print(f"  noise of 1,000 sampled steps (then cached): {sampled:.2f} s")
    noise = sampled_gaussian_noise_multiplier(1.0, DELTA, 0.01, 1000)
    event = SampledGaussianEvent(noise_multiplier=noise, sampling_rate=0.01, count=1000)
    spent = compose([Cost(epsilon=math.inf, event=event)], DELTA, accountants=["pld"])["pld"]
    goals.at_most("share of ε that calibrated noise spends", spent, 1.0)
    goals.at_most("Gaussians composed, off the exact ε by", abs(ours - exact), 1e-9)
    return goals.end()


if __name__ == "__main__":
    sys.exit(main())
