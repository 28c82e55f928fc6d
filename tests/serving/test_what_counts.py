"""What a session makes the server hold beside its file is held once, counts for its address, and ends with its use."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import all_held, limits, machine_memory
from dashboard.background import compute, in_use, large_turns, lent
from dashboard.background.in_use import InUse
from dashboard.background.lent import Lent
from dashboard.data.task import counting
from dashboard.data.typed_columns import TypedColumns
from dashboard.question import CannotAsk
from dashboard.questions.training import lessons
from dashboard.serving.gate import Gate
from dashboard.words import page as said
from dpcore.datasets import Column, Schema, Size, read_csv
from dpcore.datasets.guessing import read_columns
from dpcore.datasets.reading import reader
from dpcore.errors import NoRoom, UnreadableFile
from dpcore.memory import Memory
from tests.dashboard import conftest as dashboard
from tests.dashboard.test_data_page import drop, held, look, press

ledger_file, one_visitor, open_app = dashboard.ledger_file, dashboard.one_visitor, dashboard.open_app
workers = dashboard.workers
Open = Callable[..., AppTest]
HERE, THERE, ELSEWHERE = "10.0.0.1", "10.0.0.2", "10.0.0.3"
WIDE = 12
EMPTY = (",".join(f"c{n}" for n in range(WIDE)) + "\n" + ("1" + "," * (WIDE - 1) + "\n") * 20_000).encode()
"""Twelve columns, nearly all of whose cells are missing."""


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_held, "_live", WeakKeyDictionary())
    monkeypatch.setattr(all_held, "LITTLE_EACH", 0)
    monkeypatch.setattr(in_use, "_counted", {})


def room(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_held, "most", lambda: most)


# -- typed columns -----------------------------------------------------------------------------------------------------


def test_typed_columns_are_held_once_and_what_is_told_of_them_holds_no_places() -> None:
    """Each was held by itself, in the table, and with the place of every missing cell: three pages ended a server."""
    reading = read_csv(EMPTY)
    schema = Schema(columns=tuple(Column(name=f"c{n}", type="integer") for n in range(WIDE)))
    typed = TypedColumns(reading=reading)
    for column in schema.columns:  # whatever is loaded when it is first needed
        typed.account(column)
    typed = TypedColumns(reading=reading)
    gc.collect()
    tracemalloc.start()
    try:
        for column in schema.columns:
            assert typed.account(column).missing.number in (0, 20_000)
        told = tracemalloc.get_traced_memory()[0]
        table = typed.table(schema, complete=True)
        gc.collect()
        whole = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    counted = limits.typed(reading, schema.columns)
    assert told < 0.1 * counted, "nothing is held of a column that is only looked at"
    assert table.rows == 20_000
    assert 0.8 * counted < whole < 1.1 * counted


def test_typed_columns_count_as_long_as_they_are_there(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = drop(open_app("data"), EMPTY)
    before = all_held.held()
    app = look(app)
    assert all_held.held() - before >= limits.TYPED * 20_000 * WIDE
    press(press(app, "own-remove"), "own-forget")
    for _ in range(600):  # its fingerprint may be under way
        gc.collect()
        if not all_held.held():
            break
        time.sleep(0.1)
    assert all_held.held() == 0


def test_where_there_is_no_room_for_typed_columns_the_page_says_so(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = drop(open_app("data"), EMPTY)
    room(all_held.held() + 100_000, monkeypatch)
    before = all_held.held()
    app = look(app)
    assert "Everybody's files together, with what is worked out from them, would take more" in dashboard.text(app)
    assert held(app).use is None
    assert all_held.held() <= before, "less its fingerprint, which may have been under way"


# -- work in hand ------------------------------------------------------------------------------------------------------


def test_what_work_takes_counts_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    room(1000, monkeypatch)
    with all_held.AtWork(HERE) as work:
        work.takes(500)
        assert all_held.held(HERE) == 500
        with pytest.raises(UnreadableFile, match="from your address"):
            work.takes(801)
        assert all_held.held(HERE) == 500, "what was there before counts on"
        work.takes(10)
        assert all_held.held() == 10
    assert all_held.held() == 0


def test_what_a_step_makes_counts_beside_what_it_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    room(10_000, monkeypatch)
    asked: list[Size] = []
    with all_held.AtWork(HERE) as work:
        fits = counting(work, asked.append)
        fits(Size(rows=1, bytes=100, largest=10))
        assert all_held.held() == 100 + all_held.TIMES * 10
        fits(Size(rows=1, bytes=200, largest=0))
        assert all_held.held() == 300
        with pytest.raises(NoRoom, match="from your address"):
            fits(Size(rows=1, bytes=300, largest=8000 // all_held.TIMES))
    assert len(asked) == 3, "the room of the session is asked first"


LONG = ("name,n\n" + "".join(f"{number}{'x' * 2000},{number}\n" for number in range(300))).encode()


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is held while the columns of a table are looked at."""
    seen: list[int] = []

    def look(*asked: Any, **also: Any) -> Any:
        seen.append(all_held.held())
        return read_columns(*asked, **also)

    monkeypatch.setattr(reader, "read_columns", look)
    return seen


def test_a_table_counts_while_it_is_looked_at_and_so_does_what_a_step_made(open_app: Open, looking: list[int]) -> None:
    months = [f"2024-{month:02}" for month in range(1, 13)]
    rows = "".join(f"{number},{','.join([str(number % 50)] * 12)}\n" for number in range(3000))
    app = drop(open_app("data"), (",".join(["person", *months]) + "\n" + rows).encode())
    own = held(app)
    assert own.reading is not None
    before = Size.of(own.reading.frame)
    assert looking[0] >= before.bytes + all_held.TIMES * before.largest
    kinds = [type(step).__name__ for step in own.reading.suggested_steps]
    press(app, f"own-step-{kinds.index('MonthsToRows')}")
    own = held(app)
    assert own.reading is not None
    assert len(own.steps) == 1
    after = Size.of(own.reading.frame)
    assert after.bytes > 2 * before.bytes
    assert looking[1] >= before.bytes + after.bytes + all_held.TIMES * after.largest


def test_a_large_column_is_looked_at_where_there_is_room_for_the_work_alone(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that fits is refused where its own column would be there five times over while it is looked at."""
    reading = read_csv(LONG)
    each = reading.size + len(LONG)
    app = open_app("data")
    room(2 * each, monkeypatch)
    app = drop(app, LONG)
    assert "Everybody's files together" in dashboard.text(app)
    assert all_held.held() == len(LONG), "the file waits, to be read in another way"
    room(10 * each, monkeypatch)
    assert held(drop(app, LONG.replace(b"name", b"word"))).reading is not None


def test_a_step_is_done_where_there_is_room_for_the_work_alone(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = "".join(f"{'y' * 3000}{number % 3};b,{number}\n" for number in range(300))
    app = drop(open_app("data"), ("a,n\n" + cells + "North total,3\n").encode())
    reading = held(app).reading
    assert reading is not None
    offered = [type(step).__name__ for step in reading.suggested_steps]
    assert offered[0] == "LeaveOutTotals"
    room(all_held.held() + 3 * reading.size, monkeypatch)
    press(app, "own-step-0")
    assert not held(app).steps
    assert "Everybody's files together, with what is worked out from them, would take more" in dashboard.text(app)
    room(1 << 30, monkeypatch)
    press(app, "own-step-0")
    assert len(held(app).steps) == 1


# -- the computer itself -----------------------------------------------------------------------------------------------


def test_nothing_is_taken_on_where_the_computer_has_nothing_left(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(machine_memory, "give_back", lambda: tried.append("given back"))
    monkeypatch.setattr(machine_memory, "given", lambda: 1 << 30)
    monkeypatch.setattr(machine_memory, "left", lambda: 100 << 20)
    kept = [all_held.waiting(36 << 20, HERE)]
    assert not tried
    with pytest.raises(UnreadableFile, match="has little memory left just now"):
        all_held.waiting(37 << 20, HERE)
    assert tried == ["given back"]
    kept.append(all_held.waiting(machine_memory.LITTLE, HERE))
    monkeypatch.setattr(machine_memory, "left", lambda: None)
    kept.append(all_held.waiting(37 << 20, HERE))


def test_nobody_new_comes_where_the_computer_has_nothing_left(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(lambda *_: None)  # type: ignore[arg-type]
    monkeypatch.setattr(machine_memory, "given", lambda: 16 << 30)
    for there, full in ((255 << 20, True), (256 << 20, False), (None, False)):
        monkeypatch.setattr(machine_memory, "_looked", (-1000.0, False))
        monkeypatch.setattr(machine_memory, "left", lambda there=there: there)
        assert gate.full == full


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 5\ninactive_file 50\n"}, 350),
        ({"memory.max": "max", "memory.current": "700", "memory.stat": "inactive_file 50\n"}, 5 << 10),
        (
            {
                "memory/memory.limit_in_bytes": "1000",
                "memory/memory.usage_in_bytes": "700",
                "memory/memory.stat": "inactive_file 7\ntotal_inactive_file 40\n",
            },
            340,
        ),
        ({"memory.max": "1000"}, 5 << 10),
    ],
)
def test_what_is_left_is_that_of_the_tightest_group(
    files: dict[str, str], found: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name, text in (files | {"own": "0::/\n", "meminfo": "MemFree: 1 kB\nMemAvailable: 5 kB\n"}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine_memory, "_OWN", tmp_path / "own")
    monkeypatch.setattr(machine_memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(machine_memory, "_OF_SYSTEM", tmp_path / "meminfo")
    assert machine_memory.left() == found
    monkeypatch.setattr(machine_memory, "_OF_SYSTEM", tmp_path / "nowhere")
    assert machine_memory.left() == (found if found < 1000 else None)


# -- what simulations are lent -----------------------------------------------------------------------------------------


class Stopped:
    def __init__(self, name: str, gone: list[str]) -> None:
        self.name, self.gone = name, gone

    def crowd_out(self) -> None:
        self.gone.append(self.name)


def test_whose_address_has_most_gives_way_and_nobody_else() -> None:
    """Every page that was opened laid its rows for the workers and kept them there until its turn came."""
    gone: list[str] = []
    found, jobs = Lent(lambda: 100), [Stopped(name, gone) for name in "abcdef"]

    def begun(job: Stopped, size: int, whose: str) -> Any:
        share = found.take(size, whose)
        share.of(job)
        return share

    first = begun(jobs[0], 40, HERE)
    begun(jobs[1], 40, HERE)
    begun(jobs[2], 20, THERE)
    assert (gone, found.bytes) == ([], 100)
    begun(jobs[3], 10, THERE)
    assert gone == ["a"], "the oldest of whose address has most"
    found.give_back(first)
    assert found.bytes == 70, "what stopped gave its room back when it was stopped"
    begun(jobs[4], 40, HERE)
    assert gone == ["a", "b"], "who comes may be who has most"
    with pytest.raises(NoRoom, match="take all the memory"):
        found.take(71, ELSEWHERE)
    assert (gone, found.bytes) == (["a", "b"], 70), "nobody stops for what finds no room all the same"
    begun(jobs[5], 35, ELSEWHERE)
    assert (gone, found.bytes) == (["a", "b", "e"], 65)
    with pytest.raises(NoRoom):
        found.take(101, HERE)


@pytest.mark.parametrize("most", [1 << 30, 10])
def test_a_simulation_for_which_there_is_no_room_is_a_sentence_and_can_be_tried_again(
    most: int, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lent, "LENT", Lent(lambda: most))
    app = open_app("training")
    refused = [one for one in app.info if one.value == said.NO_ROOM_TO_SIMULATE]
    again = [str(one.key) for one in app.button if str(one.key).endswith("-again")]
    assert bool(refused) == bool(again) == (most == 10)
    if refused:
        monkeypatch.setattr(lent, "LENT", Lent(lambda: 1 << 30))
        press(app, again[0])
        assert said.NO_ROOM_TO_SIMULATE not in [one.value for one in app.info]
        assert "the private model is right about" in dashboard.text(app.run())


def test_what_was_lent_is_given_back_when_a_simulation_ends(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Lent(lambda: 1 << 30)
    monkeypatch.setattr(lent, "LENT", here)
    app = open_app("training")
    assert here.bytes > 0
    for job in list(compute.shelf()._jobs.values()):
        job.crowd_out()
        job.wait(60, lambda _: False)
    app.run()
    assert said.CROWDED_OUT in dashboard.text(app)
    for job in list(compute.shelf()._jobs.values()):
        job.cancel()
    for _ in range(200):
        if not here.bytes:
            break
        compute.pool().submit(abs, -1).result(60)  # what a worker has in hand ends first
    assert here.bytes == 0


# -- large things that pages show --------------------------------------------------------------------------------------


def made(size: int) -> Callable[[], np.ndarray]:
    return lambda: np.zeros(size, dtype=np.int8)


def test_large_things_count_for_as_long_as_a_page_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory let go of what it remembered; two hundred pages that were open did not."""
    room(33 << 20, monkeypatch)
    monkeypatch.setattr("dashboard.people.visitors.address", lambda: HERE)
    large = InUse(Memory(1, room=20 << 20), large_turns.OWN)
    pages = [large((number,), made(8 << 20)) for number in range(3)]
    assert 24 << 20 <= all_held.held(HERE) < 25 << 20
    assert large((2,), made(8 << 20)) is pages[2]
    assert all_held.held() < 25 << 20, "once"
    with pytest.raises(CannotAsk, match="from your address"):
        large((3,), made(8 << 20))
    assert large.memory.get((3,)) is None
    del pages[0]
    gc.collect()
    assert all_held.held() < 17 << 20
    assert large((3,), made(8 << 20)) is not None
    large.forget()
    pages.clear()
    gc.collect()
    assert all_held.held() == 0
    assert not [known for known in in_use._counted.values() if known[1] is not None]


def test_few_large_things_are_made_at_once_and_no_address_has_all_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six pages that opened at one moment made two gigabytes before any of them was counted."""
    whose = threading.local()
    monkeypatch.setattr("dashboard.people.visitors.address", lambda: whose.is_)
    large, now, most = InUse(Memory(9, room=20 << 20), large_turns.OWN), Counter[str](), Counter[str]()
    begin = threading.Barrier(6)

    def one(number: int) -> None:
        whose.is_ = ("a", "b", "c")[number % 3]

        def make() -> np.ndarray:
            now[whose.is_] += 1
            most[whose.is_] = max(most[whose.is_], now[whose.is_])
            most["all"] = max(most["all"], now.total())
            time.sleep(0.05)
            now[whose.is_] -= 1
            return np.zeros(10)

        begin.wait(10)
        large((number,), make)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == {"a": 1, "b": 1, "c": 1, "all": large_turns.AT_ONCE}
    assert len(large.memory) == 6
    whose.is_ = "a"
    for _ in range(large_turns.AT_ONCE + 1):
        with pytest.raises(ZeroDivisionError):
            large(("fails",), lambda: 1 / 0)
    assert large(("one",), lambda: large(("in it",), lambda: large(("in that",), lambda: 5))) == 5
    assert not [*large_turns.OWN._running, *large_turns.OWN._waiting], "nothing stays of who makes nothing"


def test_what_cannot_say_that_it_goes_counts_by_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.people.visitors.address", lambda: HERE)
    pair = (made(2 << 20)(), [made(3 << 20)(), 1])
    in_use.count(pair)
    assert 5 << 20 <= all_held.held() < 6 << 20
    del pair
    gc.collect()
    assert all_held.held() == 0


def test_a_page_for_whose_numbers_there_is_no_room_says_so(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    room(1 << 20, monkeypatch)
    app = open_app("experts", data="clinic", experts_count="1000", experts_days="10000")
    assert "Everybody's files together" in dashboard.text(app)
    assert not app.exception


@pytest.mark.parametrize("link", [{"training_open": "descent"}, {"no_such_setting": "1"}])
def test_a_tab_for_whose_numbers_there_is_no_room_says_so(
    link: dict[str, str], open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is closed, and is made to learn what it could set."""
    refused: list[str] = []

    def full(*_: Any) -> Any:
        refused.append("a descent")
        raise CannotAsk("There is no room for this.")

    monkeypatch.setattr(lessons, "watched", full)
    app = open_app("training", **link)
    assert refused
    assert not app.exception
    assert ("There is no room for this" in dashboard.text(app)) == ("training_open" in link)


def test_a_page_for_which_there_is_no_room_once_work_is_done_says_so(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked again with each result, in a part that draws itself: nobody caught it there."""
    app = open_app("training")
    assert not app.exception

    def full(*_: Any) -> Any:
        raise CannotAsk("There is no room for this.")

    monkeypatch.setattr("dashboard.widgets.page.traces.asked", full)
    app.run()
    assert not app.exception
    assert "There is no room for this" in dashboard.text(app)


# -- letting go --------------------------------------------------------------------------------------------------------


class Asked(Memory):
    """Counts how often it is asked what its oldest value is."""

    asked = 0

    @property
    def oldest(self) -> float:
        Asked.asked += 1
        return super().oldest


def test_letting_go_of_many_looks_at_each_memory_once_and_at_each_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One large value let go of 48,700 small ones of 300 sessions, each found among all: everybody waited 9 s."""
    from dpcore.memory import Room

    within = Room(lambda: 1 << 20)
    several = [Asked(10_000, room=1 << 20, within=within) for _ in range(100)]
    for number in range(3_000):
        several[number % 100].put((number,), "x" * 100)
    Asked.asked = 0
    key: tuple[Hashable, ...] = ("large",)
    several[0].put(key, bytes(1_000_000))
    gone = 3_001 - sum(map(len, several))
    assert gone > 1_000
    assert Asked.asked <= 100 + gone
    assert within.bytes <= 1 << 20
    assert several[0].get(key) is not None
    first = min(int(str(key[0])) for one in several[1:] for key in one._values if isinstance(key, tuple))
    assert first >= gone - 1, "the oldest first"
