"""The walk over the queries, compiled: nodes of the threshold's noise, and the law of a run given each of them.

Everything compiled stands in this one file, because the compiler's cache follows a file's changes and not its imports.
See ``dpcore.thresholding.laws`` for the mathematics.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.compiled import compiled
from dpcore.validate import FloatArray, IntArray

LONGEST = 2.0  # widest panel, in units of the smaller of the two noise scales
FLAT = 40.0  # a query this many of its noise's scales from the threshold is certain to within 1e-17
DEAD = 1e-24  # a node with less probability than this is dropped
OVER = 1e-16  # once so little probability is left, nothing more is computed
BAND = 500.0  # nodes that share a reference point span at most this many query scales, so that exp cannot overflow
CLIP = 345.0

# Gauss-Legendre rules: each serves panels up to its width, in units of the smaller scale: quick, fine and finest.
WIDTHS = np.array([0.05, 0.4, 1.0, LONGEST])
SIZES = np.array([[2, 3, 5, 7], [3, 5, 8, 10], [5, 8, 12, 16]])
MOST = int(SIZES.max())
POINTS = np.zeros((*SIZES.shape, MOST))
WEIGHTS = np.zeros((*SIZES.shape, MOST))
for _place in np.ndindex(SIZES.shape):
    _size = int(SIZES[_place])
    POINTS[_place][:_size], WEIGHTS[_place][:_size] = np.polynomial.legendre.leggauss(_size)


@compiled
def room(threshold_scale: float, query_scale: float, kinks: int, reach: float) -> int:
    """At most how many nodes ``fill`` writes."""
    panels = math.ceil(2.0 * reach * threshold_scale / (LONGEST * min(threshold_scale, query_scale)))
    return MOST * (panels + kinks + 4) + 2


@compiled
def fill(
    t: FloatArray,
    weight: FloatArray,
    kink: FloatArray,
    threshold_scale: float,
    query_scale: float,
    one_sided: bool,
    reach: float,
    fine: int,
) -> int:
    """Write nodes ``t``, ascending, with probability weights, for Laplace or one-sided exponential threshold noise.

    ``kink`` holds the answers minus the threshold, ascending; panels are split there and at 0. Noise beyond ``reach``
    scales is taken to be at the end; ``fine`` picks the rules. Returns the number of nodes.
    """
    half = 1.0 if one_sided else 0.5
    unit = min(threshold_scale, query_scale)
    low = 0.0 if one_sided else max(-reach * threshold_scale, min(kink[0], 0.0) - FLAT * query_scale)
    high = min(reach * threshold_scale, max(kink[-1], 0.0) + FLAT * query_scale)
    count = 0
    if not one_sided:
        t[0], weight[0] = low, 0.5 * math.exp(low / threshold_scale)
        count = 1
    left = low
    index = 0
    while left < high:
        right = min(high, left + LONGEST * unit)
        while index < kink.size and kink[index] <= left:
            index += 1
        if index < kink.size and kink[index] < right:
            right = kink[index]
        if left < 0.0 < right:
            right = 0.0
        width = right - left
        rule = 0
        while rule < WIDTHS.size - 1 and width > WIDTHS[rule] * unit:
            rule += 1
        for node in range(SIZES[fine, rule]):
            at = left + 0.5 * width * (1.0 + POINTS[fine, rule, node])
            density = half * math.exp(-abs(at) / threshold_scale) / threshold_scale
            t[count] = at
            weight[count] = 0.5 * width * WEIGHTS[fine, rule, node] * density
            count += 1
        left = right
    t[count], weight[count] = high, half * math.exp(-high / threshold_scale)
    return count + 1


@compiled
def total(mass: FloatArray, levels: int, first: int, end: int) -> float:
    """The sum of ``mass[:levels, first:end]``."""
    summed = 0.0
    for level in range(levels):
        for n in range(first, end):
            summed += mass[level, n]
    return summed


@compiled
def walk(
    t: FloatArray,
    weight: FloatArray,
    answers: FloatArray,
    ratio: float,
    threshold: float,
    scale: float,
    above: float,
    below: float,
    restart: int,
    column: IntArray,
    alarm: FloatArray,
    left: FloatArray,
) -> None:
    """Add the law of one run to ``alarm`` (limit, columns) and ``left`` (limit,).

    Answers times ``ratio`` meet ``threshold``. From query ``restart`` on only the next alarm counts: the numbers of
    alarms so far are merged into row 0.
    """
    limit = left.size
    begin = 0
    while begin < t.size:
        end = begin + 1
        while end < t.size and t[end] - t[begin] <= BAND * scale:
            end += 1
        reference = 0.5 * (t[begin] + t[end - 1])
        size = end - begin
        fall, rise = np.empty(size), np.empty(size)
        mass = np.zeros((limit, size))
        for n in range(size):
            fall[n] = math.exp((reference - t[begin + n]) / scale)
            rise[n] = 1.0 / fall[n]
            mass[0, n] = weight[begin + n]
        first = 0
        merged = False
        for query in range(answers.size):
            if query == restart:
                for level in range(1, limit):
                    for n in range(size):
                        mass[0, n] += mass[level, n]
                merged = True
            levels = 1 if merged else limit
            if query % 16 == 0:
                if total(mass, levels, first, size) < OVER:
                    break
                while first < size and total(mass, levels, first, first + 1) < DEAD:
                    first += 1
            distance = (answers[query] * ratio - threshold - reference) / scale
            factor = math.exp(min(max(distance, -CLIP), CLIP))
            # Nodes before ``split`` put the noisy threshold below the answer.
            split, stop = first, size if fall[first] * factor > 1.0 else first
            while split < stop:
                middle = (split + stop) // 2
                if fall[middle] * factor > 1.0:
                    split = middle + 1
                else:
                    stop = middle
            stay = below / factor
            move = above * factor
            # Unsigned, so that the compiler need not provide for negative indices and can use vector instructions.
            near, far, end_of_band = np.uint64(first), np.uint64(split), np.uint64(size)
            for level in range(min(levels - 1, query), -1, -1):
                raised = 0.0
                if level + 1 < levels:
                    for n in range(near, far):
                        kept = mass[level, n] * rise[n] * stay
                        gone = mass[level, n] - kept
                        mass[level, n] = kept
                        mass[level + 1, n] += gone
                        raised += gone
                    for n in range(far, end_of_band):
                        gone = mass[level, n] * fall[n] * move
                        mass[level, n] -= gone
                        mass[level + 1, n] += gone
                        raised += gone
                else:
                    for n in range(near, far):
                        kept = mass[level, n] * rise[n] * stay
                        raised += mass[level, n] - kept
                        mass[level, n] = kept
                    for n in range(far, end_of_band):
                        gone = mass[level, n] * fall[n] * move
                        mass[level, n] -= gone
                        raised += gone
                alarm[level, column[query]] += raised
        for level in range(1 if merged else limit):
            for n in range(first, size):
                left[level] += mass[level, n]
        begin = end


@compiled
def sweep(
    answers: FloatArray,
    kinks: FloatArray,
    ratio: FloatArray,
    threshold: FloatArray,
    threshold_scale: FloatArray,
    query_scale: FloatArray,
    one_sided: bool,
    reach: float,
    fine: int,
    restart: int,
    column: IntArray,
    alarm: FloatArray,
    left: FloatArray,
) -> None:
    """Add the laws of runs at m settings to ``alarm`` (m, limit, columns) and ``left`` (m, limit)."""
    above, below = (1.0, 0.0) if one_sided else (0.5, 0.5)
    kink = np.empty(kinks.size)
    for m in range(ratio.size):
        most = room(threshold_scale[m], query_scale[m], kinks.size, reach)
        t, weight = np.empty(most), np.empty(most)
        for index in range(kinks.size):
            kink[index] = kinks[index] * ratio[m] - threshold[m]
        used = fill(t, weight, kink, threshold_scale[m], query_scale[m], one_sided, reach, fine)
        walk(
            t[:used],
            weight[:used],
            answers,
            ratio[m],
            threshold[m],
            query_scale[m],
            above,
            below,
            restart,
            column,
            alarm[m],
            left[m],
        )
