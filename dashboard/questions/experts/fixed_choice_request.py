"""The release behind "which one choice costs least": a request made from declared facts and the person's choices."""

from __future__ import annotations

from typing import cast

from dashboard.words import fixed_choice as said
from dpcore.datasets import Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.draws import Rule
from dpcore.releases.least_cost import ONE, LeastCost
from dpcore.validate import IntArray, Neighbours

LIKELY = 0.05
"""The chance that a forecast is exceeded."""


def fixed_choice_request(
    declared: Declaration, names: tuple[str, ...], *, epsilon: float, neighbours: Neighbours, rule: str
) -> LeastCost | str:
    """The request about these columns, or why it cannot be made, in one sentence."""
    try:
        # the request refuses a rule that it cannot draw
        return LeastCost.of(declared, names, epsilon=epsilon, neighbours=neighbours, rule=cast(Rule, rule))
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def expected(request: LeastCost, scores: IntArray) -> tuple[float, float]:
    """The chance that a cheapest column is named, and how far its total is above the least on average, in shares of the
    declared range. Exact, of what was ``read``; for public data only."""
    law = request.law_of(scores)
    above = (scores.max() - scores) / ONE
    return float(law[above == 0.0].sum()), float(law @ above)
