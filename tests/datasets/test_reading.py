"""Choices, progress, cancelling, privacy of the work folder, keys and fingerprints, near-duplicates."""

from __future__ import annotations

import io
import tempfile
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from dpcore.datasets import (
    Reading,
    ReadingCancelled,
    UnreadableFile,
    read_csv,
    read_pasted,
    read_table,
)
from dpcore.datasets.at_once import at_once
from dpcore.datasets.reading import decoding, engine
from dpcore.errors import InvalidArgument

SMALL = b"name,age,ill\nAnn,31,yes\nBob,45,no\nCy,27,yes\n"


def people(rows: int) -> str:
    rng = np.random.Generator(np.random.PCG64(5))
    ages, wards = rng.integers(0, 100, rows), rng.integers(0, 20, rows)
    return "number,age,ward\n" + "".join(f"{i},{a},W{w}\n" for i, (a, w) in enumerate(zip(ages, wards, strict=True)))


@pytest.mark.parametrize(
    ("choices", "argument"),
    [
        ({"delimiter": ";;"}, "delimiter"),
        ({"delimiter": "§"}, "delimiter"),
        ({"encoding": "klingon"}, "encoding"),
        ({"quote": "x"}, "quote"),
        ({"header_rows": 3}, "header_rows"),
        ({"header_line": 0}, "header_line"),
        ({"decimal": ";"}, "decimal"),
        ({"date_order": "ydm"}, "date_order"),
        ({"uneven": "drop"}, "uneven"),
    ],
)
def test_a_choice_that_is_none_is_refused_by_name(choices: dict[str, object], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_csv(SMALL, **choices)  # type: ignore[arg-type]
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("data", "choices", "said"),
    [
        (b"a,b\n", {"header_rows": 2}, "only one line where two"),
        (b"a,b\n1,2\n", {"header_rows": 2, "header_line": 2}, "only one line where two"),
        (b"a,b\n1,2\n", {"header_line": 3}, "from 1 to 2"),
        (b"a,b\n1,2\n", {"header_line": 10**6, "header_rows": 0}, "from 1 to 2"),
    ],
)
def test_a_heading_where_there_is_none_is_refused_in_a_sentence(data: bytes, choices: dict, said: str) -> None:
    with pytest.raises(UnreadableFile, match=said):
        read_csv(data, **choices)


def test_choices_override_guesses() -> None:
    assert len(read_csv(SMALL, header_rows=0).frame) == 4
    assert read_csv(SMALL, header_rows=2).frame.shape == (2, 3)
    assert read_csv(SMALL, header_line=2, header_rows=1).frame.columns.tolist() == ["Ann", "31", "yes"]
    assert read_csv(SMALL, delimiter="").frame.columns.tolist() == ["name,age,ill"]
    assert read_csv(b"a,b\n1,2\nTotal,2\n", keep_footer=True).frame.shape == (2, 2)
    assert read_csv(b"a,b\n1,2\n3,4,5\n6,7\n", uneven="set aside").frame.shape == (2, 2)
    assert read_csv("größe\n1\n".encode("cp850"), encoding="cp850").frame.columns.tolist() == ["größe"]
    assert read_csv(b"a;b\n'x;y';2\n", quote="'").frame.iloc[0].tolist() == ["x;y", "2"]
    assert read_csv(b'a;b\n"x;2\n', quote="").frame.iloc[0].tolist() == ['"x', "2"]
    dates = b"when,x\n01/02/2024,1\n03/04/2024,2\n"
    assert read_csv(dates, date_order="mdy").column("when").suggestion.date_order == "mdy"
    assert read_csv(dates, date_order="mdy").column("when").certain
    assert read_csv(b"x;k\n1.234;a\n2.345;b\n", decimal=",").column("x").suggestion.decimal == ","


def test_sources_are_bytes_paths_and_files(tmp_path: Path) -> None:
    """A path with a name made to mislead is a path like any other; only the content counts."""
    place = tmp_path / "..%2f..%2fpasswd; rm -rf *.xlsx"
    place.write_bytes(SMALL)
    readings = [read_csv(source) for source in (SMALL, place, str(place), io.BytesIO(SMALL), bytearray(SMALL))]
    assert len({reading.key for reading in readings}) == 1
    with pytest.raises(UnreadableFile, match="no file at that place"):
        read_csv(tmp_path / "absent.csv")
    with pytest.raises(UnreadableFile, match="no file at that place"):
        read_csv(tmp_path)
    with pytest.raises(InvalidArgument, match="binary mode"):
        read_csv(io.StringIO("a,b\n1,2\n"))  # type: ignore[arg-type]


def test_parquet_reads_as_text() -> None:
    file = io.BytesIO()
    frame = pd.DataFrame({"x": [1.5, None], "n": [1, 2], "w": ["a", None], "d": pd.to_datetime(["2024-01-31", None])})
    frame.to_parquet(file)
    reading = read_csv(file.getvalue())
    assert reading.frame.iloc[0].tolist() == ["1.5", "1", "a", "2024-01-31 00:00:00"]
    assert reading.frame.iloc[1].tolist() == ["", "2", "", ""]
    assert [column.type for column in reading.columns] == ["number", "integer", "category", "date"]
    with pytest.raises(UnreadableFile, match="breaks off"):
        read_csv(file.getvalue()[:-4])
    with pytest.raises(UnreadableFile, match="damaged"):
        read_csv(file.getvalue()[:40] + b"PAR1")
    nested = io.BytesIO()
    pd.DataFrame({"x": [[1, 2], [3]]}).to_parquet(nested)
    reading = read_csv(nested.getvalue())
    assert reading.frame["x"].tolist() == ["", ""]
    assert [notice.columns for notice in reading.report.notices] == [("x",)]


def test_progress_rises_and_cancelling_stops() -> None:
    seen: list[float] = []
    read_csv(people(1000).encode(), progress=lambda fraction, what: seen.append(fraction))
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert seen == sorted(seen)
    for steps in (0, 2, len(seen) - 1):
        calls = iter([False] * steps + [True] * 1000)
        with pytest.raises(ReadingCancelled):
            read_csv(people(1000).encode(), cancel=lambda calls=calls: next(calls))


def test_waiting_for_a_column_can_be_given_up() -> None:
    """A column that takes long holds nobody: the one who waits is asked in between, and stops at once."""
    held = threading.Event()

    def stop() -> None:
        raise ReadingCancelled("Cancelled.")

    try:
        with pytest.raises(ReadingCancelled):
            list(at_once(lambda _: held.wait(60), [1, 2, 3], stop))
        assert not held.is_set()
    finally:
        held.set()
    assert list(at_once(lambda each: -each, [3, 1, 2], lambda: None)) == [-3, -1, -2]


def test_the_fingerprint_waits_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    sums = engine.row_sums
    monkeypatch.setattr(engine, "row_sums", lambda frame: asked.append(1) or sums(frame))
    reading = read_table(SMALL)
    assert asked == []
    assert reading.fingerprint == reading.fingerprint == read_csv(SMALL).fingerprint
    assert asked == [1, 1]


def test_pasted_tables_and_names_that_promise_another_kind() -> None:
    pasted = read_pasted("name\tage\nAnn\t31\nBob\t45\n")
    assert pasted.frame.to_numpy().tolist() == [["Ann", "31"], ["Bob", "45"]]
    said = [notice.sentence for notice in read_table(SMALL, name="people.xlsx").report.notices]
    assert any("another kind than its name says" in sentence for sentence in said)
    for name in ("people.csv", "people", "people.of.ann", "P.TXT"):
        assert read_table(SMALL, name=name).report.notices == ()


def test_nothing_of_a_file_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work folder is private while it exists and gone afterwards, whether reading succeeds or not."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes = []
    connect = engine.duckdb.connect

    def spy(*args: object, **options: object) -> object:
        modes.extend(
            (folder.stat().st_mode & 0o777, [f.stat().st_mode & 0o777 for f in folder.iterdir()])
            for folder in tmp_path.iterdir()
        )
        return connect(*args, **options)

    monkeypatch.setattr(engine.duckdb, "connect", spy)
    read_csv(SMALL)
    with pytest.raises(UnreadableFile):
        read_csv(b"a,b\n1,2\n3,4,5\n")
    assert (0o700, [0o600]) in modes
    assert all(folder == 0o700 and set(files) <= {0o600} for folder, files in modes)
    assert list(tmp_path.iterdir()) == []


def test_the_connection_reaches_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(SMALL)
    with engine._session() as (connection, _), pytest.raises(engine.duckdb.Error, match="disabled by configuration"):
        connection.read_csv(str(other)).fetchall()


CANARY = "kanarienvogel"


@pytest.mark.parametrize(
    "data",
    [
        f'a,b\n1,"{CANARY}\n2,y\n',
        f'a,b\n1,"{CANARY}" x\n',
        f"a,b\n1,2,{CANARY}\n",
        f"a,b\n{CANARY},\x00\n",
        f"a,b\n1,2,{CANARY}\n3,4,5\n",
        '"' + CANARY * 20_000 + '",b\n1,2\n',
    ],
)
def test_no_refusal_quotes_the_file(data: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read_csv(data.encode())
    text = repr(caught.value) + repr(caught.value.__cause__) + str(caught.value)
    assert CANARY not in text


def test_large_files_keep_their_shape() -> None:
    """10⁵ rows with quoted newlines on the way; line numbers stay right after them."""
    lines = [f'{i},"x{i}"' if i % 1000 else f'{i},"x\n{i}"' for i in range(100_000)]
    reading = read_csv(("n,w\n" + "\n".join(lines)).encode())
    assert reading.frame.shape == (100_000, 2)
    assert reading.lines[:3].tolist() == [2, 4, 5]
    assert reading.lines[-1] == 2 + 99_999 + 100
    assert reading.frame["w"].iloc[99_000] == "x\n99000"


def test_a_reading_becomes_a_table() -> None:
    reading: Reading = read_csv(SMALL)
    table = reading.table(reading.suggested())
    assert table.counts("ill").tolist() == [1, 2]
    assert table.lineage == "", "a digest of the data is nobody's name"
    retyped = reading.table(reading.suggested().only("ill", "age"))
    assert retyped.fingerprint != table.fingerprint


def test_what_a_row_is_is_suggested() -> None:
    """Dates evenly apart are steps, a few different words beside a number are options, all else is records."""
    data = Path(__file__).parents[2] / "data"
    found = {
        name: read_csv(data / f"{name}.csv").suggested().each_row for name in ("forecasts", "meeting_dates", "clinic")
    }
    assert found == {"forecasts": "step", "meeting_dates": "option", "clinic": "record"}
    falling = b"day,x\n2024-01-03,1\n2024-01-02,2\n2024-01-01,5\n"
    assert read_csv(falling).suggested().each_row == "step"
    assert read_csv(SMALL).suggested().each_row == "record"


@seed(5)
@given(
    st.binary(max_size=60), st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"\xe4", b"ab", b"\xff\n"]), max_size=30)
)
def test_lines_beyond_ascii_are_those_of_all_lines(some: bytes, more: list[bytes]) -> None:
    data = some + b"".join(more)
    wanted = [(number, line) for number, line in enumerate(data.splitlines(), 1) if not line.isascii()]
    assert list(decoding._beyond_ascii(data)) == wanted


def test_no_text_stands_for_a_cell_that_is_not_there() -> None:
    """Whatever a file holds, and without looking for it: nothing that the reader marks missing cells by is in it."""
    cells = ["\x01", "x", *("\x01" + "\x02" * size for size in range(1, 9))]
    data = "a,b\n" + "".join(f"{cell}{',7' * (cell != 'x')}\n" for cell in cells)
    assert read_table(data.encode(), header_line=1, delimiter=",").frame["a"].tolist() == cells
