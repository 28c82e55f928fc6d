"""Simulated runs: many at once for counting, and one in detail for the picture of how it works."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.thresholding.noise import NoisePair
from dpcore.validate import FloatArray, IntArray, generator, whole

_BLOCK = 2**18  # noise values drawn at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One simulated run, up to and including the query at which it stopped.

    ``noisy_threshold``; ``query_noise`` and ``noisy_answers`` of shape (asked,); ``alarms``, the queries that raised
    one; ``stopped`` is False when the run reached the end with alarms left.
    """

    noisy_threshold: float
    query_noise: FloatArray
    noisy_answers: FloatArray
    alarms: tuple[int, ...]
    stopped: bool


def positions(
    pair: NoisePair, answers: FloatArray, threshold: float, limit: int, rng: np.random.Generator, size: int
) -> IntArray:
    """Where the alarms of ``size`` runs fall, shape (size, limit), in order; k (the number of answers) for none."""
    generator(rng=rng)
    k = answers.size
    found = np.full((whole(1, size=size), limit), k, dtype=np.int64)
    bar = threshold + pair.draw_threshold(rng, size)
    raised = np.zeros(size, dtype=np.int64)
    active = np.arange(size)
    start = 0
    while start < k and active.size:
        asked = answers[start : start + max(1, _BLOCK // active.size)]
        hits = asked + pair.draw_queries(rng, (active.size, asked.size)) >= bar[active, None]
        order = raised[active, None] + np.cumsum(hits, axis=1)
        run, query = np.nonzero(hits & (order <= limit))
        found[active[run], order[run, query] - 1] = start + query
        raised[active] = order[:, -1]
        active = active[raised[active] < limit]
        start += asked.size
    return found


def trace(pair: NoisePair, answers: FloatArray, threshold: float, limit: int, rng: np.random.Generator) -> Trace:
    """One run in detail."""
    generator(rng=rng)
    bar = threshold + float(pair.draw_threshold(rng, 1)[0])
    noise = pair.draw_queries(rng, answers.size)
    alarms = np.flatnonzero(answers + noise >= bar)[:limit]
    stopped = alarms.size == limit
    asked = int(alarms[-1]) + 1 if stopped else answers.size
    return Trace(
        noisy_threshold=bar,
        query_noise=noise[:asked],
        noisy_answers=(answers + noise)[:asked],
        alarms=tuple(alarms.tolist()),
        stopped=stopped,
    )
