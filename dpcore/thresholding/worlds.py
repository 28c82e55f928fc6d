"""Change one person: where the first alarm falls in two neighbouring worlds, and the proof that little changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.thresholding.above_threshold import AboveThreshold
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray, finite_vector

_RARE = 1e-9


def alarm_worlds(mechanism: AboveThreshold, answers: ArrayLike, neighbour: ArrayLike, threshold: float) -> TwoWorlds:
    """The exact law of the place of the alarm on ``answers`` and on a ``neighbour``'s (k,), k + 1 outcomes, the last
    "never"; logarithms are exact however rare an outcome. No answer may move by more than Δ. Raises InvalidArgument."""
    first, second = _pair(mechanism, answers, neighbour)
    logs = []
    for one in (first, second):
        law = mechanism.stop_law(one, threshold)
        with np.errstate(divide="ignore"):
            log = np.log(law)
        for place in np.flatnonzero(law < _RARE):  # to nine digits down to here
            log[place] = mechanism.log_probability(one, threshold, None if place == one.size else int(place))
        logs.append(log)
    return TwoWorlds(
        before=np.exp(logs[0]),
        after=np.exp(logs[1]),
        promised=mechanism.epsilon,
        log_before=logs[0],
        log_after=logs[1],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofStep:
    """The change of variables in the proof, for one draw of noise that stops at ``alarm`` in the first world.

    With the threshold's noise moved by ``threshold_shift`` (at most Δ up or down) and that of the answer at the alarm
    by ``answer_shift`` (at most 2Δ), the others as they are, the second world stops at the same answer. Log-densities
    fall by at most ``threshold_cost`` + ``answer_cost``, each at most its share of ε.
    """

    alarm: int
    threshold_shift: float
    answer_shift: float
    threshold_cost: float
    answer_cost: float
    same: bool


def proof_step(
    mechanism: AboveThreshold,
    answers: ArrayLike,
    neighbour: ArrayLike,
    threshold: float,
    *,
    threshold_noise: float,
    answer_noise: ArrayLike,
) -> ProofStep | None:
    """The step for noise as drawn, ``answer_noise`` (k,); None where the first world raises no alarm.

    Dwork & Roth 2014, Theorem 3.23, with its signs put right: the largest noisy answer before the alarm moves by at
    most Δ between the worlds; the threshold moves with it, and the answer at the alarm with both. Raises
    InvalidArgument.
    """
    first, second = _pair(mechanism, answers, neighbour)
    noise = finite_vector(answer_noise=answer_noise)
    if noise.shape != first.shape:
        raise InvalidArgument("answer_noise", "must have one entry for each answer")
    line = threshold + mechanism.offset
    raised = np.flatnonzero(first + noise >= line + threshold_noise)
    if raised.size == 0:
        return None
    alarm = int(raised[0])
    rise = 0.0
    if alarm:
        rise = float((second + noise)[:alarm].max() - (first + noise)[:alarm].max())
    # Laplace noise may move either way; noise that is never negative must not move down, so it moves to the top
    if mechanism.noise == "exponential":
        rise = mechanism.sensitivity
    answer = rise + float(first[alarm] - second[alarm])
    if mechanism.noise == "exponential":
        answer = max(answer, 0.0)
    moved = noise.copy()
    moved[alarm] += answer
    there = np.flatnonzero(second + moved >= line + threshold_noise + rise)
    scales = mechanism.scales
    return ProofStep(
        alarm=alarm,
        threshold_shift=rise,
        answer_shift=answer,
        threshold_cost=abs(rise) / scales.threshold_scale,
        answer_cost=abs(answer) / scales.query_scale,
        same=there.size > 0 and int(there[0]) == alarm,
    )


def _pair(mechanism: AboveThreshold, answers: ArrayLike, neighbour: ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = finite_vector(answers=answers), finite_vector(neighbour=neighbour)
    if first.shape != second.shape:
        raise InvalidArgument("neighbour", "must have one entry for each answer")
    if float(np.abs(first - second).max()) > mechanism.sensitivity * (1.0 + 1e-12):
        raise InvalidArgument("neighbour", "must move no answer by more than the sensitivity")
    return first, second
