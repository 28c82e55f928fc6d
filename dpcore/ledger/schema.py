"""The tables as the ledger's queries see them. The migrations create them, with checks and triggers."""

from __future__ import annotations

import json
from collections.abc import Collection

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    ColumnElement,
    FromClause,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    any_,
    func,
    literal,
    literal_column,
    select,
)

MOST = 10**15
"""Beyond all numbers of records: what is larger is no question to a ledger."""
metadata = MetaData()

head = Table(
    "head",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1: the end of the chain
    Column("ledger_id", String, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String, nullable=False),
)

records = Table(
    "records",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("lineage", String, nullable=False),
    Column("request_id", String, nullable=False),
    Column("time", String, nullable=False),
    Column("body", String, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
)

lineages = Table(
    "lineages",
    metadata,
    Column("lineage", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("practice", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("lineage", String, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),  # pure or approximate
    Column("counting", String, nullable=False),  # sum, zcdp, or both
    Column("cap_epsilon", BigInteger, nullable=False),
    Column("cap_rho", BigInteger, nullable=False),
    Column("cap_delta", BigInteger, nullable=False),
    Column("total_delta", BigInteger, nullable=False),
    Column("spent_epsilon", BigInteger, nullable=False),
    Column("spent_delta", BigInteger, nullable=False),
    Column("beyond", BigInteger, nullable=False),
    Column("spent_rho", BigInteger, nullable=False),
    Column("loose_delta", BigInteger, nullable=False),
    Column("unfit", BigInteger, nullable=False),
    Column("neighbours", String, nullable=False),  # add_remove, replace_one, or empty before the first charge
)

lineage_end: ColumnElement[str] = literal_column("substr(lineages.lineage, length(lineages.lineage) - 19)", String)
"""The last 20 characters of a name: of a practice budget, whose it is. In the words of its index, or all are read."""
of_people: ColumnElement[bool] = and_(
    lineages.c.practice == literal_column("0"),
    func.substr(lineages.c.lineage, literal_column("1"), literal_column("5")) != literal_column("'room:'"),
)
"""That a budget is neither for practice nor a room's (``rooms.START``), in the words of its index."""


def of_kind(table: FromClause, *kinds: str) -> ColumnElement[bool]:
    """That records of ``table``, which may be another name for them, are of one of these kinds; in the words of the
    indexes of some, or all are read."""
    words = [literal_column(f"'{kind}'", String) for kind in kinds]
    return table.c.kind == words[0] if len(words) == 1 else table.c.kind.in_(words)


fingerprints = Table(
    "fingerprints",
    metadata,
    Column("fingerprint", String, primary_key=True),  # keyed: of a whole file
    Column("lineage", String, nullable=False),
    Column("sketch", String, nullable=False),  # keyed; empty where it was not carried over
)


LONGEST_START = 400
"""Characters of a record's text by which a link is found: what it says first is who made it."""


def start(dialect: str) -> ColumnElement[str]:
    """How the text of a record begins, in the words of its index and in the order of bytes."""
    begins: ColumnElement[str] = literal_column(f"substr(records.body, 1, {LONGEST_START})", String)
    return begins if dialect == "sqlite" else begins.collate("C")


def value(name: str, dialect: str) -> ColumnElement[str]:
    """What a record says under this name, where that is a text, as far as ``value_of`` tells it; in the words of its
    indexes."""
    key, find = f'"{name}":"', "instr" if dialect == "sqlite" else "strpos"
    after = f"substr(records.body, {find}(records.body, '{key}') + {len(key)}, {LONGEST_START})"
    return literal_column(f"substr({after}, 1, {find}({after} || '\"', '\"') - 1)", String)


def value_of(text: str) -> str:
    """By what the canonical JSON of a text is found: up to the first quotation mark behind the one that begins it."""
    return text[1 : LONGEST_START + 1].partition('"')[0]


def among(column: ColumnElement[str], values: Collection[str], dialect: str) -> ColumnElement[bool]:
    """That a column has one of these, however many others can make them: databases take so many parameters at most."""
    if dialect == "sqlite":
        return column.in_(select(func.json_each(json.dumps([*values])).table_valued("value").c.value))
    return column == any_(literal([*values], ARRAY(String)))


def size(text: ColumnElement[str], dialect: str) -> ColumnElement[int]:
    """How many bytes a text of records has, which is ASCII, in the words by which the database does not read it."""
    return func.length(text) if dialect == "sqlite" else func.octet_length(text)
