"""What the bytes decide of a file's form, one row can decide for all others: it is asked before a private answer.

Pairs of files that differ in one row. Where a page asks nothing, or gets the same answers, one row moves a count by
one.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from dpcore.audit.files import PLAIN, as_a_page_reads
from dpcore.datasets import Column, Declaration, Reading, read_table
from dpcore.datasets.reading import decided, decoding, layout, lines_apart
from dpcore.datasets.reading.survey import Survey
from dpcore.datasets.report import BLANKS, BLANKS_NAMED, Report, Returns
from dpcore.errors import UnreadableFile
from dpcore.releases.selection import MostCommonOption

WARD = Column(name="ward", type="category", categories=("north ward", "south ward"))
_ROWS = [("north ward", age) for age in range(20, 60)] + [("south ward", age) for age in range(30, 45)]
_SINGLE = "ward,age,note\n" + "".join(f"'{ward}','{age}','ok'\n" for ward, age in _ROWS)
_ESCAPED = "ward,age,note\n" + "".join(f'"{ward}",{age},"a \\ b"\n' for ward, age in _ROWS)
_FOOT = "ward,age,note\n" + "".join(f"{ward},{age},ok\n" for ward, age in _ROWS) + "north ward,,\n" * 9
_PLAIN = "ward,age,note\n" + "".join(f"{ward},{age},ok\n" for ward, age in _ROWS)
_OTHER = "".join(
    line.replace("north", "south") if place == 9 else line
    for place, line in enumerate(_PLAIN.splitlines(keepends=True))
)
_SHORT = "ward,age,note,more\n" + "".join(f"{ward},{age},ok\n" for ward, age in _ROWS * 3) + "north ward,1,ok,1\n"


def sheet(text: str, merged: str = "") -> bytes:
    book = openpyxl.Workbook()
    for line in text.splitlines():
        book.active.append([cell or None for cell in line.split(",")])
    if merged:
        book.active.merge_cells(merged)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


_LETTERS = _PLAIN + "".join(f"{ward} é,{age},ok\n" for ward, age in _ROWS)

_QUOTED = _PLAIN + 'south ward,55,", hm"\n'


def _swallowed(place: int) -> str:
    """With one more row, in which a quotation mark is never closed."""
    lines = _QUOTED.splitlines(keepends=True)
    return "".join([*lines[:place], 'south ward,"5\n', *lines[place:]])


PAIRS: dict[str, tuple[bytes, bytes, set[str]]] = {
    "single marks": (_SINGLE.encode(), (_SINGLE + "'south ward','41','5ft 4\"'\n").encode(), {"quote"}),
    "backslashes": (_ESCAPED.encode(), (_ESCAPED + '"south ward",41,"says \\"hi\\", often"\n').encode(), {"escape"}),
    "lines at the foot": (_FOOT.encode(), (_FOOT + "south ward,44,ok\n").encode(), {"keep_footer"}),
    "lines at the foot of a sheet": (sheet(_FOOT), sheet(_FOOT + "south ward,44,ok\n"), {"keep_footer"}),
    "cells over lines": (_QUOTED.encode(), _swallowed(12).encode(), {"breaks"}),
    "merged cells": (sheet(_PLAIN, "A10:A30"), sheet(_OTHER, "A10:A30"), {"merged"}),
    "cells merged beside one another": (sheet(_PLAIN), sheet(_PLAIN + ",1,ok\n", "B10:C10"), set()),
    "rows shorter than the heading": (_SHORT.encode(), (_SHORT + "south ward,44,ok,1,1\n").encode(), set()),
    "letters of an old encoding": (
        _LETTERS.encode("cp1252"),
        (_LETTERS + "south ward,1,año\n").encode("cp1252"),
        {"encoding"},
    ),
    "letters of UTF-8": (_PLAIN.encode(), (_PLAIN + "south ward,1,année\n").encode(), set()),
    "plain": (b"ward,age\nnorth ward,1\n", b'ward,age\nnorth ward,1\n"south ward","5ft 4"""\n', set()),
}


def moved(one: Reading, other: Reading) -> int:
    """How far the counts of a private answer are apart."""
    asked = MostCommonOption.of(Declaration(columns=(WARD,)), "ward", epsilon=1.0)
    here, there = (asked.read(reading.private) for reading in (one, other))
    return int(abs(here - there).max())


@pytest.mark.parametrize("name", PAIRS)
def test_what_the_bytes_decide_is_asked_or_moves_no_other_row(name: str) -> None:
    first, second, decided = PAIRS[name]
    here, there = (read_table(data) for data in (first, second))
    assert {*here.report.decided, *there.report.decided} == decided | {"header"}
    assert all("header" in {*one.report.decided, *one.report.doubtful} for one in (here, there))
    assert decided or moved(here, there) <= 1
    assert here.report.certain, "the first look waits for none of it"
    if name == "backslashes":  # the other file is no table then, which everybody sees and nothing is released of
        with pytest.raises(UnreadableFile):
            as_a_page_reads(second, PLAIN)
    else:
        answers = PLAIN | {"encoding": "cp1252"}
        assert moved(*(as_a_page_reads(data, answers) for data in (first, second))) <= 1


@pytest.mark.parametrize(
    "name", ["single marks", "cells over lines", "lines at the foot", "lines at the foot of a sheet", "merged cells"]
)
def test_what_is_not_asked_would_be_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Report, "decided", ())
    assert moved(*(as_a_page_reads(data, PLAIN) for data in PAIRS[name][:2])) > 1


@pytest.mark.parametrize(
    ("data", "stated"),
    [
        (PAIRS["single marks"][0], {"quote": "'"}),
        (PAIRS["single marks"][0], {"quote": '"'}),
        (PAIRS["backslashes"][1], {"escape": "backslash"}),
        (PAIRS["lines at the foot"][0], {"keep_footer": False}),
        (PAIRS["lines at the foot"][0], {"keep_footer": True}),
        (PAIRS["lines at the foot of a sheet"][0], {"keep_footer": True}),
        (PAIRS["merged cells"][0], {"merged": "each"}),
        (PAIRS["merged cells"][0], {"merged": "first"}),
    ],
)
def test_what_is_stated_is_not_asked_and_read_so(data: bytes, stated: dict[str, Any]) -> None:
    reading = read_table(data, **stated, header_rows=1, header_line=1)
    assert reading.report.decided == ()
    ((name, value),) = stated.items()
    assert getattr(reading.report, name) == value


def test_both_ways_are_shown_the_present_one_first() -> None:
    for data, name, values in (
        (PAIRS["single marks"][0], "quote", ["'", '"']),
        (PAIRS["backslashes"][1], "escape", ["backslash", "doubled"]),
        (PAIRS["lines at the foot"][0], "keep_footer", ["False", "True"]),
        (PAIRS["merged cells"][0], "merged", ["each", "first"]),
    ):
        ways = [way for way in read_table(data).report.alternatives if way.argument == name]
        assert [way.value for way in ways] == values
        assert all(way.decided and way.example for way in ways)


def test_merged_cells_hold_their_value_where_it_was_stated() -> None:
    each, first = (read_table(PAIRS["merged cells"][0], merged=way) for way in ("each", "first"))
    assert list(each.frame["ward"][7:30]) == ["north ward"] * 23
    assert list(first.frame["ward"][7:30]) == ["north ward"] * 2 + [""] * 20 + ["north ward"]
    assert first.frame.drop(columns="ward").equals(each.frame.drop(columns="ward"))
    assert [any("merged" in notice.sentence for notice in one.report.notices) for one in (each, first)] == [True, False]


def test_a_row_that_only_a_merged_cell_fills_keeps_its_place() -> None:
    data = sheet(_PLAIN + ",,\n" + "south ward,9,ok\n", "A56:A57")
    each, first = (read_table(data, merged=way) for way in ("each", "first"))
    assert (each.rows, first.rows) == (57, 56)
    assert each.records == first.records == 57
    assert first.places[-1] == 56


_SPACED = "ward age stay\n" + "".join(f"{ward.split()[0]}  {age} 1\n" for ward, age in _ROWS)


@pytest.mark.parametrize(
    ("heading", "row", "asked"),
    [
        ("ward,age", "north ward,1", False),
        ("ward;age", "north ward;1", False),
        ("ward", "north", False),
        ("ward", "north ward", True),
        ("ward", "north,", True),
        ("ward:age", "north:1", True),
        ("ward age", "north 1", True),
        ("ward age", "1", False),
        ("ward,age", "north", True),
        ("ward, age", "north, 1", True),
        ("ward, age,stay", "north, 1,2", False),
        ("ward,age", "north ward; or so,1", False),
        ("ward,age; in years", "north ward,1", True),
        ("ward, in full|age", "north ward|1", True),
    ],
)
def test_where_cells_end_is_asked_unless_the_names_leave_no_doubt(heading: str, row: str, asked: bool) -> None:
    """All rows are counted for it, and one of them could make it another sign."""
    report = read_table("\n".join([heading, *[row] * 9]).encode(), header_rows=1).report
    assert ("delimiter" in {*report.decided, *report.doubtful}) == asked


def test_blanks_between_cells_are_asked_and_can_be_stated() -> None:
    """One row with a word more makes one column of all, where nothing is stated."""
    files = [text.encode() for text in (_SPACED, _SPACED + "south 44 1\n", _SPACED + "south 44 1 x\n")]
    guessed = [read_table(file) for file in files]
    assert [len(reading.columns) for reading in guessed] == [3, 3, 1]
    assert [reading.report.decided for reading in guessed] == [
        ("delimiter", "header"),
        ("delimiter", "header"),
        ("delimiter",),
    ]
    ways = [way.value for way in guessed[0].report.alternatives]
    assert ways == [BLANKS, ""]
    assert {way.value for way in guessed[2].report.alternatives} >= {BLANKS, ""}
    stated = [read_table(file, delimiter=BLANKS, uneven="set aside", header_rows=1, header_line=1) for file in files]
    assert [len(reading.columns) for reading in stated] == [3, 3, 3]
    assert [reading.report.decided for reading in stated] == [()] * 3
    assert [len(reading.frame) for reading in stated] == [len(_ROWS), len(_ROWS) + 1, len(_ROWS)]


def test_rows_with_names_in_front_can_be_stated() -> None:
    text = "age stay\n" + "".join(f"r{place} {age} 1\n" for place, (_, age) in enumerate(_ROWS))
    assert read_table(text.encode()).report.stated("delimiter") == {"delimiter": BLANKS_NAMED}
    frame = read_table((text + "x y\n").encode(), delimiter=BLANKS_NAMED).frame
    assert list(frame.columns) == ["row", "age", "stay"]
    assert len(frame) == len(_ROWS) + 1


@pytest.mark.parametrize("row", [1, 4, 7])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("written", [sheet, str.encode])
def test_an_empty_row_keeps_its_place(width: int, row: int, written: Callable[[str], bytes]) -> None:
    """One person's empty cells move no other row; what is empty at the end of a sheet alone is none."""
    lines = [",".join([str(number)] * width) for number in range(1, 8)]
    head, empty = ",".join("abc"[:width]), "," * (width - 1)
    files = ["\n".join([head, *lines[: row - 1], cells, *lines[row:], ""]) for cells in (lines[row - 1], empty)]
    whole, holed = (read_table(written(file), header_rows=1) for file in files)
    assert list(whole.places) == list(range(7))
    assert set(whole.places) - set(holed.places) <= {row - 1}
    assert [whole.frame["a"][place] for place in holed.places] == [cell or str(row) for cell in holed.frame["a"]]
    rounds = Declaration(columns=(Column(name="a", type="number", low=0, high=9),), each_row="step")
    assert holed.private.public_size(rounds) == (6 if row == 7 and written is sheet else 7)


@pytest.mark.parametrize("written", [sheet, str.encode])
def test_which_line_names_the_columns_is_stated_where_a_first_row_could(written: Callable[[str], bytes]) -> None:
    """One person's row stands first: with nothing stated its cells are the names, and the others' are counted there."""
    unnamed = _PLAIN.partition("\n")[2]
    files = [written(text) for text in (unnamed, "one,two,three\n" + unnamed)]
    readings = [read_table(file) for file in files]
    assert [next(iter(reading.frame.columns)) for reading in readings] == ["column 1", "one"]
    assert all("header" in reading.report.decided for reading in readings)
    for rows in (0, 1):
        stated = [read_table(file, header_rows=rows, header_line=1) for file in files]
        assert ["header" in reading.report.decided for reading in stated] == [False, False]
        assert {len(reading.report.header_lines) for reading in stated} == {rows}
    halves = [read_table(files[0], header_rows=rows).report for rows in (0, 1)]
    assert ["header" in half.decided for half in halves] == [False, True], "a title above names is told by how it looks"


FIRST_ROWS = [["1,"], [","], [","] * 3, [",2", ",", "1,"], ["1,"] * 55]


def read_without_names(written: Callable[[str], bytes], first: list[str], **line: int) -> Reading:
    lines = [*first, *(f"{number},{number + 3}" for number in range(9))]
    stated: dict[str, Any] = {} if written is sheet else {"delimiter": ","}
    return read_table(written("\n".join([*lines, ""])), header_rows=0, columns=2, **stated, **line)


def moved_by_a_whole_first_row(written: Callable[[str], bytes]) -> list[list[str]]:
    """The first rows with few cells that keep their place only where one stands above them that has all."""
    found = []
    for first in FIRST_ROWS:
        bare, under = (read_without_names(written, rows) for rows in (first, ["8,9", *first]))
        kept = [reading.private.public_size(STEPS) for reading in (bare, under)] == [len(first) + 9, len(first) + 10]
        same = bare.frame.equals(under.frame.iloc[1:].reset_index(drop=True))
        if not (kept and same and list(bare.places + 1) == list(under.places[1:])):
            found.append(first)
    return found


STEPS = Declaration(columns=(Column(name="column 1", type="number", low=0, high=9),), each_row="step")


@pytest.mark.parametrize("written", [sheet, str.encode])
def test_where_no_line_names_the_columns_the_first_one_is_a_row(
    written: Callable[[str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few cells it has: else one row decides whether those above the first whole one are rows."""
    assert moved_by_a_whole_first_row(written) == []
    titled = read_without_names(written, ["a title,", ","], header_line=3)
    assert (titled.records, titled.report.first_line, titled.report.decided) == (9, 3, ())
    assert titled.report.doubtful == ()
    for first in FIRST_ROWS:
        report = read_without_names(written, first).report
        assert report.stated("header") == {"header_rows": 0, "header_line": 1}
        assert "header" not in {*report.decided, *report.doubtful}
    found = layout.find

    def by_its_look(seen: Survey, **stated: Any) -> layout.Layout:
        place = layout._first([[cell.strip() for cell in record] for record in seen.head], 2)
        return found(seen, **stated | {"header_line": int(seen.lines[place])})

    monkeypatch.setattr(layout, "find", by_its_look)
    assert moved_by_a_whole_first_row(written) == FIRST_ROWS


@pytest.mark.parametrize("written", [sheet, str.encode])
@pytest.mark.parametrize("first", [["a title,"], ["a title,", "of two lines,"], ["", "a title,"]])
def test_a_title_above_rows_that_no_line_names_is_asked(written: Callable[[str], bytes], first: list[str]) -> None:
    """Whether it is a title or a person with few cells, nobody but a person knows: it is a row until they say so."""
    report = read_without_names(written, first).report
    ways = [way for way in report.alternatives if way.argument == "header_line"]
    assert report.doubtful == ("header_line",)
    assert [way.value for way in ways] == ["1", str(len(first) + 1)]
    assert ["title" in way.example for way in ways] == [bool(first[0]), False]
    assert "0 ¦ 3" in ways[1].example
    for way in ways:
        stated = read_without_names(written, first, header_line=int(way.value)).report
        assert (stated.doubtful, stated.first_line) == ((), int(way.value))
        assert stated.stated("header_line") == {"header_rows": 0, "header_line": int(way.value)}
    whole = read_without_names(written, ["8,9", *first]).report
    assert "header_line" not in whole.doubtful, "where the first line has all cells, the first look waits for nothing"
    assert "header_line" in whole.decided, "but one of few cells below it could be a title without that line"


def test_what_a_kind_of_file_says_itself_of_names_is_not_asked() -> None:
    split = b'{"columns": ["a"], "data": [["x"], ["y"]]}'
    for data in (split, b'[{"a": "x"}, {"a": "y"}]'):
        assert "header" not in {*read_table(data).report.decided, *read_table(data).report.doubtful}


@pytest.mark.parametrize("kind", ["text", "json"])
def test_an_encoding_that_one_row_could_turn_is_asked_on_both_sides(kind: str) -> None:
    """Signs inside words speak against an encoding, so one long cell outvotes the letters of all others."""
    rows = ["été", "b", "b " + "a¤a" * 9]
    if kind == "text":
        texts = ["word,more\n" + "".join(f"{row},1\n" for row in some) for some in (rows[:2], rows)]
    else:
        texts = ["[" + ",".join(f'{{"word": "{row}"}}' for row in some) + "]" for some in (rows[:2], rows)]
    readings = [read_table(text.encode("cp1252")) for text in texts]
    assert [reading.frame["word"][0] for reading in readings] == ["été", "ÚtÚ"]
    assert [reading.report.encoding for reading in readings] == ["cp1252", "cp850"]
    assert [reading.report.encoding_certain for reading in readings] == [True, False]
    assert ["encoding" in {*one.report.decided, *one.report.doubtful} for one in readings] == [True, True]
    (first, second) = [way for way in readings[0].report.alternatives if way.argument == "encoding"]
    assert (first.value, first.decided, second.decided) == ("cp1252", True, True)
    assert first.example != second.example
    stated = [read_table(text.encode("cp1252"), encoding="cp1252") for text in texts]
    assert [reading.frame["word"][0] for reading in stated] == ["été", "été"]
    assert not any("encoding" in {*one.report.decided, *one.report.doubtful} for one in stated)


def counted(reading: Reading) -> list[int]:
    asked = MostCommonOption.of(Declaration(columns=(WARD,)), "ward", epsilon=1.0)
    found: list[int] = asked.read(reading.private).tolist()
    return found


_ENDS = ("north ward,,", "Total,99,", ",Total,", "note: a few", "x", ",,", "south ward,44,ok", "north ward,1,2,3")
"""Rows of people of which the first few look like totals and notes, and the others do not."""


@pytest.mark.parametrize("write", [str.encode, sheet])
@pytest.mark.parametrize("last", _ENDS)
def test_where_totals_and_notes_are_left_out_a_row_moves_itself_alone(write: Callable[[str], bytes], last: str) -> None:
    """At the end, behind those that are left out, and between others."""
    stated = {"keep_footer": False, "header_rows": 1, "header_line": 1, "uneven": "set aside"}
    lines = _FOOT.splitlines()
    before = counted(read_table(write("\n".join(lines)), **stated))
    assert before == [40, 15]
    for place in (5, len(lines) - 4, len(lines)):
        found = read_table(write("\n".join([*lines[:place], last, *lines[place:]])), **stated)
        assert sum(abs(now - then) for now, then in zip(counted(found), before, strict=True)) <= 1
        assert counted(found)[1] == 15 + (last == "south ward,44,ok")
        assert found.records == len(lines) - (last == ",," and write is sheet and place == len(lines)), (
            "a sheet keeps none"
        )


def test_a_foot_that_begins_where_the_last_rows_say_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = layout.find

    def looked_for(seen: Survey, *, keep_footer: bool | None, **more: Any) -> layout.Layout:
        return found(seen, keep_footer=keep_footer or None, **more)

    monkeypatch.setattr(layout, "find", looked_for)
    with pytest.raises(AssertionError):
        test_where_totals_and_notes_are_left_out_a_row_moves_itself_alone(str.encode, "south ward,44,ok")


@pytest.mark.parametrize("write", [str.encode, sheet])
@pytest.mark.parametrize("place", [9, 1, 0])
def test_by_the_clicks_of_a_page_too_a_row_behind_the_foot_moves_itself_alone(
    write: Callable[[str], bytes], place: int
) -> None:
    """Wherever it stands among those that are left out: it is asked on both files, and read anew."""
    lines = _FOOT.splitlines()
    answers = PLAIN | {"keep_footer": False}
    at = len(lines) - place
    more = [*lines[:at], "south ward,44,ok", *lines[at:]]
    without, found = (as_a_page_reads(write("\n".join(rows)), answers) for rows in (lines, more))
    assert (counted(without), counted(found)) == ([40, 15], [40, 16])
    assert (without.report.foot_guessed, found.report.foot_guessed) == (False, False)


@pytest.mark.parametrize("write", [str.encode, sheet])
def test_a_cell_in_a_column_without_a_name_leaves_out_no_other_row(write: Callable[[str], bytes]) -> None:
    """Header of two names and a third place; how many columns there are does not hang on the rows."""
    stated = {"keep_footer": False, "header_rows": 1, "header_line": 1}
    lines = ["ward,age,", *["north ward,1,"] * 10, *["south ward,,"] * 5, "Total,,"]
    without, found = (read_table(write("\n".join(rows)), **stated) for rows in (lines, [*lines, "north ward,1,z"]))
    assert (counted(without), counted(found)) == ([10, 5], [11, 5])


@pytest.mark.parametrize("first", [",".join(sign * 100_000 for sign in "xyz"), '"",1,ok'], ids=["long", "plain marks"])
def test_one_row_in_front_hides_no_marks_of_the_others(first: str) -> None:
    bare = "ward,age,note\n" + "".join(f"'{ward}',{age},'it''s'\n" for ward, age in _ROWS)
    answers = PLAIN | {"quote": "'"}
    without = as_a_page_reads(bare.encode(), answers)
    found = as_a_page_reads(bare.replace("\n", f"\n{first}\n", 1).encode(), answers)
    assert counted(without) == counted(found) == [40, 15]


@pytest.mark.parametrize("line", ["sep=;", "sep=,,", "sep=|", '"sep=;"'])
def test_a_first_row_that_looks_like_a_delimiter_keeps_its_place(line: str) -> None:
    for stated in ({"delimiter": ","}, {}):
        lines = ["sep", *map(str, range(40))] if line.count(",") == 0 else ["1,1", *[f"{n},1" for n in range(40)]]
        how = {
            "header_rows": 0,
            "header_line": 1,
            "columns": 1 + (line.count(",") > 0),
            "uneven": "set aside",
            **stated,
        }
        without, found = (read_table("\n".join(rows).encode(), **how) for rows in (lines, [line, *lines[1:]]))
        assert (without.records, found.records) == (41, 41)
        assert without.frame.iloc[1:].to_numpy().tolist() == found.frame.iloc[-40:].to_numpy().tolist()
        assert found.places[-40:].tolist() == list(range(1, 41))


def test_an_empty_line_between_others_keeps_its_place() -> None:
    stated = {"delimiter": ",", "header_rows": 1, "header_line": 1}
    lines = ["visits,staff", *[f"{n},1" for n in range(9)]]
    for empty in ("", ",", '""'):
        found = read_table("\n".join([*lines[:3], empty, *lines[4:]]).encode(), **stated)
        assert (found.records, found.places.tolist()) == (9, [0, 1, *range(3, 9)])


def test_what_is_left_out_wherever_it_stands_is_said() -> None:
    text = "ward,age,note\nTotal,9,\nnorth ward,1,ok\nmore on the web\nsouth ward,2,all\nall,3,sum\n"
    reading = read_table(text.encode(), keep_footer=False, header_rows=1, header_line=1)
    assert (reading.frame["age"].tolist(), reading.report.keep_footer) == (["1", "2", "3"], False)
    (said,) = (notice for notice in reading.report.set_aside if "Totals or notes" in notice.sentence)
    assert (said.count, said.lines, said.texts) == (2, (2, 4), ("Total 9", "more on the web"))
    kept = read_table(text.encode(), keep_footer=True, header_rows=1, header_line=1)
    assert (kept.rows, kept.report.keep_footer) == (5, True)


def beneath(values: dict[int, str]) -> bytes:
    """A sheet whose first column is merged over rows 2 to 31; some programs keep values beneath."""
    book = openpyxl.Workbook()
    for row in [("ward", "age"), ("north ward", 1), *((values.get(place), place) for place in range(3, 32))]:
        book.active.append(row)
    book.active.merged_cells.add("A2:A31")
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


@pytest.mark.parametrize("place", [3, 4, 17, 31])
@pytest.mark.parametrize("merged", ["each", "first"])
def test_a_cell_beneath_a_merged_one_moves_itself_alone(place: int, merged: str) -> None:
    stated = {"merged": merged, "header_rows": 1, "header_line": 1}
    without, found = (read_table(beneath(values), **stated) for values in ({}, {place: "south ward"}))
    assert counted(without) == ([30, 0] if merged == "each" else [1, 0])
    assert counted(found) == ([29, 1] if merged == "each" else [1, 1])


@pytest.mark.parametrize("place", [1, 12, 55])
def test_where_each_line_is_a_row_a_mark_too_many_moves_itself_alone(place: int) -> None:
    stated = {"breaks": "between", "header_rows": 1, "header_line": 1}
    without, found = (read_table(text.encode(), **stated) for text in (_QUOTED, _swallowed(place)))
    assert counted(found) == counted(without) == [40, 16]
    assert (found.records, without.records) == (57, 56)
    assert set(range(57)) - set(found.places.tolist()) == {place - 1}, "the others keep their places"
    (said,) = (notice for notice in found.report.notices if "stays open" in notice.sentence)
    assert (said.count, said.lines, found.report.breaks) == (1, (place + 1,), "between")
    inside = read_table(_swallowed(place).encode(), breaks="inside", header_rows=1, header_line=1)
    assert (inside.report.decided, inside.report.breaks, inside.rows) == ((), "inside", place)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('a,b\n1,"x\ny"\n2,z\n', (2, 3)),
        ('a,b\n\n1,x\n\n\n2,"x\n\ny"\n', (6, 8)),
        ('a,b\n1,x\n2,"x\ny"', (3, 4)),
        ('a,b\r\n1,x"y\r\n2,"x\r\ny"\r\n', (3, 4)),
        ('"a\nb",c\n1,x\n', (1, 2)),
    ],
)
def test_a_cell_that_runs_over_lines_is_asked_of(text: str, lines: tuple[int, int]) -> None:
    found = read_table(text.encode())
    ways = [way for way in found.report.alternatives if way.argument == "breaks"]
    assert [way.value for way in ways] == ["inside", "between"]
    assert ways[0].example.startswith(f"lines {lines[0]} to {lines[1]}: ")
    assert ways[1].example.startswith(f"line {lines[0]}: a row that holds nothing; line {lines[1]}: ")
    apart = read_table(text.encode(), breaks="between", uneven="set aside")
    assert {*apart.report.decided} <= {"header", "keep_footer", "delimiter"}


def test_a_mark_that_is_never_closed_is_none_where_each_line_is_a_row() -> None:
    for quote, escape in (('"', None), ('"', "backslash"), ("'", None)):
        text = f"a,b\n1,{quote}x{quote}\n2,{quote}y\n3,{quote}z{quote}\n"
        with pytest.raises(UnreadableFile, match="mark"):
            read_table(text.encode(), quote=quote, escape=escape)
        found = read_table(text.encode(), quote=quote, escape=escape, breaks="between", header_rows=1)
        assert found.frame["b"].tolist() == ["x", "z"]


@pytest.mark.parametrize("line", ['2,"y"z', '"2"2,y', '2,""y', '2,"y" z', '"2" ,"y"z', '2,"y\\"z'])
@pytest.mark.parametrize("place", [1, 3])
def test_text_behind_a_mark_is_nobody_s_where_each_line_is_a_row(
    line: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had the file refused."""
    lines = ["a,b", '1,"x"', "3,z"]
    text = "\n".join([*lines[:place], line, *lines[place:], ""]).encode()
    stated: dict[str, Any] = {"delimiter": ",", "quote": '"', "escape": "doubled", "header_rows": 1, "header_line": 1}
    with pytest.raises(UnreadableFile, match="after a closing quotation mark"):
        read_table(text, **stated)
    found = read_table(text, **stated, breaks="between", uneven="set aside")
    assert found.frame.to_numpy().tolist() == [["1", "x"], ["3", "z"]]
    assert (found.records, found.report.spilled) == (3, 1)
    monkeypatch.setattr(lines_apart._Line, "told", lambda self, line: line)
    with pytest.raises(UnreadableFile):
        read_table(text, **stated, breaks="between", uneven="set aside")


def test_a_mark_behind_a_backslash_stays_a_sign_where_each_line_is_a_row() -> None:
    text = 'a,b\n1,"says \\"hi\\", often"\n2,"a \\""\n3,"x\ny"\n4,z\n'
    found = read_table(text.encode(), escape="backslash", breaks="between", header_rows=1, uneven="set aside")
    assert found.frame["b"].tolist()[:2] == ['says "hi", often', 'a "']
    assert found.frame["a"].tolist()[-1] == "4"


ODD_LINES = (
    *("", ",", ",,", ",,,,", '"', '""', '"""', '"""",', "'", "south ward", "south ward,", "south ward,44,ok,"),
    *('south ward,"4,ok', 'south ward,44,"ok', 'south ward,44,ok"', '"south ward,44,ok', '"south ward","44","ok"'),
    *('south ward,44,"a ""b"" c"', "south ward,44,it's", "'south ward',44,ok", "south ward\\,44,ok", "x" * 5000),
    *(
        "south ward\t44\tok",
        "ward,age,note",
        "Total,99,",
        "# a note",
        "sep=,",
        "south ward;44;ok",
        "south ward,44,ok\r",
    ),
    *(
        "south ward,44\r,ok",
        "\rsouth ward,44,ok\r\r",
        f"south ward,44,o{chr(13) * 300}k",
        "south ward,44,ok\r\rsouth ward",
    ),
    *('"south" ward,44,ok', 'south ward,"44"4,ok', 'south ward,44,"o"k', 'south ward,44,"o" ', '"",""x,ok'),
    *("=1+1,44,ok", "\ufeffsouth ward,44,ok", "south ward,44,\0", "ſouth ward,44,ok", "south ward,1e400,ok"),
)
"""Lines that one person's row might be."""


TEXTS: dict[str, tuple[str, dict[str, str]]] = {
    "plain": (_PLAIN, {}),
    "quoted": (_QUOTED, {}),
    "foot": (_FOOT, {}),
    "single": (_SINGLE, {"quote": "'"}),
    "single, taken for letters": (_SINGLE, {}),
    "backslashes": (_ESCAPED, {}),
    "backslashes, with meaning": (_ESCAPED, {"escape": "backslash"}),
    "returns in cells": (_PLAIN.replace(",ok", ",o\rk"), {}),
    "returns at ends": (_PLAIN.replace("\n", "\r"), {"returns": "at ends"}),
}


_AT_LENGTH = {"foot", "single, taken for letters", "backslashes", "returns in cells"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (name in _AT_LENGTH)) for name in TEXTS]
)
@pytest.mark.parametrize("line", ODD_LINES, ids=ascii)
def test_one_line_moves_itself_alone_whatever_it_is(line: str, name: str) -> None:
    """With the same answers to what a page asks; or the file is refused, and everybody sees it."""
    text, stated = TEXTS[name]
    end = "\n" if "\n" in text else "\r"
    line = line if end == "\n" else line.replace("\r", "\n")
    lines = text.split(end)[:-1]
    before = as_a_page_reads(text.encode(), PLAIN | stated)
    for place in (1, len(lines)):
        changed = end.join([*lines[:place], line, *lines[place:]]) + end
        try:
            after = as_a_page_reads(changed.encode(), PLAIN | stated)
        except UnreadableFile:
            continue
        assert moved(before, after) <= 1, place
        assert abs(after.rows - before.rows) <= 1, place
        cells = before.frame["note"].value_counts()
        assert (after.frame["note"].value_counts().reindex(cells.index, fill_value=0) - cells).abs().max() <= 1, place


@pytest.mark.parametrize("name", ["plain", "returns at ends"])
def test_returns_that_nobody_states_would_be_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The greater number would decide, and one row can turn it."""
    asked = Report.decided
    monkeypatch.setattr(Report, "decided", property(lambda self: tuple(set(asked.fget(self)) - {"returns"})))  # type: ignore[attr-defined]
    text, end, other = TEXTS[name][0], *("\n\r" if name == "plain" else "\r\n")
    before = as_a_page_reads(text.encode(), PLAIN)
    try:
        after = as_a_page_reads((text + "south ward,44,o" + other * 300 + end).encode(), PLAIN)
    except UnreadableFile:
        return
    assert moved(before, after) > 1


WORDS = Column(name="ward", type="category", categories=("north", "south"))
_WORDS = ["north"] * 30 + ["south"] * 12
ONE_WORD: dict[str, tuple[str, str]] = {
    "one column": ("ward\n" + "".join(f"{word}\n" for word in _WORDS), ""),
    "one column of several words": ("ward\n" + "".join(f"{word}\n" for word in [*_WORDS, "out of town"]), ""),
    "one column, commas": ("ward\n" + "".join(f"{word}\n" for word in [*_WORDS, "north, mostly"]), ""),
    "colons": ("ward:age\n" + "".join(f"{word}:4\n" for word in _WORDS), ":"),
    "tildes": ("ward~age\n" + "".join(f"{word}~4\n" for word in _WORDS), "~"),
    "blanks": ("ward age\n" + "".join(f"{word} 4\n" for word in _WORDS), BLANKS),
    "blanks, named": ("ward\n" + "".join(f"p{place} {word}\n" for place, word in enumerate(_WORDS)), BLANKS_NAMED),
}


def words_in(data: bytes, delimiter: str) -> list[int]:
    asked = MostCommonOption.of(Declaration(columns=(WORDS,)), "ward", epsilon=1.0)
    answers = PLAIN | {"delimiter": delimiter, "uneven": "set aside"}
    return [int(count) for count in asked.read(as_a_page_reads(data, answers).private)]


@pytest.mark.parametrize("name", ONE_WORD)
@pytest.mark.parametrize(
    "line",
    [
        *("south,", "south:5:30", "south unknown"),
        *(
            pytest.param(line, marks=pytest.mark.thorough)
            for line in ("south", "south,,", "south:5", "south 5", "p9 south 5 x", "south;b", "south|b", "")
        ),
    ],
)
def test_where_no_sign_stands_between_the_names_one_row_moves_itself_alone(line: str, name: str) -> None:
    """The rows decide where cells end, so it is asked wherever one holds a sign that could be it."""
    text, delimiter = ONE_WORD[name]
    lines = text.splitlines()
    before = words_in(text.encode(), delimiter)
    assert sum(before) >= len(_WORDS)
    for place in (1, len(lines)):
        changed = "\n".join([*lines[:place], line, *lines[place:]]) + "\n"
        after = words_in(changed.encode(), delimiter)
        assert max(abs(one - other) for one, other in zip(before, after, strict=True)) <= 1, place


@pytest.mark.parametrize("heading", ["Name, first name", '"Name, first name"', "Name,first name"])
@pytest.mark.parametrize("commas", [22, 30, 34, 40])
def test_names_that_are_a_sentence_are_asked_of_on_both_sides(heading: str, commas: int) -> None:
    """Of one column, in which some cells hold a comma: one row could make two of it."""
    rows = ["Doe, Ann"] * commas + ["Plato"] * (60 - commas)
    files = ["\n".join(["Members", heading, *some, ""]).encode() for some in (rows, [*rows, "x,y"])]
    stated = {"header_rows": 1, "header_line": 2}
    for file in files:
        report = read_table(file, **stated, uneven="set aside").report
        assert "delimiter" in {*report.decided, *report.doubtful}
    names = [list(as_a_page_reads(file, PLAIN | stated | {"delimiter": ""}).frame.columns) for file in files]
    assert names[0] == names[1]
    assert len(names[0]) == 1


@pytest.mark.parametrize("sign", [":", "^", "~", ","])
def test_single_marks_are_asked_of_wherever_cells_end(sign: str) -> None:
    text = f"size{sign}ward\n" + f"1{sign}'north'\n" * 40
    report = read_table(text.encode(), delimiter=sign, header_rows=1, header_line=1).report
    assert "quote" in report.decided


def test_what_another_answer_turns_is_answered_again() -> None:
    """By the model of a page: an answer that said how the file was read holds as long as it is read so."""
    text = "ward,age\n" + '"north\\ward",1\n' * 20
    answers = PLAIN | {"escape": "backslash"}
    readings = [as_a_page_reads(data.encode(), answers) for data in (text, text + '"a \\" b\nc",2\n')]
    assert len({reading.report.escape for reading in readings}) == 1


def test_a_sign_below_the_names_that_nobody_states_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decided, "_signs_below", lambda *_: set())
    text, delimiter = ONE_WORD["colons"]
    assert words_in(text.encode(), delimiter) == [30, 12]
    assert words_in((text + "south:5:30\n").encode(), delimiter) == [0, 0]


_NAMED_ROWS = "colour\n" + "".join(f"p{n} {1 + n % 3 // 2}\n" for n in range(60))


@pytest.mark.parametrize("named", [True, False])
def test_one_row_with_a_blank_more_does_not_end_that_blanks_end_cells(named: bool) -> None:
    """Asked of both; where blanks were stated the row with one more is refused or set aside."""
    text = _NAMED_ROWS if named else _NAMED_ROWS.replace("colour", "who colour", 1)
    way = BLANKS_NAMED if named else BLANKS
    for data in (text, text + "John Smith 1\n"):
        report = read_table(data.encode()).report
        assert "delimiter" in report.decided
        assert way in [one.value for one in report.alternatives if one.argument == "delimiter"]
    stated = {"delimiter": way, "header_rows": 1, "header_line": 1, "uneven": "set aside"}
    without, found = (read_table(data.encode(), **stated) for data in (text, text + "John Smith 1\n"))
    assert found.frame["colour"].tolist()[:60] == without.frame["colour"].tolist()


def test_a_cell_beside_the_table_of_a_sheet_leaves_out_no_other_row() -> None:
    """In a column to its left, which no name stands above."""
    stated = {"keep_footer": False, "header_rows": 1, "header_line": 1}
    lines = [",ward,age,note", *[",north ward,1,ok"] * 10, *[",south ward,,"] * 5, ",Total,,"]
    without, found = (read_table(sheet("\n".join(rows)), **stated) for rows in (lines, [*lines, "z,north ward,1,ok"]))
    assert (counted(without), counted(found)) == ([10, 0], [11, 0])


_UNNAMED = _PLAIN.partition("\n")[2]
_WIDE = ("utf-16-le", "utf-16-be")
WIDE_ROWS = (
    *(b"\xfe\xffnorth ward,\0\n", b"\xfe\xffno\0,\0n\0\n", b"\xfe\xffnorth ward,11\n", b"\xff\xfenorth ward,11\n"),
    *(b"\xff\xfe\0\0north ward,1\n", b"\0\0\xfe\xffnorth\0\0\0\n", b"\xef\xbb\xbfsouth ward,44,ok\n", b"\xfe\xff\0\n"),
    *((sign * 1100).encode(wide) + end for sign in "x," for wide in _WIDE for end in (b"\n", b"\0\n", b"\n\0", b"")),
    *("\ufeffsouth ward,44,ok\n".encode(wide) for wide in (*_WIDE, "utf-32-le")),
)
"""Lines that could make UTF-16 of all others, or UTF-32: by a mark in front, or by their zeros."""


def turned(text: str, place: int, answers: dict[str, Any]) -> list[bytes]:
    """The lines, before one of ``text``, beside which the others are counted differently though no file is refused."""
    (column,) = {"ward", "column 1"} & {*as_a_page_reads(text.encode(), answers).frame.columns}
    lines = text.encode().splitlines(keepends=True)
    found = []
    for odd in WIDE_ROWS:
        for before, behind in ((b"", b""), (b"y", b""), (b"", b"\n"), (b"y", b"\n")):  # of every length
            try:
                data = b"".join([*lines[:place], before, odd, *lines[place:], behind])
                frame = as_a_page_reads(data, answers).frame
            except UnreadableFile:
                continue
            counts = frame[column].value_counts() if column in frame else {}
            if counts.get("north ward", 0) != 40 or counts.get("south ward", 0) not in (15, 16):
                found.append(odd[:20])
    return found


_SOON = ("first of all", "below the names")
WIDE: dict[str, tuple[str, int, dict[str, Any]]] = {
    "first of all": (_UNNAMED, 0, {"header_rows": 0, "columns": 3}),
    "second": (_UNNAMED, 1, {"header_rows": 0, "columns": 3}),
    "below the names": (_PLAIN, 1, {}),
    "below a title and the names": ("wards\n" + _PLAIN, 2, {"header_line": 2}),
}


@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=[pytest.mark.thorough] * (place not in _SOON)) for place in WIDE]
)
@pytest.mark.parametrize("encoding", ["utf-8", pytest.param("cp1252", marks=pytest.mark.thorough)])
def test_one_row_does_not_make_utf_16_of_the_others(place: str, encoding: str) -> None:
    text, at, answers = WIDE[place]
    assert turned(text, at, PLAIN | {"encoding": encoding} | answers) == []


@pytest.mark.thorough
@pytest.mark.parametrize("place", _SOON)
def test_an_encoding_by_marks_or_zeros_that_nobody_states_would_be_seen(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, at, answers = WIDE[place]
    monkeypatch.setattr(decoding, "_or_utf_8", lambda *_: ())
    assert turned(text, at, PLAIN | answers)


@pytest.mark.parametrize("wide", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_asked_of_but_where_a_mark_stands_before_the_names(wide: str) -> None:
    """The names are public, and so is what stands in front of them."""
    marked = wide in ("utf-16", "utf-32")
    for text, stated, named in (
        (_PLAIN, {"header_rows": 1, "header_line": 1}, True),
        ("wards\n" + _PLAIN, {"header_rows": 1, "header_line": 2}, False),
        (_UNNAMED, {"header_rows": 0}, False),
    ):
        report = read_table(text.encode(wide), **stated).report
        assert ("encoding" in report.decided, report.encoding_certain) == (not (marked and named), True)
        ways = [way for way in report.alternatives if way.argument == "encoding"]
        if ways:
            assert [way.value for way in ways] == [report.encoding, "utf-8"]
            assert ["south ward,44,ok" in way.example for way in ways] == [True, False]
        again = read_table(text.encode(wide), **stated, encoding=report.encoding)
        assert again.frame.equals(read_table(text.encode(wide), **stated).frame)
        assert "encoding" not in again.report.decided


@pytest.mark.parametrize("stated", ["in cells", "at ends"])
@pytest.mark.parametrize("row", ["red,note\rblue\n", "red\r\n", "\r", "red,blue\r\r\n"])
def test_where_lines_end_is_done_as_stated_whatever_one_row_holds(stated: Returns, row: str) -> None:
    """Lines that were said to end at returns ended at feeds as long as no row held a return."""
    others = b"colour,note\n" + b"red,a\n" * 40
    without, with_it = (decoding.decode(data, None, stated).data for data in (others, others + row.encode()))
    assert with_it.startswith(without)


@pytest.mark.parametrize("foot", ["Source", "Source: the city", "Total", "Note", "x"])
@pytest.mark.parametrize("ends", [("", ""), (";", ";"), ("", ";"), (";", "")], ids=["none", "both", "rows", "heading"])
@pytest.mark.parametrize("filled", [0, 1, 2, 3])
@pytest.mark.parametrize("columns", [2, 3, 4])
def test_what_was_left_out_stays_left_out_when_that_is_stated(
    foot: str, ends: tuple[str, str], filled: int, columns: int
) -> None:
    """With a delimiter at the end of each line a note that the guess left out was a row of the statement's."""
    heading = ";".join("abcd"[:columns]) + ends[0]
    rows = [";".join(str(n * (place + 3)) for place in range(columns)) + ends[1] for n in range(30)]
    data = "\n".join([heading, *rows, foot + ";" * filled]).encode()
    stated = {"header_rows": 1, "header_line": 1, "delimiter": ";", "uneven": "set aside"}
    guess, without = (read_table(data, **stated, **more) for more in ({}, {"keep_footer": False}))  # type: ignore[arg-type]
    assert guess.rows == without.rows or not (guess.rows == 30 and without.rows == 31), "as it was asked"
    assert without.rows <= guess.rows
