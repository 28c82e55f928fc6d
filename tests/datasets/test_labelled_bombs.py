"""Labelled files in which a few long words unfold to many are read in little memory or refused."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import bounds, labelled_pieces, labelled_stata


def stata(words: list[str], version: int = 117, order: str = "little") -> bytes:
    """A Stata file whose words stand apart from its rows, each word once."""
    made = io.BytesIO()
    frame = pd.DataFrame({"a": words, "b": range(len(words))})
    frame.to_stata(made, version=version, convert_strl=["a"], write_index=False, byteorder=order)
    return made.getvalue()


@pytest.mark.thorough
def test_one_long_word_gives_the_others_no_room() -> None:
    """One of 20 kB in 40,000 rows took 3.2 GB: an array of text is as wide as its longest."""
    data = stata(["x" * 20_000] + ["y"] * 4999)
    tracemalloc.start()
    try:
        assert read_table(data).rows == 5000
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows are asked for at a time."""
    limits: list[int] = []
    real = labelled_stata.StataCells.read

    def read(cells: Any, offset: int, limit: int) -> Any:
        limits.append(limit)
        return real(cells, offset, limit)

    monkeypatch.setattr(labelled_stata.StataCells, "read", read)
    return limits


@pytest.mark.parametrize("version", [117, 118])
@pytest.mark.parametrize("order", ["little", "big"])
def test_fewer_rows_are_asked_for_where_words_are_long(
    version: int, order: str, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled_pieces, "_CHUNK_TEXT", 100_000)
    found = read_table(stata(["x" * 20_000] * 11 + ["end"], version, order))
    assert found.rows == 12
    assert asked == [4, 4, 5]  # of 20,001 bytes, the last of which ends the word; one more than there are


@pytest.mark.thorough
def test_a_word_that_is_repeated_counts_each_time(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_pieces, "_CHUNK_TEXT", 2_000_000)
    monkeypatch.setattr(bounds, "MOST_TEXT", 20_000_000)
    data = stata(["x" * 130_000] * 1000)
    assert len(data) < 150_000
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableFile, match="more text than can be read"):
            read_table(data)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()
    assert max(asked) == 15


def test_a_word_too_long_for_a_cell_is_refused_before_any_row_is_asked_for(asked: list[int]) -> None:
    with pytest.raises(UnreadableFile, match="more text than can be read"):
        read_table(stata(["x" * 600_000] * 2))
    assert not asked


def test_how_long_a_word_may_be_is_counted_in_letters() -> None:
    for long in ("人" * 43_691, "x" * 131_072):
        assert read_table(stata([long, "b"])).rows == 2
    with pytest.raises(UnreadableFile, match="more text than can be read"):
        read_table(stata(["x" * 131_073, "b"]))


def test_one_long_word_makes_no_piece_of_the_others_small(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_pieces, "_CHUNK_TEXT", 100_000)
    data = stata(["x" * 20_000] + [f"word {row}" for row in range(300)])
    assert read_table(data).rows == 301
    assert asked == [302]
    real = labelled_stata.StataCells.apart
    monkeypatch.setattr(labelled_stata.StataCells, "apart", lambda cells: np.full(301, real(cells).max()))
    assert read_table(data).rows == 301
    assert len(asked) > 50


@pytest.mark.parametrize("version", [117, 118, 119])
@pytest.mark.parametrize("order", ["little", "big"])
def test_what_stands_apart_is_counted_for_each_row(version: int, order: str) -> None:
    words = ["x" * 300, "GSO\0\0\0\0\x82\0\0", "ab", "", "x" * 300, "größe", "ab", *(f"w{row}" for row in range(300))]
    numbers = range(len(words))
    frame = pd.DataFrame({"a": numbers, "b": words, "c": [f"{row}".zfill(7) for row in numbers], "d": words[::-1]})
    made = io.BytesIO()
    frame.to_stata(
        made, version=version, convert_strl=["b", "d"], write_index=False, byteorder=order, data_label="a <label>"
    )
    sizes = [len(word.encode()) + 1 if word else 0 for word in words]
    cells = labelled_stata.StataCells(made.getvalue(), len(words), 4)
    assert cells.read(0, 1000)[1] == [word.encode().partition(b"\0")[0] for word in words]
    assert cells.apart().tolist() == [one + other for one, other in zip(sizes, sizes[::-1], strict=True)]


def meta(rows: int | None, width: int) -> Any:
    return SimpleNamespace(
        variable_storage_width={"a": width, "b": 8},
        readstat_variable_types={"a": "string", "b": "double"},
        column_names=["a", "b"],
        number_rows=rows,
    )


def gone_through(rows: int, width: int) -> int:
    """Bytes from the beginning to the end of each piece, where next to nothing stands in the words."""
    ask, offset, found = labelled_pieces.pieces(b"", meta(rows, width)), 0, 0
    while offset < rows:
        offset = min(offset + ask(offset, 0), rows)
        found += offset * width
    return found


@pytest.mark.parametrize("width", [4000, 32_000, 640_000])
def test_wide_words_are_gone_through_a_few_times(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 3 MB took 44 seconds."""
    rows = labelled_pieces._MOST_ROOM // width
    assert gone_through(rows, width) <= 6 * labelled_pieces._MOST_ROOM
    monkeypatch.setattr(bounds, "MOST_TEXT", 0)
    assert gone_through(rows, width) > 15 * labelled_pieces._MOST_ROOM


def test_the_more_stands_in_words_the_fewer_rows_are_asked_for() -> None:
    ask = labelled_pieces.pieces(b"", meta(None, 10_000))
    asked = [ask(0, characters) * 10_000 + characters for characters in range(0, bounds.MOST_TEXT, 1 << 24)]
    assert max(asked) <= bounds.MOST_TEXT + labelled_pieces._CHUNK_TEXT


@pytest.mark.parametrize("name", ["rows", "rows that are not told"])
def test_more_room_than_can_be_gone_through_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyreadstat.write_sav(pd.DataFrame({"a": ["x" * 30_000] + ["a"] * 99}), tmp_path / "a.zsav", compress=True)
    data = bytearray((tmp_path / "a.zsav").read_bytes())
    if name != "rows":
        data[80:84] = b"\xff" * 4
    monkeypatch.setattr(labelled_pieces, "_MOST_TIMES", 0)
    monkeypatch.setattr(labelled_pieces, "_MOST_ROOM", 1_000_000)
    monkeypatch.setattr(bounds, "MOST_TEXT", 200_000)
    monkeypatch.setattr(labelled_pieces, "_CHUNK_TEXT", 100_000)
    with pytest.raises(UnreadableFile, match="far wider than what stands in them; make them narrower, or save"):
        read_table(bytes(data))
    monkeypatch.setattr(bounds, "MOST_TEXT", 1_000_000)
    monkeypatch.setattr(labelled_pieces, "_MOST_ROOM", 4_000_000)
    assert read_table(bytes(data)).rows == 100
