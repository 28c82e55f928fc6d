"""A copy of the census is taken as the sample only where it is the table that everybody has, row by row.

Its answers are practice and cost nobody's budget, so a table about other people must not pass for it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import UnavailableSample, load_sample, sample
from dpcore.datasets.apart import Apart
from dpcore.datasets.catalog import census
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.tabulate import Tabulated
from tests.datasets.test_samples import ADULT

NAMES = sample("adult").schema.names


def people(rows: int = 60) -> pd.DataFrame:
    """As the census has them, with some cells missing."""
    columns = sample("adult").schema.columns
    return pd.DataFrame(
        {
            column.name: [
                str(17 + row % 40)
                if column.is_numeric
                else (*column.categories, "?")[(row * 7 + place) % (len(column.categories) + (column.name != "income"))]
                for row in range(rows)
            ]
            for place, column in enumerate(columns)
        }
    )


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A small table in place of the census."""
    frame = people()
    monkeypatch.setattr(census, "EDITIONS", frozenset({census.edition(frame)}))
    return frame


def brought(frame: pd.DataFrame, folder: Path, pack: Callable[[bytes], bytes] = bytes) -> int:
    file = folder / "table"
    file.write_bytes(pack(frame.to_csv(index=False).encode()))
    return load_sample("adult", path=file).rows


SAME: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "as it is": lambda frame: frame,
    "in another order": lambda frame: frame.iloc[::-1],
    "columns in another order": lambda frame: frame[list(reversed(NAMES))],
    "padded": lambda frame: frame.map(lambda cell: f" {cell} "),
    "empty cells": lambda frame: frame.replace("?", ""),
    "as the part to test with writes it": lambda frame: frame.assign(income=frame["income"] + "."),
    "other spellings": lambda frame: frame.rename(columns={"sex": "gender", "education_num": "educational-num"}),
    "a column more": lambda frame: frame.assign(fnlwgt="1"),
}
OTHER: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a row less": lambda frame: frame.iloc[1:],
    "a row twice": lambda frame: pd.concat([frame, frame.iloc[:1]]),
    "one cell": lambda frame: frame.assign(age=["90", *frame["age"][1:]]),
    "a missing cell said": lambda frame: frame.replace({"workclass": {"?": "Private"}}),
    "two cells exchanged": lambda frame: frame.assign(race=[*frame["race"][1:], frame["race"][0]]),
    "our staff": lambda frame: frame.assign(race="Other", income=">50K"),
}


@pytest.mark.parametrize("how", SAME)
def test_the_same_people_are_known_however_they_are_written(how: str, published: pd.DataFrame, tmp_path: Path) -> None:
    for pack in (bytes, gzip.compress, bz2.compress, lzma.compress) if how in ("as it is", "padded") else (bytes,):
        assert brought(SAME[how](published), tmp_path, pack) == len(published)


@pytest.mark.parametrize("how", OTHER)
def test_other_people_are_brought_as_a_file_of_one_s_own(
    how: str, published: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnavailableSample, match="bring it as a file of your own"):
        brought(OTHER[how](published), tmp_path)
    monkeypatch.setattr(census, "edition", lambda frame: next(iter(census.EDITIONS)))  # as it was
    assert brought(OTHER[how](published), tmp_path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_copy_is_read_where_it_is_said(
    pack: Callable[[bytes], bytes], published: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server reads what people bring in its own way, and unpacks nothing itself: cells made for the reader of pandas
    once held it for a minute."""
    file = tmp_path / "table"
    file.write_bytes(pack(published.to_csv(index=False).encode()))
    apart, asked = Apart(), []

    def tables(data: bytes, choices: Choices, say: Callable[[float, str], None]) -> Tabulated:
        asked.append(data)
        return apart.table_of(data, choices, say)

    monkeypatch.delattr(pd, "read_csv")
    try:
        assert load_sample("adult", path=file, tables=tables).rows == len(published)
        assert (apart.process is not None) == (pack is not bytes)
    finally:
        apart.close()
    assert asked == [file.read_bytes()]


def told_wide_otherwise(seed: int = 7) -> list[bytes]:
    """Texts of which it is told otherwise than line by line whether a line is longer than a row."""
    draw = random.Random(seed)
    texts = [
        b"".join(draw.choices([b"\n", b"a", b"aa\r", b"a" * 6, b"a" * 9], k=draw.randrange(9))) for _ in range(400)
    ]
    texts += [b"a" * 10, b"a" * 11, b"\n" + b"a" * 10, b"a" * 10 + b"\n", b"a" * 11 + b"\n", b""]
    return [text for text in texts if census._is_wide(text) != any(len(line) > 10 for line in text.split(b"\n"))]


def test_a_line_is_told_too_long_wherever_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "_LONGEST", 10)
    for piece in (1, 3, 7, 1000):
        monkeypatch.setattr(census, "_PIECE", piece)
        assert not told_wide_otherwise(), piece
    monkeypatch.setattr(census, "_LONGEST", 11)
    assert told_wide_otherwise(), "one letter too many is found"


def looked_at_once(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes are looked through at a time."""
    seen: list[int] = []
    with monkeypatch.context() as changed:
        find = np.flatnonzero
        changed.setattr(np, "flatnonzero", lambda piece: seen.append(len(piece)) or find(piece))  # type: ignore[func-returns-value]
        assert not census._is_wide(data)
    return seen


def test_each_byte_is_looked_at_once_and_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern of 5,001 letters, looked for from each of 32 million places, kept all others waiting for minutes where
    each line has 5,000."""
    data = (b"x" * census._LONGEST + b"\n") * 700
    assert sum(looked_at_once(data, monkeypatch)) == len(data)
    assert max(looked_at_once(data, monkeypatch)) <= 1 << 20
    monkeypatch.setattr(census, "_PIECE", 1 << 30)
    assert max(looked_at_once(data, monkeypatch)) > 1 << 20, "one piece of everything is found"


@pytest.mark.skipif(not ADULT.is_file(), reason="the real census table lies beside the checkout, where there is one")
def test_every_known_edition_is_the_published_table_or_a_part_of_it() -> None:
    whole = pd.read_csv(ADULT, dtype=str, keep_default_na=False)[list(NAMES)]
    parts = (whole, whole.iloc[:32_561], whole.iloc[32_561:])
    complete = [part[~part.isin(["?", ""]).any(axis=1)] for part in parts]
    assert {census.edition(part) for part in (*parts, *complete)} == census.EDITIONS
