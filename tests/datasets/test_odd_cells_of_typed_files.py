"""Parquet, Feather and Arrow files: a cell that is none of its column's kind is missing in its row, and moves no other.

What holds the cells of a file together is no cell: where that is damaged the file is refused in a sentence.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from dpcore.audit.files import PLAIN, as_a_page_reads
from dpcore.datasets import Column, Declaration, arrow_cells
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.arrow_files import arrow_table
from dpcore.errors import UnreadableFile
from dpcore.releases.selection import MostCommonOption
from tests.datasets import typed_files
from tests.datasets.typed_files import as_stream

LARGE = 2**63 - 1
DAY = 86_400
ROWS = 5
Write = Callable[[pa.Table], bytes]


def as_parquet(table: pa.Table) -> bytes:
    return typed_files.as_parquet(table, compression="none", row_group_size=3, use_dictionary=["word"])


def as_feather(table: pa.Table) -> bytes:
    return typed_files.as_feather(table, compression="uncompressed", chunksize=3)


def read(data: bytes) -> pd.DataFrame:
    if data.startswith(b"PAR1"):
        return engine.parquet(data).frame
    return arrow_table(data, stream=not data.startswith(b"ARROW1")).frame


def beside(cells: pa.Array) -> pa.Table:
    rows = len(cells)
    columns = {
        "who": [f"p{row}" for row in range(rows)],
        "odd": cells,
        "x": [row / 7 for row in range(rows)],
        "day": pa.array(range(rows), pa.timestamp("ms")),
        "word": pa.array(["ä", None, "b"] * rows)[:rows].dictionary_encode(),
    }
    return pa.table(columns)


def check_moves_itself_alone(usual: pd.DataFrame, moved: pd.DataFrame, row: int, cell: str | None) -> None:
    """``cell`` is what the odd one is read as; None for whatever it is."""
    assert list(usual.columns) == list(moved.columns)
    expected = usual.copy()
    expected.loc[row, "odd"] = moved.loc[row, "odd"] if cell is None else cell
    pd.testing.assert_frame_equal(expected, moved)


def numbers(kind: pa.DataType, values: list[int | None]) -> pa.Array:
    """Cells of a kind of time that are kept as these numbers."""
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)


BEYOND = {
    **{pa.timestamp("s", zone): [2**55, -(2**55), LARGE, -LARGE - 1] for zone in (None, "UTC", "Asia/Tokyo")},
    **{pa.timestamp("ms", zone): [10**16, -(10**16), LARGE, -LARGE - 1] for zone in (None, "UTC", "Asia/Tokyo")},
    **{pa.timestamp("us", zone): [-LARGE, -LARGE - 1] for zone in (None, "UTC")},
    pa.duration("s"): [2**62, -(2**62)],
    pa.duration("ms"): [2**62, -(2**62)],
    pa.time32("s"): [DAY + 1, -1, 2**31 - 1],
    pa.time32("ms"): [DAY * 10**3 + 1, -1],
    pa.time64("us"): [DAY * 10**6 + 1, -1, LARGE],
    pa.time64("ns"): [DAY * 10**9 + 1, -1, LARGE],
    pa.date64(): [2**33 * DAY * 1000],
}
"""What no day or time can be written for."""
ANY = {
    **{pa.timestamp("us", zone): [LARGE, 2**62, -(2**62)] for zone in (None, "UTC")},
    **{pa.timestamp("ns", zone): [LARGE, -LARGE, -LARGE - 1] for zone in (None, "UTC")},
    pa.duration("us"): [LARGE, -LARGE - 1],
    pa.duration("ns"): [LARGE, -LARGE - 1],
    pa.date32(): [2**31 - 1, -(2**31), 10**9],
    pa.date64(): [1, DAY * 1000 + 1],
}
"""What can be written, however far away."""
NOT_IN_PARQUET = {"timestamp[s]", "timestamp[s, tz=UTC]", "timestamp[s, tz=Asia/Tokyo]", "time32[s]", "date64[ms]"}
"""Arrow writes them as other kinds, and does not write what these cannot hold."""


def kinds(write: Write) -> list[tuple[pa.DataType, int, str | None]]:
    found = [(kind, odd, "") for kind, several in BEYOND.items() for odd in several]
    found += [(kind, odd, None) for kind, several in ANY.items() for odd in several]
    if write is not as_parquet:
        return found
    return [each for each in found if str(each[0]) not in NOT_IN_PARQUET]


@pytest.mark.thorough
@pytest.mark.parametrize("write", [as_parquet, as_feather, as_stream])
def test_a_time_that_is_none_is_missing_in_its_row(write: Write) -> None:
    for at, (kind, odd, cell) in enumerate(kinds(write)):
        whole_days = DAY * 1000 if kind == pa.date64() else 1
        held = [*(row * whole_days for row in range(ROWS)), None]
        usual = read(write(beside(numbers(kind, held))))
        assert usual["odd"].iloc[:-1].ne("").all(), kind
        row = at % ROWS
        moved = read(write(beside(numbers(kind, [*held[:row], odd, *held[row + 1 :]]))))
        check_moves_itself_alone(usual, moved, row, cell)
        every = read(write(beside(numbers(kind, [odd] * ROWS))))
        assert cell is None or every["odd"].eq(cell).all()


@pytest.mark.parametrize("write", [as_parquet, as_feather])
def test_without_looking_at_each_time_the_file_is_none(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_cells, "_within", lambda cells, *_: cells)
    with pytest.raises(UnreadableFile):
        read(write(beside(numbers(pa.timestamp("ms", "UTC"), [0, 10**16]))))
    monkeypatch.setattr(engine, "apart", lambda *_: {})
    monkeypatch.setattr(engine, "writable", lambda cell, _: f"{cell}::VARCHAR")
    for kind, odd in ((pa.timestamp("ms"), 10**16), (pa.timestamp("us"), -LARGE - 1)):
        with pytest.raises(UnreadableFile):
            read(write(beside(numbers(kind, [0, odd]))))


@pytest.mark.thorough
def test_what_a_missing_cell_is_kept_as_is_not_looked_at() -> None:
    present = pa.py_buffer(bytes([0b11101]))
    for kind, several in (*BEYOND.items(), *ANY.items()):
        width = np.int32 if kind.bit_width == 32 else np.int64
        for odd in several:
            kept = pa.py_buffer(np.array([0, odd, 0, 0, 0], width))
            cells = pa.Array.from_buffers(kind, ROWS, [present, kept])
            usual = numbers(kind, [0, None, 0, 0, 0])
            pd.testing.assert_frame_equal(read(as_stream(beside(cells))), read(as_stream(beside(usual))))


MARK, NONE = "~~~~", b"\xff\xfe\xed\xa0"


def runs(words: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(words) + 1), pa.int32()), words)


KEPT: dict[str, Callable[[pa.Array], pa.Array]] = {
    "plain": lambda times: times,
    "words of a list": lambda times: pa.DictionaryArray.from_arrays(pa.array(range(len(times)), pa.int8()), times),
    "runs": runs,
}


def kept_as(made: Callable[[pa.Array], pa.Array], kind: pa.DataType, odd: int) -> list[str]:
    """What times are read as of which one is so odd, put in by its bytes: Arrow would not write it."""
    whole = DAY * 1000 if kind == pa.date64() else 1
    times = [row * whole for row in range(ROWS)]
    mark, size = 54_321 * whole, kind.bit_width // 8
    data = as_stream(beside(made(numbers(kind, [*times[:2], mark, *times[3:]]))))
    kept, moved = (value.to_bytes(size, "little", signed=True) for value in (mark, odd))
    assert data.count(kept) == 1
    found: list[str] = read(data.replace(kept, moved))["odd"].tolist()
    return found


@pytest.mark.thorough
def test_a_time_is_read_alike_however_it_is_kept() -> None:
    spans = {pa.date64(): [-1, -DAY * 5000 - 1, DAY * 5000 + 1, DAY * 5000]}
    for kind, several in (*BEYOND.items(), *ANY.items(), *spans.items()):
        for odd in several:
            plain, *others = (kept_as(made, kind, odd) for made in KEPT.values())
            assert others == [plain] * len(others), (kind, odd)


@pytest.mark.parametrize("name", ["words of a list", "runs"])
def test_without_whole_days_the_file_is_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_cells, "_whole_days", lambda cells: cells)
    with pytest.raises(UnreadableFile):
        kept_as(KEPT[name], pa.date64(), 1)


TEXTS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "string": lambda words: words,
    "large": lambda words: words.cast(pa.large_string()),
    "view": lambda words: words.cast(pa.string_view()),
    "words of a list": pc.dictionary_encode,
    "large words of a list": lambda words: words.cast(pa.large_string()).dictionary_encode(),
    "views of a list": lambda words: pa.DictionaryArray.from_arrays(
        pa.array(range(len(words)), pa.int16()), words.cast(pa.string_view())
    ),
    "runs": runs,
    "json": lambda words: pa.ExtensionArray.from_storage(pa.json_(), words),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("write", [as_parquet, as_feather, as_stream])
def test_a_text_of_bytes_that_are_none_is_missing_in_its_row(write: Write, name: str) -> None:
    words = [f"wört {row} ?" for row in range(ROWS)] + [None, ""]
    made = TEXTS[name]
    if name in ("runs", "views of a list") and write is as_parquet:
        pytest.skip("Arrow does not write these")
    for row, around in ((0, "{}"), (ROWS // 2, "a{}b"), (ROWS - 1, "{}" + "c" * 40)):
        odd = around.format(MARK)
        cells = made(pa.array([*words[:row], odd, *words[row + 1 :]]))
        data = write(beside(cells))
        usual = read(data)
        assert usual["odd"].tolist() == [word or "" for word in [*words[:row], odd, *words[row + 1 :]]]
        assert MARK.encode() in data
        for none in (NONE, b"\xe2\x82~~", b"~~~\xc3", b"\xf8\x88\x80\x80"):
            check_moves_itself_alone(usual, read(data.replace(MARK.encode(), none)), row, "")


@pytest.mark.parametrize("write", [as_parquet, as_feather])
def test_without_looking_at_each_text_the_file_is_none(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_or_none(cells: pa.Array) -> pa.Array:
        cells.validate(full=True)
        return cells

    monkeypatch.setattr(arrow_cells, "_each_valid", all_or_none)
    monkeypatch.setattr(engine, "_TOLERANT", ("strict", "strict"))
    with pytest.raises(UnreadableFile, match="damaged"):
        read(write(beside(pa.array(["a", MARK]))).replace(MARK.encode(), NONE))


@pytest.mark.parametrize("digits", [5, 15, 30, 38])
def test_a_decimal_of_more_digits_than_its_column_has_is_missing_in_its_row(digits: int) -> None:
    held = [Decimal(f"{row}.25") for row in range(ROWS)]
    made = [pa.decimal128, *([pa.decimal64] if digits < 18 else []), *([pa.decimal32] if digits < 9 else [])]
    for kind in (each(digits, 2) for each in made):
        cells = pa.array(held, kind)
        usual = read(as_stream(beside(cells)))
        assert usual["odd"].tolist() == [f"{row}.25" for row in range(ROWS)]
        size = kind.byte_width
        for odd in (2 ** (8 * size - 1) - 1, -(2 ** (8 * size - 1))):
            kept = b"".join((225 if row != 2 else odd).to_bytes(size, "little", signed=True) for row in range(ROWS))
            moved = pa.Array.from_buffers(kind, ROWS, [None, pa.py_buffer(kept)])
            usual = read(as_stream(beside(pa.array([Decimal("2.25")] * ROWS, kind))))
            check_moves_itself_alone(usual, read(as_stream(beside(moved))), 2, "" if odd > 0 else None)


@pytest.mark.parametrize("odd", [b"\x80" + bytes(15), b"\x7f" + b"\xff" * 15])
def test_a_decimal_of_a_parquet_file_is_read_whatever_it_is(odd: bytes) -> None:
    cells = pa.array([Decimal("1.5"), Decimal("12345678901234567.5"), None], pa.decimal128(38, 1))
    file = io.BytesIO()
    pq.write_table(beside(cells), file, compression="none", use_dictionary=False, write_statistics=False)
    kept = (123456789012345675).to_bytes(16, "big")
    assert file.getvalue().count(kept) == 1
    moved = read(file.getvalue().replace(kept, odd))
    check_moves_itself_alone(read(file.getvalue()), moved, 1, None if odd[0] < 128 else "")


def test_times_are_written_as_duckdb_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a Parquet file that are read beside it: also ones of day in a zone, which Arrow does not tell apart."""
    told = (
        "'01:02:03.5+00'::TIMETZ AS a, '24:00:00'::TIME AS b, '01:02:03'::TIME_NS AS c, '23:59:59.000001'::TIME AS d, "
        "'2020-01-01 00:00:01.001'::TIMESTAMP_MS AS e, '44-03-15 (BC) 00:00:00'::TIMESTAMP_MS AS f, 1 AS g"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {told} UNION ALL SELECT {'NULL, ' * 6} 2) TO '{tmp_path / 'a.parquet'}'")
    data = (tmp_path / "a.parquet").read_bytes()
    zoned = as_parquet(beside(numbers(pa.timestamp("ms", "Asia/Tokyo"), [0, 1, -1, 10**15, None])))
    found = [read(each) for each in (data, zoned)]
    monkeypatch.setattr(engine, "apart", lambda *_: {})
    for each, own in zip(found, (read(each) for each in (data, zoned)), strict=True):
        pd.testing.assert_frame_equal(each, own)


def test_columns_of_one_name_keep_their_cells() -> None:
    cells = numbers(pa.time64("us"), [1, 2**62])
    names = ["a", "A", "a_1", "b"]
    for table in (
        pa.table([cells, pa.array([7, 8]), cells, pa.array(["x", "y"])], names=names),
        pa.table([pa.array([7, 8]), cells, pa.array(["x", "y"]), cells], names=names),
    ):
        read_so = {write: read(write(table)).to_numpy().tolist() for write in (as_parquet, as_feather)}
        assert read_so[as_parquet] == read_so[as_feather]
        assert sorted(read_so[as_parquet][1]) == ["", "", "8", "y"]


NESTED = (
    pa.array([["a"], [MARK]]),
    pa.array([{"a": MARK}, None]),
    pa.array([[1], None], pa.list_view(pa.int64())),
    pa.array([[("a", MARK)], None], pa.map_(pa.string(), pa.string())),
    pa.array([b"aaaa", MARK.encode()], pa.binary(4)),
)


@pytest.mark.parametrize("cells", NESTED, ids=str)
@pytest.mark.parametrize("write", [as_parquet, as_feather])
def test_of_lists_and_the_like_no_cell_is_read_whatever_it_holds(write: Write, cells: pa.Array) -> None:
    data, without = write(beside(cells)), write(beside(pa.nulls(len(cells))))
    for each in (data, data.replace(MARK.encode(), NONE)):
        pd.testing.assert_frame_equal(read(each), read(without))


def kept(*values: int, size: type[np.signedinteger] = np.int32) -> bytes:  # type: ignore[type-arg]
    return np.array(values, size).tobytes()


WORDS = pa.array(["a", "xx", "b", "c"])
LISTED = pa.DictionaryArray.from_arrays(
    pa.array([7001, 7002, 7003, 7001], pa.int32()), pa.array([f"w{at}" for at in range(7004)])
)
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2, 4, 7, 9], pa.int32()), WORDS)
VIEWS = pa.array(["a" * 30, "b" * 30]).cast(pa.string_view())
OFFSETS = kept(0, 1, 3, 4, 5)
VIEW = kept(30) + b"bbbb" + kept(0, 30)
DAMAGE = [
    *(
        (WORDS, OFFSETS, kept(*odd))
        for odd in ((0, 1, 3, 4, 5000), (0, 1, 3000, 4, 5), (0, 3, 1, 4, 5), (-5, 1, 3, 4, 5))
    ),
    (WORDS.cast(pa.large_string()), kept(0, 1, 3, 4, 5, size=np.int64), kept(0, 1, 2**40, 4, 5, size=np.int64)),
    *((LISTED, kept(7001, 7002, 7003, 7001), kept(7001, 7002, odd, 7001)) for odd in (99_999_999, -99_999_999)),
    (WORDS.dictionary_encode(), OFFSETS, kept(0, 1, 3, 4000, 5)),
    *((RUNS, kept(2, 4, 7, 9), kept(*odd)) for odd in ((2, 400, 7, 9), (-2, 4, 7, 9), (2, 4, 7, 8))),
    (RUNS, OFFSETS, kept(0, 1, 3, 4, 5000)),
    *((VIEWS, VIEW, odd) for odd in (kept(30) + b"bbbb" + kept(0, 3000), kept(30) + b"bbbb" + kept(7, 0))),
    (VIEWS, VIEW, kept(9000) + b"bbbb" + kept(0, 0)),
]


@pytest.mark.parametrize(("cells", "sound", "damaged"), DAMAGE)
def test_what_holds_cells_together_is_checked_before_any_is_read(cells: pa.Array, sound: bytes, damaged: bytes) -> None:
    data = as_stream(pa.table({"odd": cells}))
    assert data.count(sound) == 1
    assert len(read(data)) == len(cells)
    with pytest.raises(UnreadableFile, match="damaged"):
        read(data.replace(sound, damaged))


@pytest.mark.parametrize("write", [as_parquet, as_feather])
def test_a_file_that_is_cut_is_refused_in_a_sentence(write: Write) -> None:
    data = write(beside(pa.array(["a", MARK]))).replace(MARK.encode(), NONE)
    for size in range(8, len(data) * 2 // 3, max(1, len(data) // 60)):
        with pytest.raises(UnreadableFile):
            read(data[:size] + data[-8:])


def test_after_an_odd_file_the_next_is_read_by_the_same_connection() -> None:
    with engine.together():
        for kind, odd in ((pa.timestamp("ms"), 10**16), (pa.timestamp("us"), -LARGE - 1), (pa.time64("us"), -1)):
            for write in (as_parquet, as_feather):
                assert read(write(beside(numbers(kind, [0, odd]))))["odd"].tolist()[1] == ""
        assert engine.row_sums(pd.DataFrame({"a": ["x"]})) == engine.row_sums(pd.DataFrame({"a": ["x "]}))


@pytest.mark.parametrize("write", [as_parquet, as_feather])
def test_a_question_is_answered_whatever_one_row_holds(write: Write) -> None:
    ward = Column(name="ward", type="category", categories=("north", "south"))
    asked = MostCommonOption.of(Declaration(columns=(ward,)), "ward", epsilon=1.0)
    for seen in (0, 10**16, -LARGE - 1):
        table = pa.table({"ward": ["north"] * 9 + ["south"], "seen": numbers(pa.timestamp("ms"), [0] * 9 + [seen])})
        told = as_a_page_reads(write(table.append_column("note", pa.array(["n"] * 9 + [MARK]))), PLAIN)
        odd = as_a_page_reads(
            write(table.append_column("note", pa.array(["n"] * 9 + [MARK]))).replace(MARK.encode(), NONE), PLAIN
        )
        assert asked.read(told.private).tolist() == asked.read(odd.private).tolist() == [9, 1]
