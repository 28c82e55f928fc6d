"""The one private answer of a room: its budget, opened for this answer alone, and the release."""

from __future__ import annotations

from collections.abc import Callable

from dashboard.background import compute
from dashboard.poll.asked import Request
from dpcore.datasets import PrivateRows
from dpcore.ledger import Ledger, Receipt
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
    open_ledger = ledger()
    open_ledger.open_budget(
        lineage,
        epsilon=request.cost.epsilon,
        neighbours=request.neighbours,
        name=f"Poll: {request.column}"[:LONGEST_NAME],
    )
    return release(open_ledger, request_id, lineage, request, rows)
