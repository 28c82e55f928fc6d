"""Whether a receipt that somebody brings is one of this ledger's, by the journal's own lines, and what they say."""

from __future__ import annotations

import json
from typing import Any

from dpcore.errors import InvalidArgument, LedgerUnsound
from dpcore.ledger import history
from dpcore.ledger.journal import DAMAGED
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record, canonical
from dpcore.ledger.renewal import was_receipt
from dpcore.ledger.store import Store
from dpcore.ledger.words import label


def confirmed(store: Store, asked: Receipt | str) -> Receipt | None:
    """See ``Ledger.confirmed``."""
    try:
        wanted = json.loads(asked, object_pairs_hook=_each_once) if isinstance(asked, str) else asked.to_dict()
        request_id, answer_hash, said = wanted["request_id"], wanted["answer_hash"], canonical(wanted)
        _ = wanted["journal_hash"]
        label(request_id=request_id)  # which no other text can be
    except (ValueError, TypeError, KeyError, RecursionError, InvalidArgument):  # RecursionError for endless nesting
        return None
    with store.reading() as connection:
        found = history.of_request(connection, request_id)
    # a receipt from before its answer was stored is as good as one from after
    answer = found.get("answer") if answer_hash is not None else None
    if "charge" not in found or (answer is None) != (answer_hash is None):
        return None
    for record in (found["charge"], answer):
        if record is not None:
            _must_be_noted(store, record)
    now = Receipt.of(found["charge"], answer, begun="draw" in found)
    # as text in one form: to Python true is 1
    if canonical(now.to_dict()) == said:
        return now
    names = ("lineage", "journal_hash", "answer_hash")
    then = {**now.to_dict(), **{name: wanted.get(name) for name in names}}
    return now if canonical(then) == said and was_receipt(store.key, wanted, found["charge"], answer) else None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """What JSON says of one thing. A name that stands in it twice says two things: one to this program, the other to
    a person, or to another program. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _must_be_noted(store: Store, record: Record) -> None:
    """That this computer's journal has this record, in the one line where it stands. Raises LedgerUnsound."""
    if store.journal is None:
        return
    noted = store.journal.at(record.seq)
    if noted is None:
        with store.writing():  # another computer has written: this one's journal follows, as at any write
            pass
        noted = store.journal.at(record.seq)
    if noted != record:
        raise LedgerUnsound(DAMAGED)
