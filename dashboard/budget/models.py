"""Which private models were drawn about these people, as the ledger holds them for who is at the page.

Which there are is looked up once for each state of the record, without the models themselves: a hundred of them may be
400 MB. One is read when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dashboard import words
from dashboard.background import compute, this_run
from dashboard.budget.drawn import of_this
from dashboard.case import DrawnModel, Source
from dashboard.question import CannotAsk
from dashboard.widgets.answer import when
from dashboard.words import hits as said
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
            receipts, alone = _listed(lineage)
        except DpcoreError:
            return ()  # nothing was drawn yet, or the sidebar says that the ledger is closed
        return tuple(
            DrawnModel(
                receipt=one.journal_hash,
                answer=partial(_answer, one.request_id),
                when=when(one),
                same=of_this(source, one.request_id),
                alone=alone,
            )
            for one in receipts
        )

    return this_run.once(("models", lineage, source.drawn_from), found)


def _listed(lineage: str) -> tuple[list[Receipt], bool]:
    """Their receipts without answers, the latest first, as of the last record of these people, and whether no more than
    one was ever drawn. Raises LedgerError."""
    ledger = compute.ledger()

    def listed(newest: int, *, ever: bool) -> list[Receipt]:
        return ledger.history(lineage, newest=newest, kind=KIND, every_generation=ever, answers=False)

    key = ("models", lineage, ledger.version(lineage), compute.whose())
    return compute.memory(own=True)(key, lambda: (listed(NEWEST, ever=False)[::-1], len(listed(2, ever=True)) < 2))


def _answer(request_id: str) -> Mapping[str, Any]:
    """Raises CannotAsk."""
    try:
        found = compute.ledger().receipt(request_id)
    except DpcoreError as error:
        raise CannotAsk(words.sentence(error)) from None
    if found is None or found.answer is None:
        raise CannotAsk(said.GONE)
    answer: Mapping[str, Any] = found.answer
    return answer
