"""The release behind the best simple rule: a request made from declared facts and the person's own choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.questions.selection.most_common_request import known_rule, texts
from dashboard.words import best_rule as said
from dpcore.datasets import Schema, Table
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import BestRule
from dpcore.selection.rules import RuleClass
from dpcore.validate import Neighbours


def best_rule_request(
    declared: Schema, target: str, rules: RuleClass, *, epsilon: float, neighbours: Neighbours, rule: str
) -> BestRule | str:
    """The request for one of ``rules``, or why it cannot be made, in one sentence."""
    try:
        return BestRule(
            epsilon=epsilon,
            columns=rules.columns,
            target=target,
            neighbours=neighbours,
            rows_per_person=declared.rows_per_person,
            rule=known_rule(rule),
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def rows_of(request: BestRule, table: Table) -> dict[str, Any]:
    """What the request is drawn from: its columns on the rows without gaps."""
    names = [column.column for column in request.columns]
    rows = table.complete(*names, request.target)
    found: dict[str, Any] = {request.target: table.codes(request.target)[rows] == 1}
    for name in names:
        if table.schema.column(name).is_numeric:
            found[name] = table.frame[name].to_numpy(np.float64, na_value=np.nan)[rows]
        else:
            found[name] = [text for text, kept in zip(texts(table, name), rows, strict=True) if kept]
    return found


def expected_errors(request: BestRule, data: dict[str, Any]) -> float:
    """The share of people whom the released rule gets wrong, on average over its exact law."""
    law, errors = request.law(data), -request.scores(data)
    return float(law @ errors) / max(1, int(np.asarray(data[request.target]).size))
