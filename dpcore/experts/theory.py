"""The theorems about following experts, as values to be drawn: totals over T rounds of losses in [0, 1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpcore.experts.bounds import hedge_regret, likely_regret, private_rate, private_regret, textbook_regret
from dpcore.theorem import Conditions, Theorem, settings
from dpcore.validate import FloatArray

_DAY = "two tables that differ in the losses of one round, in any way"
_BOOK = "Dwork & Roth 2014, Theorem "


def held_regret(rounds: ArrayLike, experts: ArrayLike, learning_rate: ArrayLike, hold: ArrayLike = 1.0) -> FloatArray:
    """η·hold·T/8 + ln k/η, T rounded up to whole holds: ``bounds.held_bound`` over arrays."""
    length, size, rate, held = settings(rounds=rounds, experts=experts, learning_rate=learning_rate, hold=hold)
    return np.asarray(rate * held * np.ceil(length / held) * held / 8 + np.log(size) / rate)


def linear_excess(
    rows: ArrayLike, columns: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, beta: ArrayLike = 0.05
) -> FloatArray:
    """Excess cost of the linear learner over arrays: 2(regret + 3√(T ln(3/β)/2))/T, see ``linear.linear_bound``."""
    length, share = settings(rows=rows, beta=beta)
    return np.asarray(
        2 * (private_regret(length, columns, epsilon, delta) + 3 * np.sqrt(length * np.log(3 / share) / 2)) / length
    )


_THEOREMS = (
    Theorem(
        key="hedge",
        name="Hedge without privacy",
        quantity="expected regret",
        statement="regret ≤ √(T ln k / 2) at η = √(8 ln k / T)",
        conditions=Conditions(
            neighbours="nobody is protected", range="losses in [0, 1]", needs="any losses, even adversarial ones"
        ),
        source="Cesa-Bianchi & Lugosi 2006, Theorem 2.2",
        settings=("rounds", "experts"),
        formula=hedge_regret,
    ),
    Theorem(
        key="11.1",
        name="Weighted majority without privacy, textbook's form",
        quantity="expected regret",
        statement="regret ≤ 2√(T ln k) at η = √(ln k / T)",
        conditions=Conditions(neighbours="nobody is protected", range="losses in [0, 1]"),
        source=_BOOK + "11.1",
        settings=("rounds", "experts"),
        formula=textbook_regret,
    ),
    Theorem(
        key="11.2",
        name="Privacy of weighted majority",
        quantity="learning rate",
        statement="η = ε/√(32 T ln(1/δ)) is (ε, δ)-differentially private",
        conditions=Conditions(
            neighbours=_DAY,
            range="losses in [0, 1]",
            needs="ε that is not large: beyond about √(8 ln(1/δ)) the composition behind it promises too much",
        ),
        source=_BOOK + "11.2",
        settings=("rounds", "epsilon", "delta"),
        formula=private_rate,
    ),
    Theorem(
        key="11.3",
        name="Regret of private weighted majority",
        quantity="expected regret",
        statement="regret ≤ ηT + ln k/η at η = ε/√(32 T ln(1/δ))",
        conditions=Conditions(neighbours=_DAY, range="losses in [0, 1]", left_out="chance: it is about the mean"),
        source=_BOOK + "11.3",
        settings=("rounds", "experts", "epsilon", "delta"),
        formula=private_regret,
    ),
    Theorem(
        key="11.4",
        name="Regret that is seldom exceeded",
        quantity="regret",
        statement="regret ≤ ηT + ln k/η + √(T ln(1/β)/2), η = ε/√(32 T ln(1/δ))",
        conditions=Conditions(
            neighbours=_DAY,
            range="losses in [0, 1]",
            beta="chance β that plays do worse",
            needs="losses that do not react to the plays",
        ),
        source=_BOOK + "11.4 (order of growth), constants by Hoeffding",
        settings=("rounds", "experts", "epsilon", "delta", "beta"),
        formula=likely_regret,
    ),
    Theorem(
        key="held",
        name="Regret of plays that are held",
        quantity="expected regret",
        statement="regret ≤ η·B·T/8 + ln k/η, each play held B rounds",
        conditions=Conditions(
            neighbours="whatever the rate was made for",
            range="losses in [0, 1]",
            needs="losses that do not react to the plays; T in whole holds",
        ),
        source="Cesa-Bianchi & Lugosi 2006, Theorem 2.2, on sums of B rounds",
        settings=("rounds", "experts", "learning_rate", "hold"),
        formula=held_regret,
    ),
    Theorem(
        key="11.6",
        name="Excess of the linear learner",
        quantity="excess cost, over [−1, 1]",
        statement="excess ≤ 2(ηT + ln d/η + 3√(T ln(3/β)/2))/T, η = ε/√(32 T ln(1/δ))",
        conditions=Conditions(
            neighbours="one row replaced",
            range="costs in [−1, 1], rescaled to losses in [0, 1]",
            beta="chance β of failure, over the rows and the plays, a third for each of three sums",
            needs="rows drawn independently; judged on the distribution they come from",
        ),
        source=_BOOK + "11.6 (rate), constants worked out",
        settings=("rows", "columns", "epsilon", "delta", "beta"),
        formula=linear_excess,
    ),
)


def theorems() -> dict[str, Theorem]:
    """The theorems by key."""
    return {theorem.key: theorem for theorem in _THEOREMS}
