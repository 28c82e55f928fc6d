"""Coming back after a server's database was lost, by the documented steps: nothing that was spent is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger, chains
from dpcore.ledger import place as places
from dpcore.ledger.__main__ import main
from dpcore.ledger.place import Place as Where
from dpcore.ledger.recovery import restore


@dataclass
class Service:
    """A ledger on a server as a deployment has it: key, journal and back-ups where the program keeps them by itself."""

    url: str
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def at(self, computer: str) -> None:
        """From now on this is that computer: a journal folder of its own, the same key file."""
        self.monkeypatch.setattr(places.socket, "gethostname", lambda: computer)
        self.monkeypatch.setenv("XDG_DATA_HOME", str(self.folder / computer))

    def spend(self, request: str, epsilon: float) -> None:
        with Ledger.open(self.url) as ledger:
            ledger.charge(request, "people", Cost.pure(epsilon), "?")

    def left(self) -> float:
        with Ledger.open(self.url) as ledger:
            ledger.verify()
            return float(ledger.remaining("people").epsilon)

    def lose(self) -> None:
        """The database is gone; an empty one is in its place."""
        engine = create_engine(self.url)
        with engine.begin() as connection:
            name = connection.execute(text("SELECT current_schema()")).scalar()
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
            connection.execute(text(f"CREATE SCHEMA {name}"))
        engine.dispose()

    def journals(self) -> list[Path]:
        return sorted(self.folder.glob("*/epsilon-lab/journals/*.journal"))

    @property
    def backup(self) -> Path:
        return self.folder / "backup"


@pytest.fixture
def service(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """ε = 1, of which 0.2 was spent before the back-up and 0.8 after it."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "ledger.key"))
    found = Service(server.new_schema(), tmp_path, monkeypatch)
    found.at("first")
    with Ledger.open(found.url, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("a", "people", Cost.pure(0.2), "?")
        ledger.backup(found.backup)
        ledger.charge("b", "people", Cost.pure(0.8), "?")
    return found


def by_the_back_up(service: Service) -> None:
    restore(service.url, source=service.backup)


def by_the_back_up_as_if_the_journal_were_gone(service: Service) -> None:
    restore(service.url, source=service.backup, new_journal=True)


def by_the_journal_alone(service: Service) -> None:
    restore(service.url)


def after_a_first_try_that_was_refused(service: Service) -> None:
    kept = [(path, path.rename(path.with_suffix(".away"))) for path in service.journals()]
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        restore(service.url, source=service.backup)
    for path, away in kept:
        away.rename(path)
    restore(service.url, source=service.backup)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "comes_back",
    [
        by_the_back_up,
        by_the_back_up_as_if_the_journal_were_gone,
        by_the_journal_alone,
        after_a_first_try_that_was_refused,
    ],
)
def test_the_journal_brings_what_came_after_the_back_up(
    service: Service, comes_back: Callable[[Service], None]
) -> None:
    (journal,) = service.journals()
    service.lose()
    comes_back(service)
    assert service.left() == 0.0
    assert service.journals() == [journal], "the same ledger goes on in the same journal"


def test_at_another_address_too(service: Service, server: PrivateServer) -> None:
    service.url = server.new_database()
    restore(service.url, source=service.backup)
    assert service.left() == 0.0
    assert len(service.journals()) == 2, "a database for practice leaves the journal of the real one as it is"


def test_only_a_journal_that_is_gone_is_written_anew(service: Service) -> None:
    for journal in service.journals():
        journal.unlink()
    service.lose()
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        restore(service.url, source=service.backup)
    restore(service.url, source=service.backup, new_journal=True)
    assert service.left() == 0.8


def test_another_computer_goes_on_or_says_that_its_journal_has_more(service: Service) -> None:
    service.at("second")
    assert service.left() == 0.0, "it joins, which is a record that the first computer's journal lacks"
    service.lose()
    service.at("first")
    restore(service.url, source=service.backup)
    service.at("second")
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        service.left()
    service.lose()
    restore(service.url, source=service.backup)
    assert service.left() == 0.0
    service.at("first")
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        service.left()


def test_two_journals_that_go_on_differently_are_nobody_s_choice(service: Service, server: PrivateServer) -> None:
    """A database for practice was restored from the same back-up, and used."""
    (journal,) = service.journals()
    away = journal.rename(journal.with_suffix(".away"))
    real, service.url = service.url, server.new_database()
    restore(service.url, source=service.backup, new_journal=True)
    away.rename(journal)
    service.url = server.new_database()
    with pytest.raises(LedgerUnsound, match="tell different histories"):
        restore(service.url, source=service.backup)
    service.url = real
    service.lose()
    restore(service.url, source=service.backup)
    assert service.left() == 0.0, "at its own address its own journal counts"


def as_installed(service: Service) -> None:
    """The journal is where the program keeps it by itself."""


def as_a_container_made_anew(service: Service) -> None:
    """Another host name, the same volumes."""
    service.monkeypatch.setattr(places.socket, "gethostname", lambda: "8c1f")


def with_a_journal_that_was_named(service: Service) -> None:
    (journal,) = service.journals()
    named = service.folder / "named.journal"
    journal.rename(named)
    Ledger.open(service.url, journal=named).close()


@pytest.mark.parametrize("kept", [as_installed, as_a_container_made_anew, with_a_journal_that_was_named])
def test_no_ledger_is_made_anew_where_the_journal_of_the_one_before_is(
    service: Service, kept: Callable[[Service], None]
) -> None:
    """Neither by `init`, which a deployment may run at each start, nor by opening."""
    kept(service)
    service.lose()
    with pytest.raises(LedgerUnsound, match="its journal is still there"):
        Ledger.open(service.url, create=True)
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        Ledger.open(service.url)
    assert main(["--ledger", service.url, "init"]) == 1
    named = service.folder / "named.journal"
    restore(service.url, journal=named if named.exists() else None)
    with Ledger.open(service.url, journal=named if named.exists() else None) as ledger:
        assert ledger.remaining("people").epsilon == 0.0


def test_whoever_moves_the_journal_away_may_begin_anew(service: Service) -> None:
    (journal,) = service.journals()
    journal.unlink()
    service.lose()
    with pytest.raises(LedgerUnsound, match="no ledger at the place"):
        Ledger.open(service.url)
    assert main(["--ledger", service.url, "init"]) == 0


def test_the_check_notices_a_ledger_made_anew(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Where, "_journals_before", lambda self: [])
    with pytest.raises(pytest.fail.Exception):
        test_no_ledger_is_made_anew_where_the_journal_of_the_one_before_is(service, as_installed)


def test_the_check_notices_a_journal_that_is_not_looked_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: looked for under the name of the new, empty tables."""
    monkeypatch.setattr(Where, "pinned", lambda self: None)
    monkeypatch.setattr(chains, "from_journals", lambda paths, given, key: ([], False))
    with pytest.raises((AssertionError, LedgerUnsound)):
        test_the_journal_brings_what_came_after_the_back_up(service, by_the_back_up_as_if_the_journal_were_gone)
