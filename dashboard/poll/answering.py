"""A room's private answers: its budget, opened for this room alone, and the release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard.background import compute, places
from dashboard.poll.asked import Request
from dpcore.datasets import PrivateRows
from dpcore.ledger import Ledger, Receipt
from dpcore.release import Request as Asked
from dpcore.release import release

LONGEST_NAME = 200


def answer(
    request_id: str,
    lineage: str,
    request: Request,
    rows: PrivateRows,
    *,
    ledger: Callable[[], Ledger] = compute.rooms_ledger,
) -> Receipt:
    """Open the room's budget, of exactly this answer's cost, and release. Again with the same id: the same answer.

    Raises what ``dpcore.release`` raises.
    """
    return live(request_id, lineage, request.cost.epsilon, request, rows, name=request.column, ledger=ledger)


def live(
    request_id: str,
    lineage: str,
    epsilon: float,
    request: Asked,
    rows: Any,
    *,
    name: str = "",
    waits: Callable[[], None] | None = None,
    ledger: Callable[[], Ledger] = compute.rooms_ledger,
) -> Receipt:
    """The same for a room whose budget, of ``epsilon``, may pay for several answers. ``name`` is what the budget is
    called; the request's subject where it is left out. ``waits`` is as in ``dpcore.release``: for a room that does not
    ask again."""
    open_ledger = ledger()
    called = name or str(getattr(request, "subject", ""))
    open_ledger.open_budget(
        lineage, epsilon=epsilon, neighbours=request.neighbours, name=f"Poll: {called}"[:LONGEST_NAME]
    )
    with places.aside():
        return release(open_ledger, request_id, lineage, request, rows, waits=waits)
