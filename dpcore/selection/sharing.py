"""How much of a budget each of several like questions gets."""

from __future__ import annotations

import numpy as np

from dpcore.calibration import bounded_range_rate, zcdp_rho
from dpcore.costs import Cost
from dpcore.events import BoundedRangeEvent
from dpcore.validate import FloatArray, in_range, whole


def per_question(cost: Cost, epsilon: FloatArray, questions: int, delta: float) -> FloatArray:
    """ε of each of ``questions`` answers, so that all together are (ε, δ)-DP; same shape as ``epsilon``.

    ``cost`` is that of one answer by the mechanism in question, at any ε: what counts is its kind.

    The best that holds of: ε / questions; with ``delta`` above 0 also, for a bounded-range mechanism, its exact
    composition for questions fixed in advance (Dong, Durfee & Rogers, ICML 2020), and for any other one the
    composition of zCDP with ρ = ε²/2 each (Bun & Steinke, TCC 2016). Raises InvalidArgument.
    """
    number = whole(1, questions=questions)
    tolerated = in_range(0.0, 1.0, open_high=True, delta=delta)
    even = np.asarray(epsilon, dtype=np.float64) / number
    if number == 1 or tolerated == 0.0:
        return even
    bounded = isinstance(cost.event, BoundedRangeEvent)
    levels, place = np.unique(epsilon, return_inverse=True)
    if bounded:
        rates = [bounded_range_rate(float(level), tolerated, number) for level in levels]
    else:
        rates = [float(np.sqrt(2 * zcdp_rho(float(level), tolerated) / number)) for level in levels]
    shared: FloatArray = np.maximum(even, np.array(rates)[place])
    return shared
