"""The release behind "which option is most common": a request made from declared facts and the person's own choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, get_args

from dashboard.questions.selection.candidates import naming
from dashboard.words import most_common as said
from dpcore.datasets import Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases.draws import Rule
from dpcore.releases.selection import BestScore, MostCommonOption
from dpcore.validate import IntArray, Neighbours, one_of

Choice = MostCommonOption | BestScore


def most_common_request(
    declared: Declaration,
    column: str,
    *,
    rows: Callable[[], PrivateRows],
    epsilon: float,
    neighbours: Neighbours,
    rule: str,
) -> Choice | str:
    """The request about ``column``, or why it cannot be made, in one sentence.

    Of ``rows`` only what is public is asked: what the rows of a table of options are called.
    """
    drawn = known_rule(rule)
    try:
        if declared.each_row != "option":
            return MostCommonOption.of(declared, column, epsilon=epsilon, neighbours=neighbours, rule=drawn)
        named = naming(declared.columns)
        if not named:
            return said.NO_OPTIONS
        if len(named) > 1:
            return said.several_names([one.name for one in named])
        (option,) = named
        text = option.type == "text"
        return BestScore.of(
            rows().said_of_entries(declared, option.name),
            option=option.name,
            score=column,
            epsilon=epsilon,
            neighbours=neighbours,
            rule=drawn,
            candidates=rows().public_options(declared, option.name) if text else (),
            candidates_from_file=text,
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def chance_right(request: Choice, scores: IntArray) -> float:
    """The exact chance that the release names a best option, of what it ``read``: for public data only."""
    return float(request.law_of(scores)[scores == scores.max()].sum())


def known_rule(rule: str) -> Rule:
    """A rule that a release can draw by. Raises InvalidArgument."""
    return cast(Rule, one_of(get_args(Rule), rule=rule))
