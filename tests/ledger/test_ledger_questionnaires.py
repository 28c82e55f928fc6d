"""Tables whose columns share their values, as questionnaires of 1 to 5, are known as well as those with codes of their
own in each column, also with a row more or less; other people who were asked the same are not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import sketch
from dpcore.sketches import (
    APART,
    LONGEST,
    MOST_COMBINATIONS,
    MOST_MORE,
    MOST_TOGETHER,
    MOST_UNDECIDED,
    Index,
    Sketch,
)
from tests.ledger.test_ledger_people import KEY, ONE, reading
from tests.ledger.test_ledger_repeated_rows import PEOPLE, REPEATED, seems

reading_of = import_module("dpcore.datasets.reading.likeness")

TAGGED = reading_of._with_tags
WORDS = ["never", "rarely", "sometimes", "often", "always"]


def answers(rows: int, questions: int, most: int, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({f"q{i}": rng.integers(1, most + 1, rows) for i in range(questions)})


def own_codes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame + 100 * np.arange(frame.shape[1])


QUESTIONNAIRES: dict[str, pd.DataFrame] = {
    "ten of 1 to 5": answers(300, 10, 5),
    "ten of 0 to 10, from 0 on": answers(300, 10, 11) - 1,
    "thirteen of 1 to 5": answers(300, 13, 5),
    "twenty of 1 to 5": answers(1000, 20, 5),
    "twenty of 1 to 7": answers(1000, 20, 7),
    "24 of 1 to 3": answers(500, 24, 3),
    "forty of yes or no": answers(1000, 40, 2),
    "fifty of 1 to 5": answers(300, 50, 5),
    "thirty in words": answers(300, 30, 5).replace(dict(enumerate(WORDS, start=1))),
    "few people": answers(40, 20, 5),
    "some cells missing": answers(300, 20, 5).mask(np.random.default_rng(1).random((300, 20)) < 0.05),
}
CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "one row less": lambda frame: frame.iloc[1:],
    "one row more": lambda frame: pd.concat([frame, frame.iloc[:1]]),
    "somebody else's row more": lambda frame: pd.concat([frame, frame.iloc[5:6, ::-1].set_axis(frame.columns, axis=1)]),
    "rows in another order, one less": lambda frame: frame.iloc[1:].sample(frac=1.0, random_state=2),
    "columns in another order, one row less": lambda frame: frame.iloc[1:, ::-1],
    "the first column last, one row less": lambda frame: frame.iloc[1:, np.roll(np.arange(frame.shape[1]), -1)],
    "other names, one row less": lambda frame: frame.iloc[1:].set_axis(
        [f"item {hashlib.sha256(name.encode()).hexdigest()}" for name in frame], axis=1
    ),
    "capitals and the order of names, one row less": lambda frame: (
        frame.iloc[1:].sort_index(axis=1).rename(columns=str.upper)
    ),
    "half of the rows": lambda frame: frame.iloc[::2],
    "each row twice": lambda frame: pd.concat([frame, frame]),
    "each row twice, one more": lambda frame: pd.concat([frame, frame, frame.iloc[:1]]),
}
OWN_ONLY = ("each row twice", "each row twice, one more")
"""What is recognised beside files of the same person alone."""


@pytest.fixture(
    scope="module", params=[*QUESTIONNAIRES, pytest.param("thirty of 1 to 5, many people", marks=pytest.mark.thorough)]
)
def asked(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, Sketch]:
    frame = QUESTIONNAIRES[request.param] if request.param in QUESTIONNAIRES else answers(5000, 30, 5)
    return frame, sketch(reading(frame), KEY)


@pytest.mark.parametrize("change", CHANGES)
def test_the_people_of_a_questionnaire_are_recognised(asked: tuple[pd.DataFrame, Sketch], change: str) -> None:
    """In either order; and beside files of others by whatever number of marks is asked for."""
    frame, known = asked
    found = sketch(reading(CHANGES[change](frame)), KEY)
    assert found.is_like(known)
    assert known.is_like(found)
    if len(frame) >= 300 and change not in (*OWN_ONLY, "half of the rows"):
        assert min(seems(found, known), seems(known, found)) > MOST_MORE / 2


@pytest.mark.thorough
@pytest.mark.parametrize("questions", [8, 12])
def test_one_question_less_is_recognised_as_with_codes_of_their_own(questions: int) -> None:
    """And one row less, of tables of up to twelve columns."""
    for frame in (answers(300, questions, 7), own_codes(answers(300, questions, 7))):
        known = sketch(reading(frame), KEY)
        for place in (0, questions - 1):
            for less in (frame, frame.iloc[:, ::-1]):
                assert sketch(reading(less.iloc[1:].drop(columns=f"q{place}")), KEY).is_like(known)


def untagged(_telling: list[Any]) -> tuple[()]:
    """As earlier versions."""
    return ()


def by_place(telling: list[Any]) -> list[Any]:
    return list(TAGGED(telling))[-1:]


def by_name(telling: list[Any]) -> list[Any]:
    return list(TAGGED(telling))[:-1]


@pytest.mark.parametrize(
    ("mutant", "change"),
    [
        (untagged, "one row less"),
        (untagged, "one row more"),
        (untagged, "each row twice, one more"),
        (by_place, "columns in another order, one row less"),
        (by_name, "other names, one row less"),
    ],
)
def test_these_tests_can_fail(
    mutant: Callable[[list[Any]], object], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sketch that tells no columns apart, or by one of both alone."""
    frame = QUESTIONNAIRES["twenty of 1 to 5"]
    monkeypatch.setattr(reading_of, "_with_tags", mutant)
    known = sketch(reading(frame), KEY)
    assert not sketch(reading(CHANGES[change](frame)), KEY).is_like(known)
    assert sketch(reading(CHANGES[change](own_codes(frame))), KEY).is_like(sketch(reading(own_codes(frame)), KEY))


def test_what_is_not_recognised_is_said_truly() -> None:
    """As ``dpcore.sketches`` says: other names and another order at once, with a row less."""
    frame = QUESTIONNAIRES["twenty of 1 to 5"]
    other = frame.iloc[:, ::-1].set_axis([f"z{i:02}" for i in range(20)], axis=1)
    known = sketch(reading(frame), KEY)
    assert sketch(reading(other), KEY).is_like(known)
    assert not sketch(reading(other.iloc[1:]), KEY).is_like(known)


@pytest.mark.thorough
def test_a_sketch_stays_as_large_as_it_may_be() -> None:
    for frame in (answers(300, 12, 5), answers(300, 9, 100), answers(300, 50, 5)):
        for file in (frame, pd.concat([frame, frame])):
            made = sketch(reading(file), KEY)
            bare = () if made.bare is None else made.bare.combinations
            assert len(made.combinations) <= MOST_COMBINATIONS + MOST_UNDECIDED
            assert len(made.combinations) + len(bare) <= MOST_TOGETHER
            assert len(made.to_even_text()) == LONGEST
            assert Sketch.from_text(made.to_even_text()) == made


# -- other people ------------------------------------------------------------------------------------------------------


def leaning(rows: int, questions: int, most: int, seed: int) -> pd.DataFrame:
    """People who answer all questions alike, more or less, and every sixth the same to each."""
    rng = np.random.default_rng(seed)
    lean = rng.normal(0, 1, (rows, 1))
    found = lean + rng.normal(0, 0.8, (rows, questions)) + rng.normal(0, 0.5, questions)
    found[: rows // 6] = lean[: rows // 6]
    return pd.DataFrame(np.clip(np.round(found + most / 2), 1, most)).astype(int).add_prefix("q")


def seldom(rows: int, questions: int, chance: float, seed: int) -> pd.DataFrame:
    """Questions that few say yes to."""
    return pd.DataFrame(np.random.default_rng(seed).random((rows, questions)) < chance).astype(int).add_prefix("q")


STRANGERS: dict[str, Callable[[int, int], pd.DataFrame]] = {
    "twenty of 1 to 5": lambda rows, seed: answers(rows, 20, 5, seed),
    "six of 1 to 5": lambda rows, seed: answers(rows, 6, 5, seed),
    "ten of yes or no": lambda rows, seed: answers(rows, 10, 2, seed),
    "twenty that lean one way": lambda rows, seed: leaning(rows, 20, 5, seed),
    "twenty seldom yes": lambda rows, seed: seldom(rows, 20, 0.15, seed),
}


def alarms(asked: Callable[[int, int], pd.DataFrame]) -> int:
    """How many of 78 pairs of files of other people, who were asked the same, are taken for the same people by what
    stands together in a row, beside one's own files or by the easiest coins of others'."""
    files = [asked(rows, seed) for seed, rows in enumerate([40, 150, 600] * 4 + [2000])]
    made = [replace(sketch(reading(one), KEY), columns=()) for one in files]
    pairs = combinations([(Index(one), one) for one in made], 2)
    return sum(one.is_like(other) or one.seems_like(other, more=0, apart=APART[0]) for (one, _), (_, other) in pairs)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", STRANGERS)
def test_others_who_were_asked_the_same_are_taken_for_them_no_more_often(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Than by earlier versions, neither where questions share their answers nor where each has codes of its own."""
    codes = lambda rows, seed: own_codes(STRANGERS[kind](rows, seed))  # noqa: E731
    now = [alarms(STRANGERS[kind]), alarms(codes)]
    monkeypatch.setattr(reading_of, "_with_tags", untagged)
    monkeypatch.setattr(reading_of, "MOST_UNDECIDED", 0)
    assert now == [alarms(STRANGERS[kind]), alarms(codes)]


@pytest.mark.thorough
def test_were_no_more_asked_of_what_tells_columns_apart_they_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_of, "_CHANCES", 1.0)
    assert alarms(STRANGERS["ten of yes or no"]) > 0
    monkeypatch.setattr(reading_of, "_with_tags", untagged)
    assert alarms(STRANGERS["ten of yes or no"]) == 0


# -- what was written before -------------------------------------------------------------------------------------------

BEFORE: dict[str, tuple[pd.DataFrame, str]] = {
    "a survey": (ONE, "afa66b4f82e7a4377f69e91129fb7dde6d74c6baf7cde24e2e05a486c549fcef"),
    "each row twice": (
        REPEATED["appended to itself"](PEOPLE),
        "bcb62f30e557b11fbfc59232c79e72604b2adb8403680953e742103d3519b9da",
    ),
    "a questionnaire": (answers(300, 13, 5, 1), "cfb59430fe19e14cc41224a9ad85f65c49136430b3b753d071917dc821d4743d"),
    "a wide table": (
        own_codes(answers(300, 50, 9, 1)),
        "4d07083844be43600a72e0195e29bae3584b0e5bea1a8c33f85e31e73c94dd13",
    ),
}
"""Files, and the digest of the sketch that versions which knew no order, and read no cell by itself, wrote of each."""


@pytest.mark.parametrize("file", BEFORE)
def test_a_sketch_of_before_knows_the_same_file(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that was written then stands in a sketch of now, at the same place, and files are known by it as before."""
    frame, digest = BEFORE[file]
    now = sketch(reading(frame), KEY)
    monkeypatch.setattr(reading_of, "_with_tags", untagged)
    monkeypatch.setattr(reading_of, "MOST_UNDECIDED", 0)
    before = Sketch.from_text(sketch(reading(frame), KEY).to_text())
    assert before is not None
    assert hashlib.sha256(before.to_text().encode()).hexdigest() == digest
    for old, new in ((before, now), (before.bare or Sketch(), now.bare or Sketch())):
        assert new.columns == old.columns
        assert new.combinations[: len(old.combinations)] == old.combinations
    assert now.is_like(before)
    assert before.is_like(now)
