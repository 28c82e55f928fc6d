"""Labelled files in which a few long words unfold to many are read in little memory or refused."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import bounds, labelled_files


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
    real = pyreadstat.read_dta

    def read(file: str, **options: Any) -> Any:
        if "row_limit" in options:
            limits.append(options["row_limit"])
        return real(file, **options)

    monkeypatch.setattr(pyreadstat, "read_dta", read)
    return limits


@pytest.mark.parametrize("version", [117, 118])
@pytest.mark.parametrize("order", ["little", "big"])
def test_fewer_rows_are_asked_for_where_words_are_long(
    version: int, order: str, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled_files, "_CHUNK_TEXT", 100_000)
    found = read_table(stata(["x" * 20_000] * 11 + ["end"], version, order))
    assert found.rows == 12
    assert set(asked) == {4}  # of 20,001 bytes, the last of which ends the word


@pytest.mark.thorough
def test_a_word_that_is_repeated_counts_each_time(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_files, "_CHUNK_TEXT", 2_000_000)
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
        read_table(stata(["x" * 200_000] * 2))
    assert not asked
