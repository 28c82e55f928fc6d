"""No text of a kind that a pattern of this program knows makes a question fail, however often a part of it is repeated,
and every engine reads it as memory does: of one that fails, all answers would tell that it is there."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from re import _parser as parser
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import literal_column

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.decimal_texts import fixed
from dpcore.datasets.in_place import Form, InPlace, PrivateSource, database, open_lines, tongue
from dpcore.datasets.plain_words import EXPONENT, SPELLINGS, plain, plainly
from dpcore.errors import UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import BestRule, MostCommonOption, QuantileValue
from tests.datasets.test_in_place_blanks import in_duckdb, in_folder, in_postgresql, in_sqlite

REPEATED = (0, 1, 2, 18, 19, 20, 310, 340, 3_000)
"""How often what may be repeated for ever is: about as many digits as a whole number or a double holds, and more."""
WIDER = (
    r"-?0*[0-9]*[.,]?0*[0-9]*[eE][+-]?0*[0-9]{1,3}",
    r"-?0[.,]0*[1-9][0-9]*[eE][+-]?[0-9]{1,2}",
    r"-?0[.,]0{0,12}[1-9][0-9]{20,40}[eE]\+?[12][0-9]",
    r"-?[1-9][.,](?:0+|9+)[0-9]?[eE][+-]?(?:1?[0-9]|30[789]|32[345])",
)
"""Numbers that the patterns may know or not: of zeros, and nearly whole or nearly too large or small for a double."""
BEFORE = EXPONENT.replace("0[.,][1-9]", "0[.,]0*[1-9]")
"""A pattern that takes any number of zeros behind the mark: 0.000…1e5 with 340 of them is no double."""

_NUMBER = re.compile(r"-?[0-9]+(?:[.,][0-9]*)?[eE][+-]?[0-9]{1,3}")


@cache
def words() -> list[str]:
    """Some of each pattern, the same ones each time."""
    drawn: dict[str, None] = {}
    for pattern in (EXPONENT, *(pattern for pattern, _ in SPELLINGS), *WIDER):
        chance = random.Random(pattern)
        drawn |= dict.fromkeys(of(pattern, chance) for _ in range(60))
    return list(drawn)


def of(pattern: str, chance: random.Random) -> str:
    """A text of a pattern's language."""
    return _all_of(parser.parse(pattern), chance)


def _all_of(parts: Any, chance: random.Random) -> str:
    return "".join(_one_of(str(kind), told, chance) for kind, told in parts)


def _one_of(kind: str, told: Any, chance: random.Random) -> str:
    if kind == "LITERAL":
        return chr(told)
    if kind == "RANGE":
        return chr(chance.choice((*told, chance.randint(*told))))
    if kind == "IN":
        return _all_of([chance.choice(told)], chance)
    if kind == "SUBPATTERN":
        return _all_of(told[-1], chance)
    if kind == "BRANCH":
        return _all_of(chance.choice(told[1]), chance)
    assert kind == "MAX_REPEAT", kind
    least, most, part = told
    if most == parser.MAXREPEAT:
        alike = "".join(_all_of(part, chance) for _ in range(chance.choice((1, 1, 1, 2, 7))))
        return alike * max(least, chance.choice(REPEATED))
    return "".join(_all_of(part, chance) for _ in range(chance.randint(least, most)))


WARDS = ("1", "0.1", "0,00001", "10", "1" + 19 * "0", "2024-01-31", "1 days")
WARD, ILL, WHO = (
    Column(name="ward", type="category", categories=WARDS),
    Column(name="ill", type="yes/no"),
    Column(name="who", type="text", missing_words=("", "1e-05", "7")),
)
EVERY = Declaration(columns=(WHO, WARD, ILL))
NAMED = replace(EVERY, id_column="who", rows_per_person=1)
ALL_OF_EACH = replace(NAMED, rows_per_person=10_000)


def rows_of(cells: list[str]) -> pd.DataFrame:
    """Each cell as whose row it is, as an option and as yes or no; its plain writing, so that who reads both alike
    counts one person; and of a number its digits, so that who takes for one what memory does not counts too few."""
    digits = [fixed(cell.replace(",", ".")) for cell in cells if _NUMBER.fullmatch(cell)]
    said = [*cells, *map(plain, cells), *digits]
    return pd.DataFrame({"who": said, "ward": [*said[1:], said[0]], "ill": [*said[2:], *said[:2]]}, dtype="str")


def answers(rows: PrivateRows) -> list[Any]:
    asked = [
        MostCommonOption.of(declared, name, epsilon=1.0)
        for declared in (EVERY, ALL_OF_EACH)
        for name in ("ward", "ill")
    ]
    return [
        int(NoisyCount.of(NAMED, epsilon=1.0).read(rows)),
        *(one.read(rows).tolist() for one in asked),
        BestRule.of(EVERY, ["ward"], target="ill", epsilon=1.0).read(rows).tolist(),
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


HOMES: dict[str, Callable[[Path, pd.DataFrame], InPlace]] = {
    "folder": in_folder,
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
}


def opened(home: str, frame: pd.DataFrame, place: Path, request: pytest.FixtureRequest) -> PrivateSource:
    if home == "postgresql":
        stored = in_postgresql(request.getfixturevalue("server").new_schema(), frame)
    else:
        stored = HOMES[home](place, frame)
    return PrivateSource(lambda: stored)


def test_what_is_drawn_reaches_beyond_what_a_double_holds() -> None:
    """Or nothing would be found: cells of any number of zeros, digits of any number, and some that are plain."""
    drawn = words()
    assert max(map(len, drawn)) > 3_000
    assert {word == plain(word) for word in drawn} == {True, False}
    assert plainly(pd.Series(drawn, dtype="str")).tolist() == list(map(plain, drawn))
    numbers = [Decimal(word.replace(",", ".")) for word in drawn if _NUMBER.fullmatch(word)]
    assert sum(number != 0 and float(number) == 0 for number in numbers) > 10
    assert sum(number != number.to_integral_value() and float(number).is_integer() for number in numbers) > 10


def beyond(pattern: str) -> list[str]:
    """Numbers of a pattern whose digits before the exponent are not 0.1 to 10."""
    known = re.compile(pattern)
    digits = (re.split("[eE]", word)[0].replace(",", ".") for word in words() if known.fullmatch(word))
    return [each for each in digits if not Decimal("0.1") <= Decimal(each).copy_abs() < 10]


def test_an_exponent_tells_how_large_a_number_is() -> None:
    """So an engine that gives no answer for one that is no double is given none such."""
    assert beyond(EXPONENT) == []
    assert beyond(BEFORE) != []


@pytest.mark.thorough
@pytest.mark.parametrize("home", [*HOMES, "postgresql"])
def test_no_cell_of_any_pattern_makes_an_answer_fail_or_differ(
    home: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame = rows_of(words())
    assert answers(opened(home, frame, tmp_path, request)) == answers(PrivateRows(frame))


@pytest.mark.thorough
@pytest.mark.parametrize("decimal", [".", ","])
def test_no_cell_of_any_pattern_makes_a_line_fail(decimal: Any, tmp_path: Path) -> None:
    """As a number, a whole one, a day, yes or no: what is none is missing there."""
    cells = [*words(), "7"]
    lines = [";" * at + cell + ";" * (3 - at) for at in range(4) for cell in cells]
    (tmp_path / "a.csv").write_text("\n".join(["n;i;d;b", *lines]))
    form = Form(
        columns=(("n", "number"), ("i", "integer"), ("d", "date"), ("b", "yes/no")), delimiter=";", decimal=decimal
    )
    stored = open_lines(tmp_path, form)
    declared = Declaration(
        columns=(
            *(Column(name=name, type=kind, low=0, high=10) for name, kind in (("n", "number"), ("i", "integer"))),
            Column(name="d", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 31)),
            Column(name="b", type="yes/no"),
        )
    )
    rows = PrivateSource(lambda: stored)
    for asked in (
        *(QuantileValue.of(declared, name, epsilon=1.0) for name in ("n", "i")),
        MostCommonOption.of(declared, "b", epsilon=1.0),
        AlarmRun.of(declared, "d", where="b", threshold=9, epsilon=1.0),
    ):
        asked.read(rows)
    assert rows.opened(declared.reads("n")).rows == len(lines)


MUTANTS: dict[str, tuple[str, object, str, object]] = {
    "any number of zeros in a folder": ("folder", tongue, "EXPONENT", BEFORE),
    "any number of zeros in DuckDB": ("duckdb", tongue, "EXPONENT", BEFORE),
    "any number of zeros": ("postgresql", tongue, "EXPONENT", BEFORE),
    "any exponent": ("postgresql", tongue, "_power", lambda exponent: literal_column("0")),
    "a database keeps its own": ("sqlite", database, "_plain", lambda cell: cell),
}


@pytest.mark.thorough
@pytest.mark.parametrize("which", MUTANTS)
def test_these_tests_can_fail(
    which: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = rows_of(words())
    home, module, name, value = MUTANTS[which]
    monkeypatch.setattr(module, name, value)
    rows = opened(home, frame, tmp_path, request)
    if home == "postgresql":
        with pytest.raises(UnreadableFile):
            answers(rows)
    else:
        assert answers(rows) != answers(PrivateRows(frame))
