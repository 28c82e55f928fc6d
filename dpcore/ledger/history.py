"""Queries on the chain of records within a transaction: receipts, and what was asked under a request id."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, bindparam, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import schema
from dpcore.ledger.journal import Journal
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Kind, Record, cost_to_json
from dpcore.ledger.store import Store
from dpcore.ledger.verify import stored_records

_OF_REQUEST = select(schema.records).where(
    schema.records.c.request_id == bindparam("asked"), schema.records.c.kind.in_(("charge", "answer"))
)

_IS_CHARGED = select(schema.records.c.seq).where(
    schema.records.c.request_id == bindparam("asked"), schema.records.c.kind == "charge"
)


def records(connection: Connection, kind: Kind, lineage: str | None) -> list[Record]:
    """Records of one kind, of one lineage or all, oldest first."""
    query = select(schema.records).where(schema.records.c.kind == kind).order_by(schema.records.c.seq)
    if lineage is not None:
        query = query.where(schema.records.c.lineage == lineage)
    return [Record(**row) for row in connection.execute(query).mappings()]


def is_charged(connection: Connection, request_id: str) -> bool:
    """Whether a charge was made for this request."""
    return connection.execute(_IS_CHARGED, {"asked": request_id}).scalar() is not None


def receipt(connection: Connection, request_id: str) -> Receipt | None:
    """The receipt of one request, with its answer once there is one; None when it was not charged."""
    rows = connection.execute(_OF_REQUEST, {"asked": request_id}).mappings()
    found = {row["kind"]: Record(**row) for row in rows}
    return Receipt.of(found["charge"], found.get("answer")) if "charge" in found else None


def receipts(connection: Connection, lineage: str | None) -> list[Receipt]:
    """Every receipt of one lineage or of all, oldest first."""
    answers = {record.request_id: record for record in records(connection, "answer", lineage)}
    charges = records(connection, "charge", lineage)
    return [Receipt.of(charge, answers.get(charge.request_id)) for charge in charges]


def same(earlier: Receipt, lineage: str, body: dict[str, Any]) -> Receipt:
    """``earlier`` if it was for this very question. Raises InvalidArgument."""
    asked = [lineage, body["what"], body["mechanism"], body["neighbours"], body["question"], body["cost"]]
    kept = [earlier.lineage, earlier.what, earlier.mechanism, earlier.neighbours, earlier.question]
    if asked != [*kept, cost_to_json(earlier.asked_cost)]:
        raise InvalidArgument("request_id", "was used for a different question; use a new one for each question")
    return earlier


def confirms(store: Store, asked: Receipt | str) -> bool:
    """See ``Ledger.confirms``."""
    try:
        wanted = json.loads(asked) if isinstance(asked, str) else asked.to_dict()
        request_id, charge_hash, answer_hash = (wanted[name] for name in ("request_id", "journal_hash", "answer_hash"))
    except (ValueError, TypeError, KeyError, RecursionError):  # the last for JSON that is nested without end
        return False
    found: dict[str, Record] = {}

    def keep(record: Record) -> None:
        if record.request_id == request_id:
            found[record.kind] = record

    with store.reading() as connection:
        if store.journal is None:
            for record in stored_records(connection):
                keep(record)
        else:
            Journal(store.journal.path).read_on(keep)
    if "charge" not in found or found["charge"].hash != charge_hash:
        return False
    # a receipt from before its answer was stored is as good as one from after
    answer = found.get("answer") if answer_hash is not None else None
    return Receipt.of(found["charge"], answer).to_dict() == wanted
