"""Aggregates in place are those of the same table in memory; nothing can be written, and no address gets out."""

from __future__ import annotations

import math
import sqlite3
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from sqlalchemy.exc import DatabaseError

from dpcore.datasets import Column, Schema, Table
from dpcore.datasets.conversion import apply, as_text
from dpcore.datasets.in_place import InPlace, configured_sources, open_database, open_folder, tables_of
from dpcore.datasets.in_place.database import _engine
from dpcore.errors import InvalidArgument, UnreadableFile

WARD = Column(name="ward", type="category", categories=("North", "South", "West"))
ILL = Column(name="ill", type="yes/no")
AGE = Column(name="the age", type="number", low=0, high=100)
DAY = Column(name="day", type="date")
FACTS = "epsilon = 1.0\nrows_per_person = 1\n"
SCHEMA = Schema(columns=(WARD, ILL, AGE, DAY))


def people(rows: int = 3000) -> pd.DataFrame:
    rng = np.random.Generator(np.random.PCG64(8))
    words = np.array(["North", " South", "West ", "East", "n/a", None, "South"], dtype=object)
    ages = rng.normal(50, 40, rows)
    ages[:3] = [np.nan, 100.0, 0.0]
    return pd.DataFrame(
        {
            "id": rng.integers(0, 400, rows),
            "ward": words[rng.integers(0, len(words), rows)],
            "ill": np.array(["yes", "no", "Ja", "?", None], dtype=object)[rng.integers(0, 5, rows)],
            "the age": ages,
            "day": np.array(["2024-01-31", "2024-02-01 10:20:00", "never"], dtype=object)[rng.integers(0, 3, rows)],
        }
    )


def folder(place: Path) -> InPlace:
    made = place / "trips"
    (made / "more").mkdir(parents=True)
    people().iloc[:1000].to_parquet(made / "a.parquet")
    people().iloc[1000:].to_parquet(made / "more" / "b.parquet")
    return open_folder(made)


def database(place: Path) -> InPlace:
    with sqlite3.connect(place / "clinic.db") as connection:
        people().to_sql("all: people%", connection, index=False)
        connection.execute('CREATE VIEW seen AS SELECT * FROM "all: people%"')
    connection.close()
    return open_database(f"sqlite:///{place / 'clinic.db'}", "all: people%")


@pytest.fixture(params=[folder, database])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> InPlace:
    return request.param(tmp_path)


@pytest.fixture(scope="module")
def held() -> Table:
    frame = people()
    text = pd.DataFrame({name: as_text(frame[name]) for name in frame.columns})
    return apply(SCHEMA, text).table(fingerprint="t", lineage="t")


def test_it_counts_what_a_table_in_memory_counts(stored: InPlace, held: Table) -> None:
    assert stored.rows() == held.rows
    assert stored.names == tuple(people().columns)
    assert stored.counts(WARD).tolist() == held.counts("ward").tolist()
    assert stored.counts(ILL).tolist() == held.counts("ill").tolist()


def test_it_adds_up_what_a_table_in_memory_adds_up(stored: InPlace, held: Table) -> None:
    ages = held.numbers("the age")
    total, size = stored.total(AGE)
    assert size == ages.size
    assert total == pytest.approx(ages.sum(), rel=1e-12)
    bins = np.bincount(np.minimum(np.floor(ages * (40 / 100)), 39).astype(int), minlength=40)
    assert stored.histogram(AGE, 40).tolist() == bins.tolist()
    assert int(stored.histogram(AGE, 40)[-1]) >= int((ages == 100).sum()) > 0


def test_what_is_not_finite_is_in_no_sum_whatever_numbers_a_column_holds(tmp_path: Path) -> None:
    """Not a number, both infinities and nothing, with and beyond the largest finite ones, as doubles and singles; whole
    and decimal numbers beside them."""
    largest = float(np.finfo(np.float64).max)
    odd = [math.nan, math.inf, -math.inf, None]
    table = pa.table(
        {
            "double": pa.array([*odd, largest, -largest, 40.5, -0.0], pa.float64()),
            "single": pa.array([*odd, 3e38, -3e38, 40.5, -0.0], pa.float32()),
            "whole": pa.array([None, 2**63 - 1, -(2**63), 40, 7, 0, -1, None], pa.int64()),
            "decimal": pa.array([None, *map(Decimal, ("1e30", "-1e30", "40.5", "0", "1", "2")), None]).cast(
                pa.decimal128(38, 2)
            ),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    stored = open_folder(tmp_path)
    wanted = {"double": (140.5, 4), "single": (140.5, 4), "whole": (147.0, 6), "decimal": (143.5, 6)}
    for name, (total, size) in wanted.items():
        column = Column(name=name, type="number", low=0, high=100)
        assert stored.total(column) == (total, size), name
        assert int(stored.histogram(column, 4).sum()) == size, name


def test_days_and_group_sizes(stored: InPlace) -> None:
    frame = people()
    days = frame["day"].str[:10].value_counts()
    assert stored.days(DAY).tolist() == [days["2024-01-31"], days["2024-02-01"]]
    sizes = frame["id"].value_counts().value_counts()
    found = stored.group_sizes("id")
    assert {int(size): int(found[size]) for size in np.flatnonzero(found)} == sizes.to_dict()
    assert stored.words("ward")[0][1] == int(frame["ward"].value_counts(dropna=False).max())


def test_types_are_suggested_from_the_first_rows(stored: InPlace) -> None:
    schema, columns = stored.suggested()
    assert schema.column("the age").type == "number"
    assert schema.column("ward").type == "category"
    assert [column.name for column in columns] == list(stored.names)


@pytest.mark.parametrize(
    "ask",
    [
        lambda stored: stored.counts(Column(name="ward", type="category")),
        lambda stored: stored.counts(AGE),
        lambda stored: stored.counts(Column(name='x" UNION SELECT 1 --', type="yes/no")),
        lambda stored: stored.histogram(Column(name="the age", type="number"), 10),
        lambda stored: stored.histogram(AGE, 0),
        lambda stored: stored.days(WARD),
        lambda stored: stored.group_sizes("absent"),
    ],
)
def test_a_question_that_is_none_is_refused(stored: InPlace, ask: object) -> None:
    with pytest.raises(InvalidArgument):
        ask(stored)  # type: ignore[operator]


def test_a_database_cannot_be_written(tmp_path: Path) -> None:
    stored = database(tmp_path)
    for sql in (
        "DROP VIEW seen",
        "DELETE FROM seen",
        'INSERT INTO "all: people%" (id) VALUES (1)',
        "CREATE TABLE x (y)",
    ):
        with pytest.raises(UnreadableFile) as caught:
            stored.run(sql)
        assert "sqlite" not in str(caught.value)
    with pytest.raises(DatabaseError), _engine(f"sqlite:///{tmp_path / 'clinic.db'}").begin() as connection:
        connection.exec_driver_sql("CREATE TABLE x (y)")
    assert stored.rows() == 3000
    _engine.cache_clear()


def test_a_mutant_that_can_write_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.datasets.in_place.database._opened_for_reading", lambda url: url)
    monkeypatch.setattr("dpcore.datasets.in_place.database._begin", lambda *_: None)
    _engine.cache_clear()
    stored = database(tmp_path)
    assert stored.rows() == 3000
    with _engine(f"sqlite:///{tmp_path / 'clinic.db'}").begin() as connection:
        connection.exec_driver_sql("CREATE TABLE x (y)")
    assert "x" in tables_of(f"sqlite:///{tmp_path / 'clinic.db'}")
    _engine.cache_clear()


def test_only_tables_that_are_allowed_can_be_chosen(tmp_path: Path) -> None:
    database(tmp_path)
    address = f"sqlite:///{tmp_path / 'clinic.db'}"
    assert tables_of(address) == ("all: people%", "seen")
    assert tables_of(address, allowed=("seen", "other")) == ("seen",)
    for table, allowed in (("other", ()), ("all: people%", ("seen",)), ("sqlite_master", ())):
        with pytest.raises(UnreadableFile, match="no such table"):
            open_database(address, table, allowed=allowed)


@pytest.mark.parametrize("address", ["nonsense", "klingon://a:geheim@b/c", "sqlite:////absent/geheim.db"])
def test_an_address_is_in_no_sentence(address: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        tables_of(address)
    assert "geheim" not in str(caught.value)


def test_a_folder_reaches_no_other_file(tmp_path: Path) -> None:
    stored = folder(tmp_path)
    people().to_parquet(tmp_path / "secret.parquet")
    with pytest.raises(UnreadableFile):
        stored.run(f"FROM read_parquet('{tmp_path / 'secret.parquet'}')")
    with pytest.raises(UnreadableFile, match="no Parquet"):
        open_folder(tmp_path / "absent")


@pytest.mark.parametrize("tables", [["seen"], ["absent"], []])
def test_no_table_is_offered_that_the_list_does_not_name(tmp_path: Path, tables: list[str]) -> None:
    """Whoever takes the last one out of the list does not mean all of them."""
    database(tmp_path)
    file = tmp_path / "sources.toml"
    file.write_text(f'[clinic]\naddress = "sqlite:///{tmp_path / "clinic.db"}"\ntables = {tables}\n{FACTS}')
    offered: tuple[str, ...] = ()
    with suppress(InvalidArgument):
        offered = configured_sources(file)[0].tables()
    assert set(offered) <= set(tables)


def test_sources_are_configured_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path)
    database(tmp_path)
    file = tmp_path / "sources.toml"
    file.write_text(
        f'[trips]\nlabel = "Trips"\nfolder = "{tmp_path / "trips"}"\n{FACTS}\n'
        f'[clinic]\naddress = "sqlite:///{tmp_path / "clinic.db"}"\ntables = ["seen"]\n{FACTS}'
    )
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(file))
    trips, clinic = configured_sources()
    assert (trips.label, clinic.label) == ("Trips", "clinic")
    assert trips.open(trips.tables()[0]).rows() == clinic.open(clinic.tables()[0]).rows() == 3000
    assert (trips.lineage, clinic.lineage) == ("configured:trips", "configured:clinic")
    assert "sqlite" not in repr(clinic)
    (tmp_path / "trips" / "a.csv").write_text("x;ward;km\n;North;1,5\n")
    form = 'format = "csv"\ndelimiter = ";"\ndecimal = ","\ncolumns = { km = "number", ward = "text" }\n'
    file.write_text(f'[trips]\nfolder = "{tmp_path / "trips"}"\nid_column = "ward"\n{form}{FACTS}')
    (lines,) = configured_sources()
    assert lines.tables() == ("",)
    assert lines.open().total(Column(name="km", type="number", low=0, high=9)) == (1.5, 1)
    monkeypatch.delenv("EPSILON_LAB_SOURCES")
    assert configured_sources() == ()
    good = f'folder = "x"\n{FACTS}'
    for wrong in (
        *("[a", f'[a]\nlabel = "x"\n{FACTS}', f'[a]\naddress = "y"\n{good}', f"[a]\nfolder = 3\n{FACTS}", "a = 3\n"),
        *('[a]\nfolder = "x"\nepsilon = 1.0', '[a]\nfolder = "x"\nrows_per_person = 1'),
        *(f"[a]\n{good.replace('1.0', bad)}" for bad in ("0", "-1.0", "nan", "25.0", '"1"', "true")),
        *(f"[a]\n{good}\n{more}" for more in ("delta = 0.5", 'hides = "all"', "typo = 1", "tables = [3]", 'unit = ""')),
        *(f"[a]\n{good}\n{more}" for more in ('format = "csv"', 'columns = { a = "text" }', 'delimiter = ";"')),
        *(f'[a]\n{good}\nformat = "csv"\ncolumns = {more}' for more in ('["a"]', "{ a = 3 }", '{ a = "list" }', "{}")),
        f'[a]\n{good}\nformat = "csv"\ncolumns = {{ a = "text" }}\nid_column = "b"',
        f'[a]\n{good}\nformat = "csv"\ncolumns = {{ a = "text" }}\ndelimiter = "ab"',
        f'[a]\naddress = "y"\nformat = "csv"\ncolumns = {{ a = "text" }}\n{FACTS}',
        f"['a b']\n{good}",
        f"[a]\n{good.replace('person = 1', 'person = 0')}",
    ):
        file.write_text(wrong)
        with pytest.raises(InvalidArgument, match="EPSILON_LAB_SOURCES"):
            configured_sources(file)
