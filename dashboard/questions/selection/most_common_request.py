"""The release behind "which option is most common": a request made from declared facts and the person's own choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np

from dashboard import words
from dashboard.questions.selection.candidates import candidates
from dashboard.words import most_common as said
from dpcore.datasets import Schema, Table
from dpcore.errors import InvalidArgument
from dpcore.releases.draws import Rule
from dpcore.releases.selection import BestScore, MostCommonOption
from dpcore.validate import Neighbours, one_of

LONGEST_SUBJECT = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """A request, what it is drawn from, and how often it names a best option there (for public data only)."""

    request: MostCommonOption | BestScore
    data: Callable[[], Any]

    def chance_right(self) -> float:
        """The exact chance that the release names a best option of its data."""
        data = self.data()
        law, scores = self.request.law(data), self.request.scores(data)
        return float(law[scores == scores.max()].sum())


def most_common_request(
    declared: Schema,
    column: str,
    *,
    released: Callable[[], Table],
    epsilon: float,
    neighbours: Neighbours,
    rule: str,
) -> Made | str:
    """The request about ``column``, or why it cannot be made, in one sentence."""
    subject = words.visible(column, LONGEST_SUBJECT)
    try:
        if declared.each_row == "option":
            found = candidates(released(), column)
            whole = bool((found.scores == np.rint(found.scores)).all()) and found.sensitivity == round(
                found.sensitivity
            )
            scores = BestScore(
                epsilon=epsilon,
                candidates=found.names,
                sensitivity=found.sensitivity,
                neighbours=neighbours,
                monotonic=found.counted and neighbours == "add_remove",
                resolution=None if whole else found.sensitivity / 1000,
                smallest=found.flipped,
                rule=known_rule(rule),
                subject=subject,
            )
            return Made(request=scores, data=lambda: found.shown)
        known = declared.column(column)
        request = MostCommonOption(
            epsilon=epsilon,
            options=("no", "yes") if known.type == "yes/no" else known.categories,
            neighbours=neighbours,
            rows_per_person=declared.rows_per_person,
            rule=known_rule(rule),
            subject=subject,
        )
        return Made(request=request, data=lambda: texts(released(), column))
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def texts(table: Table, column: str) -> list[str]:
    """A column of categories or yes/no as text, one entry per row, "" where missing."""
    options = table.options(column)
    return [options[code] if code >= 0 else "" for code in table.codes(column)]


def known_rule(rule: str) -> Rule:
    """A rule that a release can draw by. Raises InvalidArgument."""
    return cast(Rule, one_of(get_args(Rule), rule=rule))
