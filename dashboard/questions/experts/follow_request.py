"""The release behind "whom should we follow": a request made from declared facts and the person's own choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from dashboard.questions.experts.followed import PRICE_MOVE, Reading
from dashboard.words import follow as said
from dpcore.datasets import Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.experts import catalog, stretches
from dpcore.experts.stretches import Stretch
from dpcore.releases.plays import UNIT, WAYS, PrivatePlays, Way
from dpcore.validate import FloatArray, IntArray, one_of

Publish = Literal["plays", "from_now_on"]
LIKELY = 0.05
"""The chance that a forecast is exceeded."""


def plays_request(
    declared: Declaration,
    reading: Reading,
    *,
    rows: Callable[[], PrivateRows],
    epsilon: float,
    delta: float,
    method: str,
    publish: Publish,
    unsettled: str = "",
) -> PrivatePlays | str:
    """The request that draws ``method``'s plays, or names one expert from now on; or why it cannot be made.

    Of ``rows`` only their number is asked, where it is public: of records where one is replaced by another and nobody's
    presence is hidden; ``unsettled`` says why that is not so.
    """
    kind = catalog()[method]
    named = "from_now_on" if publish == "from_now_on" else kind.about.release
    if named is None:
        return said.no_release(kind.about.name, catalog()[kind.about.nearest or "batched"].about.name)
    if declared.each_row == "record" and unsettled:
        return unsettled
    replaced = replace(declared, hidden="replace_one")
    if declared.each_row == "record" and (declared.rows_per_person > 1 or declared.id_column is not None):
        return said.rounds_private(declared.unit)
    try:
        way = cast(Way, one_of(WAYS, way=named))
        return PrivatePlays.of(
            replaced,
            reading.columns,
            rounds=reading.rounds(rows().public_size(replaced)),
            epsilon=epsilon,
            delta=delta if way == "batched" else 0.0,
            kind=reading.kind,
            outcome=reading.outcome,
            move=PRICE_MOVE,
            way=way,
            # weighted majority is the batched release with a fresh play in every round
            hold=1 if way == "batched" and method == "weighted_majority" else None,
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def expected_regret(request: PrivatePlays, units: IntArray) -> float:
    """How many points more than the best expert the drawn plays lose on average, exactly: for public data only.

    ``units`` are the losses as ``request`` reads them. From now on: how many more the named expert has lost over all
    rounds.
    """
    if request.way == "batched":
        run = (Stretch(0, request.rounds, request.held, request.rate / request.touched),)
        return float(stretches.forecast([run], units * UNIT, spread=False).regret[0])
    totals, law = units.sum(axis=0), request.law_of(units)
    if request.way == "from_now_on":
        return float(law[0] @ (totals - totals.min())) * UNIT
    return float((law * _sums(units, request.starts)).sum() - totals.min()) * UNIT


def chance_right(request: PrivatePlays, units: IntArray) -> float:
    """The chance that one who lost least is named from now on, exactly: for public data only."""
    totals = units.sum(axis=0)
    return float(request.law_of(units)[0][totals == totals.min()].sum())


def _sums(units: IntArray, starts: IntArray) -> FloatArray:
    """What each expert loses while each play is held, shape (plays, experts)."""
    return np.add.reduceat(units, starts, axis=0).astype(np.float64)
