"""The database with its journal: checked transactions, and the chain of records they extend."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Select, bindparam, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import daily, schema
from dpcore.ledger.begun import Begun
from dpcore.ledger.budget import Budget
from dpcore.ledger.checks import Checks
from dpcore.ledger.drawing import Drawing
from dpcore.ledger.engine import (
    CHECKING,
    TROUBLE,
    check_server,
    explain,
    form,
    is_damage,
    is_lost,
    ledger_url,
    make_engine,
    migrate,
    reading,
    rewrite_files,
    row_of_file,
    snapshot,
    writing,
)
from dpcore.ledger.failed import Failed
from dpcore.ledger.files import beside, real
from dpcore.ledger.following import Following
from dpcore.ledger.journal import BEHIND, MISSING, Journal, starts_old, whole, write_anew
from dpcore.ledger.kept import Kept
from dpcore.ledger.key import Key
from dpcore.ledger.keyed import key_of
from dpcore.ledger.lock import PATIENCE, exclusive
from dpcore.ledger.migrations import OLDER
from dpcore.ledger.outcomes import Outcomes
from dpcore.ledger.place import PRESENT, Place
from dpcore.ledger.records import Kind, Record, next_record
from dpcore.ledger.renewal import renewed
from dpcore.ledger.rooms import Opened
from dpcore.ledger.undecided import Undecided
from dpcore.ledger.verify import BROKEN_CHAIN, Replay, linked, sizes_after, stored_records, verify_database
from dpcore.ledger.waited import Waited

T = TypeVar("T")
Right = Callable[[Connection], object]
"""Whether somebody may do something, as the ledger is in one transaction: it raises where they may not."""
_NEAR = 1 << 18
"""Bytes of records that are read while all other computers wait, at most: a slow line has them in a moment. Three links
of files are so many; of fewer a computer would never come up with whoever links one after the other."""
ASK_AGAIN = 5.0
"""Seconds for which a server that could not be reached is not asked again."""
_MOST_TRIES = 20
"""Times that a writer reads what others wrote meanwhile, before it writes: each has less to read than the one before,
unless its line is slower than they are, or leads to a copy of the database that lags behind."""
FALLS_BEHIND = (
    "Others write into the ledger faster than this computer can read what they wrote, so nothing was given out; ask "
    "again. Where it stays so, look whether its line to the ledger's server is slow, and that the ledger's address "
    "names that server itself and no copy of it that lags behind."
)
JUST_BEGUN = "Another computer has just begun this ledger, so nothing was given out; ask again."
NOT_KNOWN = (
    "The ledger's database did not say whether it has recorded this, so nothing was given out; look whether it is "
    "there before you do it again."
)
RECORDED = (
    "The ledger has recorded this, but its journal could not be written at that moment, so nothing was given out; look "
    "again soon, and check the journal's disk."
)
_HEAD = select(schema.head.c.seq, schema.head.c.hash).with_for_update(key_share=True)
_TIME = select(schema.records.c.time).where(schema.records.c.seq == bindparam("last"))
_OF_NO_READ = nullcontext()
_ADD, _MOVE = insert(schema.records), update(schema.head)


class _Bound(threading.local):
    """Under which rights a thread writes, and who is told of its records."""

    def __init__(self) -> None:
        self.rights: list[Right] = []
        self.told: list[Callable[[Kind], object]] = []


class Store:
    """One database and its journal. Safe to share between threads; several processes may use the same one."""

    def __init__(
        self, engine: Engine, journal: Journal | None, lock: Path | None, key: Key, patience: float = PATIENCE
    ) -> None:
        """Use ``Store.open``."""
        self.key = key
        self.patience = patience
        self.outcomes = Outcomes()
        self.engine = engine
        self.journal = journal
        self.lock = lock
        self.begun = Begun()
        self.written = Begun(daily.DAY.total_seconds())
        self.failed = Failed()
        self.drawing = Drawing()
        self.rooms = Opened()
        self.undecided = Undecided()
        self.kept = Kept(self.reach)
        self._bound = _Bound()
        self.refused: dict[str, Budget] = {}  # by lineage, as last seen when it could not take a charge
        self.protects: dict[str, str] = {}  # by lineage, of whom each answer hides one; its first charge fixes it
        self._closed_because: str | None = None
        # why the server could not be reached, and until when nobody asks it again
        self._lost: tuple[str, float] | None = None
        self._ended = -math.inf  # when one connection ended of a server that answers
        self._asking = threading.Lock()
        self._waited = Waited()
        self._checks = Checks()
        # where it is, until this computer has a journal of a server's ledger that held no record yet
        self._unbegun: Place | None = None
        on_server = engine.dialect.name == "postgresql" and journal is not None
        self.following = Following(self.follow) if on_server else None
        # a database in memory has one connection, which threads must take turns with
        in_memory = engine.dialect.name == "sqlite" and journal is None
        self._turns: AbstractContextManager[Any] = threading.RLock() if in_memory else nullcontext()

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str] | None,
        journal: str | os.PathLike[str] | None,
        *,
        create: bool | None = None,
        patience: float = PATIENCE,
    ) -> Store:
        """See ``Ledger.open``; ``create`` is whether a ledger may be made, or None for the habit."""
        url = ledger_url(location)
        engine: Engine | None = None
        store: Store | None = None
        refused: LedgerError | None = None
        try:
            where = Place.of(url, location, journal)
            where.check(create)
            engine = make_engine(url)
            check_server(engine)
            lock = where.lock
            with exclusive(lock):
                where.check_tables(engine, create)
                key = key_of(where, engine)
                made = _bring_forward(engine, key, where.journal_of(engine))
                if create and not made and where.key is not None:  # another program made it in the meantime
                    raise LedgerError(PRESENT)
            path = where.journal_of(engine)
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = lock or beside(real(path), "lock")
                with exclusive(lock):
                    renew_journal(engine, path, key)
                    if where.is_new_here(engine, path):
                        begin_journal(engine, path)
                    where.pin_journal(engine, path, key)
            where.pin(engine, key)
            found = cls(engine, None if path is None else Journal(path), lock, key, patience)
            if path is not None and where.is_new_here(engine, path):
                found._unbegun = where
            found._checked(found.journal)
            where.keep_private(path)  # once the file that was named is known to be the journal
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
    def writing(self, at_least: float = 0.0) -> Iterator[Connection]:
        """One checked transaction; when it ends the journal has everything the database has.

        It waits for another program for the store's patience, or ``at_least`` so many seconds; a server answers each
        statement in a moment. Where its word was lost that the transaction has ended, it is looked once whether what
        was written stands. Raises LedgerUnsound, and LedgerError when the database or the disk refuses, or when it is
        not known whether it was written.
        """
        added: list[Record] = []
        with self._alone_here(at_least):
            self._begin()
            goes_on = self._read_on()  # now, for on a server all computers wait for the transaction
            until = math.inf
            for _ in range(_MOST_TRIES):
                near = False
                with self._ending(added), writing(self.engine) as connection:
                    self._compare(connection, goes_on)
                    if near := self._is_near(connection):
                        self._lost = None
                        for right in self._bound.rights:
                            right(connection)
                        lacking = self._lacking(connection)
                        yield connection
                        lacking += connection.info["added"]
                        if self.journal is not None:
                            self.journal.must_fit(lacking)
                        added += connection.info["added"]
                if near:
                    break
                if time.monotonic() >= until:
                    raise LedgerError(FALLS_BEHIND)
                self._catch_up()
                # to read what was written while it was away may take its time, and what is written meanwhile not
                until = min(until, time.monotonic() + max(self.patience, at_least))
            else:
                raise LedgerError(FALLS_BEHIND)
            with self._recorded(added):
                if self.journal is not None:
                    self.journal.add(lacking)
                self._note()

    @contextmanager
    def _ending(self, added: list[Record]) -> Iterator[None]:
        """What goes wrong once these were ``added`` is the transaction's end, which may have come all the same: then
        nothing is raised. Raises LedgerError where nobody can tell."""
        failed: Exception | None = None
        try:
            yield
        except TROUBLE as error:
            if not added:
                raise
            failed = error
        if failed is not None and not self._stands(added[-1]):
            raise failed

    def _stands(self, record: Record) -> bool:
        """Whether it was written, by a look that waits until the transaction that wrote it is over. Raises LedgerError
        where that cannot be told."""
        try:
            with reading(self.engine) as connection:
                connection.execute(_HEAD)
                found = select(schema.records.c.hash).where(schema.records.c.seq == record.seq)
                return connection.execute(found).scalar() == record.hash
        except TROUBLE as error:
            self._refused(error)
        raise LedgerError(NOT_KNOWN)

    @contextmanager
    def _recorded(self, added: list[Record]) -> Iterator[None]:
        """What goes wrong within leaves what was ``added`` on the record. Raises LedgerError, which says so."""
        try:
            yield
        except TROUBLE as error:
            if not added:
                raise
            self._refused(error)
        else:
            return
        raise LedgerError(RECORDED)

    @contextmanager
    def _alone_here(self, at_least: float = 0.0) -> Iterator[None]:
        """Nobody else at this computer writes. Raises as ``writing``, and closes what is not sound."""
        mark = self._be_open()
        try:
            with self._turns, exclusive(self.lock, max(self.patience, at_least)):
                lost = self._lost  # once: whoever reads sets it without this lock
                if lost is not None and lost is not mark and time.monotonic() < lost[1]:
                    # whoever held the lock found that the server does not answer
                    raise LedgerError(lost[0])
                yield
        except LedgerUnsound as error:
            self._closed_because = str(error)
            raise
        except TROUBLE as error:
            refused = self._refused(error)
        else:
            return
        raise refused

    def reach(self) -> bool:
        """Ask a server that was lost, without waiting for one's turn: for what has been charged, of which there is
        little. False where none was lost, nor a connection of late; raises as ``writing``."""
        self._must_be_open()
        if self._lost is None:
            return time.monotonic() < self._ended + ASK_AGAIN
        with self._looking(reading):  # which holds up no writer
            return True

    @contextmanager
    def only_by(self, right: Right) -> Iterator[None]:
        """What this thread writes within is written by this right: it is asked now, and again by each transaction that
        writes, for it may be taken away while that one waits its turn. Raises what ``right`` raises, and as
        ``writing``.
        """
        with self.reading() as connection:
            right(connection)
        rights = self._bound.rights
        rights.append(right)
        try:
            yield
        finally:
            rights.remove(right)

    @contextmanager
    def told_of_records(self, counts: Callable[[Kind], object]) -> Iterator[None]:
        """Before this thread writes a record within, ``counts`` is told of which kind; what it raises keeps the
        record, and all of its transaction, from being written."""
        self._bound.told.append(counts)
        try:
            yield
        finally:
            self._bound.told.remove(counts)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that sees one state. Raises as ``writing``."""
        self._be_open()
        if self.following is not None:
            self.following.now_and_then()
        with self._looking(reading, self._waited.reading()) as connection:
            yield connection

    def row(self, statement: Select[Any], **values: Any) -> dict[str, Any] | None:
        """The only row of a statement, or None, as the ledger is now. Raises as ``writing``."""
        if self.engine.dialect.name != "sqlite":
            with self.reading() as connection:
                found = connection.execute(statement, values).mappings().one_or_none()
            return None if found is None else dict(found)
        self._be_open()
        with self._looking(nullcontext, self._waited.reading()) as engine:
            return row_of_file(engine, statement, **values)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """As ``reading``, for whatever looks at the whole ledger (``engine.snapshot``). Raises as ``writing``."""
        self._be_open()
        with self._looking(snapshot) as connection:
            yield connection

    @contextmanager
    def beside(self, look: Callable[[Engine], AbstractContextManager[Connection]]) -> Iterator[Connection]:
        """One transaction on what lies beside the ledger (``ended``), of which no journal and no writer needs to know.
        Raises as ``writing``."""
        self._be_open()
        with self._looking(look) as connection:
            yield connection

    @contextmanager
    def _looking(
        self, look: Callable[[Engine], AbstractContextManager[T]], reads: AbstractContextManager[None] = _OF_NO_READ
    ) -> Iterator[T]:
        try:
            with reads, self._turns, look(self.engine) as found:
                self._lost = None
                yield found
        except TROUBLE as error:
            refused = self._refused(error)
        else:
            return
        raise refused

    def _refused(self, error: Exception) -> LedgerError:
        """As ``refuse``; a server that cannot be reached is not asked again for a moment, by however many people. Where
        one connection ended, a new one tells first whether it can."""
        refused = refuse(error)
        if self.engine.dialect.name == "postgresql" and isinstance(error, DBAPIError) and is_lost(error):
            self._lost = lost = (str(refused), time.monotonic() + ASK_AGAIN)
            if error.connection_invalidated and self._answers() and self._lost is lost:
                self._lost, self._ended = None, time.monotonic()
        return refused

    def _answers(self) -> bool:
        """Whether the server does, by a new connection."""
        try:
            with reading(self.engine) as connection:
                return bool(connection.execute(text("SELECT true")).scalar())
        except TROUBLE:
            return False

    def append(self, connection: Connection, kind: Kind, **parts: Any) -> Record:
        """Extend the chain by one record within the transaction of ``writing``. Raises NotAllowed for one too many of a
        person (``daily``)."""
        daily.must_be_few(connection, kind, parts["body"])
        for counts in self._bound.told:
            counts(kind)
        added: list[Record] = connection.info["added"]
        seq, previous = (added[-1].seq, added[-1].hash) if added else connection.info["head"]
        last = added[-1].time if added else connection.execute(_TIME, {"last": seq}).scalar() or ""
        record = next_record(seq + 1, previous, kind, last_time=last, **parts)
        put(connection, record)
        added.append(record)
        return record

    def follow(self) -> None:
        """Write down in this computer's journal what others added to the ledger. Raises as ``writing``."""
        with self.writing():
            pass

    def verify(self) -> Replay:
        """Check the database and the whole journal again; those who ask at once share one check, begun after each of
        them asked. Raises LedgerUnsound."""
        return self._checks.shared(lambda: self._checked(None if self.journal is None else Journal(self.journal.path)))

    def _checked(self, journal: Journal | None) -> Replay:
        """A check in which nobody waits for another: of one state of the database, while others go on, and of the
        journal, then for a moment as a writer, to see that these belong together and to what there is now.

        The journal is compared with the database, and has at least what this process knew of it, so that a file that
        was changed beneath it is found. What it finds broken may be what others wrote in the meantime, so that only a
        look while nobody here can write says it; those at other computers never wait. Raises LedgerUnsound.
        """
        known = 0 if self.journal is None else self.journal.seq
        try:
            if journal is not None:
                journal.read_on()
            with self.snapshot() as connection:
                replay: Replay | None = verify_database(connection)
        except LedgerUnsound:
            replay = None
        if replay is not None and (journal is None or journal.seq >= known):
            with self.writing() as connection:
                sound = self._is_beginning(connection, replay, journal)
            if sound:
                return replay
        with self._alone_here():
            journal = None if self.journal is None else Journal(self.journal.path)
            if journal is not None:
                journal.read_on()
                if journal.seq < known:
                    raise LedgerUnsound(journal.trouble())
            with snapshot(self.engine) as connection:
                replay = verify_database(connection)
        with self.writing() as connection:
            if not self._is_beginning(connection, replay, None):
                raise LedgerUnsound(BROKEN_CHAIN)
            if not self._is_beginning(connection, replay, journal):
                raise LedgerUnsound(BEHIND)
        return replay

    def _is_beginning(self, connection: Connection, replay: Replay, journal: Journal | None) -> bool:
        """Whether what was checked before this transaction began is the beginning of what the ledger is now."""
        return _goes_on(connection, replay) and (journal is None or _goes_on(connection, journal))

    def close(self) -> None:
        """Let go of the database; the store cannot be used afterwards."""
        self._closed_because = "The ledger has been closed; open it again."
        self.let_go()

    def let_go(self) -> None:
        """See ``Ledger.let_go``."""
        self.engine.dispose()

    def _be_open(self) -> tuple[str, float] | None:
        """What is known of a server that could not be reached, where it is this caller's turn to ask it again."""
        self._must_be_open()
        with self._asking:
            lost = self._lost
            if lost is None:
                return None
            why, until = lost
            if time.monotonic() < until:
                raise LedgerError(why)
            mark = self._lost = (why, time.monotonic() + ASK_AGAIN)  # one asks, and nobody else waits with them
            return mark

    def _must_be_open(self) -> None:
        if self._closed_because is not None:
            raise LedgerUnsound(self._closed_because)

    def _begin(self) -> None:
        """Where this computer came before the ledger held a record, join as one that comes later does."""
        if self._unbegun is not None and self.journal is not None:
            self._unbegun.must_hold(self.key)  # before a record says what only it can tell
            if self._unbegun.is_new_here(self.engine, self.journal.path):
                begin_journal(self.engine, self.journal.path)
            self._note()

    def _note(self) -> None:
        """From its first record on, this computer is known to have a journal."""
        if self._unbegun is not None and self.journal is not None and self.journal.seq > 0:
            self._unbegun.pin_journal(self.engine, self.journal.path, self.key)
            self._unbegun = None

    def _read_on(self) -> bool:
        """Read what other programs added to the journal; whether what may stand behind its last line is left of what
        the database has next."""
        if self.journal is None:
            return True
        self.journal.read_on()
        if self.journal.is_finished():
            return True
        with snapshot(self.engine) as connection:
            return self.journal.ends_before(stored_records(connection, after=self.journal.seq))

    def _compare(self, connection: Connection, goes_on: bool) -> None:
        """The database must have all that the journal has, and what stands behind the journal's last line must be left
        of one that was to be written (``goes_on``). Raises LedgerUnsound."""
        # on a server this row is the queue in which writers wait, behind nobody who only refers to it
        head = connection.execute(_HEAD).one_or_none()
        if head is None:
            raise LedgerUnsound(BROKEN_CHAIN)
        seq, digest = head
        connection.info.update(head=(seq, digest), added=[])
        journal = self.journal
        if journal is None:
            return
        goes_on = goes_on or journal.is_finished()  # by what was written down since
        if journal.seq == 0 and not goes_on:
            raise LedgerUnsound(journal.trouble())
        if journal.is_lost(stored_records(connection)):
            if self._unbegun is not None:  # in the moment since ``_begin``
                raise LedgerError(JUST_BEGUN)
            raise LedgerUnsound(MISSING)
        if journal.seq != 0 and (seq, digest) != (journal.seq, journal.hash):
            chosen = select(schema.records.c.hash).where(schema.records.c.seq == journal.seq)
            if connection.execute(chosen).scalar() != journal.hash or seq < journal.seq:
                raise LedgerUnsound(BEHIND)
        if not goes_on:
            raise LedgerUnsound(journal.trouble())

    def _is_near(self, connection: Connection) -> bool:
        """Whether what the journal lacks is so little that it is read in a moment over any line, so that nobody waits
        for it. Raises LedgerUnsound where it is not there."""
        seq, journal = int(connection.info["head"][0]), self.journal
        if journal is None or journal.seq == seq:
            return True
        sizes = sizes_after(connection, journal.seq)
        if not sizes:
            raise LedgerUnsound(BROKEN_CHAIN)
        return sizes[-1][0] >= seq and sum(many for _, many in sizes) <= _NEAR

    def _lacking(self, connection: Connection) -> list[Record]:
        """What others wrote before this transaction that the journal has to take: little (``_is_near``)."""
        if self.journal is None or connection.info["head"][0] == self.journal.seq:
            return []
        return list(stored_records(connection, after=self.journal.seq))

    def _catch_up(self) -> None:
        """Write down all that others added by now, which keeps no other computer waiting, however much it is."""
        if self.journal is not None:
            with snapshot(self.engine) as connection:
                self.journal.catch_up(stored_records(connection, after=self.journal.seq))


def _bring_forward(engine: Engine, key: Key, path: Path | None) -> bool:
    """Tables in the newest form, and whether they were made now. Those of an older one are first compared with their
    journal: see ``renewal``."""
    if form(engine) in OLDER:
        with snapshot(engine) as connection:
            records = list(linked(stored_records(connection)))
        if path is not None and records:
            noted = whole(path)
            if not noted:
                raise LedgerUnsound(MISSING)
            if len(noted) > len(records) or noted[-1].hash != records[len(noted) - 1].hash:
                raise LedgerUnsound(BEHIND)
    return migrate(engine, key, verify_database)


def renew_journal(engine: Engine, path: Path, key: Key) -> None:
    """A journal in the form from before gives way to one of the chain written anew, with a record that says so.

    It comes last: as long as it is there, what a crash left undone is done again.
    """
    if not starts_old(path):
        return
    after = renewed(whole(path), key)
    with writing(engine, within=CHECKING) as connection:
        records = list(stored_records(connection))
        if len(records) < len(after) or records[len(after) - 1].hash != after[-1].hash:
            raise LedgerUnsound(BEHIND)
        if all(record.kind != "renew" for record in records):
            body = {"records": len(records), "why": "digests of data became keyed names"}
            last = records[-1]
            note = next_record(last.seq + 1, last.hash, "renew", body=body, last_time=last.time)
            put(connection, note)
            records.append(note)
    rewrite_files(engine)
    write_anew(path, records)


def begin_journal(engine: Engine, path: Path) -> None:
    """The journal of a computer that comes to a server's ledger for the first time: all of it, if it is sound. Others
    wait for the record alone that says so.

    A record says which computer joined. What is sound and longer elsewhere this one cannot know; every other computer
    has a journal of its own, which does not let the database fall behind it. What is there of a first line gives way to
    it where it is left of this one. Raises LedgerUnsound.
    """
    with reading(engine) as connection:  # in the time of a click, which the first record is
        if connection.execute(select(schema.head.c.seq)).scalar() == 0:
            return
    left = Journal(path)
    left.read_on()
    with snapshot(engine) as connection:
        checked = verify_database(connection)
        if not left.ends_before(stored_records(connection)):
            raise LedgerUnsound(left.trouble())
        left.must_fit_anew(stored_records(connection))  # or each try would leave one more record that says so
    with writing(engine) as connection:
        head = connection.execute(_HEAD).one_or_none()  # the queue of writers
        if head is None or not _goes_on(connection, checked):
            raise LedgerUnsound(BROKEN_CHAIN)
        seq, digest = head
        last = connection.execute(_TIME, {"last": seq}).scalar() or ""
        body = {"records": 0, "journal": "joined", "host": socket.gethostname()}
        put(connection, next_record(seq + 1, digest, "restore", body=body, last_time=last))
    with snapshot(engine) as connection:
        write_anew(path, stored_records(connection))


def _goes_on(connection: Connection, checked: Replay | Journal) -> bool:
    """Whether the records that were checked are the beginning of those that there are now."""
    hashed = select(schema.records.c.hash).where(schema.records.c.seq == checked.seq)
    return checked.seq == 0 or connection.execute(hashed).scalar() == checked.hash


def put(connection: Connection, record: Record) -> None:
    """Extend the chain by a record that is sealed already."""
    connection.execute(_ADD, {name: getattr(record, name) for name in Record.__slots__})
    connection.execute(_MOVE, {"seq": record.seq, "hash": record.hash})


def refuse(error: Exception) -> LedgerError:
    """What to raise, outside the handler, for an error of the database or the disk: one sentence, nothing attached."""
    return (LedgerUnsound if is_damage(error) else LedgerError)(explain(error))
