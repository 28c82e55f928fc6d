"""Learning rates: how fast Hedge may learn for a stated guarantee, and what plays cost.

Neighbours differ in the losses of one round, in any way within [0, 1] (replace-one). That moves every total loss by at
most 1, so the log-odds of two experts by at most 2η: a play has bounded range 2η, whatever the losses.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, cast

import numpy as np

from dpcore.accounting import Cost, bounded_range_epsilon, zcdp_epsilon
from dpcore.calibration import adaptive_bounded_range_rate, bounded_range_rate
from dpcore.events import BoundedRangeEvent
from dpcore.validate import one_of, positive, probability, whole

Rule = Literal["textbook", "zcdp", "bounded_range"]
RULES: tuple[Rule, ...] = ("textbook", "zcdp", "bounded_range")


def learning_rate(epsilon: float, delta: float, rounds: int, rule: str = "bounded_range") -> float:
    """The rate η at which ``rounds`` plays by Hedge are together (ε, δ)-DP, by one of three accounts.

    ``textbook``: η = ε/√(32 T ln(1/δ)), Dwork & Roth 2014, Theorem 11.2 (for large ε that formula promises too much;
    ``WeightedMajority`` never exceeds what zCDP allows). ``zcdp``: η = √(2ρ/T) with the largest ρ that implies (ε, δ),
    valid even if losses react to plays. ``bounded_range``: the exact composition of Dong, Durfee & Rogers, ICML 2020,
    for losses that do not react. Not capped: see ``hedge_rate``. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    probability(delta=delta)
    whole(1, rounds=rounds)
    chosen = as_rule(rule)
    if chosen == "textbook":
        return float(epsilon / math.sqrt(32 * rounds * math.log(1 / delta)))
    if chosen == "zcdp":
        return adaptive_bounded_range_rate(epsilon, delta, rounds) / 2
    return bounded_range_rate(epsilon, delta, rounds) / 2


def as_rule(rule: str) -> Rule:
    """``rule`` when it is one of ``RULES``. Raises InvalidArgument."""
    return cast(Rule, one_of(RULES, rule=rule))


def hedge_rate(rounds: int, experts: int, hold: int = 1) -> float:
    """The rate that minimises the regret bound without privacy, √(8 ln k / (T·hold)): faster never helps it."""
    return math.sqrt(8 * math.log(experts) / (rounds * hold))


@lru_cache(maxsize=16384)
def capped_rate(
    epsilon: float, delta: float, rounds: int, experts: int, *, hold: int = 1, rule: str = "bounded_range"
) -> float:
    """The rate to use: the private one for the draws that look at data, or ``hedge_rate`` when that is smaller.

    The first play is uniform whatever the data, so ⌈T/hold⌉ − 1 draws look at losses. With none the rate is 0.
    """
    draws = draws_with_data(rounds, hold)
    if draws == 0:
        return 0.0
    private = learning_rate(epsilon, delta, draws, rule)
    if rule == "textbook":
        private = min(learning_rate(epsilon, delta, rounds, rule), learning_rate(epsilon, delta, draws, "zcdp"))
    return min(private, hedge_rate(rounds, experts, hold))


def draws_with_data(rounds: int, hold: int = 1) -> int:
    """Plays that depend on losses when each is held for ``hold`` rounds."""
    return -(-rounds // hold) - 1


@lru_cache(maxsize=16384)
def best_hold(rho: float, rounds: int, experts: int) -> int:
    """For how many rounds to hold a play so that η = min(√(2ρ/draws), ``hedge_rate``) is largest: about √(4 ln k/ρ).

    Shorter, and more draws share the budget; longer, and budget stays unspent. (The least worst-case bound
    η·hold·T/8 + ln k/η has a hold √3 times shorter and more regret on every scenario here that can be learnt.) Only
    public numbers enter. One of 1 … 8, 10, 12, 14, 16, 20, …, so that many ε share a pass over the losses.
    """
    grid = {base << power >> 2 for power in range(rounds.bit_length()) for base in (4, 5, 6, 7)}
    holds = np.array([hold for hold in sorted(grid) if hold < max(rounds, 2)])
    draws = np.maximum(-(-rounds // holds) - 1, 1)
    rates = np.minimum(math.sqrt(2 * rho) / np.sqrt(draws), math.sqrt(8 * math.log(experts)) / np.sqrt(rounds * holds))
    return int(holds[np.argmax(rates)])


def plays_cost(rate: float, draws: int, epsilon: float, delta: float, *, reacting: bool) -> Cost:
    """What ``draws`` plays at ``rate`` cost at ``delta``: by zCDP when losses may react to plays, else exactly.

    Not above ``epsilon``, for which the rate was made: the two ways of computing agree to rounding only. Without δ
    where the plain sum of all plays is no more than that.
    """
    if draws == 0 or rate == 0.0:
        return Cost(epsilon=0.0)
    width = 2 * rate
    rho = draws * width * width / 8
    spent = zcdp_epsilon(rho, delta) if reacting else bounded_range_epsilon(width, draws, delta)
    event = BoundedRangeEvent(epsilon=width, count=draws, adaptive=reacting)
    if draws * width <= min(epsilon, spent):
        return Cost(epsilon=draws * width, rho=rho, event=event)
    return Cost(epsilon=min(epsilon, spent), rho=rho, delta=delta, event=event)
