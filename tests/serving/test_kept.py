"""What all visitors share survives what one of them may ask Streamlit to drop."""

from __future__ import annotations

import ast
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from dashboard.background import compute, turns
from dashboard.background import once as once_module
from dashboard.background.once import Once, anew, once
from dashboard.data import task
from dpcore.errors import InvalidArgument, KnownPeople, LedgerError, LedgerUnsound
from dpcore.threads import NoThread

ROOT = Path(__file__).parents[2]
LONG = 60.0

SHARED: tuple[Callable[[], object], ...] = (compute.pool, compute.shelf, task.threads, turns._turns)


@pytest.mark.parametrize("shared", SHARED, ids=lambda shared: str(shared.__doc__)[:20])
def test_what_all_share_is_not_in_streamlit_s_caches(shared: Callable[[], object]) -> None:
    before = shared()
    st.cache_resource.clear()
    st.cache_data.clear()
    assert shared() is before


def test_a_sample_is_read_once() -> None:
    before = compute.sample("clinic")
    st.cache_resource.clear()
    assert compute.sample("clinic") is before


def test_made_once_however_many_ask_at_once() -> None:
    made: list[int] = []
    ready = threading.Barrier(8)

    @once(most=2)
    def slow(number: int) -> list[int]:
        made.append(number)
        return [number]

    def ask() -> None:
        ready.wait()
        slow(1)

    askers = [threading.Thread(target=ask) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert made == [1]
    for number in (2, 3):
        slow(number)
    assert slow(3) is slow(3)
    slow(1)
    assert made == [1, 2, 3, 1], "only the latest two are kept"


WAITED_FOR = {
    "dashboard/background/compute.py sample": "a file of the program, or one that is fetched, by one process for all",
    "dashboard/background/compute.py sample_rows": "a file of the program",
    "dashboard/background/compute.py _opening": "an object is made; what opens waits beside it (``Opening``)",
    "dashboard/background/compute.py pool": "objects are made; processes and lines to others begin beside it",
    "dashboard/background/compute.py sweep": "files of a killed server are removed, before the first page",
    "dashboard/background/compute.py warm_up": "work is handed to processes",
    "dashboard/background/compute.py shelf": "an object is made",
    "dashboard/background/turns.py _turns": "an object is made",
    "dashboard/budget/state.py _receipts": "statements of the ledger, each of which has its seconds (``watch.ANSWER``)",
    "dashboard/data/configured.py _tables": "a source's server, which has its seconds (``Server``), without a place",
    "dashboard/data/reading_threads.py threads": "an object is made",
    "dashboard/poll/live_opening.py _loaded": "a thread begins",
    "dashboard/serving/settings.py trouble": "settings and small files are read",
    "dashboard/shell.py _pages": "modules of the program are found",
}
"""All that is made once for those who ask at once, and what bounds how long they wait for that one call."""


def made_once() -> Iterator[str]:
    for file in sorted((ROOT / "dashboard").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if f"from {once_module.__name__} import" not in text:
            continue
        for one in ast.walk(ast.parse(text)):
            if isinstance(one, ast.FunctionDef):
                decorators = [each.func for each in one.decorator_list if isinstance(each, ast.Call)]
                if "once" in map(ast.unparse, decorators):
                    yield f"{file.relative_to(ROOT).as_posix()} {one.name}"


def test_what_many_wait_for_at_once_is_known() -> None:
    assert set(made_once()) == set(WAITED_FOR)


def called(askers: int, fails: Exception | None) -> tuple[int, list[object]]:
    """How often it is called for so many who ask while the first call goes on, and what each of them has."""
    calls, goes_on, found = list[int](), threading.Event(), list[object]()

    @once()
    def slow() -> str:
        calls.append(1)
        assert goes_on.wait(LONG)
        if fails is not None:
            raise fails
        return "value"

    def ask() -> None:
        try:
            found.append(slow())
        except Exception as error:  # noqa: BLE001 - it is what is asked about
            found.append(error)

    def wait_for_it() -> int:
        return sum(len(one._condition._waiters) for one in slow._making.values())  # type: ignore[attr-defined]

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(askers)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + LONG
    while wait_for_it() < askers - 1 and time.monotonic() < end:
        time.sleep(0.005)
    goes_on.set()
    for thread in threads:
        thread.join(LONG)
    return len(calls), found


def test_who_waits_for_a_call_that_fails_does_not_call_in_turn() -> None:
    """Each of many would wait for as long as all calls before take, of a database that does not answer say."""
    assert called(8, None) == (1, ["value"] * 8)
    calls, found = called(8, LedgerError("no"))
    assert (calls, [str(one) for one in found]) == (1, ["no"] * 8)
    assert len(set(map(id, found))) == 8, "each has one of their own"


def test_a_queue_of_those_who_wait_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_it_was(call: Future[Any]) -> Any:
        if call.exception() is not None:
            raise once_module.CancelledError  # each asks on
        return call.result()

    monkeypatch.setattr(once_module, "outcome", as_it_was)
    assert called(8, LedgerError("no"))[0] == 8


def test_who_waits_for_a_script_that_is_stopped_makes_it() -> None:
    class Stopped(BaseException):
        """As what Streamlit ends a script by."""

    begun, goes_on, calls, found = threading.Event(), threading.Event(), list[int](), list[str]()

    @once()
    def slow() -> str:
        calls.append(1)
        if len(calls) == 1:
            begun.set()
            assert goes_on.wait(LONG)
            raise Stopped
        return "value"

    def stopped() -> None:
        with pytest.raises(Stopped):
            slow()

    threads = [threading.Thread(target=stopped, daemon=True), threading.Thread(target=lambda: found.append(slow()))]
    threads[0].start()
    assert begun.wait(LONG)
    threads[1].start()
    goes_on.set()
    for thread in threads:
        thread.join(LONG)
    assert (found, slow()) == (["value"], "value")


def test_what_is_being_made_when_all_is_forgotten_is_not_kept() -> None:
    count = iter(range(9))

    @once()
    def made() -> int:
        found = next(count)
        if found == 0:
            made.clear()
        return found

    assert [made(), made(), made()] == [0, 1, 1]


RAISED = (
    LedgerUnsound("The journal is damaged."),
    InvalidArgument("EPSILON_LAB_LEDGER", "must name a file"),
    KnownPeople([], same=True),
    NoThread(),
    OSError(2, "no"),
    ValueError("no"),
)


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_what_is_raised_for_somebody_else_says_the_same_and_collects_nothing(error: Exception) -> None:
    def places_of(raised: BaseException) -> int:
        return len(traceback.extract_tb(raised.__traceback__))

    def raises(what: BaseException) -> BaseException:
        with pytest.raises(type(error)) as caught:
            raise what
        return caught.value

    raises(error)
    before = places_of(error)
    told = [raises(anew(error)) for _ in range(3)]
    assert {(type(one), one.args, str(vars(one))) for one in told} == {(type(error), error.args, str(vars(error)))}
    assert {places_of(one) for one in told} == {before + 1}
    assert places_of(error) == before
    for _ in range(3):
        raises(error)
    assert places_of(error) > before + 1, "else this would show nothing"


def test_what_failed_is_tried_again() -> None:
    tried: list[int] = []

    @once()
    def fails() -> None:
        tried.append(1)
        raise OSError("no")

    for _ in range(2):
        with pytest.raises(OSError, match="no"):
            fails()
    assert len(tried) == 2


def test_kept_for_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("dashboard.background.once.time.monotonic", lambda: now[0])
    count = iter(range(9))
    kept: Once[[], int] = once(seconds=20)(lambda: next(count))
    found = [kept()]
    now[0] += 19
    found.append(kept())
    now[0] += 2
    assert [*found, kept()] == [0, 0, 1]
