"""How the best possible excess risk grows and falls: rates to draw beside the curves."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from dpcore.about import About
from dpcore.validate import FloatArray, one_of

RATES = MappingProxyType(
    {
        "rate_approximate": About(
            name="best rate, (ε, δ)",
            plain="how fast the best possible method gets better",
            how=(
                "The order in which the smallest possible loss of any private method falls with more rows or more ε, "
                "when a small chance of failure is allowed. Its height means nothing."
            ),
            formula=r"\sqrt{d \ln(1/\delta)} / (\varepsilon n)",
            source="Bassily, Smith and Thakurta, FOCS 2014.",
        ),
        "rate_pure": About(
            name="best rate, pure ε",
            plain="the same, for a promise that never fails",
            how=(
                "The order in which the smallest possible loss of any private method falls with more rows or more ε, "
                "when no chance of failure is allowed. Its height means nothing."
            ),
            formula=r"d / (\varepsilon n)",
            source="Bassily, Smith and Thakurta, FOCS 2014.",
        ),
        "rate_sampling": About(
            name="rate of sampling",
            plain="what having only these people costs anyone",
            how="The order in which the loss falls with more rows when nothing is hidden. Its height means nothing.",
            formula=r"1 / \sqrt{n}",
            source="The error of drawing n people.",
        ),
    }
)


def rate(name: str, *, d: int, epsilon: FloatArray, n: FloatArray, delta: float) -> FloatArray:
    """The order of the best possible excess risk for 1-Lipschitz losses over the unit ball, constants left out.

    ``rate_approximate`` √(d ln(1/δ))/(εn) and ``rate_pure`` d/(εn) are for the rows at hand (Bassily, Smith &
    Thakurta, FOCS 2014); ``rate_sampling`` 1/√n is what drawing the people costs anyone. Never above 1.
    """
    one_of(tuple(RATES), rate=name)
    if name == "rate_sampling":
        return np.asarray(np.minimum(1.0, 1.0 / np.sqrt(n)))
    top = np.sqrt(d * np.log(1.0 / delta)) if name == "rate_approximate" else float(d)
    return np.asarray(np.minimum(1.0, top / (epsilon * n)))
