"""Whoever gave up waiting for a lock leaves one place in its queue, in which the next one goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dpcore.errors import LedgerError
from dpcore.ledger import lock


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, ExitStack]]:
    """A lock file, and who holds it until they are closed."""
    path = tmp_path / "l.lock"
    with ExitStack() as holder:
        holder.enter_context(lock.exclusive(path))
        yield path, holder
        holder.close()
        for thread in waiting():
            thread.join(60)


def waiting() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("ledger-lock")]


def open_at(path: Path) -> int:
    return sum(os.path.realpath(f"/proc/self/fd/{one}") == str(path) for one in os.listdir("/proc/self/fd"))


def clicks(path: Path, times: int) -> None:
    for _ in range(times):
        with pytest.raises(LedgerError, match="held by another program"), lock.exclusive(path, 0.001):
            raise AssertionError


def test_any_number_of_clicks_leaves_one_thread_and_one_file(held: tuple[Path, ExitStack]) -> None:
    path, holder = held
    clicks(path, 1)
    first = waiting()
    clicks(path, 200)
    assert waiting() == first
    assert len(first) == 1
    assert open_at(path) == 2, "who holds it, and who waits"
    holder.close()
    first[0].join(60)
    assert not first[0].is_alive()
    assert open_at(path) == 0
    with lock.exclusive(path, 0.001):
        assert open_at(path) == 1
    assert lock._Turn._left == {}


def test_whoever_waits_in_a_place_that_was_left_has_the_lock_then(held: tuple[Path, ExitStack]) -> None:
    path, holder = held
    clicks(path, 3)
    had, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        with lock.exclusive(path, 60.0):
            had.set()
            go_on.wait(60)

    late = threading.Thread(target=wait)
    late.start()
    while lock._Turn._left:  # until it stands there
        assert late.is_alive()
    holder.close()
    assert had.wait(60)
    clicks(path, 1)
    go_on.set()
    late.join(60)
    for thread in waiting():
        thread.join(60)
    assert open_at(path) == 0
    assert lock._Turn._left == {}


def test_several_who_wait_at_once_have_a_place_each(held: tuple[Path, ExitStack]) -> None:
    path, holder = held
    order: list[int] = []

    def wait(name: int) -> None:
        with lock.exclusive(path, 60.0):
            order.append(name)

    those = [threading.Thread(target=wait, args=(name,)) for name in range(4)]
    for one in those:
        one.start()
    while len(waiting()) < len(those):
        assert all(one.is_alive() for one in those)
    holder.close()
    for one in those:
        one.join(60)
    assert sorted(order) == [0, 1, 2, 3]


def test_another_file_of_the_same_name_is_waited_for_by_itself(held: tuple[Path, ExitStack]) -> None:
    path, _ = held
    clicks(path, 1)
    path.unlink()
    with lock.exclusive(path, 0.001):
        clicks(path, 5)
        assert len(waiting()) == 2


def test_these_tests_can_fail(held: tuple[Path, ExitStack], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody goes on in another's place."""
    path, _ = held

    def anew(handle: int) -> lock._Turn:
        found = os.fstat(handle)
        return lock._Turn(handle, (found.st_dev, found.st_ino))

    monkeypatch.setattr(lock._Turn, "of", anew)
    clicks(path, 5)
    assert len(waiting()) == 5
