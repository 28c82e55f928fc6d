"""How the best possible excess risk grows and falls: rates to draw beside the curves."""

from __future__ import annotations

import numpy as np

from dpcore.validate import FloatArray, one_of

RATES = ("rate_approximate", "rate_pure", "rate_sampling")


def rate(name: str, *, d: int, epsilon: FloatArray, n: FloatArray, delta: float) -> FloatArray:
    """The order of the best possible excess risk for 1-Lipschitz losses over the unit ball, constants left out.

    ``rate_approximate`` √(d ln(1/δ))/(εn) and ``rate_pure`` d/(εn) are for the rows at hand (Bassily, Smith &
    Thakurta, FOCS 2014); ``rate_sampling`` 1/√n is what drawing the people costs anyone. Never above 1.
    """
    one_of(RATES, rate=name)
    if name == "rate_sampling":
        return np.asarray(np.minimum(1.0, 1.0 / np.sqrt(n)))
    top = np.sqrt(d * np.log(1.0 / delta)) if name == "rate_approximate" else float(d)
    return np.asarray(np.minimum(1.0, top / (epsilon * n)))
