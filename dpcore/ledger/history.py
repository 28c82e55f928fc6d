"""Queries on the chain of records within a transaction: receipts, and what was asked under a request id."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, bindparam, func, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, schema
from dpcore.ledger.journal import Journal
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Kind, Record, canonical, cost_to_json
from dpcore.ledger.renewal import was_receipt
from dpcore.ledger.store import Store
from dpcore.ledger.verify import stored_records

_OF_REQUEST = select(schema.records).where(
    schema.records.c.request_id == bindparam("asked"), schema.records.c.kind.in_(("charge", "draw", "answer"))
)

_IS_CHARGED = select(schema.records.c.seq).where(
    schema.records.c.request_id == bindparam("asked"), schema.records.c.kind == "charge"
)
_ANSWERS, _DRAWS = schema.records.alias("answers"), schema.records.alias("draws")


def _charges() -> Select[Any]:
    """Charges with their answers and the beginnings of their draws, where there are any."""
    charge = schema.records.c
    joined: FromClause = schema.records
    for other, kind in ((_ANSWERS, "answer"), (_DRAWS, "draw")):
        joined = joined.outerjoin(other, and_(other.c.request_id == charge.request_id, other.c.kind == kind))
    answer = [_ANSWERS.c[name].label(f"answer_{name}") for name in Record.__slots__]
    return (
        select(schema.records, *answer, _DRAWS.c.seq.label("draw_seq"))
        .select_from(joined)
        .where(charge.kind == "charge")
    )


_CHARGES = _charges()


def records(connection: Connection, kind: Kind, lineage: str | None) -> list[Record]:
    """Records of one kind, of one lineage or all, oldest first."""
    query = select(schema.records).where(schema.records.c.kind == kind).order_by(schema.records.c.seq)
    if lineage is not None:
        query = query.where(schema.records.c.lineage == lineage)
    return [Record(**row) for row in connection.execute(query).mappings()]


def linked_by(connection: Connection, subject: str) -> set[str]:
    """The marks of the files that this person linked with some people."""
    bodies = select(schema.records.c.body).where(
        schema.records.c.kind == "link", _says(connection, f'"by":{canonical(subject)}')
    )
    return {str(json.loads(body)["fingerprint"]) for body in connection.execute(bodies).scalars()}


def is_charged(connection: Connection, request_id: str) -> bool:
    """Whether a charge was made for this request."""
    return connection.execute(_IS_CHARGED, {"asked": request_id}).scalar() is not None


def receipt(connection: Connection, request_id: str) -> Receipt | None:
    """The receipt of one request, with its answer once there is one; None when it was not charged."""
    rows = connection.execute(_OF_REQUEST, {"asked": request_id}).mappings()
    found = {row["kind"]: Record(**row) for row in rows}
    if "charge" not in found:
        return None
    return Receipt.of(found["charge"], found.get("answer"), begun="draw" in found)


def receipts(
    connection: Connection, *chosen: ColumnElement[bool], newest: int | None = None, after: int = 0
) -> list[Receipt]:
    """Receipts of the charges that are ``chosen``, oldest first; only the ``newest`` so many, or those ``after``."""
    seq = schema.records.c.seq
    query = _CHARGES.where(*chosen, seq > after).order_by(seq.desc())
    rows = connection.execute(query if newest is None else query.limit(newest)).mappings()
    return [_read(dict(row)) for row in rows][::-1]


def _read(row: dict[str, Any]) -> Receipt:
    charge = Record(**{name: row[name] for name in Record.__slots__})
    answer = None
    if row["answer_seq"] is not None:
        answer = Record(**{name: row[f"answer_{name}"] for name in Record.__slots__})
    return Receipt.of(charge, answer, begun=row["draw_seq"] is not None)


def count(connection: Connection, *chosen: ColumnElement[bool]) -> int:
    """How many charges are ``chosen``."""
    query = select(func.count()).select_from(schema.records).where(schema.records.c.kind == "charge", *chosen)
    return int(connection.execute(query).scalar_one())


def last(connection: Connection, lineage: str | None) -> int:
    """The number of the last record, of one lineage or of all; 0 where there is none."""
    query = select(func.max(schema.records.c.seq))
    return int(connection.execute(query if lineage is None else query.where(of(lineage))).scalar() or 0)


def of(lineage: str) -> ColumnElement[bool]:
    """Charges of one lineage."""
    return schema.records.c.lineage == lineage


def present(connection: Connection, lineage: str) -> list[ColumnElement[bool]]:
    """Charges of one lineage since its last practice reset. Raises UnknownLineage."""
    budget = accounts.get(connection, lineage)
    if not budget.practice:
        return [of(lineage)]
    return [of(lineage), _says(connection, f'"generation":{budget.generation},"mechanism"')]


def about(connection: Connection, question: str) -> ColumnElement[bool]:
    """Charges for one question, by its digest."""
    return _says(connection, f'"question":{json.dumps(question)}')


def _says(connection: Connection, words: str) -> ColumnElement[bool]:
    """Records whose body says so: it is canonical JSON, in which quotation marks of a text have a backslash before
    them, so that a name with its quotation marks is a name. Reads no JSON, which would take ten times as long."""
    find = func.instr if connection.dialect.name == "sqlite" else func.strpos
    return find(schema.records.c.body, words) > 0


def by_hash(start: str) -> ColumnElement[bool]:
    """Charges whose hash begins so."""
    return schema.records.c.hash.startswith(start, autoescape=True)


def answered(whether: bool) -> ColumnElement[bool]:
    """Charges that have an answer, or none."""
    return _ANSWERS.c.seq.is_not(None) if whether else _ANSWERS.c.seq.is_(None)


def same(earlier: Receipt, lineage: str, body: dict[str, Any]) -> Receipt:
    """``earlier`` if it was for this very question. Raises InvalidArgument."""
    asked = [lineage, body["what"], body["mechanism"], body["neighbours"], body["question"], body["cost"]]
    kept = [earlier.lineage, earlier.what, earlier.mechanism, earlier.neighbours, earlier.question]
    if asked != [*kept, cost_to_json(earlier.asked_cost)]:
        raise InvalidArgument("request_id", "was used for a different question; use a new one for each question")
    return earlier


def _of_request(store: Store, request_id: str) -> tuple[dict[str, Record], set[str]]:
    """The records of a request in this computer's journal, by kind, and the kinds of those that the database has."""
    found: dict[str, Record] = {}

    def keep(record: Record) -> None:
        if record.request_id == request_id:
            found[record.kind] = record

    with store.reading() as connection:
        if store.journal is None:
            for record in stored_records(connection):
                keep(record)
            return found, set(found)
        Journal(store.journal.path).read_on(keep)
        kinds = select(schema.records.c.kind).where(schema.records.c.request_id == request_id)
        return found, {str(kind) for kind in connection.execute(kinds).scalars()}


def confirms(store: Store, asked: Receipt | str) -> bool:
    """See ``Ledger.confirms``."""
    try:
        wanted = json.loads(asked) if isinstance(asked, str) else asked.to_dict()
        request_id, answer_hash = (wanted[name] for name in ("request_id", "answer_hash"))
        _ = wanted["journal_hash"]
    except (ValueError, TypeError, KeyError, RecursionError):  # the last for JSON that is nested without end
        return False
    found, stored = _of_request(store, str(request_id))
    if stored - set(found):
        with store.writing():  # another computer has written: this one's journal follows, as at any write
            pass
        found, _ = _of_request(store, str(request_id))
    if "charge" not in found:
        return False
    # a receipt from before its answer was stored is as good as one from after
    answer = found.get("answer") if answer_hash is not None else None
    if (answer is None) != (answer_hash is None):
        return False
    now = Receipt.of(found["charge"], answer).to_dict()
    if now == wanted:
        return True
    names = ("lineage", "journal_hash", "answer_hash")
    then = {**now, **{name: wanted.get(name) for name in names}}
    return then == wanted and was_receipt(store.key, wanted, found["charge"], answer)
