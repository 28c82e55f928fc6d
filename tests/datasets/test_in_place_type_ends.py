"""The ends of every type of number, codes for “missing” to many programs, are cells like others in a source."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, duck, open_database, open_folder, tongue
from dpcore.errors import UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption, QuantileValue

HELD = {
    **{f"{sign}int{size}": [] for sign in ("", "u") for size in (8, 16, 32, 64)},
    "float": [-3.4028234663852886e38, 3.4028234663852886e38, 1e-45, -0.0, float("inf"), float("-inf"), float("nan")],
    "double": [-1.7976931348623157e308, 1.7976931348623157e308, 5e-324, float("inf"), float("-inf"), float("nan")],
    "decimal128(38, 0)": [Decimal(10**38 - 1), Decimal(1 - 10**38)],
    "decimal128(38, 37)": [Decimal("9." + 37 * "9"), Decimal("-9." + 37 * "9"), Decimal("1e-37")],
}
for _name in HELD:
    if "int" in _name:
        HELD[_name] = [np.iinfo(_name).min, np.iinfo(_name).max, np.iinfo(_name).max // 2 + 1]
C = "c"
LETTER = Column(name="letter", type="category", categories=("a", "b"))
COLUMNS = {
    "options": Column(name=C, type="category", categories=("1", "2", "3")),
    "yes or no": Column(name=C, type="yes/no"),
    "whole": Column(name=C, type="integer", low=0, high=10),
    "number": Column(name=C, type="number", low=0, high=10),
}


def requests() -> list[Any]:
    """Every way to read the column, by its cells or as whose row it is."""
    whose = Declaration(columns=(LETTER, Column(name=C, type="text")), id_column=C, rows_per_person=2)
    kinds = (MostCommonOption, MostCommonOption, QuantileValue, QuantileValue)
    return [
        *(
            kind.of(Declaration(columns=(column,)), C, epsilon=1.0)
            for kind, column in zip(kinds, COLUMNS.values(), strict=True)
        ),
        MostCommonOption.of(whose, "letter", epsilon=1.0),
        NoisyCount.of(whose, epsilon=1.0),
    ]


def kind_of(name: str) -> pa.DataType:
    if name.startswith("decimal"):
        return pa.decimal128(*(int(one) for one in name[11:-1].split(",")))
    return pa.float32() if name == "float" else pa.float64() if name == "double" else getattr(pa, name)()


def folder(place: Path, name: str, last: object) -> PrivateSource:
    place.mkdir()
    cells = pa.array([1, 2, 1, last], kind_of(name))
    pq.write_table(pa.table({C: cells, "letter": ["a", "b", "a", "b"]}), place / "1.parquet")
    return PrivateSource(lambda: open_folder(place))


def in_duckdb(place: Path, name: str, last: object) -> PrivateSource:
    """The same column in a database."""
    folder(place, name, last)
    with duckdb.connect(str(place / "held")) as own:
        own.execute(f"CREATE TABLE t AS SELECT * FROM read_parquet('{place}/1.parquet')")  # noqa: S608 - this test's own
    return PrivateSource(lambda: open_database(f"duckdb:///{place}/held", "t"))


def read(source: PrivateSource) -> list[Any]:
    found = []
    for one in requests():
        source.check(one.reads)
        found.append(np.asarray(one.read(source)).tolist())
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("held", [folder, in_duckdb])
@pytest.mark.parametrize("name", HELD)
def test_the_end_of_a_type_of_number_is_answered_about(name: str, held: Any, tmp_path: Path) -> None:
    """Each is an option that nobody declared, a number that is moved to a bound, and a person of their own."""
    without = read(held(tmp_path / "without", name, None))
    for number, last in enumerate(HELD[name]):
        options, (no, yes), *_, letters, people = read(held(tmp_path / str(number), name, last))
        assert (options, yes) == (without[0], without[1][1]), last
        assert no == without[1][0] + (last == 0)
        assert sum(letters) >= sum(without[-2])
        assert people >= without[-1]


@pytest.mark.parametrize("name", ["int8", "int64"])
def test_an_absolute_value_that_overflows_is_found_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tongue, "_within", lambda cell, most: tongue.func.abs(cell) < tongue.number(most))
    with pytest.raises(UnreadableFile):
        read(folder(tmp_path / "f", name, HELD[name][0]))


def test_a_floor_that_is_none_of_its_type_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tongue.TONGUES, "duckdb", replace(tongue.DUCKDB, integral=tongue._is_floor))
    monkeypatch.setattr(tongue, "DUCKDB", tongue.TONGUES["duckdb"])
    monkeypatch.setattr(duck, "DUCKDB", tongue.DUCKDB, raising=False)
    with pytest.raises(UnreadableFile):
        read(in_duckdb(tmp_path / "f", "decimal128(38, 37)", HELD["decimal128(38, 37)"][1]))
