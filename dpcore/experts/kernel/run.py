"""Hedge's law over a block of draws, compiled: means and variances at many rates, see ``dpcore.experts.hedge``.

Everything compiled stands in this one file, because the compiler's cache follows a file's changes and not its imports.
"""

from __future__ import annotations

import math

from dpcore.compiled import compiled
from dpcore.validate import BoolArray, FloatArray, IntArray


@compiled
def moments(
    block: FloatArray,
    totals: FloatArray,
    rates: FloatArray,
    stops: IntArray,
    strides: IntArray,
    coefficients: FloatArray,
    linear: BoolArray,
    squarings: IntArray,
    mean: FloatArray,
    variance: FloatArray,
    spread: bool,
    chunk: int,
    weights: FloatArray,
    below: FloatArray,
    running: FloatArray,
) -> None:
    """Add the moments of the first ``stops`` (m,) draws of ``block`` (draws, experts) to ``mean``, ``variance`` (m,).

    ``totals`` (experts,) before the block are moved on to those after it. Weights are exponentials of the totals every
    ``chunk`` draws, small enough to stay in cache for all rates, or every ``strides`` (m,) where shorter. Between, each
    draw multiplies them by exp(−rate × loss): 1 − c₀·loss for losses of 0 and 1 where ``linear`` (m,), else a
    polynomial c₀ … c₈ of the loss, squared ``squarings`` times. ``weights``, ``below`` and ``running`` (experts,) are
    room to work in.
    """
    draws, experts = block.shape
    for begin in range(0, draws, chunk):
        end = min(begin + chunk, draws)
        for rate in range(rates.shape[0]):
            stop, stride = min(stops[rate], end), strides[rate]
            eta, times = rates[rate], squarings[rate]
            c0, c1, c2 = coefficients[rate, 0], coefficients[rate, 1], coefficients[rate, 2]
            c3, c4, c5 = coefficients[rate, 3], coefficients[rate, 4], coefficients[rate, 5]
            c6, c7, c8 = coefficients[rate, 6], coefficients[rate, 7], coefficients[rate, 8]
            running[:] = totals
            first = begin
            while first < stop:
                last = min(first + stride, stop)
                least = running.min()
                for i in range(experts):
                    weights[i] = math.exp(max(-eta * (running[i] - least), -700.0))
                for t in range(first, last):
                    whole = lost = squares = 0.0
                    if linear[rate]:
                        for i in range(experts):
                            loss, weight = block[t, i], weights[i]
                            heavy = weight * loss
                            whole += weight
                            lost += heavy
                            weights[i] = weight - c0 * heavy
                        squares = lost
                    elif times == 0:  # all of it in one go
                        for i in range(experts):
                            loss, weight = block[t, i], weights[i]
                            heavy = weight * loss
                            whole += weight
                            lost += heavy
                            squares += heavy * loss
                            high = c4 + loss * (c5 + loss * (c6 + loss * (c7 + loss * c8)))
                            weights[i] = weight * (c0 + loss * (c1 + loss * (c2 + loss * (c3 + loss * high))))
                    else:
                        for i in range(experts):
                            loss = block[t, i]
                            high = c4 + loss * (c5 + loss * (c6 + loss * (c7 + loss * c8)))
                            below[i] = c0 + loss * (c1 + loss * (c2 + loss * (c3 + loss * high)))
                        for _ in range(times):
                            for i in range(experts):
                                below[i] *= below[i]
                        for i in range(experts):
                            loss, weight = block[t, i], weights[i]
                            heavy = weight * loss
                            whole += weight
                            lost += heavy
                            squares += heavy * loss
                            weights[i] = weight * below[i]
                    expected = lost / whole
                    mean[rate] += expected
                    if spread:
                        variance[rate] += squares / whole - expected * expected
                if last < stop:
                    for t in range(first, last):
                        for i in range(experts):
                            running[i] += block[t, i]
                first = last
        for t in range(begin, end):
            for i in range(experts):
                totals[i] += block[t, i]
