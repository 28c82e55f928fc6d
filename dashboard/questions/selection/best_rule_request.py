"""The release behind the best simple rule: a request made from declared facts and the person's own choices."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.questions.selection.most_common_request import known_rule
from dashboard.words import best_rule as said
from dpcore.datasets import Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import BestRule
from dpcore.validate import IntArray, Neighbours


def best_rule_request(
    declared: Declaration,
    target: str,
    columns: Sequence[str],
    *,
    cuts: int,
    epsilon: float,
    neighbours: Neighbours,
    rule: str,
) -> BestRule | str:
    """The request for a rule that looks at ``columns``, or why it cannot be made, in one sentence."""
    try:
        return BestRule.of(
            declared,
            columns,
            target=target,
            cuts=cuts,
            epsilon=epsilon,
            neighbours=neighbours,
            rule=known_rule(rule),
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def expected_errors(request: BestRule, scores: IntArray) -> float:
    """How many mistakes the released rule makes on average over its exact law, of what was ``read``: for public data
    only."""
    return float(request.law_of(scores) @ -scores)
