"""Few pages work on something large at once, each address once, and what waits or hangs keeps nobody from a turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute, in_use, large_turns, places
from dashboard.background.hangs import LONGEST
from dashboard.background.in_use import InUse, answering, at_work
from dashboard.background.large_turns import AT_ONCE, BEHIND, WAITING, LargeTurns
from dashboard.case import LARGE_CELLS, LARGE_ROWS, Source
from dashboard.widgets import page
from dashboard.words import page as said
from dashboard.words import safe
from dpcore.datasets import Column, Schema, Table, twin
from dpcore.errors import NoRoom
from dpcore.memory import Memory
from tests.questions.samples import sample_case


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[LargeTurns]:
    found = LargeTurns()
    monkeypatch.setattr(large_turns, "OWN", found)
    yield found
    assert not found._running
    assert not found._waiting


def waits(turns: LargeTurns, whose: str, **how: bool) -> tuple[threading.Thread, list[large_turns.Turn]]:
    got: list[large_turns.Turn] = []
    thread = threading.Thread(target=lambda: got.append(turns.take(whose, **how)), daemon=True)
    before = len(turns._waiting)
    thread.start()
    until = time.monotonic() + 10
    while len(turns._waiting) == before and not got and time.monotonic() < until:
        time.sleep(0.001)
    return thread, got


def test_who_had_least_comes_next_and_no_address_has_two(own: LargeTurns) -> None:
    """Two addresses with a dozen pages each, in the order of asking, kept a third one waiting for minutes."""
    assert AT_ONCE == 2
    now = [0.0]
    own._clock = lambda: now[0]
    first, second = own.take("a"), own.take("b")
    theirs = [waits(own, whose) for whose in "abab"]
    last = waits(own, "c")
    now[0] = 5.0
    own.give_back(second)
    last[0].join(10)
    assert last[1], "who comes has had nothing"
    now[0] = 6.0
    own.give_back(first)
    for expected in "baba":
        held = [turn for turn in own._running if turn.whose != "c"]
        assert [turn.whose for turn in held] == [expected]
        now[0] += 10.0
        own.give_back(held[0])
    own.give_back(last[1][0])
    for thread, got in theirs:
        thread.join(10)
        assert got


def test_few_of_an_address_wait_and_the_others_are_told_so(own: LargeTurns) -> None:
    turn = own.take("a")
    waiting = [waits(own, "a") for _ in range(WAITING)]
    with pytest.raises(NoRoom, match="work on large files"):
        own.take("a")
    other = own.take("b")
    own.give_back(other)
    again = threading.Thread(target=large_turns.take_again, args=(turn,), daemon=True)
    own.give_back(turn)
    again.start()  # who had one and waited for something else is never told so
    for _ in range(WAITING + 1):
        until = time.monotonic() + 10
        while not own._running and time.monotonic() < until:
            time.sleep(0.001)
        own.give_back(own._running[0])
    for thread, _ in waiting:
        thread.join(10)
    again.join(10)


def test_what_hangs_is_not_counted_for_ever() -> None:
    now = [0.0]
    turns = LargeTurns(lambda: now[0])
    turns.take("a")
    turns.take("b")
    now[0] = LONGEST + 1.0
    again = turns.take("a")
    assert again.begun == now[0]
    turns.give_back(again)
    lasting = turns.take("a", lasts=True)
    now[0] += 100 * LONGEST
    thread, got = waits(turns, "c", lasts=True)
    thread.join(0.05)
    assert not got, "an answer has its turn until it has ended"
    turns.give_back(lasting)
    thread.join(10)
    assert got


def test_answers_are_drawn_one_at_a_time_so_that_pages_have_a_turn_beside_them(own: LargeTurns) -> None:
    """Two people's models of large files kept everybody else's pages about such waiting for minutes."""
    first, later = own.take("a", lasts=True), threading.Event()
    second = threading.Thread(target=lambda: (own.give_back(own.take("b", lasts=True)), later.set()), daemon=True)
    second.start()
    until = time.monotonic() + 10
    while not own._waiting and time.monotonic() < until:
        time.sleep(0.001)
    for whose in "cdcab":
        page, got = waits(own, whose)
        page.join(10)
        assert got, "a page waits for neither answer, whoever's at its address it is"
        own.give_back(got[0])
    assert not later.is_set()
    own.give_back(first)
    second.join(10)
    assert later.is_set()


def test_one_within_another_has_the_same_turn_and_gives_it_back_once(own: LargeTurns) -> None:
    with places.large("a"):
        with pytest.raises(ZeroDivisionError), places.large("a"):
            _ = 1 / 0
        assert len(own._running) == 1
    assert not large_turns.has()


def test_who_waits_for_something_else_gives_the_turn_to_others_meanwhile(own: LargeTurns) -> None:
    with places.large("a"):
        with places.aside():
            assert not own._running
            thread, got = waits(own, "a")
            thread.join(10)
            assert got
            threading.Timer(0.05, own.give_back, got).start()
        assert [turn.whose for turn in own._running] == ["a"], "it goes on when it has one again"
        with places.aside(working=True):
            assert own._running, "what draws an answer works on all rows itself"


def source(rows: int, columns: int = 1) -> Source:
    schema = Schema(columns=tuple(Column(name=f"c{place}", type="yes/no") for place in range(columns)))
    table = twin(schema, rows=rows, rng=np.random.Generator(np.random.PCG64(1)))
    return Source(key="own-x", title="t", mode="what_if", table=table, lineage=None, practice=False)


def test_large_are_own_data_of_many_rows_or_cells(own: LargeTurns) -> None:
    large, wide = source(LARGE_ROWS), source(LARGE_CELLS // 100, 100)
    little = (source(LARGE_ROWS - 1), replace(large, mode="demo"), sample_case("town").source)
    for one in (large, wide, *little):
        with at_work(one):
            assert large_turns.has() == one.large == (one in (large, wide))


def test_answers_of_one_address_that_wait_keep_no_page_of_it_from_waiting(own: LargeTurns) -> None:
    first = own.take("a", lasts=True)
    several = [waits(own, "a", lasts=True) for _ in range(large_turns.WAITING)]
    with pytest.raises(NoRoom):
        own.take("a", lasts=True)
    page, got = waits(own, "a")
    page.join(10)
    assert got
    own.give_back(got[0])
    own.give_back(first)
    for thread, _ in several:
        until = time.monotonic() + 10
        while not own._running and time.monotonic() < until:
            time.sleep(0.001)
        own.give_back(own._running[0])
        thread.join(10)


def test_who_waits_for_an_answer_of_their_own_keeps_no_newcomer_s_page_waiting() -> None:
    """After an answer of eight minutes whoever waited for theirs went before all who came, for eight minutes."""
    now = [0.0]
    turns = LargeTurns(lambda: now[0])
    long = turns.take("a", lasts=True)
    waits(turns, "b", lasts=True)
    waits(turns, "c", lasts=True)
    now[0] = 480.0
    turns.give_back(long)
    turns.give_back(turns.take("a"))
    running, mine = turns.take("c"), [waits(turns, "c") for _ in range(200)[: large_turns.WAITING]]
    _, newcomer = waits(turns, "h")
    begun = now[0]
    while not newcomer and now[0] < begun + 480.0:
        now[0] += 0.5
        turns.give_back(running)
        (running,) = [one for one in turns._running if not one.lasts]
        for place, (thread, got) in enumerate(mine):
            if got:
                thread.join(10)
                mine[place] = waits(turns, "c")
        if running.whose == "h":
            break
    assert now[0] - begun <= BEHIND + 1.0


def test_nobody_who_waited_for_long_goes_before_others_for_as_long() -> None:
    now = [0.0]
    turns = LargeTurns(lambda: now[0])
    busy = [turns.take("a"), turns.take("b")]
    waits(turns, "c")
    turns._used["c", False] = 0.0
    turns._now[False] = 1_000.0
    waits(turns, "h")
    assert turns._used["h", False] == 1_000.0
    turns.give_back(busy[0])
    assert turns._used["c", False] == 1_000.0 - BEHIND


def test_whether_an_answer_waits_tells_of_no_row(own: LargeTurns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside another's answer 49,999 rows were answered about at once, and 50,000 after minutes."""

    monkeypatch.setattr(in_use, "time", SimpleNamespace(time=lambda: hour[0] * 3600.0))
    hour = [0]

    def waits_for(rows: int, lineage: str) -> bool:
        schema = Schema(columns=(Column(name="c", type="yes/no"),))
        frame = pd.DataFrame({"c": np.zeros(rows, dtype=bool)})
        table = Table(frame=frame, schema=schema, fingerprint="f", lineage="")
        with answering(Source(key="own-x", title="t", mode="what_if", table=table, lineage=lineage, practice=False)):
            return large_turns.has()

    people = [f"people {number}" for number in range(60)]
    assert all(waits_for(LARGE_ROWS, one) for one in people)
    assert not any(waits_for(LARGE_ROWS // 2 - 1, one) for one in people)
    assert all(waits_for(LARGE_ROWS - 1, one) for one in people), "as one row more"
    share = sum(waits_for(LARGE_ROWS * 3 // 4, one) for one in people) / len(people)
    assert 0.2 < share < 0.8, "where it begins is another place for each"
    first, again = ([waits_for(LARGE_ROWS * 3 // 4, one) for one in people] for _ in range(2))
    assert first == again
    hour[0] += 1
    assert first != [waits_for(LARGE_ROWS * 3 // 4, one) for one in people], "and nobody finds out where by trying"


@pytest.mark.parametrize("in_place", [True, False])
def test_an_answer_that_a_source_counts_has_no_turn_of_those_that_are_worked_out_here(
    own: LargeTurns, in_place: bool
) -> None:
    """A million made-up rows beside it kept everybody's answers about large files waiting for as long as its database
    took."""
    with answering(replace(source(LARGE_ROWS), lineage="people", in_place=in_place)):
        assert large_turns.has() == (not in_place)


def test_who_looks_at_a_sample_or_a_small_file_waits_for_nobody_s_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made of samples had its turn among those of large files, which take half a minute at worst."""
    among = LargeTurns()
    own = InUse(Memory(4, room=1 << 20), among)
    monkeypatch.setattr(compute, "SESSION_LARGE", SimpleNamespace(once=lambda: own))
    monkeypatch.setattr("dashboard.people.visitors.address", lambda: "c")
    busy = [among.take("a"), among.take("b")]
    for number, one in enumerate((sample_case("town").source, source(LARGE_ROWS - 1))):
        assert compute.large_memory(one)(("made", number), lambda: 5) == 5
    assert compute.large_memory(source(LARGE_ROWS)) is own
    for turn in busy:
        among.give_back(turn)
    compute.LARGE.forget()


def test_a_page_that_would_wait_too_long_says_so_and_can_be_tried_again(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    refuses = [True]

    @contextmanager
    def turn(_: Source, **__: bool) -> Iterator[None]:
        if refuses:
            raise NoRoom(said.LARGE_WAITING)
        yield

    monkeypatch.setattr(page, "at_work", turn)
    app = open_app("selection")
    assert [info.value for info in app.info] == [safe(said.LARGE_WAITING, 500)]
    refuses.clear()
    next(button for button in app.button if button.label == said.TRY_AGAIN).click().run()
    assert not app.exception
    assert not [info.value for info in app.info if "has to wait" in info.value]
