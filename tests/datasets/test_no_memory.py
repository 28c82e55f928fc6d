"""Where a library has no memory that is said, and no file is called damaged for it."""

from __future__ import annotations

import ast
import errno
import gzip
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from dpcore.datasets import UnreadableFile
from dpcore.datasets.reading import engine, kinds, no_memory
from dpcore.datasets.reading import reader as module
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.no_memory import check_memory

FRAME = pd.DataFrame({f"c{place}": ["1", "2"] for place in range(130)})
NO_ROOM = OSError(errno.ENOMEM, "Cannot allocate memory")
DAMAGED = OSError(errno.EIO, "Input/output error")


def parquet() -> bytes:
    return FRAME.to_parquet()


def arrow() -> bytes:
    file = io.BytesIO()
    FRAME.to_feather(file)
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        opened.writestr("a.csv", "a,b\n1,2\n")
    return file.getvalue()


def workbook() -> bytes:
    file = io.BytesIO()
    FRAME.iloc[:, :3].to_excel(file, index=False)
    return file.getvalue()


def labelled(tmp_path: Path) -> bytes:
    pyreadstat.write_sav(FRAME.iloc[:, :3], tmp_path / "a.sav")
    return (tmp_path / "a.sav").read_bytes()


def read(data: bytes) -> Any:
    return kinds.table_of(data, Choices(), lambda *_: None)


CASES: dict[str, tuple[Callable[[], bytes], str, Exception, Exception]] = {
    "Parquet, Arrow": (
        parquet,
        "dpcore.datasets.reading.engine.apart",
        pa.ArrowMemoryError("malloc of size 240064 failed"),
        pa.ArrowInvalid(""),
    ),
    "Parquet, the system": (parquet, "dpcore.datasets.reading.engine.apart", NO_ROOM, DAMAGED),
    "Parquet, DuckDB": (
        parquet,
        "dpcore.datasets.reading.engine._as_text",
        duckdb.OutOfMemoryException(""),
        duckdb.IOException(""),
    ),
    "Arrow": (
        arrow,
        "dpcore.datasets.reading.arrow_files.sound",
        pa.ArrowMemoryError("malloc of size 240064 failed"),
        pa.ArrowInvalid(""),
    ),
    "gzip": (lambda: gzip.compress(b"a,b\n1,2\n"), "gzip.GzipFile.read", NO_ROOM, DAMAGED),
    "zip": (archive, "zipfile.ZipFile.open", NO_ROOM, DAMAGED),
    "workbook": (workbook, "python_calamine.CalamineWorkbook.from_filelike", NO_ROOM, DAMAGED),
}


@pytest.mark.parametrize("name", CASES)
def test_a_library_without_memory_calls_no_file_damaged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file was read at one time, and called damaged at the next."""
    make, place, no_memory, damaged = CASES[name]
    data = make()
    assert len(read(data).frame)
    for failure, kind in ((no_memory, MemoryError), (damaged, UnreadableFile)):

        def fail(*_: object, failure: Exception = failure, **__: object) -> None:
            raise failure

        if "Calamine" in place:
            monkeypatch.setattr("python_calamine.CalamineWorkbook", type("Book", (), {"from_filelike": fail}))
        else:
            monkeypatch.setattr(place, fail)
        with pytest.raises(kind) as caught:
            read(data)
        assert kind is UnreadableFile or not isinstance(caught.value, pa.ArrowException)


@pytest.mark.parametrize(
    ("said", "room", "none"),
    [
        ("Unable to allocate memory", 1 << 60, True),
        ("Unable to allocate memory", 1 << 20, False),
        ("Invalid file, or unsupported", 1 << 60, False),
    ],
)
def test_what_reads_labels_says_it_in_words(
    said: str, room: int, none: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As it says a size that it never asks for, so whether there is none is asked of the system."""
    data = labelled(tmp_path)
    monkeypatch.setattr(no_memory, "_ROOM", room)

    def fail(*_: object, **__: object) -> None:
        raise pyreadstat.ReadstatError(said)

    monkeypatch.setattr(pyreadstat, "read_sav", fail)
    with pytest.raises(MemoryError if none else UnreadableFile):
        read(data)


def test_what_parses_sheets_says_it_by_a_number() -> None:
    error = expat.ExpatError("out of memory: line 1, column 0")
    error.code = expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]
    with pytest.raises(MemoryError):
        check_memory(error)
    error.code = expat.errors.codes[expat.errors.XML_ERROR_SYNTAX]
    check_memory(error)
    check_memory(zipfile.BadZipFile("allocate memory"))


ALSO_OF_MEMORY = {"pa.ArrowException", "OSError", "expat.ExpatError", "duckdb.Error", "Exception"}


def test_each_place_that_calls_a_file_damaged_asks_whether_there_was_memory() -> None:
    """But where the server opens a file of its own, and where what there is no memory for is caught before."""
    asked, others = [], []
    for path in Path(engine.__file__).parent.glob("*.py"):
        for tried in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            handlers = tried.handlers if isinstance(tried, ast.Try) else []
            for at, handler in enumerate(handlers):
                before, body = ("\n".join(map(ast.unparse, each)) for each in (handlers[:at], handler.body))
                if handler.type is None or "UnreadableFile" not in body:
                    continue
                names = set(re.findall(r"[\w.]+", ast.unparse(handler.type)))
                if names & ALSO_OF_MEMORY:
                    there = "check_memory(" in body or "OutOfMemoryException" in before
                    (asked if there else others).append(path.name)
    assert len(asked) >= 9
    assert others == [Path(module.__file__).name]


def test_a_file_is_asked_about_many_columns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each question DuckDB reads what a file says of each column in each group of rows: of 500 columns in 60 groups
    that took forty seconds where cells took three."""
    asked: list[int] = []
    together = engine._together

    def counted(cells: Any) -> Any:
        for read, some in together(cells):
            asked.append(len(some))
            yield read, some

    monkeypatch.setattr(engine, "_together", counted)
    assert read(parquet()).frame.shape == (2, 130)
    assert asked == [64, 64, 2]
    times = pa.table({"t": pa.array([1, 2], pa.time64("us")), "a": ["x", "y"], "u": pa.array([1, 2], pa.time64("us"))})
    asked.clear()
    file = io.BytesIO()
    pa.parquet.write_table(times, file)
    frame = read(file.getvalue()).frame
    assert sorted(asked) == [1, 1, 1], "those that are read by themselves"
    assert frame["a"].tolist() == ["x", "y"]
    assert frame["t"].tolist() == frame["u"].tolist() == ["00:00:00.000001", "00:00:00.000002"]
