"""What tells of answers and budgets as files: made when they are clicked, of what whoever is here may see then.

A page that was drawn before a share ended still offers its files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dashboard.background import compute
from dashboard.widgets.download import download
from dpcore.errors import DpcoreError, LedgerError, UnknownLineage
from dpcore.ledger import Ledger, Receipt
from dpcore.ledger.seal import LARGEST

GONE = (
    "These charges, or their budget, may not be seen here any more, or the ledger cannot be reached; load the page "
    "anew."
)


def receipt_file(label: str, receipt: Receipt, *, key: str) -> None:
    """A button that gives one receipt."""
    download(
        label,
        seen_still((receipt,), lambda: readable_again(receipt.to_json())),
        f"receipt-{receipt.request_id[:8]}.json",
        "application/json",
        icon=":material/receipt_long:",
        key=f"{key}-json",
    )


def readable_again(text: str) -> str:
    """A receipt's JSON, on one line where its indentation alone would make it too large to be brought back."""
    return text if len(text.encode()) <= LARGEST else re.sub("\n *", "", text)


def seen_still(
    receipts: Sequence[Receipt], make: Callable[[], str | bytes], *, budgets: Sequence[str] = ()
) -> Callable[[], str | bytes]:
    """``make``, which raises LedgerError where the ledger of whoever is here shows one of these receipts, or a budget
    of these lineages, no longer."""
    try:
        ledger: Ledger | None = compute.ledger()  # a click has no page that says who asks
    except DpcoreError:
        ledger = None

    def made() -> str | bytes:
        if ledger is None or not (_shows(ledger, receipts) and all(_has(ledger, lineage) for lineage in budgets)):
            raise LedgerError(GONE)
        return make()

    return made


def _has(ledger: Ledger, lineage: str) -> bool:
    try:
        ledger.budget(lineage)
    except UnknownLineage:
        return False
    return True


def _shows(ledger: Ledger, receipts: Sequence[Receipt]) -> bool:
    if not receipts:
        return True
    found = ledger.find(receipts[0].journal_hash) if len(receipts) == 1 else ledger.receipts()
    return {one.request_id for one in receipts} <= {one.request_id for one in found}
