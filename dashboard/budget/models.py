"""Which private models were drawn about these people, as the ledger holds them for who is at the page."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.background import compute, this_run
from dashboard.budget.drawn import of_this
from dashboard.case import DrawnModel, Source
from dashboard.widgets.answer import when
from dpcore.errors import DpcoreError
from dpcore.ledger import Receipt
from dpcore.training.model import KIND

NEWEST = 100
"""Models that are offered."""


def drawn_models(source: Source) -> tuple[DrawnModel, ...]:
    """The models in the answers of this budget since its last reset, the latest first, however many other answers
    there are; none where it is closed."""
    lineage = source.lineage
    if lineage is None:
        return ()

    def found() -> tuple[DrawnModel, ...]:
        try:
            receipts = compute.ledger().history(lineage, newest=NEWEST, kind=KIND)
            ever = compute.ledger().history(lineage, newest=2, kind=KIND, every_generation=True)
        except DpcoreError:
            return ()  # nothing was drawn yet, or the sidebar says that the ledger is closed
        return tuple(
            DrawnModel(
                receipt=one.journal_hash,
                answer=one.answer,
                when=when(one),
                same=of_this(source, one),
                alone=len(ever) == 1,
            )
            for one in reversed(receipts)
            if _is_model(one)
        )

    return this_run.once(("models", lineage, source.drawn_from), found)


def _is_model(receipt: Receipt) -> bool:
    return isinstance(receipt.answer, Mapping) and receipt.answer.get("kind") == KIND
