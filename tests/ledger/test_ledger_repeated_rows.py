"""People whose rows stand several times are the same people, for who linked them; strangers of whom rows are equal by
chance are not, and what files of others are compared by hangs on no copies."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Reading, likeness, read_csv, sketch
from dpcore.datasets.reading.copies import LEAST_SHARE, MOST_COPIES, bare, share
from dpcore.ledger import Ledger, compared, people
from dpcore.ledger.people import CONFIGURED
from dpcore.sketches import LONGEST, MOST_COMBINATIONS, MOST_MORE, MOST_TOGETHER, Index, Sketch
from tests.ledger.patients import ISSUER, person
from tests.ledger.test_ledger_people import FEW, KEY, ONE, reading, survey

reading_of = import_module("dpcore.datasets.reading.likeness")


def patients(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"P{number}" for number in rng.choice(10**6, rows, replace=False)],
            "born": (pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, rows), "D")).astype(str),
            "city": rng.choice(["Rome", "Oslo", "Lyon", "Bern", "Graz"], rows),
            "income": np.round(rng.normal(40_000, 9000, rows), 2),
        }
    )


PEOPLE = patients()


def each(frame: pd.DataFrame, times: int | np.ndarray) -> pd.DataFrame:
    return frame.loc[np.repeat(frame.index, times)].reset_index(drop=True)


def visits(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(int(frame["income"].sum()))
    found = each(frame, rng.integers(2, 6, len(frame)))
    return found.assign(when=rng.integers(1, 10**6, len(found)))


def months(frame: pd.DataFrame) -> pd.DataFrame:
    found = each(frame, 6)
    measured = np.round(np.random.default_rng(int(frame["income"].sum())).normal(120, 15, len(found)), 1)
    return found.assign(month=list(range(6)) * len(frame), pressure=measured)


REPEATED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "appended to itself": lambda frame: pd.concat([frame, frame]),
    "three times": lambda frame: each(frame, 3),
    "a row each month": lambda frame: each(frame, MOST_COPIES),
    "half of it twice": lambda frame: pd.concat([frame, frame.iloc[::2]]),
    "a third of it twice": lambda frame: pd.concat([frame, frame.iloc[::3]]),
    "joined to two to four others": lambda frame: each(frame, np.random.default_rng(3).integers(2, 5, len(frame))),
    "two exports that overlap": lambda frame: pd.concat([frame.iloc[:200], frame.iloc[80:]]),
    "twice, and one more": lambda frame: pd.concat([frame, frame, patients(1, 9)]),
    "twice, with a number for each row": lambda frame: pd.concat([frame, frame]).assign(row=range(2 * len(frame))),
    "twice, in any order": lambda frame: pd.concat([frame, frame]).sample(frac=1.0, random_state=1),
    "twice, with the export's name": lambda frame: pd.concat([frame.assign(of="a"), frame.assign(of="b")]),
    "ids alone, twice": lambda frame: pd.concat([frame[["id"]]] * 2),
    "two columns, twice": lambda frame: pd.concat([frame[["born", "income"]]] * 2),
    "visits": visits,
    "a long table": months,
    "a long table of ids": lambda frame: months(frame)[["id", "month", "pressure"]],
    "a long table, what changes dropped": lambda frame: months(frame).drop(columns=["month", "pressure"]),
}


@pytest.fixture(scope="module")
def known() -> Sketch:
    return sketch(reading(PEOPLE), KEY)


@pytest.mark.parametrize("kind", REPEATED)
def test_rows_that_stand_several_times_are_the_same_people(
    known: Sketch, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In either order, whatever the key; and a mutant that, as earlier versions, takes each row for another person."""
    file = reading(REPEATED[kind](PEOPLE))
    made = sketch(file, KEY)
    assert made.is_like(known)
    assert known.is_like(made)
    assert made.bare is not None
    assert len(made.combinations) <= MOST_COMBINATIONS
    assert len(made.combinations) + len(made.bare.combinations) <= MOST_TOGETHER
    assert Sketch.from_text(made.to_even_text()) == made
    for key in (b"1" * 32, b"2" * 32):
        assert sketch(file, key).is_like(sketch(reading(PEOPLE), key))
    monkeypatch.setattr(reading_of, "bare", lambda rows: None)
    assert not sketch(file, KEY).is_like(known) or kind in ("a third of it twice", "twice, with the export's name")


def test_a_file_without_copies_stores_nothing_more(known: Sketch) -> None:
    """And what was stored before, as long as it was then, is read as it was."""
    assert known.bare is None
    assert "|" not in known.to_text()
    assert Sketch.from_text(known.to_text().ljust(LONGEST // 2)) == known


def test_two_files_of_which_both_repeat_rows_are_alike() -> None:
    """Each kind beside a few others of the same people, and beside those of strangers."""
    first, strangers = ("appended to itself", "visits", "a long table"), patients(300, 2)
    for kind in first:
        mine = sketch(reading(REPEATED[kind](PEOPLE)), KEY)
        for other in ("half of it twice", "a long table of ids", "visits"):
            assert mine.is_like(sketch(reading(REPEATED[other](PEOPLE)), KEY)), (kind, other)
            assert not mine.is_like(sketch(reading(REPEATED[other](strangers)), KEY)), (kind, other)


def test_ids_that_only_count_stay_what_they_are() -> None:
    """A survey whose ids are 1, 2, 3 …, twice: alike, and strangers with the same ids are not."""
    known = sketch(reading(ONE), KEY)
    assert sketch(reading(pd.concat([ONE, ONE])), KEY).is_like(known)
    for seed in (2, 3):
        assert not sketch(reading(pd.concat([survey(300, seed)] * 2)), KEY).is_like(known)


def drawn(rows: int, columns: int, options: int, skew: float) -> Callable[[int], pd.DataFrame]:
    odds = 1.0 / np.arange(1, options + 1) ** skew

    def made(seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        return pd.DataFrame({f"q{i}": rng.choice(options, rows, p=odds / odds.sum()) for i in range(columns)}).astype(
            "string"
        )

    return made


def wards(rows: int) -> Callable[[int], pd.DataFrame]:
    def made(seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        ward = rng.choice(20, rows)
        named = {"ward": [f"w{one}" for one in ward], "street": [f"s{7 * one}" for one in ward]}
        return pd.DataFrame({**named, "sex": rng.choice(["m", "f"], rows)})

    return made


def bought(rows: int) -> Callable[[int], pd.DataFrame]:
    price, odds = np.round(np.random.default_rng(99).gamma(2, 20, 200), 2), 1.0 / np.arange(1, 201)

    def made(seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        what = rng.choice(200, rows, p=odds / odds.sum())
        return pd.DataFrame({"what": [f"W{one}" for one in what], "price": price[what], "n": rng.integers(1, 4, rows)})

    return made


STRANGERS: dict[str, Callable[[int], pd.DataFrame]] = {
    **FEW,
    "five questions with three answers": drawn(1000, 5, 3, 0.0),
    "eight questions, some answers seldom": drawn(1000, 8, 3, 1.0),
    "seven questions, most answers seldom": drawn(1000, 7, 4, 2.0),
    "ten questions, yes or no": drawn(300, 10, 2, 0.0),
    "few rows": drawn(60, 6, 4, 1.0),
    "wards with their streets": wards(100),
    "many in few wards": wards(1000),
    "what a shop sold": bought(500),
}


@pytest.mark.parametrize("kind", STRANGERS)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_strangers_of_whom_rows_are_equal_by_chance_are_not_alike(kind: str, times: int) -> None:
    """As they are, and with each row several times."""
    files = [sketch(reading(pd.concat([STRANGERS[kind](seed)] * times)), KEY) for seed in (1, 2, 3)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not files[one].is_like(files[other])
        assert not seems(files[one], files[other])


def test_leaving_out_whatever_is_equal_would_take_strangers_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that counts each row once, why ever it stands twice."""
    monkeypatch.setattr(reading_of, "bare", lambda rows: np.unique(rows, return_index=True)[1])
    one, other = (sketch(reading(STRANGERS["many in few wards"](seed)), KEY) for seed in (1, 2))
    assert one.is_like(other)


# -- copies and chance -------------------------------------------------------------------------------------------------


def test_what_is_equal_by_chance_is_no_copy() -> None:
    """Whatever the chances of rows are, and how many rows there are; beside the same rows several times."""
    rng = np.random.default_rng(4)
    for rows in (200, 1000, 5000):
        for options, skew in ((27, 0.0), (243, 0.0), (1024, 0.0), (1024, 1.0), (10**5, 1.2)):
            odds = 1.0 / np.arange(1, options + 1) ** skew
            times = np.unique(rng.choice(options, rows, p=odds / odds.sum()), return_counts=True)[1]
            assert share(times) < 0.3
    for times in (2, 3, MOST_COPIES):
        assert share(np.full(200, times)) > 0.9
    assert share(np.full(200, 1)) == share(np.full(200, MOST_COPIES + 1)) == 0.0
    assert share(np.repeat([1, 2], [100, 100])) > LEAST_SHARE


def test_what_stays_is_each_row_as_often_as_it_was() -> None:
    rows = np.array([5, 5, 9, 9, 7, 7, 7, 7] * 1, dtype=np.uint64)
    assert bare(np.arange(9, dtype=np.uint64)) is None
    assert bare(np.zeros(0, dtype=np.uint64)) is None
    chance = np.repeat(np.arange(120, dtype=np.uint64), np.random.default_rng(1).poisson(3, 120))
    assert bare(chance) is None
    for times in (2, 5):
        places = bare(np.tile(chance, times))
        assert places is not None
        assert np.array_equal(np.sort(np.tile(chance, times)[places]), chance)
    places = bare(rows)
    assert places is not None
    assert len(places) < len(rows)


# -- files of others ---------------------------------------------------------------------------------------------------


def seems(file: Sketch, known: Sketch) -> int:
    """By how many of the coins of somebody else this is alike, the others at their easiest."""
    index, easiest = Index(file), 70
    return sum(index.seems_like(known, more=more, apart=easiest) for more in range(MOST_MORE + 1))


def merged(made: Sketch) -> Sketch:
    """A mutant: what shows without copies stands in place of all rows."""
    return made if made.bare is None else made.bare


@pytest.mark.parametrize("kind", REPEATED)
def test_what_files_of_others_are_compared_by_hangs_on_no_copies(
    known: Sketch, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is of all rows as they stand, on either side, whatever would be left out; but in a mutant."""
    file = reading(REPEATED[kind](PEOPLE))
    made = sketch(file, KEY)
    monkeypatch.setattr(reading_of, "bare", lambda rows: None)
    as_they_stand = sketch(file, KEY)
    assert as_they_stand.bare is None
    assert (made.columns, made.combinations) == (as_they_stand.columns, as_they_stand.combinations)
    assert seems(made, known) == seems(as_they_stand, known)
    assert seems(known, made) == seems(known, as_they_stand)
    assert merged(made).combinations != as_they_stand.combinations
    assert seems(merged(made), known) > seems(as_they_stand, known) or kind == "a third of it twice"


def told(ledger: Ledger, file: Reading, among: list[str]) -> list[str]:
    made = sketch(file, ledger.sketch_key)
    return [one.lineage for one in ledger.similar(file.fingerprint, made, among=among)]


def test_only_who_linked_the_people_is_told_of_copies(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who linked the file is told freely, of the people of a source too. Somebody else is told nothing, by the same
    question under the same coin as if no copies were known; and a mutant that looks at copies there."""
    olga, otto = person(whole, "olga"), person(whole, "otto")
    twice = reading(REPEATED["appended to itself"](PEOPLE))
    source = f"{CONFIGURED}clinic"
    for lineage, frame in (("mine", PEOPLE), (source, PEOPLE.assign(year=2024))):
        olga.open_budget(lineage, epsilon=2.0)
        olga.link(reading(frame).fingerprint, lineage, sketch(reading(frame), whole.sketch_key))

    def found(ledger: Ledger, lineage: str = "mine") -> list[str]:
        return told(ledger, twice, [lineage])

    def asked() -> list[str]:
        compares = (record.content for record in whole.records() if record.kind == "compare")
        return [str(content["file"]) for content in compares if content["by"] == f"otto{ISSUER}"]

    assert found(olga) == ["mine"]
    assert found(olga, source) == [source]
    assert asked() == []
    monkeypatch.setattr(compared, "MOST_MORE", 0)  # by whatever coins
    assert found(otto) == found(otto, source) == []
    assert len(asked()) == 1
    with monkeypatch.context() as before:
        before.setattr(reading_of, "bare", lambda rows: None)
        assert found(otto) == []
    assert len(asked()) == 1, "the same question"
    monkeypatch.setattr(compared, "replace", lambda made, bare: merged(made))
    assert found(otto) == ["mine"]


WORLDS: dict[str, np.ndarray] = {
    "a few stand twice": np.repeat([1, 2], [59, 5]),
    "half stand twice": np.repeat([1, 2], [36, 28]),
    "a third stands twice": np.repeat([1, 2], [43, 21]),
    "all stand twice": np.repeat([2], 64),
    "few stand five times": np.repeat([1, 5], [55, 9]),
    "eight stand eight times": np.repeat([1, 8], [56, 8]),
}
"""How often each of 64 people is there."""


def neighbours(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The last row another one's copy, of another city, a new one's, without an income, gone, or there once more."""
    last, rest = frame.iloc[-1:], frame.iloc[:-1]
    return [
        pd.concat([rest, frame.iloc[-20:-19]]),
        pd.concat([rest, last.assign(city="Bonn")]),
        pd.concat([rest, patients(1, 77)]),
        pd.concat([rest, last.assign(income=np.nan)]),
        rest,
        pd.concat([frame, last]),
    ]


def test_whoever_brings_guesses_of_files_with_copies_learns_no_more() -> None:
    """One row of the known file moves by two at most how many coins say alike, however often rows stand. In some of
    these worlds it decides whether copies are left out, and in a mutant with it all that is known of the file."""
    once, decided, moved = patients(64), 0, 0
    file = sketch(reading(pd.concat([once.iloc[:40], patients(24, 5)])), KEY)
    for times in WORLDS.values():
        frame = each(once, times)
        before = sketch(reading(frame), KEY)
        for other in neighbours(frame):
            after = sketch(reading(other), KEY)
            assert abs(seems(file, after) - seems(file, before)) <= 2
            decided += (before.bare is None) != (after.bare is None)
            moved = max(moved, abs(seems(file, merged(after)) - seems(file, merged(before))))
    assert decided > 0
    assert moved > 5


def test_a_guess_that_one_linked_shows_nothing_of_a_file_of_others(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside two guesses of all its rows, of which one alone has copies to leave out, a table of the people is alike
    with that one; with the file itself it is not, by whatever coins; and a mutant by which the file falls as the right
    guess does. So few rows that all have marks, under any key."""
    monkeypatch.setattr(compared, "MOST_MORE", 0)
    olga, otto = person(whole, "olga"), person(whole, "otto")
    people_once = patients(26)
    right = each(people_once, np.repeat([1, 5], [17, 9]))
    guesses = {"right": right, "wrong": neighbours(right)[0]}
    for owner, lineage, frame in ((olga, "hers", right), *((otto, name, one) for name, one in guesses.items())):
        owner.open_budget(lineage, epsilon=1.0)
        file = reading(frame)
        owner.link(file.fingerprint, lineage, sketch(file, whole.sketch_key))
    every, clean = ["hers", *guesses], people_once.assign(year=2024)
    assert told(otto, reading(clean), every) == ["right"]
    read = people.sketches
    mutant = lambda store, known: ((one, merged(made)) for one, made in read(store, known))  # noqa: E731
    monkeypatch.setattr(people, "sketches", mutant)
    assert told(otto, reading(clean.assign(year=2025)), every) == ["hers", "right"]


def test_the_very_rows_decide_and_not_their_order() -> None:
    frame = REPEATED["half of it twice"](PEOPLE)
    turned = frame.sample(frac=1.0, random_state=3)
    assert sketch(reading(frame), KEY) == sketch(reading(turned), KEY)


# -- what was written before, and the library's comparison -------------------------------------------------------------


def test_a_file_that_was_linked_before_is_still_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier versions knew a file with each row twice by its columns alone, in whatever order and by whatever name."""
    file = reading(REPEATED["appended to itself"](PEOPLE).drop(columns="id"))
    with monkeypatch.context() as before:
        before.setattr(reading_of, "bare", lambda rows: None)
        written = Sketch.from_text(sketch(file, KEY).to_even_text())
    assert written is not None
    turned = pd.concat([PEOPLE, PEOPLE]).drop(columns="id").iloc[:, ::-1].rename(columns=str.upper)
    assert sketch(reading(turned), KEY).is_like(written)


def test_likeness_leaves_copies_out() -> None:
    one = reading(PEOPLE)
    for kind in ("appended to itself", "half of it twice"):
        doubled = REPEATED[kind](PEOPLE)
        assert likeness(one, reading(doubled)).rows == 1.0
        assert likeness(one, reading(doubled.drop(columns="city"))).columns == 1.0
    other = read_csv(patients(300, 2).to_csv(index=False).encode())
    assert not likeness(one, other).same_people
