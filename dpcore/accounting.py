"""What releases cost together: basic, advanced, zCDP, bounded range, Rényi (RDP) and privacy loss (PLD) composition.

Each accountant is a valid upper bound; several costs less than others for the same releases. Which ones may be used
while later questions depend on earlier answers is in ``VALID_WHEN``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import MappingProxyType
from typing import Literal

from dpcore.conversions import (
    bounded_range_delta,
    bounded_range_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    zcdp_epsilon,
)
from dpcore.costs import Cost
from dpcore.errors import UnsupportedEvent
from dpcore.running_total import ACCOUNTANTS, GRID, RunningTotal
from dpcore.validate import one_of, positive

__all__ = [
    "ACCOUNTANTS",
    "VALID_WHEN",
    "Cost",
    "RunningTotal",
    "bounded_range_delta",
    "bounded_range_epsilon",
    "compose",
    "gaussian_delta",
    "gaussian_epsilon",
    "zcdp_epsilon",
]

VALID_WHEN: MappingProxyType[str, Literal["adaptive", "planned"]] = MappingProxyType(
    {
        "basic": "adaptive",
        "advanced": "planned",
        "zcdp": "adaptive",
        "bounded_range": "planned",
        "rdp": "adaptive",
        "pld": "planned",
    }
)
"""``adaptive``: also when each question and its ε are chosen after seeing earlier answers, up to a cap.
``planned``: only when the list of releases and their ε was fixed in advance (for bounded range: the data too)."""


def compose(
    costs: Iterable[Cost], delta: float, *, accountants: Iterable[str] | None = None, grid: float = GRID
) -> dict[str, float]:
    """ε of all ``costs`` together at total ``delta``: one number per accountant that applies, and ``best``.

    Every number is a valid ε for the list fixed in advance; see ``VALID_WHEN`` for lists that grow as answers come in.
    With ``accountants`` only those are asked for, and one that does not cover the releases is refused with
    UnsupportedEvent rather than left out. All costs must be about the same neighbour relation. ``grid`` is the
    spacing of privacy losses for ``pld``. Raises InvalidArgument.
    """
    wanted = None if accountants is None else [one_of(ACCOUNTANTS, accountants=name) for name in accountants]
    counted: dict[Cost, int] = {}
    for cost in costs:
        counted[cost] = counted.get(cost, 0) + 1
    total = RunningTotal(grid=positive(grid=grid), kept=frozenset(ACCOUNTANTS if wanted is None else wanted))
    for cost, times in counted.items():
        total = total.add(cost, times)
    found = total.epsilons(delta)
    for name in wanted or ():
        if name not in found:
            raise UnsupportedEvent(f"the {name} accountant does not cover these releases at this delta")
    return {**found, "best": min(found.values(), default=math.inf)}
