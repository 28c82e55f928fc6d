"""A source that the people who run the server have listed: chosen, shown by made-up rows, counted for a private answer
alone, at one budget that nobody at the page can set."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import __main__ as command
from dashboard import offering
from dashboard.case import Case, Source
from dashboard.catalogue import address, every
from dashboard.controls import Setting
from dashboard.data import configured
from dashboard.data.decisions import typed_as
from dashboard.data.own_file import OwnFile
from dashboard.data.place import placed
from dashboard.people import visitors
from dashboard.question import CannotAsk, NoOffer, Offer
from dashboard.words import place as said
from dashboard.words import release as release_said
from dashboard.words.release import Whence
from dpcore.datasets import Declaration, twin
from dpcore.datasets.importing import import_csv
from dpcore.datasets.in_place import ConfiguredSource, InPlace, PrivateSource, configured_sources
from dpcore.datasets.in_place.rows_apart import HANGS_TOGETHER
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.ledger import Ledger
from dpcore.releases.asked import form_stated
from dpcore.releases.scaled_model import ScaledModel
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import drop, held, press, waited
from tests.dashboard.test_two_windows import ROWS, ready, release, table

Open = Callable[..., AppTest]
LINEAGE = "configured:clinic"


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "clinic.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "CREATE TABLE visits "
            "(visit INTEGER PRIMARY KEY, patient TEXT, ward TEXT, day DATE, ill BOOLEAN, age INTEGER, wait INTEGER)"
        )
        rows = [
            (n, f"p{n // 2}", "canary" if n < 5 else "South", "2024-01-03", n % 2, n % 90, n % 7) for n in range(400)
        ]
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    listed = tmp_path / "sources.toml"
    listed.write_text(
        f'[clinic]\nlabel = "North clinic"\naddress = "sqlite:///{file}"\nepsilon = 2.0\nunit = "patient"\n'
        'rows_per_person = 2\nid_column = "patient"\n'
    )
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(listed))
    return file


def click(app: AppTest, label: str) -> AppTest:
    next(one for one in app.button if one.label.replace("\\", "").strip() == label).click().run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def test_a_source_that_takes_several_texts_for_one_person_is_not_begun(clinic: Path) -> None:
    """Before its budget is opened; a view that names each in one way is."""
    with closing(sqlite3.connect(clinic)) as connection, connection:
        connection.execute("CREATE TABLE loose (patient TEXT COLLATE NOCASE, ward TEXT)")
        connection.execute("CREATE VIEW strict AS SELECT lower(patient) AS patient, ward FROM loose")
    (found,) = configured_sources()
    with pytest.raises(UnreadableFile) as refused:
        placed(found, "loose")
    assert str(refused.value) == said.SEVERAL_FOR_ONE
    assert placed(found, "strict").schema.id_column == "patient"


def test_a_page_and_its_answers_say_that_rows_of_a_view_are_stated_to_be_there_one_by_one(
    clinic: Path, open_app: Open
) -> None:
    with closing(sqlite3.connect(clinic)) as connection, connection:
        connection.execute("CREATE TABLE wards (ward TEXT PRIMARY KEY, name TEXT)")
        connection.execute("CREATE VIEW named AS SELECT v.*, w.name FROM visits v JOIN wards w ON w.ward = v.ward")
    listed = clinic.with_name("sources.toml")
    listed.write_text(listed.read_text() + 'tables = ["named"]\n')
    app = open_app("data", **{"from": "source"})
    click(app, said.USE)
    assert HANGS_TOGETHER[:-1] in text(app)
    listed.write_text(listed.read_text() + 'row_by_row = ["named"]\n')
    click(app, said.USE)
    own = held(app)
    assert (own.form.said_in_answers, said.ROW_BY_ROW in text(app)) == (("row by row",), True)


@pytest.mark.parametrize("lines_in_cells", [False, True])
def test_answers_say_that_cells_of_a_folder_run_over_lines(
    lines_in_cells: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner stated it of the files that it was made of: then one row could take others along."""
    file, listed = tmp_path / "a.csv", tmp_path / "sources.toml"
    file.write_text("ward,ill\n" + "South,yes\n" * 50)
    import_csv([file], tmp_path / "made", types={"ill": "yes/no", "ward": "text"}, lines_in_cells=lines_in_cells)
    listed.write_text(f'[wards]\nfolder = "{tmp_path / "made"}"\nepsilon = 1.0\nrows_per_person = 1\n')
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(listed))
    (source,) = configured_sources()
    own = placed(source, "")
    assert own.form.said_in_answers == (("lines in cells",) if lines_in_cells else ())
    told = form_stated(Declaration.of(own.schema, form=own.form.said_in_answers).reads("ward"))
    assert [("run over several lines" in one) for one in told] == ([True] if lines_in_cells else [])


def test_from_the_list_to_a_private_answer(
    clinic: Path, open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Any] = []
    sizes = InPlace.sizes
    monkeypatch.setattr(InPlace, "sizes", lambda *given: counted.append(given) or sizes(*given))
    monkeypatch.setattr(InPlace, "preview", None)
    app = open_app("data", **{"from": "source"})
    click(app, said.USE)
    own = held(app)
    assert (own.name, own.lineage, own.schema.unit, own.schema.rows_per_person) == (
        *("North clinic, visits", LINEAGE, "patient"),
        2,
    )
    assert {column.name: column.type for column in own.schema.columns} == {
        **{"visit": "text", "patient": "text", "ward": "category"},
        **{"day": "date", "ill": "yes/no", "age": "integer", "wait": "integer"},
    }
    assert said.whose("patient", 2, "patient") in text(app)
    fields = [*app.text_input, *app.number_input, *app.selectbox, *app.checkbox]
    assert not any(str(one.key).startswith(("own-unit", "own-rows", "own-id", "own-public")) for one in fields)
    click(app, "Which ward is most common?")
    next(field for field in app.text_area if "Options of ward" in field.label).set_value("North\nSouth")
    click(app, "Show the chart of made-up rows")
    waited(app)
    app.switch_page(address("selection")).run()
    assert "North clinic, visits" in app.selectbox(key="data").options
    assert "Twin: simulated rows, not the source's" in text(app)
    assert not any(word in text(app) for word in ("Your own data", "the file's", "your file"))
    assert "North" not in str(app.query_params)
    assert app.selectbox(key="column").value == "ward"
    next(one for one in app.button if str(one.key).startswith("selection-now")).click().run()
    assert not counted  # nothing of the source was counted before the answer
    assert "canary" not in text(app)
    app.button(key="selection-confirm").click().run()
    assert "South" in text(app)
    assert [stored.empty for stored, *_ in counted] == [True, False]  # of no row before the charge, then once
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (receipt,) = ledger.history(LINEAGE)
        found = ledger.budget(LINEAGE)
    assert receipt.answer == {"option": "South"}
    assert "At most 2 rows of one patient count, by the column “patient”." in receipt.what
    assert (found.name, found.neighbours) == ("North clinic", "add_remove")
    assert found.remaining.epsilon == pytest.approx(2.0 - receipt.cost.epsilon)

    clinic.unlink()
    next(one for one in app.button if str(one.key).startswith("selection-now")).click().run()
    app.button(key="selection-confirm").click().run()
    assert "The database cannot be reached" in text(app)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert len(ledger.history(LINEAGE)) == 1


def asking(app: AppTest, ward: str, title: str) -> AppTest:
    """The page of a question about a source, in a window that has just chosen it."""
    click(app, said.USE)
    if f"Which {ward} is most common?" in {one.label for one in app.button}:
        click(app, f"Which {ward} is most common?")
        next(field for field in app.text_area if f"Options of {ward}" in field.label).set_value("North\nSouth")
    click(app, "Show the chart of made-up rows")
    waited(app)
    app.switch_page(address("selection")).run()
    app.selectbox(key="column").set_value(ward)
    app.session_state["selection_tab"] = "A private answer"
    app.run()
    assert title in app.selectbox(key="data").options
    return app


@pytest.mark.thorough
@pytest.mark.parametrize("opened_before", [False, True])
def test_a_file_that_joins_a_source_closes_it_for_nobody(
    clinic: Path, open_app: Open, ledger_file: Path, opened_before: bool
) -> None:
    """What the source's budget protects is its owner's to state: a file of these people takes that for its default, and
    another unit is refused there. A budget that was opened before that was on the record takes the first charge's."""
    if opened_before:
        with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
            ledger.open_budget(LINEAGE, epsilon=2.0, neighbours="add_remove", name="North clinic")
    chosen = click(open_app("data", **{"from": "source"}), said.USE)
    assert said.OTHER_BUDGET not in text(chosen)
    app = drop(open_app("data"), table(ROWS), name="file.csv")
    app.selectbox(key=about(app, "own-group-name")).set_value(LINEAGE)
    press(app, "own-group-join")
    assert (held(app).joined, held(app).lineage) == (True, LINEAGE)
    assert held(app).schema.unit == ("person" if opened_before else "patient")
    ready(app)
    app.session_state["epsilon"] = 0.05
    release(app)
    chosen = asking(open_app("data", **{"from": "source"}), "ward", "North clinic, visits")
    press(chosen, "selection-begin")
    press(chosen, "selection-confirm")
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        units = [one.unit for one in ledger.receipts()]
    assert units == ([""] if opened_before else ["patient", "patient"])
    assert ("of a source of this server whoever lists it says so" in text(chosen)) == opened_before


@pytest.fixture(params=["source", "folder"])
def wards(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A source with tables, or a folder; what it is, and its title."""
    if request.param == "source":
        request.getfixturevalue("clinic")
        return request.param, "North clinic, visits"
    file, listed = tmp_path / "a.csv", tmp_path / "sources.toml"
    file.write_text("patient,ward\n" + "".join(f"p{n},South\n" for n in range(50)))
    import_csv([file], tmp_path / "made", types={"patient": "text", "ward": "text"})
    listed.write_text(
        f'[clinic]\nlabel = "Wards"\nfolder = "{tmp_path / "made"}"\nepsilon = 2.0\nrows_per_person = 1\n'
        'id_column = "patient"\n'
    )
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(listed))
    return request.param, "Wards"


def test_what_was_drawn_of_a_source_before_is_of_no_other_file(
    wards: tuple[Whence, str], open_app: Open, ledger_file: Path
) -> None:
    """Nobody is sent to pay again for an answer from the very source that they ask; where its budget may be that of a
    file too, that is said."""
    whence, title = wards
    drew, late, new = (asking(open_app("data", **{"from": "source"}), "ward", title) for _ in range(3))
    for app in (drew, late):
        app.button(key="selection-begin").click().run()
    for app in (drew, late):
        app.button(key="selection-confirm").click().run()
    new.run()
    new.button(key="selection-begin").click().run()
    assert release_said.elsewhere_before(whence) in text(late)
    assert release_said.again_before(1, whence) in text(new)
    for app in (late, new):
        assert release_said.those_before(whence) in text(app)
        assert not any(word in text(app) for word in ("another file", "of theirs", "do not show them"))
        assert ("a file about the same people" in text(app)) == (whence == "folder")
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert len(ledger.history(LINEAGE)) == 1


def test_a_page_that_waits_for_a_database_keeps_no_place_from_others(
    clinic: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A silent one was waited for by three pages of two people, and nobody else's page was run meanwhile."""
    inside: list[bool] = []

    @contextmanager
    def aside() -> Iterator[None]:
        inside.append(True)
        yield
        inside.pop()

    asked: dict[str, bool] = {}
    for name in ("_tables", "placed"):
        ask = getattr(configured, name)

        def told(*given: Any, name: str = name, ask: Callable[..., Any] = ask) -> Any:
            asked[name] = bool(inside)
            return ask(*given)

        monkeypatch.setattr(configured, name, told)
    monkeypatch.setattr(configured.places, "aside", aside)
    click(open_app("data", **{"from": "source"}), said.USE)
    assert asked == {"_tables": True, "placed": True}


def test_nobody_whom_nobody_vouches_for_is_offered_a_source(
    clinic: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    app = open_app("data")
    assert "North clinic" not in text(app)
    assert not any(one.label == said.CHOOSE for one in app.selectbox)


def everything(own: OwnFile) -> Source:
    """The source as pages have it once all that can be asked about is declared."""
    schema = own.schema
    for column in (
        replace(schema.column("ward"), categories=("North", "South")),
        replace(schema.column("day"), earliest=date(2024, 1, 1), latest=date(2024, 1, 9)),
        replace(schema.column("age"), low=0, high=100),
        replace(schema.column("wait"), low=0, high=10),
    ):
        schema = schema.with_column(column)
    own = replace(own, decisions=replace(own.decisions, schema=schema))
    assert own.columns.declared is not None
    assert own.place is not None
    return Source(
        key="own-source",
        title=own.name,
        mode="twin",
        table=twin(own.columns.declared, rows=300, rng=np.random.Generator(np.random.PCG64(1))),
        lineage=own.lineage,
        practice=False,
        declared=Declaration.of(own.columns.declared),
        rows=own.place.rows,
        in_place=True,
    )


def test_a_server_does_not_start_with_a_list_that_is_not_written_as_it_should_be(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = clinic.with_name("sources.toml")
    listed.write_text(listed.read_text().replace("epsilon = 2.0", ""))
    monkeypatch.setattr(command, "_serve", None)
    assert command.main(["serve"]) == 2
    told = capsys.readouterr().err
    assert "[clinic] must state its epsilon" in told
    assert str(clinic) not in told


def test_every_question_is_answered_by_counts_or_says_why_not(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none looks at the source to say so."""
    own = placed(configured_sources()[0], "visits")
    case = Case(source=everything(own), epsilon=0.5)
    monkeypatch.setattr(PrivateSource, "opened", None)
    monkeypatch.setattr(ConfiguredSource, "open", None)
    offers = {}
    for page, kind in every():
        try:
            offer = offering.ask(kind, case, Setting({})).question.offer
            if isinstance(offer, NoOffer) and offer.instead is not None:
                offer = offering.ask(kind, case, Setting({offer.instead[0]: offer.instead[1]})).question.offer
        except CannotAsk:
            continue
        offers[f"{page.key} {kind.key}"] = offer
    answered = {name for name, offer in offers.items() if isinstance(offer, Offer)}
    assert answered == {
        *("selection most_common", "selection quantile", "selection best_rule"),
        *("thresholding alarm", "experts fixed_choice", "training predict"),
    }
    assert isinstance(offers["training predict"], Offer)
    assert isinstance(offers["training predict"].request, ScaledModel)
    told = {name: offer.sentence for name, offer in offers.items() if isinstance(offer, NoOffer)}
    assert "public number of rounds" in told["experts follow"]
    assert all(sentence.strip() for sentence in told.values())


def test_a_column_is_only_what_its_source_says_and_an_id_is_nothing_to_count(clinic: Path) -> None:
    own = placed(configured_sources()[0], "visits")
    assert own.types("visit") == own.types("patient") == ("text",)
    assert set(own.types("ward")) == {"category", "yes/no", "text"}
    assert "category" not in own.types("day")
    assert not own.described
    assert own.unseen
    weaker = replace(own.schema, unit="row", rows_per_person=1, id_column=None, each_row="step", people=9)
    assert own.decide(replace(own.decisions, schema=weaker, said_rows=False)).schema == replace(own.schema, people=9)
    with pytest.raises(InvalidArgument, match="says otherwise"):
        own.decide(replace(own.decisions, schema=typed_as(own.schema, "patient", "category")))
    for wrong in ({"allowed": ("none",)}, {"id_column": "nobody"}, {"address": f"sqlite:///{clinic}.gone"}):
        with pytest.raises((UnreadableFile, InvalidArgument)) as caught:
            placed(replace(configured_sources()[0], **wrong), "visits")
        assert str(clinic) not in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("rows_per_person = 2", "rows_per_person = 8"),
        ('unit = "patient"', 'unit = "family"'),
        ("rows_per_person = 2", 'rows_per_person = 2\nrow_by_row = ["visits"]'),
        ('id_column = "patient"\n', ""),
        ("[clinic]", "[other]"),
    ],
)
def test_what_its_owner_states_anew_binds_who_chose_it_before(clinic: Path, before: str, after: str) -> None:
    """One row each was charged 0.5 for 4 after the owner had said eight, and a source that was withdrawn answered."""
    (source,) = configured_sources()
    place = placed(source, "visits").place
    assert place is not None
    listed = clinic.with_name("sources.toml")
    text_before = listed.read_text()
    assert place.rows().has(["ward"])
    listed.write_text(text_before.replace('label = "North clinic"', 'label = "Clinic"').replace("= 2.0", "= 3.0"))
    assert place.rows().has(["ward"]), "how it is called, and what all of it may cost, says nothing of its rows"
    listed.write_text(text_before.replace(before, after))
    assert listed.read_text() != text_before
    with pytest.raises(UnreadableFile, match="states something else"):
        place.rows().has(["ward"])
    listed.write_text("no list at all")
    with pytest.raises(UnreadableFile, match="states something else"):
        place.rows().has(["ward"])
