"""Whose data a receipt is about, in words that name no budget: who is handed a receipt may not see whose it is."""

from __future__ import annotations

from dpcore.ledger import accounts, history, practice, rooms
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.store import Store

ROOM = "what the people in one room entered"
PEOPLE = "real people's data"
NO_SAMPLE = "practice, and about nobody's data"
"""Of practice that a caller of the engine opened under a name of its own."""


def about(store: Store, receipt: Receipt) -> str:
    """See ``Ledger.about``."""
    with store.reading() as connection:
        charge = history.of_request(connection, receipt.request_id).get("charge")
        if charge is None or charge.hash != receipt.journal_hash:  # of no name that was guessed anything is said
            return ""
        return told(charge.lineage, accounts.get(connection, charge.lineage).practice)


def told(lineage: str, is_practice: bool) -> str:
    """Whose data the answers of a budget are about; the budget itself says whether it is for practice."""
    if is_practice:
        sample = practice.sample_of(lineage)
        return f"practice about the sample “{sample}”, which is open to everybody" if sample else NO_SAMPLE
    return ROOM if lineage.startswith(rooms.START) else PEOPLE
