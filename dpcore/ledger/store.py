"""The database with its journal: checked transactions, and the chain of records they extend."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import schema
from dpcore.ledger.budget import Budget
from dpcore.ledger.engine import (
    TROUBLE,
    check_server,
    data_folder,
    database_file,
    explain,
    is_damage,
    ledger_url,
    make_engine,
    migrate,
    reading,
    writing,
)
from dpcore.ledger.journal import BEHIND, MISSING, Journal
from dpcore.ledger.lock import exclusive
from dpcore.ledger.records import Kind, Record, next_record
from dpcore.ledger.verify import BROKEN_CHAIN, Replay, stored_records, verify_database

_HEAD = select(schema.head.c.seq, schema.head.c.hash).with_for_update()
_ADD, _MOVE = insert(schema.records), update(schema.head)


class Store:
    """One database and its journal. Safe to share between threads; several processes may use the same one."""

    def __init__(self, engine: Engine, journal: Journal | None, lock: Path | None) -> None:
        """Use ``Store.open``."""
        self.engine = engine
        self.journal = journal
        self.lock = lock
        self.refused: dict[str, Budget] = {}  # by lineage, as last seen when it could not take a charge
        self._closed_because: str | None = None
        # a database in memory has one connection, which threads must take turns with
        in_memory = engine.dialect.name == "sqlite" and journal is None
        self._turns: AbstractContextManager[Any] = threading.RLock() if in_memory else nullcontext()

    @classmethod
    def open(cls, location: str | os.PathLike[str] | None, journal: str | os.PathLike[str] | None) -> Store:
        """See ``Ledger.open``."""
        url = ledger_url(location)
        file = database_file(url)
        lock = None if file is None else beside(file, "lock")
        engine: Engine | None = None
        store: Store | None = None
        refused: LedgerError | None = None
        try:
            engine = make_engine(url)
            check_server(engine)
            with exclusive(lock):
                migrate(engine)
            path = Path(journal) if journal is not None else journal_path(engine, file)
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = lock or beside(path, "lock")
            found = cls(engine, None if path is None else Journal(path), lock)
            with found.writing() as connection:
                verify_database(connection)
            store = found
        except TROUBLE as error:
            refused = refuse(error)
        finally:
            if store is None and engine is not None:
                engine.dispose()
        if store is None:
            raise refused or LedgerError("The ledger could not be opened.")
        return store

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One checked transaction; when it ends the journal has everything the database has.

        Raises LedgerUnsound, and LedgerError when the database or the disk refuses.
        """
        self._be_open()
        try:
            with self._turns, exclusive(self.lock):
                with writing(self.engine) as connection:
                    self._compare(connection)
                    yield connection
                    added = list(connection.info["added"])
                self._follow(added)
        except LedgerUnsound as error:
            self._closed_because = str(error)
            raise
        except TROUBLE as error:
            refused = refuse(error)
        else:
            return
        raise refused

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that sees one state. Raises as ``writing``."""
        self._be_open()
        try:
            with self._turns, reading(self.engine) as connection:
                yield connection
        except TROUBLE as error:
            refused = refuse(error)
        else:
            return
        raise refused

    def append(self, connection: Connection, kind: Kind, **parts: Any) -> Record:
        """Extend the chain by one record within the transaction of ``writing``."""
        added: list[Record] = connection.info["added"]
        seq, previous = (added[-1].seq, added[-1].hash) if added else connection.info["head"]
        record = next_record(seq + 1, previous, kind, **parts)
        values = {name: getattr(record, name) for name in Record.__slots__}
        connection.execute(_ADD, values)
        connection.execute(_MOVE, {"seq": record.seq, "hash": record.hash})
        added.append(record)
        return record

    def verify(self) -> Replay:
        """Check the database and the whole journal again. Raises LedgerUnsound."""
        with self.writing() as connection:
            if self.journal is not None:
                Journal(self.journal.path).read_on()
            return verify_database(connection)

    def close(self) -> None:
        """Let go of the database; the store cannot be used afterwards."""
        self._closed_because = "The ledger has been closed; open it again."
        self.engine.dispose()

    def _be_open(self) -> None:
        if self._closed_because is not None:
            raise LedgerUnsound(self._closed_because)

    def _compare(self, connection: Connection) -> None:
        """The database must have all that the journal has. Raises LedgerUnsound."""
        # on a server this row is the queue in which writers wait
        head = connection.execute(_HEAD).one_or_none()
        if head is None:
            raise LedgerUnsound(BROKEN_CHAIN)
        seq, digest = head
        connection.info.update(head=(seq, digest), added=[])
        journal = self.journal
        if journal is None:
            return
        journal.read_on()
        if seq > 0 and not journal.exists():
            raise LedgerUnsound(MISSING)
        if journal.seq == 0 or (seq, digest) == (journal.seq, journal.hash):
            return
        found = connection.execute(select(schema.records.c.hash).where(schema.records.c.seq == journal.seq)).scalar()
        if found != journal.hash or seq < journal.seq:
            raise LedgerUnsound(BEHIND)

    def _follow(self, added: list[Record]) -> None:
        """Bring the journal up to the database: with what was just added, or with all that it lacks."""
        if self.journal is None:
            return
        if added and added[0].seq == self.journal.seq + 1:
            self.journal.add(added)
            return
        with reading(self.engine) as connection:
            self.journal.add(stored_records(connection, after=self.journal.seq))


def beside(path: Path, ending: str) -> Path:
    """The file that belongs to ``path`` under another ending."""
    return path.with_name(f"{path.name}.{ending}")


def journal_path(engine: Engine, file: Path | None) -> Path | None:
    """Beside an SQLite file; for a server in the person's data folder; none for a database in memory."""
    if engine.dialect.name == "sqlite":
        return None if file is None else beside(file, "journal")
    with reading(engine) as connection:
        name = connection.execute(select(schema.head.c.ledger_id)).scalar_one()
    return data_folder() / "journals" / f"{name}.journal"


def refuse(error: Exception) -> LedgerError:
    """What to raise, outside the handler, for an error of the database or the disk: one sentence, nothing attached."""
    return (LedgerUnsound if is_damage(error) else LedgerError)(explain(error))
