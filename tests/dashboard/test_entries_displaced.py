"""In a workbook and in JSON another cell of its row, or how it is shown, may call an entry something else, or take the
row's name away: the whole range counts, and no names are given out; in CSV what is stated holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dashboard.questions.selection.most_common_request import most_common_request
from dashboard.questions.thresholding.alarm_request import alarm_request
from dashboard.questions.thresholding.watched import Watched
from dpcore.audit.interference import spent
from dpcore.audit.sheets import DAY, NUMBER, SPAN, workbook
from dpcore.datasets import Column, Declaration, PrivateRows, Reading, Schema, private_rows, read_table
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun
from tests.dashboard.test_entries_moved import CALLERS, NUMBERS, SCORE, STREETS, asked

FAR = replace(SCORE, high=5_000_000)


def sheet(entry: str, waited: str, shown: int = NUMBER) -> bytes:
    """Of the last street the ``entry``, whose cells are ``shown`` so, and for how long somebody ``waited`` there."""
    entries = [*map(str, NUMBERS[:-1]), entry]
    rows = [(street, one, "0.5") for street, one in zip(STREETS, entries, strict=True)]
    head = ("street", "callers", "waited")
    return workbook([head, *rows[:-1], (STREETS[-1], entry, waited)], numbers={1: shown, 2: SPAN})


def document(brought: dict[str, Any]) -> bytes:
    """The same with the ``brought`` keys in the last row."""
    rows: list[dict[str, Any]] = [
        {"street": street, "callers": one, "by.callers": one} for street, one in zip(STREETS, NUMBERS, strict=True)
    ]
    rows[-1] |= brought
    return json.dumps(rows).encode()


AS_SHEETS = {"header_rows": 1, "header_line": 1}
PAIRS: dict[str, tuple[bytes, bytes]] = {
    "a span beyond any": (sheet("50", "0.5"), sheet("50", "1e9")),
    "the last day and one more": (sheet("2958465", "0.5", DAY), sheet("2958466", "0.5", DAY)),
    "a key with a blank": (document({}), document({"callers ": 0})),
    "a key with an odd blank": (document({}), document({"\u00a0callers": None})),
    "an object": (document({}), document({"by": {"callers": 0}})),
    "a street with a blank": (document({}), document({"street ": ""})),
}
ENTRIES = {"an object": "by.callers"}
TAKES_NAMES = ("a span beyond any", "a street with a blank")


def readings(pair: str) -> list[Reading]:
    return [read_table(one, **(AS_SHEETS if one.startswith(b"PK") else {})) for one in PAIRS[pair]]


def worst(pair: str, column: Column) -> float:
    """The largest share of the claim that is used where one person's row holds another cell."""
    found, both = [], readings(pair)
    column = replace(column, name=ENTRIES.get(pair, "callers"))
    for each in ("option", "step"):
        for here, there in zip(*(asked(one, column, each=each) for one in both), strict=True):
            assert here == there, "what is asked hangs on no cell"
            found.append(spent(here, here.read(both[0].private), here.read(both[1].private)))
    return max(found)


@pytest.mark.parametrize("column", [CALLERS, SCORE, FAR, replace(FAR, type="number")])
@pytest.mark.parametrize("pair", PAIRS)
def test_another_cell_moves_an_entry_by_no_more_than_is_charged(pair: str, column: Column) -> None:
    """Charged 0.5, one person moved the law by e^25.7, in silence."""
    assert worst(pair, column) <= 1 + 1e-9


@pytest.mark.parametrize("pair", PAIRS)
def test_these_tests_can_fail(pair: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrivateRows, "said_of_entries", lambda self, declaration, named: declaration)
    assert worst(pair, FAR) > 5


def names(reading: Reading) -> list[object]:
    """What the pages would ask of a table whose rows are called by a text."""
    text = Column(name="street", type="text")
    declared = Declaration.of(Schema(columns=(text, SCORE), each_row="option"))
    how: dict[str, Any] = {"rows": lambda: reading.private, "epsilon": 0.5, "neighbours": "add_remove"}
    alarm = alarm_request(
        declared, Watched("column", "callers"), line=45.0, method="laplace", limit=1, beta=0.05, **how
    )
    return [most_common_request(declared, "callers", rule="permute_and_flip", **how), alarm]


@pytest.mark.parametrize("pair", TAKES_NAMES)
def test_no_names_are_given_out_that_another_cell_takes_away(pair: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any ε the request lacked the street."""
    here, there = (names(one) for one in readings(pair))
    assert here == there
    assert all("save the table as CSV" in str(one) for one in here)
    monkeypatch.setattr(private_rows, "DISPLACED", ())
    here, there = (names(one) for one in readings(pair))
    assert all(one != other for one, other in zip(here, there, strict=True)), "these are told apart"


def test_of_records_and_of_csv_nothing_else_counts() -> None:
    """What is stated of a table in CSV holds, and its names are given out."""
    text = Column(name="street", type="text")
    declared = Declaration.of(Schema(columns=(text, SCORE), each_row="option"))
    lines = "street,callers\n" + "".join(f"{one},{n}\n" for one, n in zip(STREETS, NUMBERS, strict=True))
    rows = read_table(lines.encode(), header_rows=1).private
    assert rows.said_of_entries(declared, "street") == declared
    assert rows.public_options(declared, "street") == tuple(STREETS)
    with pytest.raises(InvalidArgument, match="private in name"):
        readings(TAKES_NAMES[0])[0].private.public_options(declared, "street")


def test_who_declares_no_names_has_steps_told_by_their_place() -> None:
    """A workbook of steps can be asked about: what it calls its rows is left out."""
    (here, _) = readings("a span beyond any")
    (found,) = asked(here, SCORE, each="step")[:1]
    assert isinstance(found, AlarmRun)
    assert not found.labels
