"""Whoever reads a file hears a word between any few thousand cells, and nothing goes on that nobody waits for."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.data.task import Task
from dpcore.datasets import dates, read_table, stopping
from dpcore.datasets.at_once import at_once
from dpcore.datasets.reading.likeness import sketch
from dpcore.datasets.samples import _digest
from dpcore.datasets.schema import DateOrder, Schema
from dpcore.errors import ReadingCancelled

ROWS = 20_000


def _day(n: int) -> str:
    return f"{1 + n % 12}/{1 + n // 12 % 12}"


WAYS: dict[str, Callable[[int], str]] = {
    "day or month first, two digits of a year, and a time": lambda n: (
        f"{1 + n % 12}/{1 + n // 12 % 12}/{10 + n // 144 % 90} 7:{n % 60:02}"
    ),
    "no digit in its usual place": lambda n: f"{1 + n % 12}.{1 + n // 12 % 12}.{2000 + n // 144} 7:{n % 60:02}",
    "named months": lambda n: f"{1 + n % 28} March {1000 + n // 28} 7:30",
    "year first": lambda n: f"{1000 + n // 144}-{1 + n % 12}-{1 + n // 12 % 12} 7:30",
    "weeks": lambda n: f"{1000 + n // 300}-W{1 + n % 50:02}-{1 + n // 50 % 6}",
    "words": lambda n: f"w {n:05}",
    "long words": lambda n: f"{n:05}" * 40,
    "numbers": lambda n: f"{n},5",
    "lists": lambda n: f"a{n % 7}; b{n}; c{n % 11}",
}
"""Cells of a column, each another word."""
BOUND = 20 * stopping.EVERY
"""Python's calls between two words; each date is some fifteen."""


class Heard:
    """How much Python did in any thread since it last asked whether to go on."""

    def __init__(self) -> None:
        self.most: Counter[str] = Counter()
        self._here = threading.local()

    def word(self, *_: Any) -> None:
        self._here.calls = 0

    def _seen(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        if frame.f_code is stopping.go_on.__code__:
            self._here.calls = 0
            return
        calls = self._here.calls = getattr(self._here, "calls", 0) + 1
        name = frame.f_code.co_qualname
        self.most[name] = max(self.most[name], calls)

    def while_it(self, works: Callable[[], Any]) -> int:
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)
        try:
            with stopping.asking(self.word):
                works()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
        return max(self.most.values())


def a_file(way: str, columns: int = 1) -> bytes:
    names = ";".join(f"c{place}" for place in range(columns))
    rows = (";".join(f'"{WAYS[way](n)}"' for _ in range(columns)) for n in range(ROWS))
    return "\n".join([names, *rows]).encode()


def looked_through(data: bytes, heard: Heard) -> Callable[[], None]:
    """What a reading thread does with a file, and what a page does with its columns."""

    def works() -> None:
        read = read_table(data, progress=heard.word)
        _ = read.fingerprint
        read.suggest(heard.word)
        sketch(read, b"k" * 32)
        for column in read.suggested().columns:
            read.apply(Schema(columns=(column,)))

    return works


@pytest.mark.parametrize("way", WAYS)
def test_no_column_is_read_without_a_word_in_between(way: str) -> None:
    heard = Heard()
    calls = heard.while_it(looked_through(a_file(way), heard))
    assert calls < BOUND, heard.most.most_common(8)


@pytest.mark.parametrize("order", ["dmy", "mdy", "ymd", "serial"])
def test_no_date_is_read_without_a_word_in_between(order: DateOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    words = pd.Series([f"{n % 28 + 1} March {1000 + n // 28} {n % 24}:30" for n in range(ROWS)], dtype="str")
    assert Heard().while_it(lambda: dates.dates(words, order)) < BOUND
    monkeypatch.setattr(stopping, "EVERY", ROWS)
    assert Heard().while_it(lambda: dates.dates(words, order)) > BOUND, "without that it would take them all"


def test_a_sample_is_told_by_its_words_with_a_word_in_between() -> None:
    frame = pd.DataFrame({"w": pd.Series([f"w{n}" for n in range(ROWS)], dtype="str")})
    heard = Heard()
    assert heard.while_it(lambda: _digest(frame, "")) < BOUND


def test_a_single_part_is_waited_for_with_ticks() -> None:
    """The one column of a file was read in the thread that should ask meanwhile."""
    ticked = threading.Event()
    assert list(at_once(lambda _: ticked.wait(20), [0], ticked.set)) == [True]


@pytest.mark.parametrize("columns", [1, 3])
def test_what_nobody_waits_for_any_more_stops(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that were under way were read to their end, in threads that nothing bounds: the reading began anew."""
    begun, left, moment, looked = threading.Event(), threading.Event(), dates.moment, []

    def held(word: str, order: DateOrder) -> np.datetime64:
        if threading.current_thread().name.startswith("columns"):
            looked.append(word)
            if len(looked) > 2 * stopping.EVERY:  # beyond the few that tell whether these are dates at all
                begun.set()
                left.wait(20)
        return moment(word, order)

    def say(_part: float, _what: str) -> None:
        if begun.is_set():
            raise ReadingCancelled("Cancelled.")

    monkeypatch.setattr(dates, "moment", held)
    before = set(threading.enumerate())
    with pytest.raises(ReadingCancelled):
        read_table(a_file("named months", columns), progress=say)
    so_far = len(looked)
    left.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
    assert 2 * stopping.EVERY < so_far <= len(looked) <= so_far + 2 * stopping.EVERY


def test_a_task_that_says_nothing_is_cancelled_between_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = pd.Series([f"{n % 28 + 1} March {1000 + n // 28}" for n in range(ROWS)], dtype="str")
    begun, cancelled, moment, looked = threading.Event(), threading.Event(), dates.moment, []

    def held(word: str, order: DateOrder) -> np.datetime64:
        looked.append(word)
        begun.set()
        cancelled.wait(20)
        return moment(word, order)

    monkeypatch.setattr(dates, "moment", held)
    task = Task(lambda _: dates.dates(words, "dmy"), "Preparing the columns")
    assert begun.wait(60)
    task.cancel()
    cancelled.set()
    assert task.wait(60)
    assert task.problem == ""
    assert len(looked) <= stopping.EVERY
