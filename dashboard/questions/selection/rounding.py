"""One mechanism behind many: the exponential mechanism as noisy rounding, over the Laplace mechanism's law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.blocks import Ask, Block, Picture, Text
from dashboard.charts.laws import curves
from dashboard.charts.theme import palette
from dashboard.controls import Choice, Number, Read
from dashboard.words import rounding as said
from dpcore.selection import NoisyRounding

REACH = 12.0  # scales of the wider law to each side
SET = Choice(
    key="rounding_set", label=said.SET, options=("all", "whole"), names=said.SETS, default="all", look="buttons"
)
TRUTH = Number(key="rounding_answer", label=said.TRUTH, default=50.0, low=0.0, high=100.0, whole=True)


def blocks(epsilon: float, read: Read) -> Sequence[Block]:
    """The two laws at one ε, the factor that the algebra loses, and what an infinite set of answers changes."""
    finite, truth = read(SET, "tab") == "whole", int(read(TRUTH, "tab"))
    mechanism = (
        NoisyRounding(epsilon=epsilon, low=0.0, high=100.0, step=1.0) if finite else NoisyRounding(epsilon=epsilon)
    )
    if finite:
        x = mechanism.outputs
        lines = {"em": 100 * mechanism.probabilities(truth), "laplace": 100 * mechanism.laplace_probabilities(truth)}
    else:
        half = min(REACH * mechanism.scale, 50.0 * max(1.0, mechanism.scale))
        x = np.linspace(truth - half, truth + half, 401)
        lines = {"em": mechanism.density(truth, x), "laplace": mechanism.laplace_density(truth, x)}
    return [
        Text(said.INTRODUCTION),
        Ask((SET, TRUTH)),
        Picture(
            key="selection-rounding",
            figure=lambda dark: curves(
                x,
                lines,
                said.LINES,
                {"em": palette(dark).series[1], "laplace": palette(dark).series[2]},
                x_title=said.PUBLISHED,
                y_title=said.Y_TITLES[finite],
                marks={float(truth): said.TRUE},
                steps=["em", "laplace"] if finite else (),
                dark=dark,
            ),
            alt=said.alt(truth, epsilon, mechanism.scale, mechanism.laplace_scale),
        ),
        Text(said.lost_factor(mechanism.scale, mechanism.laplace_scale)),
        Text(said.infinite(mechanism.realised_epsilon(truth), epsilon)),
    ]
