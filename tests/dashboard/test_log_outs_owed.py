"""A log-out that cannot be written down just then is written down once it can be, and what is owed has an end."""

from __future__ import annotations

import errno
import logging
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.people import ended, logged_out
from dpcore.ledger.ended import Ended
from dpcore.ledger.lock import exclusive
from dpcore.threads import WorkingThread

FEW, HOURS, PATIENCE = 20, 12 * 3600.0, 60.0
OLGA: dict[str, Any] = {"sub": "olga", "iss": "https://a.example", "provider": "a", "iat": 900.0, "nonce": "1"}
BEN = OLGA | {"sub": "ben", "nonce": "2"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "ledger.key.logged-out"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, file: Path) -> Callable[[], None]:
    """Starts a server that knows nothing but its files."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(file.with_suffix("")))
    monkeypatch.setattr(logged_out, "_PATIENCE", 0.02)
    monkeypatch.setattr(logged_out, "_AGAIN", 0.01)
    monkeypatch.setattr(ended, "MOST_OF_PROVIDER", FEW)

    def anew() -> None:
        for name in ("_ended", "_owed"):
            monkeypatch.setattr(logged_out, name, ended.Held())
        for name, value in (("_read", None), ("_seen", None), ("_tidied", 0.0), ("_unsure", False)):
            monkeypatch.setattr(logged_out, name, value)
        monkeypatch.setattr(logged_out, "_writing", WorkingThread("log-outs-owed", logged_out._write_later))

    anew()
    return anew


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def failing(name: str, call: Callable[..., None]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, name, call)
        yield


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file here may grow beyond so many bytes: of what is written beyond that a part is taken, and then none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


CAUSES: dict[str, Callable[[Path], AbstractContextManager[None]]] = {
    "the disk is full": lambda file: failing("ftruncate", no_room),
    "the disk has room for half a line": lambda _: room_for(100),
    "another server stands still while it writes": lambda file: exclusive(file.with_name(f"{file.name}.lock")),
}


def holds(file: Path, said: dict[str, Any]) -> bool:
    """Whether a server that reads this file finds the whole line of this login there."""
    whole = file.read_text().rpartition("\n")[0] if file.exists() else ""
    return logged_out._name(said, logged_out._LOGIN) in whole


@pytest.mark.parametrize("cause", CAUSES)
def test_a_log_out_is_written_down_once_it_can_be(started: Callable[[], None], file: Path, cause: str) -> None:
    """It counted until the server ended, at that server alone: a copy of the cookie was that person again."""
    file.parent.mkdir()
    with CAUSES[cause](file):
        logged_out.end(OLGA, HOURS)
        assert logged_out.is_ended(OLGA)
        assert not holds(file, OLGA)
    logged_out._writing.rest(PATIENCE)
    started()
    assert logged_out.is_ended(OLGA)
    assert not logged_out.is_ended(BEN)


class LastAlone(ended.Held):
    """As it was: who writes writes their own line."""

    def taken(self) -> list[Ended]:
        return super().taken()[-1:]


@pytest.mark.parametrize("mutant", [False, True])
@pytest.mark.parametrize("cause", CAUSES)
def test_the_next_who_logs_out_writes_it_down_where_there_is_no_thread(
    started: Callable[[], None], monkeypatch: pytest.MonkeyPatch, file: Path, cause: str, *, mutant: bool
) -> None:
    monkeypatch.setattr(logged_out._writing, "wake", lambda: None)
    if mutant:
        monkeypatch.setattr(logged_out, "_owed", LastAlone())
    file.parent.mkdir()
    with CAUSES[cause](file):
        logged_out.end(OLGA, HOURS)
    assert not holds(file, OLGA), "nobody came by"
    logged_out.end(BEN, HOURS)
    assert (holds(file, OLGA), holds(file, BEN)) == (not mutant, True)


def test_while_nothing_can_be_written_down_log_outs_have_an_end_all_the_same(
    started: Callable[[], None], file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever makes up people filled the memory while the disk was full, and the log with a line for each."""
    file.parent.mkdir()
    made = [OLGA | {"sub": f"p{number}", "iat": 900.0 + number} for number in range(10 * FEW)]
    with caplog.at_level(logging.ERROR), CAUSES["the disk is full"](file):
        for one in made:
            logged_out.end(one, HOURS)
        assert len(logged_out.known()) <= FEW + 1
        assert len(list(logged_out._owed.all())) <= FEW + 1
        assert all(map(logged_out.is_ended, made))
    assert len([one for one in caplog.messages if "cannot be written down" in one]) == 1
    logged_out._writing.rest(PATIENCE)
    started()
    assert all(map(logged_out.is_ended, made)), "nobody comes back"
    assert len(file.read_text().splitlines()) <= FEW + 2


def test_what_others_told_leaves_no_more_owed_than_that(started: Callable[[], None], file: Path) -> None:
    """It makes room in what is known here, not in what the file lacks."""
    file.parent.mkdir()
    with CAUSES["the disk is full"](file):
        for number in range(10 * FEW):
            logged_out.end(OLGA | {"sub": f"p{number}", "iat": 900.0 + number}, HOURS)
            provider = logged_out._name(OLGA, logged_out._PROVIDER)
            since = 899 + number
            logged_out.hear(Ended(provider, provider, f"<{since}", since, since + 9))
        assert len(list(logged_out._owed.all())) <= FEW + 1
    logged_out._writing.rest(PATIENCE)


def test_no_thread_is_left_for_each_time_that_it_was_tried(started: Callable[[], None], file: Path) -> None:
    """One that waits for a server that stands still waits in its turn: nobody else does in its place."""
    file.parent.mkdir()
    waits: list[float] = []
    with pytest.MonkeyPatch.context() as patch:

        @contextmanager
        def held(path: Path, patience: float) -> Iterator[None]:
            waits.append(patience)
            with exclusive(path, patience):
                yield

        patch.setattr("dpcore.ledger.lock.exclusive", held)
        with CAUSES["another server stands still while it writes"](file):
            for said in (OLGA, BEN):
                logged_out.end(said, HOURS)
        logged_out._writing.rest(PATIENCE)
    short = [wait for wait in waits if wait < HOURS]
    assert len(short) == 2, "of who logged out"
    assert 1 <= len(waits) - len(short) <= 2
    assert holds(file, OLGA)
    assert holds(file, BEN)


def test_what_could_not_be_written_anew_takes_no_room_and_owes_nothing(
    started: Callable[[], None], monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    """Half of a new file filled what room there was for later lines."""
    monkeypatch.setattr(logged_out, "_LINES", 1)
    monkeypatch.setattr(logged_out, "_TIDY", 0.0)
    now = [1000.0]
    monkeypatch.setattr(logged_out, "time", SimpleNamespace(time=lambda: now[0], sleep=lambda _: None))
    monkeypatch.setattr(logged_out, "_KEPT", 0.0)
    for number in range(4):
        logged_out.end(OLGA | {"nonce": str(number)}, 10.0)
        now[0] += 20.0
    before, sync = file.stat().st_ino, os.fsync

    def fsync(handle: int) -> None:
        sync(handle) if os.fstat(handle).st_ino == before else no_room()

    monkeypatch.setattr(logged_out._writing, "wake", lambda: None)
    with failing("fsync", fsync):
        logged_out.end(BEN, HOURS)
    assert file.stat().st_ino == before
    assert holds(file, BEN)
    assert not list(logged_out._owed.all())
    assert sorted(one.name for one in file.parent.iterdir()) == [file.name, f"{file.name}.lock"]


def lines(file: Path) -> list[str]:
    """The whole lines of log-outs."""
    return file.read_text().rpartition("\n")[0].splitlines()[1:]


@pytest.mark.parametrize("mutant", [False, True])
@pytest.mark.parametrize("piece", [150, 700])
def test_each_piece_of_room_holds_the_lines_that_fit_there_and_none_twice(
    started: Callable[[], None], monkeypatch: pytest.MonkeyPatch, file: Path, piece: int, *, mutant: bool
) -> None:
    """Of more than there was room for at once the first lines were added each time: they took all the room that came,
    and no other was ever written."""
    monkeypatch.setattr(logged_out._writing, "wake", lambda: None)
    add = logged_out._add
    if mutant:
        monkeypatch.setattr(logged_out, "_add", lambda file, owed: (add(file, owed.copy()), owed.clear()))
    file.parent.mkdir()
    made = [OLGA | {"sub": f"p{number}", "iat": 900.0 + number} for number in range(FEW // 2)]
    with room_for(0):
        for one in made:
            logged_out.end(one, HOURS)
    head, width = len(logged_out._head()), len(logged_out._line(next(logged_out._owed.all())))
    fit = []
    for size in range(0, head + width * len(made) + piece, piece):
        with room_for(size):
            logged_out._written_down(PATIENCE)
        found = lines(file)
        fit.append(len(found) == len(set(found)) == min(max(size - head, 0) // width, len(made)))
    assert all(fit) == (not mutant)
    assert list(logged_out._owed.all()) == [] or mutant
    started()
    assert all(map(logged_out.is_ended, made)) == (not mutant)


class ForgetfulDisk:
    """Takes what is written, and where it is full says when it is asked to keep it that it cannot; but says so once:
    the system then holds for kept what it will forget (fsync(2))."""

    def __init__(self) -> None:
        self.full, self._sync = True, os.fsync
        self._kept: dict[bytes, bytes] = {}

    def kept(self, content: bytes) -> bytes:
        """What is left of a file after a start."""
        return self._kept.get(content.partition(b"\n")[0], b"")

    def fsync(self, handle: int) -> None:
        self._sync(handle)
        now = Path(f"/proc/self/fd/{handle}").read_bytes()
        before = self.kept(now)
        added = now[len(before) :]
        self._kept[now.partition(b"\n")[0]] = before + (bytes(len(added)) if self.full else added)
        if self.full and added:
            no_room()


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "none": lambda _: None,
    "it is added once more": lambda patch: patch.setattr(logged_out, "_unsure", False),
    "it is held for kept": lambda patch: patch.setattr(logged_out, "_write_anew", lambda _: None),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_what_the_disk_did_not_keep_is_written_anew_and_not_once_more(
    started: Callable[[], None], monkeypatch: pytest.MonkeyPatch, file: Path, mutant: str
) -> None:
    """The file grew with each try; and lines of which the system said once that they are lost are no lines."""
    monkeypatch.setattr(logged_out._writing, "wake", lambda: None)
    disk, once = ForgetfulDisk(), True
    monkeypatch.setattr(os, "fsync", disk.fsync)
    file.parent.mkdir()
    for disk.full in (True, True, False):
        logged_out.end(BEN | {"nonce": str(disk.full)}, HOURS)
        logged_out.end(OLGA, HOURS)
        MUTANTS[mutant](monkeypatch)
        logged_out._written_down(PATIENCE)
        once &= len(lines(file)) == len(set(lines(file)))
    file.write_bytes(disk.kept(file.read_bytes()))  # the computer is started anew
    started()
    kept = logged_out.is_ended(OLGA)
    assert (once, kept) == (mutant != "it is added once more", mutant != "it is held for kept")
    assert sorted(one.name for one in file.parent.iterdir()) == [file.name, f"{file.name}.lock"]
