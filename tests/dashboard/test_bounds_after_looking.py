"""Of a file that is here all that somebody states of what it can hold goes as stated by who had seen it.

Bounds, options, how many rows one person has, how far one moves an entry, and about how many there are: in the sentence
that says it of types, the same whatever the file holds, and without it only as a declaration states them that was made
without the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, offering
from dashboard.controls import Setting
from dashboard.data import bulk, decisions, file_columns
from dashboard.data.decisions import read_as, stated
from dashboard.data.declarations import _onto, described
from dashboard.data.file_columns import FileColumns
from dashboard.data.own_file import OwnFile
from dashboard.data.template import template
from dashboard.question import Offer, Question
from dashboard.words import columns as said
from dashboard.words import release as release_said
from dashboard.words import safe
from dpcore.datasets import Column, Declaration, Schema, Template, loaded, saved
from dpcore.ledger.words import same_question
from dpcore.release import question_digest, sentence
from dpcore.releases.asked import Asked, suggested
from dpcore.releases.model import PrivateModel
from dpcore.releases.quantile import QuantileValue
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.steps_chosen import SEEN
from tests.dashboard.conftest import text
from tests.dashboard.test_called_right import declare, fresh
from tests.dashboard.test_data_page import declare as declare_on_page
from tests.dashboard.test_data_page import drop, look, press, shown, tick
from tests.dashboard.test_marks_kept import clinic, kept

Open = Callable[..., AppTest]
__all__ = ["clinic", "kept"]

HOLDS = "are read and what they can hold"
KINDS = (
    Column(name="n", type="number", low=0.0, high=9.0),
    Column(name="i", type="integer", low=0.0, high=9.0),
    Column(name="d", type="date", earliest=date(2024, 1, 1), latest=date(2024, 12, 31)),
    Column(name="c", type="category", categories=("a", "b")),
)
WITHOUT = Template(schema=Schema(columns=KINDS))
"""A declaration that was made without a file."""
MIXED = "".join(f"{n % 7}.5,{n % 7},2024-03-0{n % 9 + 1},{'ab'[n % 2]}\n" for n in range(60))
OTHERWISE: dict[str, tuple[str, dict[str, Any]]] = {
    "low": ("n", {"low": -1.0}),
    "high": ("i", {"high": 110.0}),
    "earliest": ("d", {"earliest": date(2023, 1, 1)}),
    "latest": ("d", {"latest": date(2025, 1, 1)}),
    "categories": ("c", {"categories": ("a", "b", "zebra")}),
    "words_from_file": ("c", {"words_from_file": True}),
    "better": ("n", {"better": "lower"}),
    "unit": ("n", {"unit": "years"}),
}


def opened() -> OwnFile:
    return fresh("n,i,d,c", MIXED)


def brought() -> OwnFile:
    return declare(opened(), loaded(saved(WITHOUT)))


def with_column(own: OwnFile, name: str, **change: Any) -> OwnFile:
    column = replace(own.schema.column(name), **change)
    return own.decide(own.decisions.says(column))


def asked(own: OwnFile, name: str) -> Asked:
    assert own.columns.declared is not None
    facts = Declaration.of(own.columns.declared, suggested=own.columns.suggested, row_suggested=own.rows.suggested)
    if name in ("n", "i"):
        return QuantileValue.of(facts, name, epsilon=1.0)
    return PrivateModel.of(facts, target="n", columns=(name,), epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("other", OTHERWISE)
def test_what_a_column_can_hold_was_stated_by_who_had_seen_the_file(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is as the declaration has it: then it goes without a word, and so it does where it is put back."""
    own = brought()
    assert own.columns.suggested == ()
    name, change = OTHERWISE[other]
    new = with_column(own, name, **change)
    assert new.columns.suggested == (name,)
    assert name in loaded(saved(template(new))).suggested, "and where it is saved"
    back = with_column(new, name, **{field: getattr(own.schema.column(name), field) for field in change})
    assert back.columns.suggested == ()
    for module in (decisions, file_columns):
        monkeypatch.setattr(module, "stated", read_as)
    bare = replace(own.decisions, brought=frozenset(map(read_as, own.schema.columns)))
    assert with_column(own.decide(bare), name, **change).columns.suggested == (), "how cells are read says none of it"


def test_all_that_is_stated_of_a_column_is_in_it() -> None:
    """A field that a column gets has to be in, or to be one of these: said of rows, with what a row is, or of nobody's
    saying."""
    column = Column(name="x", type="integer", low=0.0, high=9.0)
    elsewhere = {"sensitivity": 2.0, "counts": True, "about": "a note"}
    assert all(stated(column) == stated(replace(column, **{name: to})) for name, to in elsewhere.items())
    assert len(stated(column)) == len(fields(Column)) - len(elsewhere)
    assert stated(column)[0] == "x"


@pytest.mark.parametrize("name", ["n", "i"])
def test_the_sentence_is_the_same_whatever_was_declared(name: str) -> None:
    own = opened()
    own = own.decide(replace(own.decisions, said_rows=True))
    told = {asked(with_column(own, name, low=0.0, high=high), name).suggestions for high in (9.0, 110.0, 5000.0)}
    ((note,),) = told
    assert note == (
        f"How the cells of “{name}” are read and what they can hold, and that each row is one record and how many of "
        f"them one person has, were stated or called right by {SEEN}: not covered by ε."
    )


@pytest.mark.parametrize(
    ("each_row", "told"),
    [
        ("record", "That each row is one record and how many of them one visit has were stated"),
        ("option", "That each row is one option and how far one visit changes it were stated"),
        ("step", "That each row is a step in time and how far one visit changes it were stated"),
    ],
)
def test_of_rows_it_says_how_much_is_one_persons(each_row: Any, told: str) -> None:
    columns = tuple(replace(one, sensitivity=1.0) if one.type == "number" else one for one in KINDS)
    reads = Declaration(columns=columns, each_row=each_row, unit="visit", row_suggested=True).reads("n")
    (note,) = suggested(reads, "visit")
    assert note.startswith(told)
    assert suggested(replace(reads, suggested_row=""), "visit") == ()


@pytest.mark.parametrize("kind", [PrivateModel, ScaledModel])
def test_about_how_many_there_are_was_stated_by_who_had_seen_the_file(kind: Any) -> None:
    """Of a source, at which nobody looks, it was stated and not counted."""
    facts = Declaration(columns=KINDS, people=181)
    told = {
        seen: sentence(kind.of(replace(facts, row_suggested=seen), target="n", columns=("i",), epsilon=1.0, delta=1e-6))
        for seen in (True, False)
    }
    assert f"about 181 rows was stated by {SEEN}: not covered by ε." in told[True]
    assert "stated and not counted" not in told[True]
    assert "about 181 rows was stated and not counted." in told[False]


def test_a_source_takes_no_number_that_was_said_of_a_file(clinic: OwnFile, kept: list[OwnFile]) -> None:
    ward = Column(name="ward", type="category", categories=("a", "b"))
    facts = Template(schema=Schema(columns=(ward,), people=181))
    _onto(clinic, facts, facts)
    assert kept[-1].schema.people == 181
    seen = replace(facts, row_suggested=True)
    _onto(clinic, seen, seen)
    assert kept[-1].schema.people is None


def test_a_table_that_is_described_keeps_what_was_said_of_a_file() -> None:
    """Neither another type for the same bounds nor what a row is, said once more, takes the mark off them."""
    age = Column(name="age", type="integer", low=0.0, high=110.0)
    facts = Template(
        schema=Schema(columns=(age,), people=181), suggested=("age",), confirmed=("age",), row_suggested=True
    )
    own = described(facts)
    again = own.decide(own.decisions.retyped("age", "number", None))
    assert again.schema.column("age").high == 110.0
    assert template(again).suggested == ("age",)
    other = own.decide(own.decisions.retyped("age", "date", None))
    assert template(other).suggested == (), "what it had is gone"
    again = own.decide(own.decisions.rows_are(each_row="record"))
    assert (template(again).row_suggested, again.schema.people) == (False, None)


@pytest.mark.parametrize("there_and_back", [("date", "number"), ("text", "number"), ("yes/no", "category"), ("date",)])
def test_what_stays_over_another_type_is_still_of_the_file(there_and_back: tuple[Any, ...]) -> None:
    """Words that mean missing stayed, and the mark went: which cells count was stated with an earlier file in view."""
    one = Column(name="x", type="number", low=0.0, high=9.0, missing_words=("997",))
    if there_and_back[-1] == "category":
        one = Column(name="x", type="category", categories=("a", "b"), missing_words=("zz",))
    usual = Column(name="x", type="number").missing_words
    for column, marked in ((one, ("x",)), (replace(one, missing_words=usual), ())):
        own = described(Template(schema=Schema(columns=(column,)), suggested=("x",), confirmed=("x",)))
        for kind in there_and_back:
            own = own.decide(own.decisions.retyped("x", kind, None))
        assert own.schema.column("x").missing_words == column.missing_words
        assert template(own).suggested == marked


@pytest.mark.parametrize("words", [{"yes_words": ("zz",), "no_words": ("qq",)}, {"missing_words": ("997",)}, {}])
def test_what_stays_when_yes_or_no_is_said_is_still_of_the_file(words: dict[str, Any]) -> None:
    """A form that was saved with nothing touched took the mark off, and left the words of an earlier file."""
    column = Column(name="x", type="yes/no", **words)
    own = described(Template(schema=Schema(columns=(column,)), suggested=("x",), confirmed=("x",)))
    own = own.decide(own.decisions.says(column, binary=("x",)))
    assert template(own).suggested == (("x",) if words else ())
    others = replace(column, yes_words=("a",), no_words=("b",), missing_words=("c",))
    own = own.decide(own.decisions.says(others, binary=("x",)))
    assert template(own).suggested == (), "all of it is new"


@pytest.mark.parametrize("confirmed", [(), ("x",)])
@pytest.mark.parametrize("first", ["yes/no", "category"])
@pytest.mark.parametrize("words", [{"missing_words": ("refused",)}, {}])
def test_what_stays_when_options_are_typed_of_yes_or_no_is_still_of_the_file(
    words: dict[str, Any], first: str, confirmed: tuple[str, ...]
) -> None:
    """The form for several columns made options of yes or no, and left an earlier file's words for missing unmarked."""
    column = Column(name="x", type=first, **words)  # type: ignore[arg-type]
    own = described(Template(schema=Schema(columns=(column,)), suggested=("x",), confirmed=confirmed))
    if first == "category":
        own = own.decide(own.decisions.retyped("x", "yes/no", None))
    typed = bulk.stated(own.schema.column("x"), {"options": "pos; neg; other"}, public=True)
    own = own.decide(own.decisions.says(typed, binary=bulk.binary([typed])))
    assert own.schema.column("x").type == "category"
    assert template(own).suggested == (("x",) if words else ())


def test_what_was_said_before_is_the_same_question() -> None:
    """The words changed since, the digest did not: what was granted or charged then is drawn."""
    own = with_column(opened(), "n", low=0.0, high=9.0)
    own = own.decide(replace(own.decisions, schema=replace(own.schema, people=181), said_rows=True))
    request = asked(with_column(own, "c", categories=("a", "b")), "c")
    now = sentence(request)
    before = now.replace(" and what they can hold, and that", " and that").replace(
        "one record and how many of them one person has, were", "one record were"
    )
    before = before.replace(f"rows was stated by {SEEN}: not covered by ε.", "rows was stated and not counted.")
    assert len(before) < len(now) - 100
    assert same_question((before, "d"), (now, "d"))
    assert not same_question((before, "d"), (now, "e"))
    assert not same_question((before.replace("one record", "one option"), "d"), (now, "d"))
    for row, cells in (("", ("n",)), ("step", ()), ("option", ("n", "c"))):
        reads = replace(request.reads, suggested_row=row, suggested=cells)
        (told,) = suggested(reads, "person who has, were")
        was = {
            "": "How the cells of “n” are read was stated",
            "step": "That each row is a step in time was stated",
            "option": "How the cells of “c” and “n” are read and that each row is one option were stated",
        }[row] + told[told.index(" or called right") :]
        assert same_question((was, "d"), (told, "d")), told


# -- on the page -----------------------------------------------------------------------------------------------------

ROWS = "".join(f"{20 + n % 70},{('red', 'blue')[n % 2]},2024-03-0{n % 9 + 1}\n" for n in range(180))
ENDS = ("33,red,2024-03-01", "104,zebra,1924-03-01")
"""One person's row: within what was declared, and beyond it in every column."""
TOLD = re.compile(r"Of 181 cells:[^\n]*")


def file_of(open_app: Open, end: str) -> AppTest:
    app = drop(open_app("data"), f"age,colour,day\n{ROWS}{end}\n".encode(), name="file.csv")
    app.number_input(key="own-rows-None").set_value(1).run()
    declare_on_page(app, "age", low=0.0, high=100.0)
    declare_on_page(app, "colour", categories="red\nblue", public=True)
    declare_on_page(app, "day", earliest=date(2024, 1, 1), latest=date(2024, 12, 31))
    return app


def accounts(app: AppTest) -> list[str]:
    """What is said below each form."""
    found = []
    for name in ("age", "colour", "day"):
        app.selectbox(key="own-column").set_value(name).run()
        found += TOLD.findall(text(app))
        found += [words for words in said.BEYOND.values() if words in text(app)]
    return found


def question(app: AppTest, page: str, kind: str) -> Question:
    case = offering.Case(source=shown(app), epsilon=0.5)
    return offering.ask(catalogue.questions(page)[kind], case, Setting()).question


def test_no_form_tells_who_keeps_a_file_private_which_cells_lie_beyond(open_app: Open) -> None:
    """One row beyond all that was declared: the same words, the same question, the same receipt, to the letter."""
    found = []
    for end in ENDS:
        app = file_of(open_app, end)
        told = accounts(app)
        press(app, "own-right")
        press(app, "own-twin-open")
        press(app, "own-twin-go")
        questions = [question(app, "selection", kind) for kind in ("quantile", "most_common")]
        for one in questions:
            assert isinstance(one.offer, Offer)
            note = one.offer.request.suggestions[0]  # type: ignore[attr-defined]
            assert HOLDS in note
            assert note in sentence(one.offer.request)
            listed = release_said.answers_for(one.offer.request.notes)  # type: ignore[attr-defined]
            assert f"- {safe(note, 1000)}\n" in listed
            assert "what they can hold" in one.protected.not_protected
        found.append(
            (told, [(sentence(one.offer.request), question_digest(one.offer.request)) for one in questions])  # type: ignore[union-attr]
        )
    assert found[0] == found[1]
    assert found[0][0] == [
        "Of 181 cells: 181 read.",
        said.BEYOND["bounds"],
        "Of 181 cells: 181 read.",
        said.BEYOND["options"],
        "Of 181 cells: 181 read.",
        said.BEYOND["bounds"],
    ]


def test_who_called_the_file_public_is_told_of_each(open_app: Open) -> None:
    """Which shows that the row of the pair lies beyond."""
    told = []
    for end in ENDS:
        app = file_of(open_app, end)
        tick(app).check()
        look(app)
        told.append(accounts(app))
    assert told[0] == ["Of 181 cells: 181 as written."] * 3
    assert [sum("(line 182)" in one for one in kind) for kind in told] == [0, 3]


LINES = {
    "as others": ("{n},{colour},2024-03-01", "33,red,2024-03-01", "104,zebra,1924-03-01"),
    "all alike": ("50,red,2024-03-01", "50,red,2024-03-01", "104,zebra,1924-03-01"),
    "numbers among words": ("{n},{number},2024-03-0{day}", "33,red,2024-03-01", "104,7000,1924-03-01"),
}
"""Columns as they are, and the rows of one person: within what is declared of each, and beyond it."""


def columns_told(open_app: Open, line: str, end: str) -> list[str]:
    """All that is said of the columns of a private file once they are declared: the table of them, and each one's."""
    made = "".join(
        line.format(n=20 + n % 70, colour=("red", "blue")[n % 2], number=("red", "7", "8")[n % 3], day=n % 9 + 1) + "\n"
        for n in range(180)
    )
    app = drop(open_app("data"), f"age,person,day\n{made}{end}\n".encode(), name="file.csv")
    app.number_input(key="own-rows-None").set_value(1).run()
    for name, kind in (("age", "integer"), ("person", "category"), ("day", "date")):
        app.selectbox(key="own-column").set_value(name).run()
        box = next(one for one in app.selectbox if str(one.key).startswith("own-type-"))
        if box.value != kind:
            box.set_value(kind).run()
    declare_on_page(app, "age", low=0.0, high=100.0)
    declare_on_page(app, "person", categories="red\nblue\n7\n8", public=True)
    declare_on_page(app, "day", earliest=date(2024, 1, 1), latest=date(2024, 12, 31))
    found = [frame.value.to_csv() for frame in app.dataframe if "Declared" in frame.value]
    assert len(found) == 1
    for name in ("age", "person", "day"):
        app.selectbox(key="own-column").set_value(name).run()
        found += [str(one.value) for one in app.caption if "own-digest" not in str(one.value)]
    return found


@pytest.mark.parametrize("which", LINES)
def test_nothing_beside_what_is_declared_tells_of_one_cell_beyond_it(which: str, open_app: Open) -> None:
    """Neither how many different words there are, nor that they repeat or are all the same."""
    line, within, beyond = LINES[which]
    assert columns_told(open_app, line, within) == columns_told(open_app, line, beyond)


@pytest.mark.parametrize("withheld", [True, False])
def test_no_step_is_offered_that_names_a_cell_beyond_what_was_declared(
    withheld: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row said 999: the page offered to read it as missing, beside bounds of 0 to 100."""
    if not withheld:
        monkeypatch.setattr(FileColumns, "withheld", lambda columns, column: False)
    told = []
    for last in (33, 999):
        app = drop(
            open_app("data"),
            "".join(["age,n\n", *(f"{20 + n % 50},{n}\n" for n in range(180)), f"{last},9\n"]).encode(),
        )
        assert ("999" in text(app)) is (last == 999), "before anything is declared it is offered"
        app.number_input(key="own-rows-None").set_value(1).run()
        declare_on_page(app, "age", low=0.0, high=100.0)
        told.append("999" in text(app))
    assert told == [False, not withheld]


@pytest.mark.parametrize("withheld", [True, False])
def test_nothing_beside_yes_or_no_tells_of_a_cell_that_is_neither(
    withheld: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once somebody said that the column holds these: its words would be made to follow the file."""
    if not withheld:
        monkeypatch.setattr(FileColumns, "withheld", lambda columns, column: False)
    told, before = [], []
    for last in ("yes", "maybe"):
        cells = [*(("yes", "no")[n % 2] for n in range(180)), last]
        data = "age,ill\n" + "".join(f"{20 + n % 50},{cell}\n" for n, cell in enumerate(cells))
        app = drop(open_app("data"), data.encode(), name="file.csv")
        app.selectbox(key="own-column").set_value("ill").run()
        box = next(one for one in app.selectbox if str(one.key).startswith("own-type-"))
        if box.value != "yes/no":
            box.set_value("yes/no").run()
        before.append(said_of(app))
        declare_on_page(app, "ill", binary=True)
        app.selectbox(key="own-column").set_value("ill").run()
        told.append(said_of(app))
    assert ("(line 182)" in before[0], "(line 182)" in before[1]) == (False, True), "before that it is told"
    assert (told[0] == told[1]) is withheld
    assert (said.BEYOND["words"] in told[1], "(line 182)" in told[1]) == (withheld, not withheld)


def said_of(app: AppTest) -> str:
    """What the table of columns and the form of the one that is open say."""
    tables = [frame.value.to_csv() for frame in app.dataframe if "Declared" in frame.value]
    return "\n".join([*tables, *(str(one.value) for one in app.caption if "own-digest" not in str(one.value))])


@pytest.mark.parametrize("withheld", [True, False])
def test_no_step_is_offered_for_one_cell_that_says_total_beside_declared_options(
    withheld: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not withheld:
        monkeypatch.setattr(FileColumns, "withheld", lambda columns, column: False)
    told = []
    for last in ("red", "Total"):
        rows = [f"{('red', 'blue')[n % 2]},{20 + n % 50}\n" for n in range(180)]
        rows.insert(90, f"{last},33\n")
        app = drop(open_app("data"), "".join(["colour,age\n", *rows]).encode())
        assert ("says total" in text(app)) is (last == "Total"), "before anything is declared it is offered"
        app.number_input(key="own-rows-None").set_value(1).run()
        declare_on_page(app, "colour", categories="red\nblue", public=True)
        told.append("says total" in text(app))
    assert told == [False, not withheld]


def test_words_that_are_counted_beside_their_options_are_found_out(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileColumns, "withheld", lambda columns, column: False)
    line, within, beyond = LINES["as others"]
    told = [columns_told(open_app, line, end) for end in (within, beyond)]
    assert ["3 different words" in "".join(one) for one in told] == [False, True]
