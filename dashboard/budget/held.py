"""What a session holds for the Budget page and the tracker."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.background.held import ANSWERS
from dashboard.budget.kinds import Wish
from dashboard.session import Slot
from dpcore.accounting import RunningTotal
from dpcore.memory import Memory

COMPOSED_ROOM = 8 << 20
"""Bytes: for each charge a hash and a number for each rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One session's composed state of one list of receipts, so that one more answer adds one step."""

    hashes: tuple[str, ...]
    delta: float
    total: RunningTotal
    rows: tuple[tuple[int, str, float], ...]


DRAWN: Slot[dict[str, str]] = Slot("_drawn", dict, own=lambda _: None, stays=True)
"""By request: the name of the table (``Source.drawn_from``) from which this session drew its answer."""
DRAWN_BEFORE: Slot[dict[str, str]] = Slot("_drawn_before", dict, stays=True)
"""The same of the file that was put aside and can be brought back."""
FOUND_RECEIPT: Slot[str] = Slot("_found_receipt", str)
"""The hash of the charge that was looked up: what is on its receipt is asked for each time it is shown."""
SHOWN_RECEIPTS: Slot[tuple[str, ...]] = Slot("_shown_receipts", tuple)
"""Ids of the charges in the table, in the order of its rows."""
COMPOSED: Slot[Memory] = Slot("_composed", lambda: Memory(1, room=COMPOSED_ROOM, within=ANSWERS))
"""What the charges so far add up to under each rule, so that one more is not composed anew."""
VISITOR: Slot[str | None] = Slot("_visitor", lambda: None)
"""The random token of this visitor, by which their practice budgets are their own."""
PLAN: Slot[tuple[Wish, ...]] = Slot("_plan", tuple)
