"""Log-outs count at every computer of a ledger on a server, beside its chain, and no page waits for its database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from benchmarks.private_postgresql import PrivateServer
from dashboard.people import ended, logged_out, told_elsewhere
from dashboard.people.told_elsewhere import Telling
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger
from dpcore.ledger.ended import ALL, Ended, EndedLogins
from dpcore.ledger.engine import form
from dpcore.ledger.migrations import NEWEST
from tests.ledger.conftest import Place

HOUR = 3600.0
OLGA: dict[str, Any] = {"sub": "olga", "iss": "https://a.example", "provider": "a", "iat": 1.0e9, "nonce": "1"}


def other(**more: Any) -> dict[str, Any]:
    return OLGA | more


class Computer:
    """What one computer of a ledger knows: its files, its memory, and its way to the database."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        self.key, self.ledger = folder / "ledger.key", ledger
        self.start()

    def start(self) -> None:
        self.by_itself = False
        self.held: Any = (ended.Held(), None, None)
        self.telling = Telling(EndedLogins(self.ledger))

    @contextmanager
    def here(self) -> Iterator[Telling]:
        names = ("_ended", "_read", "_seen")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EPSILON_LAB_KEY", str(self.key))
            for name, value in zip(names, self.held, strict=True):
                patch.setattr(logged_out, name, value)
            if not self.by_itself:  # its thread would know of both computers of this process
                patch.setattr(self.telling._thread, "wake", lambda: None)
            logged_out.tell_by(self.telling.note)
            yield self.telling
            self.held = tuple(getattr(logged_out, name) for name in names)

    def ends(self, said: dict[str, Any], *, tells: bool = True) -> None:
        with self.here():
            logged_out.end(said, HOUR)
        if tells:
            self.exchanges()

    def exchanges(self) -> None:
        with self.here() as telling:
            telling.exchange()

    def knows(self, said: dict[str, Any] = OLGA) -> bool:
        with self.here():
            return logged_out.is_ended(said)


@pytest.fixture
def shared(server: PrivateServer, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(server.new_schema(), journal=tmp_path / "journal") as found:
        found.open_budget("people", epsilon=1.0)
        yield found


@pytest.fixture
def computers(shared: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Computer, Computer]:
    monkeypatch.setattr(logged_out, "_tell", [])  # put back in the end
    return Computer(tmp_path / "a", shared), Computer(tmp_path / "b", shared)


def rows(ledger: Ledger) -> int:
    with ledger._store.engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM ended_logins")).scalar_one())


def test_a_log_out_counts_at_another_computer(computers: tuple[Computer, Computer]) -> None:
    """A copy of the cookie was that person there until the login's hours were over, and so was their other tab."""
    here, there = computers
    there.exchanges()
    here.ends(OLGA, tells=False)
    there.exchanges()
    assert not there.knows(), "nobody told it: as it was"
    here.exchanges()
    there.exchanges()
    assert there.knows()
    assert not there.knows(other(nonce="2"))
    assert not there.knows(other(sub="ben"))
    there.start()
    there.exchanges()
    assert there.knows(), "after a start, too"


def test_the_ledger_is_no_other_for_it(computers: tuple[Computer, Computer], shared: Ledger) -> None:
    """No record, no other form, and as sound: a program from before opens it, and a back-up has nothing of it."""
    before = shared.records()
    computers[0].ends(OLGA)
    assert shared.records() == before
    shared.verify()
    assert form(shared._store.engine) == NEWEST
    assert shared._store.journal is not None
    with Ledger.open(
        shared._store.engine.url.render_as_string(hide_password=False), journal=shared._store.journal.path
    ) as again:
        assert again.records() == before
        again.verify()
        again.open_budget("others", epsilon=1.0)


def test_what_the_database_forgot_is_told_again(computers: tuple[Computer, Computer], shared: Ledger) -> None:
    """It was set back, or made anew from a back-up, which has none of it."""
    here, there = computers
    here.ends(OLGA)
    here.exchanges()
    for forget in ("DELETE FROM ended_logins", "DROP TABLE ended_logins"):
        with shared._store.engine.begin() as connection:
            connection.execute(text(forget))
        here.exchanges()
        here.exchanges()
        there.start()
        there.exchanges()
        assert there.knows()


def test_what_was_ended_while_the_database_was_away_is_told_when_it_answers(
    computers: tuple[Computer, Computer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the server was started anew meanwhile: its file knows."""
    here, there = computers
    here.exchanges()

    def away(*_: Any, **__: Any) -> None:
        raise LedgerError("away")

    for restarted in (False, True):
        said = other(nonce=f"away {restarted}")
        with monkeypatch.context() as patch:
            patch.setattr(EndedLogins, "put", away)
            with pytest.raises(LedgerError):
                here.ends(said)
        assert here.knows(said)
        if restarted:
            here.start()
        here.exchanges()
        there.exchanges()
        assert there.knows(said)


def test_more_than_wait_to_be_told_are_told_all_the_same(
    computers: tuple[Computer, Computer], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = computers
    here.exchanges()
    monkeypatch.setattr(told_elsewhere, "_MOST", 2)
    said = [other(sub=f"p{number}") for number in range(7)]
    for one in said:
        here.ends(one, tells=False)
        assert len(here.telling._news) <= 2
    here.exchanges()
    there.exchanges()
    assert all(map(there.knows, said))


def test_a_database_that_is_silent_keeps_nobody_waiting(
    computers: tuple[Computer, Computer], server: PrivateServer
) -> None:
    """Whoever asks, or logs out, needs nothing of it, while the thread waits for it; and then goes on."""
    here, there = computers
    here.exchanges()
    there.exchanges()
    asked, answers = threading.Event(), threading.Event()
    last = here.telling._shared.last

    def silent() -> int:
        asked.set()
        answers.wait(60)
        return last()

    here.telling._shared.last, here.by_itself = silent, True  # type: ignore[method-assign]
    with here.here() as telling:
        telling.go_on()
        assert asked.wait(60)
        assert not logged_out.is_ended(OLGA)
        logged_out.end(OLGA, HOUR)
        assert logged_out.is_ended(OLGA)
        answers.set()
        while not last():
            assert telling._thread.works
        telling.end()
        telling._thread.rest(60)
    here.by_itself = False
    there.exchanges()
    assert there.knows()
    with server.frozen(), pytest.raises(LedgerError):
        there.exchanges()
    assert there.knows()


def test_what_others_are_told_has_an_end(
    computers: tuple[Computer, Computer], shared: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = computers
    monkeypatch.setattr(ended, "MOST_OF_PROVIDER", 10)
    said = [other(sub=f"p{number}", iat=1.0e9 + number) for number in range(40)]
    here.ends(other(provider="b"))
    for one in said:
        here.ends(one)
        assert rows(shared) <= 12
    there.exchanges()
    assert all(map(there.knows, said))
    assert there.knows(other(provider="b"))
    assert not there.knows(other(iat=1.0e9 + 100))
    many = [other(nonce=str(number)) for number in range(ended.MOST + 3)]
    for one in many:
        here.ends(one)
    assert rows(shared) <= 12


def test_what_nobody_needs_any_more_is_forgotten(shared: Ledger) -> None:
    table = EndedLogins(shared)
    table.put([Ended("p", "old", "x", 1, 10), Ended("p", "new", "x", 1, 1000)], before=5)
    assert rows(shared) == 2
    table.put([Ended("p", "newer", "x", 1, 1000)], before=500)
    assert [one.person for _, one in table.after(0)] == ["new", "newer"]


AT_WHATEVER_NUMBER = {
    "set back": "SELECT setval('ended_logins_seq_seq', 1, false)",
    "at its end": "SELECT setval('ended_logins_seq_seq', 9223372036854775807)",
    "as it is": "SELECT 1",
}


@pytest.mark.parametrize("how", AT_WHATEVER_NUMBER)
def test_each_log_out_is_heard_whatever_became_of_the_numbers(
    how: str, computers: tuple[Computer, Computer], shared: Ledger
) -> None:
    """A sequence that somebody had set back, or that a copy of the database began anew, gave numbers that were heard
    before; so does whatever counts from the rows that are left."""
    here, there = computers
    for number in range(9):
        here.ends(other(nonce=f"before {number}"))
    there.exchanges()
    with shared._store.engine.begin() as connection:
        connection.execute(text(AT_WHATEVER_NUMBER[how]))
    for number in range(4):
        EndedLogins(shared).put([Ended("a", f"old {number}", "x", 1, 2)], before=1 << 60)
        here.ends(said := other(nonce=f"after {number}"))
        there.exchanges()
        assert there.knows(said)


def test_a_number_that_is_given_again_is_found_out(
    computers: tuple[Computer, Computer], shared: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.ledger.ended._PUT", BY_SEQUENCE)
    with pytest.raises((AssertionError, LedgerError)):
        test_each_log_out_is_heard_whatever_became_of_the_numbers("set back", computers, shared)


BY_SEQUENCE = (
    "INSERT INTO ended_logins (provider, person, login, since, until) "
    "VALUES (:provider, :person, :login, :since, :until) ON CONFLICT (person, login) DO NOTHING"
)


def test_the_last_number_stays_known(shared: Ledger) -> None:
    """Or the next log-out would have it again, and whoever has heard up to it would not hear that."""
    table = EndedLogins(shared)
    table.put([Ended("p", "a", "x", 1, 10)], before=0)
    heard = table.last()
    for row in (Ended("p", "b", "x", 1, 10), Ended("p", "p", ALL + "1", 5, 10), Ended("p", "c", "x", 9, 10)):
        table.put([row], before=1 << 60)
        assert [one for _, one in table.after(heard)] == [row]
        heard = table.last()
    assert rows(shared) == 1


def test_long_lists_are_read_and_put_in_parts(shared: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.ledger.ended._MOST", 3)
    told = [Ended("p", f"a{number}", "x", 1, 1000) for number in range(7)]
    table = EndedLogins(shared)
    assert table.last() == 0
    table.put(told, before=0)
    table.put(told, before=0)
    assert [one for _, one in table.after(0)] == told, "each once"


def test_a_ledger_in_a_file_tells_nobody(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """All who have it are on one computer, and have its file."""
    monkeypatch.setattr(logged_out, "_tell", [])
    with sqlite_place.open() as ledger:
        told_elsewhere.begin(ledger)
        assert told_elsewhere._telling is None
        assert not logged_out._tell


def test_what_was_told_is_known_before_a_page_has_the_ledger(
    computers: tuple[Computer, Computer], shared: Ledger, make_login: Callable[[], None]
) -> None:
    from dashboard.background import compute
    from dashboard.people import login

    here, there = computers
    here.ends(OLGA)
    make_login()
    with there.here(), pytest.MonkeyPatch.context() as patch:
        assert not logged_out.is_ended(OLGA)
        patch.setattr(compute.Ledger, "open", lambda **_: shared)
        patch.setattr(login, "person", lambda: None if logged_out.is_ended(OLGA) else "olga")
        compute.reopen_ledger()
        with pytest.raises(LedgerError, match="Log in first"):
            compute.ledger()
        assert told_elsewhere._telling is not None
        told_elsewhere._telling.end()
        compute.reopen_ledger()


@pytest.fixture
def make_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    from dashboard.people import login

    def make() -> None:
        monkeypatch.setattr(login, "configured", lambda: object())

    return make
