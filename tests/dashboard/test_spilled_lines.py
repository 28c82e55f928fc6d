"""What somebody writes into a line of a table of steps or options takes no row away, and no name: that is stated."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import replace

import pandas as pd
import pytest

from dashboard.data import private_answer
from dashboard.data.decisions import EVEN, Decisions, carried
from dashboard.data.own_file import OwnFile
from dashboard.data.understood import form_suggested
from dpcore.datasets import Column, Schema, read_table
from dpcore.datasets.declaration import Reads
from dpcore.datasets.reading import tabulate
from dpcore.datasets.reading.columns import Columns
from dpcore.datasets.report import Report
from dpcore.datasets.schema import EachRow
from dpcore.errors import UnreadableFile
from dpcore.releases.asked import form_stated
from dpcore.validate import BoolArray

STREETS = [f"Street {place}" for place in range(300)]
COLUMNS = (
    Column(name="street", type="text"),
    Column(name="complaint", type="text"),
    Column(name="callers", type="integer", low=0, high=999),
)


def own(complaint: str = "noise", each_row: EachRow = "option", **choices: object) -> OwnFile:
    """Of one street somebody wrote this ``complaint``; all else was said of the table."""
    rows = "".join(f"{street},{complaint if place == 7 else 'light'},{place}\n" for place, street in enumerate(STREETS))
    reading = read_table(f"street,complaint,callers\n{rows}".encode(), header_rows=1, header_line=1, **choices)
    decisions = Decisions(schema=Schema(columns=COLUMNS, each_row=each_row), said_row=True, said_rows=True)
    stated = {"header_rows": 1, "header_line": 1} | choices
    found = OwnFile(name="f.csv", data=b"", choices=tuple(stated.items()), reading=reading, decisions=decisions)
    settled = found.decisions.settled.union(found.schema.names, found.doubts, found.form.doubts)
    return found.decide(replace(found.decisions, settled=settled).stating(COLUMNS[2]))


def test_a_comma_too_many_takes_no_name_away_that_an_answer_gives_out() -> None:
    """It took the street out of what an answer may name, without any ε."""
    plain, spilled = own(), own("noise, again")
    assert plain.reading is not None
    assert spilled.reading is not None
    assert (plain.reading.report.spilled, spilled.reading.report.spilled) == (0, 1)
    assert EVEN in plain.form.suggested
    (told,) = (one for one in form_suggested(plain) if "whatever people write" in one)
    assert told == (
        "whatever people write stays in its cell: each line has 3 cells, and the program that wrote the file puts "
        "quotation marks around each cell with a comma or a mark in it"
    )
    (letters,) = (one for one in form_suggested(own(quote="")) if "whatever people write" in one)
    assert letters.endswith("each line has 3 cells, and none of them has a comma in it")
    right = plain.decide(plain.confirm(plain.columns.to_call_right))
    assert private_answer.lacking(right) == ()
    assert "even lines" in right.form.said_in_answers
    assert (
        "whatever people write stays in its cell"
        in form_stated(Reads(columns=COLUMNS, form=right.form.said_in_answers))[0]
    )
    assert EVEN not in spilled.form.suggested, "it is not so"
    called = spilled.decide(spilled.confirm(spilled.columns.to_call_right))
    assert "too many cells" in " ".join(private_answer.lacking(called))


@pytest.mark.parametrize("complaint", ["noise", "noise, again"])
def test_rows_that_are_set_aside_on_purpose_give_no_names(complaint: str) -> None:
    found = own(complaint, uneven="set aside")
    assert EVEN not in found.form.suggested
    assert not found.form.spills
    assert found.reading is not None
    assert "" in found.reading.left_out_by


def test_an_open_mark_takes_no_row_away_either() -> None:
    found = own('"noise', breaks="between")
    assert found.reading is not None
    assert found.reading.report.spilled == 1
    assert found.form.spills


@pytest.mark.parametrize("lines", ["noise, again,Street 7,{}", "noise,Street 7"])
@pytest.mark.parametrize("end", ["", ","])
def test_a_line_of_another_width_than_others_is_told_even_where_no_cell_is_lost(lines: str, end: str) -> None:
    """With the last cell empty, a comma in the complaint made "again" the street, and nothing said so."""
    others = [f"light,{street},{place}{end}" for place, street in enumerate(STREETS)]
    for changed in (others[7], lines.format("") + end):
        text = "\n".join([f"complaint,street,callers{end}", *others[:7], changed, *others[8:]])
        reading = read_table(text.encode(), header_rows=1, header_line=1)
        assert (reading.report.spilled == 0) == (changed == others[7]), changed


@pytest.mark.parametrize("nameless", [1, 2])
def test_a_line_that_was_filled_up_with_all_others_is_told_too(nameless: int) -> None:
    """A spreadsheet fills up every line, the heading too: then a comma too many fills what has no name."""
    ends = "," * nameless
    others = [f"light,{street},{place}{ends}" for place, street in enumerate(STREETS)]
    found = []
    for changed in (others[7], f"noise, again,{STREETS[7]},7{ends[1:]}"):
        text = "\n".join([f"complaint,street,callers{ends}", *others[:7], changed, *others[8:]])
        found.append(read_table(text.encode(), header_rows=1, header_line=1).report.spilled)
    assert found == [0, 1]


@pytest.mark.parametrize("filled", ["x", "x,y", "x or nothing"])
def test_what_most_lines_hold_beyond_the_last_name_hides_no_comma(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As who exported a row. It was asked only whether some lines hold nothing there: "again" was called the street."""

    def spilled() -> list[int]:
        ends = [filled if filled != "x or nothing" else "x" if place % 3 else "" for place in range(len(STREETS))]
        lines = [
            f"light,{street},{place},{end},," for (place, street), end in zip(enumerate(STREETS), ends, strict=True)
        ]
        found = []
        for changed in (lines[7], f"noise, again,{STREETS[7]},7,{ends[7]},"):
            text = "\n".join(["complaint,street,callers,,,,", *lines[:7], changed, *lines[8:]])
            found.append(read_table(text.encode(), header_rows=1, header_line=1).report.spilled)
        return found

    told = spilled()
    assert told[1] == told[0] + 1
    assert (told[0] == 0) == (filled != "x or nothing")
    monkeypatch.setattr(tabulate, "_beside", _some_beside)
    assert filled == "x or nothing" or spilled() == [0, 0], "this test can fail"


def _some_beside(frame: pd.DataFrame, keep: BoolArray, table: Columns) -> int:
    """How it was told before."""
    last = max(place for name, place in zip(table.labels, table.places, strict=True) if name not in table.loose)
    many = int((keep & (frame.iloc[:, last + 1 :] != "").any(axis=1).to_numpy()).sum())
    return 0 if many == keep.sum() else many


def test_a_column_without_a_name_spills_into_nothing() -> None:
    """As of a program that numbers the rows, and of a heading that lacks the last name."""
    first = "".join(f"{place},{street},{place}\n" for place, street in enumerate(STREETS))
    last = "".join(f"{street},{place},x\n" for place, street in enumerate(STREETS))
    for text in (f",street,callers\n{first}", f"street,callers,\n{last}"):
        assert read_table(text.encode(), header_rows=1, header_line=1).report.spilled == 0


def test_where_every_line_ends_alike_none_spilled() -> None:
    """As of exports that end each line with a comma, and of a table with one column and lines that are empty."""
    rows = "".join(f"light,{street},{place},\n" for place, street in enumerate(STREETS))
    assert read_table(f"complaint,street,callers\n{rows}".encode(), header_rows=1, header_line=1).report.spilled == 0
    assert read_table(b"street\nA\n\nB\n", header_rows=1, header_line=1).report.spilled == 0


WRITTEN = ("x", '"x', 'y"', 'y",5,w', "a, b", '"', '""', 'say "x"', '",', '5",')


def last_row(cells: list[str], *, marked: bool) -> tuple[list[str], Report]:
    """What is read of a row that ends a table, with marks around each cell with a comma or a mark in it, or none."""
    text = io.StringIO()
    rows = [["street", "comment", "callers", "other", "more"], *([street, "x", "4", "y", "z"] for street in STREETS)]
    csv.writer(text, lineterminator="\n").writerows(rows)
    csv.writer(text, lineterminator="\n").writerow(cells) if marked else text.write(",".join(cells) + "\n")
    reading = read_table(text.getvalue().encode(), header_rows=1, header_line=1, quote='"', uneven="set aside")
    return reading.frame.iloc[-1].tolist(), reading.report


def test_what_is_called_right_is_what_an_entry_hangs_on() -> None:
    """That each line has five cells and no mark stays open held of a line whose two marks took its entry in between."""
    unmarked = set()
    for pair in itertools.product(WRITTEN, repeat=2):
        cells = ["street H", pair[0], "90", pair[1], "z"]
        assert last_row(cells, marked=True)[0] == cells, "what the click says keeps each in its cell"
        try:
            read, report = last_row(cells, marked=False)
        except UnreadableFile:
            continue
        if not report.spilled and read[0] == cells[0] and read[2] != "90":
            unmarked.add(pair)
    assert ('"x', 'y",5,w') in unmarked, "with as many cells as ever"


@pytest.mark.parametrize(
    ("heading", "row", "cells"),
    [
        ("street,callers", "A,1", 2),
        ("street,callers,,", "A,1,,", 4),
        ("street,callers,,", "A,1,,x", 4),
        ("street,callers", "A,1,", 3),
        ("street;callers", "A;1", 2),
        (",street,callers", "0,A,1", 3),
        ("street", "A", 1),
    ],
)
def test_the_cells_of_a_line_are_counted_as_they_stand(heading: str, row: str, cells: int) -> None:
    """Of two names and two columns without one it said that each line has two cells, and by one row's note three."""
    text = "\n".join([heading, *[row] * 9])
    assert read_table(text.encode(), header_rows=1, header_line=1).report.cells == cells
    noted = f"{text}\n{row.rstrip('x,')},,x" if row.endswith((",,", ",x")) else text
    assert read_table(noted.encode(), header_rows=1, header_line=1).report.cells == cells


def test_of_records_nothing_of_it_is_asked() -> None:
    """A record that is set aside is one person's alone."""
    for complaint in ("noise", "noise, again"):
        found = own(complaint, "record")
        assert EVEN not in found.form.suggested
        assert not found.form.spills
        assert "even lines" not in found.form.said_in_answers


def test_another_way_to_end_cells_asks_anew() -> None:
    right = own()
    right = right.decide(right.confirm(right.columns.to_call_right))
    assert right.reading is not None
    assert EVEN in carried(right.decisions, right.reading, right.reading).settled
    other = replace(right.reading, report=replace(right.reading.report, delimiter=";"))
    assert EVEN not in carried(right.decisions, right.reading, other).settled
