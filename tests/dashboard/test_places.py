"""Few scripts run at once, addresses take turns, a page has one at a time, and nobody waits for ever."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from typing import Any

import pytest

from dashboard.background import hangs, large_turns, places, speed, turns
from dashboard.background.places import EACH, IN_LINE_OF_ONE, LONGEST_COUNT, MOST, Had, Places, Script, Visitor
from dashboard.words import page as said
from dpcore.datasets.in_place import watched
from dpcore.errors import NoRoom


class Hall:
    """Places with a clock that stands still, and who began in them, in order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.begun: list[Script] = []
        self.places = Places(lambda: self.now)
        self._pages = count()

    def asks(self, address: str, page: Any = None, had: Had | None = None) -> Script:
        script = Script(Visitor(address), next(self._pages) if page is None else page, None, had=had or Had())
        script.begin = lambda: self.begun.append(script)
        self.places.wait(script)
        return script

    def ends(self, script: Script) -> list[Script]:
        """Who begins because this one is over."""
        before = len(self.begun)
        self.places.ended(script)
        return self.begun[before:]

    @property
    def who(self) -> list[str]:
        return [script.visitor.address for script in self.begun]


@pytest.fixture
def hall() -> Hall:
    return Hall()


def test_an_address_has_its_share_and_the_server_no_more_than_it_bears(hall: Hall) -> None:
    for _ in range(400):
        hall.asks("greedy")
    assert hall.who == ["greedy"] * EACH, "whatever it asks for: there is always a place for somebody else"
    for number in range(MOST):
        hall.asks(f"other {number}")
    assert len(hall.begun) == MOST
    for script in hall.begun:  # which grows meanwhile
        hall.ends(script)
        alive = hall.places._alive
        assert len(alive) <= MOST
        assert sum(one.visitor.address == "greedy" for one in alive) <= EACH
    assert len(hall.begun) == 400 + MOST, "everybody's turn comes"


def test_others_go_before_who_asks_for_much_and_take_turns(hall: Hall) -> None:
    many = [hall.asks("many") for _ in range(50)]
    for number in range(MOST - EACH):
        hall.asks(f"first {number}")
    late = [hall.asks(address) for address in ("a", "a", "b")]
    assert not set(late) & set(hall.begun)
    assert hall.ends(hall.begun[0]) == [late[0]], "who came last, but has none"
    assert hall.ends(hall.begun[1]) == [late[2]]
    assert hall.ends(hall.begun[2]) == [many[EACH]], "whose turn was longer ago than that of the other with one"


def test_nobody_is_kept_out_by_others_who_keep_coming(hall: Hall) -> None:
    """Each of five addresses asks again as soon as one of its scripts ends: all get as many."""
    for address in "abcde":
        for _ in range(10):
            hall.asks(address)
    for step in range(500):
        ending = hall.begun[step]
        hall.asks(ending.visitor.address)
        hall.ends(ending)
    assert min(hall.who.count(address) for address in "abcde") >= 95


@pytest.mark.parametrize("told_apart", [True, False])
def test_a_click_waits_for_no_run_of_each_page_of_its_address(hall: Hall, *, told_apart: bool) -> None:
    """A school's pages, most of which ask for another run as soon as they had one: who comes now and then waits for
    those that run, and not for all of the others; and each of those has as many turns as another."""
    had = {page: Had() for page in range(100)}

    def asks(page: int) -> None:
        hall.asks("school", page, had[page] if told_apart else None)

    for page in range(1, 100):
        asks(page)

    def ends() -> list[int]:
        """Whoever began first is over, and asks again at once."""
        over = next(one for one in hall.begun if one in hall.places._alive)
        begun = hall.ends(over)
        if over.page:
            asks(over.page)
        return [one.page for one in begun]

    waited = []
    for _ in range(4):
        for _ in range(100):
            ends()
        asks(0)
        waited.append(next(number for number in range(1000) if ends() == [0]))
    first, *later = waited
    assert first >= 90, "a page that is new is behind all that wait"
    assert all((wait == 0) is told_apart for wait in later)
    turns_had = Counter(one.page for one in hall.begun if one.page)
    assert max(turns_had.values()) - min(turns_had.values()) <= 1


def test_a_page_has_one_script_at_a_time(hall: Hall) -> None:
    first, second = hall.asks("a", "page"), hall.asks("a", "page")
    other = hall.asks("a", "another page")
    assert hall.begun == [first, other], "who waits for their own former script keeps nobody else"
    third = hall.asks("a", "page")
    assert hall.ends(first) == [third], "of those that wait for one page the latest"
    hall.ends(third)
    assert second not in hall.begun


def test_who_asks_again_keeps_their_turn(hall: Hall) -> None:
    for _ in range(EACH):
        hall.asks("a")
    hall.asks("a", "early"), hall.asks("a", "late")
    again = hall.asks("a", "early")
    assert hall.ends(hall.begun[0]) == [again]


def test_who_leaves_is_forgotten(hall: Hall) -> None:
    running = [hall.asks("a") for _ in range(EACH)]
    left, stays = hall.asks("a"), hall.asks("a")
    assert hall.places.withdraw(left)
    assert not hall.places.withdraw(left)
    assert not hall.places.withdraw(running[0]), "who runs does not wait"
    assert hall.ends(running[0]) == [stays]
    for script in (*running[1:], stays):
        hall.ends(script)
    assert not hall.places._alive
    assert not hall.places.anybody_waits
    hall.ends(hall.asks("b"))
    assert set(hall.places._turns) == {"b"}, "nor are addresses kept"


def test_who_waits_for_something_else_keeps_nobody_waiting(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "ASIDE_EACH", EACH)
    for _ in range(3 * EACH):
        hall.asks("a")
    waiting = list(hall.begun)
    for script in waiting:
        assert hall.places.step_aside(script)
    assert len(hall.begun) == 2 * EACH
    assert not hall.places.step_aside(hall.begun[-1]), "but not as many as there are pages"
    for script in waiting:
        hall.places.come_back(script)
    assert hall.ends(waiting[0]) == []
    assert len(hall.ends(waiting[1]) + hall.ends(waiting[2]) + hall.ends(hall.begun[EACH])) == 1


def test_who_waits_in_line_keeps_no_place_and_hangs_no_more_when_it_comes_back(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six that waited for turns with large files kept all six places, and everybody else out, for half a minute."""
    monkeypatch.setattr(places, "ASIDE_EACH", 1)
    for _ in range(EACH):
        hall.asks("a")
    first = list(hall.begun)
    assert hall.places.step_aside(first[0])
    for script in first[1:]:
        assert not hall.places.step_aside(script)
        assert hall.places.step_aside(script, in_line=True)
    assert not hall.places.step_aside(first[0], in_line=True), "it is aside already"
    hall.asks("a")
    assert hall.places.step_aside(hall.begun[-1]), "those in line are not counted among those aside"
    hall.now += hangs.LONGEST + 1.0
    hall.places.come_back(first[1])
    assert first[1] in hall.places._counted()
    assert not first[1].in_line


def test_what_hangs_is_not_waited_for_for_ever(hall: Hall) -> None:
    hall.asks("a", "page")
    for _ in range(EACH - 1):
        hall.asks("a")
    same, other = hall.asks("a", "page"), hall.asks("a")
    hall.now += hangs.LONGEST - 1.0
    hall.places.fill()
    assert not {same, other} & set(hall.begun)
    hall.now += 1.0
    hall.places.fill()
    assert {same, other} <= set(hall.begun)


def test_places_from_many_threads() -> None:
    """Each script ends in a thread of its own, which begins the next: none is begun twice, none is left."""
    here, begun, ended = Places(), [], threading.Semaphore(0)
    most, lock = [0, 0], threading.Lock()

    def begins(script: Script) -> Callable[[], None]:
        def run() -> None:
            with lock:
                begun.append(script)
                most[0] += 1
                most[1] = max(most)
            with lock:
                most[0] -= 1
            here.ended(script)
            ended.release()

        return lambda: threading.Thread(target=run).start()

    for number in range(300):
        script = Script(Visitor(f"{number % 7}"), number, None)
        script.begin = begins(script)
        here.wait(script)
    for _ in range(300):
        assert ended.acquire(timeout=20)
    assert len(begun) == len(set(begun)) == 300
    assert most[1] <= MOST


def test_runs_of_an_address_weigh_as_much_as_its_own_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of 0.6 s counted as three usual ones, and for others as much as for whoever asked for it."""
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    costly, other = Visitor("a"), Visitor("b")
    for _ in range(50):
        costly.took(0.6)
    assert costly.weight() == pytest.approx(0.6 / turns.USUAL)
    assert other.weight() == 1.0, "of whom nothing is known yet"
    for _ in range(100):
        costly.took(turns.USUAL / 2)
    assert costly.weight() == pytest.approx(0.5, rel=0.01)
    costly.took(3600.0)
    assert costly.weight() == places.HEAVIEST


class Processor:
    """What threads of scripts took, told by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.took: dict[int, float] = {}
        monkeypatch.setattr(hangs.time, "thread_time", lambda: 0.0)
        monkeypatch.setattr(hangs.time, "pthread_getcpuclockid", lambda thread: len(self.took), raising=False)
        monkeypatch.setattr(hangs.time, "clock_gettime", lambda clock: self.took[clock])

    def enters(self, script: Script) -> int:
        script.life.here()
        self.took[len(self.took)] = 0.0
        return len(self.took) - 1


@pytest.mark.parametrize("hanging", [False, True])
def test_what_computes_keeps_its_place_however_slow_it_is(
    hanging: bool, hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eleven answers that shared the interpreter took more than half a minute each, so eleven more began, and so on."""
    processor = Processor(monkeypatch)
    for _ in range(50):
        hall.asks("a")
    clocks = [processor.enters(script) for script in hall.begun]
    most = 0
    for _ in range(20):
        hall.now += hangs.LONGEST
        for clock in clocks:
            processor.took[clock] += hangs.LITTLE * (0.5 if hanging else 2.0)
        hall.places.fill()
        clocks += [processor.enters(script) for script in hall.begun[len(clocks) :]]
        most = max(most, len(hall.begun))
    assert (most == EACH) is not hanging, "what hangs is not waited for"


def test_a_thread_that_computes_is_told_from_one_that_waits() -> None:
    """Held by what the system says of two threads, not by a clock."""
    lives, begun, over = [hangs.Life(), hangs.Life()], threading.Barrier(3), threading.Event()

    def computes() -> None:
        lives[0].here()
        begun.wait(20)
        while not over.is_set():
            pass

    def waits() -> None:
        lives[1].here()
        begun.wait(20)
        over.wait(60)

    threads = [threading.Thread(target=work, daemon=True) for work in (computes, waits)]
    for thread in threads:
        thread.start()
    begun.wait(20)
    while lives[0].hangs(hangs.LONGEST):  # until it took what is a sign of life
        time.sleep(0.01)
    assert lives[0].since == hangs.LONGEST
    assert lives[1].hangs(hangs.LONGEST)
    over.set()
    for thread in threads:
        thread.join(20)
    assert lives[0].hangs(3 * hangs.LONGEST), "a thread that is over computes no more"


class Draws:
    """Threads that each run a script in which an answer is drawn, until told to end; how many drew at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, source: str = "", large: bool = False) -> None:
        self.large = large_turns.LargeTurns() if large else None
        self.later, self._source = 0.0, source
        self.pages, self.answers = Places(), Places(lambda: time.monotonic() + self.later)
        monkeypatch.setattr(places, "PLACES", self.pages)
        monkeypatch.setattr(places, "COUNTS", {source: self.answers})
        if not source:
            monkeypatch.setattr(places, "ANSWERS", self.answers)
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.told: list[str] = []
        self.drawn = 0
        self.go_on, self._lock, self.threads = threading.Semaphore(0), threading.Lock(), list[threading.Thread]()
        self.scripts: list[Script] = []

    def click(self, address: str, person: str = "", source: str = "") -> Script:
        """Of somebody else each time, and of the same source, unless it is said."""
        script = Script(Visitor(address), object(), None)
        asked = source or self._source, person or f"person {len(self.threads)}"
        thread = threading.Thread(target=self._run, args=(script, *asked), daemon=True)
        script.begin = thread.start
        self.threads.append(thread)
        self.scripts.append(script)
        self.pages.wait(script)
        return script

    def _around(self, script: Script) -> AbstractContextManager[None]:
        """What stands around an answer about a large file."""
        return nullcontext() if self.large is None else places.large(script.visitor.address, self.large, lasts=True)

    def in_line(self, address: str) -> int:
        """How many answers of an address wait."""
        return self.answers.in_line(address) + (0 if self.large is None else len(self.large._waiting))

    def _run(self, script: Script, source: str, person: str) -> None:
        places.enter(script)
        try:
            with self._around(script), places.drawing(source, person):
                with self._lock:
                    self.drawn += 1
                    self.now[script.visitor.address] += 1
                    self.most = self.most | self.now | Counter({"all": self.now.total()})
                self.go_on.acquire(timeout=60)
                with self._lock:
                    self.now[script.visitor.address] -= 1
        except NoRoom as error:
            self.told.append(str(error))
        finally:
            self.pages.ended(script)

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not holds() and time.monotonic() < end:
            time.sleep(0.005)
        assert holds()

    def end(self) -> None:
        for _ in self.threads:
            self.go_on.release()
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(60)


def test_few_answers_are_drawn_at_once_and_who_waits_for_one_keeps_no_page_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draws = Draws(monkeypatch)
    for _ in range(40):
        draws.click("a")
    draws.until(lambda: draws.answers.in_line("a") == 40 - EACH)
    assert draws.now == {"a": EACH}
    page = Script(Visitor("a"), object(), threading.Event().set)
    draws.pages.wait(page)
    assert page in draws.pages._alive, "nor of the same address"
    draws.pages.ended(page)
    draws.click("b")
    draws.until(lambda: draws.now["b"] == 1)
    draws.end()
    assert draws.most["a"] == EACH
    assert draws.most["all"] <= MOST
    assert not draws.told
    assert not (draws.pages._alive | draws.answers._alive)


def test_without_places_of_their_own_all_answers_would_be_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "drawing", lambda source, person: places.aside(working=True))
    draws = Draws(monkeypatch)
    for _ in range(40):
        draws.click("a")
    draws.until(lambda: draws.now["a"] == places.ASIDE_EACH + EACH)
    draws.end()


@pytest.mark.parametrize("mutant", [False, True])
def test_answers_that_a_source_counts_are_few_however_long_it_takes(
    monkeypatch: pytest.MonkeyPatch, mutant: bool
) -> None:
    """Such a thread takes no processor, and a whole table takes minutes: by the rule for what hangs one address had
    three more each half a minute. What really hangs among other answers gives way, and these wait for no count."""
    draws = Draws(monkeypatch, source="slow")
    if mutant:
        monkeypatch.setattr(places, "Script", lambda *given, lasts, person: Script(*given))
    for _ in range(14):
        draws.click("a")
    draws.until(lambda: draws.answers.in_line("a") == 14 - EACH)
    for _ in range(3):
        draws.later += hangs.LONGEST + 1
        draws.answers.fill()
        if mutant:
            draws.until(lambda: draws.now["a"] > EACH)
    other = Script(Visitor("a"), object(), threading.Event().set)
    places.ANSWERS.wait(other)
    assert other in places.ANSWERS._alive
    places.ANSWERS.ended(other)
    assert (draws.most["a"] == EACH) == (not mutant)
    draws.later += LONGEST_COUNT
    draws.answers.fill()
    draws.until(lambda: draws.now["a"] > EACH)
    draws.end()
    assert watched.MOST + watched._AFTER <= LONGEST_COUNT
    assert not (draws.pages._alive | draws.answers._alive)


def test_a_slow_source_keeps_nobody_from_another_one_nor_a_colleague_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three answers of one person that a slow database counted kept those of all sources from everybody else of their
    address, and all six of three addresses from everybody, for up to an hour."""
    draws = Draws(monkeypatch, source="slow")
    one_asks_for_much(draws)
    assert draws.now.total() == 1, "of one person one is counted at a time, from wherever they ask"
    assert draws.told == [said.COUNTS_OF_ONE_WAITING] * (9 - 1 - IN_LINE_OF_ONE)
    draws.click("a")
    draws.until(lambda: draws.now["a"] == 2)
    draws.click("a", "one", "fast")
    draws.click("a", source="fast")
    draws.until(lambda: draws.now["a"] == 4)
    draws.end()
    assert draws.drawn == 1 + IN_LINE_OF_ONE + 3, "and those of one person after one another"
    assert draws.most["all"] == 4
    assert not draws.answers._alive


def test_with_one_line_for_all_a_slow_source_keeps_everybody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as it was with one line for all sources and persons."""
    draws = Draws(monkeypatch, source="slow")
    monkeypatch.setattr(places, "COUNTS", {"slow": draws.answers, "fast": draws.answers})
    monkeypatch.setattr(places, "Script", lambda *given, lasts, person: Script(*given, lasts=lasts))
    one_asks_for_much(draws)
    assert draws.now.total() == MOST
    draws.click("d", source="fast")
    draws.until(lambda: draws.in_line("d") == 1)
    assert draws.now["d"] == 0
    draws.end()


def one_asks_for_much(draws: Draws) -> None:
    """Of a slow source, three times from each of three addresses."""
    for number, address in enumerate(sorted("abc" * EACH)):
        draws.click(address, "one")
        draws.until(
            lambda asked=number + 1: draws.now.total() + sum(map(draws.in_line, "abc")) + len(draws.told) == asked
        )


def test_a_line_that_lasts_says_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """“Try again in a minute” was said of what took an hour."""
    monkeypatch.setattr(places, "IN_LINE", 1)
    draws = Draws(monkeypatch, source="slow")
    for number in range(EACH + 1):
        draws.click("a")
        draws.until(lambda wanted=number + 1: draws.now["a"] + draws.in_line("a") == wanted)
    draws.click("a")
    draws.until(lambda: draws.told == [said.COUNTS_WAITING])
    assert LONGEST_COUNT > 3600.0
    assert all("an hour" in one and "a minute" not in one for one in (said.COUNTS_WAITING, said.COUNTS_OF_ONE_WAITING))
    draws.end()


def test_who_pressed_stop_or_left_draws_nothing_and_a_line_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "IN_LINE", 5)
    draws = Draws(monkeypatch)
    for number in range(EACH + 5):
        draws.click("a")
        draws.until(lambda wanted=number + 1: draws.now["a"] + draws.answers.in_line("a") == wanted)
    draws.click("a")
    draws.until(lambda: draws.told == [said.ANSWERS_WAITING])
    for script in draws.scripts[EACH:]:
        draws.pages.stop(script.page)
    draws.end()
    assert draws.told[1:] == [said.STOPPED_BEFORE] * 5
    assert draws.most["a"] == EACH
    assert not (draws.pages._alive | draws.answers._alive)


@pytest.mark.parametrize("kind", [{}, {"source": "slow"}, {"large": True}], ids=["drawn", "counted", "large"])
def test_who_pressed_stop_or_left_waits_for_no_answer_any_longer(
    monkeypatch: pytest.MonkeyPatch, kind: dict[str, Any]
) -> None:
    """Whatever it waits for: answers about large files were drawn and charged though their people had left, and until
    then they and what waited for a slow source kept the line of their address full."""
    draws = left_while_waiting(monkeypatch, kind)
    draws.until(lambda: draws.told == [said.STOPPED_BEFORE] * 4)
    assert draws.in_line("a") == 0, "at once, and not when those before it have ended"
    drawn = draws.now["a"]
    draws.click("a")
    draws.until(lambda: draws.in_line("a") == 1)
    draws.end()
    assert draws.drawn == drawn + 1, "who did not leave has an answer"
    assert not (draws.pages._alive | draws.answers._alive)
    assert draws.large is None or not [*draws.large._running, *draws.large._waiting]


@pytest.mark.parametrize("kind", [{}, {"source": "slow"}, {"large": True}], ids=["drawn", "counted", "large"])
def test_what_waits_patiently_is_drawn_for_who_has_left(monkeypatch: pytest.MonkeyPatch, kind: dict[str, Any]) -> None:
    """The test above can fail: as it was with large files."""
    monkeypatch.setattr(Script, "waits", lambda _, called, look: large_turns.patiently(called, look))
    monkeypatch.setattr(Script, "stop", lambda script: None)
    draws = left_while_waiting(monkeypatch, kind)
    assert draws.in_line("a") == 4
    drawn = draws.now["a"]
    draws.end()
    assert draws.drawn == drawn + 4
    assert not draws.told


def left_while_waiting(monkeypatch: pytest.MonkeyPatch, kind: dict[str, Any]) -> Draws:
    """Four wait for an answer of their address, and leave."""
    draws = Draws(monkeypatch, **kind)
    at_once = 1 if "large" in kind else EACH
    for number in range(at_once + 4):
        draws.click("a")
        draws.until(lambda wanted=number + 1: draws.now["a"] + draws.in_line("a") == wanted)
    for script in draws.scripts[at_once:]:
        draws.pages.stop(script.page)
    return draws


def test_who_left_after_their_turn_came_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = Draws(monkeypatch, large=True)
    script = Script(Visitor("a"), object(), lambda: None)
    draws.pages.wait(script)
    places.enter(script)
    try:
        with draws._around(script):
            with places.drawing():
                pass
            draws.pages.stop(script.page)
            with pytest.raises(NoRoom, match=said.STOPPED_BEFORE), places.drawing():
                raise AssertionError
    finally:
        places.enter(None)


def test_a_page_that_was_left_waits_for_no_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of an address that had left kept a fifth from looking at theirs."""
    draws, own, told = Draws(monkeypatch), large_turns.LargeTurns(), list[str]()
    turn = own.take("a")

    def look(script: Script) -> None:
        places.enter(script)
        with pytest.raises(NoRoom) as error, places.large("a", own):
            raise AssertionError
        told.append(str(error.value))

    pages = [Script(Visitor("a"), object(), None) for _ in range(large_turns.WAITING)]
    for script in pages:
        script.begin = threading.Thread(target=look, args=(script,), daemon=True).start
        draws.pages.wait(script)
    draws.until(lambda: len(own._waiting) == large_turns.WAITING)
    for script in pages:
        draws.pages.stop(script.page)
    draws.until(lambda: told == [said.STOPPED] * large_turns.WAITING)
    assert not own._waiting
    own.give_back(turn)


def test_an_answer_about_a_large_file_has_the_one_turn_of_those(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would hold that, and keep others' waiting, while it waits in the line of its own address."""
    draws = Draws(monkeypatch)
    script = Script(Visitor("a"), object(), lambda: None)
    draws.pages.wait(script)
    places.enter(script)
    try:
        for _ in range(EACH):
            draws.answers.wait(Script(Visitor("a"), object(), lambda: None))
        with places.large("a", large_turns.LargeTurns(), lasts=True), places.drawing():
            assert script.aside
            assert draws.answers.in_line("a") == 0
    finally:
        places.enter(None)
