"""How much a workbook unfolds to is found out before it is opened, whatever its parts state."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.datasets import UnreadableFile, load_sample, read_table
from dpcore.datasets.catalog import census
from dpcore.datasets.reading import workbook
from dpcore.errors import UnavailableSample
from tests.datasets.cases.kinds import people_sheet, sheet, sheet_xml


def test_a_bomb_beside_the_sheet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = io.BytesIO(sheet(people_sheet)())
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/a.png", bytes(3 << 20))
    assert read_table(made.getvalue()).rows == 3
    monkeypatch.setattr(workbook, "_MOST_XML", 2 << 20)
    with pytest.raises(UnreadableFile, match="unpacks to more than 2 MB"):
        read_table(made.getvalue())


def test_cells_that_do_not_say_where_they_stand_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = b"".join(b"<row>" + b"<c><v>%d</v></c>" % place * 3 + b"</row>" for place in range(100))
    assert read_table(sheet_xml(rows)).rows in (99, 100)
    monkeypatch.setattr(workbook, "_MOST_CELLS", 299)
    with pytest.raises(UnreadableFile, match="300 cells"):
        read_table(sheet_xml(rows))


_NAMES = (
    "age,workclass,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,"
    "hours-per-week,native-country,income\n"
)
_PERSON = (
    "39,State-gov,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K\n"
)


CENSUS_BOMBS = {
    "a gigabyte packed": lambda: gzip.compress(bytes(1 << 20)) * 1024,  # members of one file
    "rows without end": lambda: gzip.compress((_NAMES + 200_000 * "39,Private\n").encode()),
    "columns without end": lambda: b"," * (16 << 20) + b"\n",
    "one line without end": lambda: b"x" * (16 << 20),
    "wide below a narrow line": lambda: _NAMES.encode() + b"," * (16 << 20),
}


@pytest.mark.parametrize("name", CENSUS_BOMBS)
def test_a_bomb_in_place_of_the_census_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    """From 800 kB a reading thread once took 4.5 GB and 98 s."""
    file = tmp_path / "table"
    file.write_bytes(CENSUS_BOMBS[name]())
    tracemalloc.start()
    try:
        with pytest.raises(UnavailableSample, match="point to its CSV file"):
            load_sample("adult", path=file)
        assert tracemalloc.get_traced_memory()[1] < 300 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_the_census_is_read_however_it_is_packed(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "edition", lambda frame: next(iter(census.EDITIONS)))
    file = tmp_path / "table"
    file.write_bytes(pack((_NAMES + 5 * _PERSON).encode()))
    assert load_sample("adult", path=file).rows == 5
