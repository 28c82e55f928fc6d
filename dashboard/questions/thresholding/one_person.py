"""Change one person: where the first alarm falls in two neighbouring worlds, and the proof that little changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Note, Picture, Text
from dashboard.case import Case
from dashboard.charts.worlds import place_worlds, proof, round_ticks
from dashboard.controls import Choice, Read
from dashboard.questions.thresholding.watched import Series
from dashboard.words import change_one as said
from dpcore.thresholding import AboveThreshold, proof_step
from dpcore.thresholding.laws import LARGEST_ANSWER
from dpcore.thresholding.likelihood import log_chance
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray

LONGEST = 400
"""Entries that are compared: those up to the first true crossing and some after it."""
AFTER, BEFORE = 3, 8
TRIES = 60
RARE = 1e-9
"""Places where the alarm falls more seldom in both worlds are left out: nobody meets them."""


def blocks(
    case: Case,
    read: Read,
    series: Series,
    mechanism: AboveThreshold,
    answers: FloatArray,
    line: float,
    seed: int,
    name: tuple[object, ...],
) -> Sequence[Block]:
    """The laws without and with the person, a version without noise on the line, and one run of the proof."""
    reached = np.flatnonzero(answers >= line)
    crossing = int(reached[0]) if reached.size else answers.size - 1
    kinds = tuple(said.COUNTED_NAMES) if not mechanism.monotonic else ("every", "once")
    counted = Choice(
        key="alarm_counted" if mechanism.monotonic else "alarm_counted_general",
        label=said.COUNTED,
        options=kinds,
        names=said.COUNTED_NAMES,
        default="every",
    )
    kind = read(counted, "tab")
    first = max(0, min(crossing + 30, answers.size) - LONGEST)
    part = slice(first, min(first + LONGEST, answers.size))
    here, names = answers[part], series.names[part]
    moved = here + mechanism.sensitivity * _counted(kind, here.size, crossing - first)
    other = np.clip(moved, -LARGEST_ANSWER, LARGEST_ANSWER)  # who moves an answer by less is a neighbour, too
    key = ("one person alarm", case.table.fingerprint, *name, repr(mechanism), line, kind)
    worlds = case.memo(key, lambda: _worlds(mechanism, here, other, line))
    broken = case.memo((*key, "broken"), lambda: _no_noise_on_the_line(mechanism, here, other, line))
    kept = _met(worlds)
    without = _met(broken)
    most, worst = float(np.abs(kept).max()), float(np.abs(without).max())
    place = [*names, said.never(series.step)][int(np.argmax(np.abs(kept)))]
    x = np.arange(here.size, dtype=np.float64)
    told = words.html
    settings = (
        f"epsilon={mechanism.epsilon!r}, sensitivity={mechanism.sensitivity!r}, noise={mechanism.noise!r}, "
        f"threshold_share={mechanism.share!r}, monotonic={mechanism.monotonic!r}, offset={mechanism.offset!r}"
    )
    without_one, with_one = _listed(here), _listed(other)
    return [
        Text(said.look_places(mechanism.epsilon, most, worst, series.step)),
        Ask((counted,)),
        Picture(
            key="alarm-one-person",
            figure=lambda dark: place_worlds(
                x,
                100 * worlds.before[:-1],
                100 * worlds.after[:-1],
                {"kept": kept[:-1], "broken": without[:-1]},
                mechanism.epsilon,
                said.alarm_words(mechanism.epsilon),
                x_title=told(series.step),
                ticks=round_ticks(here.size, words.labels(names)),
                dark=dark,
            ),
            alt=said.places_alt(mechanism.epsilon, most, worst, place),
            data=lambda: pd.DataFrame(
                {
                    "first alarm": [*names, said.never(series.step)],
                    "without": worlds.before,
                    "with": worlds.after,
                    "log ratio": kept,
                    "log ratio without noise on the line": without,
                }
            ),
            code=said.code_alarm(settings, without_one, with_one, line),
        ),
        *_proof(case, series, mechanism, here, other, names, line, seed, settings),
    ]


def _listed(values: FloatArray) -> str:
    return ", ".join(f"{one!r}" for one in values.tolist())


def _counted(kind: str, size: int, crossing: int) -> FloatArray:
    """By how many Δ the person moves each answer."""
    moves = np.ones(size)
    if kind == "once":
        moves[:] = 0.0
        moves[crossing] = 1.0
    elif kind == "against":
        moves[crossing:] = -1.0
    return moves


def _worlds(mechanism: AboveThreshold, answers: FloatArray, other: FloatArray, line: float) -> TwoWorlds:
    """``alarm_worlds`` without the exact logarithms of what is not drawn, which take most of its time."""
    return TwoWorlds(
        before=mechanism.stop_law(answers, line),
        after=mechanism.stop_law(other, line),
        promised=mechanism.epsilon,
    )


def _met(worlds: TwoWorlds) -> FloatArray:
    """Log-ratios of places where the alarm falls at all often enough for anybody to meet it."""
    often = np.maximum(worlds.before, worlds.after) > RARE
    return np.asarray(np.where(often, worlds.log_ratio, 0.0))


def _no_noise_on_the_line(mechanism: AboveThreshold, answers: FloatArray, other: FloatArray, line: float) -> TwoWorlds:
    """The worlds of a version that leaves the line as it is: then every silent answer gives something away."""
    pair = mechanism.scales
    logs = []
    for series in (answers, other):
        x = (line + mechanism.offset - series) / pair.query_scale
        silent = np.concatenate([[0.0], np.cumsum(log_chance(pair, x, alarm=False))])
        rings = np.concatenate([log_chance(pair, x, alarm=True), [0.0]])
        logs.append(silent + rings)
    return TwoWorlds(
        before=np.exp(logs[0]),
        after=np.exp(logs[1]),
        promised=mechanism.epsilon,
        log_before=logs[0],
        log_after=logs[1],
    )


def _proof(
    case: Case,
    series: Series,
    mechanism: AboveThreshold,
    answers: FloatArray,
    other: FloatArray,
    names: Sequence[str],
    line: float,
    seed: int,
    settings: str,
) -> Sequence[Block]:
    """One draw whose run rings, and its partner in the other world."""
    pair = mechanism.scales
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(TRIES):
        moved = float(pair.draw_threshold(rng, 1)[0])
        noise = pair.draw_queries(rng, answers.size)
        step = proof_step(mechanism, answers, other, line, threshold_noise=moved, answer_noise=noise)
        if step is not None:
            break
    else:
        return [Note(said.NO_ALARM)]
    start = max(0, step.alarm - BEFORE)
    shown = slice(start, min(answers.size, step.alarm + AFTER + 1))
    partner = noise.copy()
    partner[step.alarm] += step.answer_shift
    noisy_line = line + mechanism.offset + moved
    lines = [noisy_line, noisy_line, noisy_line + step.threshold_shift, noisy_line + step.threshold_shift]
    noisy = [answers + noise, other + noise, other + noise, other + partner]
    alarms: list[int | None] = []
    for one, level in zip(noisy, lines, strict=True):
        rings = np.flatnonzero(one >= level)
        at = int(rings[0]) - start if rings.size else -1
        alarms.append(at if 0 <= at < shown.stop - start else None)
    label = names[step.alarm]
    unit = series.unit
    told = words.labels(names[shown])
    return [
        Text(said.PROOF),
        Picture(
            key="alarm-proof",
            figure=lambda dark: proof(
                told,
                lines,
                [one[shown] for one in noisy],
                alarms,
                said.proof_words(series.step, unit, step.threshold_shift, step.answer_shift, step.same),
                dark=dark,
            ),
            alt=said.proof_alt(label, step.threshold_shift, step.answer_shift, step.same),
            note=said.proof_text(
                step.threshold_shift,
                step.answer_shift,
                (step.threshold_cost, step.answer_cost),
                mechanism.sensitivity,
                mechanism.epsilon,
            ),
            data=lambda: pd.DataFrame(
                {
                    "entry": names[shown],
                    "without": noisy[0][shown],
                    "with": noisy[1][shown],
                    "partner": noisy[3][shown],
                }
            ),
            code=said.code_proof(
                settings,
                _listed(answers),
                _listed(other),
                line,
                moved,
                _listed(noise),
            ),
        ),
    ]
