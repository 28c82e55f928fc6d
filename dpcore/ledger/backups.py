"""Backups: complete copies of a ledger, with a mark by which the server that wrote one knows it again.

The chain of records has no key, so whoever can write where backups are kept can make up one that fits. What a backup
adds to what is here is therefore believed only where it bears the mark of this server's key file, or where the owner
says so. Nothing of a backup is worked out before its tables are known to be a ledger's and nothing else.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import sqlite3
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import aside
from dpcore.ledger.chains import from_database, from_journal
from dpcore.ledger.engine import TROUBLE, form, is_passing, ledger_url, make_engine
from dpcore.ledger.files import beside, create, others_may_replace, put_new, real
from dpcore.ledger.held import HELD, is_held
from dpcore.ledger.journal import begins_so, write_anew
from dpcore.ledger.key import Key
from dpcore.ledger.migrations import OLDER
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import FIRST, Record
from dpcore.ledger.store import Store, refuse
from dpcore.ledger.verify import MARKED, SQLITE_FORMS, Replay, sqlite_form, stored_records

DAMAGED = "That backup is damaged itself; use an older one. Nothing was changed."
_UNSEEN = (
    "That backup cannot be read now, so nothing was changed; check who may read it, and that the folder for temporary "
    "files (TMPDIR) has room for a copy."
)
_UNMARKED = (
    "That backup bears no mark of this server's key file, so whoever could write it may have made up what it would "
    "add here: {added}. Nothing was changed. Put back the key file with which it was written, or, where you trust "
    "whoever kept it, add --unmarked."
)
_TAKEN = "There is a file of that name already; a backup never replaces one."
_NOT_AGAIN = (
    "Record {} of the ledger could not be read again from a backup, so none was written. Keep all files and ask for "
    "help."
)
_VERSION = "alembic_version"
_ITS_TABLE = (
    "CREATE TABLE alembic_version (\n\tversion_num VARCHAR(32) NOT NULL, \n"
    "\tCONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)\n)"
)
_LONGEST_MARK = 100


@dataclass(frozen=True, slots=True)
class Backup:
    """The records of a backup in the present form, and whether it is ``marked`` as one that this server wrote."""

    records: Sequence[Record] = ()
    marked: bool = True

    def doubt(self, known: int) -> str:
        """Why records after the ``known`` ones are not believed, and of what kinds they are; empty where they are."""
        if self.marked or len(self.records) <= known:
            return ""
        kinds = Counter(record.kind for record in self.records[known:])
        added = ", ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items()))
        return _UNMARKED.format(added=added)


def write(store: Store, target: Path) -> int:
    """Write a backup that is complete and on disk when this returns; the number of records in it.

    SQLite: a database file (VACUUM INTO). A server: its records, in the form of a journal with the mark as its last
    line. Raises LedgerError when the target exists already or cannot be written, and where a record could not be read
    again from a backup.
    """
    if os.path.lexists(target):  # a link to what is not there too, in whose place it would be put
        raise LedgerError(_TAKEN)
    if others_may_replace(target.parent):
        raise LedgerError("Everybody may replace files in that folder; write the backup into one of your own.")
    partial = beside(target, f"{secrets.token_hex(8)}.partial")  # a name that nobody can have a link under
    try:
        number = store.verify().seq
        with store.snapshot() as connection:
            if unreadable := _unreadable(stored_records(connection)):  # nobody would know before it is needed
                raise LedgerError(_NOT_AGAIN.format(unreadable))
            if connection.dialect.name == "sqlite":
                _vacuum(store.engine, partial)
                _mark_database(partial, store.key)
            else:
                journal = write_anew(partial, stored_records(connection))
                with partial.open("a", encoding="ascii") as file:
                    file.write(_line(_mark(store.key, journal.seq, journal.hash)))
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        put_new(partial, target)
    except FileExistsError:
        refused = LedgerError(_TAKEN)
    except TROUBLE as error:
        refused = refuse(error)
    else:
        return number
    finally:
        partial.unlink(missing_ok=True)
    raise refused


def _vacuum(engine: Engine, target: Path) -> None:
    os.close(create(target))  # SQLite writes into an empty file
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("VACUUM INTO ?", (str(target),))
    finally:
        raw.close()


def _mark(key: Key, seq: int, last: str) -> str:
    """The hash of the last record stands for all of them."""
    return key.mark("backup", str(seq), last)


def _mark_database(file: Path, key: Key) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        seq, last = connection.execute("SELECT seq, hash FROM head").fetchone()
        connection.execute(MARKED.replace("TABLE", "TABLE IF NOT EXISTS", 1))
        connection.execute("DELETE FROM backup_mark")  # a ledger that was a backup once has an old one
        connection.execute("INSERT INTO backup_mark VALUES (?)", (_mark(key, seq, last),))


def _line(mark: str) -> str:
    return json.dumps({"mark": mark}) + "\n"


def read(source: Path | None, key: Key) -> Backup:
    """What the backup at ``source`` holds; nothing where that is None. Raises LedgerError, LedgerUnsound."""
    if source is None:
        return Backup()
    if not source.is_file():
        raise LedgerError("There is no backup at that place.")
    if is_held(source):
        raise LedgerError(HELD)
    try:
        with source.open("rb") as file:
            start = file.read(_LONGEST_MARK)
        if mark := _said(start):  # of a ledger without a record, as a server's is at first
            return Backup([], hmac.compare_digest(mark, _mark(key, 0, FIRST)))
        is_database = start.startswith(b"SQLite format 3\x00")
        if not is_database and not begins_so(start):  # nor copied, however large it is
            raise LedgerUnsound(DAMAGED)
        with tempfile.TemporaryDirectory() as folder:  # so that the backup is not touched
            copy = aside.copied(real(source), Path(folder))
            found, whole, marked = (_of_database if is_database else _of_lines)(copy, key)
        whole = whole and not _unreadable(found)
    except (LedgerUnsound, KeyError, TypeError, ValueError, AttributeError, RecursionError, *TROUBLE) as error:
        if is_passing(error):
            raise LedgerError(_UNSEEN) from None
        found, whole, marked = [], False, False  # whoever wrote it may have sealed anything
    if not whole:
        raise LedgerUnsound(DAMAGED)
    return Backup(found, marked)


def _of_lines(copy: Path, key: Key) -> tuple[list[Record], bool, bool]:
    mark = _cut_mark(copy)
    found, whole = from_journal(copy, key)
    if not found:
        return found, whole, False
    last = _last_line(copy)
    if not last.endswith("\n"):  # a line that is not finished is not read, and stands for nothing
        return found, False, False
    if not mark:
        return found, whole, False
    record = Record.from_line(last)  # as it was written, whatever form it is read into
    return found, whole, hmac.compare_digest(mark, _mark(key, record.seq, record.hash))


def _last_line(file: Path) -> str:
    with file.open(encoding="ascii") as lines:
        return "".join(deque(lines, maxlen=1))


def _cut_mark(file: Path) -> str:
    """The mark that ends the file, which is then without it; empty where there is none."""
    with file.open("rb+") as lines:
        start = max(lines.seek(0, os.SEEK_END) - _LONGEST_MARK, 0)
        lines.seek(start)
        before, _, line = lines.read().rstrip(b"\n").rpartition(b"\n")
        if mark := _said(line + b"\n"):
            lines.truncate(start + len(before) + 1 if before else start)
        return mark


def _said(line: bytes) -> str:
    """The mark that a line says as ``_line`` writes it; empty for any other."""
    try:
        said = json.loads(line)
    except ValueError:
        return ""
    if not isinstance(said, dict) or set(said) != {"mark"} or not isinstance(said["mark"], str):
        return ""
    return said["mark"] if line == _line(said["mark"]).encode() else ""


def _of_database(copy: Path, key: Key) -> tuple[list[Record], bool, bool]:
    if not _is_a_ledger_s(copy):
        return [], False, False
    engine = make_engine(ledger_url(copy))
    try:
        # of the oldest forms the records are written anew, so that a mark says nothing of what comes out
        marked = _is_marked(copy, key) and form(engine) not in (None, *OLDER)
        return (*from_database(engine, key), marked)
    finally:
        engine.dispose()


def _is_marked(file: Path, key: Key) -> bool:
    """Whether the mark is that of its head, which everything else is verified against."""
    with closing(sqlite3.connect(file)) as connection:
        try:
            marks = connection.execute("SELECT mark FROM backup_mark LIMIT 2").fetchall()
            seq, last = connection.execute("SELECT seq, hash FROM head").fetchone()
        except sqlite3.Error as error:
            if is_passing(error):
                raise
            return False
    return len(marks) == 1 and hmac.compare_digest(str(marks[0][0]), _mark(key, seq, str(last)))


def _is_a_ledger_s(file: Path) -> bool:
    """Whether every table, index and trigger is one that a ledger has or had: a check, a view, a column that is worked
    out or a trigger of somebody's own may have no end."""
    with closing(sqlite3.connect(file)) as connection:
        try:
            made = connection.execute("SELECT tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        except sqlite3.Error as error:
            if is_passing(error):
                raise
            return False
    versions = [sql for table, sql in made if table == _VERSION]
    return versions == [_ITS_TABLE] and sqlite_form([sql for table, sql in made if table != _VERSION]) in SQLITE_FORMS


def _unreadable(records: Iterable[Record]) -> int:
    """The number of the first record that cannot be read, though its hash fits; 0 where all can."""
    replay = Replay()
    for record in records:
        try:
            replay.add(record)
            if not record.is_plain():  # which no other reader takes, or which has a second form
                return record.seq
            if record.kind == "charge":
                Receipt.of(record, None)
            elif record.kind == "answer":
                record.content["answer"]
        except (LedgerUnsound, KeyError, TypeError, ValueError, AttributeError, RecursionError):
            return record.seq
    return 0
