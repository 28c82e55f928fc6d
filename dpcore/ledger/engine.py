"""Where a ledger lives and how it is reached: URL, connection settings, tables brought up to date."""

from __future__ import annotations

import errno
import math
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, ExceptionContext, Select, create_engine, event, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    InterfaceError,
    MultipleResultsFound,
    OperationalError,
    PendingRollbackError,
    ResourceClosedError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as SQLTimeoutError
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.compiler import SQLCompiler

from dpcore.addresses import OF_NO_SESSION, read_address
from dpcore.errors import InvalidArgument, LedgerError, LedgerUnsound
from dpcore.ledger import held
from dpcore.ledger.commands import RESTORE, VERIFY
from dpcore.ledger.dependents import hanging
from dpcore.ledger.files import create, real
from dpcore.ledger.key import Key
from dpcore.ledger.lodging import Lodging, be_alone
from dpcore.ledger.migrations import NEWEST

TROUBLE = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError, OverflowError, MemoryError)
"""What a database or a disk may raise, a damaged one included; each becomes one sentence (``explain``). Of SQLite's
own numbers Python raises one, that there is no memory, as its MemoryError."""

UNREACHABLE = "The ledger's database cannot be reached, so nothing was given out; check that its server runs."
SLOW = "The ledger's database took too long to answer this, so nothing was given out; ask again."
WITHIN = "ledger_within"
"""The execution option that says within how many seconds a server must answer a statement, where that is not the moment
that a click has (``watch.ANSWER``)."""
CHECKING, AS_LONG_AS_IT_TAKES = 60.0, math.inf
"""Such seconds of whatever looks at a whole ledger (opening, checks, backups, restoring), and of new tables and files
that are written anew."""
_BUSY_SECONDS = 60
# Processes of one machine queue for the ledger's lock file; on the server only machines meet, for milliseconds.
_LOCK_SECONDS = 2
_IDLE_SECONDS = 10  # then the server takes the lock of a client that froze from it
_WRITES_MUCH_SECONDS = 60  # as well, of one that writes a whole ledger and computes between two statements
_NETWORK = {"keepalives": 1, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3,
            "tcp_user_timeout": 10_000}  # fmt: skip
_TOLD = {
    "synchronous_commit": "on",  # 'local' waits for this server's disk, whatever the server's default is
    "lock_timeout": f"{_LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{_IDLE_SECONDS}s",
    # how it writes its safeguards down, and reads what is asked for them
    "quote_all_identifiers": "off",
    "standard_conforming_strings": "on",
}
"""What each transaction on a server is told, whatever the server's, the database's and the account's settings are."""
_SQLITE_FULL = "database or disk is full"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signs:
    """By which numbers something is told: SQLite's (its documentation, result codes, of which the lowest byte), how
    PostgreSQL's begin (its documentation, appendix A), and the system's."""

    file: frozenset[int] = frozenset()
    server: tuple[str, ...] = ()
    system: frozenset[int] = frozenset()

    def are_of(self, error: Exception) -> bool:
        original = _original(error)
        if isinstance(original, sqlite3.Error):
            return getattr(original, "sqlite_errorcode", 0) & 0xFF in self.file
        if isinstance(original, OSError):
            return original.errno in self.system
        return str(getattr(original, "sqlstate", None) or "").startswith(self.server)


_FULL = _Signs(
    file=frozenset({sqlite3.SQLITE_FULL}),
    server=("53100",),
    system=frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT}),
)
_NO_MEMORY = _Signs(file=frozenset({sqlite3.SQLITE_NOMEM}), server=("53200",), system=frozenset({errno.ENOMEM}))
_TOO_LONG = _Signs(server=("25P03", "25P04", "57014"))
_HELD = _Signs(
    file=frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}),
    server=("40P01", "55006", "55P03"),
    system=frozenset({errno.EBUSY}),
)
_UNREAD = _Signs(file=frozenset({sqlite3.SQLITE_IOERR}), server=("58030", "58P01"), system=frozenset({errno.EIO}))
_DAMAGED = _Signs(file=frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}), server=("XX001", "XX002"))
_UNOPENED = _Signs(
    file=frozenset({sqlite3.SQLITE_CANTOPEN}),
    system=frozenset({errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENOENT, errno.ENOTDIR}),
)
_UNWRITTEN = _Signs(
    file=frozenset({sqlite3.SQLITE_AUTH, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}),
    server=("25006", "42501"),
    system=frozenset({errno.EACCES, errno.EPERM, errno.EROFS}),
)
_OF_TABLES = _Signs(server=("22", "42703", "42804", "42809", "42883", "42P01"))
"""What a server says of values, columns and tables that are not as they were made."""
_LOST = _Signs(server=("08", "53300", "57P"))
_NO_CONNECTION = (PendingRollbackError, ResourceClosedError, SQLTimeoutError)
"""What SQLAlchemy says itself where there is no connection, or none any more."""
_REFUSED = _Signs(server=("42501",))
"""What stays as it is until somebody gives the account a right."""
_NOT_NOW = _Signs(
    file=frozenset({
        sqlite3.SQLITE_PERM, sqlite3.SQLITE_ABORT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_AUTH,
    }),
    server=("08", "25006", "25P", "40", "42501", "53", "55", "57", "58030", "58P01"),
)  # fmt: skip
"""Everything else but what is stored."""
_ONE_AT_A_TIME = threading.Lock()
"""Alembic is of one thread."""
_MADE_BY_ANOTHER = ("23505", "42P07")
"""What a server says of tables that another program made at the same moment, once it has made them."""
_HINDERED, _MOST_HANGING = ("0A", "2BP01"), 8
"""How the numbers begin of a step that is refused for what hangs on a column; and how much of that is told."""
NOT_BROUGHT_FORWARD = (
    "The ledger's tables could not be brought forward to the form of this version; they are as they were, and not "
    "damaged by that. "
)
HANGING = (
    "On columns that change hangs what is not the ledger's: {}. Keep how it is made, drop it, begin again, and make it "
    "anew afterwards."
)
OF_A_SERVER = (
    "The database says {}, and more in its log: take away what is in the way there, or give the tables to the ledger's "
    "account, and begin again. Only where the tables lack something, make an empty database, name it in "
    f"EPSILON_LAB_LEDGER, and run {RESTORE} with a backup."
)
MEANWHILE = (
    "Another program made this ledger's tables, or wrote into them, at the same moment, so nothing was changed here; "
    f"run {VERIFY}, and this again only where it says so."
)
UNKNOWN = (
    "The ledger's database says {}, and more in its log; that says nothing of what is recorded, so nothing was brought "
    "back. See to it and begin again."
)
OF_A_FILE = f"Run {RESTORE}, which makes a new file of its records and keeps this one beside it."


def data_folder() -> Path:
    """The person's own folder for this program, by the habits of their system."""
    from platformdirs import user_data_path

    return user_data_path("epsilon-lab", appauthor=False)


_NO_FILE = "must be the path of a file, in letters that can be written"
_NOT_KEPT = (
    "must name a file or a database that stays, or be left out for the usual place; this names none, and what was "
    "spent would be forgotten when the program ends"
)
_PARTS = "must have nothing behind a “?” where it names an SQLite file"
_NO_ADDRESS = (
    "must be a database URL or the path of a file; in a URL the port is a number, and an @ within a name or password "
    "is written %40"
)


def ledger_url(location: str | os.PathLike[str] | None) -> URL:
    """``location`` (a URL or the path of a file), else EPSILON_LAB_LEDGER, else a file in the person's data folder.

    Raises InvalidArgument for databases other than SQLite and PostgreSQL, for an address that is empty (of a variable
    that is not set, say), and where EPSILON_LAB_LEDGER names a database in memory.
    """
    if location is not None:
        return _url(os.fspath(location), "location")
    named = os.environ.get("EPSILON_LAB_LEDGER")
    if named is not None:
        return kept_url(named, "EPSILON_LAB_LEDGER")
    return URL.create("sqlite", database=str(data_folder() / "ledger.sqlite3"))


def kept_url(named: str, by: str) -> URL:
    """The address that the environment or a command line names, of a ledger that outlives the program.

    ``by`` is the variable or the option, for the sentence. Raises InvalidArgument as ``ledger_url``, and for a database
    in memory, where every start would make all budgets whole again.
    """
    if not named.strip():
        raise InvalidArgument(by, _NOT_KEPT)
    url = _url(named, by)
    if url.get_backend_name() == "sqlite" and database_file(url) is None:
        raise InvalidArgument(by, _NOT_KEPT)
    return url


def _url(found: str, by: str) -> URL:
    try:
        found.encode()
        path = Path(found).expanduser() if "://" not in found else None
    except (UnicodeEncodeError, RuntimeError):  # half a letter; ~ of somebody whom the system does not know
        raise InvalidArgument(by, _NO_FILE) from None
    if path is not None:
        return _of_file(URL.create("sqlite", database=str(path) if found else ""), by)
    try:
        url = read_address(found)
    except ArgumentError:
        raise InvalidArgument(by, _NO_ADDRESS) from None
    if url.get_backend_name() == "postgresql" and url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise InvalidArgument(by, "must name SQLite (sqlite:///…) or PostgreSQL (postgresql+psycopg://…)")
    return _of_file(url, by) if url.get_backend_name() == "sqlite" else url


def _of_file(url: URL, by: str) -> URL:
    """An address of SQLite's, or of a database in memory that is asked for by its name, that names nothing else.

    What stands behind a “?” tells SQLite's driver things, so that the file may be another one than is named.
    """
    if url.query:
        raise InvalidArgument(by, _PARTS)
    if url.database == "":  # sqlite:/// of a variable that is not set
        raise InvalidArgument(by, _NOT_KEPT)
    file = database_file(url)
    if file is not None and not file.name:
        raise InvalidArgument(by, _NO_FILE)
    return url


def database_file(url: URL) -> Path | None:
    """The file of an SQLite database on disk, else None."""
    if url.get_backend_name() != "sqlite" or url.database in (None, ":memory:"):
        return None
    return Path(str(url.database)).absolute()


def make_engine(url: URL) -> Engine:
    """An engine whose transactions are durable when they return and never start as readers that later write."""
    if url.get_backend_name() == "postgresql":
        return _postgresql(url)
    if sqlite3.sqlite_version_info < (3, 37):
        raise LedgerError("The ledger needs SQLite 3.37 or newer; this Python brings an older one.")
    file = database_file(url)
    settings: dict[str, Any] = {"connect_args": {"timeout": _BUSY_SECONDS, "check_same_thread": False}}
    if file is None:
        settings["poolclass"] = StaticPool  # every connection to :memory: would be another database
    else:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            with suppress(FileExistsError):  # where another made it meanwhile, it is opened by SQLite alone
                os.close(create(real(file)))
    engine = create_engine(url, **settings)
    if file is not None:
        held.note(engine, file)

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not guessed by the driver
        for setting in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            "recursive_triggers = ON",  # so that REPLACE cannot delete behind a trigger's back
            "trusted_schema = OFF",
            "cell_size_check = ON",
            "secure_delete = ON",  # what is written anew leaves nothing of what it was
            "wal_autocheckpoint = 4000",  # pages; a charge that checkpoints takes longer, so let few of them
        ):
            connection.execute(f"PRAGMA {setting}")

    event.listen(engine, "handle_error", _of_values)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("ledger_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL) -> Engine:
    from dpcore.ledger import watch  # loads psycopg

    # what the URL itself says comes first
    usual = {**_NETWORK, "connect_timeout": watch.CONNECT, **OF_NO_SESSION}
    settings = {name: value for name, value in usual.items() if name not in url.query}
    engine = create_engine(
        url,
        isolation_level="READ COMMITTED",
        connect_args=settings,
        pool_timeout=watch.CONNECT,
        use_native_hstore=False,  # or it asks for its type before it is told where to look
    )
    lodging = Lodging(_TOLD)
    # that is known by then, and would come in the letters of a session that nobody has told yet
    engine.dialect._get_default_schema_name = lambda _: lodging.schema  # type: ignore[method-assign, assignment]

    # before SQLAlchemy's own first questions, and after the watch, which is put before it in turn
    @event.listens_for(engine, "connect", insert=True)
    def _prepare(connection: Any, _: Any) -> None:
        with connection.cursor() as cursor:
            lodging.settle(cursor)
        connection.commit()

    event.listen(engine, "begin", lodging.tell)
    event.listen(engine, "handle_error", _of_values)
    watch.watch(engine)
    return engine


def _of_values(context: ExceptionContext) -> None:
    """Raises InvalidArgument where it is a statement's own values that no database can be asked about; what a row holds
    is read after it."""
    original = context.original_exception
    if context.statement is None:
        return
    if isinstance(original, OverflowError):
        raise InvalidArgument("number", "must be one that a database can be asked about: below 2⁶³") from None
    # a zero in a text the driver refuses by itself, without a number
    refused = isinstance(context.sqlalchemy_exception, DataError) and getattr(original, "sqlstate", "") is None
    if refused or isinstance(original, UnicodeEncodeError):
        raise InvalidArgument("text", "must hold no zeros and no halves of letters") from None


class WrittenLater(LedgerUnsound):
    """A ledger in a form that this version does not know, and which is no damaged one for that."""


class NotBroughtForward(LedgerError):
    """A ledger of an older form, as it was, of which the database refused a step to this version's."""


class Slow(SQLAlchemyError):
    """The server did not answer one statement in time. It may be well: others ask it as before."""


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection within one transaction that sees one state of the database."""
    with engine.connect() as connection, connection.begin():
        yield connection


def row_of_file(engine: Engine, statement: Select[Any], **values: Any) -> dict[str, Any] | None:
    """The only row of a statement in SQLite, or None.

    One statement sees one state without a transaction, and the driver answers it in a twentieth of the time that
    building one takes: pages ask for a budget in every run.
    """
    asked = _for_sqlite(statement)
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute(str(asked), [values[name] for name in asked.positiontup or ()])
        names, rows = [column[0] for column in cursor.description], cursor.fetchmany(2)
        cursor.close()
    finally:
        raw.close()  # given back
    if len(rows) > 1:
        raise MultipleResultsFound
    return dict(zip(names, rows[0], strict=True)) if rows else None


@lru_cache(maxsize=16)
def _for_sqlite(statement: Select[Any]) -> SQLCompiler:
    found: SQLCompiler = statement.compile(dialect=sqlite.dialect())
    return found


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """As ``reading``, for whatever looks at a whole ledger: all of its statements see one state, each may take a server
    longer than a moment, and who writes waits for none of them."""
    on_server = engine.dialect.name == "postgresql"
    options = {"isolation_level": "REPEATABLE READ"} if on_server else {}
    with engine.connect().execution_options(**options, **{WITHIN: CHECKING}) as connection, connection.begin():
        _may_be_idle(connection, 0)  # without end: who froze is in nobody's way
        yield connection


@contextmanager
def writing(engine: Engine, *, within: float | None = None) -> Iterator[Connection]:
    """A connection within one transaction that holds the right to write from its start.

    ``within`` is for work that may take a server longer than a moment, and that nobody else goes on beside.
    """
    options = {"ledger_writes": True} | ({} if within is None else {WITHIN: within})
    with engine.connect().execution_options(**options) as connection, connection.begin():
        if within is not None:
            _may_be_idle(connection, _WRITES_MUCH_SECONDS)
        if within == AS_LONG_AS_IT_TAKES and engine.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL lock_timeout TO '60s'"))
        yield connection


def _may_be_idle(connection: Connection, seconds: int) -> None:
    """For how long what works on a whole ledger computes between two statements and is no client that froze; 0 is
    without end."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL idle_in_transaction_session_timeout TO '{seconds}s'"))


def form(engine: Engine) -> str | None:
    """The migration that the tables are at, or None where there are none."""
    with reading(engine) as connection:
        return _form(connection)


def migrate(engine: Engine, key: Key, check: Callable[[Connection], object] = lambda connection: None) -> bool:
    """Create the tables or bring them to the newest form, one process at a time: whether it was this one that created
    them. Alembic is loaded only if needed.

    ``check`` looks at tables that were brought to the newest form, before that is final. Raises LedgerUnsound for those
    of a newer version, and NotBroughtForward.
    """
    present = form(engine)
    if present == NEWEST:
        return False
    try:
        with _ONE_AT_A_TIME, writing(engine, within=AS_LONG_AS_IT_TAKES) as connection:
            return _brought_forward(connection, key, check)
    except DBAPIError as error:
        number = getattr(error.orig, "sqlstate", None)
        if present is None and number not in _MADE_BY_ANOTHER:
            raise
        if present is not None and not _is_of_a_step(error):
            raise
    if present is not None:
        raise NotBroughtForward(_step_told(engine, number or ""))
    if form(engine) is None:
        raise LedgerError("The ledger's tables could not be made; try again.")
    return migrate(engine, key, check)


def make_tables(connection: Connection, key: Key) -> bool:
    """As ``migrate``, within a transaction of ``writing`` that goes on: nobody else sees tables without what it then
    writes into them. Raises LedgerError where another program makes them at the same moment."""
    try:
        with _ONE_AT_A_TIME:
            return _brought_forward(connection, key, lambda connection: None)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in _MADE_BY_ANOTHER:
            raise
    raise LedgerError(MEANWHILE)


def _is_of_a_step(error: DBAPIError) -> bool:
    """Whether a database refused a step to a newer form for what the tables are, or for whose; not for what it cannot
    do just now, nor for damage of which it says so itself."""
    return _REFUSED.are_of(error) or not (is_passing(error) or is_damage(error))


def _step_told(engine: Engine, number: str) -> str:
    """What a step was refused for, and what to do, in sentences; ``number`` is a server's."""
    if engine.dialect.name == "sqlite":
        return NOT_BROUGHT_FORWARD + OF_A_FILE
    with reading(engine) as connection:
        found = hanging(connection) if number.startswith(_HINDERED) else []
    if not found:
        return NOT_BROUGHT_FORWARD + OF_A_SERVER.format(number)
    more = [f"{len(found) - _MOST_HANGING} more"] if len(found) > _MOST_HANGING else []
    return NOT_BROUGHT_FORWARD + HANGING.format("; ".join([*found[:_MOST_HANGING], *more]))


def _brought_forward(connection: Connection, key: Key, check: Callable[[Connection], object]) -> bool:
    """Nobody else can keep the table locked that is: an advisory lock anybody can hold who may connect."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if connection.dialect.name == "postgresql" and _has_tables(connection):
        connection.execute(text("LOCK TABLE alembic_version IN SHARE ROW EXCLUSIVE MODE"))
    present = _form(connection)
    if present is not None and present not in known:
        raise WrittenLater("The ledger was written by a newer version of this program; use that version.")
    config.attributes.update(connection=connection, key=key)
    command.upgrade(config, NEWEST)
    if present not in (None, NEWEST):
        check(connection)
    return present is None


def _has_tables(connection: Connection) -> bool:
    return inspect(connection).has_table("alembic_version")


def _form(connection: Connection) -> str | None:
    """The migration the tables are at, or None where there are none yet."""
    if not _has_tables(connection):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def rewrite_files(engine: Engine) -> None:
    """Leave nothing in the database's own files of rows that are gone. A server's log of changes is the server's."""
    if engine.dialect.name == "postgresql":
        options = {"isolation_level": "AUTOCOMMIT", "no_parameters": True, WITHIN: AS_LONG_AS_IT_TAKES}
        with reading(engine) as connection:
            schema = connection.exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
        with engine.connect().execution_options(**options) as connection:  # in no transaction that could be told
            for table in ("head", "records", "lineages", "accounts", "fingerprints"):
                connection.exec_driver_sql(f"VACUUM FULL {schema}.{table}")
        return
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("VACUUM")
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        raw.close()


def in_one_file(engine: Engine) -> None:
    """Have all that a new SQLite database holds in its own file, on disk. Raises OSError where somebody reads it."""
    raw = engine.raw_connection()
    try:
        busy, _, _ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        raw.close()
    if busy:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def check_server(engine: Engine) -> None:
    """Refuse a PostgreSQL server that may lose what it has confirmed, or a schema of it that is not the ledger's own.
    Raises LedgerUnsound."""
    if engine.dialect.name != "postgresql":
        return
    with reading(engine) as connection:
        be_alone(connection)
        for setting in ("fsync", "full_page_writes"):
            if connection.execute(text("SELECT current_setting(:name)"), {"name": setting}).scalar() != "on":
                raise LedgerUnsound(
                    f"The ledger's server runs with {setting} off and may forget charges; turn it on and try again."
                )


def is_damage(error: Exception) -> bool:
    """Whether the database itself says that its file is broken; of rows, not of what is on its way there."""
    if isinstance(error, UnicodeDecodeError | OverflowError):
        return True
    original = _original(error)
    # the driver's own, which has no number: a text in the file that is none
    no_text = isinstance(original, sqlite3.OperationalError) and not hasattr(original, "sqlite_errorcode")
    return _DAMAGED.are_of(error) or (no_text and not is_full(error))


def is_passing(error: Exception) -> bool:
    """Whether it says nothing of what is stored: somebody holds it, there is no room, it cannot be opened, read or
    written now. Whoever takes that for damage puts a sound database aside."""
    original = _original(error)
    if isinstance(error, Slow) or is_full(error) or isinstance(original, OSError | MemoryError):
        return True
    return _NOT_NOW.are_of(error) or is_lost(error)


def must_be_of_rows(error: Exception) -> None:
    """Raises ``error`` where it says nothing of what is stored (``is_passing``), and LedgerError where nobody knows
    that of the number that a server tells: only the rest is damage."""
    if is_passing(error):
        raise error
    number = getattr(_original(error), "sqlstate", None)
    if number is not None and not (is_damage(error) or _OF_TABLES.are_of(error)):
        raise LedgerError(UNKNOWN.format(number)) from None


def is_lost(error: Exception) -> bool:
    """Whether the server could not be reached: not where one statement alone took too long."""
    if is_slow(error):
        return False
    if isinstance(error, _NO_CONNECTION) or _LOST.are_of(error):
        return True
    original = _original(error)
    # what has no number is of no server: it is the driver's own, about the connection
    unanswered = isinstance(error, OperationalError | InterfaceError) and getattr(original, "sqlstate", "") is None
    return unanswered or isinstance(original, ConnectionError) or getattr(error, "connection_invalidated", False)


def is_held(error: Exception) -> bool:
    """Whether another program holds it, for longer than a lock is waited for."""
    return _HELD.are_of(error)


def _original(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def is_slow(error: Exception) -> bool:
    """Whether one statement took too long, or the server ended a transaction that computed too long in between."""
    return isinstance(error, Slow) or _TOO_LONG.are_of(error)


def _is_without_memory(error: Exception) -> bool:
    return isinstance(_original(error), MemoryError) or _NO_MEMORY.are_of(error)


def is_full(error: Exception) -> bool:
    """Whether the disk has no room."""
    original = _original(error)
    return _FULL.are_of(error) or (isinstance(original, sqlite3.Error) and str(original) == _SQLITE_FULL)


def explain(error: Exception) -> str:
    """One sentence for the owner about a database that did not do what it was asked. By numbers alone: words quote
    rows, in which a name may say anything."""
    if is_full(error):
        return "The ledger's disk is full, so nothing was given out; free some space and ask again."
    if _is_without_memory(error):
        return (
            "There is no memory left for the ledger or its database, so nothing was given out; close other programs "
            "and ask again."
        )
    if is_slow(error):
        return SLOW
    if is_held(error):
        return "The ledger is held by another program for too long, so nothing was given out; close it and ask again."
    if _UNREAD.are_of(error):
        return (
            "The ledger's disk could not be read or written, so nothing was given out; check it. Only where its file "
            f"stays so, move that away and run {RESTORE} with a backup."
        )
    if is_damage(error):
        return f"The ledger's file is damaged and stays closed; run {RESTORE} with a backup."
    if _UNOPENED.are_of(error):
        return "The ledger's file cannot be opened; check that its folder exists and who may write there."
    if _UNWRITTEN.are_of(error):
        return "The ledger cannot be written to, so nothing was given out; check who may write its file."
    if is_lost(error):
        return UNREACHABLE
    return f"The ledger could not record this, so nothing was given out; run {VERIFY}."
