"""What a request counts hangs on the computer, and on nothing that visitors have it do."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dashboard.background import places, speed, turns
from dashboard.background.places import Script, Visitor
from dashboard.serving import plain_requests
from dashboard.serving.plain_requests import PlainRequests


@pytest.mark.parametrize(("seconds", "weight"), [(0.0007, 0.5), (0.0014, 1.0), (0.0028, 2.0), (1.0, 3.0), (0.0, 0.25)])
def test_work_weighs_as_much_as_it_takes_here(seconds: float, weight: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """So one address gets as large a share of a fast computer as of a slow one."""
    monkeypatch.setattr(speed, "seconds", lambda: seconds)
    assert speed.weight() == pytest.approx(weight)
    assert Visitor("somebody new").weight() == pytest.approx(weight)


def test_it_is_looked_at_once_and_others_who_compute_make_it_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0.005, 0.003, 0.004, *[0.009] * 20])
    monkeypatch.setattr(speed, "_taken", lambda: next(taken))
    speed.seconds.cache_clear()
    try:
        assert speed.seconds() == speed.seconds() == 0.003
    finally:
        speed.seconds.cache_clear()
    monkeypatch.undo()
    begun = time.thread_time()
    assert 0.0 < speed.seconds() < 0.5
    assert time.thread_time() - begun < 1.0


def _rate(of: PlainRequests, monkeypatch: pytest.MonkeyPatch) -> float:
    """Requests a second that one more address may make."""
    now = [1_000.0]
    monkeypatch.setattr("dashboard.serving.pace.time.monotonic", lambda: now[0])
    pace = plain_requests._Address().pace
    waits = [pace.wait(100.0) for _ in range(20)]
    return 100.0 / (waits[-1] - waits[-2])


@pytest.mark.parametrize("measured", ["the computer", "everybody's runs"])
@pytest.mark.parametrize("length", [0.0, 0.002, 5.0])
def test_no_run_of_anybody_changes_what_a_request_counts(
    length: float, measured: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither runs that are over at once, by which one address had ten times its requests, nor costly ones, by which
    all others had a third of theirs."""
    mean = [turns.USUAL]
    took: Callable[[Visitor, float], None] = Visitor.took

    def noted(visitor: Visitor, seconds: float) -> None:
        mean[0] += 0.02 * (seconds - mean[0])
        took(visitor, seconds)

    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    if measured != "the computer":
        monkeypatch.setattr(Visitor, "took", noted)
        monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL * mean[0] / turns.USUAL)
    here, clock = PlainRequests(), [0.0]
    before = _rate(here, monkeypatch)
    monkeypatch.setattr(places.time, "thread_time", lambda: clock[0])
    for _ in range(1_000):
        script = Script(Visitor("a stranger"), "a page", None)
        with turns.turn():
            script.runs(whole=True)
            clock[0] += length
            script.over()
    if measured == "the computer":
        assert _rate(here, monkeypatch) == pytest.approx(before) == pytest.approx(plain_requests.REQUESTS_EACH)
    else:
        assert not 0.5 < _rate(here, monkeypatch) / before < 2.0, "what shows that this test can fail"
