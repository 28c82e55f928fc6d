"""One missing number makes a program write all others of its column in another way: no other row says anything else."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sqlalchemy import NullPool, Select, String, column, create_engine, select, table
from sqlalchemy.dialects import sqlite

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows, ReadAsMissing, plain_words, read_table
from dpcore.datasets.conversion import apply
from dpcore.datasets.in_place import Form, PrivateSource, open_database, open_folder, open_lines
from dpcore.datasets.in_place.database import _plain
from dpcore.datasets.in_place.tongue import DUCKDB, TONGUES, DuckDB, Kind, Tongue
from dpcore.datasets.numerals import integers
from dpcore.datasets.plain_words import is_plain, place, places, plain, plainly, told_by
from dpcore.datasets.schema import Schema
from tests.datasets.whole_numbers import WRITTEN

WHO = Column(name="who", type="text")
CODE = Column(name="code", type="category", categories=("1", "2", "3"))
SICK = Column(name="sick", type="yes/no")
AMOUNT = Column(name="amount", type="number", low=0, high=10, missing_words=("", "9"))
ONE = Declaration(columns=(WHO, CODE, SICK, AMOUNT), id_column="who", rows_per_person=1)
WORDS = ["1", "1.0", "1.00", "10", "-1.0", "--1.0", ".0", "-.0", "0.0", "1.10", "x1.0", "1.0x", "1,0", "1,00", "1,000"]
WORDS += [
    "1.000",
    "1..0",
    "1.,0",
    "1-1.0",
    "1e5.0",
    "é.0",
    "000",
    "5..",
    "+1.0",
    "1.0E7x",
    "x1.0E7",
    "1.e7",
    ".5E1",
    "1E",
    "E7",
    "00E1",
    "1.0E7\n",
    "",
    "12.0 ",
    "1.0\n",
]
NUMBERS = (0, 1, -20, 100_000, 12_340_000, 12_345_678, 3 * 10**16, 2**60)
SPELLED = {write(number): str(number) for write in WRITTEN.values() for number in NUMBERS}
PLAIN = {
    **{word: said for word, said in SPELLED.items() if word != said},
    **dict.fromkeys(("1.0", "1.00", "1.000", "1,0", "1,00", "true", "True", "TRUE", "1e+00", "1.0e+00", "1E+0"), "1"),
    **dict.fromkeys(("0.0", "false", "False", "FALSE", "0e+00", "0E+300", "0e5",
                    "0.000E-019", "-0E-7", "-0", "-0.0"), "0"),
    **dict.fromkeys(("1e-05", "1E-5", "1.0e-5", "1.00E-05", "1.0E-005", "0.1E-04"), "0.00001"),
    **{"-1.5e-06": "-0.0000015", "1,5e-05": "0,000015", "1.0E-3": "0.001", "1.5e+00": "1.5", "-2.5E-1": "-0.25"},
    **{"1.23456785E7": "12345678.5", "1.2345678901234567890E-3": "0.001234567890123456789"},
    **{f"{sign}{word}": sign + said for sign in ("", "-") for word, said in {
        "9e+18": "9" + 18 * "0", "9.3e+18": "93" + 17 * "0", "1e+19": "1" + 19 * "0", "1.25E23": "125" + 21 * "0",
        "1e99": "1" + 99 * "0", "1e+099": "1" + 99 * "0", "1e300": "1" + 300 * "0", "0.1E+20": "1" + 19 * "0",
        "1.7976931348623157e+308": "17976931348623157" + 292 * "0", "5e-324": f"0.{323 * '0'}5",
        "1E-300": f"0.{299 * '0'}1"}.items()},
    **dict.fromkeys(("3.0000000000000016e+16", "3,0000000000000016E+16"), "30000000000000016"),
    **dict.fromkeys(("1.152921504606847e+18", "1,152921504606847e+18"), str(2**60)),
    **dict.fromkeys(("1.2345678E7", "1.2345678e7", "1.2345678e+7", "1.2345678E+007", "1,2345678E7", "0.12345678E+08"),
                    "12345678"),
    **dict.fromkeys(("1e16", "1E16", "1.0E16"), "1" + 16 * "0"),
    **{"5.": "5", "1e5": "100000", "1e+5": "100000"},
    **{"-1.0": "-1", "-3e+16": "-30000000000000000", "8e+18": "8" + 18 * "0", "1.5e+01": "15"},
    **{f"2024-01-31{end}": "2024-01-31" for end in (" 00:00:00", "T00:00:00", " 00:00:00.000", "t00:00:00.0")},
    **dict.fromkeys(("1 days 00:00:00", "1 days 00:00:00.000000", "1 days +00:00:00"), "1 days"),
    "-1 days +00:00:00": "-1 days",
    "1 days 10:30:00.000": "1 days 10:30:00",
    **{f"2024-01-31 {clock}.{some}{none}{zone}": f"2024-01-31 {clock}{'.' if some else ''}{some}{zone}"
       for clock in ("10:30:00", "10:30:20") for some in ("", "25", "05") for none in ("0", "000")
       for zone in ("", "Z", "+01:00", "-03:30", "+00", "-03", "+0530")},
}  # fmt: skip
AS_THEY_ARE = [
    "tRUE",
    "trueish",
    "yes",
    "1e999",
    "1e999999999",
    "1e309",
    "1e-325",
    "1E-999999999",
    "1e-",
    "12e-5",
    "12e+05",
    "12e4",
    "1e04",
    "0.01e5",
    "-0,001E-05",
    "12345678E-0",
    "1.50",
    "0.00001",
    "-1,5",
]
AS_THEY_ARE += ["2024-01-31", "2024-01-31 10:30:00", "2024-01-31 10:30:00.25", "2024-01-31 00:00:00Z", "10:30:00.0"]
AS_THEY_ARE += ["007.0", "00.0", "-01.0", "01,0", "00,00", "01,00"]
AS_THEY_ARE += ["2024-01-31 00:00", "2024-1-31 00:00:00", "31.01.2024 00:00:00", "1 days", "2 days 00:00", "00:00:00"]

WORDS += [*PLAIN, *AS_THEY_ARE]


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def visits(*, gap: bool, numbers: int = 0) -> pd.DataFrame:
    """Three visits each of forty people, whose ``numbers`` begin here; with ``gap`` one row more, of nobody and without
    a number."""
    rows = np.arange(120)
    who = numbers + max(numbers // 10**9, 1) * (rows // 3)
    cells = {"who": who, "code": rows % 3 % 2 + 1, "sick": (rows % 5 == 0) * 1, "amount": rows % 4 + 6}
    more = pd.DataFrame({name: [None] for name in cells}, dtype="object")
    frame = pd.DataFrame(cells)
    return pd.concat([frame, more.astype("float64")], ignore_index=True) if gap else frame


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


def in_lines(frame: pd.DataFrame, folder: Path, sick: Kind = "text", decimal: str = ".") -> PrivateRows:
    frame.to_csv(folder / "a.csv", index=False, sep=";")
    columns: tuple[tuple[str, Kind], ...] = (("who", "text"), ("code", "text"), ("sick", sick), ("amount", "number"))
    form = Form(columns=columns, delimiter=";", decimal=decimal)
    return PrivateSource(lambda: open_lines(folder, form))


def in_lines_of_numbers(frame: pd.DataFrame, folder: Path) -> PrivateRows:
    return in_lines(frame, folder, "yes/no", ",")


def in_sqlite(frame: pd.DataFrame, folder: Path) -> PrivateRows:
    with closing(sqlite3.connect(folder / "a.db")) as made, made:
        frame.to_sql("t", made, index=False)
    return PrivateSource(lambda: open_database(f"sqlite:///{folder / 'a.db'}", "t"))


def said(private: PrivateRows) -> list[list[float]]:
    values, sizes = private.opened(ONE.reads("amount")).number_counts("amount", unit=1.0)
    counted = [private.opened(ONE.reads(name)).counts(name).tolist() for name in ("code", "sick")]
    return [*counted, values.tolist(), sizes.tolist()]


def with_a_gap_and_without(
    make: Callable[[pd.DataFrame, Path], PrivateRows], folder: Path, numbers: int
) -> Iterator[list[list[float]]]:
    for gap in (False, True):
        place = folder / str(gap)
        place.mkdir()
        yield said(make(visits(gap=gap, numbers=numbers), place))


@pytest.mark.parametrize("numbers", [0, 3 * 10**16])
@pytest.mark.parametrize(
    "make",
    [*(in_bytes(way) for way in ("to_csv", "to_parquet", "to_feather", "to_excel", "to_json")),
     with_decimal_comma, in_folder, in_lines, in_lines_of_numbers, in_sqlite],
    ids=["csv", "parquet", "feather", "excel", "json", "comma", "folder", "lines", "lines of numbers", "sqlite"],
)  # fmt: skip
def test_a_row_without_numbers_moves_no_other(
    make: Callable[[pd.DataFrame, Path], PrivateRows], numbers: int, tmp_path: Path
) -> None:
    here, there = with_a_gap_and_without(make, tmp_path, numbers)
    assert here == there
    assert [sum(here[0]), sum(here[1])] == [40, 40]
    assert sum(here[3]) > 20


def test_so_it_is_in_stata(tmp_path: Path) -> None:
    here, there = with_a_gap_and_without(in_bytes("to_stata"), tmp_path, 0)
    assert here == there


@pytest.mark.thorough
@pytest.mark.parametrize("numbers", [0, 3 * 10**16])
def test_so_it_is_in_postgresql(server: PrivateServer, numbers: int, tmp_path: Path) -> None:
    def make(frame: pd.DataFrame, _: Path) -> PrivateRows:
        address = server.new_schema()
        frame.to_sql("t", create_engine(address, poolclass=NullPool), index=False)
        return PrivateSource(lambda: open_database(address, "t"))

    here, there = with_a_gap_and_without(make, tmp_path, numbers)
    assert here == there


def test_rows_known_by_how_they_are_written_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plain_words, "plainly", lambda text: text)
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


@pytest.mark.parametrize("language", WRITTEN)
def test_a_whole_number_is_one_word_in_every_language(language: str) -> None:
    words = [WRITTEN[language](number) for number in NUMBERS]
    cells = pd.Series(words, dtype="str")
    assert [plain(word) for word in words] == plainly(cells).tolist() == list(map(str, NUMBERS))
    assert integers(cells, ".")[0].tolist() == integers(cells, ",")[0].tolist() == list(NUMBERS)
    assert plain(WRITTEN[language](1_234.5)) not in map(str, range(10_000))


def test_every_engine_takes_the_same_off() -> None:
    expected = [plain(word) for word in WORDS]
    assert {word: now for word, now in zip(WORDS, expected, strict=True) if word != now} == PLAIN
    assert plainly(pd.Series(WORDS, dtype="str")).tolist() == expected
    assert all(map(is_plain, set(PLAIN.values())))
    for tongue, dialect, made in (
        (TONGUES["sqlite"], sqlite.dialect(), sqlite3.connect(":memory:")),
        (DUCKDB, DuckDB(), duckdb.connect()),
    ):
        with closing(made):
            if isinstance(made, sqlite3.Connection):
                made.create_function("plain_word", 1, _plain)
            made.execute("CREATE TABLE t (nth INTEGER, word TEXT)")
            made.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(WORDS)))
            written = str(plain_of_all(tongue).compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
            assert [found for (found,) in made.execute(written).fetchall()] == expected


@pytest.mark.thorough
def test_postgresql_takes_them_off_too(server: PrivateServer) -> None:
    with create_engine(server.new_schema(), poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (nth INTEGER, word TEXT)")
        connection.exec_driver_sql("INSERT INTO t VALUES (%s, %s)", list(enumerate(WORDS)))
        found = connection.execute(plain_of_all(TONGUES["postgresql"])).fetchall()
    assert [word for (word,) in found] == list(map(plain, WORDS))


def plain_of_all(tongue: Tongue) -> Select[Any]:
    texts = table("t", column("nth"), column("word", String()))
    return select(tongue.plain(texts.c.word)).order_by(texts.c.nth)


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
