"""Rows that stand in a table several times as copies, told from rows that are equal because few rows are possible.

Rows that are equal by chance, whatever their chances are, stand once, twice, three times … with frequencies that are
those of a mixture of Poisson distributions: times k!, their logarithm is convex in k (Lyapunov's inequality). What lies
above the convex hull from below are copies: of a file with each row twice nothing stands once, of one to which a part
of its rows was appended nothing stands three times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_COPIES = 12  # of a row: what stands more often is a group, not one person
LEAST_SHARE = 0.475
"""Of copies among repeated rows, from which on they are left out. One row may decide that: only who has all rows of a
file may be told what hangs on it."""
_SMOOTH = 3.0  # as many more of each frequency: few rows show them roughly


def bare(rows: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """The places of rows that leave copies out; None where none are there.

    ``rows`` holds a hash of each row. Where nearly all rows are there a multiple of times, they are so many times as
    often as before; that any are equal then may be chance still.
    """
    ordered = np.sort(rows)
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if rows.size else rows[:0]
    times = np.diff(np.append(starts, rows.size)).astype(np.int64)
    if times.size == rows.size:
        return None
    most = [fold for fold in range(MOST_COPIES, 1, -1) if (times % fold == 0).mean() >= (1.0 + LEAST_SHARE) / 2]
    staying = -(-times // most[0]) if most else times
    if share(staying) >= LEAST_SHARE:
        staying = np.ones_like(times)
    if (staying == times).all():
        return None
    order = np.argsort(rows, kind="stable")
    nth = np.arange(rows.size) - np.repeat(starts, times)
    return np.sort(order[nth < np.repeat(staying, times)])


def share(times: NDArray[np.int64]) -> float:
    """How many of the different rows that stand more than once are copies; ``times`` says how often each stands."""
    frequencies = np.bincount(np.minimum(times, MOST_COPIES + 1), minlength=MOST_COPIES + 2)[1:].astype(np.float64)
    repeated = float((times > 1).sum())
    places = np.arange(1, MOST_COPIES + 2)
    of_order = np.array([math.lgamma(place + 1) for place in places])
    heights = np.log(frequencies + _SMOOTH) + of_order
    copies = 0.0
    for at in range(1, MOST_COPIES):
        before, after = np.meshgrid(np.arange(at), np.arange(at + 1, places.size), indexing="ij")
        there = (at - before) / (after - before)
        by_chance = float(((1.0 - there) * heights[before] + there * heights[after]).min())
        copies += max(0.0, float(frequencies[at]) - math.exp(by_chance - of_order[at]))
    return copies / max(repeated, 1.0)
