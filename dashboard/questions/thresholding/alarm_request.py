"""The release behind an alarm: a request made from declared facts and the person's own entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dashboard.questions.thresholding.watched import Watched, naming
from dashboard.words import alarm as said
from dpcore.datasets import Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun
from dpcore.thresholding.methods import family
from dpcore.thresholding.noise import offset_of
from dpcore.validate import Neighbours


def alarm_request(
    declared: Declaration,
    watched: Watched,
    *,
    rows: Callable[[], PrivateRows],
    line: float,
    epsilon: float,
    neighbours: Neighbours,
    method: str,
    limit: int,
    beta: float,
) -> AlarmRun | str:
    """The request about ``watched`` by ``method``, or why it cannot be made, in one sentence.

    Of ``rows`` only what is public is asked: how many steps or options there are, and what they are called.
    """
    entries: dict[str, Any] = {}
    try:
        if watched.kind == "column":
            named = naming(declared)
            if len(named) > 1:
                return said.several_names(named, declared.each_row)
            declared = rows().said_of_entries(declared, named[0] if named else None)
            entries = {
                "entries": rows().public_size(declared),
                "labels": rows().public_names(declared, *named) if named else (),
                "named_by": named[0] if named else None,
            }
        # how a method moves the line depends on how many answers there are and on how far one person moves one
        plain = AlarmRun.of(
            declared,
            watched.column,
            threshold=line,
            epsilon=epsilon,
            where=watched.yes or None,
            limit=limit,
            neighbours=neighbours,
            **entries,
        )
        fitted = family(method, plain.entries, limit, beta)
        if fitted.way.monotonic and not plain.one_way:
            return said.NOT_ONE_WAY
        return replace(
            plain,
            noise=fitted.way.noise,
            threshold_share=fitted.share,
            offset=plain.units.offset(offset_of(fitted.offset_factor, plain.sensitivity, epsilon)),
            both_ways=not fitted.way.monotonic,
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))
