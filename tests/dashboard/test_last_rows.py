"""Where the number of rows is public, a last row without anything in it is a row, or a person calls the number right.

By the kind of file, whatever this one holds: else whether it is asked would tell of the last row.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.data import private_answer
from dashboard.data.decisions import EVEN, LAST_STEP, Decisions, read_as
from dashboard.data.own_file import OwnFile
from dashboard.data.understood import form_suggested
from dashboard.question import NoOffer, Offer
from dashboard.questions.experts.follow import Follow
from dpcore.audit.files import PLAIN, as_a_page_reads
from dpcore.audit.sheets import workbook
from dpcore.datasets import Column, Declaration, Reading, Schema
from dpcore.datasets.reading.engine import together
from dpcore.datasets.report import Report
from dpcore.datasets.schema import EachRow
from dpcore.release import sentence
from dpcore.releases.asked import form_stated
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import declare, drop, held, look, press, shown
from tests.dashboard.test_experts_page import open_tab
from tests.datasets.test_transport_blanks import BLANKS

Open = Callable[..., AppTest]
A = Column(name="a", type="number", low=0, high=9)
ROWS = [[str(number), str(9 - number)] for number in range(1, 8)]
EMPTY = ["", ""]
ANSWERS = PLAIN | {"columns": 2}


def lines(rows: list[list[str]], *, sign: str = ",", end: str = "\n", width: int = 2, last: bool = True) -> str:
    told = [sign.join(row[:width]) for row in [["a", "b"], *rows]]
    return end.join(told) + end * last


def columns(rows: list[list[str]]) -> dict[str, list[str]]:
    return {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}


def named(rows: list[list[str]], *left_out: int) -> bytes:
    """Columns in which each row has a name."""
    kept = [(str(place), row) for place, row in enumerate(rows) if place not in left_out]
    return json.dumps({name: {place: row[at] for place, row in kept} for at, name in enumerate("ab")}).encode()


def texts() -> Iterator[tuple[str, list[bytes]]]:
    """Text, with the last row as it is and with less and less in it."""
    for end in ("\n", "\r\n", "\r"):
        for width in (1, 2):
            for last in (True, False):
                way: dict[str, Any] = {"end": end, "width": width, "last": last}
                whole, holed, short = (lines(rows, **way) for rows in (ROWS, [*ROWS[:-1], EMPTY], ROWS[:-1]))
                none = short + end * last if last else short + end
                yield f"text {way}", [one.encode() for one in (whole, holed, none)]
    whole, holed = (lines(rows, last=False).encode() for rows in (ROWS, ROWS[:-1]))
    yield "packed text", [gzip.compress(one) for one in (whole, holed + b"\n")]


def saved(rows: list[list[str]], kind: str, folder: Path) -> bytes:
    frame, path = pd.DataFrame(columns(rows)), folder / "file"
    if kind == "numbers of SAS":
        frame["a"] = pd.to_numeric(frame["a"])
    if kind == "parquet":
        frame.replace("", None).to_parquet(path)
    elif kind == "feather":
        frame.replace("", None).to_feather(path)
    elif kind == "spss":
        pyreadstat.write_sav(frame, str(path))
    elif kind == "stata":
        pyreadstat.write_dta(frame, str(path))
    else:
        pyreadstat.write_xport(frame, str(path), file_format_version=5)
    return path.read_bytes()


def files(folder: Path) -> Iterator[tuple[str, list[bytes], dict[str, Any]]]:
    """Of each kind a file, and what it is when its last row holds nothing; with other answers than the usual."""
    holed = [*ROWS[:-1], EMPTY]
    yield "sheet", [workbook([["a", "b"], *rows]) for rows in (ROWS, holed)], {}
    for name, ways in texts():
        told = {"delimiter": ""} if "'width': 1" in name else {}
        yield name, ways, told | ({"returns": "at ends"} if r"'\r'" in name else {})
    blank = [*ROWS[:-1], [repr(BLANKS), ""]]  # the number that blanks are
    yield "numbers of SAS", [saved(rows, "numbers of SAS", folder) for rows in (ROWS, holed, blank)], {}
    for kind in ("texts of SAS", "spss", "stata", "parquet", "feather"):
        yield kind, [saved(rows, kind, folder) for rows in (ROWS, holed)], {}
    lasts = (ROWS[-1], EMPTY, [None, None], [], None)
    yield "lists", [json.dumps([["a", "b"], *ROWS[:-1], last]).encode() for last in lasts], {}
    headed = [{"columns": ["a", "b"], "data": [*ROWS[:-1], last]} for last in lasts]
    yield "lists with names", [json.dumps(one).encode() for one in headed], {}
    objects = [dict(zip("ab", row, strict=True)) for row in ROWS]
    ends = (objects[-1], dict(zip("ab", EMPTY, strict=True)), {"a": None}, {}, None)
    yield "objects", [json.dumps([*objects[:-1], last]).encode() for last in ends], {}
    yield "lines", ["\n".join(map(json.dumps, [*objects[:-1], last])).encode() for last in ends], {}
    people = [{f"p{place}": one for place, one in enumerate([*objects[:-1], last])} for last in ends[:-1]]
    yield "objects with names", [json.dumps(one).encode() for one in people], {}
    side = [json.dumps(columns(rows)).encode() for rows in (ROWS, holed, ROWS[:-1])]
    yield "columns", side, {"objects": "columns"}
    yield "columns of named rows", [named(ROWS), named(holed), named(ROWS, 6), named(ROWS, 3)], {"objects": "columns"}


ASKED = {"sheet", "texts of SAS", "numbers of SAS", "columns", "columns of named rows", "packed text"}


def held_of(reading: Reading, each_row: EachRow) -> OwnFile:
    """A file of which all is stated but how many rows it has."""
    schema = Schema(columns=(A,), each_row=each_row)
    stated = {"a", *(f"file:{one}" for one in (*reading.report.decided, *reading.report.doubtful))}
    decisions = Decisions(schema=schema, said_row=True, said_rows=True, settled=frozenset(stated)).stating(A)
    decisions = replace(decisions, confirmed=frozenset({read_as(A)}))
    return OwnFile(name="f", data=b"", choices=(), reading=reading, decisions=decisions)


def asked(own: OwnFile) -> bool:
    """Whether an answer from this file in which the number of rows shows waits for a person to call it right."""
    called = replace(own.decisions, row_right=frozenset({(own.schema.each_row, own.schema.unit, own.entries)}))
    if own.schema.each_row == "record":
        assert private_answer.lacking(own.decide(called)) == (), "other answers wait for nothing"
        return own.form.uncounted
    own = own.decide(replace(called, settled=own.decisions.settled | {EVEN}))
    assert bool(private_answer.lacking(own)) == (LAST_STEP in own.form.suggested) == bool(form_suggested(own))
    return LAST_STEP in own.form.suggested


def size(reading: Reading, each_row: EachRow) -> int:
    return reading.private.public_size(Declaration(columns=(A,), each_row=each_row, hidden="replace_one"))


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Reading]]:
    """The files of each kind as a page reads them."""
    with together():
        return {
            name: [as_a_page_reads(data, ANSWERS | answers) for data in ways]
            for name, ways, answers in files(tmp_path_factory.mktemp("files"))
        }


@pytest.mark.parametrize("each_row", ["step", "option", "record"])
def test_an_empty_last_row_is_one_or_the_number_is_asked(
    each_row: EachRow, all_kinds: dict[str, list[Reading]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one kind every file is asked, or none."""
    moved = set()
    for name, readings in all_kinds.items():
        sizes = [size(reading, each_row) for reading in readings]
        asks = {asked(held_of(reading, each_row)) for reading in readings}
        assert asks == {name in ASKED or name.startswith("text ")}, name
        if len(set(sizes)) > 1:
            moved.add(name)
            assert asks == {True}, (name, sizes)
            monkeypatch.setattr(Report, "open_ended", False)
            assert not asked(held_of(readings[0], each_row)), "and would be missed"
            monkeypatch.undo()
    assert moved >= ASKED
    assert sum(name.startswith("text ") for name in moved) == 6, "all whose last line has no end"


@pytest.mark.parametrize(
    ("each_row", "told"),
    [("step", "the last step is"), ("option", "the last row is"), ("record", "the last row is")],
)
def test_what_was_called_right_is_said_where_the_number_shows(each_row: EachRow, told: str) -> None:
    own = held_of(as_a_page_reads(lines(ROWS).encode(), ANSWERS), each_row)
    right = own.decide(own.confirm(())) if each_row != "record" else own.counted()
    assert not asked(right)
    declared = [
        Declaration.of(right.schema, form=right.form.said_in_answers, hidden=hidden)
        for hidden in ("add_remove", "replace_one")
    ]
    shows = [any("last" in one for one in one_way.reads("a").form) for one_way in declared]
    assert shows == [each_row != "record", True], "of records it is private where one is added or removed"
    assert told in form_stated(declared[1].reads("a"))[0]
    assert asked(replace(right, decisions=replace(right.decisions, settled=own.decisions.settled)))


def offered(app: AppTest) -> Offer | NoOffer:
    """The release of what was followed, as its page would offer it now."""
    found: Offer | NoOffer = Follow.ask(Case(source=shown(app), epsilon=0.5), Setting({})).offer
    return found


def test_records_are_called_right_where_their_number_shows(open_app: Open) -> None:
    """On the page of that question, and of no other: there it is private, and nothing is said of it."""
    app = drop(open_app("data"), lines(ROWS * 2).encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    for name in "ab":
        declare(app, name, low=0.0, high=9.0)
    assert "last row" not in text(look(app))
    assert private_answer.lacking(held(app)) == ()
    found = offered(app)
    assert isinstance(found, NoOffer)
    assert "14, down to the last row of the file that holds anything" in found.sentence
    assert found.states is not None
    state: Any = found.states[0]
    assert [type(one) for one in state.args] == [str], "what a button calls outlives the file"
    assert state.func.__closure__ is None
    open_tab(app.switch_page("questions/experts/page.py").run(), "experts", "A private answer")
    assert found.sentence in text(app).replace("\\", "")
    press(app, "experts-states")
    assert not [one.key for one in app.button if one.key == "experts-states"]
    told = offered(app)
    assert isinstance(told, Offer)
    assert "the last row is the last one of the file" in sentence(told.request)
