"""What theorems promise about regret, to lay over the exact curves. All totals over T rounds, losses in [0, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.theorem import settings
from dpcore.validate import FloatArray, one_of, positive, probability, whole

THEOREMS = ("hedge", "11.1", "11.3", "11.4")
"""``hedge``: without privacy, tight up to its constant. ``11.1``: the textbook's form of the same. ``11.3``: weighted
majority at the textbook's private rate, in expectation. ``11.4``: the same with probability 1 − β."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretBound:
    """``total`` regret over ``rounds``. ``vacuous``: no better than the T that any play whatever keeps to.

    ``shortcut`` is the rounder form the textbook gives beside it, None where its condition fails or there is none.
    """

    theorem: str
    rounds: int
    total: float
    shortcut: float | None = None

    @property
    def per_round(self) -> float:
        return self.total / self.rounds

    @property
    def vacuous(self) -> bool:
        return self.total >= self.rounds


def regret_bound(
    theorem: str,
    *,
    rounds: int,
    experts: int,
    epsilon: float | None = None,
    delta: float | None = None,
    beta: float = 0.05,
) -> RegretBound:
    """The bound of one of ``THEOREMS`` for T ``rounds`` and k ``experts``.

    * ``hedge``: √(T ln k / 2). Cesa-Bianchi & Lugosi 2006, Theorem 2.2.
    * ``11.1``: ηT + ln k/η at its best, 2√(T ln k). Dwork & Roth 2014, as the next two.
    * ``11.3``: ηT + ln k/η at the private η = ε/√(32 T ln(1/δ)); at most √(128 T ln(1/δ)) ln k/ε where
      ε² ≤ 32 ln(1/δ) ln k (``shortcut``).
    * ``11.4``: that plus √(T ln(1/β)/2), which plays exceed with probability at most β (Hoeffding; the textbook gives
      the order of growth only).

    Theorem 11.2 is about privacy: see ``learning_rate``. The private ones need ``epsilon`` and ``delta``.
    Raises InvalidArgument.
    """
    one_of(THEOREMS, theorem=theorem)
    length, log_k = whole(1, rounds=rounds), math.log(whole(2, experts=experts))
    if theorem in ("hedge", "11.1"):
        found = hedge_regret(length, experts) if theorem == "hedge" else textbook_regret(length, experts)
        return RegretBound(theorem=theorem, rounds=length, total=float(found))
    level, share = positive(epsilon=epsilon), probability(delta=delta)
    found = private_regret(length, experts, level, share)
    tail = 0.0
    if theorem == "11.4":
        tail = float(likely_regret(length, experts, level, share, beta) - found)
    strength = 32 * math.log(1 / share)
    shortcut = 2 * math.sqrt(strength * length) * log_k / level + tail if level**2 <= strength * log_k else None
    return RegretBound(theorem=theorem, rounds=length, total=float(found) + tail, shortcut=shortcut)


def hedge_regret(rounds: ArrayLike, experts: ArrayLike) -> FloatArray:
    """√(T ln k / 2), of Hedge at its best rate without privacy; arrays broadcast together, as in all of these."""
    length, size = settings(rounds=rounds, experts=experts)
    return np.asarray(np.sqrt(length * np.log(size) / 2))


def textbook_regret(rounds: ArrayLike, experts: ArrayLike) -> FloatArray:
    """2√(T ln k): the textbook's form of the same."""
    length, size = settings(rounds=rounds, experts=experts)
    return np.asarray(2 * np.sqrt(length * np.log(size)))


def private_rate(rounds: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> FloatArray:
    """The textbook's private rate ε/√(32 T ln(1/δ))."""
    length, level, share = settings(rounds=rounds, epsilon=epsilon, delta=delta)
    return np.asarray(level / np.sqrt(32 * length * np.log(1 / share)))


def private_regret(rounds: ArrayLike, experts: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> FloatArray:
    """Expected regret ηT + ln k/η at the textbook's private rate η."""
    length, size = settings(rounds=rounds, experts=experts)
    rate = private_rate(length, epsilon, delta)
    return np.asarray(rate * length + np.log(size) / rate)


def likely_regret(
    rounds: ArrayLike, experts: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, beta: ArrayLike = 0.05
) -> FloatArray:
    """Regret that plays at that rate exceed with chance at most β: √(T ln(1/β)/2) more (Hoeffding over the plays)."""
    length, share = settings(rounds=rounds, beta=beta)
    return private_regret(length, experts, epsilon, delta) + np.sqrt(length * np.log(1 / share) / 2)


def held_bound(rate: float, rounds: int, experts: int, hold: int = 1) -> float:
    """Regret of Hedge at ``rate`` on oblivious losses, each play held ``hold`` rounds: η·hold·T/8 + ln k/η."""
    length = -(-whole(1, rounds=rounds) // whole(1, hold=hold)) * hold
    return positive(rate=rate) * hold * length / 8 + math.log(whole(2, experts=experts)) / rate
