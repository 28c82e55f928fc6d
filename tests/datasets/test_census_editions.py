"""A copy of the census is taken as the sample only where it is the table that everybody has, row by row.

Its answers are practice and cost nobody's budget, so a table about other people must not pass for it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

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


def test_archives_are_read_where_it_is_said(published: pd.DataFrame, tmp_path: Path) -> None:
    """A server reads what people bring in processes of their own, and unpacks nothing itself."""
    file = tmp_path / "table"
    file.write_bytes(gzip.compress(published.to_csv(index=False).encode()))
    apart, asked = Apart(), []

    def tables(data: bytes, choices: Choices, say: Callable[[float, str], None]) -> Tabulated:
        asked.append(data[:2])
        return apart.table_of(data, choices, say)

    try:
        assert load_sample("adult", path=file, tables=tables).rows == len(published)
        assert apart.process is not None
    finally:
        apart.close()
    assert asked == [b"\x1f\x8b"]


@pytest.mark.skipif(not ADULT.is_file(), reason="the real census table lies beside the checkout, where there is one")
def test_every_known_edition_is_the_published_table_or_a_part_of_it() -> None:
    whole = pd.read_csv(ADULT, dtype=str, keep_default_na=False)[list(NAMES)]
    parts = (whole, whole.iloc[:32_561], whole.iloc[32_561:])
    complete = [part[~part.isin(["?", ""]).any(axis=1)] for part in parts]
    assert {census.edition(part) for part in (*parts, *complete)} == census.EDITIONS
