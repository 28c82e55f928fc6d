"""However many people a provider makes up, what is kept of their log-outs has an end, and nobody comes back by it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.people import ended, logged_out
from dpcore.ledger import lock
from dpcore.ledger.ended import Ended

FEW, HOURS = 20, 12 * 3600.0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[float]]:
    """Starts a server that knows nothing but its files; what clock it has."""
    now = [1000.0]
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "keys" / "ledger.key"))
    monkeypatch.setattr(ended, "MOST_OF_PROVIDER", FEW)
    monkeypatch.setattr(logged_out, "_LINES", FEW)
    monkeypatch.setattr(logged_out, "_TIDY", 0.0)

    def anew() -> list[float]:
        for name in ("_ended", "_owed"):
            monkeypatch.setattr(logged_out, name, ended.Held())
        for name, value in (("_read", None), ("_seen", None), ("_tidied", 0.0)):
            monkeypatch.setattr(logged_out, name, value)
        monkeypatch.setattr(logged_out, "time", SimpleNamespace(time=lambda: now[0]))
        return now

    anew()
    return anew


def who(name: str, since: float, provider: str = "weak", nonce: str = "1") -> dict[str, Any]:
    return {"sub": name, "iss": f"https://{provider}.example", "provider": provider, "iat": since, "nonce": nonce}


def flood(now: list[float], many: int = 10 * FEW) -> list[dict[str, Any]]:
    """So many people nobody ever heard of, each of whom logs in and out."""
    made = []
    for number in range(many):
        now[0] += 2.0
        made.append(who(f"p{number}", now[0] - 1.0))
        logged_out.end(made[-1], HOURS)
    return made


def test_log_outs_of_ever_new_people_have_an_end(started: Callable[[], list[float]], tmp_path: Path) -> None:
    """They filled the memory of every server, and its file, for a month."""
    now = started()
    early, other = who("early", 500.0), who("olga", 500.0, "strong")
    logged_out.end(gone := who("ben", 600.0, "strong"), HOURS)
    made = flood(now)
    late = who("late", now[0])
    for _ in range(2):
        assert len(logged_out.known()) <= FEW + 2
        assert all(map(logged_out.is_ended, [*made, gone])), "nobody comes back"
        assert not logged_out.is_ended(late)
        assert not logged_out.is_ended(other), "people of another provider are not touched"
        assert logged_out.is_ended(early), "who logged in before them logs in once more"
        file = (tmp_path / "keys" / "ledger.key.logged-out").read_text()
        assert len(file.splitlines()) <= 3 * FEW
        started()


def test_without_a_bound_they_had_none(started: Callable[[], list[float]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(ended, "MOST_OF_PROVIDER", 10**9)
    flood(started())
    assert len(logged_out.known()) == 10 * FEW


def test_log_outs_of_a_month_keep_nobody_out(started: Callable[[], list[float]]) -> None:
    """Those that give way are the oldest: whoever logged in within the hours of a login goes on."""
    now = started()
    for number in range(3 * FEW):
        logged_out.end(who(f"p{number}", now[0]), HOURS)
        now[0] += HOURS / 4
    assert len(logged_out.known()) <= FEW + 1
    assert not logged_out.is_ended(who("here", now[0] - HOURS))


def test_logins_of_one_moment_and_of_clocks_that_are_ahead_have_an_end_too(
    started: Callable[[], list[float]],
) -> None:
    now = started()
    made = [who(f"p{number}", now[0] + 100.0) for number in range(5 * FEW)]
    for one in made:
        logged_out.end(one, HOURS)
    assert len(logged_out.known()) <= FEW + 1
    assert all(map(logged_out.is_ended, made))


def test_one_person_s_many_log_outs_count_among_them(started: Callable[[], list[float]]) -> None:
    now = started()
    for number in range(3 * FEW):
        for nonce in range(ended.MOST + 2):
            logged_out.end(one := who(f"p{number}", now[0] - 1.0, nonce=str(nonce)), HOURS)
        now[0] += 2.0
        assert logged_out.is_ended(one)
        assert len(logged_out.known()) <= max(FEW, ended.MOST) + 2


def test_what_a_version_before_wrote_counts_and_it_reads_what_this_one_writes(
    started: Callable[[], list[float]], tmp_path: Path
) -> None:
    """Replicas of both have one file while a server is brought forward, or back: three words a line, the rest left."""
    now = started()
    file = tmp_path / "keys" / "ledger.key.logged-out"
    logged_out.end(who("olga", 900.0), HOURS)
    head, line = file.read_text().splitlines()
    person, login, until = line.split(" ")[:3]
    assert (person, login) == tuple(
        logged_out._name(who("olga", 900.0), which) for which in (("provider", "iss", "sub"), ("iat", "nonce"))
    )
    assert float(until) == now[0] + HOURS
    for before in (f"{person} {login} {until}", f"{person} <950 {until}"):
        file.write_text(f"{head[:-1]}x\n{before}\n")
        started()
        assert logged_out.is_ended(who("olga", 900.0))
        assert not logged_out.is_ended(who("olga", 960.0, nonce="2"))
        logged_out.end(who("ben", 900.0), HOURS)
        started()
        assert logged_out.is_ended(who("olga", 900.0))


def test_what_is_noted_in_any_order_is_the_same() -> None:
    lines = [Ended("p", f"a{number}", "x", number, number + 9) for number in range(1, 6)]
    lines += [Ended("p", "p", "<3", 3, 12), Ended("p", "a5", "<5", 5, 14)]
    first, second = ended.Held(), ended.Held()
    for one in lines:
        first.note(one)
    for one in reversed(lines):
        second.note(one)
    assert set(first.all()) == set(second.all())
    assert {one.login for one in first.all()} == {"x", "<3", "<5"}
    assert len(list(first.all())) == 3


@pytest.mark.parametrize("mutant", [False, True])
@pytest.mark.parametrize("waits", ["for another server", "for the disk"])
def test_no_page_waits_for_a_log_out_that_waits(
    started: Callable[[], list[float]], monkeypatch: pytest.MonkeyPatch, waits: str, mutant: bool
) -> None:
    """Every run of every page asks whether its login was ended; a server that stands still while it holds the file, or
    a disk that writes nothing down, keeps waiting who logs out alone."""
    started()
    logged_out.end(who("before", 1.0), HOURS)
    waiting, go_on = threading.Event(), threading.Event()
    if waits == "for the disk":
        monkeypatch.setattr(os, "fsync", lambda _: waiting.set() or go_on.wait(60))
    else:
        monkeypatch.setattr(logged_out, "_PATIENCE", 60.0)
        monkeypatch.setattr(lock, "exclusive", held_by_another(lock.exclusive, waiting, go_on))
    end = logged_out.end
    if mutant:
        monkeypatch.setattr(logged_out, "_lock", threading.RLock())
        end = within(logged_out._lock, end)
    leaving = threading.Thread(target=end, args=(who("olga", 1.0), HOURS), daemon=True)
    leaving.start()
    assert waiting.wait(60)
    told: list[bool] = []
    asking = threading.Thread(target=lambda: told.extend(map(logged_out.is_ended, known)), daemon=True)
    known = [who("before", 1.0), who("ben", 1.0)]
    asking.start()
    asking.join(1.0 if mutant else 60.0)
    assert leaving.is_alive()
    assert told == ([] if mutant else [True, False])
    go_on.set()
    leaving.join(60)
    asking.join(60)
    assert logged_out.is_ended(who("olga", 1.0))
    started()
    assert logged_out.is_ended(who("olga", 1.0)), "it was written down"


def held_by_another(
    own: Callable[..., AbstractContextManager[None]], waiting: threading.Event, go_on: threading.Event
) -> Callable[..., AbstractContextManager[None]]:
    """The lock of a file, which somebody else has until they go on."""

    def exclusive(path: Path, patience: float) -> AbstractContextManager[None]:
        waiting.set()
        go_on.wait(60)
        return own(path, patience)

    return exclusive


def within(held: Any, call: Callable[..., None]) -> Callable[..., None]:
    def locked(*given: Any) -> None:
        with held:
            call(*given)

    return locked
