"""A number is one word, however its column is typed and its program writes it: in every kind of file and source, and
among the words that are declared."""

from __future__ import annotations

import io
import json
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows, ReadAsMissing, plain_words, read_table
from dpcore.datasets.guessing import numerals as guessed
from dpcore.datasets.in_place import (
    Form,
    PrivateSource,
    database,
    open_database,
    open_folder,
    open_lines,
    tongue,
)
from dpcore.datasets.plain_words import is_plain, plain, plainly
from dpcore.releases.count import NoisyCount

VALUES = (1e-5, -1.5e-6, 0.1, 0.00025, 1e-300, 5e-324, -1e20, 1.25e23, 1e300, 7.0, 12345.5, float(2**60), -0.0)
"""Of which one row more makes a program write the others in another way."""
WARDS = ("a", "b", "c")
ROWS = [(value, WARDS[row % 3]) for value in VALUES for row in range(3)]


def fixed(value: float) -> str:
    """Without an exponent, by another way than the product's; a whole number below 2⁶³ is the double's own."""
    if value == int(value) and abs(value) < 2**63:
        return str(int(value))
    return np.format_float_positional(value, trim="-")


def scientific(value: float, sign: str = "e", least: int = 2) -> str:
    """With an exponent of at least so many digits."""
    digits, exponent = np.format_float_scientific(value, trim="-", exp_digits=1).split("e")
    return f"{digits}{sign}{exponent[0]}{exponent[1:]:0>{least}}"


SPELLINGS: dict[str, Callable[[float], str]] = {
    "Python": repr,
    "fixed": fixed,
    "C": scientific,
    "C on Windows": lambda value: scientific(value, "E", 3),
    "Java": lambda value: scientific(value, "E", 1).replace("+", "").replace("E", "E" if "." in repr(value) else ".0E"),
    "zeros": lambda value: scientific(value, "E", 2).replace("E", "0E" if "." in scientific(value) else ".00E"),
}


def in_text(spelling: str) -> Callable[[Path], PrivateRows]:
    def rows(_: Path) -> PrivateRows:
        return read_table(lines_of(SPELLINGS[spelling])).private

    return rows


def lines_of(write: Callable[[float], str]) -> bytes:
    return "".join(["c,ward\n", *(f"{write(value)},{ward}\n" for value, ward in ROWS)]).encode()


def in_lines(spelling: str) -> Callable[[Path], PrivateRows]:
    def rows(folder: Path) -> PrivateRows:
        (folder / "a.csv").write_bytes(lines_of(SPELLINGS[spelling]))
        form = Form(columns=(("c", "text"), ("ward", "text")))
        return PrivateSource(lambda: open_lines(folder, form))

    return rows


def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["c", "ward"])


def in_bytes(write: str, **how: Any) -> Callable[[Path], PrivateRows]:
    def rows(_: Path) -> PrivateRows:
        made = io.BytesIO()
        getattr(frame(), write)(made, **how)
        return read_table(made.getvalue()).private

    return rows


def in_folder(folder: Path) -> PrivateRows:
    pq.write_table(pa.Table.from_pandas(frame()), folder / "a.parquet")
    return PrivateSource(lambda: open_folder(folder))


def beside_texts_of_numbers(folder: Path) -> PrivateRows:
    """Of doubles in one file, of decimals in another."""
    made = frame()
    few = made["c"].isin([1e-5, 7.0, 12345.5, 0.1])
    pq.write_table(pa.Table.from_pandas(made[~few], preserve_index=False), folder / "a.parquet")
    cells = pa.array([Decimal(repr(value)) for value in made["c"][few]]).cast(pa.decimal128(30, 12))
    pq.write_table(pa.table({"c": cells, "ward": made["ward"][few].tolist()}), folder / "b.parquet")
    return PrivateSource(lambda: open_folder(folder))


def in_duckdb(folder: Path) -> PrivateRows:
    with duckdb.connect(str(folder / "a.duckdb")) as made:
        made.from_df(frame()).create("t")
    return PrivateSource(lambda: open_database(f"duckdb:///{folder / 'a.duckdb'}", "t"))


def in_sqlite(folder: Path) -> PrivateRows:
    with closing(sqlite3.connect(folder / "a.db")) as made, made:
        frame().to_sql("t", made, index=False)
    return PrivateSource(lambda: open_database(f"sqlite:///{folder / 'a.db'}", "t"))


def texts_in_sqlite(folder: Path) -> PrivateRows:
    with closing(sqlite3.connect(folder / "a.db")) as made, made:
        frame().assign(c=frame()["c"].map(scientific)).to_sql("t", made, index=False)
    return PrivateSource(lambda: open_database(f"sqlite:///{folder / 'a.db'}", "t"))


HOMES: dict[str, Callable[[Path], PrivateRows]] = {
    **{f"text as {spelling}": in_text(spelling) for spelling in SPELLINGS},
    **{f"lines as {spelling}": in_lines(spelling) for spelling in SPELLINGS},
    "json": lambda _: (
        read_table(json.dumps([dict(zip(("c", "ward"), row, strict=True)) for row in ROWS]).encode()).private
    ),
    "sheet": in_bytes("to_excel", index=False),
    "parquet": in_bytes("to_parquet"),
    "feather": in_bytes("to_feather"),
    "folder": in_folder,
    "folder of two": beside_texts_of_numbers,
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
    "texts in sqlite": texts_in_sqlite,
}


def declared(spelling: str) -> Iterator[Column]:
    words = tuple(map(SPELLINGS[spelling], VALUES))
    yield Column(name="c", type="category", categories=words)
    small = tuple(word.lower() for word in words)
    yield Column(name="c", type="yes/no", yes_words=small[::2], no_words=small[1::2])
    yield Column(name="c", type="category", categories=words, missing_words=("", *small[:4]))


def said(rows: PrivateRows, spelling: str) -> list[list[int]]:
    opened = [rows.opened(Declaration(columns=(column,)).reads("c")).counts("c") for column in declared(spelling)]
    whose = Column(name="c", type="text", missing_words=("", SPELLINGS[spelling](7.0), SPELLINGS[spelling](1e-5)))
    people = Declaration(columns=(whose,), id_column="c", rows_per_person=1)
    return [*(each.tolist() for each in opened), [NoisyCount.of(people, epsilon=1.0).read(rows)]]


EXPECTED = [[3] * 13, [18, 21], [0] * 4 + [3] * 9, [13 - 2]]


@pytest.mark.thorough
@pytest.mark.parametrize("home", HOMES)
def test_a_number_is_one_word_in_every_reader(home: str, tmp_path: Path) -> None:
    rows = HOMES[home](tmp_path)
    for spelling in ("fixed", "Java", "zeros"):
        assert said(rows, spelling) == EXPECTED, spelling


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


@pytest.mark.thorough
@pytest.mark.parametrize("texts", [False, True])
def test_so_it_is_in_postgresql(server: PrivateServer, texts: bool) -> None:
    address, made = server.new_schema(), frame()
    if texts:
        made["c"] = made["c"].map(SPELLINGS["C on Windows"])
    made.to_sql("t", create_engine(address, poolclass=NullPool), index=False)
    rows = PrivateSource(lambda: open_database(address, "t"))
    for spelling in SPELLINGS:
        assert said(rows, spelling) == EXPECTED, spelling


NO_NUMBERS = ("1e999999999", "1e-999999999", "1e309", "1E-325", "-1e400", "12e-5", "1e-", "e-05", "1.e-05", "1e--5")


def test_what_is_no_double_stays_as_it_is() -> None:
    """And makes no zeros: of 1e999999999 that would be a gigabyte."""
    assert [plain(word) for word in NO_NUMBERS] == list(NO_NUMBERS)
    assert plainly(pd.Series(NO_NUMBERS, dtype="str")).tolist() == list(NO_NUMBERS)


def test_all_spellings_are_one_word_for_a_program_too() -> None:
    for write in SPELLINGS.values():
        words = [write(value) for value in VALUES]
        assert [plain(word) for word in words] == plainly(pd.Series(words, dtype="str")).tolist()
        assert list(map(plain, words)) == [fixed(value) for value in VALUES]
    assert all(is_plain(fixed(value)) for value in VALUES)
    assert plain("1,5e-05") == "0,000015", "the decimal mark is the cell's own"
    frame = read_table(b"a,c\n1,99\n2,0.5\n").after((ReadAsMissing(column="c", word="5.0E-1"),)).frame
    assert frame["c"].tolist() == ["99", ""]


EXTREMES = (1.7976931348623157e308, -1.7976931348623157e308, 1e308, -1e308, 5e-324, -5e-324)


def warned() -> list[str]:
    """What reading numbers near the largest ones says, beside others and among what may mean "no answer"."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for some in (EXTREMES[:1], EXTREMES[1:2], EXTREMES):
            cells = [999, -99, *range(20), *some]
            read_table("".join(["c,d\n", *(f"{cell},{at}\n" for at, cell in enumerate(cells))]).encode())
            made = io.BytesIO()
            pd.DataFrame({"c": np.array(cells, dtype=float)}).to_parquet(made)
            read_table(made.getvalue())
    return [str(one.message) for one in said]


def test_a_number_near_the_largest_one_is_read_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would stand in the server's log by one cell."""
    assert warned() == []
    monkeypatch.setattr(guessed, "stands_apart", lambda value, others: value > others.max() + np.ptp(others))
    assert warned() != [], "or none would have been found"


MUTANTS: dict[str, tuple[str, object, str, object]] = {
    "exponents are letters": ("lines as C", tongue, "EXPONENT", "@"),
    "only whole numbers are one word": ("text as C", plain_words, "_written_out", lambda word: word),
    "doubles in a folder keep theirs": ("folder", tongue, "_written_out", lambda text: text),
    "a database keeps its own": ("sqlite", database, "_plain", lambda cell: str(cell).encode()),
}


@pytest.mark.thorough
@pytest.mark.parametrize("which", MUTANTS)
def test_these_tests_can_fail(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, module, name, value = MUTANTS[which]
    monkeypatch.setattr(module, name, value)
    assert said(HOMES[home](tmp_path), "fixed") != EXPECTED
