"""Sums over rows that are kept as codes, compiled: every model's numbers stand next to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.compiled import compiled
from dpcore.validate import IntArray

Single = NDArray[np.float32]
Codes = NDArray[np.uint8] | NDArray[np.uint16]


@compiled
def gather(codes: Codes, starts: IntArray, table: Single, out: Single) -> None:
    """``out`` (rows, models) becomes the sum of every row's entries of ``table`` (all codes, models)."""
    models = table.shape[1]
    for row in range(codes.shape[0]):
        first = starts[0] + codes[row, 0]
        for model in range(models):
            out[row, model] = table[first, model]
        for column in range(1, codes.shape[1]):
            place = starts[column] + codes[row, column]
            for model in range(models):
                out[row, model] += table[place, model]


@compiled
def scatter(codes: Codes, starts: IntArray, slopes: Single, total: Single) -> None:
    """Adds every row's ``slopes`` (rows, models) to the entries of ``total`` (all codes, models) that the row has."""
    models = slopes.shape[1]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            place = starts[column] + codes[row, column]
            for model in range(models):
                total[place, model] += slopes[row, model]


@compiled
def softmax_slopes(margins: Single, caps: Single, answers: Single, classes: int) -> None:
    """Chances minus 1 for the row's own class, shortened to the row's cap, in place of ``margins`` (rows, models ×
    classes); ``caps`` (rows, models), ``answers`` (rows,) are the classes' numbers."""
    for row in range(margins.shape[0]):
        own = int(answers[row])
        for model in range(caps.shape[1]):
            first = model * classes
            highest = margins[row, first]
            for place in range(first + 1, first + classes):
                highest = max(highest, margins[row, place])
            total = np.float32(0.0)
            for place in range(first, first + classes):
                margins[row, place] = np.exp(margins[row, place] - highest)
                total += margins[row, place]
            square = np.float32(0.0)
            for place in range(first, first + classes):
                margins[row, place] /= total
                if place == first + own:
                    margins[row, place] -= np.float32(1.0)
                square += margins[row, place] ** 2
            length = np.sqrt(square)
            if length > caps[row, model]:
                shrink = caps[row, model] / length
                for place in range(first, first + classes):
                    margins[row, place] *= shrink
