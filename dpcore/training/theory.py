"""The theorems about private training, as values to be drawn."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dpcore.theorem import Conditions, Theorem, settings
from dpcore.training.ball_world import approximate_excess, pure_excess
from dpcore.training.book_lessons import count_not_positive
from dpcore.training.rates import descent_bound, rate
from dpcore.validate import FloatArray


def ball_bound(
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    beta: ArrayLike = 0.05,
    spread: ArrayLike = 2.0,
    halves: ArrayLike = 1.0,
) -> FloatArray:
    """r + t of the exponential mechanism over a ball: (s/(nε′))·(d + d ln(nε′/d) + ln(1/β)), ε′ = ε/halves.

    The ball shrunk towards the best point by d/(nε′) has at most s times that excess, by convexity, and that to the
    power d of the volume; what is worse by t more has at most e^(−nε′t/s) of the weight. Infinite unless nε′ ≥ d.
    ``spread`` s is how far one row's loss can vary over the ball (at most 2GR), ``halves`` 2 where a row is replaced
    and 1 where it is added or removed. Arrays are broadcast together. Bassily, Smith & Thakurta, FOCS 2014, with
    constants.
    """
    people, columns, level, share, reach, parts = settings(
        n=n, d=d, epsilon=epsilon, beta=beta, spread=spread, halves=halves
    )
    people = people * level / parts
    with np.errstate(invalid="ignore"):
        found = reach / people * (columns * (1.0 + np.log(people / columns)) + np.log(1.0 / share))
    return np.asarray(np.where(people >= columns, found, np.inf))


_CONVEX = "a convex loss of one row, G-Lipschitz over the ball"
_BALL = "weights of length at most R, for the method and for the best model"
_CONSTANT = "the constant: it says how the best possible excess grows, not how large it is"

_THEOREMS = (
    Theorem(
        key="ball",
        name="Exponential mechanism over a ball",
        quantity="excess empirical risk",
        statement="excess ≤ (s/(nε′))·(d + d ln(nε′/d) + ln(1/β)), that is r + t",
        conditions=Conditions(
            neighbours="a row added or removed (ε′ = ε) or replaced (ε′ = ε/2)",
            range="s is how far one row's loss varies over the ball",
            lipschitz="s ≤ 2·G·R; G·R alone would not do",
            radius=_BALL,
            beta="chance β of failure, over the mechanism's own randomness",
            needs=_CONVEX + "; nε′ ≥ d",
            left_out="the error of having drawn these people; half a cell of a grid",
        ),
        source="Bassily, Smith & Thakurta, FOCS 2014, with constants",
        settings=("n", "d", "epsilon", "beta", "spread", "halves"),
        formula=ball_bound,
    ),
    Theorem(
        key="descent",
        name="Noisy projected gradient descent",
        quantity="expected excess empirical risk",
        statement="mean excess ≤ GR·(√(1/T + d·h²σ²/n²) + 1/T)",
        conditions=Conditions(
            neighbours="a row added or removed (h = 1) or replaced (h = 2)",
            lipschitz="G: nothing is clipped",
            radius=_BALL + "; every step ends in the ball",
            needs=_CONVEX + "; the proof's rate, no momentum, all places averaged (proved_descent)",
            left_out="chance: it is about the mean; the error of having drawn these people",
        ),
        source="Zinkevich, ICML 2003; Bassily, Smith & Thakurta, FOCS 2014; Balle & Wang, ICML 2018, for σ",
        settings=("d", "n", "epsilon", "delta", "steps", "radius", "lipschitz", "neighbours"),
        formula=descent_bound,
    ),
    *(
        Theorem(
            key=key,
            name=name,
            quantity="order of the best possible excess risk, up to a constant",
            statement=statement + ", up to a constant",
            conditions=Conditions(
                neighbours="a row replaced, or added or removed: that too is in the constant",
                lipschitz="G",
                radius=_BALL,
                needs=_CONVEX,
                left_out=_CONSTANT,
            ),
            source=source,
            settings=("d", "epsilon", "n", "delta", "radius", "lipschitz"),
            formula=partial(rate, key),
            kind="rate",
        )
        for key, name, statement, source in (
            (
                "rate_approximate",
                "Best rate with (ε, δ)",
                "G·R·√(d ln(1/δ))/(εn)",
                "Bassily, Smith & Thakurta, FOCS 2014",
            ),
            ("rate_pure", "Best rate with pure ε", "G·R·d/(εn)", "Bassily, Smith & Thakurta, FOCS 2014"),
            ("rate_sampling", "Rate of sampling", "G·R/√n", "Shalev-Shwartz & Ben-David 2014, chapter 26"),
        )
    ),
    Theorem(
        key="pure_exact",
        name="What pure ε loses in d dimensions",
        quantity="expected excess, exact in one world",
        statement="1 − I_{d/2+1}(κ)/I_{d/2}(κ), κ = εn/4 (εn/2 where a person is added or removed)",
        conditions=Conditions(
            neighbours="a person replaced, or added or removed",
            lipschitz="1: losses −⟨w, x⟩, ‖x‖ ≤ 1",
            radius="1",
            needs="everybody at the same x, the worst data; d up to 300",
        ),
        source="Law of the exponential mechanism for linear losses, worked out: see pure_excess",
        settings=("d", "n", "epsilon", "neighbours"),
        formula=pure_excess,
    ),
    Theorem(
        key="approximate_exact",
        name="What (ε, δ) loses in d dimensions",
        quantity="expected excess, exact in one world",
        statement="max over m of m(1 − E[X₁/‖X‖]), X ~ N(mn/(hσ)·e₁, I)",
        conditions=Conditions(
            neighbours="a person replaced (h = 2), or added or removed (h = 1)",
            lipschitz="1: losses −⟨w, x⟩, ‖x‖ ≤ 1",
            radius="1",
            needs="the worst agreement m among people; Gaussian noise on the sum; d from 2 to 300",
        ),
        source="Law of the Gaussian mechanism's direction, worked out: see approximate_excess",
        settings=("d", "n", "epsilon", "delta", "neighbours"),
        formula=approximate_excess,
    ),
    Theorem(
        key="noisy_count",
        name="A noisy count that is not positive",
        quantity="chance",
        statement="Pr[n + Lap(1/ε₀) ≤ 0] = ½·e^(−ε₀n)",
        conditions=Conditions(neighbours="a person added or removed"),
        source="Near & Abuah, Programming Differential Privacy, divide by such a count; the law is exact",
        settings=("rows", "step_epsilon"),
        formula=count_not_positive,
    ),
)


def theorems() -> dict[str, Theorem]:
    """The theorems about private training, by key."""
    return {theorem.key: theorem for theorem in _THEOREMS}
