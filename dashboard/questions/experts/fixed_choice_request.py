"""The release behind "which one choice costs least": a request made from declared facts and the person's choices."""

from __future__ import annotations

from dashboard.questions.selection.most_common_request import known_rule
from dashboard.words import fixed_choice as said
from dpcore.datasets import Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases.least_cost import ONE, LeastCost
from dpcore.validate import Neighbours

LIKELY = 0.05
"""The chance that a forecast is exceeded."""


def fixed_choice_request(
    declared: Declaration, names: tuple[str, ...], *, epsilon: float, neighbours: Neighbours, rule: str
) -> LeastCost | str:
    """The request about these columns, or why it cannot be made, in one sentence."""
    try:
        return LeastCost.of(declared, names, epsilon=epsilon, neighbours=neighbours, rule=known_rule(rule))
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def expected(request: LeastCost, rows: PrivateRows) -> tuple[float, float]:
    """The chance that a cheapest column is named, and how far its total is above the least on average, in shares of the
    declared range. Exact; for public data only."""
    scores, law = request.read(rows), request.law(rows)
    above = (scores.max() - scores) / ONE
    return float(law[above == 0.0].sum()), float(law @ above)
