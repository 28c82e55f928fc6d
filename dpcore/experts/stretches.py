"""Strategies that run Hedge, possibly from scratch several times, holding each play for some rounds.

Such a run is a tuple of stretches; everything about it follows exactly from the laws of ``hedge``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.experts.hedge import Losses, hedge_chances, hedge_moments, totals_at
from dpcore.experts.strategy import Chances, Forecast
from dpcore.validate import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Stretch:
    """Hedge at ``rate`` over rounds ``start`` to ``stop`` (left out), from scratch, each play held ``hold`` rounds."""

    start: int
    stop: int
    hold: int
    rate: float


def chances(stretches: Sequence[Stretch], losses: Losses) -> Chances:
    """The law of every draw of a run, block after block."""
    for stretch in stretches:
        taken = losses[stretch.start : stretch.stop]
        left = stretch.stop - stretch.start
        for law in hedge_chances(taken, stretch.rate, stretch.hold):
            held = np.full(law.shape[0], stretch.hold, dtype=np.int64)
            held[-1] = min(stretch.hold, left - stretch.hold * (law.shape[0] - 1))
            left -= int(held.sum())
            yield law, held


def forecast(runs: Sequence[Sequence[Stretch]], losses: Losses, *, spread: bool = True) -> Forecast:
    """The exact total loss of every run; each ends with its last stretch."""
    mean, variance = np.zeros(len(runs)), np.zeros(len(runs))
    # many settings share a stretch: above some ε the rate is the best one without privacy
    groups: dict[tuple[int, int], dict[Stretch, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, run in enumerate(runs):
        for stretch in run:
            groups[stretch.start, stretch.hold][stretch].append(index)
    for (start, hold), members in groups.items():
        rates = np.array([stretch.rate for stretch in members])
        lengths = np.array([stretch.stop - start for stretch in members])
        added, widened = _moments(losses[start : start + lengths.max()], rates, lengths, hold, spread)
        sharing = np.repeat(np.arange(len(members)), [len(places) for places in members.values()])
        places = np.concatenate(list(members.values()))
        mean[places] += added[sharing]
        variance[places] += widened[sharing]
    ends = np.array([run[-1].stop for run in runs])
    return Forecast(mean=mean, deviation=np.sqrt(variance), best=totals_at(losses, ends).min(axis=1))


def _moments(
    losses: Losses, rates: FloatArray, lengths: IntArray, hold: int, spread: bool
) -> tuple[FloatArray, FloatArray]:
    mean, variance = hedge_moments(losses, rates, lengths, hold=hold, variance=spread)
    if (lengths == losses.shape[0]).all():
        return mean, variance
    full = lengths // hold * hold
    cut = np.flatnonzero(full < lengths)
    if cut.size:  # a last play that is held for less than ``hold`` rounds
        before, after = np.split(totals_at(losses, np.concatenate([full[cut], lengths[cut]])), 2)
        law = np.exp(-rates[cut, None] * (before - before.min(axis=1, keepdims=True)))
        law /= law.sum(axis=1, keepdims=True)
        part = after - before
        expected = (law * part).sum(axis=1)
        mean[cut] += expected
        variance[cut] += np.maximum((law * part * part).sum(axis=1) - expected * expected, 0.0)
    return mean, variance
