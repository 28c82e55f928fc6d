"""The Data page driven as a person would: files in, nothing misread, nothing seen by others, and on to a question."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.runtime.uploaded_file_manager import DeletedFile
from streamlit.testing.v1 import AppTest
from streamlit.typing import UploadedFile

from dashboard import catalogue, session, words
from dashboard.background import compute
from dashboard.budget import receipts
from dashboard.case import MARK, OWN, TWIN_MARK
from dashboard.data import (
    arrivals,
    bulk,
    declarations,
    own_file,
    people,
    private_answer,
    source,
    template,
    typed_columns,
    use,
)
from dashboard.data import samples as sample_cards
from dashboard.data.decisions import typed_as
from dashboard.data.task import Task
from dashboard.people import visitors
from dashboard.report import panel
from dashboard.serving import typed
from dashboard.words import columns as columns_said
from dashboard.words import data as data_words
from dashboard.words import report as report_words
from dashboard.words import server as server_words
from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    Schema,
    SplitOptions,
    Template,
    read_csv,
    samples,
    saved,
)
from dpcore.datasets.schema import MISSING_WORDS
from dpcore.datasets.steps import rows_made
from dpcore.errors import InvalidArgument, LedgerError
from dpcore.ledger import Ledger
from dpcore.ledger.member import NO_FILES
from dpcore.ledger.roles import Role
from dpcore.releases.cells import entry_sensitivity
from dpcore.selection import PermuteAndFlip
from tests.dashboard.conftest import rested, text
from tests.dashboard.keys import about, key_of

Open = Callable[..., AppTest]
JOBS = {"Pflege": 40, "Büro": 34, "Verkauf": 25, "Handwerk": 18, "Straßenbau": 9}


def survey(seed: int = 3, extra: tuple[str, ...] = ()) -> bytes:
    """A colleague's export: titles above, semicolons, cp1252, decimal commas, a TOTAL row at the foot."""
    rng = random.Random(seed)
    jobs = [job for job, count in JOBS.items() for _ in range(count)]
    rng.shuffle(jobs)
    lines = ["Umfrage Gemeinde Grünwald;;;;", "erstellt am 03.02.2024;;;;", "Nr;Beruf;Alter;Größe (m);zufrieden"]
    for number, job in enumerate(jobs, start=1):
        height = rng.choice(["1,62", "1,75", "1,81", "1,9"])
        lines.append(f"{number};{job};{rng.randint(18, 80)};{height};{rng.choice(['ja', 'nein'])}")
    lines += [*extra, f"TOTAL;{len(jobs)};;;"]
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


def drop(app: AppTest, data: bytes, name: str = "umfrage.csv", place: int = 0) -> AppTest:
    app.file_uploader[place].upload(name, data).run()
    return waited(app)


def waited(app: AppTest) -> AppTest:
    """Run on until nothing is being read or prepared any more.

    What is under way has a button to stop it, named by its key; the release's own Cancel is another.
    """
    while any(re.match(r"cancel-\d+$|.*-cancel-job$", str(button.key)) for button in app.button):
        rested(app)
    assert not app.exception, [error.value for error in app.exception]
    return app


def held(app: AppTest) -> own_file.OwnFile:
    found: own_file.OwnFile = app.session_state["_own_file"]
    return found


def shown(app: AppTest) -> source.Source:
    found: source.Source = app.session_state["_own_source"]
    return found


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=about(app, key)).click().run()
    return waited(app)


def look(app: AppTest) -> AppTest:
    """Call right what the file suggested, where that is asked, then look at the file."""
    if any(button.key == "own-right" for button in app.button):
        press(app, "own-right")
    tick(app).check()
    return press(app, "own-look")


def tick(app: AppTest) -> Any:
    return next(box for box in app.checkbox if str(box.key).startswith("own-public"))


def declare(app: AppTest, column: str, **fields: Any) -> AppTest:
    """Open one column's form, fill in fields by their key's last part, save."""
    app.selectbox(key="own-column").set_value(column).run()
    save = next(button for button in app.button if button.key is not None and button.key.endswith("-save"))
    prefix = str(save.key).removesuffix("-save")
    if fields.pop("copied", False):
        press(app, f"{prefix}-copy")
        save = next(button for button in app.button if button.key is not None and button.key.endswith("-save"))
        prefix = str(save.key).removesuffix("-save")
    for name, value in fields.items():
        app.get_by_key(f"{prefix}-{name}").set_value(value)
    return press(app, f"{prefix}-save")


# -- samples ---------------------------------------------------------------------------------------------------------


def test_every_sample_says_where_it_is_from_and_what_it_suits(open_app: Open) -> None:
    said = text(open_app("data"))
    for sample in samples():
        assert sample.title in said
        assert sample.about in said
        if not sample.needs_network:
            for question, sentence in sample.why:
                assert question in {one.key for one in catalogue.pages()}
                assert sentence in said
    assert said.count("simulated]") == sum(sample.simulated for sample in samples())
    assert said.count("real]") == sum(not sample.simulated for sample in samples())


@pytest.mark.parametrize(
    ("sample", "column"), [("gapminder", "continent"), ("meeting_dates", "conflicts"), ("town", "occupation")]
)
def test_one_click_opens_a_sample_with_its_column(open_app: Open, sample: str, column: str) -> None:
    app = open_app("data")
    press(app, f"sample-{sample}-selection")
    assert app.selectbox(key="data").value == sample
    assert app.selectbox(key="column").value == column
    assert "the private answer names" in text(app)


@pytest.mark.parametrize("linked", ["samples", "Samples"])
def test_a_sample_opens_from_the_list_of_samples(open_app: Open, linked: str) -> None:
    """Also where the address says that samples are in view, as it does once somebody chose them."""
    app = open_app("data", **{"from": linked})
    assert app.segmented_control(key="from").value == "samples"
    press(app, "sample-town-selection")
    assert not app.exception
    assert app.selectbox(key="data").value == "town"
    assert app.selectbox(key="column").value == "occupation"
    assert "from" not in app.query_params


def test_data_in_hand_are_in_view_whenever_somebody_comes(open_app: Open) -> None:
    """Whoever looked at samples and is sent to the page about their own file finds the file there."""
    app = drop(open_app("data"), survey())
    app.segmented_control(key="from").set_value("samples").run()
    assert app.segmented_control(key="from").value == "samples"
    assert app.run().segmented_control(key="from").value == "samples", "as long as they stay"
    app.switch_page("app_pages/budget.py").run()
    app.switch_page("app_pages/data.py").run()
    assert app.segmented_control(key="from").value == "file"
    app.segmented_control(key="from").set_value("samples").run()
    app.switch_page("app_pages/budget.py").run()
    app.query_params["from"] = "samples"  # back
    app.switch_page("app_pages/data.py").run()
    assert app.segmented_control(key="from").value == "samples"


def test_the_census_table_is_never_fetched_unasked(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to it shows another sample and says where to load it; a file that is no census table gets a sentence."""
    monkeypatch.setattr("dpcore.datasets.fetched.fetched", lambda *_: pytest.fail("the network was asked"))
    adult = next(sample for sample in samples() if sample.key == "adult")
    app = open_app("selection", data=adult.title)
    assert "Load the census table on the Data page first" in text(app)
    assert "the private answer names" in text(app)
    app.switch_page("app_pages/data.py").run()
    upload = next(place for place, one in enumerate(app.file_uploader) if str(one.key).startswith("sample-adult"))
    drop(app, b"a,b\n1,2\n", place=upload)
    assert "That file is not the census table" in text(app)


def test_who_may_bring_no_file_brings_no_copy_of_the_census(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("data")
    assert any(str(one.key).startswith("sample-adult-file") for one in app.file_uploader)
    monkeypatch.setattr(compute, "no_files", lambda: NO_FILES)
    app.run()
    assert not any(str(one.key).startswith("sample-adult-file") for one in app.file_uploader)
    # nor by a message that sends one all the same
    told: list[str] = []
    monkeypatch.setattr(sample_cards.session, "entered", lambda key, default: UploadedFile.__new__(UploadedFile))
    monkeypatch.setattr(sample_cards.session, "say", lambda slot, sentence: told.append(sentence))
    monkeypatch.setattr(sample_cards, "taken", lambda file: pytest.fail("the file was taken"))
    sample_cards._upload("adult", "sample-adult-file-0")
    assert told == [NO_FILES]


# -- what was understood ---------------------------------------------------------------------------------------------


def test_a_messy_export_is_understood_and_every_line_accounted_for(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    page = text(app)
    assert "**126 rows and 5 columns.** Cells end at a semicolon." in page
    assert "Windows Western European" in page
    assert "named on line 3; data start on line 4" in page
    assert "**Set aside, lines 1 and 2:**" in page
    assert "**Set aside, line 130:**" in page
    assert "TOTAL" in page
    types = {column.name: column.type for column in held(app).schema.columns}
    assert types == {
        "Nr": "text",
        "Beruf": "category",
        "Alter": "integer",
        "Größe (m)": "number",
        "zufrieden": "yes/no",
    }


def test_nothing_is_shown_before_the_person_decides(open_app: Open) -> None:
    """No page shows the file; a question it suits says first what it needs; looking needs the tick."""
    app = drop(open_app("data"), survey())
    assert app.session_state["_own_source"] is None
    assert "Which Beruf is most common?" in [button.label for button in app.button]
    for look_button in ("own-look", "own-asked-look"):
        press(app, look_button)
        assert "Tick the box only if that may be" in text(app)
        assert app.session_state["_own_source"] is None
        press(app, "own-selection-0" if look_button == "own-look" else "own-ask-other")
    app.selectbox(key="data").set_value(OWN).run()
    app.switch_page("questions/selection/page.py").run()
    assert "Decide on the Data page" in text(app)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b"PK\x03\x04rest of a workbook", "save the table as CSV"),
        (b"\x1f\x8b\x08" + bytes(50), "gzip"),
        (b"<html><table></table></html>", "web page"),
        (b'a,b\n1,"2\n3,4\n', "quotation mark"),
    ],
)
def test_a_file_that_cannot_be_read_gets_one_sentence(open_app: Open, data: bytes, sentence: str) -> None:
    app = drop(open_app("data"), data)
    assert len(app.error) == 1
    assert sentence in app.error[0].value.replace("\\", "")
    assert "_own_file" not in app.session_state or app.session_state["_own_file"] is None


@pytest.mark.parametrize("data", [b"word,stays\n", b"word,stays\na,1\n"])
def test_a_file_of_names_alone_is_a_table_as_with_one_row(open_app: Open, data: bytes) -> None:
    app = drop(open_app("data"), data)
    assert not app.error
    assert not app.exception
    assert held(app).schema.names == ("word", "stays")


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for place, (name, rows) in enumerate(sheets):
        sheet = book.active if place == 0 else book.create_sheet()
        assert sheet is not None
        sheet.title = name
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


VISITS = "city,visits\n" + "".join(f"{'Haifa' if n % 3 else 'Lod'},{n}\n" for n in range(1, 31))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("visits.csv.gz", gzip.compress(VISITS.encode())),
        ("visits.jsonl", "".join(f'{{"city": "Haifa{n % 3}", "visits": {n}}}\n' for n in range(30)).encode()),
        ("visits.xlsx", workbook(("Visits", [line.split(",") for line in VISITS.split()]))),
        ("visits", pd.read_csv(io.StringIO(VISITS)).to_parquet()),
        ("hebrew.csv", VISITS.replace("Haifa", "חיפה").replace("Lod", "לוד").encode("cp1255")),
    ],
)
def test_a_file_of_any_kind_is_read_whatever_its_name(open_app: Open, name: str, data: bytes) -> None:
    app = drop(open_app("data"), data, name=name)
    assert not app.error
    assert held(app).schema.names == ("city", "visits")
    assert "**30 rows and 2 columns.**" in text(app)


def test_the_uploader_turns_no_file_away_by_its_name(open_app: Open) -> None:
    """Streamlit's own refusal is a red mark without a sentence; what cannot be read is told from its bytes."""
    app = open_app("data")
    assert list(app.file_uploader[0].proto.type) == []
    drop(app, b"%PDF-1.7\nand so on\n%%EOF\n", name="table.pdf")
    assert "This is a PDF document, not a table" in app.error[0].value


def test_which_sheet_is_meant_is_asked_and_kept(open_app: Open) -> None:
    one, other = (
        [["city", "ill"]] + [[f"c{n}", n] for n in range(20)],
        [["name", "age"]] + [["x", n] for n in range(25)],
    )
    app = drop(open_app("data"), workbook(("First", one), ("Second", other)), name="two.xlsx")
    assert held(app).doubts == ("file:part",)
    assert "Which one do you want?" in text(app)
    choice = app.selectbox(key="own-part")
    was = held(app).reading
    assert was is not None
    choice.set_value(1).run()
    press(app, "own-part-go")
    found = held(app).reading
    assert found is not None
    assert found.report.part != was.report.part
    assert held(app).doubts == ()


def test_a_pasted_table_is_read_and_the_box_holds_nothing_afterwards(open_app: Open) -> None:
    app = open_app("data")
    app.text_area(key="own-paste-0").set_value("age\tcity\n" + "34\tHaifa\n51\tLod\n" * 6)
    press(app, "own-paste-go")
    assert held(app).schema.names == ("age", "city")
    assert held(app).name == "Pasted table"
    assert all("Haifa" not in str(app.session_state[key]) for key in app.session_state if "paste" in key)
    assert all("Haifa" not in str(area.value) for area in app.text_area)


@pytest.mark.parametrize("refused", [server_words.NO_ROOM_FOR_TEXT, server_words.TOO_MUCH_TYPED, ""])
def test_a_pasted_table_that_was_not_taken_is_said_so_and_not_called_nothing(
    refused: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate takes it out of the message that presses the button, so that the box is empty here."""
    monkeypatch.setattr(typed.Texts, "refusal", lambda *_: refused)
    app = open_app("data")
    press(app, "own-paste-go")
    told = text(app).replace("\\", "")
    assert [sentence in told for sentence in (refused, data_words.NOTHING_PASTED)] == [True, not refused]


@pytest.mark.parametrize("encoding", ["cp1255", "cp1256"])
def test_hebrew_and_arabic_encodings_can_be_chosen(open_app: Open, encoding: str) -> None:
    app = drop(open_app("data"), b"a,b\n1,2\n3,4,5\n6,7\n")  # refused, so that the choices are on the page
    assert app.error
    assert any(
        encoding in option for option in app.selectbox(key=key_of(app, "own-again-failed-", "-encoding")).options
    )


@pytest.mark.defects
def test_a_failure_of_this_program_says_so_with_a_reference(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Not "the file may be damaged"; neither the sentence nor the log holds a cell."""

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("cell 4711 of Anna")

    monkeypatch.setattr("dpcore.datasets.reading.read_table", broken)
    app = drop(open_app("data"), survey())
    (error,) = app.error
    assert "your file is not at fault" in error.value
    reference = re.search(r"reference ([0-9A-F]{8})", error.value)
    assert reference is not None
    assert reference[1] in caplog.text
    assert "4711" not in caplog.text + text(app)


def test_the_fingerprint_is_taken_beside_the_page(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than reading, so neither the first look nor a click waits for it."""
    app = drop(open_app("data"), survey())
    reading = held(app).reading
    assert reading is not None
    until = time.monotonic() + 60
    while "fingerprint" not in vars(reading) and time.monotonic() < until:
        time.sleep(0.01)
    assert "fingerprint" in vars(reading)


def test_a_refused_file_can_be_read_differently_and_the_data_before_stay(open_app: Open) -> None:
    app = look(drop(open_app("data"), survey()))
    before = shown(app).table.fingerprint
    drop(app, b"a,b\n1,2\n3,4,5\n6,7\n8,9\n", name="ragged.csv")
    assert len(app.error) == 1
    assert shown(app).table.fingerprint == before
    app.checkbox(key=key_of(app, "own-again-failed-", "-uneven")).check()
    press(app, key_of(app, "own-again-failed-", "-go"))
    assert held(app).name == "ragged.csv"
    assert held(app).reading is not None
    assert held(app).reading.rows == 3
    assert "**Set aside, line 3:**" in text(app)


def test_why_a_file_is_not_read_differently_is_said_where_it_was_asked(open_app: Open) -> None:
    app = look(drop(open_app("data"), survey()))
    before = shown(app).table.fingerprint
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    app.number_input(key="own-again-header_line").set_value(901)
    press(app, "own-again-go")
    assert [error.value for error in app.error] == [app.error[0].value] * 2
    assert "cannot start on line 901; choose a line from 1 to" in app.error[0].value
    assert shown(app).table.fingerprint == before
    app.number_input(key="own-again-header_line").set_value(3)
    press(app, "own-again-go")
    assert not app.error
    assert held(app).reading is not None


def test_two_readings_are_shown_side_by_side_only_when_it_matters(open_app: Open) -> None:
    rows = "".join(
        f"{price};0{day}/0{day + 1}/2023\n" for day, price in enumerate(["1,234", "5,678", "9,012"], start=1)
    )
    app = drop(open_app("data"), f"price;when\n{rows}".encode())
    assert held(app).doubts == ("price", "when")
    page = text(app)
    assert "1,234 reads as **1,234**" in page.replace("\\", "")
    assert "1,234 reads as **1.234**" in page.replace("\\", "")
    assert "Answer the open questions" in page
    decimals = next(button for button in app.button if button.label == "The comma marks decimals")
    decimals.click().run()
    next(button for button in app.button if button.label == "Month first").click().run()
    assert held(app).doubts == ()
    assert held(app).schema.column("price").decimal == ","
    assert held(app).schema.column("when").date_order == "mdy"
    look(app)
    assert list(shown(app).table.numbers("price")) == [1.234, 5.678, 9.012]


def test_text_from_a_file_is_never_markup(open_app: Open) -> None:
    """Headers and cells with HTML, Markdown and bidirectional marks arrive escaped wherever Markdown is read."""
    names = "<b>x</b>;**bold**;[a](http://b.c);ev\u202eil"
    data = names + "\n" + "".join(f"<i>{i % 3}</i>;$x$;![p](http://q.r);\u200b{i % 2}\n" for i in range(30))
    app = look(drop(open_app("data"), data.encode(), name="**n**.csv"))
    for kind in (app.markdown, app.caption, app.info, app.warning):
        for element in kind:
            for raw in ("<b>", "<i>", "**bold**", "[a](", "![p](", "\u202e", "\u200b", "**n**"):
                assert raw not in element.value
    for button in app.button:
        assert not re.search(r"(?<!\\)\*\*bold|<b>|\u202e", button.label)


# -- decisions, undo, replace ----------------------------------------------------------------------------------------


def test_what_if_ends_at_the_right_selection_chart(open_app: Open) -> None:
    """The headline is the exact law on the file's own counts, and every chart carries the mark."""
    app = look(drop(open_app("data"), survey()))
    assert "Charts are computed from the file's own values" in text(app)
    press(app, "own-selection-0")
    assert app.selectbox(key="data").value == OWN
    assert app.selectbox(key="column").value == "Beruf"
    law = PermuteAndFlip(epsilon=0.5, monotonic=True).probabilities(np.array(list(JOBS.values())))
    assert f"about **{round(100 * law[0])} times in 100**" in text(app)
    chart = next(one for one in app.get("plotly_chart") if one.key == "selection-epsilon")
    assert MARK in chart.proto.spec


def test_a_question_about_another_column_takes_it_along(open_app: Open) -> None:
    app = look(drop(open_app("data"), survey()))
    named = [column.name for column in shown(app).table.schema.columns if column.type != "text"]
    app.selectbox(key="own-about").set_value(1 + named.index("Größe (m)")).run()
    button = next(one for one in app.button if one.label.startswith("What is the median of Größe"))
    button.click().run()
    assert app.segmented_control(key="question").value == "quantile"
    assert app.selectbox(key="quantile_column").value == "Größe (m)"
    assert "the private median is within" in text(app)


def test_confirmation_is_asked_once_per_file(open_app: Open) -> None:
    app = look(drop(open_app("data"), survey()))
    press(app, "own-stop")
    assert tick(app).value is True
    drop(app, survey(seed=4), name="other.csv")
    assert tick(app).value is False
    assert app.session_state["_own_source"] is None


def test_every_change_of_a_column_can_be_undone(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    suggested = held(app).schema
    declare(app, "Alter", low=0.0, high=110.0)
    declare(app, "Beruf", categories="Pflege\nBüro\nVerkauf", public=True)
    assert held(app).schema.column("Alter").high == 110.0
    assert columns_said.BEYOND["options"] in text(app)
    app.selectbox(key="own-column").set_value("Alter").run()
    kind = next(box for box in app.selectbox if box.label == "Type")
    kind.set_value("category").run()
    assert held(app).schema.column("Alter").type == "category"
    for _ in range(3):
        press(app, "own-undo")
    assert held(app).schema == suggested
    assert app.button(key="own-undo").disabled


def test_bounds_that_cannot_be_get_one_sentence(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    declare(app, "Alter", low=110.0, high=0.0)
    assert "The largest possible value must be a number greater than the smallest." in text(app).replace("\\", "")
    assert held(app).schema.column("Alter").high is None


def test_several_columns_are_declared_at_once(open_app: Open) -> None:
    """A usual range, typed bounds and a public list make one change; what cannot be is named and harms nothing."""
    app = drop(open_app("data"), survey())
    before = held(app)
    assert {column.name for column in bulk.undeclared(before)} == {"Beruf", "Alter", "Größe (m)", "zufrieden"}
    app.selectbox(key="own-bulk-Alter-usual").set_value("age in years: 0 to 120")
    app.number_input(key="own-bulk-Größe (m)-low").set_value(1.0)
    app.text_input(key="own-bulk-Beruf-options").set_value("Pflege; Büro;Pflege; ;Verkauf")
    press(app, "own-bulk-go")
    schema = held(app).schema
    assert (schema.column("Alter").low, schema.column("Alter").high) == (0.0, 120.0)
    assert schema.column("Beruf").categories == ("Pflege", "Büro", "Verkauf")
    assert schema.column("Beruf").from_file, "the list was not said to be public"
    assert schema.column("Größe (m)").low is None
    assert "was not changed: both bounds are needed" in text(app).replace("\\", "")
    assert "Say that the lists are public" in text(app)
    press(app, "own-undo")
    assert held(app).schema == before.schema


@pytest.mark.parametrize(
    ("kind", "entries", "found"),
    [
        ("number", {"usual": "percent: 0 to 100"}, (0.0, 100.0)),
        ("number", {"usual": "percent: 0 to 100", "high": 50.0}, (0.0, 50.0)),
        ("number", {"usual": "no such range"}, None),
        ("number", {}, None),
        ("date", {"earliest": date(2024, 1, 1), "latest": date(2024, 12, 31)}, (date(2024, 1, 1), date(2024, 12, 31))),
    ],
)
def test_a_row_of_the_form_states_a_column(kind: Any, entries: dict[str, Any], found: Any) -> None:
    column = bulk.stated(Column(name="x", type=kind), entries, public=True)
    bounds = (
        None if column is None else (column.low, column.high) if kind == "number" else (column.earliest, column.latest)
    )
    assert bounds == found


@pytest.mark.parametrize("entries", [{"low": 1.0}, {"high": 1.0}, {"low": 2.0, "high": 1.0}, {"low": 1.0, "high": 1.0}])
def test_a_row_of_the_form_that_cannot_be_is_refused(entries: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        bulk.stated(Column(name="x", type="number"), entries, public=True)


@pytest.mark.parametrize("restricted", [True, False])
def test_no_budget_is_promised_where_nobody_opens_one(
    *, restricted: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "restricted", lambda: restricted)
    app = drop(open_app("data"), b"day,age\n1,34\n2,35\n3,61\n")
    assert ("This server is open to others without a login" in text(app)) == restricted
    assert (data_words.step(3, data_words.THEN_A_BUDGET) in text(app)) == (not restricted)


def test_all_that_is_missing_is_said_at_once(open_app: Open) -> None:
    """Each sentence goes as soon as it is answered, and together they are why nothing can be released."""
    app = drop(open_app("data"), b"day,age\n1,34\n2,35\n3,61\n")
    own = held(app)
    assert len(private_answer.lacking(own)) == 2
    assert private_answer.unreleasable(own) == " ".join(private_answer.lacking(own))
    assert "Before a private answer" in text(app)
    assert all(data_words.step(place, one) in text(app) for place, one in enumerate(private_answer.lacking(own), 1))
    assert data_words.step(3, data_words.THEN_A_BUDGET) in text(app)
    assert "on the Data page" not in data_words.step(1, private_answer.lacking(own)[0])
    declare(app, "age", low=0.0, high=110.0)
    assert len(private_answer.lacking(held(app))) == 2
    assert [box.label for box in app.number_input if box.label.startswith("Steps whose")] == [
        "Steps whose numbers one person can change, at most"
    ]
    rows = next(box for box in app.number_input if box.label.startswith("Steps whose"))
    rows.set_value(1).run()
    assert private_answer.lacking(held(app)) == (private_answer.unreleasable(held(app)),)
    assert [box.value for box in app.number_input if box.label.startswith("Steps whose")] == [1], "it can be changed"
    assert data_words.step(1, private_answer.lacking(held(app))[0]) in text(app)
    press(app, "own-right")
    assert private_answer.lacking(held(app)) == ()
    assert "Before a private answer" not in text(app)


def test_half_a_declaration_is_not_taken_for_one(open_app: Open) -> None:
    """What was typed stays in the form, so that only the other bound is missing."""
    app = drop(open_app("data"), survey())
    declare(app, "Alter", low=0.0, high=None)
    assert "Both bounds are needed, the smallest and the largest possible value" in text(app)
    assert held(app).schema.column("Alter").low is None
    assert [box.value for box in app.number_input if box.label == "Lowest possible"] == [0.0]
    declare(app, "Alter", low=0.0, high=110.0)
    assert held(app).schema.column("Alter").high == 110.0


@pytest.mark.thorough
def test_replaced_and_removed_files_can_be_brought_back(open_app: Open) -> None:
    app = look(drop(open_app("data"), survey()))
    fingerprint = shown(app).table.fingerprint
    drop(app, b"a;b\n1;2\n3;4\n5;6\n", name="other.csv")
    assert held(app).name == "other.csv"
    press(app, "own-back")
    assert held(app).name == "umfrage.csv"
    assert shown(app).table.fingerprint == fingerprint
    press(app, "own-remove")
    assert app.selectbox(key="data").value == source.FIRST_SAMPLE
    assert app.session_state["_own_source"] is None
    press(app, "own-back")
    assert held(app).name == "umfrage.csv"
    press(app, "own-remove")
    press(app, "own-forget")
    left = [name for name in app.session_state if "own" in name and app.session_state[name]]
    assert all(isinstance(app.session_state[name], int | str | frozenset) for name in left), left


def test_reading_again_keeps_what_was_declared_by_hand(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    declare(app, "Alter", low=0.0, high=110.0)
    app.get_by_key("own-tab")
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    app.checkbox(key="own-again-keep_footer").check()
    press(app, "own-again-go")
    assert held(app).reading is not None
    assert held(app).reading.rows == 127
    assert held(app).schema.column("Alter").high == 110.0


# -- steps and declarations ------------------------------------------------------------------------------------------

INNER = "ward,age\n" + "".join(f"W{n % 4},{999 if n == 7 else 20 + n}\n" for n in range(30)) + "Subtotal,40\nW1,33\n"


def test_what_a_missing_cell_counts_as_must_fit_what_is_said_beside_it(open_app: Open) -> None:
    """Together with new bounds or options, not those of before; what does not fit is one sentence."""
    app = drop(open_app("data"), INNER.encode())
    declare(app, "age", low=0.0, high=50.0, fill="40")
    declare(app, "age", low=60.0, high=90.0, fill="70")
    assert held(app).schema.column("age").fill == 70.0
    for wrong, said in (
        ("1e30", "whole number"),
        ("70.5", "whole number"),
        ("5", "between the smallest and the largest"),
    ):
        declare(app, "age", fill=wrong)
        assert said in text(app)
        assert held(app).schema.column("age").fill == 70.0
    declare(app, "age", low=0.2, high=0.8, fill="")
    assert "Bounds must leave a whole number between them" in text(app)


def test_each_step_is_a_sentence_that_is_taken_and_taken_back(open_app: Open) -> None:
    """The rows of a total and a stand-in for missing: nothing is done unasked, and what was declared by hand stays."""
    app = drop(open_app("data"), INNER.encode())
    assert "Rows whose “ward” says total or subtotal are left out." in text(app).replace("\\", "")
    assert held(app).steps == ()
    read = held(app).reading
    assert read is not None
    press(app, "own-step-0")
    declare(app, "ward", categories="W0\nW1\nW2\nW3", public=True)
    press(app, "own-step-0")
    assert [type(step).__name__ for step in held(app).steps] == ["LeaveOutTotals", "ReadAsMissing"]
    after = held(app).reading
    assert after is not None
    assert after.rows == read.rows - 1
    assert after.column("age").missing == 1
    assert held(app).schema.column("ward").categories == ("W0", "W1", "W2", "W3")
    assert held(app).as_read is read
    look(app)
    assert shown(app).table.frame["age"].isna().sum() == 1
    press(app, "own-step-back-0")
    assert held(app).use == "what_if"
    assert shown(app).table.rows == read.rows
    press(app, "own-step-back-0")
    assert held(app).reading is read


def test_months_as_rows_ask_anew_how_many_one_person_has(open_app: Open) -> None:
    wide = "ward,Jan 2024,Feb 2024,Mar 2024\n" + "".join(f"W{n},{n},{n + 3},{n * 2}\n" for n in range(12))
    app = drop(open_app("data"), wide.encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    press(app, "own-step-0")
    assert held(app).schema.names == ("ward", "month", "value")
    assert not held(app).decisions.said_rows
    app.number_input(key="own-rows-None").set_value(2).run()
    assert held(app).schema.rows_per_person == 6, "each of the 2 rows in the file has become 3"
    assert app.number_input(key="own-rows-2").value == 2
    press(app, "own-step-back-0")
    assert not held(app).decisions.said_rows


def test_several_options_in_a_cell_are_released_only_where_they_were_stated(open_app: Open) -> None:
    cells = ["Gym;Tea", "Gym", "Home office", "Tea;Gym", "Home office;Gym", "Tea"] * 6
    data = ("k,x\n" + "".join(f"{'ab'[n % 2]},{cell}\n" for n, cell in enumerate(cells))).encode()
    app = drop(open_app("data"), data)
    app.segmented_control(key=key_of(app, "own-step-", "-sign")).set_value(";")
    press(app, key_of(app, "own-step-", "-go"))
    read = [column for column in held(app).schema.columns if column.name.startswith("x: ")]
    assert len(read) == 3
    assert not any(column.releasable for column in read)
    declare(app, "x: Gym", yes="yes, ticked")
    assert not held(app).schema.column("x: Gym").releasable, "saving its words does not make its name anybody's"
    press(app, "own-step-back-0")
    app.segmented_control(key=key_of(app, "own-step-", "-sign")).set_value(";")
    app.text_area(key=key_of(app, "own-step-", "-options")).set_value("Gym\nTea\nPool")
    app.number_input(key=key_of(app, "own-step-", "-most")).set_value(2)
    press(app, key_of(app, "own-step-", "-go"))
    stated = [column for column in held(app).schema.columns if column.name.startswith("x: ")]
    assert [column.name for column in stated] == ["x: Gym", "x: Tea", "x: Pool"]
    assert all(column.releasable for column in stated)


def test_a_declaration_is_known_again_and_used_for_next_month(open_app: Open) -> None:
    """By the file it was saved as, or by the table before it in this session; nothing is declared unasked."""
    app = drop(open_app("data"), INNER.encode(), name="january.csv")
    declare(app, "age", low=0.0, high=120.0)
    app.selectbox(key="own-id-2-None").set_value(0).run()
    app.number_input(key="own-rows-None").set_value(40).run()
    press(app, "own-step-0")
    kept = saved(template.template(held(app)))
    drop(app, INNER.replace("age", "AGE").encode(), name="february.csv")
    assert "You declared such a table before." in text(app)
    assert held(app).schema.column("AGE").high is None
    press(app, "own-declaration-known-0")
    assert held(app).schema.column("AGE").high == 120.0
    assert held(app).schema.id_column is None
    assert not held(app).decisions.said_rows, "this table may be of other rows"
    assert not held(app).decisions.said_row
    assert len(held(app).steps) == 1
    other = drop(open_app("data"), INNER.encode())
    assert held(other).known == ()
    place = next(at for at, one in enumerate(other.file_uploader) if str(one.key).startswith("own-declaration"))
    drop(other, kept.encode(), name="declaration.json", place=place)
    assert held(other).schema.column("age").high == 120.0
    place = next(at for at, one in enumerate(other.file_uploader) if str(one.key).startswith("own-declaration"))
    drop(other, b"{}", name="other.json", place=place)
    assert "does not say that it is one" in text(other)
    assert held(other).schema.column("age").high == 120.0


def test_a_declaration_too_long_to_be_told_whole_is_not_offered(open_app: Open) -> None:
    """Each run of the page sent nine megabytes of one, and to offer it in part could show two that look the same."""
    column = Column(name="n", type="integer", low=0, high=9)
    for letters, offered in ((1000, True), (declarations.MOST_TOLD, False)):
        step = OneRowPer(by="n", missing_words=("q" * letters,))
        app = drop(open_app("data"), b"n,m\n1,2\n2,3\n3,4\n")
        source_of = app.session_state["_own_file"]
        known = Template(schema=Schema(columns=(column,)), steps=(step,))
        app.session_state["_own_file"] = replace(source_of, known=(known,))
        app.run()
        assert ("own-declaration-known-0" in [str(one.key) for one in app.button]) == offered
        assert (data_words.KNOWN_TOO_LONG in text(app)) != offered
        assert ("q" * 900 in text(app)) == offered


def test_what_leads_looks_for_doubts_once(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each column, of five hundred that can be read two ways: 45 s of work that nobody could cancel."""
    own = held(drop(open_app("data"), b"n,m,k\n1,2,3\n2,3,4\n3,4,5\n"))
    asked: list[int] = []
    doubts = own_file.OwnFile.doubts.fget
    assert doubts is not None
    monkeypatch.setattr(own_file.OwnFile, "doubts", property(lambda self: asked.append(1) or doubts(self)))
    assert own.columns.leading.names == ("n", "m", "k")
    assert len(asked) == 1


def test_no_two_declarations_from_before_look_the_same(open_app: Open) -> None:
    """One row may decide which of them can be done to the table: what is offered then has other words."""
    column = Column(name="n", type="integer", low=0, high=9)
    months = [MonthsToRows(columns=("a", middle, "b"), time="t", value="e") for middle in ("full", "empty")]
    options = [SplitOptions(column="x", options=one) for one in ((), ("y",), ("y", "z"))]
    people = [OneRowPer(by="who", missing_words=one) for one in (MISSING_WORDS, (*MISSING_WORDS, "anon"), ())]
    long = [LeaveOutTotals(column="x" * 450 + end) for end in "ab"]
    ways = [(step,) for step in (*months, *options, *people, *long)]
    looks = set()
    for steps in ways:
        app = drop(open_app("data"), b"n,m\n1,2\n2,3\n3,4\n")
        least = rows_made(steps, "record")
        known = Template(schema=Schema(columns=(column,), rows_per_person=least), steps=steps)
        app.session_state["_own_file"] = replace(held(app), known=(known,))
        looks.add(text(app.run()))
    assert len(looks) == len(ways)


def test_a_table_is_described_by_a_saved_declaration_alone(open_app: Open) -> None:
    schema = Schema(columns=(Column(name="smokes", type="yes/no"), Column(name="age", type="integer", low=0, high=99)))
    app = open_app("data")
    app.segmented_control(key="from").set_value("described").run()
    place = next(at for at, one in enumerate(app.file_uploader) if str(one.key).startswith("own-declaration"))
    drop(app, saved(Template(schema=schema)).encode(), name="declaration.json", place=place)
    assert held(app).described
    assert held(app).schema == schema
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    assert shown(app).table.rows == 500


# -- twins -----------------------------------------------------------------------------------------------------------


class Untouchable:
    """Stands for the frame of a file: any touch fails the test."""

    def __getattribute__(self, name: str) -> Any:
        pytest.fail(f"the file's values were touched ({name})")

    def __getitem__(self, name: object) -> Any:
        pytest.fail("the file's values were touched")


def test_a_twin_is_made_and_shown_without_touching_the_file(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    declare(app, "Alter", low=0.0, high=110.0)
    declare(app, "Beruf", categories="Büro\nPflege\nVerkauf", public=True)
    declare(app, "zufrieden", binary=True)
    app.selectbox(key="own-column").set_value(None).run()  # its account of cells reads the file
    reading = held(app).reading
    assert reading is not None
    object.__setattr__(reading, "frame", Untouchable())
    press(app, "own-twin-open")
    app.number_input(key="own-twin-rows").set_value(400)
    app.selectbox(key="own-twin-target").set_value("zufrieden")
    app.number_input(key="own-twin-share").set_value(30.0)
    app.selectbox(key="own-twin-driver").set_value("Alter")
    press(app, "own-twin-go")
    table = shown(app).table
    assert shown(app).mode == "twin"
    assert table.rows == 400
    assert set(table.schema.names) == {"Alter", "Beruf", "zufrieden"}
    assert table.counts("zufrieden")[1] == pytest.approx(120, abs=2)
    assert "No value of the file was used for them." in text(app)
    assert "“Alter”" in text(app)
    assert "was told from the file's cells" in text(app)
    own = held(app)
    right = replace(own, decisions=own.confirm(own.columns.suggested))
    assert use._none_read(right) == f"No value of the file was used for them. {columns_said.AS_STATED}"
    press(app, "own-selection-0")
    assert "among 400 made-up people" in text(app)
    assert any(TWIN_MARK in chart.proto.spec for chart in app.get("plotly_chart"))


def test_options_taken_over_from_the_file_are_named(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    declare(app, "zufrieden", binary=True)
    declare(app, "Beruf", copied=True)
    assert held(app).columns.declared is not None
    assert "Beruf" not in held(app).columns.declared.names, "copied words serve charts only until called public"
    declare(app, "Beruf", public=True)
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    assert "the options of “Beruf” are the list you copied from it" in text(app)


def test_a_table_can_be_described_without_any_file(open_app: Open) -> None:
    app = open_app("data")
    app.segmented_control(key="from").set_value("described").run()
    for number, (name, kind) in enumerate([("smokes", "yes/no"), ("age", "integer")]):
        app.text_input(key=f"own-new-name-{number}").set_value(name)
        app.selectbox(key=f"own-new-type-{number}").set_value(kind)
        press(app, "own-describe-go")
    declare(app, "age", low=18.0, high=90.0)
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    assert shown(app).table.rows == 500
    assert shown(app).lineage is None
    assert shown(app).obstacle("smokes") == (
        "These rows are simulated, so there is nobody to protect. Load a file to make a release."
    )
    press(app, "own-selection-0")
    assert "among 500 made-up people" in text(app)


# -- releases --------------------------------------------------------------------------------------------------------


def test_a_release_uses_nothing_that_was_read_from_the_file(open_app: Open) -> None:
    """Without declared options, or without the rows per person, there is a sentence and no table to release from."""
    app = look(drop(open_app("data"), survey()))
    assert shown(app).declared is None
    assert shown(app).rows is None
    assert "open questions about this file" in str(shown(app).obstacle("Beruf")), "lines at its foot were left out"
    press(app, "own-keep_footer-0")
    assert shown(app) is None, "read anew: where the foot begins had been a guess"
    look(app)
    assert "how many rows one person can have" in str(shown(app).obstacle("Beruf"))
    app.number_input(key="own-rows-None").set_value(1).run()
    assert shown(app).rows is None
    assert "Say on the Data page what a column can hold" in str(shown(app).obstacle("zufrieden")), (
        "its looks declare nothing"
    )
    declare(app, "zufrieden", binary=True)
    press(app, "own-right")
    assert shown(app).rows is not None
    assert "what “Beruf” can hold" in str(shown(app).obstacle("Beruf"))
    declare(app, "Beruf", categories="Büro\nPflege\nVerkauf\nHandwerk\nStraßenbau\nKunst", public=True)
    assert "the types" in str(shown(app).obstacle("Beruf")), "what was called right was not about this column"
    press(app, "own-right")
    assert shown(app).obstacle("Beruf") is None
    declared = shown(app).declared
    assert declared is not None
    assert [column.name for column in declared.columns] == ["Beruf", "zufrieden"]
    assert declared.column("Beruf").categories[-1] == "Kunst"
    assert not any(column.from_file for column in declared.columns)


def release_most_common(app: AppTest) -> str:
    """Open the file's budget and make one private release on the Selection page; the answer."""
    app.switch_page("questions/selection/page.py").run()
    app.session_state["selection_tab"] = "A private answer"
    app.run()
    app.text_input(key=about(app, "budget-name")).set_value("People of the survey").run()
    next(one for one in app.button if one.label == "Review this budget").click().run()
    press(app, "budget-open")
    press(app, "selection-begin")
    press(app, "selection-confirm")
    found = re.search(r"Most common: (\w+)", text(app))
    assert found is not None, text(app)
    return found[1]


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["what_if", "twin"])
def test_a_private_answer_comes_from_the_file_in_both_modes(open_app: Open, mode: str, ledger_file: Any) -> None:
    """One option leads by 60 of 100 rows; the twin's first option is another one, so a wrong source would show."""
    rows = "".join(f"{number};{'blue' if number % 5 else 'red'}\n" for number in range(1, 501))
    app = drop(open_app("data"), f"nr;colour\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="green\nred\nblue", public=True)
    if mode == "what_if":
        look(app)
    else:
        press(app, "own-right")
        press(app, "own-twin-open")
        press(app, "own-twin-go")
        assert int(np.argmax(shown(app).table.counts("colour"))) == 0
    assert release_most_common(app) == "blue"
    ledger = Ledger.open(f"sqlite:///{ledger_file}")
    receipts = ledger.history(str(held(app).lineage))
    assert len(receipts) == 1
    assert receipts[0].cost.epsilon == 0.5
    known = ledger.similar(held(app).reading.fingerprint, among=[held(app).lineage])
    assert [one.lineage for one in known] == [held(app).lineage], "linked when the budget was opened"


def test_a_table_of_options_is_asked_about_and_released(open_app: Open) -> None:
    """Rows that are options with a score: what one person can move is asked; the smallest score may be the best."""
    rows = "".join(f"Evening {number};{score}\n" for number, score in enumerate([90, 80, 2, 70, 60, 85], start=1))
    app = drop(open_app("data"), f"evening;conflicts\n{rows}".encode())
    app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value("option").run()
    declare(app, "conflicts", low=0.0, high=100.0, better="lower")
    look(app)
    declared = shown(app).declared
    assert declared is not None
    assert entry_sensitivity(declared.column("conflicts")) == 100.0, "the whole declared range"
    declare(app, "conflicts", sensitivity=1.0)
    press(app, "own-selection-0")
    assert app.selectbox(key="column").value == "conflicts"
    assert "has the lowest" in text(app)
    assert shown(app).obstacle("conflicts") is None
    declared = shown(app).declared
    assert declared is not None
    assert [column.name for column in declared.columns] == ["evening", "conflicts"]
    assert entry_sensitivity(declared.column("conflicts")) == 1.0


def test_a_column_that_counts_people_says_how_often(open_app: Open) -> None:
    """Declared, it moves one way; until it is said how often a person is counted, the whole range counts."""
    rows = "".join(f"Evening {number};{score}\n" for number, score in enumerate([90, 80, 2, 70, 60, 85], start=1))
    app = drop(open_app("data"), f"evening;guests\n{rows}".encode())
    app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value("option").run()
    declare(app, "guests", low=0.0, high=100.0)
    press(app, "own-right")
    declare(app, "guests", counts=True)
    assert held(app).schema.column("guests").counts
    assert private_answer.unreleasable(held(app)) == ""
    assert not any(str(field.key).startswith("own-rows-") for field in app.number_input), "nobody has a row of options"
    for moves, reckoned in ((None, 100.0), (3.0, 3.0)):
        declare(app, "guests", sensitivity=moves)
        declared = held(app).columns.declared
        assert declared is not None
        assert entry_sensitivity(declared.column("guests")) == reckoned
    declare(app, "guests", counts=False)
    assert not held(app).schema.column("guests").counts


def test_who_may_bring_no_files_any_more_holds_none(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody whose role was taken away went on to explore the file that they had brought before."""
    app = look(drop(open_app("data"), survey()))
    assert "umfrage" in text(app)

    def closed() -> frozenset[Role]:
        raise LedgerError("The ledger is closed.")

    monkeypatch.setattr(compute, "_roles", closed)
    assert held(app.run()), "what cannot be asked takes nothing away"
    monkeypatch.setattr(compute, "_roles", lambda: frozenset({"viewer"}))
    app.run()
    assert not app.exception
    assert "_own_file" not in app.session_state or held(app) is None
    assert "umfrage" not in text(app)


def test_people_and_whose_row_it_is_are_declared(open_app: Open) -> None:
    """The column of persons comes along to a private answer as text, and goes when rows are no records."""
    rows = "".join(f"{number % 40};{'blue' if number % 5 else 'red'}\n" for number in range(1, 201))
    app = drop(open_app("data"), f"customer;colour\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(2).run()
    assert "your promise" in text(app)
    declare(app, "colour", categories="green\nred\nblue", public=True)
    app.selectbox(key="own-id-2-None").set_value(0).run()
    app.number_input(key="own-people-None").set_value(50).run()
    assert held(app).schema.people == 50
    assert "Enforced: at most 2 rows of each “customer”" in text(app)
    declared = held(app).columns.declared
    assert declared is not None
    declaration = Declaration.of(declared)
    assert (declaration.id_column, declaration.people) == ("customer", 50)
    reads = declaration.reads("colour")
    assert reads.person is not None
    asked = [button.label for button in app.button if "one row per" not in button.label]
    assert not any("customer" in label for label in asked), "nobody asks for the median of a number"
    assert not any(button.label.endswith("??") for button in app.button)
    assert reads.person.type == "text"
    app.get_by_key("own-each-row-record").set_value("step").run()
    assert held(app).schema.id_column is None
    press(app, "own-undo")
    assert held(app).schema.id_column == "customer"
    look(app)
    assert shown(app).declared is not None


def test_words_taken_over_from_the_file_stay_named_and_alphabetical(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    declare(app, "Beruf", copied=True)
    declare(app, "Beruf", public=True)
    column = held(app).schema.column("Beruf")
    assert column.releasable
    assert column.words_from_file
    assert list(column.categories) == sorted(JOBS)
    declare(app, "Beruf", categories="")
    declare(app, "Beruf", categories="Pflege\nBüro", public=True)
    assert not held(app).schema.column("Beruf").words_from_file, "a list of one's own is the person's"


def test_several_rows_per_person_need_more_epsilon_in_the_charts_too(open_app: Open) -> None:
    app = drop(open_app("data"), survey())
    app.number_input(key="own-rows-None").set_value(3).run()
    press(look(app), "own-selection-0")
    law = PermuteAndFlip(epsilon=0.5, sensitivity=3.0, monotonic=True).probabilities(np.array(list(JOBS.values())))
    assert f"**{words.times_in_100(law[0])}**" in text(app)


@pytest.mark.parametrize("how", ["own-each-row", "own-row", "own-unit", "own-unit-day"])
def test_how_many_rows_one_has_is_asked_anew_of_other_rows_and_of_others(open_app: Open, how: str) -> None:
    """What was said of one thing stood on receipts as what was said of another; by every way a row becomes another."""
    rows = "".join(f"2024-01-{number:02};{number % 7}\n" for number in range(1, 29))
    app = drop(open_app("data"), f"day;visits\n{rows}".encode())
    each_row = held(app).schema.each_row
    other = "record" if each_row == "step" else "step"
    app.number_input(key="own-rows-None").set_value(1).run()
    assert held(app).decisions.said_rows
    if how == "own-each-row":
        app.get_by_key(f"own-each-row-{each_row}").set_value(each_row).run()
        assert held(app).decisions.said_rows, "the same as before"
        app.get_by_key(f"own-each-row-{each_row}").set_value(other).run()
    elif how == "own-row":
        press(app, f"own-row-{other}")
    elif how == "own-unit":
        app.get_by_key("own-unit-person").set_value("household").run()
    else:
        press(app, how)
    assert not held(app).decisions.said_rows
    asked = private_answer.say_rows(held(app))
    assert asked in private_answer.lacking(held(app))


@pytest.mark.thorough
def test_the_same_people_are_recognised_in_another_file(open_app: Open, ledger_file: Any) -> None:
    """Whether it is the very same file or a changed one, the page asks, and chooses nothing; others take a reason."""
    app = look(drop(open_app("data"), survey()))
    own = held(app)
    ledger = Ledger.open(f"sqlite:///{ledger_file}")
    ledger.open_budget(str(own.lineage), epsilon=1.0, name="Survey of the town")
    assert own.reading is not None
    ledger.link(own.reading.fingerprint, str(own.lineage), own.marks(ledger.sketch_key))
    lines = survey().decode("cp1252").split("\r\n")
    again = "\r\n".join([*lines[:3], *reversed(lines[3:129]), *lines[129:]]).encode("cp1252")
    said = []
    for name, data in (("again.csv", again), ("more.csv", survey(extra=("127;Pflege;33;1,62;ja",)))):
        drop(app, data, name=name)
        assert [one.name for one in held(app).alike] == ["Survey of the town"]
        assert held(app).lineage != own.lineage
        said.append("looks like one about people who have a budget already" in text(app))
        assert app.radio(key=about(app, "own-whose")).value is None
        assert app.button(key=about(app, "own-whose-keep")).disabled
        assert (
            "people of an earlier file" in private_answer.unreleasable(held(app)) or not held(app).decisions.said_rows
        )
    assert said == [True, True]
    app.radio(key=about(app, "own-whose")).set_value("others").run()
    press(app, "own-whose-keep")
    assert "Say in a sentence why these are other people" in text(app)
    assert ledger.statements() == []
    app.radio(key=about(app, "own-whose")).set_value("others").run()
    app.text_area(key=about(app, "own-why")).set_value("These were asked in another town.").run()
    press(app, "own-whose-keep")
    (statement,) = ledger.statements(held(app).lineage)
    assert (statement.than, statement.because) == (own.lineage, "These were asked in another town.")
    assert held(app).alike == ()
    drop(app, again, name="again.csv")
    app.radio(key=about(app, "own-whose")).set_value(own.lineage).run()
    press(app, "own-whose-keep")
    assert held(app).lineage == own.lineage
    assert "These are the people of “Survey of the town”" in text(app)
    drop(app, survey(seed=99), name="others.csv")
    assert held(app).alike == ()
    assert held(app).lineage != own.lineage


@pytest.mark.parametrize("widget", ["own-group-name", "own-whose"])
def test_only_people_who_were_offered_are_taken(
    open_app: Open, ledger_file: Path, widget: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message may hold any text as a choice: no practice budget and no room becomes a file's people."""
    app = drop(open_app("data"), survey())
    own = held(app)
    ledger = Ledger.open(f"sqlite:///{ledger_file}")
    ledger.open_budget("people-1", epsilon=1.0, name="Patients")
    practice = ledger.open_practice("0" * 32, "clinic", epsilon=10.0, delta=1e-6).lineage
    linked: list[str] = []
    monkeypatch.setattr(Ledger, "join", lambda self, file, lineage: linked.append(lineage))
    monkeypatch.setattr(people.source, "own_file", lambda: own)
    monkeypatch.setattr(people.source, "keep", lambda own: None)
    told: list[str] = []
    monkeypatch.setattr(people.session, "say", lambda slot, sentence: told.append(sentence))
    for chosen in (practice, "practice:clinic:x", "room:1", "configured:", "nobody", "people-1"):
        monkeypatch.setattr(people.session, "entered", lambda key, default, chosen=chosen: chosen)
        if widget == "own-whose":
            people._join(chosen)  # its button is given what is chosen when it is drawn
        else:
            people._join_chosen()
    assert linked == ["people-1"]
    assert told == ["Choose one of the groups that are offered; nothing was changed."] * 5


# -- privacy between sessions ----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_sessions_never_see_each_others_file(open_app: Open) -> None:
    """Same name, same size, same columns: each session has its own file, table and cached results."""
    one, other = open_app("data"), open_app("data")
    drop(one, survey(seed=1))
    changed = survey(seed=1).replace(b";Pflege;", b";Verkauf;", 30)
    assert "_own_file" not in other.session_state or other.session_state["_own_file"] is None
    drop(other, changed)
    look(one)
    look(other)
    assert shown(one).table.fingerprint != shown(other).table.fingerprint
    assert shown(one).key != shown(other).key
    press(one, "own-selection-0")
    press(other, "own-selection-0")
    assert "private answer names" in text(one)
    assert text(one) != text(other)
    for app, counts in ((one, [40, 34, 25, 18, 9]), (other, [10, 34, 55, 18, 9])):
        law = PermuteAndFlip(epsilon=0.5, monotonic=True).probabilities(np.array(counts))
        assert f"**{words.times_in_100(law[np.argmax(counts)])}**" in text(app)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("own", "a file of your own is forgotten"),
        ("Your own data", "a file of your own is forgotten"),
        ("Ships of 1740", "names data that are not here"),
    ],
)
def test_a_link_to_data_that_are_not_here_says_so_until_others_are_chosen(
    open_app: Open, named: str, said: str
) -> None:
    """So nobody takes the sample for the file that was there before the page was loaded anew."""
    app = open_app("selection", data=named)
    assert [said in warning.value for warning in app.warning] == [True], "in one sentence, and no other besides"
    app.number_input(key="epsilon-typed").set_value(0.7).run()
    assert said in text(app), "it stays as long as the sample does"
    app.selectbox(key="data").set_value("breast_cancer").run()
    assert "You see a sample" not in text(app)
    app.selectbox(key="data").set_value(source.FIRST_SAMPLE).run()
    assert "You see a sample" not in text(app)


def test_a_file_that_is_brought_again_ends_the_word_about_it(open_app: Open) -> None:
    app = drop(open_app("data", data="Your own data"), survey())
    assert "You see a sample" not in text(app)
    assert "You see a sample" not in text(open_app("data", data=source.title(source.FIRST_SAMPLE)))
    assert "You see a sample" not in text(open_app("data"))


@pytest.mark.thorough
def test_one_row_neighbours_never_share_a_cached_result(open_app: Open) -> None:
    """1,000 files of 10⁶ rows that differ in one row each: their cache keys differ, so no result is another's.

    The keys are those of ``read_csv`` (bytes and choices), taken without parsing, which would take hours.
    """
    from dpcore.datasets.reading.reader import Choices, _key

    rng = np.random.default_rng(1)
    base = bytearray(b"c\n" + b"".join(b"%c\n" % letter for letter in rng.integers(97, 101, 1000)) * 1000)
    seen: dict[str, int] = {}
    for neighbour in range(1000):
        place = 2 + 2 * int(rng.integers(10**6))
        kept, base[place] = base[place], 101 + neighbour % 20
        key = _key(bytes(base), Choices())
        base[place] = kept
        digest = (place, 101 + neighbour % 20)
        assert seen.setdefault(key, hash(digest)) == hash(digest)
        wrong = compute.MEMORY(("neighbour", key), lambda digest=digest: digest)
        assert wrong == digest
    assert len(seen) >= 999


def test_typed_tables_of_different_declarations_have_different_fingerprints() -> None:
    """What a person declares changes the table, so it changes the key of everything computed from it."""
    reading = read_csv(survey())
    typed = typed_columns.TypedColumns(reading=reading)
    suggested = reading.suggested()
    other = typed_as(suggested, "Alter", "category")
    assert typed.table(suggested, complete=True).fingerprint != typed.table(other, complete=True).fingerprint
    assert typed.table(suggested, complete=True).fingerprint == typed.table(suggested, complete=True).fingerprint
    whole = reading.table(typed.table(suggested, complete=True).schema)
    pd.testing.assert_frame_equal(typed.table(suggested, complete=True).frame, whole.frame)
    assert typed.table(suggested, complete=True).fingerprint == whole.fingerprint


def test_a_task_reports_progress_and_stops_when_cancelled() -> None:
    """The work stops at its next step; what it would have given is dropped without a sentence."""

    def work(say: Callable[[float, str], None]) -> str:
        for step in range(10**6):
            say(step / 10**6, "Counting")
        return "done"

    task = Task(work, "Counting")
    task.cancel()
    assert task.wait(10)
    assert task.result is None
    assert task.problem == ""


@pytest.mark.defects
def test_what_goes_wrong_inside_never_carries_values() -> None:
    def work(say: Callable[[float, str], None]) -> str:
        raise RuntimeError("cell 4711 of Anna")

    task = Task(work, "Reading")
    assert task.wait(10)
    assert task.problem is not None
    assert "4711" not in task.problem


def test_an_upload_that_the_browser_reports_twice_is_heard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second report finds a file that is gone; nothing is read and nothing breaks."""
    gone = DeletedFile("an id")
    monkeypatch.setattr(arrivals.session, "entered", lambda key, default: gone)
    monkeypatch.setattr(arrivals, "read", lambda *_, **__: pytest.fail("a file that is gone was read"))
    arrivals.receive("own-upload-0")


def test_a_file_that_was_never_brought_is_no_logo_and_no_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message may name one; it is as if nothing had been brought."""
    kept, said = list[object](), list[str]()
    monkeypatch.setattr(session, "entered", lambda key, default: DeletedFile("an id"))
    monkeypatch.setattr(session, "say", lambda name, sentence: said.append(sentence))
    monkeypatch.setattr(panel.held, "LOGO", SimpleNamespace(put=kept.append))
    monkeypatch.setattr(receipts, "FOUND_RECEIPT", SimpleNamespace(put=lambda found: None))
    panel._brought("place")
    receipts._check_file()
    assert (kept, said) == ([None], [report_words.NO_FILE_YET])


def test_the_name_of_a_file_is_not_in_the_link() -> None:
    """Formatted choices show in the link, so the choice has a name that tells nothing."""
    assert source.title(OWN) == "Your own data"
    assert hashlib.sha256(source.title(OWN).encode()).hexdigest()


def test_what_is_ready_is_taken_over_before_a_page_is_drawn(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the midst of it widgets that are drawn by then would hold nothing any more."""
    taken: list[None] = []
    asked: list[None] = []
    current, collect = source.current, source.collect
    monkeypatch.setattr(source, "collect", lambda: taken.append(None) or collect())
    monkeypatch.setattr(source, "current", lambda: asked.append(None) or current())
    open_app("budget").run()
    assert len(asked) > 4
    assert len(taken) == 2, "once in each of two runs"


def test_before_a_file_it_says_what_is_in_use_and_what_will_be_stated(open_app: Open) -> None:
    told = text(open_app("data"))
    assert data_words.in_use("Town clinic, 316 people (simulated)") in told
    assert "Before a private answer you state" in told
    assert "where it is untrue the promise does not hold" in told
