"""What one session may hold: how it is counted, for whom, and the sentence when it is too much."""

from __future__ import annotations

import ast
import gc
import tracemalloc
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import limits
from dashboard.data import actions, read_again, template
from dashboard.data.decisions import Decisions
from dashboard.data.own_file import OwnFile
from dashboard.data.typed_columns import TypedColumns
from dashboard.people import visitors
from dpcore.datasets import Column, Schema, Size, TicksToRows, conversion, read_csv, twin
from dpcore.errors import NoRoom, ReadingCancelled, UnreadableFile
from tests.dashboard import conftest as dashboard
from tests.dashboard.conftest import text
from tests.dashboard.keys import key_of
from tests.dashboard.test_data_page import drop, held, look, press

ledger_file, one_visitor, open_app = dashboard.ledger_file, dashboard.one_visitor, dashboard.open_app
workers = dashboard.workers
FILE = ("nr,colour\n" + "".join(f"{number},red\n" for number in range(2000))).encode()
HERE = limits.Limits(rows=2000, megabytes=1, jobs=1)


def test_a_visitor_has_a_share_and_who_is_known_what_the_computer_can(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROWS", "MEMORY", "JOBS"):
        monkeypatch.delenv(f"EPSILON_LAB_{name}", raising=False)
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    assert limits.limits() == limits.KNOWN
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    assert limits.limits() == limits.VISITOR
    monkeypatch.setenv("EPSILON_LAB_ROWS", "7")
    monkeypatch.setenv("EPSILON_LAB_MEMORY", "no number")
    assert limits.limits() == limits.Limits(rows=7, megabytes=500, jobs=3)


def test_files_and_tables_count_together() -> None:
    reading = read_csv(FILE)
    limits.check(FILE, 0, HERE, reading)
    with pytest.raises(UnreadableFile, match="2,000 rows and one session here may have 1,999"):
        limits.check(FILE, 0, limits.Limits(rows=1999, megabytes=1, jobs=1), reading)
    room = (1 << 20) - len(FILE)
    limits.check(FILE, room, HERE)
    with pytest.raises(UnreadableFile, match="would hold 2 MB of files and tables, and one may hold 1"):
        limits.check(FILE, room + 1, HERE)
    with pytest.raises(UnreadableFile, match="2 MB"):
        limits.check(FILE, room, HERE, reading)


def test_rows_without_anything_in_them_are_no_more_than_others_may_be() -> None:
    """In a private answer each has a place: two rows among billions of them took the memory of all."""
    reading = read_csv(b"a,b\n1,2\n\n\n3,4\n")
    assert (reading.rows, reading.records) == (2, 4)
    limits.check(b"", 0, limits.Limits(rows=4, megabytes=1, jobs=1), reading)
    with pytest.raises(UnreadableFile, match=r"4 rows with those that are empty .* and one session here may have 3;"):
        limits.check(b"", 0, limits.Limits(rows=3, megabytes=1, jobs=1), reading)


def test_typed_columns_and_twins_count_too() -> None:
    reading = read_csv(FILE)
    schema = reading.suggested()
    table = limits.weight(
        [OwnFile(name="a", data=FILE, choices=(), reading=reading, decisions=Decisions(schema=schema))]
    )
    room = (1 << 20) - table
    typed = TypedColumns(reading=reading)
    held = int(typed.table(schema, complete=False).frame.memory_usage(index=False).sum())
    size = limits.typed(reading, schema.columns)
    assert 2000 * 8 < held <= size <= 2 * held
    limits.check(FILE, room - size, HERE, reading)
    limits.prepared(size, (1 << 20) - size, HERE)
    with pytest.raises(UnreadableFile, match="2 MB"):
        limits.check(FILE, room - size + 1, HERE, reading)
    with pytest.raises(UnreadableFile, match=r"hold 2 MB .* fewer rows"):
        limits.prepared(size, (1 << 20) - size + 1, HERE)


def held_by(frame: pd.DataFrame) -> int:
    """Bytes of a frame, those that two columns share once."""
    numbers = frame.select_dtypes(exclude="str")
    arrays = (pa.chunked_array(pa.array(frame[name])) for name in frame.columns.difference(numbers.columns))
    buffers = (part for array in arrays for chunk in array.chunks for part in chunk.buffers() if part is not None)
    texts = {(part.address, part.size) for part in buffers}
    return int(numbers.memory_usage(index=False).sum()) + sum(size for _, size in texts)


EACH_TYPE = (
    Column(name="n", type="number", low=0, high=1),
    Column(name="i", type="integer", low=0, high=10**9),
    Column(name="y", type="yes/no"),
    Column(name="d", type="date", earliest=date(2020, 1, 1), latest=date(2024, 1, 1)),
    Column(name="c", type="category", categories=tuple(f"option {n}" for n in range(300))),
)


@pytest.mark.parametrize("texts", [0, 1, 30])
def test_a_twin_holds_no_more_than_is_counted(texts: int) -> None:
    """Thirty columns of text took twenty bytes a cell, and nine were counted."""
    columns = (*EACH_TYPE, *(Column(name=f"t{n}", type="text") for n in range(texts)))
    rows = 20_000
    made = twin(Schema(columns=columns), rows=rows, rng=np.random.Generator(np.random.PCG64(1)))
    counted = limits.made_up(columns, rows)
    assert held_by(made.frame) <= counted
    apart = made.frame.assign(**{f"t{n}": [f"row {k + 1}" for k in range(rows)] for n in range(texts)})
    assert (held_by(apart) > counted) == (texts > 1), "were each held by itself"


def test_a_twin_is_there_once_while_it_is_made_up() -> None:
    columns = tuple(Column(name=f"n{at}", type="number", low=0, high=1) for at in range(60))
    rows = 20_000
    gc.collect()
    tracemalloc.start()
    try:
        twin(Schema(columns=columns), rows=rows, rng=np.random.Generator(np.random.PCG64(1)))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most <= limits.made_up(columns, rows) + actions.BESIDE * rows


def test_a_twin_is_made_up_column_by_column_and_may_be_stopped() -> None:
    looks: list[int] = []

    def turn() -> None:
        looks.append(1)
        if len(looks) > 3:
            raise ReadingCancelled("Cancelled.")

    with pytest.raises(ReadingCancelled):
        twin(Schema(columns=EACH_TYPE), rows=10, rng=np.random.Generator(np.random.PCG64(1)), turn=turn)
    assert len(looks) == 4


def test_the_options_that_a_file_is_looked_through_for_are_bounded_and_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a million different words each use of them held everybody up, and nobody counted what they took."""
    reading = read_csv(("id,x\n" + "".join(f"w{at:05},{at}\n" for at in range(300))).encode())
    column = Column(name="id", type="category")
    plain = limits.typed(reading, [Column(name="id", type="text")])
    beside = int(reading.frame[["id"]].memory_usage(index=False).sum())
    for most, found in ((300, 300), (299, 0)):
        monkeypatch.setattr(conversion, "MOST_WORDS", most)
        monkeypatch.setattr(limits, "MOST_WORDS", most)
        columns = TypedColumns(reading=reading)
        assert len(columns.completed(column).categories) == found
        assert columns.account(column).unlisted.number == 300 - found
        assert limits.typed(reading, [column]) == plain - beside + limits.WORD * most + 4 * beside
    own = (Column(name="id", type="category", categories=("w00001", "w00002")),)
    assert limits.typed(reading, own) == plain - beside
    assert columns.account(own[0]).taken == 2


def test_a_file_too_many_is_a_sentence_on_the_page(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second does not fit beside the first, and does once that is gone for good."""
    app = drop(open_app("data"), FILE)
    own = held(app)
    assert limits.weight([own, None]) > len(FILE) + 8 * 2000
    monkeypatch.setattr(limits, "KNOWN", limits.Limits(rows=2000, megabytes=1, jobs=1))
    monkeypatch.setattr(limits, "weight", lambda files: sum(1 << 20 for one in files if one is not None))
    app = drop(app, FILE.replace(b"red", b"blue"))
    assert "would hold 2 MB of files and tables" in app.error[0].value
    assert held(app) is own, "what was there stays"
    app = press(press(app, "own-remove"), "own-forget")
    app = drop(app, FILE.replace(b"red", b"blue"))
    assert not app.error
    assert held(app) is not own
    monkeypatch.setattr(limits, "weight", lambda files: 1 << 20)
    app = look(app)
    assert "would make your session hold 2 MB" in text(app)
    assert held(app).use is None, "no page shows it"
    assert app.session_state["_own_source"] is None


def test_what_is_there_counts_while_a_file_is_read_once_more(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The present file with its table, what pages show of it, and samples; its bytes once."""
    app = look(drop(open_app("data"), FILE))
    own, shown, seen = held(app), app.session_state["_own_source"], list[tuple[bytes, int]]()
    typed = int(shown.table.frame.memory_usage(index=False).sum())
    assert own.reading is not None
    assert typed > 2000 * 8
    monkeypatch.setattr(limits, "check", lambda data, beside, *_: seen.append((data, beside)))
    app.session_state["own-tab"] = "Read it differently"
    app = press(app.run(), "own-again-go")
    assert [data is own.data for data, _ in seen] == [True, True]
    assert {beside for _, beside in seen} == {own.reading.size + typed}
    seen.clear()
    app.session_state["_loaded_samples"] = {"adult": shown.table}
    before = limits.weight([held(app)])
    drop(app, FILE.replace(b"red", b"blue"))
    assert {beside for _, beside in seen} == {before + typed}


def test_what_two_files_share_counts_once() -> None:
    reading = read_csv(FILE)
    own = OwnFile(
        name="a", data=FILE, choices=(), reading=reading, decisions=Decisions(schema=reading.suggested()), read=reading
    )
    assert limits.weight([own, own, None]) == limits.weight([own]) == len(FILE) + reading.size


CELLS = b"nr,likes\n" + b"1,Gym\n2,Gym;Tea;Chess\n" * 100


def test_a_step_too_large_is_a_sentence_and_the_file_stays(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken, or brought with a declaration; one for which there is room is taken."""
    monkeypatch.setattr(limits, "KNOWN", limits.Limits(rows=300, megabytes=1, jobs=1))
    app = drop(open_app("data"), CELLS)
    own = held(app)
    step = TicksToRows(column="likes", separator=";", most=3)
    after = read_again.worked(own, read_csv(CELLS).after((step,)), (step,))
    app.session_state["_declarations"] = (template.template(after),)
    app = drop(app, CELLS)
    assert held(app).known == (), "nothing is offered that cannot be done"
    own = held(app)
    app = press(app, next(str(button.key) for button in app.button if "likes" in button.label))
    app.segmented_control(key=key_of(app, "own-ticks-", "-sign")).set_value(";")
    app.number_input(key=key_of(app, "own-ticks-", "-most")).set_value(3)
    app = press(app, "own-ticks-go")
    assert "would then have 400 rows and one session here may have 300" in text(app)
    assert held(app) is own
    app.number_input(key=key_of(app, "own-ticks-", "-most")).set_value(2)
    app = press(app, "own-ticks-go")
    assert not app.error
    reading = held(app).reading
    assert reading is not None
    assert reading.rows == 300


def test_memory_of_what_a_step_makes_counts_beside_the_file() -> None:
    reading = read_csv(CELLS)
    size = Size(rows=400, bytes=1 << 19, largest=1)
    limits.room(CELLS, reading, 1 << 18, HERE)(size)
    with pytest.raises(NoRoom, match=r"would then hold 2 MB .* and one may hold 1"):
        limits.room(CELLS, reading, 1 << 19, HERE)(size)


def test_no_page_does_steps_without_asking_whether_they_fit() -> None:
    """Every call of ``Reading.after`` and ``recognised`` in the pages says for how much there is room."""
    for path in Path("dashboard/data").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                least = {"after": 2, "recognised": 3}.get(called, 0)
                assert len(node.args) >= least, f"{path}: {ast.unparse(node)}"
