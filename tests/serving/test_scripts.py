"""Scripts begin when there is a place, and take along what was asked of their page until then: no click is lost."""

from __future__ import annotations

import asyncio
import http.client
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType
from streamlit.signal_util import Signal

from benchmarks.people import TOO_LONG, Person, opened
from dashboard.background import hangs, places
from dashboard.background.places import EACH, Places, Script, Visitor
from dashboard.runtime import left_pages, scripts
from tests.browser.server import running

START = scripts._STREAMLITS[ScriptRunner, "start"]
STOPPED, SHUTDOWN = ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS, ScriptRunnerEvent.SHUTDOWN


class Runner:
    """Stands for Streamlit's: what is asked of it is merged by Streamlit, its thread is the test."""

    def __init__(self, session: AppSession, asked: RerunData) -> None:
        self._requests = ScriptRequests()
        self._requests.request_rerun(asked)
        self.request_stop = lambda: self._requests.request_stop()
        self.request_rerun = self._requests.request_rerun
        self._script_thread: threading.Thread | None = None
        self.on_event = Signal()
        self.on_event.connect(session._on_scriptrunner_event)
        session._scriptrunner = self  # type: ignore[assignment]

    def _run_script_thread(self) -> None:
        """The test is it."""

    def turns(self) -> Iterator[RerunData]:
        """What it runs, one after the other."""
        while (request := self._requests.on_scriptrunner_ready()).type is ScriptRequestType.RERUN:
            yield request.rerun_data


VISITORS: dict[str, Visitor] = {}


class Page(AppSession):
    """A session of which nothing is there but what asks for runs; notes what it is told of them."""

    def __init__(self, address: str = "a") -> None:
        self.id, self.told = address, list[ScriptRunnerEvent]()
        self.visitor = VISITORS[address] = Visitor(address)
        self._state, self._scriptrunner = AppSessionState.APP_NOT_RUNNING, None
        self._client_state = ClientState()
        self._event_loop = self._script_event_loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        self._event_loop.close()

    def _on_scriptrunner_event(self, sender: Any, event: Any = None, **more: Any) -> None:
        self.told.append(event)

    def has_fragment(self, fragment_id: str) -> bool:
        return True

    def asks(self, *clicked: str, part: str = "", by_itself: bool = False, **held: float) -> None:
        """A message of a browser: it says what all widgets hold, and a click only once."""
        asked = ClientState(fragment_id=part, is_auto_rerun=by_itself)
        for name in clicked:
            asked.widget_states.widgets.add(id=name, trigger_value=True)
        for name, value in held.items():
            asked.widget_states.widgets.add(id=name, double_value=value)
        self.request_rerun(asked)


def seen(asked: RerunData) -> dict[str, float | bool]:
    """What a run sees of the widgets."""
    states = asked.widget_states.widgets if asked.widget_states is not None else ()
    return {one.id: one.trigger_value or one.double_value for one in states}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Runner]]:
    """The runners whose threads have begun, with empty places and the guard."""
    found: list[Runner] = []
    fresh = Places()
    for module in (places, scripts):
        monkeypatch.setattr(module, "PLACES", fresh)
    monkeypatch.setattr(scripts, "visitor_of", lambda address: VISITORS[address])
    monkeypatch.setattr(scripts, "_LOOK", SimpleNamespace(after=lambda loop: None))

    def create(session: AppSession, asked: RerunData) -> None:
        scripts._start(Runner(session, asked))  # type: ignore[arg-type]

    left_pages.guard()
    scripts.guard()
    monkeypatch.setitem(scripts._STREAMLITS, (AppSession, "_create_scriptrunner"), create)
    monkeypatch.setitem(scripts._STREAMLITS, (ScriptRunner, "start"), found.append)
    yield found
    scripts.unguard()
    left_pages.unguard()
    places._HERE.__dict__.clear()


def run(runner: Runner) -> list[RerunData]:
    """A runner's whole thread."""
    script = runner.__dict__[scripts._SCRIPT]
    places.enter(script)
    found = list(runner.turns())
    scripts.PLACES.ended(script)
    return found


def full(address: str = "a") -> list[Page]:
    """Pages of an address that hold all places it may have."""
    pages = [Page(address) for _ in range(EACH)]
    for page in pages:
        page.asks()
    return pages


def test_what_is_asked_while_a_page_waits_is_one_run_that_sees_every_click(begun: list[Runner]) -> None:
    others, page = full(), Page()
    page.asks("draw", x=1.0)
    page.asks(x=2.0)
    page.asks("open", x=3.0)
    page.asks("in a part", part="a part", x=4.0)
    page.asks(x=5.0)
    page.asks(part="a part", by_itself=True)
    assert len(begun) == len(others)
    run(begun[0])
    (asked,) = run(begun[-1])
    assert seen(asked) == {"draw": True, "open": True, "in a part": True, "x": 5.0}
    assert not asked.fragment_id_queue, "a whole page was asked for"
    assert len(begun) == len(others) + 1


def test_parts_that_were_asked_for_while_a_page_waits_are_all_drawn(begun: list[Runner]) -> None:
    full()
    page = Page()
    for part in ("one", "two", "one"):
        page.asks(f"click in {part}", part=part)
    run(begun[0])
    (asked,) = run(begun[-1])
    assert asked.fragment_id_queue == ["one", "two"]
    assert seen(asked) == {"click in one": True, "click in two": True}


def test_a_page_s_next_script_begins_when_its_former_one_has_ended(begun: list[Runner]) -> None:
    """As Streamlit does it the next one begins at once, however many go on before it."""
    page = Page()
    page.asks("first")
    former = begun[0]
    places.enter(former.__dict__[scripts._SCRIPT])
    going = former.turns()
    assert seen(next(going)) == {"first": True}
    for number in range(20):
        page.asks(f"click {number}")
    assert begun == [former], "which has been asked to stop"
    assert list(going) == []
    scripts.PLACES.ended(former.__dict__[scripts._SCRIPT])
    (asked,) = run(begun[1])
    assert set(seen(asked)) == {f"click {number}" for number in range(20)}, "what was begun is not begun again"


def test_a_click_in_a_part_that_a_running_script_had_not_come_to_is_not_lost(begun: list[Runner]) -> None:
    page = Page()
    page.asks()
    going = begun[0].turns()
    places.enter(begun[0].__dict__[scripts._SCRIPT])
    next(going)
    page.asks("in a part", part="a part")
    page.asks(x=1.0)
    assert list(going) == []
    scripts.PLACES.ended(begun[0].__dict__[scripts._SCRIPT])
    assert seen(run(begun[1])[0]) == {"in a part": True, "x": 1.0}


def test_a_script_whose_turn_comes_while_another_takes_its_place_loses_nothing(begun: list[Runner]) -> None:
    """Its thread begins between the loop's request to stop and the making of the next runner."""
    full()
    page = Page()
    page.asks("draw")
    page._scriptrunner.request_stop()  # type: ignore[union-attr]
    run(begun[0])
    assert run(begun[-1]) == [], "it was stopped before it saw anything"
    page.asks(x=1.0)
    assert seen(run(begun[-1])[0]) == {"draw": True, "x": 1.0}


@pytest.mark.parametrize("stopped", ["by Stop", "by leaving"])
def test_who_presses_stop_or_leaves_while_they_wait_wants_nothing_of_it(begun: list[Runner], stopped: str) -> None:
    full()
    page = Page()
    page.asks("draw")
    page.request_script_stop()
    assert page.told == [STOPPED, SHUTDOWN], "the browser hears that it is over, the session closes what is open"
    assert not scripts.PLACES.anybody_waits
    if stopped == "by leaving":
        run(begun[0])
        assert len(begun) == EACH
        return
    page.asks(x=1.0)
    run(begun[0])
    assert seen(run(begun[-1])[0]) == {"x": 1.0}


def test_a_page_that_asks_for_part_after_part_gives_its_place_back_between_them(begun: list[Runner]) -> None:
    """And what it was asked meanwhile waits like anything else."""
    busy, waits = full()[0], Page()
    waits.asks("somebody else's")
    runner = begun[0]
    places.enter(runner.__dict__[scripts._SCRIPT])
    going = runner.turns()
    next(going)
    busy.asks("in a part", part="a part")
    assert list(going) == [], "as somebody waits"
    scripts.PLACES.ended(runner.__dict__[scripts._SCRIPT])
    assert seen(run(begun[-1])[0]) == {"somebody else's": True}
    busy._event_loop.run_until_complete(asyncio.sleep(0))
    (asked,) = run(begun[-1])
    assert (asked.fragment_id_queue, seen(asked)) == (["a part"], {"in a part": True})


def test_who_asks_again_before_that_takes_it_along_and_who_leaves_does_not(begun: list[Runner]) -> None:
    for leaves in (False, True):
        pages = full()
        Page().asks()
        runner = pages[0]._scriptrunner
        assert isinstance(runner, Runner)
        going = runner.turns()
        places.enter(runner.__dict__[scripts._SCRIPT])
        next(going)
        pages[0].asks("in a part", part="a part")
        assert list(going) == []
        if leaves:
            pages[0].request_script_stop()
        else:
            pages[0].asks(x=1.0)
        before = len(begun)
        scripts.PLACES.ended(runner.__dict__[scripts._SCRIPT])
        pages[0]._event_loop.run_until_complete(asyncio.sleep(0))
        for page in pages[1:]:
            run(page._scriptrunner)  # type: ignore[arg-type]
        found = [seen(asked) for one in begun[before:] for asked in run(one)]
        assert found == ([{}] if leaves else [{}, {"in a part": True, "x": 1.0}])


def test_a_part_goes_on_in_its_thread_where_nobody_waits(begun: list[Runner]) -> None:
    page = Page()
    page.asks()
    places.enter(begun[0].__dict__[scripts._SCRIPT])
    going = begun[0].turns()
    next(going)
    page.asks("in a part", part="a part")
    assert [seen(asked) for asked in going] == [{"in a part": True}]


class System:
    """What Streamlit asks for a runner's thread; ``short`` is what it raises while it gives none."""

    def __init__(self, begun: list[Runner]) -> None:
        self.asked, self.begun = 0, begun
        self.short: Exception | None = None

    def start(self, thread: Any) -> None:
        self.asked += 1
        if self.short is not None:
            raise self.short
        self.begun.append(thread._target.__self__)


@pytest.fixture
def system(begun: list[Runner], monkeypatch: pytest.MonkeyPatch) -> System:
    found = System(begun)
    monkeypatch.setitem(scripts._STREAMLITS, (ScriptRunner, "start"), START)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: found.start(thread))
    return found


def waiting(many: int) -> list[Page]:
    """So many pages that wait, of addresses of which one asks for much, each with a click."""
    pages = [Page("a" if number % 3 else f"b{number % 7}") for number in range(many)]
    for number, page in enumerate(pages):
        page.asks("draw", x=1.0 + number)
    return pages


def all_run(begun: list[Runner]) -> list[dict[str, float | bool]]:
    """What every run sees, one after the other, until none begins any more."""
    found = []
    while begun:
        found += [seen(asked) for asked in run(begun.pop(0))]
    return found


def drawn(system: System, comes_by: str, many: int, raised: Exception | None) -> list[dict[str, float | bool]]:
    """What is drawn, and in which order, of what waits while the system gives no thread for a moment."""
    scripts.PLACES.__init__()  # type: ignore[misc]
    others = full() + full("c")
    pages = waiting(many)
    before, system.asked, system.short = scripts.PLACES.in_line("a"), 0, raised
    run(system.begun.pop(0))
    if raised is not None:
        assert system.asked == 1, "nor are the others asked for"
        assert scripts.PLACES.in_line("a") == before
    system.short = None
    assert not [told for page in [*others, *pages] for told in page.told]
    if comes_by == "a look":
        scripts.PLACES.fill()
    elif comes_by == "one that asks":
        Page("d").asks("last")
    return all_run(system.begun)


@pytest.mark.parametrize("raised", [RuntimeError("can't start new thread"), MemoryError()])
@pytest.mark.parametrize("comes_by", ["one that ends", "a look", "one that asks"])
def test_a_moment_without_threads_is_the_end_of_nothing_that_waits(
    system: System, comes_by: str, raised: Exception
) -> None:
    """Every page that waited was told that its run had finished, or nothing at all, and what it was asked was gone."""
    found = drawn(system, comes_by, 400, raised)
    assert [one for one in found if one.get("draw")] == [
        one for one in drawn(system, comes_by, 400, None) if one.get("draw")
    ]
    assert {one["x"] for one in found if one.get("draw")} == {1.0 + number for number in range(400)}
    assert not scripts.PLACES._alive
    assert not scripts.PLACES.anybody_waits


@pytest.mark.parametrize("mutant", ["ends it", "goes behind all others"])
def test_what_ends_it_or_its_turn_is_found_out(system: System, monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    def ends(runner: ScriptRunner) -> None:
        try:
            START(runner)
        except RuntimeError:
            scripts.PLACES.ended(runner.__dict__[scripts._SCRIPT])
            scripts._is_over(runner)

    def behind(mine: Places, script: Script) -> None:
        mine._beginning -= 1
        mine._alive.discard(script)
        mine._waiting.setdefault(script.visitor.address, {})[script.page] = script

    if mutant == "ends it":
        monkeypatch.setattr(scripts, "_begin", ends)
    else:
        monkeypatch.setattr(Places, "_wait_again", behind)
    with pytest.raises(AssertionError):
        test_a_moment_without_threads_is_the_end_of_nothing_that_waits(system, "a look", RuntimeError())


def test_it_is_looked_for_what_is_about_to_begin(system: System) -> None:
    """Or nobody would look any more where the look came just before it had no thread."""
    looked = list[bool]()
    start, system.short = system.start, RuntimeError()

    def looks(thread: Any) -> None:
        looked.append(scripts.PLACES.anybody_waits)
        start(thread)

    system.start = looks  # type: ignore[method-assign]
    page = Page()
    page.asks("draw")
    assert looked == [True]
    assert scripts.PLACES.anybody_waits
    system.short = None
    scripts.PLACES.fill()
    assert not scripts.PLACES.anybody_waits
    assert all_run(system.begun) == [{"draw": True}]


def test_who_asks_more_or_leaves_while_there_is_no_thread_is_heard(system: System) -> None:
    system.short = RuntimeError()
    page, leaves = Page(), Page("b")
    page.asks("draw", x=1.0)
    leaves.asks("draw")
    page.asks("open", x=2.0)
    leaves.request_script_stop()
    assert (page.told, leaves.told) == ([], [STOPPED, SHUTDOWN])
    system.short = None
    scripts.PLACES.fill()
    assert all_run(system.begun) == [{"draw": True, "open": True, "x": 2.0}]


def test_a_script_for_which_another_one_of_its_page_waits_by_then_is_none(system: System) -> None:
    page = Page()
    system.short = RuntimeError()
    start = system.start

    def meanwhile(thread: Any) -> None:
        system.start = start  # type: ignore[method-assign]
        page.asks("open", x=2.0)
        start(thread)

    system.start = meanwhile  # type: ignore[method-assign]
    page.asks("draw", x=1.0)
    system.short = None
    scripts.PLACES.fill()
    assert all_run(system.begun) == [{"draw": True, "open": True, "x": 2.0}]


def test_that_there_is_no_thread_is_said_once(system: System, caplog: pytest.LogCaptureFixture) -> None:
    page = Page()
    for _ in range(2):
        system.short = RuntimeError()
        for _ in range(3):
            page.asks("draw")
            scripts.PLACES.fill()
        system.short = None
        scripts.PLACES.fill()
        all_run(system.begun)
    said = [one.message for one in caplog.records if "no more threads" in one.message]
    assert said == ["the system gives no more threads for now: pages wait for one"] * 2


def test_a_thread_is_measured_and_its_place_is_free_at_its_end(
    begun: list[Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it fails; and what its widgets held is not kept."""

    def thread(runner: Runner) -> None:
        next(runner.turns())
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass
        raise KeyError

    monkeypatch.setitem(scripts._STREAMLITS, (ScriptRunner, "_run_script_thread"), thread)
    page = Page()
    page.asks(x=1.0)
    with pytest.raises(KeyError):
        scripts._run_thread(begun[0])  # type: ignore[arg-type]
    assert page.visitor.weight() > 1.5
    assert not scripts.PLACES._alive
    assert page.__dict__[scripts._SCRIPT].requests is None


def test_whoever_computes_lets_the_loop_go_on_soon() -> None:
    """Each call of the system that the loop makes gave Python away for 5 ms, so that openings of pages filled it."""
    before = sys.getswitchinterval()
    scripts.guard()
    assert sys.getswitchinterval() <= before / 5
    scripts.unguard()
    assert sys.getswitchinterval() == before


def test_it_is_looked_again_after_what_hangs_while_somebody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, looks = [True, True, False], list[bool]()
    here = SimpleNamespace(fill=lambda: looks.append(waits.pop(0)))
    monkeypatch.setattr(scripts, "PLACES", here)
    monkeypatch.setattr(hangs, "LOOKED", 0.01)
    here.anybody_waits = True

    async def wait() -> None:
        look = scripts._Look()
        for _ in range(5):
            look.after(asyncio.get_running_loop())  # one timer, however many wait
        while len(looks) < 3:
            await asyncio.sleep(0.001)
            here.anybody_waits = waits[0] if waits else False
        await asyncio.sleep(0.05)

    asyncio.run(wait())
    assert looks == [True, True, False]


OTHERS, MANY = "127.0.0.2", 80
COSTLY = "data=diabetes&experts_count=1000&experts_axis=n"


class Elsewhere(Person):
    """Somebody at another address."""

    async def arrive(self) -> None:
        self._connection = await opened(self.address, local_addr=(OTHERS, 0), ping_interval=None)
        await self._run(BackMsg())


class Many(Person):
    """One of many pages of one address that ask for something costly at one moment."""

    async def asks(self) -> None:
        asked = BackMsg()
        asked.rerun_script.page_name = "experts"
        asked.rerun_script.query_string = (
            f"{COSTLY}&seed={random.randrange(1 << 31)}&epsilon={random.uniform(0.1, 3):.4f}"
        )
        await self._connection.send(asked.SerializeToString())

    async def until_drawn(self) -> None:
        told = ForwardMsg()
        while told.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY or told.WhichOneof("type") != "script_finished":
            told.ParseFromString(await asyncio.wait_for(self._connection.recv(decode=False), TOO_LONG))


class Health:
    """How long the server takes to say that it is well, again and again, in a thread."""

    def __init__(self, address: str) -> None:
        self._at, self._over, self.seconds = urlsplit(address), threading.Event(), list[float]()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            begun = time.monotonic()
            asks = http.client.HTTPConnection(
                str(self._at.hostname), self._at.port, timeout=TOO_LONG, source_address=(OTHERS, 0)
            )
            asks.request("GET", "/_stcore/health")
            asks.getresponse().read()
            asks.close()
            self.seconds.append(time.monotonic() - begun)

    def end(self) -> float:
        """The longest."""
        self._over.set()
        self._thread.join(TOO_LONG)
        return max(self.seconds)


async def beside_many(address: str) -> tuple[float, float, float, float]:
    """Seconds of a step of ε and the longest of health, alone and while all pages of another address are drawn."""
    person, crowd = Elsewhere(address, "selection"), [Many(address, "start") for _ in range(MANY)]
    await person.arrive()
    for one in crowd:
        await one.arrive()
    await crowd[0].asks()
    await crowd[0].until_drawn()  # what the first one loads, and compiles
    steps = [0.1 + 0.013 * number for number in range(100)]
    health = Health(address)
    alone = statistics.median([await person.move(steps.pop()) for _ in range(9)])
    well = health.end()
    health = Health(address)
    await asyncio.gather(*(one.asks() for one in crowd))
    drawn = asyncio.gather(*(one.until_drawn() for one in crowd))
    beside = [await person.move(steps.pop())]
    while not drawn.done() and steps:
        beside.append(await person.move(steps.pop()))
    await drawn
    for one in (person, *crowd):
        await one.leave()
    return alone, well, statistics.median(beside), health.end()


@pytest.mark.thorough
def test_many_messages_of_one_address_keep_nobody_else_waiting(tmp_path: Path) -> None:
    """As many scripts at once kept everybody from an answer until all were done, and the server looked dead."""
    with running(tmp_path) as address:
        alone, well, beside, health = asyncio.run(beside_many(address))
    print(f"a step of epsilon {alone:.3f} s alone, {beside:.3f} s beside; health {well:.3f} s, {health:.3f} s")
    assert health < max(1.0, 30.0 * well)
    assert beside < 8.0 * alone
