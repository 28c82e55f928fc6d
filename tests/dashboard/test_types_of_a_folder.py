"""What the page declares by itself of a folder of Parquet, and what is asked of it then, hangs on no type that one row
made of a column; a person may still state any type that it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import place
from dashboard.data.columns import TYPES
from dashboard.data.own_file import OwnFile
from dashboard.data.place import placed
from dashboard.words import asking
from dashboard.words import place as said
from dpcore.datasets import Column, Declaration
from dpcore.datasets.importing import import_csv
from dpcore.datasets.in_place import ConfiguredSource, InPlace, open_folder
from dpcore.datasets.in_place.tongue import Kind
from dpcore.release import question_digest
from dpcore.releases.selection import MostCommonOption, QuantileValue
from tests.dashboard.conftest import text
from tests.dashboard.test_configured_sources import click
from tests.dashboard.test_data_page import held
from tests.datasets.test_types_of_one_row import FAMILIES, VARIANTS, WRITTEN, table, with_one_more

ROWS = 6
STATED: tuple[Column, ...] = (
    Column(name="c", type="integer", low=0, high=9),
    Column(name="c", type="number", low=0, high=9),
    Column(name="c", type="category", categories=("0", "1")),
    Column(name="c", type="yes/no"),
    Column(name="c", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 9)),
)


def source(folder: Path) -> ConfiguredSource:
    return ConfiguredSource(name="clinic", label="Clinic", epsilon=1.0, rows_per_person=1, folder=str(folder))


def begun(folder: Path, *tables: pa.Table) -> OwnFile:
    folder.mkdir()
    for at, rows in enumerate(tables):
        pq.write_table(rows, folder / f"{at}.parquet")
    return placed(source(folder), "")


def of_all_types() -> Iterator[pa.Table]:
    """The same columns in all types that one row can make of each other, and without any value."""
    for variant in range(VARIANTS):
        yield table(variant, flat=False).slice(0, ROWS)
    yield pa.table({name: pa.nulls(ROWS) for name in ("ward", *FAMILIES)})


def neighbours() -> Iterator[tuple[pa.Table, pa.Table]]:
    """Tables that pandas and Arrow write with one row, and with another in its place, of other types."""
    for usual, last, odd in WRITTEN.values():
        yield tuple(pa.Table.from_pandas(with_one_more(usual, one)) for one in (last, odd))  # type: ignore[misc]
    for cell in (2.0, 2, True, "Ann", b"Ann", date(2024, 1, 3), pd.Timestamp("2024-01-03 10:30")):
        yield tuple(
            pa.Table.from_pandas(pd.DataFrame({"ward": ["a", "b"], "c": pd.Series([None, one], dtype=object)}))
            for one in (None, cell)
        )  # type: ignore[misc]


def declared(own: OwnFile, column: Column) -> OwnFile:
    """With the type chosen by hand, and what it can hold stated."""
    decisions = own.decisions.retyped(column.name, column.type, None)
    return replace(own, decisions=decisions.says(column, binary=[column.name] if column.type == "yes/no" else []))


def digest(own: OwnFile, column: Column) -> str:
    """Of a question about the column, as a receipt has it."""
    stated = declared(own, column).columns.declared
    assert stated is not None
    facts = Declaration.of(stated, form=own.form.said_in_answers)
    if column.is_numeric:
        return question_digest(QuantileValue.of(facts, column.name, epsilon=1.0))
    if column.type == "date":
        return repr(facts.reads(column.name))
    return question_digest(MostCommonOption.of(facts, column.name, epsilon=1.0))


def by_type(own: OwnFile, name: str = "c") -> Mapping[str, str]:
    """What is asked of a column as every type that it may be declared as."""
    types = own.types(name)
    return {column.type: digest(own, replace(column, name=name)) for column in STATED if column.type in types}


def check(one: OwnFile, other: OwnFile) -> None:
    assert one.schema == other.schema
    assert one.columns.declared is None
    assert other.columns.declared is None
    here, there = by_type(one), by_type(other)
    assert {kind: here[kind] for kind in here if kind in there} == {kind: there[kind] for kind in there if kind in here}


@pytest.mark.thorough
def test_all_types_of_a_column_begin_and_are_asked_alike(tmp_path: Path) -> None:
    first, *others = (begun(tmp_path / f"{at}", rows) for at, rows in enumerate(of_all_types()))
    asked = {name: by_type(first, name) for name in FAMILIES}
    assert all("integer" in asked[name] for name in ("whole", "number", "large"))
    for own in others:
        assert own.schema == first.schema
        assert own.columns.declared is None
        for name in FAMILIES:
            found = by_type(own, name)
            assert all(found[kind] == asked[name][kind] for kind in found if kind in asked[name])


@pytest.mark.thorough
@pytest.mark.parametrize("files", [1, 2])
def test_the_declaration_and_the_question_of_neighbours_are_equal(files: int, tmp_path: Path) -> None:
    for at, pair in enumerate(neighbours()):
        kept = (begun(tmp_path / f"{at}{one}", *([pair[0]] * (files - 1)), rows) for one, rows in enumerate(pair))
        check(*kept)


def by_its_kind(stored: InPlace, name: str) -> Any:
    return place._USUAL[stored.kinds[name]]


def with_one_type_for_numbers(stored: InPlace, name: str) -> Any:
    numbers: dict[Kind, str] = {"integer": "number", "nothing": "text"}
    return numbers.get(stored.kinds[name], by_its_kind(stored, name))


@pytest.mark.thorough
@pytest.mark.parametrize("begins", [by_its_kind, with_one_type_for_numbers])
def test_these_tests_can_fail(
    begins: Callable[[InPlace, str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "_begins", begins)
    with pytest.raises(AssertionError):
        test_the_declaration_and_the_question_of_neighbours_are_equal(1, tmp_path)


def test_types_that_somebody_stated_are_begun_with(tmp_path: Path) -> None:
    """Of files that were made so, all of them: one more, of which nobody says it, takes that away."""
    file, made = tmp_path / "a.csv", tmp_path / "made"
    file.write_text("ward,stops\n" + "South,1\n" * ROWS)
    import_csv([file], made, types={"ward": "text", "stops": "integer"})
    assert [column.type for column in placed(source(made), "").schema.columns] == ["category", "integer"]
    pq.write_table(pa.table({"ward": ["South"], "stops": [1]}), made / "more.parquet")
    assert not open_folder(made).kinds_stated
    assert [column.type for column in placed(source(made), "").schema.columns] == ["text", "text"]


def test_a_page_says_that_types_are_to_be_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_app: Callable[..., AppTest]
) -> None:
    folder, listed = tmp_path / "trips", tmp_path / "sources.toml"
    folder.mkdir()
    pq.write_table(pa.table({"stops": [1, 2, None]}), folder / "a.parquet")
    listed.write_text(f'[trips]\nfolder = "{folder}"\nepsilon = 1.0\nrows_per_person = 1\n')
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(listed))
    app = click(open_app("data", **{"from": "source"}), said.USE)
    assert said.TYPED_BY_YOU in text(app)
    assert said.DECLARED_BY_YOU not in text(app)
    assert asking.NOTHING_SUITS in text(app)
    app.selectbox(key="own-column").set_value("stops").run()
    kinds = next(one for one in app.selectbox if one.label == "Type")
    assert kinds.options == [TYPES[kind] for kind in TYPES if kind != "date"]
    kinds.set_value("integer").run()
    assert held(app).schema.column("stops").type == "integer"
    assert "What is the median of stops?" in {one.label for one in app.button}
