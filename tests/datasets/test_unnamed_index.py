"""An index without a name, which pandas writes as soon as a row is left out, is no column of a table."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather as ft
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, read_table
from dpcore.datasets.in_place import PrivateSource, open_folder, shape
from dpcore.datasets.in_place.shape import UNLIKE
from dpcore.datasets.reading import kinds
from dpcore.errors import UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption
from tests.datasets.test_rewritten_columns import in_bytes

Write = Callable[[pd.DataFrame], bytes]
WHOLE = pd.DataFrame({"answer": [1.0, 2, 3, None] * 6, "word": ["a", "b", None, None] * 6})
DECLARED = Declaration(
    columns=(
        Column(name="answer", type="number", low=0, high=9),
        Column(name="word", type="category", categories=("a", "b")),
    )
)
COUNT = NoisyCount.of(DECLARED, epsilon=1.0)
WORDS = MostCommonOption.of(DECLARED, "word", epsilon=1.0)
LESS: dict[str, pd.DataFrame] = {
    "whole": WHOLE,
    "without a row": WHOLE.drop(7),
    "without the last": WHOLE.drop(23),
    "sorted": WHOLE.sort_values("answer"),
    "indexed by words": WHOLE.set_axis([f"p{row}" for row in range(24)]),
    "indexed by days": WHOLE.set_axis(pd.date_range("2024-01-01", periods=24)),
    "indexed twice": WHOLE.set_axis(pd.MultiIndex.from_product([range(4), list("abcdef")])),
}


def as_parquet(frame: pd.DataFrame) -> bytes:
    return in_bytes(frame, "to_parquet")


def as_feather(frame: pd.DataFrame) -> bytes:
    made = io.BytesIO()
    ft.write_feather(pa.Table.from_pandas(frame), made)
    return made.getvalue()


def as_stream(frame: pd.DataFrame) -> bytes:
    made, held = io.BytesIO(), pa.Table.from_pandas(frame)
    with pa.ipc.new_stream(made, held.schema) as writer:
        writer.write_table(held)
    return made.getvalue()


def by_duckdb(frame: pd.DataFrame) -> bytes:
    """Written anew from what pandas wrote, without its notes."""
    made = io.BytesIO()
    with closing(duckdb.connect()) as connection:
        connection.register("held", pq.read_table(io.BytesIO(as_parquet(frame))))
        pq.write_table(connection.sql("FROM held").to_arrow_table().replace_schema_metadata(), made)
    return made.getvalue()


WRITERS: list[Write] = [as_parquet, as_feather, as_stream, by_duckdb]


def in_a_folder(folder: Path, *frames: pd.DataFrame, write: Write = as_parquet) -> PrivateRows:
    folder.mkdir()
    for at, frame in enumerate(frames):
        (folder / f"{at}.parquet").write_bytes(write(frame))
    return PrivateSource(lambda: open_folder(folder))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("less", LESS)
def test_which_rows_count_hangs_on_no_index(write: Write, less: str) -> None:
    frame = LESS[less]
    read = read_table(write(frame))
    assert list(read.frame.columns) == ["answer", "word"]
    assert COUNT.read(read.private) == frame.notna().any(axis=1).sum()


def test_a_reader_that_keeps_it_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "without_unnamed_index", lambda frame: frame)
    whole, less = (COUNT.read(read_table(by_duckdb(LESS[name])).private) for name in ("whole", "without a row"))
    assert less > whole


@pytest.mark.parametrize("write", [as_parquet, by_duckdb])
@pytest.mark.parametrize("less", LESS)
def test_files_with_and_without_it_are_of_one_shape(write: Write, less: str, tmp_path: Path) -> None:
    for at, frames in enumerate(((LESS[less],), (WHOLE, LESS[less]), (LESS[less], WHOLE))):
        rows = in_a_folder(tmp_path / f"{at}", *frames, write=write)
        assert set(open_folder(tmp_path / f"{at}").names) == {"answer", "word"}
        rows.check(WORDS.reads)
        both = pd.concat(frames)
        assert WORDS.read(rows).tolist() == [(both["word"] == word).sum() for word in ("a", "b")]


def test_indexes_of_several_kinds_are_of_one_shape(tmp_path: Path) -> None:
    frames = [LESS["indexed by words"], LESS["without a row"], LESS["indexed by days"], LESS["indexed twice"]]
    rows = in_a_folder(tmp_path / "p", *(frame.assign(t=pd.Timestamp("2024-01-01")) for frame in frames))
    rows.check(WORDS.reads)
    assert open_folder(tmp_path / "p").names == ("answer", "word", "t")
    assert WORDS.read(rows).tolist() == [6 + 6 + 6 + 6, 6 + 6 + 6 + 6]


def test_a_folder_that_keeps_it_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "is_unnamed_index", lambda _: False)
    rows = in_a_folder(tmp_path / "p", WHOLE, LESS["without a row"], write=by_duckdb)
    with pytest.raises(UnreadableFile, match=UNLIKE):
        rows.check(WORDS.reads)


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_of_nothing_else_is_refused_in_a_sentence(write: Write) -> None:
    with pytest.raises(UnreadableFile, match="no column but an index of pandas"):
        read_table(write(WHOLE[[]].drop(7)))


def test_so_is_a_folder(tmp_path: Path) -> None:
    rows = in_a_folder(tmp_path / "p", WHOLE[[]].drop(7))
    with pytest.raises(UnreadableFile, match=UNLIKE):
        rows.check(WORDS.reads)


def test_a_part_of_a_record_that_is_called_so_stays_what_it_is(tmp_path: Path) -> None:
    inner = pa.table({"record": pa.array([{"__index_level_0__": 1}] * 3), "word": ["a", "b", "a"]})
    (tmp_path / "p").mkdir()
    pq.write_table(inner, tmp_path / "p" / "a.parquet")
    pq.write_table(pa.table({"word": ["a"]}), tmp_path / "p" / "b.parquet")
    with pytest.raises(UnreadableFile, match=UNLIKE):
        open_folder(tmp_path / "p")
