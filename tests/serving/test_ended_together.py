"""Replicas that stand still are ended side by side, before whatever started them all loses its patience."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from dashboard.serving import replicas
from dashboard.serving.replicas import DRAIN, end_together


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Process(subprocess.Popen[bytes]):
    """One that ends by ``last``: of its own accord, when it is told, or when it is killed."""

    def __init__(self, clock: Clock, last: str) -> None:
        self.clock, self.last = clock, last
        self.told: list[str] = []
        self.returncode = None

    def __del__(self, _warn: Any = None) -> None:
        """There is no process."""

    def poll(self) -> int | None:
        return 0 if self.last in ("itself", *self.told) else None

    def wait(self, timeout: float | None = None) -> int:
        if (code := self.poll()) is not None:
            return code
        assert timeout is not None, "waited for without end"
        self.clock.now += timeout
        raise subprocess.TimeoutExpired("replica", timeout)

    def terminate(self) -> None:
        self.told.append("told")

    def kill(self) -> None:
        self.told.append("killed")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(replicas, "time", clock)
    return clock


@pytest.mark.parametrize("count", [1, 3, replicas.MOST])
def test_any_number_that_stand_still_take_as_long_as_one(clock: Clock, count: int) -> None:
    begun, still = clock.now, [Process(clock, "killed") for _ in range(count)]
    well = Process(clock, "itself")
    end_together([*still, well])
    assert clock.now - begun == pytest.approx(2 * DRAIN)
    assert all(one.told == ["told", "killed"] for one in still)
    assert well.told == []


def test_nobody_is_killed_who_ends_when_told(clock: Clock) -> None:
    begun, slow = clock.now, Process(clock, "told")
    end_together([slow, Process(clock, "itself")])
    assert (slow.told, clock.now - begun) == (["told"], DRAIN)
