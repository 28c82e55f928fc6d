"""The ledger is opened beside the pages: nobody waits for it longer than a moment, nor in a queue."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.background import compute, opening, places
from dashboard.background.once import forget_all
from dashboard.background.opening import LONGEST, SHORTEST, Opening
from dashboard.background.places import Places, Script, Visitor
from dashboard.budget import tracker
from dashboard.words.server import BEING_OPENED
from dpcore.errors import InvalidArgument, LedgerError, LedgerUnsound
from dpcore.ledger import Ledger
from dpcore.ledger.lock import HELD
from tests.conftest import SHORT

LONG = 60.0
MEANWHILE = "It is being opened."
Make = Callable[..., Opening[str]]


class Held:
    """Whatever is opened: it takes until ``goes_on`` is set, and ``seconds`` of a clock that stands still otherwise."""

    def __init__(self, make: Make = Opening, *, waits: float = LONG) -> None:
        self.now, self.seconds, self.opened = 0.0, 0.0, 0
        self.raises: Exception | None = None
        self.begun, self.goes_on = threading.Event(), threading.Event()
        self.ask = make(self._open, lambda: LedgerError(MEANWHILE), waits=waits, clock=lambda: self.now)

    def _open(self) -> str:
        self.opened += 1
        self.begun.set()
        assert self.goes_on.wait(LONG)
        self.now += self.seconds
        if self.raises is not None:
            raise self.raises
        return f"opened {self.opened}"

    def told(self) -> str:
        try:
            return self.ask()
        except LedgerError as error:
            return str(error)

    def settled(self, asked: list[Future[str]]) -> int:
        """Once each of those who ask was told, or waits; how many wait."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            attempt, left = self.ask._attempt, [one for one in asked if not one.done()]
            if not left or (attempt is not None and len(attempt.call._waiters) == len(left)):
                break
            time.sleep(0.005)
        return len(left)

    def ended(self) -> None:
        self.goes_on.set()
        self.ask._thread.rest(LONG)


class InTheScript(Opening[str]):
    """As it was: whoever asks opens it, in their own thread, and others wait for them."""

    def __init__(self, opens: Any, meanwhile: Any, *, waits: float, clock: Any) -> None:
        super().__init__(opens, meanwhile, waits=1000 * LONG, clock=clock)


class ForgetsRefusals(Opening[str]):
    """As it was of most: what was refused is not kept, so each has it opened."""

    def __call__(self) -> str:
        if self._attempt is not None and self._attempt.refused() is not None:
            self._attempt = None
        return super().__call__()


class AllAskAgain(Opening[str]):
    """Whoever comes while one asks again waits with them."""

    def _present(self) -> Any:
        return super()._present()[0], True


class NeverAgain(Opening[str]):
    """What was refused once stays so."""

    def _present(self) -> Any:
        return (self._attempt, False) if self._attempt is not None else super()._present()


class ForgetsAll(Opening[str]):
    """As it was: what was refused is forgotten by whoever asks for it to be opened anew."""

    def reopen(self) -> str | None:
        found = super().reopen()
        self._attempt = None
        return found


def nobody_waits_longer_than_a_moment(make: Make) -> bool:
    """One who came first waits, and those who come when it has taken that long do not."""
    held = Held(make)
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(held.told)
        assert held.begun.wait(LONG)
        held.now = LONG
        others = [pool.submit(held.told) for _ in range(8)]
        waits = held.settled([first, *others])
        held.ended()
        return waits == 1 and {one.result() for one in others} == {MEANWHILE} and first.result() == "opened 1"


def a_refusal_is_kept(make: Make) -> bool:
    held = Held(make)
    held.raises = LedgerError(HELD)
    held.goes_on.set()
    told = {held.told() for _ in range(24)}
    held.now = SHORTEST - 0.001
    return {*told, held.told()} == {HELD} and held.opened == 1


def one_asks_again_and_others_do_not_wait(make: Make) -> bool:
    held = Held(make)
    held.raises = LedgerError(HELD)
    held.goes_on.set()
    held.told()
    held.raises = None
    held.now += SHORTEST
    held.goes_on.clear()
    with ThreadPoolExecutor(9) as pool:
        asked = [pool.submit(held.told) for _ in range(9)]
        waits = held.settled(asked)
        held.ended()
        return waits == 1 and {one.result() for one in asked} == {HELD, held.told()} == {HELD, "opened 2"}


def many_who_want_it_opened_anew_open_it_once(make: Make) -> bool:
    """Of what was refused: each of those who are told so may say that it is to be looked at anew."""
    held = Held(make)
    held.goes_on.set()
    held.told()
    was = held.ask.reopen()
    held.raises = LedgerError(HELD)
    told = [(held.told(), held.ask.reopen()) for _ in range(9)]
    return (was, told, held.opened) == ("opened 1", [(HELD, None)] * 9, 2)


PROMISES: dict[Callable[[Make], bool], tuple[type[Opening[str]], ...]] = {
    nobody_waits_longer_than_a_moment: (InTheScript,),
    a_refusal_is_kept: (ForgetsRefusals,),
    one_asks_again_and_others_do_not_wait: (AllAskAgain, NeverAgain),
    many_who_want_it_opened_anew_open_it_once: (ForgetsAll,),
}


@pytest.mark.parametrize("promise", PROMISES)
def test_whatever_is_opened_for_all(promise: Callable[[Make], bool]) -> None:
    assert promise(Opening)


@pytest.mark.parametrize(("promise", "mutant"), [(one, mutant) for one in PROMISES for mutant in PROMISES[one]])
def test_these_tests_can_fail(promise: Callable[[Make], bool], mutant: Make) -> None:
    assert not promise(mutant)


@pytest.mark.parametrize(("took", "kept"), [(0.0, SHORTEST), (12.0, 12.0), (500.0, LONGEST)])
def test_a_refusal_is_kept_as_long_as_it_took(took: float, kept: float) -> None:
    held = Held()
    held.seconds, held.raises = took, LedgerError(HELD)
    held.goes_on.set()
    held.told()
    held.now += kept - 0.001
    assert (held.told(), held.opened) == (HELD, 1)
    held.now += 0.001
    assert (held.told(), held.opened) == (HELD, 2)


def test_who_asks_again_waits_no_longer_than_who_asked_first() -> None:
    held = Held(waits=0.0)
    assert held.told() == MEANWHILE
    held.raises = InvalidArgument("location", "is none")
    held.ended()
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="location is none"):
            held.ask()
        held.now += SHORTEST
        held.goes_on.clear()
    held.raises = None
    held.ended()
    assert held.told() == "opened 2"


def test_who_waits_has_no_place_among_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    held, pages = Held(), Places()
    monkeypatch.setattr(places, "PLACES", pages)
    script, told = Script(Visitor("a"), object(), None), list[str]()

    def run() -> None:
        places.enter(script)
        told.append(held.told())

    thread = threading.Thread(target=run, daemon=True)
    script.begin = thread.start
    pages.wait(script)
    end = time.monotonic() + LONG
    while not script.aside and time.monotonic() < end:
        time.sleep(0.005)
    assert script.aside
    held.ended()
    thread.join(LONG)
    assert (told, script.aside) == (["opened 1"], False)


def test_nothing_of_a_ledger_stays_with_its_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Records:
        """What was read of a whole ledger."""

    seen = list[weakref.ref[Records]]()

    def opens() -> str:
        records = Records()
        seen.append(weakref.ref(records))
        raise LedgerUnsound(HELD)

    def refused() -> int:
        mine = Opening(opens, LedgerError, waits=LONG)
        with pytest.raises(LedgerUnsound):
            mine()
        return sum(one() is not None for one in seen)

    assert refused() == 0
    monkeypatch.setattr(opening.traceback, "clear_frames", lambda tb: None)
    assert refused() == 1, "else this would show nothing"


# -- the ledger --------------------------------------------------------------------------------------------------------


def test_pages_read_that_the_ledger_is_being_opened_and_then_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on, opened = threading.Event(), threading.Event(), Ledger.open("sqlite://")

    def slowly(**_: object) -> Ledger:
        begun.set()
        assert goes_on.wait(LONG)
        return opened

    forget_all()
    monkeypatch.setattr(compute.Ledger, "open", slowly)
    mine = Opening(compute._opened, compute._opening(None)._meanwhile, waits=0.0)
    monkeypatch.setattr(compute, "_opening", lambda named: mine)
    for asks in (compute.opens, compute.ledger, compute.rooms_ledger):
        with pytest.raises(LedgerError) as refused:
            asks()
        assert str(refused.value) == BEING_OPENED
    assert tracker.trouble() == BEING_OPENED
    assert begun.wait(LONG)
    goes_on.set()
    mine._thread.rest(LONG)
    assert tracker.trouble() is None
    assert compute.rooms_ledger()._store is opened._store


def test_pages_wait_some_three_seconds() -> None:
    assert SHORT <= 3.0
    assert compute._opening("nowhere")._waits == compute.OPENING, "which tests alone set"


def test_a_budget_that_cannot_be_asked_has_no_open_ledger_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is told why the ledger was closed a moment ago would close the one that is open since."""
    people: Any = SimpleNamespace(lineage="people", simulated=False)
    monkeypatch.setattr(tracker, "trouble", lambda: HELD)
    with pytest.raises(LedgerError) as refused:
        tracker.budget(people)
    assert type(refused.value) is LedgerError
