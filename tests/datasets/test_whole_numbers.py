"""One missing number makes a program write all others of its column in another way: no other row says anything else."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sqlalchemy import String, column, select, table
from sqlalchemy.dialects import sqlite

from dpcore.datasets import Column, Declaration, PrivateRows, ReadAsMissing, read_table, whole_numbers
from dpcore.datasets.conversion import apply
from dpcore.datasets.in_place import Form, PrivateSource, open_database, open_folder, open_lines
from dpcore.datasets.in_place.database import _plain
from dpcore.datasets.in_place.tongue import DUCKDB, TONGUES, DuckDB
from dpcore.datasets.schema import Schema
from dpcore.datasets.whole_numbers import place, places, plain, plainly, told_by

WHO = Column(name="who", type="text")
CODE = Column(name="code", type="category", categories=("1", "2", "3"))
SICK = Column(name="sick", type="yes/no")
AMOUNT = Column(name="amount", type="number", low=0, high=10, missing_words=("", "9"))
ONE = Declaration(columns=(WHO, CODE, SICK, AMOUNT), id_column="who", rows_per_person=1)
WORDS = ["1", "1.0", "1.00", "10", "-1.0", "--1.0", ".0", "-.0", "0.0", "1.10", "x1.0", "1.0x", "1,0", "1,00", "1,000"]
WORDS += ["1.000", "1..0", "1.,0", "1-1.0", "1e5.0", "é.0", "000", "5.", "+1.0", "007.0", "", "12.0 ", "1.0\n"]
KEPT = {"1.0", "1.00", "1.000", "-1.0", "0.0", "1,0", "1,00", "007.0"}


def visits(*, gap: bool) -> pd.DataFrame:
    """Three visits each of forty people; with ``gap`` one row more, of nobody and without a number."""
    rows = np.arange(120)
    numbers = {"who": rows // 3, "code": rows % 3 % 2 + 1, "sick": (rows % 5 == 0) * 1, "amount": rows % 4 + 6}
    more = pd.DataFrame({name: [None] for name in numbers}, dtype="object")
    frame = pd.DataFrame(numbers)
    return pd.concat([frame, more], ignore_index=True).apply(pd.to_numeric) if gap else frame


def in_bytes(write: str) -> Callable[[pd.DataFrame, Path], PrivateRows]:
    def rows(frame: pd.DataFrame, _: Path) -> PrivateRows:
        made = io.BytesIO()
        getattr(frame, write)(made, **({"orient": "records"} if write == "to_json" else {}))
        return read_table(made.getvalue()).private

    return rows


def with_decimal_comma(frame: pd.DataFrame, _: Path) -> PrivateRows:
    return read_table(frame.to_csv(index=False, sep=";", decimal=",").encode()).private


def in_folder(frame: pd.DataFrame, folder: Path) -> PrivateRows:
    frame.to_parquet(folder / "a.parquet")
    return PrivateSource(lambda: open_folder(folder))


def in_lines(frame: pd.DataFrame, folder: Path) -> PrivateRows:
    frame.to_csv(folder / "a.csv", index=False)
    form = Form(columns=(("who", "text"), ("code", "text"), ("sick", "text"), ("amount", "number")))
    return PrivateSource(lambda: open_lines(folder, form))


def in_sqlite(frame: pd.DataFrame, folder: Path) -> PrivateRows:
    with closing(sqlite3.connect(folder / "a.db")) as made, made:
        frame.to_sql("t", made, index=False)
    return PrivateSource(lambda: open_database(f"sqlite:///{folder / 'a.db'}", "t"))


def said(private: PrivateRows) -> list[list[int]]:
    return [private.opened(ONE.reads(name)).counts(name).tolist() for name in ("code", "sick")]


@pytest.mark.parametrize(
    "make",
    [*(in_bytes(way) for way in ("to_csv", "to_parquet", "to_feather", "to_stata", "to_excel", "to_json")),
     with_decimal_comma, in_folder, in_lines, in_sqlite],
    ids=["csv", "parquet", "feather", "stata", "excel", "json", "comma", "folder", "lines", "sqlite"],
)  # fmt: skip
def test_a_row_without_numbers_moves_no_other(
    make: Callable[[pd.DataFrame, Path], PrivateRows], tmp_path: Path
) -> None:
    found = []
    for gap in (False, True):
        folder = tmp_path / str(gap)
        folder.mkdir()
        private = make(visits(gap=gap), folder)
        found.append(said(private))
        if not private.in_place and make is not with_decimal_comma:
            values = private.opened(ONE.reads("amount")).numbers("amount")
            found[-1].append(values[~np.isnan(values)].tolist())
    assert found[0] == found[1]
    assert [sum(found[0][0]), sum(found[0][1])] == [40, 40]


def test_rows_known_by_how_they_are_written_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(whole_numbers, "plainly", lambda text: text)
    here, there = (said(in_bytes("to_csv")(visits(gap=gap), tmp_path)) for gap in (False, True))
    assert here != there


def test_what_is_declared_as_it_stands_goes_first() -> None:
    """Versions are words: 1.0 and 1.10, and where both are declared 1 and 1.0, stay what they are."""
    known = told_by(("1.0", "1.10", "1.1"))
    assert [place(word, known) for word in ("1.0", "1.10", "1.1", "1", "1.00", "2")] == [0, 1, 2, 0, 0, -1]
    assert places(pd.Series(["1", "1.0", "1.00", "2.0"], dtype="str"), ("1.0", "1")).tolist() == [1, 0, 1, -1]
    both = Column(name="v", type="category", categories=("1", "1.0"))
    cells = pd.DataFrame({"v": ["1", "1.0", "1.0", "2"]}, dtype="str")
    assert apply(Schema(columns=(both,)), cells).frame["v"].cat.codes.tolist() == [0, 1, 1, -1]


def test_every_engine_takes_the_same_zeros_off() -> None:
    expected = [plain(word) for word in WORDS]
    assert {word for word, now in zip(WORDS, expected, strict=True) if word != now} == KEPT
    assert plainly(pd.Series(WORDS, dtype="str")).tolist() == expected
    texts = table("t", column("nth"), column("word", String()))
    for tongue, dialect, made in (
        (TONGUES["sqlite"], sqlite.dialect(), sqlite3.connect(":memory:")),
        (DUCKDB, DuckDB(), duckdb.connect()),
    ):
        with closing(made):
            if isinstance(made, sqlite3.Connection):
                made.create_function("without_idle_zeros", 1, _plain)
            made.execute("CREATE TABLE t (nth INTEGER, word TEXT)")
            made.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(WORDS)))
            asked = select(tongue.plain(texts.c.word)).order_by(texts.c.nth)
            written = str(asked.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
            assert [found for (found,) in made.execute(written).fetchall()] == expected


def test_a_number_has_one_text_whatever_its_column_is_made_of() -> None:
    """Of singles and doubles of one value, too; nothing is rounded."""
    for value, text in ((1.0, "1"), (-0.0, "0"), (0.5, "0.5"), (2.0**60, str(2**60)), (1.5e-7, "1.5e-07")):
        frame = pa.table({"n": pa.array([value, None], pa.float64())}).to_pandas()
        assert read_table(_feather(frame)).frame["n"].tolist() == [text, ""]
    singles, doubles = (
        read_table(_feather(pd.DataFrame({"n": np.array([0.1, 3, 123456792], np.float32).astype(kind)}))).frame["n"]
        for kind in (np.float32, np.float64)
    )
    assert singles.tolist() == doubles.tolist()
    assert [float(text) for text in singles] == [float(np.float32(0.1)), 3.0, 123456792.0]


def test_a_word_is_read_as_missing_however_it_is_written() -> None:
    step = ReadAsMissing(column="n", word="99")
    for cells in (b"n,m\n1,a\n99,b\n", b"n,m\n1.0,a\n99.0,b\n"):
        assert read_table(cells).after((step,)).frame["n"].tolist()[1] == ""


def _feather(frame: pd.DataFrame) -> bytes:
    made = io.BytesIO()
    frame.to_feather(made)
    return made.getvalue()
