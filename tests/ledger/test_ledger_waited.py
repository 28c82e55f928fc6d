"""A lock that one read waited for in vain nobody who reads waits for meanwhile; who writes knows nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from benchmarks.private_postgresql import PrivateServer
from dashboard.background import this_run
from dpcore.costs import Cost
from dpcore.errors import LedgerError, UnknownLineage
from dpcore.ledger import Ledger, engine
from dpcore.ledger import store as stores
from dpcore.ledger.engine import SLOW, Slow
from dpcore.ledger.waited import KEPT, Waited

HELD = "held by another program"
SOON = "50ms"
"""For which a lock is waited for here."""
PAGE: dict[str, Callable[[Ledger], object]] = {
    "budget": lambda ledger: ledger.budget("people"),
    "budgets": Ledger.budgets,
    "receipts": Ledger.receipts,
    "records": Ledger.records,
    "version": Ledger.version,
    "receipt": lambda ledger: ledger.receipt("r"),
}
"""What pages ask in a run."""


def refused(number: str) -> OperationalError:
    error = psycopg.OperationalError("said")
    error.sqlstate = number  # type: ignore[misc]
    return OperationalError("SELECT", {}, error)


class Reads:
    """Reads of one ledger by a clock of its own, and how many of them reached it."""

    def __init__(self) -> None:
        self.now, self.asked = 100.0, 0
        self.waited = Waited(lambda: self.now)

    def __call__(self, raises: Exception | None = None, meanwhile: Callable[[], object] = lambda: None) -> str:
        try:
            with self.waited.reading():
                self.asked += 1
                meanwhile()
                if raises is not None:
                    raise raises
        except (LedgerError, SQLAlchemyError) as error:
            return str(error)
        return ""


def test_whoever_reads_meanwhile_is_told_at_once_and_later_one_asks_again() -> None:
    reads = Reads()
    reads(refused("55P03"))
    for _ in range(8):
        assert HELD in reads()
    assert reads.asked == 1
    reads.now += KEPT
    others = list[str]()
    reads(refused("55P03"), lambda: others.append(reads()))
    assert HELD in others[0], "one asks again, and nobody else waits with them"
    assert HELD in reads()
    assert reads.asked == 2
    reads.now += KEPT
    assert [reads(), reads()] == ["", ""]
    assert reads.asked == 4


def test_what_was_answered_is_no_lock_whatever_became_of_it() -> None:
    reads = Reads()
    reads(refused("55P03"))
    reads.now += KEPT
    reads(UnknownLineage("people"))
    assert reads() == ""


def test_a_read_that_began_before_forgets_nothing() -> None:
    reads = Reads()
    reads(meanwhile=lambda: reads(refused("55P03")))
    assert HELD in reads()


@pytest.mark.parametrize("number", ["57014", "25P03", "08006", "53100", "42P01"])
def test_nothing_else_is_kept(number: str) -> None:
    """One person's large question, which takes too long, keeps nobody from theirs."""
    reads = Reads()
    reads(refused(number))
    assert reads() == ""


def test_a_statement_that_took_too_long_is_waited_for_once_in_a_run() -> None:
    reads, other = Reads(), Reads()
    with this_run.drawing():
        reads(Slow())
        assert [reads(), reads()] == [SLOW, SLOW]
        assert other() == "", "another ledger is none of it"
    assert reads.asked == 1
    assert reads() == "", "nor is the next run"
    with this_run.drawing():
        assert reads() == ""


@pytest.mark.parametrize("error", [refused("25P02"), refused("08006"), UnknownLineage("people")])
def test_nothing_else_is_kept_in_a_run(error: Exception) -> None:
    reads = Reads()
    with this_run.drawing():
        reads(error)
        assert reads() == ""


def test_a_run_that_keeps_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the test of a run can fail."""
    monkeypatch.setattr(this_run, "one_run", nullcontext)
    reads = Reads()
    with this_run.drawing():
        reads(Slow())
        assert reads() == ""


@pytest.fixture
def ledger(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """One on a server, with a budget and a charge."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setitem(engine._TOLD, "lock_timeout", SOON)
    with Ledger.open(server.new_schema(), journal=tmp_path / "journal", create=True) as made:
        made.open_budget("people", epsilon=1.0)
        made.charge("r", "people", Cost.pure(0.25), "?")
        yield made


@contextmanager
def locked(ledger: Ledger, statement: str) -> Iterator[None]:
    other = create_engine(ledger._store.engine.url)
    try:
        with other.begin() as connection:
            connection.exec_driver_sql(statement)
            yield
    finally:
        other.dispose()


@contextmanager
def statements(ledger: Ledger) -> Iterator[list[str]]:
    found: list[str] = []

    def asked(_: object, __: object, statement: str, *___: object) -> None:
        found.append(statement)

    event.listen(ledger._store.engine, "before_cursor_execute", asked)
    yield found
    event.remove(ledger._store.engine, "before_cursor_execute", asked)


def run(ledger: Ledger) -> list[str]:
    """What a page is told in one run, by what it asks."""
    told = []
    for ask in PAGE.values():
        try:
            ask(ledger)
        except LedgerError as error:
            told.append(str(error))
        else:
            told.append("")
    return told


@pytest.mark.parametrize("table", ["lineages", "records"])
def test_a_page_waits_once_for_a_table_that_is_locked(
    table: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited wherever it asked, eight times over, and so did every other page."""
    with locked(ledger, f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"):
        told = run(ledger)
        assert len([one for one in told if HELD in one]) >= 2
        with statements(ledger) as asked:
            assert all(HELD in one for one in run(ledger))
        assert asked == []
    ledger._store._waited._clock = lambda: float("inf")
    assert run(ledger) == [""] * len(PAGE)


def test_a_page_that_waits_each_time_is_found_out(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the test above can fail."""
    monkeypatch.setattr(Waited, "reading", lambda _: nullcontext())
    with locked(ledger, "LOCK TABLE lineages IN ACCESS EXCLUSIVE MODE"), statements(ledger) as asked:
        run(ledger)
        assert len([one for one in run(ledger) if HELD in one]) < len(PAGE)
    assert len([one for one in asked if "lineages" in one]) > 2


def test_who_writes_knows_nothing_of_it(ledger: Ledger) -> None:
    """Charges that wait for one another close the ledger to nobody who looks."""
    with locked(ledger, "SELECT * FROM head FOR UPDATE"):
        for number in range(2):
            with statements(ledger) as asked, pytest.raises(LedgerError, match=HELD):
                ledger.charge(f"s{number}", "people", Cost.pure(0.25), "?")
            assert any("head" in one for one in asked), "each waits for its turn"
            assert run(ledger) == [""] * len(PAGE)
    with locked(ledger, "LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE"):
        ledger._store._waited._known = HELD, float("inf")
        with ledger._store.writing() as connection:
            assert connection.info["head"][0] > 0
        with pytest.raises(LedgerError, match=HELD):
            ledger.budgets()


def test_a_file_that_is_held_is_told_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def busy(given: Engine) -> object:
        nonlocal asked
        asked += 1
        raise OSError(16, "busy")

    with Ledger.open(tmp_path / "ledger.db", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        with monkeypatch.context() as patch:
            patch.setattr(stores, "reading", busy)
            patch.setattr(stores, "row_of_file", lambda given, *_, **__: busy(given))
            assert all(HELD in one for one in run(ledger))
    assert asked == 1
