"""What the server remembers of computed answers is bounded in bytes, whatever links and files ask of it."""

from __future__ import annotations

import ast
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import catalogue, machine_memory
from dashboard.background import compute, held
from dashboard.background.jobs import Job
from dashboard.background.once import once
from dashboard.background.shelf import Jobs, Shelf, Watch
from dashboard.budget.held import COMPOSED
from dashboard.case import Case, Source
from dashboard.controls import Setting
from dashboard.question import CannotAsk
from dashboard.questions.selection import best_rule
from dashboard.serving import uploads
from dashboard.words import best_rule as said
from dpcore import memory, privacy_loss
from dpcore.datasets import Column, Schema, Table, twin
from dpcore.memory import Memory, Room
from dpcore.selection import rules
from dpcore.selection.rules import Cuts, RuleClass
from dpcore.weight import weight

ROOT = Path(__file__).parents[2]
NUMBERS = 50_000
BYTES = 8 * NUMBERS


class Plain:
    """As an object of a library, which is no dataclass."""

    def __init__(self) -> None:
        self.inside = {"numbers": numbers()}

    def told(self) -> Any:
        return self.inside


class Slotted:
    __slots__ = ("numbers",)

    def __init__(self) -> None:
        self.numbers = numbers()


@dataclass(frozen=True)
class Told:
    numbers: Any


def numbers() -> Any:
    return np.arange(float(NUMBERS))


def closed_over() -> Callable[[], Any]:
    large = numbers()
    return lambda: large.sum()


def by_default() -> Callable[[], Any]:
    def total(large: Any) -> Any:
        return large.sum()

    total.__defaults__ = (numbers(),)
    return total


HOLDERS: dict[str, Callable[[], Any]] = {
    "an array": numbers,
    "a view of one number": lambda: numbers()[:1],
    "a view of a view": lambda: numbers().reshape(2, -1)[0, :3],
    "an array of objects": lambda: np.array([numbers(), None], dtype=object),
    "bytes": lambda: [bytes(BYTES)],
    "a key": lambda: {("x" * BYTES,): 1},
    "a set of texts": lambda: {"x" * BYTES},
    "a dataclass": lambda: Told(numbers=(numbers(),)),
    "a plain object": Plain,
    "an object with slots": Slotted,
    "a method": lambda: Plain().told,
    "a function": closed_over,
    "a default": by_default,
    "a partial function": lambda: partial(max, numbers()),
    "an iterator": lambda: iter([numbers()]),
    "a frame": lambda: pd.DataFrame({"a": numbers()}),
    "a row of a frame": lambda: pd.DataFrame({"a": numbers()}).iloc[:1],
    "a column of texts": lambda: pd.DataFrame({"a": ["x" * 100] * (BYTES // 100)}),
    "an index": lambda: pd.Index(numbers()),
    "a memory view": lambda: memoryview(bytes(BYTES)),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_value_weighs_all_that_it_keeps(holder: str) -> None:
    value = HOLDERS[holder]()
    assert BYTES <= weight(value) <= 1.5 * BYTES + 20_000
    assert weight((value, [value])) <= 1.5 * BYTES + 20_000, "what is there twice is kept once"


def test_what_the_program_is_made_of_weighs_nothing() -> None:
    assert weight((np, Memory, weight, len, lambda: np)) < 2_000


def test_who_refers_to_a_memory_does_not_hold_what_it_keeps() -> None:
    """A picture that draws itself in a memory weighed all that had been kept before it: each was heavier than the last,
    and a page looked through more of them at every step of its slider."""
    kept = Memory(100, room=1 << 30)
    for place in range(5):
        size = kept.bytes
        kept((place,), lambda place=place: lambda: kept((place, "drawn"), lambda: b"x" * 1000))  # type: ignore[misc]
        assert kept.bytes - size < 2_000
        kept.get((place,))()
        assert 1_000 < kept.bytes - size < 4_000


def test_keys_count_and_no_entry_is_larger_than_the_room() -> None:
    kept = Memory(100, room=10_000)
    for place in range(40):
        kept((place, "x" * 900), lambda: 1)
        kept(("large", place), lambda: bytes(20_000))
        assert kept.bytes <= 10_000
    assert 5 < len(kept) < 11
    kept.put((39, "x" * 900), bytes(2_000))
    assert kept.get((39, "x" * 900)) == bytes(2_000)
    kept.put((39, "x" * 900), bytes(20_000))
    assert kept.get((39, "x" * 900)) is None, "what was there is not what was put"
    assert kept.bytes <= 10_000


def test_memories_within_one_room_hold_no_more_together_and_the_oldest_goes_first() -> None:
    room = Room(lambda: 50_000)
    first, second = (Memory(100, room=40_000, within=room) for _ in range(2))
    for place in range(3):
        first((place,), lambda: bytes(10_000))
    first((0,), bytes)
    for place in range(3):
        second((place,), lambda: bytes(10_000))
        assert room.bytes == first.bytes + second.bytes <= 50_000
    assert (first.get((0,)), first.get((1,))) == (bytes(10_000), None), "one that was asked for since stays longer"
    assert len(second) == 3
    del first
    gc.collect()
    assert room.bytes == second.bytes
    second((3,), lambda: bytes(8_000))
    assert len(second) == 4, "a session that is gone takes no room"


def test_the_bound_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "weight", lambda _: 0)
    kept = Memory(100, room=10_000)
    for place in range(9):
        kept((place,), lambda: bytes(20_000))
    assert len(kept) == 9


def test_what_simulations_found_is_bounded_too() -> None:
    shelf = Shelf(room=50_000)
    for key in range(10):
        for part in range(3):
            shelf.keep(key, part, bytes(5_000))
    assert shelf.known(9) == dict.fromkeys(range(3), bytes(5_000))
    assert sum(bool(shelf.known(key)) for key in range(10)) == 3


class AtOnce(Executor):
    """Does what it is given at once."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args))
        return future


def test_what_a_session_s_jobs_found_is_bounded_but_for_the_newest() -> None:
    """Those stand on the page: dropping one would begin it anew in every run."""
    jobs, started = Jobs(room=50_000), []

    def get(place: int, size: int = 20_000) -> Any:
        def start() -> Watch:
            started.append(place)
            return Watch(Job(AtOnce(), bytes, [size]))

        return jobs.get(f"slot {place}", place, start)

    for place in range(10):
        get(place)
        assert jobs._over.bytes <= 50_000
    assert (len(jobs._jobs), len(jobs._over)) == (Jobs.NEWEST, 2)
    begun = len(started)
    over = get(5)
    assert (over.results(), over.complete, over.finished, over.error) == ([bytes(20_000)], True, True, None)
    assert len(started) == begun, "what is kept is not done again"
    get(0)
    assert len(started) == begun + 1
    for _ in range(9):
        assert [get(place, 90_000).done for place in (20, 21, 22, 23)] == [1] * 4
    assert len(started) == begun + 5, "larger than the room, and done once"
    jobs.forget(22)
    get(22)
    assert started[-1] == 22
    jobs.forget_all()
    assert jobs._over.bytes == len(jobs._jobs) == 0


def test_a_job_that_was_stopped_or_failed_is_told_so_when_it_is_put_away() -> None:
    def fails(_: int) -> int:
        raise ValueError("12 people")

    class Waiting(AtOnce):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            return Future()

    class Failing(AtOnce):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(ValueError("12 people"))
            return future

    jobs = Jobs(room=50_000)
    stopped = jobs.get("a", "a", lambda: Watch(Job(Waiting(), fails, [1, 2])))
    stopped.cancel()
    jobs.get("b", "b", lambda: Watch(Job(Failing(), fails, [1])))
    for place in range(Jobs.NEWEST):
        jobs.get(f"{place}", place, lambda: Watch(Job(AtOnce(), bytes, [1])))
    first, failed = (jobs.get(name, name, lambda: pytest.fail("begun again unasked")) for name in ("a", "b"))
    assert (first.cancelled, first.complete, first.total, first.done) == (True, False, 2, 0)
    assert repr(failed.error) == "RuntimeError('ValueError')"


def test_names_that_are_not_known_leave_nothing_behind() -> None:
    @once(most=2)
    def made(name: str) -> str:
        if name != "known":
            raise ValueError(name)
        return name

    for number in range(9):
        with pytest.raises(ValueError, match=str(number)):
            made(str(number))
    assert made("known") == "known"
    assert (len(made._values), len(made._making)) == (1, 0)


def test_all_that_a_server_remembers_is_within_one_room() -> None:
    kept = [compute.MEMORY, compute.LARGE.memory, held.MEMORY.once(), held.LARGE_MEMORY.once().memory]
    kept += [compute.shelf()._found, held.OWN_SHELF.once()._found, held.JOBS.once()._over, COMPOSED.once()]
    assert all(one._within is held.ANSWERS for one in kept)
    assert all(one.room <= 500 << 20 for one in kept)
    assert held.ANSWERS.most() == machine_memory.for_answers()


def test_what_is_remembered_and_peoples_files_leave_room_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EPSILON_LAB_MEMORY_ALL", raising=False)
    for servers, given in ((1, 4 << 30), (2, 6 << 30), (3, 16 << 30)):
        monkeypatch.setattr(machine_memory, "given", lambda given=given: given)
        files = machine_memory.for_files(servers) / servers
        monkeypatch.setenv("EPSILON_LAB_MEMORY_ALL", str(int(files) >> 20))
        each = machine_memory.for_files() + machine_memory.for_answers() + machine_memory.for_simulations()
        assert (
            servers * (each + machine_memory.SERVER) + uploads.most_together() + machine_memory.kept_free()
            <= 1.03 * given
        )
        monkeypatch.delenv("EPSILON_LAB_MEMORY_ALL")
    monkeypatch.setenv("EPSILON_LAB_MEMORY_ALL", "1200")
    assert machine_memory.for_answers() == 300 << 20


# Functions whose results Python keeps by number: what such a result is at most.
SMALL = {
    "_of_its_kind": "how fast lines of one kind come",
    **dict.fromkeys(["best_design", "family"], "a few numbers"),
    **dict.fromkeys(["_laplace", "_gaussian", "_chooser"], "a mechanism of OpenDP"),
    "event_rdp": "one number for each of 166 orders",
    "_grid": "some thousand numbers, of which a program asks for few",
    "_compiled": "a pattern of a declaration",
    "_summing_rule": "sixteen numbers and their weights, or as many as there are to be summed",
    "_methods": "names of methods",
    "own": "words and places of the program's own code",
    "_for_sqlite": "of the ledger's statements about one row",
    **dict.fromkeys(["silence_of", "server_of"], "when a server began not to answer"),
    "_engine": "one for each source that is configured",
    "one_table": "of each folder that is configured a selection, with the names of its files",
}
# Functions without a bound of number: asked for by a name of which the program has few.
FEW = {"discover", "_gauss", "_warn", "_choices", "_read", "_say_once", "_log_once", "questions"}


def kept_by_python(text: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for one in function.decorator_list:
                name = ast.unparse(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2]
                if name in {"cache", "lru_cache", "cache_data"}:
                    yield function, name


def unbounded(text: str) -> list[str]:
    """Functions whose results are kept by number alone, though one result may be of any size."""
    found = []
    for function, kind in kept_by_python(text):
        arguments = function.args.args + function.args.kwonlyargs
        if kind == "cache":
            bounded = not arguments or function.name in FEW
        else:
            returns = "" if function.returns is None else ast.unparse(function.returns)
            small = returns in {"float", "int", "bool", "str", "None"} or function.name in SMALL
            bounded = kind == "lru_cache" and small
        found += [] if bounded else [function.name]
    return found


def test_nothing_of_any_size_is_kept_by_number() -> None:
    files = [file for part in ("dpcore", "dashboard") for file in ROOT.glob(f"{part}/**/*.py")]
    texts = {str(file): text for file in files if "cache" in (text := file.read_text(encoding="utf-8"))}
    assert {file: found for file, text in texts.items() if (found := unbounded(text))} == {}
    assert len(texts) > 20
    assert unbounded("@lru_cache(maxsize=256)\ndef losses(event: Event) -> Any: ...") == ["losses"]
    assert unbounded("@functools.cache\ndef made(x: int) -> float: ...") == ["made"]


def test_privacy_losses_are_kept_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Memory(256, room=200_000)
    monkeypatch.setattr(privacy_loss, "_LOSSES", kept)
    for level in range(1, 12):
        found = privacy_loss.generic_losses(float(level), 0.0, 1e-2)
        assert kept.bytes <= 200_000
    assert privacy_loss.generic_losses(11.0, 0.0, 1e-2) is found
    privacy_loss.generic_losses(200.0, 0.0, 1e-2)
    assert 1 < len(kept) < 11


def wide(columns: int, rows: int = 60) -> Table:
    some = (Column(name=f"c{place}", type="number", low=0.0, high=1.0) for place in range(columns))
    schema = Schema(columns=(Column(name="ill", type="yes/no"), *some))
    return twin(schema, rows=rows, rng=np.random.Generator(np.random.PCG64(1)))


def asked(table: Table, kept: Memory, **chosen: Any) -> Any:
    source = Source(key="own-x", title="t", mode="what_if", table=table, lineage=None, practice=False)
    case = Case(source=source, epsilon=1.0, memo=kept, large=kept)
    return catalogue.questions("selection")["best_rule"].ask(case, Setting(chosen))


def test_many_rules_are_not_looked_at_two_by_two() -> None:
    """A number for every two of these rules would be 82 MB, remembered for each choice of columns."""
    table, kept = wide(16), Memory(400, room=1 << 30)
    few = asked(table, kept, rule_cuts=5, sampling=True)
    assert few.uncertain is not None
    assert few.view.band == best_rule.BAND
    tracemalloc.start()
    found = asked(table, kept, rule_cuts=100, sampling=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
    assert kept.bytes < 4 << 20
    assert found.uncertain is None
    assert found.view.band == said.no_band(best_rule.MOST_TOGETHER)


def test_more_rules_than_can_be_compared_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_rule, "learn", lambda *_: pytest.fail("they were made"))
    with pytest.raises(CannotAsk, match="20,202 rules, and 20,000 can be compared: choose fewer columns or cuts"):
        asked(wide(101), Memory(9, room=1 << 20), rule_cuts=100)


def test_rules_are_looked_at_together_in_slices_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    some = RuleClass(columns=tuple(Cuts(column=f"c{place}", low=0.0, high=1.0, count=100) for place in range(3)))
    table, target = {f"c{place}": rng.random(4096) for place in range(3)}, rng.random(4096) < 0.5

    def made() -> tuple[Any, int]:
        tracemalloc.start()
        found = some.covariance(table, target)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return found, peak

    whole, most = made()
    monkeypatch.setattr(rules, "_ANSWERS", 64 * some.size)
    sliced, least = made()
    assert np.array_equal(whole, sliced)
    assert least < most / 2
