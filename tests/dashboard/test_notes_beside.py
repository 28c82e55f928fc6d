"""What one row has beside the named columns, where nothing is named, decides nothing about answers or declarations."""

from __future__ import annotations

import io
from datetime import date
from typing import Any, NamedTuple

import openpyxl
import pytest

from dashboard.data import read_again, template
from dashboard.questions.selection.most_common_request import most_common_request
from dashboard.questions.thresholding.alarm_request import alarm_request
from dashboard.questions.thresholding.watched import Watched
from dpcore.datasets import Column, Declaration, Reading, Schema, SplitOptions, read_table, saved
from dpcore.datasets.reading import reader
from dpcore.datasets.reading.tabulate import Tabulated
from dpcore.datasets.schema import EachRow

NOTE = "spoke to her mother"
CALLERS = Column(name="callers", type="integer", low=0, high=100, sensitivity=1.0, counts=True)
WORDS = ("Knee", "Cough", "Back", "Rash", "Flu")
DAYS = tuple(f"2024-01-0{day}" for day in range(1, 6))


class Named(NamedTuple):
    """What the rows are called, and by which column."""

    each: EachRow
    names: tuple[str, ...]
    column: Column


CALLED = (
    Named("option", WORDS, Column(name="what", type="text")),
    Named("option", WORDS, Column(name="what", type="category", categories=tuple(sorted(WORDS)))),
    Named("step", DAYS, Column(name="what", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 31))),
)


def book(rows: list[list[Any]], note: str, place: int) -> bytes:
    sheet = openpyxl.Workbook()
    for at, row in enumerate(rows):
        sheet.active.append([*row, *([note] if note and at == place else [])])
    made = io.BytesIO()
    sheet.save(made)
    return made.getvalue()


def text(rows: list[list[Any]], note: str, place: int) -> bytes:
    """Each line ends with a comma, behind which a note has room."""
    lines = (",".join(map(str, [*row, note if at == place else ""])) for at, row in enumerate(rows))
    return "\n".join(lines).encode() + b"\n"


def read(kind: str, rows: list[list[Any]], note: str, place: int) -> Reading:
    made = (book if kind == "xlsx" else text)(rows, note, place)
    return read_table(made, header_rows=1, header_line=1, **({"delimiter": ","} if kind == "csv" else {}))


def requests(kind: str, called: Named, note: str, place: int, *, totals: bool) -> list[object]:
    """What the pages ask of the table, or why they cannot."""
    counted = zip(called.names, (4, 2, 1, 7, 9), strict=True)
    reading = read(
        kind, [["what", "callers"], *map(list, counted), ["Total", 23]][: None if totals else -1], note, place
    )
    declared = Declaration.of(Schema(columns=(called.column, CALLERS), each_row=called.each))
    how: dict[str, Any] = {"rows": lambda: reading.private, "epsilon": 0.5, "neighbours": "add_remove"}
    asked: list[object] = [
        alarm_request(declared, Watched("column", "callers"), line=5.0, method="laplace", limit=1, beta=0.05, **how)
    ]
    if called.each == "option":
        asked.append(most_common_request(declared, "callers", rule="permute_and_flip", **how))
    return asked


@pytest.mark.parametrize("called", CALLED, ids=lambda called: f"{called.each} {called.column.type}")
@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("totals", [True, False])
def test_no_note_beside_a_table_decides_what_is_asked(kind: str, called: Named, totals: bool) -> None:
    """With one, the names were private, or one person moved an entry by all of its range and not by 1."""
    without = requests(kind, called, "", 1, totals=totals)
    for place in (1, 3, 5):
        assert requests(kind, called, NOTE, place, totals=totals) == without
        assert not any(NOTE in repr(one) or "column 3" in repr(one) for one in without)


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_no_declaration_names_a_column_that_a_note_alone_fills(kind: str) -> None:
    """Where a step leaves no column that is public, the columns as read are named."""
    found = []
    for note in ("", NOTE):
        rows = [["tags"], *([one] for one in ["x; y", "y", "z; x", "y; z", "x"] * 3)]
        reading = read(kind, rows, note, 15)
        assert bool(reading.from_rows) == bool(note)
        own, step = read_again.opened("a", b"", (), reading, None, None), SplitOptions(column="tags", separator=";")
        found.append(saved(template.template(read_again.worked(own, reading.after((step,)), (step,)))))
    assert found[0] == found[1]


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_all(table: Tabulated, choices: object) -> frozenset[str]:
        names = list(table.frame.columns)
        return frozenset(names if len(names) > 2 else names[:1])

    monkeypatch.setattr(reader, "_left_out_by", of_all)
    for kind in ("xlsx", "csv"):
        assert requests(kind, CALLED[0], "", 1, totals=True) != requests(kind, CALLED[0], NOTE, 1, totals=True)
