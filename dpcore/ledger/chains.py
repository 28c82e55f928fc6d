"""Chains of records as they can be had: from the database, its journal, or a backup, sound or not."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger.engine import TROUBLE, ledger_url, make_engine, migrate, snapshot
from dpcore.ledger.journal import Journal
from dpcore.ledger.key import Key
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record, canonical
from dpcore.ledger.renewal import renewed
from dpcore.ledger.verify import linked, replayed, stored_records, verify_database

_WORD = re.compile(r"[A-Za-z_]+")
_REFUSES = re.compile(r"BEGIN SELECT RAISE\(ABORT, '[^']*'\); END\s*$")
"""How the triggers of a ledger end."""
_DISAGREE = (
    "The database, the backup and the journal tell different histories, so none can be trusted to be complete; "
    "nothing was changed. Keep all three and ask for help."
)


def from_database(engine: Engine, key: Key) -> tuple[list[Record], bool]:
    """The database's records as far as they are a chain, and whether the database is sound.

    Chains are handed out in the present form, whatever they were written in (``renewal``).
    """
    try:
        migrate(engine, key, verify_database)
        with snapshot(engine) as connection:
            verify_database(connection)
            return list(stored_records(connection)), True
    except (LedgerUnsound, *TROUBLE):
        return renewed(_readable(engine), key), False


def _readable(engine: Engine) -> list[Record]:
    kept: list[Record] = []
    try:
        with snapshot(engine) as connection:
            kept.extend(linked(stored_records(connection)))
    except (LedgerUnsound, TypeError, *TROUBLE):
        return kept
    return kept


def from_journal(path: Path | None, key: Key) -> tuple[list[Record], bool]:
    """The journal's records as far as they are a chain, and whether that is all of it."""
    if path is None:
        return [], True
    found: list[Record] = []
    if not path.exists():
        return found, False
    try:
        Journal(path).read_on(found.append)
    except LedgerUnsound:
        return renewed(found, key), False
    return renewed(found, key), bool(found)  # an emptied journal is a missing one


def from_journals(paths: Sequence[Path], given: Sequence[Record], key: Key) -> tuple[list[Record], bool]:
    """The longest chain among these journals that begins as ``given`` does, and whether there is one, all of it.

    Raises LedgerUnsound where two that begin so go on differently.
    """
    found = [from_journal(path, key) for path in paths]
    alike = [(chain, whole) for chain, whole in found if chain and given and chain[0].hash == given[0].hash]
    if not alike:
        return [], False
    return longest(*(chain for chain, _ in alike)), all(whole for _, whole in alike)


def from_backup(source: Path | None, key: Key) -> list[Record]:
    if source is None:
        return []
    if not source.is_file():
        raise LedgerError("There is no backup at that place.")
    with source.open("rb") as file:
        is_database = file.read(16) == b"SQLite format 3\x00"
    try:
        found, whole = _copied(source, key) if is_database else from_journal(source, key)
        _must_be_readable(found)
    except (LedgerUnsound, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        found, whole = [], False  # whoever wrote it may have sealed anything
    if not whole:
        raise LedgerUnsound("That backup is damaged itself; use an older one. Nothing was changed.")
    return found


def _must_be_readable(records: Sequence[Record]) -> None:
    """Raises whatever it is that a record cannot be read for, though its hash fits."""
    replayed(records)
    for record in records:
        if canonical(record.content) != record.body:  # NaN, which no other reader takes, or a second form of the same
            raise ValueError
        if record.kind == "charge":
            Receipt.of(record, None)
        elif record.kind == "answer":
            record.content["answer"]


def _copied(source: Path, key: Key) -> tuple[list[Record], bool]:
    """The records of a backup database, read from a copy so that the backup is not touched."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.sqlite3"
        shutil.copyfile(source, copy)
        if not _is_plain(copy):
            return [], False
        engine = make_engine(ledger_url(copy))
        try:
            return from_database(engine, key)
        finally:
            engine.dispose()


def _is_plain(file: Path) -> bool:
    """Whether tables are what they hold, and what is written to them sets off nothing but a refusal: a view, a column
    that is worked out, or a trigger of somebody's own may have no end, and no ledger has one."""
    hidden = "SELECT 1 FROM sqlite_schema AS one, pragma_table_xinfo(one.name) WHERE one.type = 'table' AND hidden"
    with closing(sqlite3.connect(file)) as connection:
        try:
            made = connection.execute("SELECT type, coalesce(sql, '') FROM sqlite_schema").fetchall()
            return all(_is_ours(*each) for each in made) and connection.execute(hidden).fetchone() is None
        except sqlite3.Error:
            return False


def _is_ours(kind: str, sql: str) -> bool:
    said = _WORD.findall(sql.upper())
    if kind == "trigger":
        only_refuses = _REFUSES.search(sql) is not None and said.count("SELECT") == 1
        return only_refuses and not {"FROM", "WITH"} & set(said)
    return said[:2] not in (["CREATE", "VIEW"], ["CREATE", "VIRTUAL"])


def longest(*chains: Sequence[Record]) -> list[Record]:
    """The longest chain; all others must be its beginnings. Raises LedgerUnsound."""
    best = max(chains, key=len)
    for chain in chains:
        if chain and chain[-1].hash != best[len(chain) - 1].hash:
            raise LedgerUnsound(_DISAGREE)
    return list(best)
