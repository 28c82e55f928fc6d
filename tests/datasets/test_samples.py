"""Samples say truly what they are, load without a network, and follow their own declarations."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import (
    Table,
    UnavailableSample,
    apply,
    expanded,
    fetched,
    load_sample,
    questions_for,
    sample,
    samples,
)
from dpcore.datasets.catalog import census
from dpcore.errors import InvalidArgument
from dpcore.selection import PermuteAndFlip

ROOT = Path(__file__).parents[2]
ADULT = ROOT.parent / "shared" / "data" / "adult.csv.gz"
OFFLINE = [known.key for known in samples() if not known.needs_network]
REQUIRED = {
    *("breast_cancer", "diabetes", "digits", "wine", "stocks", "gapminder", "election", "census_marital_status"),
    *("town", "clinic", "meeting_dates", "forecasts", "outbreak", "adult"),
}


def test_every_required_sample_is_there() -> None:
    assert {known.key for known in samples()} >= REQUIRED
    assert samples()[0].key == "clinic"


@pytest.mark.parametrize("name", OFFLINE)
def test_a_sample_is_what_it_says(name: str) -> None:
    """Rows as announced; no cell that its own declaration refuses, moves or leaves out; a fingerprint that repeats."""
    known, table = sample(name), load_sample(name)
    assert table.rows == known.rows
    assert table.frame.notna().all(axis=None)
    assert tuple(table.frame.columns) == table.schema.names
    assert table.fingerprint == load_sample(name).fingerprint
    assert table.lineage == f"sample:{name}"
    for column in table.schema.columns:
        if column.type == "category":
            assert (table.counts(column.name) >= 0).all()
            assert table.counts(column.name).sum() == table.rows
        if column.is_numeric:
            assert column.bounded
            values = table.numbers(column.name)
            assert values.min() >= column.low
            assert values.max() <= column.high
    account = apply(known.schema, pd.DataFrame(table.frame))
    assert all(each.outside.size == each.unparsable.size == each.unlisted.size == 0 for each in account.accounts)


@pytest.mark.parametrize("known", samples(), ids=lambda known: known.key)
def test_a_sample_states_origin_and_suited_questions(known) -> None:  # type: ignore[no-untyped-def]
    assert len(known.origin) > 30
    assert ("simulated" in known.title) == known.simulated == known.origin.startswith("Simulated")
    assert known.suits
    possible = {suited.question for suited in questions_for(known.schema)}
    for question in known.suits:
        assert question in possible, f"{known.key} has no columns for {question}"
        assert known.reason(question).endswith(".")
    assert all(not suited.lacking for suited in questions_for(known.schema)), "samples are declared in full"


def test_bounds_are_round_numbers_not_the_extremes_of_the_data() -> None:
    """A declared bound that equals the smallest or largest value on both sides would be a bound read from the data."""
    for name in ("breast_cancer", "diabetes", "wine", "gapminder", "town"):
        table = load_sample(name)
        for column in table.schema.of_type("number", "integer"):
            values = table.numbers(column.name)
            assert (values.min(), values.max()) != (column.low, column.high), f"{name}: {column.name}"


def test_simulated_files_are_written_again_byte_for_byte(tmp_path: Path) -> None:
    for generator in ("generate.py", "make_outbreak.py"):
        subprocess.run([sys.executable, str(ROOT / "data" / generator), str(tmp_path)], check=True)
    written = sorted(tmp_path.glob("*.csv"))
    assert {file.name for file in written} >= {
        "clinic.csv",
        "town.csv",
        "meeting_dates.csv",
        "forecasts.csv",
        "outbreak.csv",
    }
    for file in written:
        assert file.read_bytes() == (ROOT / "data" / file.name).read_bytes(), file.name


def test_every_bundled_file_has_a_note_of_origin() -> None:
    notes = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    for file in (ROOT / "data").glob("*.csv"):
        assert f"`{file.name}`" in notes, f"data/README.md needs a row that says where {file.name} comes from"


def test_the_first_example_passes_from_chance_to_certainty_within_the_slider() -> None:
    """Clinic: the top two counts are close among about 300; near chance at ε = 0.01, certain before 10."""
    counts = np.sort(load_sample("clinic").counts("complaint"))[::-1]
    assert 250 <= counts.sum() <= 350
    assert 5 <= counts[0] - counts[1] <= 25
    right = [
        PermuteAndFlip(epsilon=epsilon, monotonic=True).probabilities(counts.astype(float)).max()
        for epsilon in (0.01, 0.1, 1.0, 10.0)
    ]
    assert right[0] < 0.25
    assert 0.4 < right[1] < 0.9
    assert right[3] > 0.9999


def test_the_census_counts_are_the_published_ones() -> None:
    table = load_sample("census_marital_status")
    assert table.numbers("people").tolist() == [14976, 10683, 4443, 1025, 993, 418, 23]
    people = expanded(table, option="marital status", count="people")
    assert people.rows == 32_561
    assert people.counts("marital status").tolist() == [14976, 10683, 4443, 1025, 993, 418, 23]
    assert people.schema.each_row == "record"
    assert people.fingerprint != table.fingerprint
    with pytest.raises(InvalidArgument):
        expanded(load_sample("clinic"), option="complaint", count="age")


def test_two_wards_stand_out_and_the_best_forecaster_changes() -> None:
    town = load_sample("town").frame
    cases = town[town["condition"]].groupby("ward", observed=False).size()
    assert set(cases[cases > 100].index) == {"Harbour", "Kiln"}
    table = load_sample("forecasts").frame
    rain = table["rain"].astype(float)
    losses = table.drop(columns=["rain", "day"]).sub(rain, axis=0) ** 2
    assert losses[:1000].mean().idxmin() == "Cloudwatch"
    assert losses[1000:].mean().idxmin() == "Frontline"


def test_loading_bundled_and_plotly_tables_imports_neither_plotly_nor_scikit_learn() -> None:
    names = [name for name in OFFLINE if name not in ("breast_cancer", "diabetes", "digits", "wine")]
    code = (
        "import sys; from dpcore.datasets import load_sample, samples;"
        "assert 'duckdb' not in sys.modules; samples();"
        f"[load_sample(name) for name in {names}];"
        "print([m for m in ('plotly', 'sklearn', 'duckdb', 'streamlit') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_adult_without_file_or_network_says_so_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "_START", "raise SystemExit(1)")
    monkeypatch.setattr(fetched, "_silent", {})
    seen: list[str] = []
    with pytest.raises(UnavailableSample, match=re.escape("point to a CSV file of it instead.")):
        load_sample("adult", progress=lambda fraction, what: seen.append(what))
    assert seen[0] == "Asking openml.org for the census table"
    assert set(seen[1:]) == {"Downloading the census table from openml.org"}


def test_adult_from_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is fetched is written as text, and read as the copy that somebody brings."""
    row = "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,?,<=50K"
    names = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    names += "capital-gain,capital-loss,hours-per-week,native-country,class"
    monkeypatch.setattr(fetched, "_START", f"print({names!r}); print({row!r})")
    monkeypatch.setattr(fetched, "_silent", {})
    table = load_sample("adult")
    assert table.rows == 1
    assert table.numbers("age").tolist() == [39]
    assert table.frame["native_country"].isna().all()


def test_adult_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file with the table's columns in either spelling; a missing or foreign file gets one sentence."""
    small = "dd84"
    monkeypatch.setattr(census, "EDITIONS", {small})
    monkeypatch.setattr(census, "edition", lambda frame: small)
    header = (
        "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
        "capital-gain,capital-loss,hours-per-week,native-country,class\n"
    )
    body = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40,"
        " United-States, <=50K.\n50, ?, 83311, Masters, 14, Divorced, ?, Unmarried, Black, Female, 0, 0, 13, ?, >50K\n"
    )
    file = tmp_path / "adult.data"
    file.write_text(header + body, encoding="utf-8")
    table: Table = load_sample("adult", path=file)
    assert table.rows == 2
    assert table.counts("income").tolist() == [1, 1]
    assert table.complete(*table.schema.names).tolist() == [True, False]
    with pytest.raises(UnavailableSample, match="no file at that place"):
        load_sample("adult", path=tmp_path / "absent.csv")
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UnavailableSample, match="not the census table"):
        load_sample("adult", path=file)
    file.write_bytes(b"\x1f\x8b\xff\x00")
    with pytest.raises(UnavailableSample):
        load_sample("adult", path=file)


@pytest.mark.skipif(not ADULT.is_file(), reason="the real census table lies beside the checkout, where there is one")
def test_adult_real_table() -> None:
    table = load_sample("adult", path=ADULT)
    assert table.rows == sample("adult").rows == 48_842
    assert table.complete(*table.schema.names).sum() == 45_222


def test_wrong_names_and_paths_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        load_sample("nothing")
    with pytest.raises(InvalidArgument):
        load_sample("clinic", path="x.csv")
    with pytest.raises(InvalidArgument):
        sample("clinic").reason("experts")
