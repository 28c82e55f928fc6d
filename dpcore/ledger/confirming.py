"""Whether a receipt that somebody brings is one of this ledger's, by the journal's own lines, and what they say."""

from __future__ import annotations

import json
from decimal import Decimal
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
    if not isinstance(asked, (Receipt, str)):
        raise InvalidArgument("receipt", "must be a Receipt or its JSON")
    try:
        wanted = _read(asked) if isinstance(asked, str) else asked.to_dict()
        request_id, answer_hash, _ = wanted["request_id"], wanted["answer_hash"], wanted["journal_hash"]
        canonical(wanted)  # which takes nothing that is no number, nor half a letter
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
    if _says_the_same(now.to_dict(), wanted):
        return now
    names = ("lineage", "journal_hash", "answer_hash")
    then = {**now.to_dict(), **{name: wanted.get(name) for name in names}}
    return now if _says_the_same(then, wanted) and was_receipt(store.key, wanted, found["charge"], answer) else None


def _read(text: str) -> Any:
    """What a receipt's text says, with the mark in front that some editors write. Raises ValueError."""
    return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_each_once, parse_float=_to_the_last_digit)


def _to_the_last_digit(text: str) -> float:
    """The number that a text says, which says no other to whoever reads more digits of it than a float keeps. Raises
    ValueError. Programs write as many digits as tell a number from every other, or seventeen."""
    number = float(text)
    try:
        said = Decimal(text)
    except ArithmeticError:  # an exponent that no number has
        raise ValueError("no number") from None
    if said not in (Decimal(repr(number)), Decimal(f"{number:.17g}")):
        raise ValueError("a number that is another when it is read")
    return number


def _says_the_same(kept: Any, brought: Any) -> bool:
    """Whether two values of JSON are the same, their numbers however they are written: programs that set a receipt out
    anew write 0.0 as 0 and 1e-06 as 0.000001. To Python true is 1, which it is not here."""
    if isinstance(kept, dict):
        same = isinstance(brought, dict) and kept.keys() == brought.keys()
        return same and all(_says_the_same(value, brought[name]) for name, value in kept.items())
    if isinstance(kept, list):
        same = isinstance(brought, list) and len(kept) == len(brought)
        return same and all(map(_says_the_same, kept, brought))
    if isinstance(kept, (int, float)) and not isinstance(kept, bool):
        return isinstance(brought, (int, float)) and not isinstance(brought, bool) and kept == brought
    return type(kept) is type(brought) and bool(kept == brought)


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
