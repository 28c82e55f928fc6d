"""Queries on the chain of records within a transaction: receipts, and what was asked under a request id."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Select,
    and_,
    bindparam,
    case,
    false,
    func,
    or_,
    select,
    union_all,
)

from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, schema
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Kind, Record, canonical, cost_to_json, same_cost
from dpcore.ledger.words import same_question, text
from dpcore.validate import whole


def _asked(kind: Kind) -> ColumnElement[bool]:
    """The record of one kind of one request, by the index that it has."""
    return and_(schema.records.c.request_id == bindparam("asked"), schema.of_kind(schema.records, kind))


_OF_REQUEST = select(schema.records).where(or_(_asked("charge"), _asked("draw"), _asked("answer")))
_BUT_ITS_ANSWER = select(schema.records).where(or_(_asked("charge"), _asked("draw")))
_ANSWERED = select(schema.records.c.seq, schema.records.c.time, schema.records.c.hash).where(_asked("answer"))
_LAST = union_all(
    *(
        select(func.max(schema.records.c.seq)).where(
            schema.records.c.lineage == bindparam("whose"), schema.of_kind(schema.records, kind)
        )
        for kind in get_args(Kind)
    )
)
"""By kind, so that each is read at its end in the index, however many records there are."""
_BODY = select(schema.records.c.body).where(schema.records.c.seq == bindparam("at"))
_IS_CHARGED = select(schema.records.c.seq).where(_asked("charge"))
ABOUT_PEOPLE = (
    select(schema.lineages.c.lineage)
    .where(schema.lineages.c.lineage == schema.records.c.lineage, schema.of_people)
    .correlate(schema.records)
    .exists()
)
"""That a record is about a real budget and no room's: asked of each, or all such budgets would be looked through."""
_NAMED = (("open", "owner"), ("share", "subject"))
"""In which kinds of records whose a budget is is said, and under which name."""
Place = tuple[int, str]
"""Where and when a record was written, which is nothing of what it says."""
_MARK, _UP_TO_MARK, _BEHIND = re.compile(r'"fingerprint":"([^"]+)"'), 8000, "\x7f"
"""How a link names its file, how far from its beginning at most, and what comes after all signs of a record."""
BROUGHT = "brought"
"""Under which name a link says by a mark what was brought where nobody has a name: before ``by``, so that all that have
one are together in the index."""
_DIGITS, _AFTER = frozenset("0123456789abcdef"), "g"
"""What hashes are written in, and what comes after it in the order of every language."""
_LONG = 16 << 10
"""Bytes of an answer's record from which it is read by itself: a list of many such is no statement that takes a
server long."""
_ANSWERS, _DRAWS = schema.records.alias("answers"), schema.records.alias("draws")


def _of_charges(*columns: ColumnElement[Any] | FromClause) -> Select[Any]:
    """Of charges, with their answers and the beginnings of their draws, where there are any."""
    joined: FromClause = schema.records
    for other, kind in ((_ANSWERS, "answer"), (_DRAWS, "draw")):
        joined = joined.outerjoin(other, and_(other.c.request_id == schema.records.c.request_id, other.c.kind == kind))
    return select(*columns).select_from(joined).where(schema.of_kind(schema.records, "charge"))


def _charges(dialect: str) -> Select[Any]:
    kept = {name: _ANSWERS.c[name] for name in Record.__slots__}
    short: ColumnElement[Any] = case((schema.size(_ANSWERS.c.body, dialect) < _LONG, _ANSWERS.c.body), else_=None)
    answer = [(short if name == "body" else column).label(f"answer_{name}") for name, column in kept.items()]
    return _of_charges(schema.records, *answer, _DRAWS.c.seq.label("draw_seq"))


_CHARGES = {dialect: _charges(dialect) for dialect in ("sqlite", "postgresql")}
_WITHOUT = _of_charges(schema.records, _ANSWERS.c.hash.label("answer_hash"), _DRAWS.c.seq.label("draw_seq"))
_IDS = _of_charges(schema.records.c.request_id, schema.records.c.seq).order_by(schema.records.c.seq)


def records(connection: Connection, kind: Kind, lineage: str | None, *chosen: ColumnElement[bool]) -> list[Record]:
    """Records of one kind that are ``chosen``, of one lineage or all, oldest first. What is about the ledger itself, as
    that it was brought back, is of the lineage without a name. Of all, links, statements and roles are found by an
    index; for others every record is looked at."""
    query = select(schema.records).where(schema.of_kind(schema.records, kind), *chosen).order_by(schema.records.c.seq)
    if lineage is not None:
        query = query.where(of(lineage))
    return [Record(**row) for row in connection.execute(query).mappings()]


def saying(connection: Connection, kind: Kind, name: str, value: str) -> list[Record]:
    """Records of one kind that say this under this name, oldest first, found by an index of those."""
    return records(connection, kind, None, named(connection, name, value))


def linked_by(connection: Connection, subject: str) -> dict[str, str]:
    """By the marks of the files that this person linked, with whose people: of nobody else's link anything is read."""
    return _linked(connection, begins(connection, subject), theirs=_begins(subject))


def begins(connection: Connection, subject: str) -> ColumnElement[bool]:
    """That a link is this person's."""
    whole = _begins(subject)
    found = _starts(connection, whole[: schema.LONGEST_START])
    if len(whole) > schema.LONGEST_START:
        found &= func.substr(schema.records.c.body, 1, len(whole)) == whole
    return found


def _begins(subject: str) -> str:
    return f'{{"by":{canonical(subject)},'


def _starts(connection: Connection, known: str) -> ColumnElement[bool]:
    start = schema.start(connection.dialect.name)
    return and_(start >= known, start < known + _BEHIND)


def linked_by_persons(connection: Connection, lineages: Collection[str]) -> set[str]:
    """The marks of the files that somebody who had logged in linked with these people."""
    among = schema.among(schema.records.c.lineage, lineages, connection.dialect.name)
    return set(_linked(connection, among, theirs='{"by":'))


def linked_without_name(connection: Connection, *marks: str) -> set[str]:
    """The people of links that say one of these ``marks`` of what was brought, and of those that say none: persons',
    and of before there were such marks. Of no others anything is read."""
    here = [_starts(connection, f'{{"{BROUGHT}":{canonical(mark)},') for mark in marks]
    here.append(schema.start(connection.dialect.name) >= '{"by":')  # what comes next in the order of names
    links = select(schema.records.c.lineage).where(schema.of_kind(schema.records, "link"))
    return {lineage for one in here for lineage in connection.execute(links.where(one)).scalars()}


def _linked(connection: Connection, *chosen: ColumnElement[bool], theirs: str) -> dict[str, str]:
    """Of the links that are ``chosen`` and begin so, mark and lineage. What follows on the mark is not read: 74 kB."""
    kept = schema.records.c
    query = select(kept.lineage, func.substr(kept.body, 1, _UP_TO_MARK)).where(
        schema.of_kind(schema.records, "link"), *chosen
    )
    found = ((lineage, start) for lineage, start in connection.execute(query) if start.startswith(theirs))
    return {mark[1]: lineage for lineage, start in found if (mark := _MARK.search(start))}


def last_link(connection: Connection) -> Record | None:
    """The newest link, or None."""
    row = connection.execute(_last_link(schema.records)).mappings().one_or_none()
    return None if row is None else Record(**row)


def number_of_last_link(connection: Connection) -> int:
    """The number of its record, without a look at what it keeps (74 kB); 0 where there is none."""
    return int(connection.execute(_last_link(schema.records.c.seq)).scalar() or 0)


def _last_link(*columns: ColumnElement[Any] | FromClause) -> Select[Any]:
    links = select(*columns).where(schema.of_kind(schema.records, "link"))
    return links.order_by(schema.records.c.seq.desc()).limit(1)


def naming(connection: Connection, *subjects: str) -> list[str]:
    """The budgets of real people, no room's, that one of these opened or that were ever shared with them: whatever else
    a person has written stands in the records of these, or names no budget."""
    found: set[str] = set()
    for subject in subjects:
        for kind, name in _NAMED:
            told = [schema.of_kind(schema.records, kind), named(connection, name, subject), ABOUT_PEOPLE]
            found.update(connection.execute(select(schema.records.c.lineage).where(*told)).scalars())
    return list(found)


def is_charged(connection: Connection, request_id: str) -> bool:
    """Whether a charge was made for this request."""
    return connection.execute(_IS_CHARGED, {"asked": request_id}).scalar() is not None


def of_request(connection: Connection, request_id: str) -> dict[str, Record]:
    """What is on the record of one request, by kind: its charge, the beginning of its draw, its answer."""
    rows = connection.execute(_OF_REQUEST, {"asked": request_id}).mappings()
    return {row["kind"]: Record(**row) for row in rows}


def receipt(connection: Connection, request_id: str) -> Receipt | None:
    """The receipt of one request, with its answer once there is one; None when it was not charged."""
    found = of_request(connection, request_id)
    if "charge" not in found:
        return None
    return Receipt.of(found["charge"], found.get("answer"), begun="draw" in found)


def without_answer(connection: Connection, request_id: str) -> tuple[Receipt | None, Place | None]:
    """As ``receipt``, with the hash of its answer alone, and the place of that; for whoever keeps others from writing:
    an answer may have 4 MB, which a slow line has in no moment."""
    rows = connection.execute(_BUT_ITS_ANSWER, {"asked": request_id}).mappings()
    found = {row["kind"]: Record(**row) for row in rows}
    answer = connection.execute(_ANSWERED, {"asked": request_id}).one_or_none()
    if "charge" not in found:
        return None, None
    told = Receipt.of(found["charge"], None, begun="draw" in found)
    if answer is None:
        return told, None
    seq, time, digest = answer
    return replace(told, answer_hash=digest), (seq, time)


def receipts(
    connection: Connection, *chosen: ColumnElement[bool], newest: int | None = None, answers: bool = True
) -> list[Receipt]:
    """Receipts of the charges that are ``chosen``, oldest first; only the ``newest`` so many, and with their
    ``answers`` unless they are not asked for. Raises InvalidArgument."""
    charges = _CHARGES[connection.dialect.name] if answers else _WITHOUT
    if newest is not None:
        newest = whole(0, schema.MOST, newest=newest)
    query = charges.where(*chosen).order_by(schema.records.c.seq.desc())
    rows = connection.execute(query if newest is None else query.limit(newest)).mappings()
    if not answers:
        return [_without_answer(row) for row in rows.all()][::-1]
    return [_read(row) for row in [_whole(connection, dict(row)) for row in rows.all()]][::-1]


def ids_about(connection: Connection, questions: Iterable[str], *chosen: ColumnElement[bool]) -> list[str]:
    """Those of the charges that are ``chosen`` for one question, by all digests that it has had, oldest first. Each is
    looked for by itself: for several at once a database in a file goes through all of the budget. Raises
    InvalidArgument."""
    asked = [_IDS.where(*chosen, about(connection, question)) for question in questions]
    found = [row for query in asked for row in connection.execute(query)]
    return [row.request_id for row in sorted(found, key=lambda row: int(row.seq))]


def _whole(connection: Connection, row: dict[str, Any]) -> dict[str, Any]:
    """With a long answer read by itself."""
    if row["answer_seq"] is not None and row["answer_body"] is None:
        row["answer_body"] = connection.execute(_BODY, {"at": row["answer_seq"]}).scalar_one()
    return row


def _read(row: dict[str, Any]) -> Receipt:
    if row["answer_seq"] is None:
        return _without_answer(row)
    charge, answer = (Record(**{name: row[f"{of}{name}"] for name in Record.__slots__}) for of in ("", "answer_"))
    return Receipt.of(charge, answer, begun=row["draw_seq"] is not None)


def _without_answer(row: RowMapping | dict[str, Any]) -> Receipt:
    """That there is one, its hash says."""
    charge = Record(**{name: row[name] for name in Record.__slots__})
    return replace(Receipt.of(charge, None, begun=row["draw_seq"] is not None), answer_hash=row["answer_hash"])


def count(connection: Connection, *chosen: ColumnElement[bool]) -> int:
    """How many charges are ``chosen``."""
    query = select(func.count()).select_from(schema.records).where(schema.of_kind(schema.records, "charge"), *chosen)
    return int(connection.execute(query).scalar_one())


def last(connection: Connection, lineage: str | None) -> int:
    """The number of the last record, of one lineage or of all; 0 where there is none."""
    if lineage is None:
        return int(connection.execute(select(func.max(schema.records.c.seq))).scalar() or 0)
    return max(connection.execute(_LAST, {"whose": lineage}).scalars(), key=lambda seq: seq or 0) or 0


def began_again(connection: Connection, lineage: str, since: int) -> bool:
    """Whether a practice budget was reset, or a reset taken back, after the record of this number."""
    kinds = schema.records.c.kind.in_(("reset", "undo"))
    later = select(schema.records.c.seq).where(of(lineage), kinds, schema.records.c.seq > since).limit(1)
    return connection.execute(later).scalar() is not None


def of(lineage: str) -> ColumnElement[bool]:
    """Records of one lineage."""
    return schema.records.c.lineage == lineage


def present(connection: Connection, lineage: str) -> list[ColumnElement[bool]]:
    """Charges of one lineage since its last practice reset. Raises UnknownLineage."""
    budget = accounts.get(connection, lineage)
    if not budget.practice:
        return [of(lineage)]
    return [of(lineage), says(connection, f'"generation":{budget.generation},"mechanism"')]


def about(connection: Connection, question: str) -> ColumnElement[bool]:
    """Charges for one question, by its digest. Raises InvalidArgument."""
    text(question=question)
    return named(connection, "question", question)


def of_kind(connection: Connection, kind: str) -> ColumnElement[bool]:
    """Charges with an answer in which something is of this ``kind``, as a model says it of itself."""
    return says(connection, f'"kind":{canonical(kind)}', _ANSWERS.c.body)


def named(connection: Connection, name: str, value: str) -> ColumnElement[bool]:
    """Records that say this under this name, found by an index of those of their kind where it has one."""
    told = canonical(value)
    begins_so = schema.value(name, connection.dialect.name) == schema.value_of(told)
    return and_(begins_so, says(connection, f"{canonical(name)}:{told}"))


def by_person(connection: Connection, kind: Kind, subject: str, lineage: str) -> tuple[ColumnElement[bool], ...]:
    """What one person asked or was charged for of a budget. It is looked for by the person: SQLite would go through all
    of the budget if it could."""
    of_theirs = and_(schema.of_kind(schema.records, kind), named(connection, "subject", subject))
    return of_theirs, schema.records.c.lineage.concat("") == lineage


def says(connection: Connection, words: str, body: ColumnElement[Any] = schema.records.c.body) -> ColumnElement[bool]:
    """Records whose body says so: it is canonical JSON, in which quotation marks of a text have a backslash before
    them, so that a name with its quotation marks is a name. Reads no JSON, which would take ten times as long."""
    find = func.instr if connection.dialect.name == "sqlite" else func.strpos
    return find(body, words) > 0


def by_hash(start: str) -> ColumnElement[bool]:
    """Charges whose hash begins so; by an order that its index has, which LIKE would not use. Raises
    InvalidArgument."""
    if set(text(start=start)) - _DIGITS:
        return false()
    begin_so = and_(schema.records.c.hash >= start, schema.records.c.hash < start + _AFTER)
    return schema.records.c.seq.in_(select(schema.records.c.seq).where(begin_so))


def answered(whether: bool) -> ColumnElement[bool]:
    """Charges that have an answer, or none."""
    return _ANSWERS.c.seq.is_not(None) if whether else _ANSWERS.c.seq.is_(None)


def same(earlier: Receipt, lineage: str, body: dict[str, Any]) -> Receipt:
    """``earlier`` if it was for this very question. Raises InvalidArgument."""
    asked = [lineage, body["mechanism"], body["neighbours"]]
    kept = [earlier.lineage, earlier.mechanism, earlier.neighbours]
    other = earlier.unit and body.get("unit", "") not in ("", earlier.unit)
    same_words = same_question((earlier.what, earlier.question), (body["what"], body["question"]))
    if other or asked != kept or not same_words or not same_cost(cost_to_json(earlier.asked_cost), body["cost"]):
        raise InvalidArgument("request_id", "was used for a different question; use a new one for each question")
    return earlier
