"""What a file's bytes decided of its form: looked at at once, and stated by a person before a private answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import (
    arrivals,
    decisions,
    declarations,
    file_form,
    own_file,
    private_answer,
    template,
    understood,
    upload,
)
from dashboard.data.decisions import LAST_STEP, Decisions
from dashboard.data.file_form import HEADING
from dashboard.words.data import NOT_IN_FORM
from dpcore.audit.sheets import workbook
from dpcore.datasets import Column, Declaration, Schema, Template, loaded, read_table, saved
from dpcore.datasets.report import BLANKS, Report
from dpcore.release import sentence
from tests.dashboard.conftest import text
from tests.dashboard.keys import key_of
from tests.dashboard.test_chosen_after_looking import own_offer
from tests.dashboard.test_data_page import declare, drop, held, look, press, shown
from tests.datasets.cases.kinds import sheet

Open = Callable[..., AppTest]
WAITS = "Answer the open questions about this file"
FOOT = (
    "colour,size,shape\n"
    + "".join(f"{('red', 'blue', 'red')[n % 3]},{n},round\n" for n in range(40))
    + ("dark red,,\n" * 4)
)
UNNAMED = "".join(f"{('red', 'blue', 'red')[n % 3]},{n},round\n" for n in range(40))
MERGED = workbook([("colour", "size"), *((("red", "blue", "")[n % 3], str(n)) for n in range(40))], merged=True)
PLAIN = "colour,size\n" + "".join(f"{('red', 'blue', 'red')[n % 3]},{n}\n" for n in range(40))
MARKS = "colour,size\n" + "".join(f"'{('red', 'blue', 'red')[n % 3]}','{n}'\n" for n in range(40))


def declared(app: AppTest) -> AppTest:
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ndark red", public=True)
    if private_answer.asks_confirmation(held(app)):
        press(app, "own-right")
    return app


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "argument", "kept", "other"),
    [
        (
            FOOT,
            "keep_footer",
            "lines that are totals or notes are left out wherever they stand",
            "lines that look like totals or notes are rows",
        ),
        (
            MARKS,
            "quote",
            "single quotation marks stand around cells",
            "double quotation marks stand around cells",
        ),
        (
            MERGED,
            "merged",
            "a cell merged over several rows holds its value in each of them",
            "a cell merged over several rows holds its value in the first of them alone",
        ),
    ],
)
def test_a_private_answer_waits_for_it_and_says_what_was_stated(
    file: str | bytes, argument: str, kept: str, other: str, open_app: Open
) -> None:
    app = declared(drop(open_app("data"), file if isinstance(file, bytes) else file.encode()))
    assert (held(app).doubts, held(app).form.doubts) == ((), (f"file:{argument}",))
    assert WAITS in private_answer.unreleasable(held(app))
    assert shown(look(app)).rows is None, "looked at, and nothing private before a person stated it"
    press(app, f"own-{argument}-0")
    assert private_answer.lacking(held(app)) == ()
    if shown(app) is None:  # read anew: where the foot begins had been a guess
        look(app)
    note = own_offer(app).request.suggestions[-1]  # type: ignore[attr-defined]
    assert note.endswith(" was stated by a person who had seen the file or an earlier one: not covered by ε.")
    assert kept in note
    assert "one line of the file names its columns" in note
    assert note in sentence(own_offer(app).request)
    if argument == "keep_footer":  # another reading is not undone
        declared(drop(app, FOOT.encode()))
    else:
        press(app, "own-undo")
    assert WAITS in private_answer.unreleasable(held(app))
    press(app, f"own-{argument}-1")
    assert held(app).form.doubts == ()
    assert dict(held(app).choices).keys() == {argument}
    assert held(app).form.said_in_answers != ()
    declared(app) if private_answer.lacking(held(app)) else None
    assert other in own_offer(look(app)).request.suggestions[-1]  # type: ignore[attr-defined]


def test_how_many_columns_there_are_is_stated_where_no_line_names_them(open_app: Open) -> None:
    app = drop(open_app("data"), UNNAMED.encode())
    if "file:header" in held(app).doubts:
        press(app, "own-header-keep")
    assert held(app).form.doubts == ("file:delimiter", "file:columns")
    press(app, "own-delimiter-0")
    press(app, "own-columns-0")
    assert held(app).form.doubts == ()
    assert held(app).form.said_in_answers == ("cells end", "columns")


def test_where_a_table_that_no_line_names_begins_is_asked(open_app: Open) -> None:
    """The first line has few cells: a title, or a person who said little. It is a row until somebody says otherwise."""
    table = "3,red,blue\n" + "".join(f"{n},1.5,2,{n + 1},4,5,6\n" for n in range(40))
    app = drop(open_app("data"), table.encode())
    assert held(app).doubts == ("file:header_line",)
    assert [app.button(key=f"own-header_line-{place}").label for place in (0, 1)] == ["On line 1", "On line 2"]
    reading = held(app).reading
    press(app, "own-header_line-0")
    assert held(app).doubts == ()
    assert (held(app).reading.report.rows, held(app).form.stated["header_line"]) == (41, 1)  # type: ignore[union-attr]
    press(app, "own-undo")
    assert held(app).reading is reading
    press(app, "own-header_line-1")
    assert held(app).doubts == ()
    assert "file:header" not in held(app).form.suggested
    assert (held(app).reading.report.rows, held(app).form.stated["header_line"]) == (40, 2)  # type: ignore[union-attr]
    assert held(app).reading.report.header_lines == ()  # type: ignore[union-attr]


def test_blanks_between_cells_are_stated_with_one_click(open_app: Open) -> None:
    app = declared(drop(open_app("data"), MARKS.replace("'", "").replace(",", "  ").encode()))
    assert held(app).form.doubts == ("file:delimiter",)
    assert [app.button(key=f"own-delimiter-{place}").label for place in (0, 1)] == ["Blanks", "One cell per line"]
    press(app, "own-delimiter-0")
    assert private_answer.lacking(held(app)) == ()
    assert held(app).form.stated["delimiter"] == BLANKS
    assert "cells end at the sign, or the blanks, with which the file is read" in sentence(own_offer(look(app)).request)
    press(app, "own-undo")
    press(app, "own-delimiter-1")
    assert [column.name for column in held(app).reading.columns] == ["colour size"]  # type: ignore[union-attr]


def test_a_file_of_the_plain_form_is_asked_nothing(open_app: Open) -> None:
    app = declared(drop(open_app("data"), MARKS.replace("'", '"').encode()))
    assert private_answer.lacking(held(app)) == ()
    assert held(app).form.said_in_answers == ("one heading line",)
    assert "quotation marks stand around" not in text(app)


@pytest.mark.parametrize(
    ("table", "encoding", "told", "form"),
    [
        (PLAIN, "utf-8", "line 1 of the file names the columns: “colour”, “size”;", ("one heading line",)),
        (
            PLAIN.replace("blue", "bleuâtre"),
            "cp1252",
            "letters such as é look right, read as Windows Western European (cp1252);",
            ("encoding", "one heading line"),
        ),
        (
            PLAIN,
            "utf-16-le",
            " / blue,37 / red,38 / red,39”, where / begins a line; if not, see “Read it differently”;",
            ("encoding", "one heading line"),
        ),
    ],
)
def test_what_a_first_row_or_a_letter_could_turn_is_called_right_with_the_types(
    table: str, encoding: str, told: str, form: tuple[str, ...], open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No click more than the one for the types; without the types it is a click of its own. To look takes none."""
    app = drop(open_app("data"), table.encode(encoding))
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\nbleuâtre", public=True)
    assert (held(app).doubts, held(app).form.doubts) == ((), ())
    assert told in text(app)
    (waits_for,) = private_answer.lacking(held(app))
    assert "the names of the columns, the" in waits_for
    press(app, "own-right")
    assert (private_answer.lacking(held(app)), held(app).form.said_in_answers) == ((), form)
    assert "one line of the file names its columns" in sentence(own_offer(look(app)).request)
    stated = held(app).decisions
    open_ = replace(held(app), decisions=replace(stated, settled=stated.settled - {"file:header"}))
    assert private_answer.lacking(open_), "the types alone do not state it"
    monkeypatch.setattr(Report, "decided", ())
    assert not private_answer.lacking(open_)


def transport(rows: list[tuple[str, ...]], folder: Path, **more: list[float]) -> bytes:
    """A SAS transport file of these texts."""
    frame = pd.DataFrame({name: cells for name, *cells in zip(*rows, strict=True)} | more)
    pyreadstat.write_xport(frame, str(folder / "a.xpt"), file_format_version=5)
    return (folder / "a.xpt").read_bytes()


@pytest.mark.parametrize("kind", ["sheet", "transport"])
def test_how_many_steps_a_file_without_empty_rows_has_is_called_right(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is public, and with no cell filled the last step would be none: the file keeps no such row."""
    column = Column(name="a", type="number", low=0, high=9)
    lines = [("a",), *((str(step),) for step in range(1, 8))]
    sizes, own_form = [], ("one heading line",) if kind == "sheet" else ()
    for rows in (lines, [*lines[:-1], ("",)]):
        sheet = {"header_rows": 1, "header_line": 1} if kind == "sheet" else {}
        reading = read_table(workbook(rows) if kind == "sheet" else transport(rows, tmp_path), **sheet)
        choices = tuple(sheet.items())
        decisions = Decisions(schema=Schema(columns=(column,), each_row="step"), said_row=True, said_rows=True)
        own = own_file.OwnFile(name="f", data=b"", choices=choices, reading=reading, decisions=decisions)
        own = own.decide(replace(own.decisions, settled=frozenset({"a"})).stating(column))
        assert private_answer.lacking(own) == (
            "Say on the Data page that the number of steps, the types and what one row is are right: "
            "the file suggested them.",
        )
        sizes.append(reading.private.public_size(Declaration(columns=(column,), each_row="step")))
        assert f"there are {sizes[-1]} steps" in understood.form_suggested(own)[0]
        right = own.decide(own.confirm(own.columns.open))
        assert (private_answer.lacking(right), right.form.said_in_answers) == (
            (),
            (*own_form, "last step", "rows stay"),
        )
        records = replace(decisions, schema=replace(decisions.schema, each_row="record"))
        assert replace(right, decisions=records).form.suggested == (), "an empty record counts for none"
        with monkeypatch.context() as forgetting:
            forgetting.setattr(Report, "open_ended", False)
            assert LAST_STEP not in own.form.suggested
    assert sizes == [7, 6]


def test_a_transport_file_with_missing_numbers_keeps_its_empty_rows(tmp_path: Path) -> None:
    """Blanks are a number too, so that of such a file it is asked all the same."""
    rows = [("a",), *((str(step),) for step in range(1, 7)), ("",)]
    reading = read_table(transport(rows, tmp_path, b=[float("nan")] * 7))
    assert (reading.records, reading.report.container) == (7, "transport")


def test_a_declaration_that_is_brought_does_not_state_it(open_app: Open) -> None:
    """It says what the columns hold; with its word alone one row would decide how all others are read."""
    column = Column(name="colour", type="category", categories=("red", "blue"))
    rest = tuple(Column(name=name, type="text") for name in ("size", "shape"))
    brought = saved(Template(schema=Schema(columns=(column, *rest), rows_per_person=2))).encode()
    app = drop(open_app("data"), FOOT.encode())
    (box,) = (place for place, one in enumerate(app.file_uploader) if "declaration" in str(one.label))
    drop(app, brought, name="declaration.json", place=box)
    assert WAITS in private_answer.unreleasable(held(app))
    press(app, "own-keep_footer-0")
    app.number_input(key="own-rows-None").set_value(2).run()
    (names,) = private_answer.lacking(held(app))
    assert "the names of the columns" in names
    press(app, "own-right")
    assert private_answer.lacking(held(app)) == ()


ABOVE, BELOW = [["colour", "n"], *[["red", 1]] * 40, ["red", None]], [["blue", 1]] * 15
HEADINGS = {1: [*ABOVE, *BELOW], 2: [["colour", None], *ABOVE, *BELOW]}
"""Rows of a sheet, by the line that names the columns: one more row, with one cell, stands above."""


def sheet_of(rows: list[list[Any]]) -> bytes:
    def fill(_: Any, page: Any) -> None:
        for row in rows:
            page.append(row)

    return sheet(fill)()


@pytest.mark.parametrize("stated", [{}, {"header_rows": 1}, {"header_rows": 1, "header_line": 1}])
@pytest.mark.parametrize("described", [False, True])
def test_that_its_columns_are_named_says_not_which_line_names_them(
    stated: dict[str, int], described: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's row decided from which line on a table is read, and nobody was asked."""
    column = Column(name="colour", type="category", categories=("red", "blue"))
    brought = Template(schema=Schema(columns=(column,), rows_per_person=2), choices=tuple(sorted(stated.items())))
    lines = set()
    for line, rows in HEADINGS.items():
        app = open_app("data")
        if described:
            app.segmented_control(key="from").set_value("described").run()
            app = bring(app, brought)
            press(app, next(str(one.key) for one in app.button if "remove" in str(one.key)))
            drop(app, sheet_of(rows), name="a.xlsx")
            press(app, "own-declaration-known-0")
        else:
            bring(drop(app, sheet_of(rows), name="a.xlsx"), brought)
        report = held(app).reading.report  # type: ignore[union-attr]
        lines.add(report.header_lines)
        assert held(app).schema.column("colour") == column
        if len(stated) == 2:
            assert (report.header_lines, held(app).form.suggested) == ((1,), ())
            continue
        assert held(app).form.suggested == (HEADING,)
        assert f"line {line} of the file names the columns" in text(app)
        assert private_answer.lacking(held(app))
        with monkeypatch.context() as mutant:
            mutant.setattr(file_form, "WITH_TYPES", {})
            assert not held(app).form.suggested, "this test can fail"
    assert len(lines) == (1 if len(stated) == 2 else 2)


def test_what_was_stated_of_another_reading_is_asked_anew(open_app: Open) -> None:
    app = drop(open_app("data"), FOOT.encode())
    press(app, "own-keep_footer-0")
    assert held(app).form.said_in_answers == ("foot left out",)
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    app.checkbox(key="own-again-keep_footer").check()
    press(app, "own-again-go")
    assert held(app).form.said_in_answers == ("foot kept",)
    app.checkbox(key="own-again-keep_footer").uncheck()
    press(app, "own-again-go")
    assert held(app).form.doubts == ("file:keep_footer",)


OBJECTS = json.dumps({f"p{n}": {"colour": ("red", "blue", "red")[n % 3], "size": n} for n in range(40)})
LINES_IN_CELLS = "colour,note\n" + PLAIN.partition("\n")[2] + 'red,"two\nlines"\n'
BACKSLASH = PLAIN + "red,a\\b\n"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (MARKS, "quote"),
        (BACKSLASH, "escape"),
        (LINES_IN_CELLS, "breaks"),
        (MERGED, "merged"),
        (OBJECTS, "objects"),
    ],
    ids=["quote", "escape", "breaks", "merged", "objects"],
)
def test_each_answer_about_the_form_can_be_taken_back(
    file: str | bytes, name: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = drop(open_app("data"), file.encode() if isinstance(file, str) else file)
    assert f"file:{name}" in held(app).form.doubts
    told = [button.label for button in app.button if str(button.key).startswith(f"own-{name}-")]
    assert sum("how it is read now" in part.value for part in app.markdown) >= 1
    press(app, f"own-{name}-1")
    first = dict(held(app).choices)[name]
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    box = app.selectbox(key=key_of(app, "own-again", f"-{name}"))
    assert set(told) <= set(box.options)
    (other,) = (place for place, label in enumerate(box.options) if label == told[0])
    box.select_index(other)
    press(app, key_of(app, "own-again", "-go"))
    assert dict(held(app).choices)[name] != first
    with monkeypatch.context() as mutant:
        mutant.setattr(upload, "_OF_FORM", ())
        press(app, key_of(app, "own-again", "-go"))
        assert f"file:{name}" not in held(app).form.doubts
    app.run().selectbox(key=key_of(app, "own-again", f"-{name}")).select_index(0)
    press(app, key_of(app, "own-again", "-go"))
    assert f"file:{name}" in held(app).form.doubts


DOUBTFUL = ("colour,2020\n" + "".join(f"{('red', 'blue', 'nœud')[n % 3]},{n}\n" for n in range(40))).encode("cp1252")
ASKED = {"file:encoding", "file:header"}
STATES = {"encoding": "cp1252", "header_rows": 1, "header_line": 1}
COLOUR = Column(name="colour", type="category", categories=("red", "blue", "nœud"))
OLDER = Template(schema=Schema(columns=(COLOUR,), rows_per_person=2))


def bring(app: AppTest, declaration: Template) -> AppTest:
    (box,) = (place for place, one in enumerate(app.file_uploader) if "declaration" in str(one.label))
    return drop(app, saved(declaration).encode(), name="declaration.json", place=box)


def waits(app: AppTest) -> bool:
    return WAITS in private_answer.unreleasable(held(app))


@pytest.mark.thorough
def test_a_declaration_settles_of_the_form_what_it_states_itself(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = bring(drop(open_app("data"), DOUBTFUL), OLDER)
    assert set(private_answer.doubts(held(app))) == ASKED, (
        "its columns are there, which says nothing of what one byte means"
    )
    assert waits(app)
    with monkeypatch.context() as mutant:
        mutant.setattr(Report, "doubtful", ())
        assert not waits(app)
    press(app, "own-encoding-0")
    press(app, "own-header-keep")
    assert not waits(app)
    kept = loaded(saved(template.template(held(app))))
    assert dict(kept.choices) == STATES, "called right by a click, as if chosen"

    bring(drop(app, DOUBTFUL + b"red,7\n"), kept)
    assert (private_answer.doubts(held(app)), dict(held(app).choices)) == ((), STATES)
    assert held(app).schema.column("colour") == COLOUR
    assert not waits(app)

    bring(drop(app, DOUBTFUL + b"red,8\n"), replace(kept, choices=(("encoding", "cp1252"),)))
    assert set(private_answer.doubts(held(app))) == {"file:header"}

    bring(drop(app, b"About colours\n" + DOUBTFUL), kept)
    assert NOT_IN_FORM.partition(",")[0] in text(app)
    assert held(app).columns.declared is None, "one row may be why: nothing is declared before a person says so"
    assert (held(app).known, held(app).choices) == ((replace(kept, choices=()),), ())
    press(app, "own-declaration-known-0")
    assert set(private_answer.doubts(held(app))) == ASKED, (
        "line 1 names no columns there: it is read and asked as usual"
    )
    assert held(app).choices == ()
    assert held(app).schema.column("colour") == COLOUR

    with monkeypatch.context() as mutant:
        mutant.setattr(arrivals, "read_in_form", lambda _, then, otherwise: then())
        mutant.setattr(declarations, "read_so", lambda *_: None)
        bring(drop(app, DOUBTFUL + b"red,9\n"), kept)
        assert waits(app)


def test_a_file_that_was_read_as_a_declaration_states_is_not_read_again(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = replace(OLDER, choices=tuple(sorted(STATES.items())))
    app = drop(open_app("data"), DOUBTFUL)
    reading = held(app).reading
    with monkeypatch.context() as mutant:
        mutant.delattr(arrivals, "read")
        bring(app, stated)
    assert held(app).reading is reading
    assert (private_answer.doubts(held(app)), dict(held(app).choices), held(app).form.suggested) == ((), STATES, ())
    press(app, "own-undo")
    bring(app, replace(stated, choices=(("encoding", "cp1250"), ("header_line", 1), ("header_rows", 1))))
    assert held(app).reading is not reading
    assert decisions.read_so(reading, {"keep_footer": True, "decimal": "."}) is None  # type: ignore[arg-type]


@pytest.mark.thorough
def test_what_a_json_document_does_not_say_is_stated(open_app: Open) -> None:
    colours = [("red", "blue", "red")[n % 3] for n in range(40)]
    app = drop(open_app("data"), json.dumps([[colour, n] for n, colour in enumerate(colours)]).encode())
    assert private_answer.doubts(held(app)) == ("file:header", "file:columns")
    press(app, "own-header-keep")
    press(app, "own-columns-0")
    assert (private_answer.doubts(held(app)), held(app).form.said_in_answers) == ((), ("columns", "no heading"))
    assert dict(template.template(held(app)).choices) == {"columns": 2, "header_rows": 0, "header_line": 1}

    people = {f"p{n}": {"colour": colour, "size": n} for n, colour in enumerate(colours)}
    drop(app, json.dumps(people).encode())
    assert (held(app).doubts, held(app).form.doubts) == ((), ("file:objects",))
    press(app, "own-objects-1")
    assert (held(app).form.said_in_answers, held(app).schema.names[0]) == (("objects as columns",), "p0")
    drop(app, json.dumps(people).encode())
    press(app, "own-objects-0")
    declared(app)
    assert private_answer.lacking(held(app)) == ()
    assert "each object inside the document is a row" in sentence(own_offer(look(app)).request)

    drop(app, json.dumps({"schema": {"version": 1}, "people": [None, *people.values()]}).encode())
    assert (held(app).form.doubts, held(app).schema.names) == (("file:objects",), ("colour", "size"))
    press(app, "own-objects-0")
    declared(app)
    assert (held(app).form.said_in_answers, private_answer.lacking(held(app))) == (("list of objects",), ())
    told = sentence(own_offer(look(app)).request)
    assert "the list of objects inside the document is the table" in told


def test_text_that_begins_as_json_is_read_where_its_cells_are_said_to_end(open_app: Open) -> None:
    app = drop(open_app("data"), PLAIN.replace("colour", "[colour]").encode())
    (error,) = app.error
    assert "say where its cells end if it is none" in error.value
    app.selectbox(key=key_of(app, "own-again-failed-", "-delimiter")).set_value(",")
    press(app, key_of(app, "own-again-failed-", "-go"))
    assert (held(app).schema.names, held(app).form.said_in_answers) == (("[colour]", "size"), ("cells end",))


@pytest.mark.parametrize("place", [0, 1])
def test_a_chosen_question_asks_it_with_all_else_that_a_private_answer_needs(place: int, open_app: Open) -> None:
    """Whoever came by a question sees nothing of what stands below it on the page."""
    app = drop(open_app("data"), MARKS.encode())
    press(app, "own-selection-0")
    press(app, f"own-quote-{place}")
    assert held(app).form.doubts == ()
    assert [one.key for one in app.button if one.key == "own-ask-other"], "the question is still the one that was asked"


def test_how_one_object_holds_its_rows_is_not_read_out_of_several(open_app: Open) -> None:
    """Several records were taken for what was stated of one object, and one row more made them several."""
    column = Column(name="colour", type="category", categories=("red", "blue"))
    held_rows = json.dumps({f"p{n}": {"colour": "red"} for n in range(40)})
    stated = Template(schema=Schema(columns=(column,)), choices=(("objects", "rows"),))
    app = bring(drop(open_app("data"), held_rows.encode(), name="a.json"), stated)
    assert held(app).reading.rows == 40  # type: ignore[union-attr]
    assert held(app).schema.column("colour") == column
    for several in (f'{held_rows}\n{{"colour": "blue"}}', f'{{"colour": "blue"}}\n{held_rows}'):
        app = bring(drop(open_app("data"), several.encode(), name="a.json"), stated)
        assert NOT_IN_FORM.partition(",")[0] in text(app)
        assert held(app).columns.declared is None
