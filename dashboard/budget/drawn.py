"""Which answers were drawn from the table that is there, as far as this session knows.

The ledger keeps answers by people and question, and of the table nothing: a mark of it would tell whoever guesses the
whole table that they are right. So a session notes of which table it drew each answer. What was drawn before, or
elsewhere, may be about another file of these people, and is never shown as this table's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dashboard.budget.held import DRAWN
from dashboard.case import Source
from dpcore.ledger import Receipt


def noting(request_id: str, source: Source) -> Callable[[], None]:
    """To be called once its answer was drawn from the table of ``source``: from any thread, which may know of no
    session, and after this session's file is gone, which then notes nothing."""
    notes, table = DRAWN.once(), source.drawn_from

    def note() -> None:
        notes[request_id] = table

    return note


def of_this(source: Source, receipt: Receipt) -> bool:
    """Whether the answer is known to be drawn from the table of ``source``; a sample has one table for good."""
    return not source.drawn_from or DRAWN.get().get(receipt.request_id) == source.drawn_from


def apart(source: Source, receipts: Sequence[Receipt]) -> tuple[list[Receipt], list[Receipt]]:
    """Those that were drawn from this table, and the others."""
    mine = [one for one in receipts if of_this(source, one)]
    return mine, [one for one in receipts if not of_this(source, one)]
