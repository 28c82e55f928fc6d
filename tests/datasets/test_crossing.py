"""What a reader hands over is held against all bounds once more: it becomes no more than lies there, or nothing."""

from __future__ import annotations

import io
import json
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.apart import crossing
from dpcore.datasets.reading import bounds
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.kinds import table_of
from dpcore.datasets.reading.tabulate import Tabulated
from dpcore.datasets.report import ASKED, Report
from tests.datasets.cases import CASES
from tests.datasets.crossed import read_back

LONG = b"x" * (4 * bounds.LONGEST_CELL + 4)
LIGHT = [case for case in CASES if not case.heavy]


def table() -> Tabulated:
    return table_of(b'[{"a": "one", "b": ""}, {"a": "three", "b": "\\u00e9"}]', Choices(), lambda *_: None)


def written(of: Tabulated | None = None) -> bytes:
    file = io.BytesIO()
    crossing.write(of or table(), file)
    return file.getvalue()


def parts(data: bytes) -> tuple[bytes, bytes]:
    """The cells, and what stands behind them."""
    length = int.from_bytes(data[-8:], "little")
    return data[: -8 - length], data[-8 - length : -8]


def joined(cells: bytes, told: bytes) -> bytes:
    return cells + told + len(told).to_bytes(8, "little")


def beside(told: bytes) -> bytes:
    return joined(parts(written())[0], told)


def retold(**changes: Any) -> bytes:
    return beside(json.dumps(json.loads(parts(written())[1]) | changes).encode())


def reported(**changes: Any) -> bytes:
    return retold(report=json.loads(parts(written())[1])["report"] | changes)


def noticed(**changes: Any) -> bytes:
    notice = {"what": "noticed", "sentence": "A table.", "count": 0, "lines": [], "columns": [], "texts": []}
    return reported(notices=[notice | changes])


FORGED = "Your budget is refunded"


def way(argument: str, value: str) -> bytes:
    return reported(alternatives=[{"argument": argument, "value": value, "example": "", "decided": False}])


def cells(*numbers: int, text: bytes = b"", behind: bytes = b"") -> bytes:
    """Of one column, with its rows' lines."""
    rows = len(numbers) - 1
    ends, lines = np.array(numbers, dtype=np.int64), np.arange(1, rows + 1, dtype=np.int64)
    return ends.tobytes() + text + bytes(-len(text) % 8) + lines.tobytes() + behind


def of_one(made: bytes, rows: int, **changes: Any) -> bytes:
    told = json.loads(parts(written())[1])
    told |= {"names": ["a"], "report": told["report"] | {"rows": rows}} | changes
    return joined(made, json.dumps(told).encode())


def whole(*numbers: int) -> bytes:
    return np.array(numbers, dtype=np.int64).tobytes()


SOUND: dict[str, Callable[[], bytes]] = {
    "as it is": written,
    "one column": lambda: of_one(cells(0, 3, 8, text=b"onethree"), 2),
    "with places": lambda: of_one(cells(0, 3, 8, text=b"onethree", behind=whole(0, 6)), 2, records=7),
    "with a notice": noticed,
    **{
        f"with a way, {argument} {value!r}": lambda argument=argument, value=value: way(argument, value)
        for argument, value in (
            ("encoding", "cp1252"),
            ("delimiter", "\t"),
            ("delimiter", "blanks"),
            ("quote", ""),
            ("escape", "backslash"),
            ("returns", "at ends"),
            ("breaks", "inside"),
            ("merged", "first"),
            ("objects", "rows"),
            ("keep_footer", "False"),
            ("columns", "12"),
            ("header_line", "3"),
            ("part", FORGED),
        )
    },
}
WRONG: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "broken off": lambda: written()[:-300],
    "no text": lambda: written().replace(b"onethree", b"one\xff\xferee"),
    "half a letter": lambda: of_one(cells(0, 1, 2, text="é".encode()), 2),
    "longer than it is": lambda: written()[:-8] + b"\xff" * 8,
    "longer by a byte": lambda: written()[:-8] + (len(written()) - 7).to_bytes(8, "little"),
    "cells and more": lambda: joined(parts(written())[0] + bytes(8), parts(written())[1]),
    "cells and a byte": lambda: joined(parts(written())[0] + b"x", parts(written())[1]),
    "cells and a gigabyte": lambda: of_one(cells(0, 3, 1 << 30, text=b"onethree"), 2),
    "an end before another": lambda: of_one(cells(0, 9, 8, text=b"onethree"), 2),
    "an end before the first": lambda: of_one(cells(0, -1, 8, text=b"onethree"), 2),
    "a first end": lambda: of_one(cells(1, 3, 8, text=b"onethree"), 2),
    "ends that go round": lambda: of_one(cells(0, 1 << 62, -(1 << 62), 8, text=b"onethree"), 3),
    "no lines": lambda: of_one(cells(0, 3, 8, text=b"onethree")[:-8], 2),
    "a line before the first": lambda: of_one(whole(0, 1) + b"x" + bytes(7) + whole(-1), 1),
    "a line beyond the last": lambda: of_one(whole(0, 1) + b"x" + bytes(7) + whole(bounds.MOST_LINES + 1), 1),
    "places of more": lambda: of_one(cells(0, 3, 8, text=b"onethree", behind=whole(0, 1, 2)), 2),
    "places of others": lambda: of_one(cells(0, 3, 8, text=b"onethree", behind=whole(0, 2)), 2),
    "places before the first": lambda: of_one(cells(0, 3, 8, text=b"onethree", behind=whole(-1, 0)), 2),
    "one place twice": lambda: of_one(cells(0, 3, 8, text=b"onethree", behind=whole(1, 1)), 2),
    "places that go back": lambda: of_one(cells(0, 3, 8, text=b"onethree", behind=whole(1, 0)), 2),
    "too long a cell": lambda: of_one(cells(0, len(LONG), text=LONG), 1),
    "no row and some": lambda: reported(rows=0),
    "a line of no row": lambda: of_one(whole(0, 1), 0),
    "text of no row": lambda: of_one(whole(3) + b"one" + bytes(5), 0),
    "other rows": lambda: reported(rows=1),
    "rows without end": lambda: reported(rows=bounds.MOST_LINES),
    "rows before the first": lambda: reported(rows=-1),
    "fewer records than rows": lambda: retold(records=1),
    "records without end": lambda: retold(records=3_000_000_000),
    "records before the first": lambda: retold(records=-1),
    "no column": lambda: joined(whole(1, 2), parts(retold(names=[]))[1]),
    "columns without end": lambda: retold(names=[f"c{place}" for place in range(20_000)]),
    "a name without end": lambda: retold(names=["a", "b" * (bounds.LONGEST_NAME + 1)]),
    "a name twice": lambda: retold(names=["a", "a"]),
    "rows that name another": lambda: retold(from_rows=["c"]),
    "told nothing": lambda: beside(b""),
    "told a number": lambda: beside(b"3"),
    "told no text": lambda: beside(b"\xff"),
    "told lists in lists": lambda: beside(b"[" * 100_000),
    "told more": lambda: retold(more=1),
    "no report": lambda: retold(report=None),
    "a name that is none": lambda: retold(names=["a", {}]),
    "names that are one": lambda: retold(names="a"),
    "no words about": lambda: retold(about={"a": 1}),
    "no list of labels": lambda: retold(codebooks={"a": "word"}),
    "records in words": lambda: retold(records="2"),
    "records that are true": lambda: retold(records=True),
    "a number without end": lambda: reported(first_line=10**400),
    "numbers that take long": lambda: reported(header_lines=[int("9" * 4_000)] * 10),
    "a part of a number": lambda: reported(first_line=1.5),
    "no number": lambda: reported(first_line=math.nan),
    "a number below none": lambda: noticed(count=-1),
    "another's sentence": lambda: noticed(sentence="[Log in again](https://evil.example/login)."),
    "another's word": lambda: noticed(sentence="Hivpositive."),
    "a sentence on two lines": lambda: noticed(sentence="A table.\nA table."),
    "a sentence without end": lambda: noticed(sentence="A table. " * 100),
    **{
        f"a way that is none, {argument} {value[:12]!r}": lambda argument=argument, value=value: way(argument, value)
        for argument in ("tables", *ASKED)
        for value in (FORGED, "7" * 40, "utf-7", "٣", "")
        if (argument, value) not in {("delimiter", ""), ("delimiter", "٣"), ("quote", ""), ("quote", "٣")}
        and argument != "part"
    },
    **{
        f"another's {name}": lambda name=name: reported(**{name: FORGED})
        for name in (field.name for field in fields(Report) if str(field.type) not in ("int", "bool"))
        if name not in ("part", "header_lines", "notices", "alternatives")
    },
}  # fmt: skip


@pytest.mark.parametrize("made", SOUND)
def test_what_is_sound_comes_back(made: str) -> None:
    assert read_back(SOUND[made]()).frame["a"].tolist() == ["one", "three"]


@pytest.mark.parametrize("data", [b"a,b\n", b"a,b\n,\n", b'[["a", "b"]]'])
def test_a_table_without_a_row_comes_back(data: bytes) -> None:
    """A sheet of names alone was a defect of the program to whoever brought it to a server."""
    back = read_back(written(table_of(data, Choices(header_rows=1, header_line=1), lambda *_: None)))
    assert (list(back.frame.columns), len(back.frame), back.lines.size) == (["a", "b"], 0, 0)


@pytest.mark.parametrize("made", WRONG)
def test_what_comes_back_is_not_trusted(made: str) -> None:
    """A reader that was led astray cannot have the server follow it: no class of its own, no cell out of bounds, no
    number, name or word that a reader of ours does not say."""
    refused(WRONG[made]())


def test_a_form_in_another_s_words_would_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: “Cells end at the sign Your budget is refunded” stood on the page."""
    monkeypatch.setattr(crossing, "_is_way", lambda *_: True)
    for name in ("delimiter", "encoding", "quote"):
        assert getattr(read_back(WRONG[f"another's {name}"]()).report, name) == FORGED


def refused(made: bytes) -> None:
    with pytest.raises(crossing.Garbled):
        read_back(made)


def test_the_bounds_of_reading_hold_for_what_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes and whoever reads holds a table against the same, so that no file of anybody is a defect."""
    made = written()
    for name, most in (("MOST_COLUMNS", 1), ("MOST_CELLS", 3), ("MOST_TEXT", 1), ("LONGEST_CELL", 0)):
        with monkeypatch.context() as inner:
            inner.setattr(bounds, name, most)
            with pytest.raises(UnreadableFile):
                crossing.write(table(), io.BytesIO())
            with pytest.raises(crossing.Garbled):
                read_back(made)


def packed(rows: int) -> bytes:
    """A table of empty cells as an Arrow stream that unpacks to some hundred times as much."""
    column = pa.LargeStringArray.from_buffers(rows, pa.py_buffer(bytes(8 * (rows + 1))), pa.py_buffer(b""))
    batch, file = pa.record_batch([column], names=["c0"]), io.BytesIO()
    with ipc.new_stream(file, batch.schema, options=ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_batch(batch)
    return file.getvalue()


def test_nothing_that_comes_back_is_unpacked() -> None:
    """Ninety kilobytes became five gigabytes of the server's own memory: cells that were compressed."""
    rows = 1_000_000
    made = packed(rows)
    assert len(made) < 8 * rows / 100
    before = pa.total_allocated_bytes()
    kept = ipc.open_stream(made).read_all()
    assert pa.total_allocated_bytes() - before > 7 * rows, "else this would show nothing"
    del kept
    assert taken_by(lambda: refused(of_one(made, rows))) < rows


def test_a_table_that_comes_back_takes_no_memory_of_its_own() -> None:
    rows = 200_000
    large = table_of(b"a,b\n" + b"word,another\n" * rows, Choices(), lambda *_: None)
    made = written(large)
    got: list[Tabulated] = []
    file = io.BytesIO(made)
    told = crossing.taken(file)
    there = file.getvalue()
    assert taken_by(lambda: got.append(crossing.read(there, told))) < len(made) / 2
    pd.testing.assert_frame_equal(got[0].frame, large.frame)
    assert got[0].kept == len(there) > 2 * 8 * rows


def taken_by(work: Callable[[], Any]) -> int:
    """Bytes that Python and Arrow took at most, or for good."""
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return max(most, pa.total_allocated_bytes() - before)


@pytest.mark.parametrize("told", [b"[%s0]", b'{"names":[%s0]}'])
def test_what_is_told_is_counted_before_it_is_taken_apart(told: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each list in a list takes thirty times the bytes that it is written in."""
    made = told % (b"[]," * (bounds.MOST_TOLD // 16))
    taken = taken_by(lambda: refused(beside(made)))
    assert taken < 4 * len(made)
    monkeypatch.setattr(bounds, "MOST_TOLD_APART", math.inf)
    assert taken_by(lambda: refused(beside(made))) > 15 * len(made)


@pytest.mark.thorough
def test_all_that_readers_of_ours_hand_over_is_taken() -> None:
    """Files of all kinds: no name, number or sentence of theirs is taken for another's."""
    taken = 0
    for case in LIGHT:
        try:
            here = read_table(case.make())
            found = crossed(case.make())
        except UnreadableFile:
            continue
        pd.testing.assert_frame_equal(found.frame, here.frame)
        assert found.lines.tolist() == here.lines.tolist()
        taken += 1
    assert taken > 100


def crossed(data: bytes) -> Tabulated:
    return read_back(written(table_of(data, Choices(), lambda *_: None)))
