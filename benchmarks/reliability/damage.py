"""Files damaged, copied halfway, or replaced by older ones: the ledger stays closed, or says exactly the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sqlalchemy import create_engine, text

from benchmarks.reliability.outcome import DATABASES, Ground, Outcome, Place, sentence
from dpcore.costs import Cost
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger
from dpcore.ledger.recovery import restore


def _fill(place: Place) -> list[str]:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.open_budget("others", epsilon=1.0, delta=1e-6, practice=True)
        for number in range(8):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "Which is most common?")
            ledger.store_answer(f"r{number}", {"winner": number})
        ledger.charge("g", "others", Cost.gaussian(10.0, 1e-7), "The mean?")
        return _state(ledger)


def _state(ledger: Ledger) -> list[str]:
    """Everything a ledger says: budgets, and receipts with answers."""
    return [repr(budget) for budget in ledger.budgets()] + [receipt.to_json() for receipt in ledger.receipts()]


def _opens_as(place: Place, state: list[str]) -> str:
    """``closed`` with a sentence, ``same`` when it opens and says all it said, else what went wrong."""
    try:
        with place.open() as ledger:
            return "same" if _state(ledger) == state else "DIFFERENT"
    except LedgerError as error:
        return "closed" if sentence(error) else f"NO SENTENCE: {error}"


def _flip(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    position = int(rng.integers(len(data) * 8))
    data[position // 8] ^= 1 << (position % 8)
    path.write_bytes(data)


def bit_flips(ground: Ground) -> Iterator[Outcome]:
    """One random bit turned over: in the files of a ledger in use, and in the database once it is closed.

    Each trial on a fresh copy. While the ledger is in use, most of the database is still in its write-ahead log.
    """
    rng = np.random.default_rng(7)
    place = ground.new_place("SQLite")
    _fill(place)
    with place.open() as ledger:  # keeps the write-ahead log from being cleared
        ledger.charge("late", "people", Cost.pure(0.01), "Which is most common?")
        state = _state(ledger)
        for name, ending in (("database in use", ""), ("write-ahead log", "-wal"), ("journal", ".journal")):
            yield _flips(ground, rng, place, state, name, ending, ("", "-wal", ".journal"))
    yield _flips(ground, rng, place, state, "closed database", "", ("", ".journal"))


def _flips(
    ground: Ground,
    rng: np.random.Generator,
    place: Place,
    state: list[str],
    name: str,
    ending: str,
    copied: tuple[str, ...],
) -> Outcome:
    trials, counts = 25 if ground.short else 300, dict[str, int]()
    assert place.database is not None
    for trial in range(trials):
        folder = ground.folder / f"flip {name} {trial}"
        folder.mkdir()
        for each in copied:
            shutil.copy(place.database.with_name(place.database.name + each), folder / f"copy{each}")
        _flip(folder / f"copy{ending}", rng)
        file = folder / "copy"
        found = _opens_as(Place(url=f"sqlite:///{file}", journal=folder / "copy.journal", database=file), state)
        counts[found] = counts.get(found, 0) + 1
        shutil.rmtree(folder)
    return Outcome(
        check=f"bit flip in the {name}",
        database="SQLite",
        tried=f"{trials} flips",
        found=", ".join(f"{count} {what}" for what, count in sorted(counts.items())),
        good=set(counts) <= {"closed", "same"},
    )


def server_bit_flips(ground: Ground) -> Iterator[Outcome]:
    """One random bit turned over in the server's file of one of the ledger's tables, while the server is down."""
    rng = np.random.default_rng(8)
    trials = 1 if ground.short else 10
    counts: dict[str, int] = {}
    for trial in range(trials):
        place = ground.new_place("PostgreSQL")
        state = _fill(place)
        engine = create_engine(place.url)
        table = ("records", "accounts", "head", "lineages")[trial % 4]
        with engine.begin() as connection:
            connection.execute(text("CHECKPOINT"))
            file = connection.execute(text("SELECT pg_relation_filepath(CAST(:name AS regclass))"), {"name": table})
            path = ground.server.folder / "data" / str(file.scalar())
        engine.dispose()
        ground.server.kill()
        _flip(path, rng)
        ground.server.start_again()
        found = _opens_as(place, state)
        counts[found] = counts.get(found, 0) + 1
    yield Outcome(
        check="bit flip in a table's file",
        database="PostgreSQL",
        tried=f"{trials} flips",
        found=", ".join(f"{count} {what}" for what, count in sorted(counts.items())),
        good=set(counts) <= {"closed", "same"},
    )


def without_wal(ground: Ground) -> Iterator[Outcome]:
    """Only the .db file copied while the ledger is in use, with and without the journal."""
    trials, closed, recovered = 3 if ground.short else 30, 0, 0
    for _ in range(trials):
        place = ground.new_place("SQLite")
        _fill(place)
        assert place.database is not None
        with place.open() as ledger:
            ledger.charge("late", "people", Cost.pure(0.01), "Which is most common?")
            state = _state(ledger)
            for with_journal in (True, False):
                folder = place.database.parent / f"copy{with_journal}"
                folder.mkdir()
                shutil.copy(place.database, folder / "ledger.sqlite3")
                copy = Place(
                    url=f"sqlite:///{folder}/ledger.sqlite3",
                    journal=folder / "ledger.sqlite3.journal",
                    database=folder / "ledger.sqlite3",
                )
                if with_journal:
                    shutil.copy(place.journal, copy.journal)
                closed += _opens_as(copy, state) == "closed"
                if with_journal:
                    restore(copy.url)
                    with copy.open() as again:
                        recovered += again.remaining("people").epsilon == ledger.remaining("people").epsilon
    yield Outcome(
        check="copied without its WAL",
        database="SQLite",
        tried=f"{2 * trials} copies",
        found=f"{closed} closed, {recovered} of {trials} brought up to date from the journal",
        good=closed == 2 * trials and recovered == trials,
    )


def older_backup(ground: Ground) -> Iterator[Outcome]:
    """An older state put in the place of the present one, while stopped and while running."""
    trials = 3 if ground.short else 30
    for database in DATABASES:
        closed = recovered = 0
        for _ in range(trials):
            place = ground.new_place(database)
            _fill(place)
            if place.database is None:
                keep, put_back = _server_copy(place)
            else:
                keep, put_back = _file_copy(place)
            keep()
            with place.open() as ledger:
                ledger.charge("late", "people", Cost.pure(0.05), "Which is most common?")
                state, left = _state(ledger), ledger.remaining("people").epsilon
            put_back()
            closed += _opens_as(place, state) == "closed"
            restore(place.url, journal=place.journal)
            with place.open() as ledger:
                recovered += ledger.remaining("people").epsilon == left
        yield Outcome(
            check="older backup put back",
            database=database,
            tried=f"{trials} times",
            found=f"{closed} closed, {recovered} brought up to date from the journal",
            good=closed == recovered == trials,
        )


def missing(ground: Ground) -> Iterator[Outcome]:
    """Files gone or emptied, as by a mistyped path or a disk that is not mounted: closed, and nothing made anew."""
    trials = 2 if ground.short else 20
    harms: dict[str, tuple[tuple[str, ...], bool]] = {
        "both gone": (("", "-wal", "-shm", ".journal"), True),
        "database gone": (("", "-wal", "-shm"), True),
        "journal gone": ((".journal",), True),
        "both emptied": (("", "-wal", ".journal"), False),
        "journal emptied": ((".journal",), False),
    }
    for harm, (endings, gone) in harms.items():
        closed = made = 0
        for _ in range(trials):
            place = ground.new_place("SQLite")
            _fill(place)
            assert place.database is not None
            for ending in endings:
                path = place.database.with_name(place.database.name + ending)
                if gone:
                    path.unlink(missing_ok=True)
                elif path.exists():
                    path.write_bytes(b"")
            closed += _opens_as(place, []) == "closed"
            made += gone and any(place.database.with_name(place.database.name + ending).exists() for ending in endings)
        yield Outcome(
            check=harm,
            database="SQLite",
            tried=f"{trials} times",
            found=f"{closed} closed, {made} made anew",
            good=closed == trials and made == 0,
        )


def _file_copy(place: Place) -> tuple[Callable[[], None], Callable[[], None]]:
    file = place.database
    assert file is not None

    def keep() -> None:
        with place.open() as ledger:
            ledger.backup(file.with_name("older"))

    def put_back() -> None:
        for ending in ("-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        shutil.copy(file.with_name("older"), file)

    return keep, put_back


_PUT_BACK = """
DELETE FROM head; DELETE FROM records; DELETE FROM accounts; DELETE FROM fingerprints; DELETE FROM lineages;
INSERT INTO head SELECT * FROM old_head; INSERT INTO lineages SELECT * FROM old_lineages;
INSERT INTO records SELECT * FROM old_records; INSERT INTO accounts SELECT * FROM old_accounts;
INSERT INTO fingerprints SELECT * FROM old_fingerprints
"""
_KEEP = """
CREATE TABLE old_head AS TABLE head; CREATE TABLE old_lineages AS TABLE lineages;
CREATE TABLE old_records AS TABLE records; CREATE TABLE old_accounts AS TABLE accounts;
CREATE TABLE old_fingerprints AS TABLE fingerprints
"""


def _server_copy(place: Place) -> tuple[Callable[[], None], Callable[[], None]]:
    """As an administrator would restore tables from an old dump: safeguards off, rows replaced, safeguards on."""

    def run(script: str) -> None:
        engine = create_engine(place.url)
        with engine.begin() as connection:
            connection.execute(text("SET session_replication_role = replica"))  # for references between tables
            for switch in ("DISABLE", "ENABLE ALWAYS"):
                for table in ("head", "records", "lineages", "accounts", "fingerprints"):
                    for end in ("stays", "kept", "grows"):
                        connection.execute(text(f"ALTER TABLE {table} {switch} TRIGGER {table}_{end}"))
                for statement in script.split(";") if switch == "DISABLE" else ():
                    connection.execute(text(statement))
        engine.dispose()

    return lambda: run(_KEEP), lambda: run(_PUT_BACK)
