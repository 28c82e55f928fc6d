"""Of an OpenDocument sheet one row moves itself alone, whatever stands in it, or the file is refused in a sentence."""

from __future__ import annotations

import pytest

from dpcore.datasets import Reading, UnreadableFile, read_table
from dpcore.datasets.reading import workbook
from tests.datasets.cases.kinds import opendocument

CELL, ROW = "table:table-cell", "table:table-row"


def word(text: str, tag: str = CELL, about: str = "") -> str:
    return f'<{tag}{about} office:value-type="string"><text:p>{text}</text:p></{tag}>'


def number(value: object, more: str = "") -> str:
    return f'<{CELL} office:value-type="float" office:value="{value}">{more}<text:p>{value}</text:p></{CELL}>'


def row(*cells: str, about: str = "") -> str:
    return f"<{ROW}{about}>{''.join(cells)}</{ROW}>"


ROWS = [
    row(word("ward"), word("note"), word("age")),
    *(row(word("north" if place % 3 else "south"), word(f"w{place}"), number(20 + place)) for place in range(12)),
]
INNER = f'<table:table table:name="T">{row(word("x"), word("y"))}</table:table>'
PARTS = (word("a"), word("b"), number(1))
WITHIN = {
    "in a word's cell": row(word("a"), word("b").replace("<text:p>", f"{INNER}<text:p>"), number(1)),
    "in an empty cell": row(word("a"), f"<{CELL}>{INNER}</{CELL}>", number(1)),
    "in a number's cell": row(word("a"), word("b"), number(1, INNER)),
    "in a row": f"<{ROW}>{''.join(PARTS)}{INNER}</{ROW}>",
    "beside the rows": f"<table:shapes>{INNER}</table:shapes>{row(*PARTS)}",
    "a row in a row": f"<{ROW}>{''.join(PARTS)}{row(*PARTS)}</{ROW}>",
    "a row in a cell": row(f"<{CELL}>{row(*PARTS)}</{CELL}>"),
    "without anything": row(word("a"), word("b").replace("<text:p>", "<table:table/><text:p>"), number(1)),
}
SPACE = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
PREFIXED = {
    "another prefix": row(*PARTS, about=f' xmlns:t="{SPACE.format("table")}"').replace(ROW, "t:table-row"),
    "no prefix": row(*PARTS, about=f' xmlns="{SPACE.format("table")}"').replace(ROW, "table-row"),
    "a prefix of nothing": row(*PARTS).replace(ROW, "t:table-row"),
    "another namespace": row(*PARTS, about=' xmlns:table="urn:x"'),
    "none": row(*PARTS, about=' xmlns:table=""'),
    "of cells": row(word("a", about=f' xmlns:t="{SPACE.format("table")}"').replace(CELL, "t:table-cell"), *PARTS[1:]),
    "of words": row(word("a", about=f' xmlns:t="{SPACE.format("text")}"').replace("text:p", "t:p"), *PARTS[1:]),
    "of a kind": row(word("a", about=f' xmlns:o="{SPACE.format("office")}"').replace(" office:", " o:"), *PARTS[1:]),
    "written otherwise": row(*PARTS, about=f' xmlns:t="&#117;{SPACE.format("table")[1:]}"').replace(ROW, "t:table-row"),
    "declared for a part": row(*PARTS, about=f' xmlns:t="{SPACE.format("table")}" t:number-rows-repeated="3"'),
}
ODD = {
    **WITHIN,
    **PREFIXED,
    "nothing": row(),
    "an empty cell": row(f"<{CELL}/>"),
    "no row": row(*PARTS, about=' table:number-rows-repeated="0"'),
    "fewer than none": row(*PARTS, about=' table:number-rows-repeated="-1"'),
    "no number of rows": row(*PARTS, about=' table:number-rows-repeated="x"'),
    "cells repeated": row(word("q", about=' table:number-columns-repeated="9"')),
    "no cells": row(word("q", about=' table:number-columns-repeated="0"')),
    "hidden": row(*PARTS, about=' table:visibility="collapse"'),
    "no day": row(word("a"), word("b"), f'<{CELL} office:value-type="date" office:date-value="2020-22-03"/>'),
    "no number": row(word("a"), word("b"), f'<{CELL} office:value-type="float" office:value="1,5"/>'),
    "a type nobody knows": row(word("a"), word("b"), f'<{CELL} office:value-type="hex" office:value="1"/>'),
    "a cell in a cell": row(word("a"), f'<{CELL} office:value-type="string">{word("in")}<text:p>b</text:p></{CELL}>'),
    "rows in a group": f"<table:table-row-group>{row(*PARTS)}</table:table-row-group>",
    "covered": row(word("a"), word("c", "table:covered-table-cell"), number(1)),
    "spanning": row(word("m", about=' table:number-rows-spanned="3"'), *PARTS[1:]),
    "a comment": row(word("a"), word("x<!-- </table:table> -->"), number(1)),
    "letters that look like tags": row(word("a"), word("<![CDATA[</table:table>]]>"), number(1)),
    "many cells": row(*(word(f"c{place}") for place in range(30))),
}  # fmt: skip


def read(rows: list[str]) -> Reading:
    return read_table(opendocument("".join(rows)), header_rows=1, header_line=1, keep_footer=True)


def others(reading: Reading, place: int) -> dict[int, tuple[str, ...]]:
    """All rows but one, by place."""
    frame = reading.frame
    rows = {
        int(at): tuple(cells)
        for at, cells in zip(reading.places, frame[["ward", "note", "age"]].to_numpy(), strict=True)
    }
    rows.pop(place, None)
    return rows


def moved(rows: list[str] = ROWS) -> list[tuple[str, int]]:
    """Which odd rows, at which places, move others."""
    whole, found = read(rows), []
    for place in (0, 4, 11):
        before = others(whole, place)
        for name, odd in ODD.items():
            try:
                after = read([*rows[: place + 1], odd, *rows[place + 2 :]])
            except UnreadableFile:
                continue
            if others(after, place) != before:
                found.append((name, place))
    return found


def test_one_row_moves_itself_alone_whatever_it_is() -> None:
    assert moved() == []


def test_a_table_within_is_found_where_it_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lenient(workbook._Corners):
        def start(self, tag: str, at: dict[str, str]) -> None:
            self._within = self._in_row = False
            super().start(tag, at)

    monkeypatch.setattr(workbook, "_Corners", Lenient)
    assert {"in a word's cell", "beside the rows"} <= {name for name, _ in moved()}


@pytest.mark.parametrize("name", WITHIN)
def test_a_table_within_a_sheet_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(UnreadableFile, match="holds a table or a row within a cell, a row or a drawing; take it out"):
        read([*ROWS[:5], WITHIN[name], *ROWS[6:]])


@pytest.mark.parametrize("name", PREFIXED)
def test_names_that_begin_otherwise_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(UnreadableFile, match="do not begin as those of other OpenDocument sheets do; open it"):
        read([*ROWS[:5], PREFIXED[name], *ROWS[6:]])


def test_a_row_of_another_prefix_is_found_where_it_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook._Corners, "_check_prefixes", lambda *_: None)
    assert {"another prefix", "no prefix", "a prefix of nothing"} <= {name for name, _ in moved()}


def test_other_namespaces_are_nothing_to_refuse() -> None:
    about = ' xmlns:x="urn:x" xmlns="urn:y" xmlns:tables="http://openoffice.org/2009/table" '
    about += f'xmlns:table="{SPACE.format("table")}" x:table="1"'
    assert others(read([*ROWS[:5], row(*PARTS, about=about), *ROWS[6:]]), 4) == others(read(ROWS), 4)
