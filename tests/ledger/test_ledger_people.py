"""One person, one budget: files about people who are known are recognised, coarsely, by nobody without the key."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from dpcore.costs import Cost
from dpcore.datasets import Reading, read_csv, sketch
from dpcore.errors import InvalidArgument, UnknownLineage
from dpcore.ledger import Ledger, people
from dpcore.ledger.key import fresh
from dpcore.ledger.people import Bringer, Brought
from dpcore.sketches import LONGEST, MOST_COLUMNS, MOST_COMBINATIONS, MOST_MARKS, MOST_TOGETHER, Combination, Sketch
from tests.ledger.conftest import Place

KEY, OTHER_KEY = b"k" * 32, b"o" * 32


def survey(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    """Ids, a few coarse columns, and two that vary: no single one tells people apart."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(1, rows + 1),
            "age": rng.integers(18, 90, rows),
            "height": np.round(rng.normal(1.7, 0.1, rows), 2),
            "job": rng.choice(["Nurse", "Clerk", "Driver", "Cook", "Teacher"], rows),
            "smokes": rng.choice(["yes", "no"], rows),
        }
    )


def reading(frame: pd.DataFrame, **written: object) -> Reading:
    return read_csv(frame.to_csv(index=False, **written).encode())


ONE = survey()
DISGUISES: dict[str, Callable[[], Reading]] = {
    "the same": lambda: reading(ONE),
    "id dropped": lambda: reading(ONE.drop(columns="id")),
    "constant column added": lambda: reading(ONE.assign(year=2024)),
    "another column added": lambda: reading(ONE.assign(luck=np.random.default_rng(9).integers(0, 99, len(ONE)))),
    "two columns dropped": lambda: reading(ONE.drop(columns=["id", "job"])),
    "numbers written otherwise": lambda: reading(ONE.assign(age=ONE["age"].map("{:.1f}".format))),
    "a missing cell in every column": lambda: reading(ONE.mask(np.eye(len(ONE), ONE.shape[1], dtype=bool))),
    "answers in numbers, one missing": lambda: reading(
        ONE.assign(smokes=(ONE["smokes"] == "yes").astype(int), job=ONE["job"].astype("category").cat.codes).where(
            ONE["id"] != 7
        )
    ),
    "Yes for yes": lambda: reading(ONE.assign(smokes=ONE["smokes"].str.capitalize())),
    "1 for yes": lambda: reading(ONE.assign(smokes=(ONE["smokes"] == "yes").astype(int))),
    "ids shifted": lambda: reading(ONE.assign(id=ONE["id"] + 1000)),
    "the first 40 in 100": lambda: reading(ONE.head(120)),
    "40 in 100 at random": lambda: reading(ONE.sample(frac=0.4, random_state=1)),
    "the first 40 in 100, without ids": lambda: reading(ONE.head(120).drop(columns="id")),
    "renamed and reordered": lambda: reading(
        ONE.rename(columns=str.upper)[["SMOKES", "JOB", "ID", "HEIGHT", "AGE"]].sample(frac=1.0, random_state=2)
    ),
    "decimal commas": lambda: reading(ONE, sep=";", decimal=","),
    "other capitals": lambda: reading(ONE.assign(job=ONE["job"].str.upper() + " ")),
    "a few rows changed": lambda: reading(pd.concat([ONE.iloc[5:], survey(5, 77)])),
    "more people added": lambda: reading(pd.concat([ONE, survey(300, 5)])),
    "all of it at once": lambda: reading(
        ONE.head(150)
        .drop(columns="id")
        .assign(smokes=(ONE["smokes"] == "yes").astype(int), age=ONE["age"].astype(float), year=2024)
        .rename(columns={"age": "Alter", "height": "Größe"})
    ),
}


@pytest.fixture(scope="module")
def known() -> Sketch:
    return sketch(reading(ONE), KEY)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_the_same_people_are_recognised(known: Sketch, disguise: str) -> None:
    found = sketch(DISGUISES[disguise](), KEY)
    assert found.is_like(known)
    assert known.is_like(found)


@pytest.mark.parametrize("seed", range(2, 6))
def test_strangers_are_not(known: Sketch, seed: int) -> None:
    """Another draw from the very same population, in the same form, smaller or larger; and a quite different file."""
    for rows in (60, 300, 2000):
        assert not sketch(reading(survey(rows, seed)), KEY).is_like(known)
    rng = np.random.default_rng(seed)
    other = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=90).astype(str), "n": rng.poisson(30, 90)})
    assert not sketch(reading(other), KEY).is_like(known)


SMALL = pd.DataFrame(
    [(age, job) for age in range(18, 91) for job in ("Nurse", "Clerk", "Cook")], columns=["age", "job"]
)
FEW: dict[str, Callable[[int], pd.DataFrame]] = {
    "most of 219 possible rows, each once": lambda seed: SMALL.sample(150, random_state=seed),
    "the same with ids of their own": lambda seed: SMALL.sample(150, random_state=seed).assign(
        id=np.random.default_rng(seed).integers(0, 10**6, 150)
    ),
    "a calendar with what was counted": lambda seed: pd.DataFrame(
        {
            "day": pd.bdate_range("2024-01-01", periods=90).astype(str),
            "n": np.random.default_rng(seed).poisson(30, 90),
        }
    ),
    "months": lambda seed: pd.DataFrame(
        {"month": pd.date_range("2015-01-01", periods=60, freq="MS"), "n": np.random.default_rng(seed).poisson(9, 60)}
    ),
    "groups of equal size": lambda seed: pd.DataFrame(
        {
            "job": np.random.default_rng(seed).permutation(np.repeat(["Nurse", "Clerk", "Cook"], 100)),
            "age": np.random.default_rng(seed).integers(18, 90, 300),
        }
    ),
}


@pytest.mark.parametrize("kind", FEW)
def test_strangers_are_not_where_the_domain_is_too_small_to_tell(kind: str) -> None:
    """Rows that could be any of a few, a calendar, or equal groups: other people's files hold the same."""
    first = FEW[kind](1)
    known = sketch(reading(first), KEY)
    assert not any(sketch(reading(FEW[kind](seed)), KEY).is_like(known) for seed in (2, 3))
    told = first.assign(
        more=np.random.default_rng(9).integers(0, 500, len(first))
    )  # a column by which they can be told
    assert sketch(reading(told.head(60)), KEY).is_like(sketch(reading(told), KEY))


def test_whole_rows_alone_would_not_recognise_them(known: Sketch) -> None:
    """A mutant that, as earlier versions, knows rows as a whole only: what changes columns gets through."""
    whole_rows = Sketch(combinations=known.combinations[:1])
    assert sketch(DISGUISES["the first 40 in 100"](), KEY).is_like(whole_rows)
    for disguise in ("two columns dropped", "another column added"):
        found = sketch(DISGUISES[disguise](), KEY)
        assert not Sketch(combinations=found.combinations[:1]).is_like(whole_rows)


def test_dates_and_a_large_file(known: Sketch) -> None:
    """Dates by value, and a part of many rows, of which a sketch keeps few."""
    rng = np.random.default_rng(4)
    rows = 20_000
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, rows), unit="D")
    frame = pd.DataFrame({"visit": when, "age": rng.integers(0, 99, rows), "cost": np.round(rng.gamma(2, 90, rows), 1)})
    whole = sketch(reading(frame), KEY)
    part = frame.head(8000)
    written = part.assign(visit=part["visit"].dt.strftime("%d.%m.%Y"), cost=part["cost"].map("{:.2f}".format))
    assert sketch(read_csv(written.to_csv(index=False).encode()), KEY).is_like(whole)
    assert len(whole.to_text()) < 60_000


def test_what_is_not_recognised_is_said_truly() -> None:
    """As ``dpcore.sketches`` says: a part of a file too coarse to tell rows apart, or values that were changed."""
    rng = np.random.default_rng(3)
    coarse = pd.DataFrame({f"q{i}": rng.choice(["low", "middle", "high"], 2000) for i in range(4)})
    known = sketch(reading(coarse), KEY)
    assert sketch(reading(coarse.sample(frac=1.0, random_state=1).rename(columns=str.upper)), KEY).is_like(known)
    assert not sketch(reading(coarse.head(800)), KEY).is_like(known)
    rounded = ONE.assign(age=(ONE["age"] // 5) * 5, height=ONE["height"].round(1))
    rounded = rounded.head(120).drop(columns="id")
    assert not sketch(reading(rounded), KEY).is_like(sketch(reading(ONE), KEY))


def test_without_the_key_a_sketch_says_nothing(known: Sketch) -> None:
    """The same file under another key has not one mark in common: they cannot be worked out from the data."""
    other = sketch(reading(ONE), OTHER_KEY)
    assert not other.is_like(known)
    marks = {mark for one in known.combinations for mark, _ in one.marks} | {mark for mark, _ in known.columns}
    others = {mark for one in other.combinations for mark, _ in one.marks} | {mark for mark, _ in other.columns}
    assert len(marks) > 100
    assert marks.isdisjoint(others)


def test_a_sketch_is_kept_as_text(known: Sketch) -> None:
    assert Sketch.from_text(known.to_text()) == known
    for wrong in ("", "x", "AAAA;1,2", "deadbeef 0123", ";"):
        assert Sketch.from_text(wrong) is None


class TestLedger:
    def test_people_are_told_of_only_to_those_who_may_see_them(self, ledger: Ledger) -> None:
        mine, theirs = Ledger.new_lineage(), Ledger.new_lineage()
        ledger.open_budget(mine, epsilon=1.0, name="Mine")
        ledger.open_budget(theirs, epsilon=1.0, name="Theirs")
        file = reading(ONE)
        ledger.link(file.fingerprint, theirs, sketch(file, ledger.sketch_key))
        part = DISGUISES["the first 40 in 100"]()
        for asked in (file, part):
            marks = sketch(asked, ledger.sketch_key)
            assert ledger.similar(asked.fingerprint, marks, among=[]) == []
            assert ledger.similar(asked.fingerprint, marks, among=[mine]) == []
            assert [one.name for one in ledger.similar(asked.fingerprint, marks, among=[mine, theirs])] == ["Theirs"]
        ledger.verify()

    def test_whether_a_file_is_the_very_same_is_not_told(self, ledger: Ledger) -> None:
        """With 299 of 300 rows, a right guess of the last one is answered as a wrong one is."""
        ledger.open_budget("people", epsilon=1.0)
        file = reading(ONE)
        ledger.link(file.fingerprint, "people", sketch(file, ledger.sketch_key))
        answers = []
        for age in (int(ONE["age"].iloc[-1]), 17):
            guess = reading(pd.concat([ONE.iloc[:-1], ONE.iloc[-1:].assign(age=age)]))
            answers.append(ledger.similar(guess.fingerprint, sketch(guess, ledger.sketch_key), among=["people"]))
        assert answers[0] == answers[1] != []
        one_row = reading(ONE.iloc[:1])
        assert ledger.similar(one_row.fingerprint, sketch(one_row, ledger.sketch_key), among=["people"]) == []

    def test_nothing_stored_can_be_tested_against_a_guess(self, place: Place) -> None:
        """Somebody with all rows but one, all files of the ledger and this program, but not the key."""
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0)
            file = reading(ONE)
            ledger.link(file.fingerprint, "people", sketch(file, ledger.sketch_key))
            ledger.charge("r", "people", Cost.pure(0.1), "?")
            handed_out = ledger.receipt("r").to_json()
        text = place.journal.read_text() + handed_out
        (body,) = (json.loads(json.loads(line)["body"]) for line in text.splitlines() if '"link"' in line)
        assert file.fingerprint not in text
        assert Sketch.from_text(body["sketch"]) is None
        assert body["sketch"].startswith("sealed:")

    def test_records_of_files_that_share_rows_share_no_mark(self, place: Place) -> None:
        """Whoever reads the records and may bring files would see by equal marks which of their guesses is right."""
        with place.open() as ledger:
            files = [reading(ONE), reading(ONE), reading(ONE.iloc[:40])]
            for number, file in enumerate(files):
                ledger.open_budget(f"people {number}", epsilon=1.0)
                made = sketch(file, ledger.sketch_key)
                brought = Brought(fingerprint=file.fingerprint, sketch=made)
                with ledger._store.writing() as connection:
                    people.link(
                        ledger._store, connection, brought, f"people {number}", Bringer(subject=f"person {number}")
                    )
            every = [f"people {number}" for number in range(3)]
            found = ledger.similar(files[0].fingerprint, sketch(files[0], ledger.sketch_key), among=every)
            assert [one.lineage for one in found] == every
            ledger.verify()
        lines = place.journal.read_text().splitlines()
        stored = [json.loads(json.loads(line)["body"])["sketch"] for line in lines if '"link"' in line]
        assert len(stored) == 3
        parts = [{text[at : at + 8] for at in range(len("sealed:"), len(text) - 8)} for text in stored]
        assert all(parts[one].isdisjoint(parts[other]) for one, other in ((0, 1), (0, 2), (1, 2)))
        plain = [sketch(file, OTHER_KEY).to_text() for file in files[:2]]
        assert plain[0] == plain[1], "unsealed they would be equal"

    def test_records_of_files_are_all_of_one_length(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The number of marks hangs on every row: each guess of one cell, a row less and any other file look alike."""
        files = [reading(ONE.iloc[:30].assign(job=[*ONE["job"][:29], guess])) for guess in ("Nurse", "Cook")]
        files += [reading(ONE.iloc[:29]), reading(ONE.iloc[:3]), reading(pd.concat([ONE, ONE]))]
        made = [sketch(file, KEY) for file in files]

        def lengths(ledger: Ledger) -> set[int]:
            before = len(ledger.records())
            for file, marks in zip(files, made, strict=True):
                lineage = ledger.new_lineage()
                ledger.open_budget(lineage, epsilon=1.0)
                with ledger._store.writing() as connection:
                    brought = Brought(fingerprint=file.fingerprint, sketch=marks)
                    people.link(ledger._store, connection, brought, lineage, Bringer(subject=lineage))
            return {len(one.body) for one in ledger.records()[before:] if one.kind == "link"}

        with Ledger.open("sqlite://") as ledger:
            assert len(lengths(ledger)) == 1
            monkeypatch.setattr(Sketch, "to_even_text", Sketch.to_text)
            assert len(lengths(ledger)) >= 3, "as they were before"
            ledger.verify()

    def test_no_sketch_is_longer_than_the_longest(self) -> None:
        """The largest there can be is just as long; more marks, which only a program could make up, are refused."""

        def made(columns: int, combinations: int, marks: int) -> Sketch:
            pairs = tuple((2**56 - 1, 63) for _ in range(marks))
            each = Combination(depth=53, apart=100, marks=pairs)
            return Sketch(columns=pairs[:1] * columns, combinations=(each,) * combinations)

        most = made(MOST_COLUMNS, MOST_COMBINATIONS, MOST_MARKS)
        rest, more = (made(MOST_COLUMNS, MOST_TOGETHER - MOST_COMBINATIONS + number, MOST_MARKS) for number in range(2))
        none, few = Sketch(), made(0, 1, 6)
        for one in (few, most, replace(most, bare=rest), replace(few, bare=most), replace(none, bare=few)):
            assert len(one.to_even_text()) == LONGEST
            assert Sketch.from_text(one.to_even_text()) == one
        assert len(replace(most, bare=rest).to_text()) == LONGEST
        for text in ("", "|", f"{most.to_text()}|", f"{few.to_text()}|;", "|" * 9999, "|".join([few.to_text()] * 3)):
            assert Sketch.from_text(text) is None
        with pytest.raises(InvalidArgument, match="no more marks"):
            replace(most, bare=more).to_even_text()

    def test_of_a_wide_table_the_same_columns_have_marks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(import_module("dpcore.datasets.reading.likeness"), "MOST_COLUMNS", 2)
        turned = ONE.iloc[:60, ::-1].rename(columns=str.upper)
        one, other = (sketch(reading(file), KEY) for file in (ONE.iloc[:60], turned))
        assert len(one.columns) == 2
        assert one.columns == other.columns

    def test_what_is_sealed_is_opened_by_the_same_key_for_the_same_purpose_alone(self) -> None:
        one, other = fresh(), fresh()
        for text in ("", "a", "AAAA;1,2" * 999):
            sealed = one.sealed("sketch", text)
            assert one.unsealed("sketch", sealed) == text
            assert sealed != one.sealed("sketch", text)
            assert other.unsealed("sketch", sealed) is None
            assert one.unsealed("other", sealed) is None
            assert one.unsealed("sketch", sealed[:-4] + ("AAAA" if sealed[-4:] != "AAAA" else "BBBB")) is None
        for wrong in ("", "é", "x", "A" * 44, "A" * 400):
            assert one.unsealed("sketch", wrong) is None

    def test_a_file_stays_with_its_people(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        ledger.open_budget("others", epsilon=1.0)
        ledger.link("file-1", "people")
        ledger.link("file-1", "people")
        with pytest.raises(InvalidArgument, match="belongs to other people"):
            ledger.link("file-1", "others")
        with pytest.raises(InvalidArgument, match="sketch"):
            ledger.link("file-2", "people", (1, 2, 3))
        with pytest.raises(UnknownLineage):
            ledger.link("file-2", "nobody")
        ledger.verify()

    def test_other_people_take_a_sentence_that_stays(self, place: Place) -> None:
        fresh = Ledger.new_lineage()
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0, name="Ward 3")
            for wrong in ("", "   ", "no", "differentpeople"):
                with pytest.raises(InvalidArgument, match="because"):
                    ledger.say_others(Brought(fingerprint="file", because=wrong), fresh, than="people")
            brought = Brought(fingerprint="file", because="The survey of 2023 asked another town.")
            with pytest.raises(InvalidArgument, match="other people"):
                ledger.say_others(brought, "people", than="people")
            with pytest.raises(UnknownLineage):
                ledger.say_others(brought, fresh, than="nobody")
            said = ledger.say_others(brought, fresh, than="people")
            assert ledger.statements(fresh) == ledger.statements() == [said]
            assert ledger.statements("people") == []
            ledger.verify()
        lines = [json.loads(line) for line in place.journal.read_text().splitlines()]
        assert [line["kind"] for line in lines] == ["open", "others"]
        assert "asked another town" in lines[1]["body"]
