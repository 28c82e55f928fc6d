"""What a question about others' people tells where columns say the same twice, and many questions about one file.

One row then moves many combinations at once. They count by one coin, so that they are one draw, whichever columns
somebody brings; exact, over real sketches and all coins."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations, groupby

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import sketch
from dpcore.ledger import compared
from dpcore.ledger.compared import up_to
from dpcore.ledger.key import Key
from dpcore.ledger.people import CONFIGURED, KnownFile
from dpcore.sketches import APART, MOST_MORE, Combination, Index, Sketch
from tests.ledger.patients import reading
from tests.ledger.test_ledger_people import DISGUISES

KEY, SIDES = b"K" * 32, len(APART)
RIGHT, WRONG, UNKNOWN = "nurse", "cook", "pilot"  # what the last row's job may be, and what whoever asks writes there
CODES = {"nurse": "N10", "clerk": "C20", "cook": "K30", "pilot": "P40"}
WARDS = {"nurse": "ward", "clerk": "office", "cook": "kitchen", "pilot": "air"}
PLAIN, TWICE = ("age", "job"), ("age", "job", "code", "born", "ward")
OTHERS = ("age", "job", "weight", "city", "shift")
"""Columns of which each says something else."""


def world(job: str, columns: Sequence[str]) -> pd.DataFrame:
    """64 people, of whom age and job tell 74 hundredths apart where the last one is a nurse, 71 where a cook."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(18, 90, 64), "job": rng.choice(["nurse", "clerk", "cook"], 64)})
    people.loc[63, "job"] = job
    jobs = people["job"]
    people = people.assign(code=jobs.map(CODES), born=2026 - people["age"], ward=jobs.map(WARDS))
    people = people.assign(weight=rng.integers(45, 120, 64), city=rng.choice(list("abcde"), 64))
    return people.assign(shift=rng.choice(["early", "late"], 64))[list(columns)]


@cache
def made(job: str, columns: tuple[str, ...]) -> Sketch:
    return sketch(reading(world(job, columns)), KEY)


def is_alike(asked: Index, known: Sketch, place: int, more: int = 0) -> bool:
    return asked.seems_like(known, more=more, apart=APART[place])


def places(alike: Callable[[int], bool]) -> int:
    """By how many places of a coin this is alike: by those from the first on."""
    return next((place for place in range(SIDES) if not alike(place)), SIDES)


def chance(count: int) -> float:
    """That a coin shows one of so many first places."""
    return up_to(count - 1, SIDES) if count else 0.0


def said(asked: Sketch, known: Sketch, patch: pytest.MonkeyPatch) -> float:
    """The chance of "alike" as it is drawn, over all coins, of which one says which combinations count."""
    index, file, total = Index(asked), KnownFile(mark="file", lineage=f"{CONFIGURED}clinic", name=""), 0.0
    for more in range(MOST_MORE + 1):

        def alike(place: int, more: int = more) -> bool:
            names = Counter[str]()

            def coin(_key: Key, _sides: int, purpose: str, *_parts: str) -> int:
                names[purpose] += 1
                return {"more": more, "apart": place}[purpose]

            patch.setattr(compared, "_coin", coin)
            found = compared._seems_like(Key(secret=KEY), "new", index, file, known)
            assert names == {"more": 1, "apart": 1}
            return found

        total += weight(more) * chance(places(alike))
    return total


def said_by_many(asked: Sketch, known: Sketch, _patch: pytest.MonkeyPatch) -> float:
    """A mutant: a coin for each combination, by its own foremost tuple, as it was."""
    index, total = Index(asked), 0.0
    by_coin = groupby(sorted(known.combinations, key=own_foremost), own_foremost)
    each = [Sketch(combinations=tuple(ones)) for _, ones in by_coin]
    for more in range(MOST_MORE + 1):
        counts = [places(partial(is_alike, index, one, more=more)) for one in each]
        total += weight(more) * (1.0 - math.prod(1.0 - chance(count) for count in counts))
    return total


def own_foremost(one: Combination) -> int:
    return Sketch(combinations=(one,)).foremost


def weight(more: int) -> float:
    return up_to(more, MOST_MORE + 1) - up_to(more - 1, MOST_MORE + 1)


@pytest.mark.parametrize("mutant", [False, True])
def test_columns_that_say_the_same_twice_are_one_draw(mutant: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A code, a year of birth and a ward beside job and age tell no more than the edge of one combination: by a coin
    for each of 21 a right guess was told by two thirds."""
    law, tells, most = said_by_many if mutant else said, {}, 0.0
    for columns in (PLAIN, TWICE):
        asked, known = made(UNKNOWN, columns), [made(job, columns) for job in (RIGHT, WRONG)]
        tells[columns] = law(asked, known[0], monkeypatch) - law(asked, known[1], monkeypatch)
        highest, lowest = (max(one.apart for one in each.combinations) for each in known)
        most = max(most, chance(places_below(highest)) - chance(places_below(lowest)))
    assert 0.07 < tells[PLAIN] < 0.08
    assert tells[TWICE] > 0.6 if mutant else 0.0 < tells[TWICE] <= most < 0.12


def test_what_one_row_moves_and_what_that_tells() -> None:
    """4 hundredths at most of 64 rows, which one question tells by 0.24. It moves more where as many rows as could be
    are there, evenly: then a number far from all others is a longer range, and that is told by as much."""
    assert max(chance(first + 4) - chance(first) for first in range(SIDES - 3)) == pytest.approx(0.239, abs=0.001)
    moved = {last: max((one.apart for one in evenly(last).combinations), default=0) for last in (89, 120, 200)}
    assert moved == {89: 0, 120: 79, 200: 88}
    tells = [chance(places_below(apart)) for apart in moved.values()]
    assert tells == pytest.approx([0.0, 0.323, 0.832], abs=0.001)


def evenly(last: int) -> Sketch:
    """64 people of as many ages and jobs as far from one another as there are, but for the last one's age."""
    cells = [(age, job) for age in range(18, 90) for job in ("nurse", "clerk", "cook")]
    people = pd.DataFrame([cells[at * len(cells) // 64] for at in range(64)], columns=["age", "job"])
    people.loc[63, "age"] = last
    return sketch(reading(people), KEY)


def places_below(apart: int) -> int:
    """Of how many places of a coin a combination counts that tells so many hundredths apart."""
    return sum(place <= apart for place in APART)


def told_by_all(columns: tuple[str, ...]) -> tuple[float, float]:
    """What the coin tells of the last job who asks about the known file once for each choice of its columns, every time
    with all other rows: in total variation, and the most that one of these questions tells of it."""
    chosen = [some for size in range(2, len(columns) + 1) for some in combinations(columns, size)]
    asked = [Index(made(UNKNOWN, some)) for some in chosen]
    known = (made(RIGHT, columns), made(WRONG, columns))
    return told_by([[places(partial(is_alike, one, each)) for one in asked] for each in known])


def told_by(counts: list[list[int]]) -> tuple[float, float]:
    """The same where each question is alike by so many places of the coin, in either world."""
    laws = [Counter[tuple[bool, ...]]() for _ in counts]
    for law, each in zip(laws, counts, strict=True):
        for place in range(SIDES):
            law[tuple(place < count for count in each)] += chance(place + 1) - chance(place)
    most = max(abs(chance(right) - chance(wrong)) for right, wrong in zip(*counts, strict=True))
    return sum(abs(laws[0][answers] - laws[1][answers]) for answers in {*laws[0], *laws[1]}) / 2, most


@pytest.mark.thorough
def test_each_choice_of_columns_asks_by_the_same_coin() -> None:
    """Where columns say the same twice, 26 questions tell no more than one of them; where each says something else, as
    often as the coin lies on the edge of any of them."""
    all_of_them, most = told_by_all(TWICE)
    assert all_of_them == pytest.approx(most)
    assert most < 0.12
    all_of_them, most = told_by_all(OTHERS)
    assert most < all_of_them < 0.15


def test_many_columns_of_which_each_says_something_else_come_to_more() -> None:
    """Seven columns of 60 to 400 values each beside three jobs, in 400 tables, and of the last job's three values the
    two of which most is told: about each pair of columns one question."""
    rng, told = np.random.default_rng(1), []
    for _ in range(400):
        domains, jobs = rng.integers(60, 400, 7), rng.integers(0, 3, 64)
        columns, counts = [rng.integers(0, size, 64) for size in domains], []
        for job in range(3):
            jobs[-1] = job
            alone = [np.unique(3 * one + jobs, return_counts=True)[1] for one in columns]
            apart = [
                min((one == 1).sum() / 64, 1 - one.size / (3 * size)) for one, size in zip(alone, domains, strict=True)
            ]
            counts.append([places_below(int(100 * one)) for one in apart])
        told.append(max(told_by(list(pair)) for pair in combinations(counts, 2)))
    whole, most = np.array(told).T
    assert most.max() < 0.24
    assert whole.mean() == pytest.approx(0.11, abs=0.02)
    assert np.percentile(whole, 90) == pytest.approx(0.25, abs=0.03)
    assert 0.3 < whole.max() < 0.6


KEEPING = ("the same", "id dropped", "another column added", "two columns dropped", "ids shifted", "a few rows changed")


@pytest.mark.parametrize("disguise", KEEPING)
def test_people_are_recognised_nearly_as_often_as_by_many_coins(disguise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows, or nearly all, in another file of others, under a key by which no combination of few columns is coarse:
    the widest that both files share decides it, and it tells nearly all rows apart."""
    known, asked = (sketch(DISGUISES[name](), b"k" * 32) for name in ("the same", disguise))
    often = said(asked, known, monkeypatch)
    assert often > 0.96
    assert often > said_by_many(asked, known, monkeypatch) - 0.01
