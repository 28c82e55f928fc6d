"""An index of pandas is no column of a file, whatever its name, whether its cells are in the file or stated in the note
of pandas, and whatever another program did to the rows since."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpcore.datasets import Column, Schema, read_table
from dpcore.datasets.pandas_index import NOTE, Noted, noted
from dpcore.datasets.reading import arrow_files, engine
from dpcore.datasets.template import Template, fitted
from dpcore.errors import UnreadableFile
from tests.datasets.typed_files import as_feather, as_parquet, as_stream

pytestmark = [
    pytest.mark.usefixtures("one_connection"),
    pytest.mark.filterwarnings("ignore:The DataFrame has"),
]
ROWS = 4
WHOLE = pd.DataFrame({"age": [40.0, 20, 30, 10], "5": list("abca"), "C1": [1, 2, 3, 4]})
LESS = {"whole": WHOLE, **{f"without row {row}": WHOLE.drop(row) for row in range(ROWS)}}
NAMES: list[Hashable] = [
    *(None, "", "patient", "age", "AGE", 5, 1.5, b"x", b"C1", "a\0b", ("a", 5), "__index_level_0__"),
    *("year", "YEAR", "filename", "file_row_number", "rowid", "q\"u'o", "x" * 300, "/0"),
]
NUMBERS = [3, 1, 4, 1, 5]


def levels(*cells: list[Any], names: list[Hashable]) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays(cells, names=names)


INDEXES: dict[str, Callable[[int], pd.Index]] = {
    "words": lambda rows: pd.Index([f"p{row}" for row in range(rows)], name="patient"),
    "words and bytes": lambda rows: pd.Index(["p", b"\xff", b"q", "r", "s"][:rows], name="patient"),
    "days": lambda rows: pd.date_range("2024-01-01", periods=rows, name="5"),
    "spans": lambda rows: pd.timedelta_range("1h", periods=rows, name=5),
    "intervals": lambda rows: pd.interval_range(0, rows, name="patient"),
    "decimals": lambda rows: pd.Index(np.arange(rows) / 2, name="age"),
    "two": lambda rows: levels(NUMBERS[:rows], list("abcde")[:rows], names=["patient", None]),
    "two of one name": lambda rows: levels(NUMBERS[:rows], NUMBERS[:rows], names=["patient", "patient"]),
    "two that are written alike": lambda rows: levels(NUMBERS[:rows], NUMBERS[:rows], names=[5, "x"]),
}
DONE: dict[str, Callable[[pa.Table], pa.Table]] = {
    "as written": lambda table: table,
    "sorted": lambda table: table.sort_by("age"),
    "filtered": lambda table: table.filter(pc.field("age") < 35),
    "sliced": lambda table: table.slice(1),
    "joined": lambda table: pa.concat_tables([table, table.slice(0, 1)]),
    "columns in order of their names": lambda table: table.select(
        sorted(range(table.num_columns), key=table.column_names.__getitem__)
    ),
    "one column more": lambda table: table.append_column("more", pa.array(["m"] * table.num_rows)),
}
Write = Callable[[pa.Table], bytes]


WRITERS: list[Write] = [as_parquet, as_feather, as_stream]


def indexed(frame: pd.DataFrame, name: Hashable) -> pd.DataFrame:
    """The rows of ``WHOLE`` that are left, as pandas numbers them."""
    return frame.rename_axis(index=name) if not isinstance(name, tuple) else frame.set_axis(frame.index.rename(name))


def without(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()


def read(table: pa.Table, write: Write) -> tuple[list[str], list[list[str]]]:
    found = read_table(write(table))
    return list(found.frame.columns), found.frame.to_numpy().tolist()


@cache
def expected(less: str, done: str, write: Write) -> tuple[list[str], list[list[str]]]:
    return read(DONE[done](without(LESS[less])), write)


@pytest.mark.thorough
@pytest.mark.parametrize("done", DONE)
@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:20])
def test_a_file_reads_as_without_it_whichever_row_is_left_out(name: Hashable, done: str) -> None:
    for less, frame in LESS.items():
        table = DONE[done](pa.Table.from_pandas(indexed(frame, name)))
        for write in WRITERS:
            assert read(table, write) == expected(less, done, write), (less, write)
    held = pa.Table.from_pandas(indexed(LESS["without row 1"], name))
    assert held.num_columns == 4, "its cells are in the file"


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("done", ["as written", "columns in order of their names"])
def test_so_it_is_with_an_index_of_any_kind(index: str, done: str) -> None:
    for less in ("whole", "without row 1"):
        frame = LESS[less]
        table = DONE[done](pa.Table.from_pandas(frame.set_axis(INDEXES[index](len(frame)))))
        for write in WRITERS:
            assert read(table, write) == expected(less, done, write)


def test_a_reader_that_keeps_it_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Noted(names=(), held=(), fields=(), levels=0)
    for home, write in ((engine, as_parquet), (arrow_files, as_feather)):
        with monkeypatch.context() as patched:
            patched.setattr(home, "noted", lambda _: nothing)
            for index in ("words", "spans", "two"):
                table = pa.Table.from_pandas(WHOLE.set_axis(INDEXES[index](ROWS)))
                columns = read(table, write)[0]
                assert columns != expected("whole", "as written", write)[0]


def of_patients(table: pa.Table) -> pa.Array:
    """A column that somebody else puts into a table: each row's own, whichever rows are left out."""
    return pa.array([f"q{row}" for row in table.column("age").to_pylist()])


def without_patients(table: pa.Table) -> pa.Table:
    return table.drop_columns(["patient"]) if "patient" in table.column_names else table


def after_another(table: pa.Table) -> pa.Table:
    """Behind rows whose index pandas only stated, so that the note of both does too."""
    first = pa.Table.from_pandas(WHOLE.rename_axis(index="patient"))
    return pa.concat_tables([first, table], promote_options="default")


CALLED_SO: dict[str, Callable[[pa.Table], pa.Table]] = {
    "behind": lambda table: table.append_column("patient", of_patients(table)),
    "before": lambda table: table.add_column(0, "patient", of_patients(table)),
    "in place of a column": lambda table: table.set_column(1, "patient", of_patients(table)),
    "in place of the index": lambda table: without_patients(table).append_column("patient", of_patients(table)),
    "of another file": after_another,
    "before others": lambda table: pa.concat_tables(
        [table, pa.Table.from_pandas(WHOLE.drop(1).rename_axis(index="patient"))], promote_options="default"
    ),
}


@pytest.mark.parametrize("done", CALLED_SO)
def test_no_column_is_taken_for_it_nor_it_for_a_column(done: str) -> None:
    """What is called as the index is no column, wherever it is from and whichever row is left out."""
    tables = {
        less: CALLED_SO[done](pa.Table.from_pandas(frame.rename_axis(index="patient"))) for less, frame in LESS.items()
    }
    for write in WRITERS:
        found = {less: read(table, write) for less, table in tables.items()}
        names, whole = found.pop("whole")
        assert "patient" not in names
        for columns, rows in found.values():
            assert columns == names
            assert all(row in whole for row in rows)


def test_so_many_as_the_file_had_besides_stay() -> None:
    told = Noted(levels=2, names=("a", "b"), held=("a", "__index_level_1__"), fields=("a", "b", "c", "a"))
    assert told.columns(["a", "b", "c", "a", "__index_level_1__", "b", "d"]) == [0, 1, 2, 6]


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_of_nothing_else_is_refused_alike(write: Write) -> None:
    said = set()
    for name in (None, "patient", "", 5):
        for less in ("whole", "without row 1"):
            with pytest.raises(UnreadableFile) as caught:
                read_table(write(pa.Table.from_pandas(indexed(LESS[less], name)[[]])))
            said.add(str(caught.value))
    assert said == {"The file has no column but an index of pandas; write it anew after reset_index()."}


@pytest.mark.thorough
@pytest.mark.parametrize("write", WRITERS)
def test_which_one_was_left_out_is_said_alike_whether_or_not_the_file_holds_it(write: Write) -> None:
    for name in NAMES:
        said = [
            [(notice.sentence, notice.columns) for notice in read_table(write(table)).report.notices]
            for table in (pa.Table.from_pandas(indexed(frame, name)) for frame in LESS.values())
        ]
        assert all(one == said[0] for one in said), name
        assert (said[0] == []) == (name is None)
    (notice,) = read_table(write(pa.Table.from_pandas(WHOLE.rename_axis(index="patient")))).report.notices
    assert notice.columns == ("patient",)
    assert "reset_index()" in notice.sentence


def note(**stated: object) -> bytes:
    return json.dumps({"columns": [], **stated}).encode()


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"no JSON",
        b"[" * 100_000,
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b'{"index_columns": ' + b"9" * 10_000 + b"}",
        note(index_columns=5),
        note(index_columns="age"),
        note(index_columns={"age": 1}),
        note(index_columns=[None, 5, ["age"], {"kind": "range"}, {"name": {}}]),
        note(index_columns=["none of them", "Age", "age "]),
    ],
)
def test_a_note_that_names_no_column_leaves_none_out(told: bytes) -> None:
    table = without(WHOLE).replace_schema_metadata({NOTE: told})
    for write in WRITERS:
        assert read(table, write) == expected("whole", "as written", write)


def test_a_note_leaves_out_what_it_names() -> None:
    for columns in ([], 5, [5], [{"field_name": []}], [{"field_name": "age"}], None):
        told = json.dumps({"index_columns": [5, "age"], "columns": columns}).encode()
        assert noted(told).columns(["age", "5", "C1"]) == [1, 2]
    assert noted(b'{"index_columns": ["age"]}').columns(["age", "5", "C1"]) == [1, 2]


def test_a_declaration_that_names_it_lacks_a_column_alike() -> None:
    columns = (Column(name="patient", type="integer", low=0, high=9), Column(name="age", type="number", low=0, high=99))
    for frame in LESS.values():
        found = read_table(as_parquet(pa.Table.from_pandas(frame.rename_axis(index="patient"))))
        assert fitted(Template(schema=Schema(columns=columns)), found).lacking == ("patient",)


def test_without_its_note_a_named_one_is_a_column_as_any_other() -> None:
    """Nothing tells it then: pyarrow's ``Table.join`` drops the note, and other programs write none."""
    held = pa.Table.from_pandas(LESS["without row 1"].rename_axis(index="patient"))
    beside = pa.table({"age": [40.0, 30, 10], "more": [1, 2, 3]})
    joined = held.join(beside, "age")
    assert NOTE not in (joined.schema.metadata or {})
    assert "patient" in read(joined, as_parquet)[0]
