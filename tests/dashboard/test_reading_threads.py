"""Files are read by threads that leave the processor to people's pages."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboard.data.task import threads


def urgency() -> int:
    """How nice the thread is that asks: the larger, the less urgent."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process is as urgent as a whole")
def test_readers_and_what_they_start_are_less_urgent_than_pages() -> None:
    own = urgency()

    def started_by_a_reader() -> int:
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(urgency).result()

    assert own < threads().submit(urgency).result() <= 19
    assert own < threads().submit(started_by_a_reader).result()
    assert urgency() == own
