"""What all visitors share survives what one of them may ask Streamlit to drop."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import streamlit as st

from dashboard.background import compute, turns
from dashboard.background.once import Once, once
from dashboard.data import task

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
