"""The ways out when a ledger is closed because it is not sound.

The chain of records determines everything else, so the longest sound chain among the database, a backup and the
journal is what a ledger is rebuilt from. Restoring can bring spending back, never take it away: wherever it ends, what
was there before is in its place, or kept beside it and looked through the next time.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, insert, select, update

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import aside, backups, chains, keyed, schema
from dpcore.ledger.commands import INIT, PEOPLE, RESTORE
from dpcore.ledger.engine import (
    AS_LONG_AS_IT_TAKES,
    MEANWHILE,
    TROUBLE,
    check_server,
    form,
    in_one_file,
    ledger_url,
    make_engine,
    make_tables,
    must_be_of_rows,
    rewrite_files,
    snapshot,
    writing,
)
from dpcore.ledger.files import beside, create, real, sweep, sync_folder
from dpcore.ledger.journal import DAMAGED, MISSING, NO_JOURNAL, Journal, holds_record, starts_old, write_anew
from dpcore.ledger.key import Key, keep
from dpcore.ledger.lock import exclusive
from dpcore.ledger.lodging import schemas_of
from dpcore.ledger.place import TWICE, Place
from dpcore.ledger.records import FIRST, Record, next_record
from dpcore.ledger.store import put, refuse, renew_journal
from dpcore.ledger.verify import Replay, stored_records, verify_database

NEW_KEY = (
    "The ledger has another key from now on: files that were brought before are not recognised, and reports and "
    "back-ups from before are not known as its own."
)
LOST = (
    "What was recorded after these sources were written, if anything, is not in them. What was spent since is not "
    "known; roles and shares that were taken away since, limits that were lowered and budgets that were closed are as "
    f"they were before: look through {PEOPLE}."
)
_TABLES_DAMAGED = (
    "The server's tables are damaged; create an empty database, point EPSILON_LAB_LEDGER at it, "
    f"and run {RESTORE} with the journal or a backup."
)
_UNREADABLE = (
    "Record {} of the longest history that there is cannot be read, so nothing was changed. Keep all files and ask for "
    "help."
)
ELSEWHERE = (
    "This ledger is in the schema “{}” of its database, and nothing was made in another one, which would be a second "
    "ledger of the same budgets: let the account or the address name that schema (search_path). Only where what is "
    "there shall not count any more, rename or drop its tables and begin again."
)
_AT_ONCE = 500
"""Records that a server is given in one statement."""
_NOTHING = (
    "There is nothing to restore from: give the path of a backup that has a record, or put the journal back where it "
    f"was. If there has never been a record, run {INIT}."
)


def restore(
    location: str | os.PathLike[str] | None = None,
    *,
    source: Path | None = None,
    journal: Path | None = None,
    new_journal: bool = False,
    new_key: bool = False,
    unmarked: bool = False,
) -> list[str]:
    """Make a closed ledger usable again; what was done, in sentences.

    A sound database that is behind its journal is brought up to date in place. A damaged SQLite file is set aside for
    one that is rebuilt from it, ``source`` (a backup), the journal, and what was set aside there before. A damaged or
    missing journal is only replaced, and set aside, with ``new_journal``: what was recorded after the other sources
    were written, what was spent and which rights were taken away among it, may be unknown then. What a backup adds to
    the others is believed where this server's key file has marked it, or with ``unmarked``. A key file that is missing,
    or knows none of the ledger's files, is only taken with ``new_key``. An empty database on a server becomes the
    ledger that was at its address, with the journal that this computer has of it; at another address, journals in this
    computer's folder that begin as the backup does bring what they have. Raises LedgerUnsound when no sound history can
    be found, LedgerError when nothing needs to be restored from nothing, and where a file is that is none of the
    ledger's; what was done before that it says.
    """
    url = ledger_url(location)
    where = Place.of(url, location, journal)
    where.check_free()
    file = where.real
    new = file is not None and not file.exists()
    said: list[str] = []
    made = False
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with exclusive(where.lock):
        empty = file is not None and not _has_something(file)
        engine = make_engine(url)
        try:
            check_server(engine)
            key, there = keyed.key_to_restore(where, engine)
            absent = empty or _has_no_tables(engine)
            own, sound = ([], True) if absent else chains.from_database(engine, key)
            # a server that lost its tables is the one that was here before, and so is its journal
            before = None if own or not sound or file is not None else where.pinned()
            path = where.journal_of(engine, before) if sound or file is not None or journal is not None else None
            engine.dispose()  # what is copied now may be this very file, whose locks end with any descriptor of it
            backup = backups.read(source, key)
            given = backup.records
            if path is None and sound and file is None:
                noted, whole = chains.from_journals(where.journals(), given, key)  # at another address than before
            else:
                noted, whole = chains.from_journal(path, key)
            kept = [] if file is None else chains.set_aside(file, key)
            chain = chains.with_more(chains.longest(own, noted, given), kept)
            if path is not None:
                left = chains.is_left_of(path, chain)
                # what it began to say was recorded once, be it nowhere else now
                whole = whole and (left or starts_old(path))
                # of a ledger without a record, which has no journal yet, too
                whole = whole or (left and sound and len(chain) == len(own))
            replay = _replayed(chain)
            strange = keyed.strange(key, chain, there=there)
            doubt = "" if unmarked else backup.doubt(chains.known(chain, own, noted, *kept))
            doubt = doubt or ("" if new_key else strange)
            why = doubt or (_NOTHING if not chain and (absent or not sound) else "")
            if not why and not whole and path is not None and not _may_set_aside(path, chain):
                why = NO_JOURNAL
            if not why and not whole and not new_journal:
                why = DAMAGED if path is not None and _has_something(path) else MISSING
            if not why and not sound and file is None:
                why = _TABLES_DAMAGED
            if why:
                raise LedgerUnsound(why)
            if where.key is not None and not there:
                keep(where.key, key)
            work = _Work(chain, replay, key, new_journal=not whole, taken=bool(strange), before=before)
            if file is not None and (absent or not sound):
                engine.dispose()
                said += _rebuild(url, file, work)
                made = True
                sync_folder(file.parent)
                engine = make_engine(url)
            else:
                said += _bring_up_to_date(engine, own, work)
            path = path or where.journal_of(engine)
            if path is not None:
                said += _write_journal(engine, path, key, whole=whole)
            where.pin(engine, key)
            where.keep_private(path)
        except (LedgerError, *TROUBLE) as error:
            refused = error if isinstance(error, LedgerError) else refuse(error)
        else:
            return said
        finally:
            engine.dispose()
            if file is not None and empty and not made:
                _empty(file, gone=new)
    raise type(refused)(" ".join([*said, str(refused)])) if said else refused


@dataclass(frozen=True, slots=True)
class _Work:
    """What a database is to hold, and what its record of that says."""

    chain: list[Record]
    replay: Replay
    key: Key
    new_journal: bool
    taken: bool
    before: str | None


def _replayed(chain: Iterable[Record]) -> Replay:
    """As ``verify.replayed``, of what is to be brought back: before anything is changed."""
    replay = Replay()
    for record in chain:
        try:
            replay.add(record)
        except LedgerUnsound:
            raise LedgerUnsound(_UNREADABLE.format(record.seq)) from None
    return replay


def _rebuild(url: URL, file: Path, work: _Work) -> list[str]:
    """A new database in the place of one that is damaged or empty: all of it or nothing."""
    sweep(file)
    partial = beside(file, f"{secrets.token_hex(8)}.partial")
    os.close(create(partial))
    try:
        engine = make_engine(url.set(database=str(partial)))
        try:
            said = _bring_up_to_date(engine, [], work)
            in_one_file(engine)
        finally:
            engine.dispose()
        kept = aside.give_way(file, partial)
    finally:
        for ending in ("", "-wal", "-shm"):
            partial.with_name(partial.name + ending).unlink(missing_ok=True)
    return [*_said_of("database", kept), *said]


def _said_of(what: str, kept: Path | None) -> list[str]:
    return [] if kept is None else [f"The damaged {what} was set aside as {kept.name}."]


def _may_set_aside(path: Path, chain: Sequence[Record]) -> bool:
    """Whether what lies in the journal's place is one, what is left of the first records of ``chain``, or nothing."""
    if not path.is_file():
        return not path.exists()
    if not _has_something(path) or holds_record(path):
        return True
    journal = Journal(path)
    try:
        journal.read_on()
    except LedgerUnsound:
        return False
    return journal.ends_before(chain)


def _has_no_tables(engine: Engine) -> bool:
    try:
        return form(engine) is None
    except TROUBLE as error:
        must_be_of_rows(error)
        return False


def _has_something(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _empty(file: Path, *, gone: bool) -> None:
    """What looking made of a file that was empty, or of none, is nothing again."""
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    if gone:
        file.unlink(missing_ok=True)
    else:
        os.truncate(file, 0)


def _bring_up_to_date(engine: Engine, own: list[Record], work: _Work) -> list[str]:
    chain, replay = work.chain, work.replay
    missing = chain[len(own) :]
    with writing(engine, within=AS_LONG_AS_IT_TAKES) as connection:
        # by themselves they would be a sound ledger in which nothing is spent
        made = make_tables(connection, work.key)
        if connection.execute(select(schema.head.c.seq).with_for_update()).scalar() != len(own):
            raise LedgerError(MEANWHILE)
        if there := schemas_of(connection, [record.hash for record in chain[:1]]):  # both would spend the same budgets
            raise LedgerUnsound((TWICE if own else ELSEWHERE).format("”, “".join(there)))
        if work.before is not None:
            # the ledger again that key files and journals know, of other computers too: whoever's journal has more than
            # it has now stays closed, and says so
            _set_head(connection, ledger_id=work.before)
        previous = own[-1].hash if own else FIRST
        _put_all(connection, missing, at_once=made and connection.dialect.name == "postgresql")
        previous = chain[-1].hash if chain else previous
        if missing or work.new_journal or work.taken:
            body = {"records": len(missing), "journal": "new" if work.new_journal else "kept"}
            body |= {"key": keyed.mark(work.key)} if work.taken else {}
            last = chain[-1].time if chain else ""
            note = next_record(len(chain) + 1, previous, "restore", body=body, last_time=last)
            put(connection, note)
            replay.add(note)
        for table in (schema.lineages, schema.accounts, schema.fingerprints):
            _write_rows(connection, table, replay)
        verify_database(connection)
    said = [f"The database now has all {len(chain)} records; {len(missing)} were brought back."]
    return [*said, NEW_KEY] if work.taken else said


def _put_all(connection: Connection, records: Sequence[Record], *, at_once: bool) -> None:
    """As ``put``, of many; ``at_once`` into a server's tables that were just made, and so are the account's own: it
    passes over all that its head was in this transaction each time that it moves."""
    if not at_once:
        for record in records:
            put(connection, record)
        return
    for start in range(0, len(records), _AT_ONCE):
        rows = [{name: getattr(one, name) for name in Record.__slots__} for one in records[start : start + _AT_ONCE]]
        connection.execute(insert(schema.records), rows)
    if records:
        _set_head(connection, seq=records[-1].seq, hash=records[-1].hash)


def _set_head(connection: Connection, **values: Any) -> None:
    """What no record does: the head is otherwise at once than it was, on a server."""
    connection.exec_driver_sql("ALTER TABLE head DISABLE TRIGGER head_grows")
    connection.execute(update(schema.head).values(**values))
    connection.exec_driver_sql("ALTER TABLE head ENABLE ALWAYS TRIGGER head_grows")


def _write_rows(connection: Connection, table: Table, replay: Replay) -> None:
    keys = [column.name for column in table.primary_key]
    stored = {tuple(row[key] for key in keys): dict(row) for row in connection.execute(select(table)).mappings()}
    for row in replay.rows(table):
        key = tuple(row[name] for name in keys)
        if key not in stored:
            connection.execute(insert(table).values(row))
        elif stored[key] != row:
            chosen = [table.c[name] == row[name] for name in keys]
            connection.execute(update(table).where(*chosen).values(row))


def _write_journal(engine: Engine, path: Path, key: Key, *, whole: bool) -> list[str]:
    said = []
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if whole:
        renew_journal(engine, path, key)
    elif path.exists():
        rewrite_files(engine)
    journal = Journal(path)
    with snapshot(engine) as connection:
        if whole and _goes_on(journal, connection):
            journal.add(stored_records(connection, after=journal.seq))
        else:
            kept, journal = _written_anew(real(path), stored_records(connection))
            said += _said_of("journal", kept)
    said.append(f"The journal has all {journal.seq} records.")
    if not whole:
        said.append(LOST)
    return said


def _written_anew(path: Path, records: Iterable[Record]) -> tuple[Path | None, Journal]:
    """A new journal, and where the one is kept that it takes the place of: all of it or nothing."""
    there = path.stat().st_ino if _has_something(path) else None
    kept = None if there is None else aside.keep(path)
    try:
        return kept, write_anew(path, records)
    except BaseException:
        if kept is not None and _is_still(path, there):
            aside.let_go(kept)
        raise


def _is_still(path: Path, there: int | None) -> bool:
    """Whether a file was not replaced yet: what failed may have been to make the new one's name last."""
    return path.exists() and path.stat().st_ino == there


def _goes_on(journal: Journal, connection: Connection) -> bool:
    """Whether a journal, read to its end now, goes on with what the database has, whatever a process left that died."""
    journal.read_on()
    return journal.ends_before(stored_records(connection, after=journal.seq))
