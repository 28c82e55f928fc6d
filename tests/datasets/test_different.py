"""The different words and numbers of a column: as pandas finds them, whoever made them to share a hash."""

from __future__ import annotations

import functools
import itertools
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.datasets import Column, OneRowPer, Schema, SplitOptions, TicksToRows, different, read_table
from dpcore.datasets.reading import sketch

_ARROWS = (11_400_714_785_074_694_791, 14_029_467_366_897_019_727)
"""By which Arrow multiplies the two halves of a word of 16 bytes before it puts them together by ⊕."""


def alike_for_arrow(number: int) -> list[str]:
    """Words of 16 letters and marks that share one hash of Arrow's: the second half made for the first."""
    return list(_alike_for_arrow())[:number]


@functools.cache
def _alike_for_arrow() -> dict[str, None]:
    rng, found = np.random.default_rng(0), dict[str, None]()
    back = np.uint64(pow(_ARROWS[1], -1, 1 << 64))
    taken = np.isin(np.arange(256), [*range(ord("#"), ord("~"))]) & ~np.isin(np.arange(256), [*b"',;|"])
    while len(found) < 3000:
        last = rng.integers(ord("a"), ord("z") + 1, (200_000, 8), dtype=np.uint8)
        first = (last.view("<u8") * np.uint64(_ARROWS[0]) * back).view(np.uint8)
        signs = np.concatenate([first, last], axis=1)[taken[first].all(axis=1)]
        found |= dict.fromkeys(row.tobytes().decode() for row in signs)
    return found


def alike_for_pandas(number: int) -> list[str]:
    """Words that share one hash of those that pandas has for objects: "Aa" and "BB" do."""
    pairs = itertools.product(("Aa", "BB"), repeat=(number - 1).bit_length())
    return ["".join(word) for word in itertools.islice(pairs, number)]


def numbered(number: int) -> list[str]:
    return [f"{place:08}" for place in range(number)]


MADE = (alike_for_arrow, alike_for_pandas, numbered)


@pytest.mark.parametrize("made", MADE)
def test_no_two_words_share_a_mark(made: object) -> None:
    words = made(3000)  # type: ignore[operator]
    marks = different._marks(pa.array(words, pa.large_string()))
    assert len(set(marks.tolist())) == 3000


def test_words_made_for_arrow_share_its_hash() -> None:
    """Or the others would show nothing: each half multiplied, its bytes turned round, both put together."""
    halves = np.array([word.encode() for word in alike_for_arrow(1000)]).view("<u8").reshape(-1, 2)
    first, last = (halves[:, place] * np.uint64(factor) for place, factor in ((1, _ARROWS[0]), (0, _ARROWS[1])))
    assert len(set((first.byteswap() ^ last.byteswap()).tolist())) == 1


@pytest.mark.parametrize("made", MADE)
def test_arrow_looks_among_few_words_alone(made: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a table is read and used, all that is looked up by a hash without a key is looked up among so many."""
    asked: list[int] = []
    looked = pc.index_in

    def noted(held: pa.Array, *, value_set: pa.Array) -> pa.Array:
        asked.append(len(value_set))
        return looked(held, value_set=value_set)

    monkeypatch.setattr(different.pc, "index_in", noted)
    words = made(2500)  # type: ignore[operator]
    cells = [f"{word};{other}" for word, other in itertools.pairwise([*words, words[0]])]
    rows = "\n".join(f"{word}\t{cell}\tone\t1" for word, cell in zip(words, cells, strict=True))
    reading = read_table(f"who\tsome\tkind\tnumber\n{rows}\n".encode(), delimiter="\t")
    assert reading.column("some").distinct == len(words)
    reading.apply(Schema(columns=(Column(name="who", type="category", categories=tuple(words)),)))
    reading.after((TicksToRows(column="some", most=2),))
    reading.after((OneRowPer(by="who"),))
    reading.after((SplitOptions(column="some", options=tuple(words[:100]), most=2),))
    sketch(reading, b"key" * 11)
    assert asked
    assert max(asked) <= different._FEW


def test_a_long_list_of_options_is_looked_up_by_python() -> None:
    options = alike_for_arrow(500)
    text = pd.Series([*options[::-1], "none of them"], dtype="str")
    with mock.patch.object(different.pc, "index_in", side_effect=AssertionError):
        assert different.among(text, options).tolist() == [*range(499, -1, -1), -1]


_WORD = st.one_of(
    st.sampled_from(["", " ", "a", "ab", "a\0", "\0", "é", "🙂", "x" * 32, "x" * 33, "x" * 64, "1.0"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
_KINDS = ["str", "string", pd.StringDtype(na_value=np.nan), pd.StringDtype("python")]


@given(
    cells=st.lists(st.one_of(_WORD, st.none()), max_size=40),
    kind=st.sampled_from(_KINDS),
    pieces=st.integers(1, 3),
    few=st.sampled_from([1, 3, 64]),
    first=st.sampled_from([1, 4, 1000]),
    portion=st.sampled_from([1, 3, 1 << 16]),
    keyless=st.booleans(),
)
def test_they_are_found_as_pandas_finds_them(
    cells: list[str | None], kind: object, pieces: int, few: int, first: int, portion: int, keyless: bool
) -> None:
    """In all ways in which they are looked for; also if all words had one mark."""
    parts = [pd.Series(cells[start::pieces], dtype=kind) for start in range(pieces)]  # type: ignore[call-overload]
    text = pd.concat(parts, ignore_index=True)
    codes, words = pd.factorize(text)
    keys = np.zeros_like(different._KEYS) if keyless else different._KEYS
    with (
        mock.patch.object(different, "_FEW", few),
        mock.patch.object(different, "_FIRST", first),
        mock.patch.object(different, "_PORTION", portion),
        mock.patch.object(different, "_KEYS", keys),
    ):
        found, told = different.encoded(text)
        counted, sizes = different.counted(text)
        places = different.among(text, list(words[::2]))
    assert found.tolist() == codes.tolist()
    assert told.dtype == text.dtype
    assert told.tolist() == counted.tolist() == list(words)
    assert sizes.tolist() == np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
    assert places.tolist() == [code // 2 if code >= 0 and code % 2 == 0 else -1 for code in codes]


@pytest.mark.parametrize("rows", [0, 1, 999, 1001, 200_000])
@pytest.mark.parametrize("kinds", [1, 64, 65, 5000, 10**9])
def test_so_it_is_in_columns_of_all_sizes(rows: int, kinds: int) -> None:
    rng = np.random.default_rng(rows)
    text = pd.Series([f"word {number}" for number in rng.integers(0, kinds, rows)], dtype="str")
    text.iloc[rows // 2 :] = text.iloc[rows // 2 :] + " of the second half, which is longer"
    codes, words = pd.factorize(text)
    found, told = different.encoded(text)
    assert (found == codes).all()
    assert told.tolist() == list(words)


def test_numbers_and_moments_are_sorted() -> None:
    codes, numbers = different.by_value(np.array([2.0, np.nan, -0.0, 1.0, 2.0, 0.0]))
    assert codes.tolist() == [2, -1, 0, 1, 2, 0]
    assert numbers.tolist() == [0.0, 1.0, 2.0]
    codes, days = different.by_value(np.array(["2020-02-01", "NaT", "2020-01-01"], dtype="datetime64[s]"))
    assert codes.tolist() == [1, -1, 0]
    assert days.astype(str).tolist() == ["2020-01-01T00:00:00", "2020-02-01T00:00:00"]
