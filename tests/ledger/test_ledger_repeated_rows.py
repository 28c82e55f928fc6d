"""People whose rows stand several times are the same people; strangers of whom rows are equal by chance are not."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import likeness, read_csv, sketch
from dpcore.datasets.reading.copies import LEAST_SHARE, MOST_COPIES, SURE_SHARE, bare, edge, share
from dpcore.sketches import MOST_COMBINATIONS, Index, Sketch
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


def alike(one: Sketch, other: Sketch) -> bool:
    """For who linked the file, and for others where the coins are at their easiest."""
    own = one.is_like(other) and other.is_like(one)
    return own and Index(one).seems_like(other, more=0, apart=[70] * len(other.combinations))


@pytest.mark.parametrize("kind", REPEATED)
def test_rows_that_stand_several_times_are_the_same_people(
    known: Sketch, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In either order, whatever the key; and a mutant that, as earlier versions, takes each row for another person."""
    file = reading(REPEATED[kind](PEOPLE))
    assert alike(sketch(file, KEY), known)
    assert len(sketch(file, KEY).combinations) <= MOST_COMBINATIONS
    sketch(file, KEY).to_even_text()
    for key in (b"1" * 32, b"2" * 32):
        assert alike(sketch(file, key), sketch(reading(PEOPLE), key))
    monkeypatch.setattr(reading_of, "bare", lambda rows, least: None)
    assert not alike(sketch(file, KEY), known) or kind in ("a third of it twice", "twice, with the export's name")


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
        easiest = [70] * len(files[other].combinations)
        assert not Index(files[one]).seems_like(files[other], more=0, apart=easiest)


def test_leaving_out_whatever_is_equal_would_take_strangers_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that counts each row once, why ever it stands twice."""
    monkeypatch.setattr(reading_of, "bare", lambda rows, least: np.unique(rows, return_index=True)[1])
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
            assert share(times) < LEAST_SHARE
    for times in (2, 3, MOST_COPIES):
        assert share(np.full(200, times)) > 0.9
    assert share(np.full(200, 1)) == share(np.full(200, MOST_COPIES + 1)) == 0.0
    assert share(np.repeat([1, 2], [100, 100])) > SURE_SHARE


def test_what_stays_is_each_row_as_often_as_it_was() -> None:
    rows = np.array([5, 5, 9, 9, 7, 7, 7, 7] * 1, dtype=np.uint64)
    assert bare(np.arange(9, dtype=np.uint64), edge(0.5)) is None
    assert bare(np.zeros(0, dtype=np.uint64), edge(0.5)) is None
    chance = np.repeat(np.arange(120, dtype=np.uint64), np.random.default_rng(1).poisson(3, 120))
    assert bare(chance, edge(0.5)) is None
    for times in (2, 5):
        places = bare(np.tile(chance, times), edge(0.5))
        assert places is not None
        assert np.array_equal(np.sort(np.tile(chance, times)[places]), chance)
    places = bare(rows, edge(0.0))
    assert places is not None
    assert len(places) < len(rows)


# -- what one row can change -------------------------------------------------------------------------------------------


def neighbours(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """One row another one's copy, a new one's, without an income, gone, or there once more."""
    last, rest = frame.iloc[-1:], frame.iloc[:-1]
    return [
        pd.concat([rest, frame.iloc[:1]]),
        pd.concat([rest, patients(1, 77)]),
        pd.concat([rest, last.assign(income=np.nan)]),
        rest,
        pd.concat([frame, last]),
    ]


@pytest.mark.parametrize("kind", ["as they are", "appended to itself", "half of it twice", "twice, and one more"])
def test_one_row_moves_two_marks_of_a_combination(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As without copies: that they are left out puts no more of a sketch on one row, however the coin falls. 40 people,
    of all of whom there is a mark: what a row moves is not hidden by which rows are sampled."""
    monkeypatch.setattr(reading_of, "_edge", lambda columns, key: edge(0.0))
    made = {"as they are": lambda frame: frame, **REPEATED}[kind]
    frame = made(patients(40))
    before = sketch(reading(frame), KEY)
    for other in neighbours(frame):
        after = sketch(reading(other), KEY)
        assert len(after.combinations) == len(before.combinations)
        for one, now in zip(before.combinations, after.combinations, strict=True):
            assert min(len(set(one.marks) ^ set(again.marks)) for again in after.combinations) <= 2
            assert now.depth == one.depth


def test_where_copies_begin_nobody_can_tell() -> None:
    """Between the two edges a coin of the key and of all rows decides; beyond them no row can, and no coin."""
    frame = patients(48)
    file = reading(pd.concat([frame, frame.iloc[::2]]))
    times = np.repeat([1, 2], [24, 24])
    assert LEAST_SHARE < share(times) < SURE_SHARE
    kept = {len(sketch(file, bytes([coin]) * 32).columns) for coin in range(24)}
    assert len(kept) == 2, "by some keys they are left out, by others not"
    for people, most in ((64, 0.36), (300, 0.31)):
        assert max(shifts(people)) < most


def shifts(people: int) -> list[float]:
    """By how much one row moves the chance that copies are left out, of people of whom so many are there twice: where
    it is a third copy, a copy, nobody's copy, or gone."""

    def chance(times: np.ndarray) -> float:
        return min(max((share(times) - LEAST_SHARE) / (SURE_SHARE - LEAST_SHARE), 0.0), 1.0)

    found = []
    for twice in range(1, people):
        times = np.repeat([1, 2], [people - twice, twice])
        others = [np.append(times, 1), np.append(times[:-1], 3), np.append(times[1:-1], 3)]
        others += [times[1:], np.append(times[1:], 2), np.append(times[:-1], 1)]
        found += [abs(chance(times) - chance(other)) for other in others]
    return found


def test_the_very_rows_decide_and_not_their_order() -> None:
    frame = REPEATED["half of it twice"](PEOPLE)
    turned = frame.sample(frac=1.0, random_state=3)
    assert sketch(reading(frame), KEY) == sketch(reading(turned), KEY)


# -- what was written before, and the library's comparison -------------------------------------------------------------


def test_a_file_that_was_linked_before_is_still_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier versions knew a file with each row twice by its columns alone, in whatever order and by whatever name."""
    file = reading(REPEATED["appended to itself"](PEOPLE).drop(columns="id"))
    with monkeypatch.context() as before:
        before.setattr(reading_of, "bare", lambda rows, least: None)
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
