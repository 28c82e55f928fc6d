"""Every test of the ledger that takes ``place`` runs on SQLite and on a private PostgreSQL server."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, create_engine, text

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.ledger import Ledger
from dpcore.ledger import place as places
from tests.ledger.only_sqlite import opened_beside_sqlite
from tests.ledger.patients import furnished, patients

Computers = Callable[[str, Path], Path]


@pytest.fixture(autouse=True)
def locks_are_kept() -> Iterator[None]:
    """No test of the ledger has the program open a database that SQLite holds in this process."""
    with opened_beside_sqlite() as opened:
        yield
    assert opened == []


@pytest.fixture(scope="session")
def server() -> Iterator[PrivateServer]:
    """A PostgreSQL server for this run. A machine without one fails the tests: the same promises hold on both."""
    try:
        running = private_server()
        found = running.__enter__()
    except RuntimeError as error:
        pytest.fail(str(error))
    yield found
    running.__exit__(None, None, None)


@dataclass(frozen=True)
class Place:
    """Where one ledger is."""

    url: str
    journal: Path
    database: Path | None

    def open(self) -> Ledger:
        return Ledger.open(self.url, journal=self.journal)

    def lose(self) -> None:
        """The database is gone, and nobody has it open."""
        if self.database is not None:
            self.database.unlink()
            return
        engine = create_engine(self.url)
        with engine.begin() as connection:
            name = connection.execute(text("SELECT current_schema()")).scalar()
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        engine.dispose()


def unguarded(connection: Connection, statement: str) -> None:
    """As somebody with full rights, who switches the safeguards off, edits, and switches them on again."""
    off: list[str] = []
    if connection.dialect.name == "postgresql":
        query = "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
        for table, name in connection.exec_driver_sql(f"{query} AND pg_table_is_visible(tgrelid)").all():
            connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
            off.append(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
        connection.exec_driver_sql("SET session_replication_role = replica")  # nor does a reference keep anything
        connection.exec_driver_sql(statement)
        connection.exec_driver_sql("; ".join(off))
        return
    triggers = list(connection.execute(text("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")))
    for name, _ in triggers:
        connection.execute(text(f"DROP TRIGGER {name}"))
    connection.exec_driver_sql(statement)
    for _, sql in triggers:
        connection.exec_driver_sql(sql)


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has every transaction of these tests begin in another session of the server, as behind a pooler that gives each
    away on its own: one that was told nothing, begins as ``settings`` say, and has statements that others prepared."""
    prepared = [f"PREPARE _pg3_{number} AS SELECT 'another''s'" for number in range(4)]

    def give_away(*settings: str) -> None:
        def as_new(connection: psycopg.Connection[object]) -> None:
            idle = connection.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
            if idle:
                for told in ("DISCARD ALL", *prepared, *settings):
                    found = connection.pgconn.exec_(told.encode())
                    assert found.status == psycopg.pq.ExecStatus.COMMAND_OK, found.error_message

        for name in ("commit", "rollback"):
            ends = getattr(psycopg.Connection, name)

            def ended(connection: psycopg.Connection[object], ends: Callable[..., None] = ends) -> None:
                within = connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE
                ends(connection)
                if within:  # a test that looks at the server itself begins none
                    as_new(connection)

            monkeypatch.setattr(psycopg.Connection, name, ended)

    return give_away


@pytest.fixture
def computers(monkeypatch: pytest.MonkeyPatch) -> Computers:
    def at(name: str, folder: Path) -> Path:
        """From now on this is another computer, with its own folder and its copy of the key file."""
        monkeypatch.setattr(places.socket, "gethostname", lambda: name)
        monkeypatch.setenv("EPSILON_LAB_KEY", str(folder / name / "ledger.key"))
        (folder / name).mkdir(exist_ok=True)
        for other in folder.glob("*/ledger.key"):
            if not (folder / name / "ledger.key").exists():
                shutil.copyfile(other, folder / name / "ledger.key")
        return folder / name

    return at


@pytest.fixture(params=["sqlite", "postgresql"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Place]:
    """Makes empty places for ledgers, all on the same kind of database."""
    numbers = itertools.count()

    def make() -> Place:
        folder = tmp_path / f"ledger{next(numbers)}"
        if request.param == "sqlite":
            file = folder / "ledger.sqlite3"
            return Place(url=f"sqlite:///{file}", journal=file.with_name(file.name + ".journal"), database=file)
        url = request.getfixturevalue("server").new_schema()
        return Place(url=url, journal=folder / "ledger.journal", database=None)

    return make


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    return new_place()


@pytest.fixture
def ledger(empty_ledger: Path, place: Place) -> Iterator[Ledger]:
    if place.database is not None:
        place.database.parent.mkdir()
        shutil.copyfile(empty_ledger, place.database)
    opened = place.open()
    yield opened
    opened.close()


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Place:
    file = tmp_path / "ledger.sqlite3"
    return Place(url=f"sqlite:///{file}", journal=tmp_path / "ledger.sqlite3.journal", database=file)


@pytest.fixture
def whole(empty_ledger: Path, sqlite_place: Place) -> Iterator[Ledger]:
    assert sqlite_place.database is not None
    shutil.copyfile(empty_ledger, sqlite_place.database)
    with sqlite_place.open() as ledger:
        yield furnished(ledger, patients())
        ledger.verify()
