"""Sources behind the door of a release: counted as rows in memory are, never written, refused in a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpcore.audit.sources import SOURCES
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.in_place import (
    ConfiguredSource,
    Form,
    PrivateSource,
    counting,
    open_database,
    open_folder,
    open_lines,
    tables_of,
)
from dpcore.errors import InvalidArgument, ReleaseRefused, UnreadableFile
from dpcore.ledger import Ledger
from dpcore.release import COUNTS_ALONE, question_digest, release, sentence
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.plays import PrivatePlays
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, LeastCost, MostCommonOption, QuantileValue

WARD = Column(name="ward", type="category", categories=("North", "So'uth", "n/a", "West"))
ILL = Column(name="ill", type="yes/no")
DAY = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 9))
WHO = Column(name="who", type="text")
AGE = Column(name="age", type="integer", low=0, high=100)
SHARE = Column(name="share", type="number", low=-1, high=3.5)
DECLARED = Declaration(columns=(WARD, ILL, DAY, AGE, SHARE))


def visits(rows: int = 400) -> pd.DataFrame:
    rng = np.random.Generator(np.random.PCG64(3))
    words = np.array(["North", " So'uth ", "n/a", "west", "West", None], dtype=object)
    stamps = np.datetime64("2023-12-30T12:00:00") + rng.integers(0, 14 * 86_400, rows).astype("timedelta64[s]")
    return pd.DataFrame(
        {
            "who": [f"p{number}" for number in rng.integers(0, 60, rows)],
            "ward": words[rng.integers(0, len(words), rows)],
            "ill": rng.random(rows) < 0.4,
            "day": stamps,
            "age": pd.Series(rng.integers(-20, 130, rows)).astype("Int64").mask(rng.random(rows) < 0.1),
            "share": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(0, 2, rows)),
        }
    )


def in_folder(place: Path, frame: pd.DataFrame) -> PrivateSource:
    frame.to_parquet(place / "visits.parquet")
    opened = open_folder(place)
    return PrivateSource(lambda: opened)


def in_lines(place: Path, frame: pd.DataFrame) -> PrivateSource:
    frame.to_csv(place / "visits.csv", index=False)
    kinds = ("text", "text", "text", "date", "integer", "number")
    opened = open_lines(place, Form(columns=tuple(zip(frame.columns, kinds, strict=True))))
    return PrivateSource(lambda: opened)


def in_sqlite(place: Path, frame: pd.DataFrame) -> PrivateSource:
    file = place / "clinic.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "CREATE TABLE visits (who TEXT, ward TEXT, ill BOOLEAN, day DATETIME, age INTEGER, share REAL)"
        )
        rows = frame.astype({"ill": int, "day": str}).astype("object").where(frame.notna(), None).to_numpy().tolist()
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?)", rows)
    return PrivateSource(lambda: open_database(f"sqlite:///{file}", "visits"))


def in_duckdb(place: Path, frame: pd.DataFrame) -> PrivateSource:
    file = place / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    opened = open_database(f"duckdb:///{file}", "visits")
    return PrivateSource(lambda: opened)


def halves(declared: Declaration) -> Declaration:
    """With a column whose odd values lie half way between two parts of its range."""
    return replace(declared, columns=(*declared.columns[:3], replace(AGE, high=2**21), SHARE))


def test_several_people_ask_one_database_file_at_once(tmp_path: Path) -> None:
    """Pages and answers, each with a connection of their own, whoever comes and goes meanwhile."""
    in_duckdb(tmp_path, visits())
    url = f"duckdb:///{tmp_path / 'clinic.duckdb'}"
    asked = MostCommonOption.of(DECLARED, "ward", epsilon=1.0)
    held = open_database(url, "visits")

    def answer(_: int) -> list[int]:
        assert tables_of(url) == ("visits",)
        return list(asked.read(PrivateSource(lambda: open_database(url, "visits"))))

    with ThreadPoolExecutor(4) as people:
        first, *others = people.map(answer, range(8))
    assert all(one == first for one in others)
    assert answer(0) == first
    for statement in ("SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM glob('/*')"):
        with pytest.raises(UnreadableFile):
            held.run(statement)
    del held
    assert answer(0) == first


@pytest.mark.thorough
@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite, in_duckdb])
def test_a_source_counts_what_rows_in_memory_count(
    make: Callable[[Path, pd.DataFrame], PrivateSource], tmp_path: Path
) -> None:
    frame = visits()
    stored, held = make(tmp_path, frame), PrivateRows(frame.astype("str").where(frame.notna(), ""))
    for filled in (
        DECLARED,
        replace(
            DECLARED,
            columns=(replace(WARD, fill="West"), replace(ILL, fill="yes"), DAY, replace(AGE, fill=40.0), SHARE),
        ),
    ):
        requests = (
            MostCommonOption.of(filled, "ward", epsilon=1.0),
            MostCommonOption.of(filled, "ill", epsilon=1.0),
            AlarmRun.of(filled, "day", threshold=10, epsilon=1.0),
            AlarmRun.of(filled, "ward", where="ill", threshold=10, epsilon=1.0),
            AlarmRun.of(filled, "day", where="ill", threshold=10, epsilon=1.0),
            QuantileValue.of(filled, "age", epsilon=1.0),
            QuantileValue.of(filled, "share", epsilon=1.0, q=0.25),
            BestRule.of(filled, ["ward", "age", "share"], target="ill", epsilon=1.0, cuts=7),
            BestRule.of(filled, ["age"], target="ward", positive="So'uth", epsilon=1.0, cuts=1),
            LeastCost.of(filled, ["age", "share"], epsilon=1.0),
            LeastCost.of(halves(filled), ["age", "share"], epsilon=1.0),
            NoisyCount.of(filled, epsilon=1.0),
        )
        stored.check(requests[-1].reads)
        for asked in requests:
            found = np.ravel(asked.read(stored)).tolist()
            assert found == np.ravel(asked.read(held)).tolist() != [0] * len(found), asked.what
    reads = DECLARED.reads("age", "ill")
    for cuts in ([-5.0, 0.0, 50.0, 100.0, 120.0], [100.0], [0.5], []):
        looks = {"age": np.array(cuts)}
        (one,), (other,) = (opened.opened(reads).crossed("ill", looks) for opened in (stored, held))
        assert one.tolist() == other.tolist()
    every = replace(DECLARED, columns=(*DECLARED.columns, WHO), id_column="who", rows_per_person=50)
    for asked in (
        BestRule.of(every, ["ward", "age", "share"], target="ill", epsilon=1.0, cuts=7),
        LeastCost.of(every, ["age", "share"], epsilon=1.0),
        *(NoisyCount.of(replace(every, rows_per_person=most), epsilon=1.0) for most in (1, 5, 50)),
    ):
        assert np.ravel(asked.read(stored)).tolist() == np.ravel(asked.read(held)).tolist(), asked.what
    kept = BestRule.of(replace(every, rows_per_person=2), ["ward", "age"], target="ill", epsilon=1.0)
    assert -kept.read(stored)[:2].sum() == NoisyCount.of(replace(every, rows_per_person=2), epsilon=1.0).read(stored)
    named = replace(DECLARED, columns=(WARD, WHO), id_column="who")
    for most in (2, 50):
        asked = MostCommonOption.of(replace(named, rows_per_person=most), "ward", epsilon=1.0)
        own = frame.groupby("who").size().clip(upper=most).sum()
        there = asked.read(stored).sum()
        assert there <= own
        assert most < 50 or asked.read(stored).tolist() == asked.read(held).tolist()


def test_which_rows_of_a_person_stay_depends_on_that_person_alone_and_not_on_what_they_hold(tmp_path: Path) -> None:
    one = pd.DataFrame({"who": "u", "ward": ["North", "West"] * 20})
    many = pd.DataFrame({"who": [f"p{number}" for number in range(1500) for _ in range(4)]}).assign(
        ward=["West", "North", "West", "West"] * 1500
    )
    declared = Declaration(columns=(WARD, WHO), id_column="who", rows_per_person=5)
    asked = MostCommonOption.of(declared, "ward", epsilon=1.0)
    both = [in_folder(folder(tmp_path, name), frame) for name, frame in (("a", one), ("b", pd.concat([many, one])))]
    alone, crowd = (asked.read(stored) for stored in both)
    assert (crowd - alone).tolist() == [1500, 0, 0, 4500]
    single = MostCommonOption.of(replace(declared, rows_per_person=1), "ward", epsilon=1.0).read(both[1])
    assert single.sum() == 1501
    assert abs(single[0] / 1501 - 0.25) < 0.06  # five standard errors


def folder(place: Path, name: str) -> Path:
    made = place / name
    made.mkdir()
    return made


@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite, in_duckdb])
def test_no_source_can_be_written(make: Callable[[Path, pd.DataFrame], PrivateSource], tmp_path: Path) -> None:
    stored = make(tmp_path, visits(20))
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    opened = stored._open()
    out = tmp_path / "out"
    for sql in (
        f"DELETE FROM {opened.source}",  # noqa: S608
        f"INSERT INTO {opened.source} (ward) VALUES ('North')",  # noqa: S608
        f"UPDATE {opened.source} SET ward = 'North'",  # noqa: S608
        f"DROP TABLE {opened.source}",
        "CREATE TABLE other (x INTEGER)",
        f"COPY {opened.source} TO '{out}'",
        f"ATTACH '{out}' AS other",
        f"VACUUM INTO '{out}'",
    ):
        with pytest.raises(UnreadableFile) as caught:
            opened.run(sql)
        assert str(tmp_path) not in str(caught.value)
    assert opened.rows() == 20
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def gone(place: Path) -> PrivateSource:
    source = ConfiguredSource(name="a", label="A", epsilon=1.0, rows_per_person=1, address=f"sqlite:///{place / 'no'}")
    return PrivateSource(lambda: source.open("visits"))


def no_table(place: Path) -> PrivateSource:
    in_sqlite(place, visits(3))
    return PrivateSource(lambda: open_database(f"sqlite:///{place / 'clinic.db'}", "visits", allowed=("other",)))


def no_column(place: Path) -> PrivateSource:
    return in_folder(place, visits(3).drop(columns="ward"))


def other_type(place: Path) -> PrivateSource:
    return in_folder(place, visits(3).assign(ward=pd.Timestamp(2024, 1, 1)))


def other_header(place: Path) -> PrivateSource:
    (place / "visits.csv").write_text("day,who\n2024-01-01,p1\n")
    return PrivateSource(lambda: open_lines(place, Form(columns=(("ward", "text"),))))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (other_header, "must name all the columns"),
        (gone, "cannot be reached"),
        (no_table, "no such table"),
        (no_column, "no longer"),
        (other_type, "another type"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_charges_nothing(
    make: Callable[[Path], PrivateSource], told: str, tmp_path: Path
) -> None:
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", journal=tmp_path / "journal") as ledger:
        ledger.open_budget("configured:a", epsilon=2.0)
        asked = MostCommonOption.of(DECLARED, "ward", epsilon=1.0)
        with pytest.raises((UnreadableFile, ReleaseRefused), match=told) as caught:
            release(ledger, "one", "configured:a", asked, make(tmp_path))
        assert str(tmp_path) not in str(caught.value)
        assert ledger.budget("configured:a").remaining.epsilon == 2.0


def test_a_question_too_large_to_be_written_is_refused_before_its_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options and cuts of one column, and of all together, by what was declared: no query is made of them."""
    many = Declaration(
        columns=(
            *(Column(name=f"c{at}", type="category", categories=tuple("abcd")) for at in range(3)),
            Column(name="long", type="category", categories=tuple("abcdef")),
            *(replace(AGE, name=f"n{at}") for at in range(3)),
            ILL,
        )
    )
    words, numbers = ([f"{letter}{at}" for at in range(3)] for letter in "cn")
    model = ScaledModel.of(many, target="ill", columns=words, epsilon=1.0, delta=1e-6)
    rule = BestRule.of(many, words, target="ill", epsilon=1.0)
    cells = {**{name: ["a"] for name in (*words, "long")}, **{name: [1] for name in numbers}, "ill": [True]}
    stored = in_folder(tmp_path, pd.DataFrame(cells))
    assert (counting.MOST_OPTIONS, counting.MOST_TOGETHER) == (1000, 10_000)
    monkeypatch.setattr(counting, "MOST_OPTIONS", 5)
    monkeypatch.setattr(counting, "MOST_TOGETHER", 11)
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", journal=tmp_path / "journal") as ledger:
        ledger.open_budget("configured:a", epsilon=2.0, delta=1e-5)
        with monkeypatch.context() as patched:
            patched.setattr("dpcore.datasets.in_place.duck.DuckDB", lambda: pytest.fail("A query was written."))
            for asked, told in (
                (MostCommonOption.of(many, "long", epsilon=1.0), "more than 5 options"),
                (BestRule.of(many, ["n0"], target="ill", epsilon=1.0, cuts=6), "more than 5 cuts"),
                (BestRule.of(many, numbers, target="ill", epsilon=1.0, cuts=4), "12 options and cuts"),
                (rule, "12 options and cuts"),
                (model, "12 options and cuts"),
            ):
                with pytest.raises(ReleaseRefused, match=f"{told}.*nothing was charged"):
                    release(ledger, "one", "configured:a", asked, stored)
        assert ledger.budget("configured:a").remaining.epsilon == 2.0
        monkeypatch.setattr(counting, "MOST_TOGETHER", 12)
        release(ledger, "two", "configured:a", rule, stored)
        assert ledger.budget("configured:a").remaining.epsilon == 1.0


def test_a_source_answers_what_needs_counts_alone(tmp_path: Path) -> None:
    stored = in_folder(folder(tmp_path, "rows"), visits())
    assert "visits" not in repr(stored)
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", journal=tmp_path / "journal") as ledger:
        ledger.open_budget("configured:a", epsilon=2.0)
        receipt = release(ledger, "one", "configured:a", MostCommonOption.of(DECLARED, "ward", epsilon=1.0), stored)
        assert receipt.answer["option"] in WARD.categories
        plays = PrivatePlays.of(DECLARED, ["age", "share"], rounds=9, epsilon=1.0, way="from_now_on")
        with pytest.raises(ReleaseRefused, match=COUNTS_ALONE):
            release(ledger, "two", "configured:a", plays, stored)
        assert ledger.budget("configured:a").remaining.epsilon == 1.0
    opened = stored.opened(DECLARED.reads("age"))
    for look in (lambda: opened.typed("age"), lambda: opened.numbers("age"), lambda: opened.codes("age")):
        with pytest.raises(InvalidArgument, match="counted where it is"):
            look()
    with pytest.raises(InvalidArgument, match="private in number"):
        stored.public_size(DECLARED)


def test_the_same_question_about_another_table_is_another_question() -> None:
    """Otherwise the answer about one would be shown, and approved, for the other."""
    first, second = (MostCommonOption.of(replace(DECLARED, table=name), "ward", epsilon=1.0) for name in ("a", "b\n"))
    assert question_digest(first) != question_digest(second)
    assert "Asked of the table “a”." in sentence(first)
    assert "Asked of the table “b”." in sentence(second)
    assert "table" not in sentence(MostCommonOption.of(DECLARED, "ward", epsilon=1.0))


def test_what_tells_rows_apart_is_not_counted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t (ward TEXT PRIMARY KEY, who TEXT, name TEXT UNIQUE)")
    stored = PrivateSource(lambda: open_database(f"sqlite:///{tmp_path / 'a.db'}", "t"))
    for column in (WARD, replace(WARD, name="name"), replace(WARD, name="who")):
        declared = Declaration(columns=(column,), id_column="who" if column.name == "who" else None)
        with pytest.raises(InvalidArgument, match="tells rows apart"):
            stored.check(declared.reads(column.name))


def test_a_database_that_takes_two_texts_for_one_counts_them_apart(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (ward VARCHAR COLLATE NOCASE, who VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('north', 'u'), ('North', 'u'), ('NORTH', 'U'), ('West', 'U')")
    stored = PrivateSource(lambda: open_database(f"duckdb:///{tmp_path / 'a.duckdb'}", "t"))
    declared = Declaration(columns=(WARD, WHO))
    assert MostCommonOption.of(declared, "ward", epsilon=1.0).read(stored).tolist() == [1, 0, 0, 1]
    named = Declaration(columns=(replace(WARD, fill="West"), WHO), id_column="who")
    assert MostCommonOption.of(named, "ward", epsilon=1.0).read(stored).sum() == 2  # one row of “u”, one of “U”


def test_sources_are_asked_about_in_the_audit() -> None:
    # of a database and Parquet files, of lines, of ids in two ways, of Parquet files in which a number is none
    assert len(SOURCES) == 63 + 17 + 2 + 32
