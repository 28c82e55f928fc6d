"""ε taken from a picture: about a person's own file card and release say so, about a sample or twin nothing is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import offering, session
from dashboard.blocks import Note, Small
from dashboard.case import Source
from dashboard.controls import Setting
from dashboard.data import private_answer
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dashboard.question import NoOffer, Offer
from dashboard.questions.selection.most_common import MostCommon
from dashboard.words.columns import CONFIRMED
from dashboard.words.page import MAY_SHOW
from dashboard.words.release import EPSILON_LOOKED, SUGGESTED, UNCHECKED, suggested
from dpcore.datasets import Column, Schema, Template, saved
from dpcore.grid import on_grid
from dpcore.release import sentence
from tests.dashboard.conftest import text, widget
from tests.dashboard.test_budget_page import go
from tests.dashboard.test_data_page import declare, drop, held, look, press, shown, tick
from tests.questions.samples import sample_case

Open = Callable[..., AppTest]


def own_case(*, looked: bool) -> offering.Case:
    case = sample_case("clinic")
    source: Source = replace(case.source, mode="what_if", lineage="people", practice=False)
    return replace(case, source=source, looked=looked)


def test_card_and_request_say_that_epsilon_was_looked_up_and_only_then() -> None:
    plain, looked = (offering.ask(MostCommon, own_case(looked=looked), Setting()).question for looked in (False, True))
    assert isinstance(plain.offer, Offer)
    assert isinstance(looked.offer, Offer)
    assert EPSILON_LOOKED in looked.protected.not_protected
    assert EPSILON_LOOKED not in plain.protected.not_protected
    assert UNCHECKED in plain.protected.not_protected, "nobody checks how many rows one person has without an id"
    assert UNCHECKED not in offering.ask(MostCommon, sample_case("clinic"), Setting()).question.protected.not_protected
    assert f"{EPSILON_LOOKED}." in sentence(looked.offer.request)
    assert EPSILON_LOOKED not in sentence(plain.offer.request)
    assert isinstance(looked.offer.before[-1], Note)
    assert looked.offer.request.cost == plain.offer.request.cost


def test_a_question_without_a_release_stays_without_one() -> None:
    found = offering.ask(MostCommon, own_case(looked=True), Setting({"selection_method": "naive_laplace"})).question
    assert isinstance(found.offer, NoOffer)


def own(open_app: Open) -> AppTest:
    rows = "".join(f"{('red', 'blue', 'red')[n % 3]}\n" for n in range(90))
    app = drop(open_app("data"), f"colour\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    return look(app)


def own_offer(app: AppTest) -> Offer:
    """What would be released about the file that the session holds."""
    found = offering.ask(MostCommon, offering.Case(source=shown(app), epsilon=0.5), Setting()).question
    assert isinstance(found.offer, Offer)
    assert (SUGGESTED in found.protected.not_protected) == bool(found.offer.request.suggestions)  # type: ignore[attr-defined]
    return found.offer


@pytest.mark.thorough
@pytest.mark.parametrize("data", ["own", "sample"])
def test_the_button_rounds_to_the_public_grid_and_marks_what_comes_from_a_file(data: str, open_app: Open) -> None:
    app = own(open_app) if data == "own" else open_app("start")
    app.switch_page("questions/selection/page.py").run()
    press(app, "selection-use")
    used = app.session_state["_set"][session.EPSILON.key]
    assert (EPSILON_LOOKED in text(app)) == (data == "own")
    assert ("epsilon" in app.query_params) == (data == "sample"), "no link carries what a file's picture said"
    if data == "sample":
        return
    assert on_grid(used)
    widget(app, "epsilon-typed").set_value(0.7).run()
    assert EPSILON_LOOKED not in text(app), "a level of one's own"
    press(app, "selection-use")
    app.switch_page("app_pages/data.py").run()
    press(app, "own-remove")
    assert app.session_state["_set"].get(session.EPSILON.key, session.EPSILON.default) == session.EPSILON.default


NAMED = (
    "That one line of the file names its columns was stated by a person who had seen the file or an earlier one: not "
    "covered by ε."
)


def test_what_the_file_suggested_is_stated_by_a_person_before_a_release_and_said(open_app: Open) -> None:
    """One cell of 0.5 makes whole numbers numbers, one row more makes options records: who takes the file's word for
    it must say so, and card, panel and receipt say it too."""
    rows = "".join(f"{('red', 'blue', 'red')[n % 3]}\n" for n in range(90))
    app = drop(open_app("data"), f"colour\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    assert all(button.key != "own-right" for button in app.button), "nothing is declared yet that an answer would need"
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    assert "the file suggested them" in private_answer.unreleasable(held(app))
    assert all(
        f") {point}" in text(app)
        for point in ("“colour”: options;", "one row is one person or record, of one person alone")
    )
    tick(app).check()
    press(app, "own-look")
    assert shown(app).rows is None, "no release before a person called it right"
    press(app, "own-right")
    assert CONFIRMED in text(app)
    offer = own_offer(app)
    note, named = offer.request.suggestions  # type: ignore[attr-defined]
    assert named == NAMED
    assert note == (
        "How the cells of “colour” are read and what they can hold, and that each row is one record and how many of "
        "them one person has, were stated or called right by a person who had seen the file or an earlier one: not "
        "covered by ε."
    )
    assert note in sentence(offer.request)
    assert offer.before == (Small(suggested(note)), Small(suggested(named)))
    kept = saved(template(held(app))).encode()
    press(app, "own-undo")
    assert "the file suggested them" in private_answer.unreleasable(held(app))
    app = drop(open_app("data"), f"colour\n{rows}".encode())
    (box,) = (place for place, one in enumerate(app.file_uploader) if "declaration" in str(one.label))
    drop(app, kept, name="declaration.json", place=box)
    app.number_input(key="own-rows-None").set_value(1).run()
    still = own_offer(look(app)).request.suggestions  # type: ignore[attr-defined]
    assert still == (note, named), "a declaration that is saved and brought says so still"
    assert Remembered.of(held(app)).suggested == ("colour",)


def test_what_a_person_states_after_the_file_is_said_as_what_they_call_right(open_app: Open) -> None:
    """That somebody had to state it tells of a row by which the file suggested something else."""
    app = own(open_app)
    told = own_offer(app).request.suggestions  # type: ignore[attr-defined]
    assert "“colour”" in told[0]
    for kind in ("text", "category"):
        app.selectbox(key=next(str(box.key) for box in app.selectbox if "type" in str(box.key))).set_value(kind).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    assert own_offer(app).request.suggestions == told  # type: ignore[attr-defined]
    for kind in ("step", "record"):
        app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value(kind).run()
    next(box for box in app.number_input if str(box.key).startswith("own-rows")).set_value(1).run()
    assert own_offer(app).request.suggestions == told  # type: ignore[attr-defined]
    assert held(app).decisions.said_row


def test_a_declaration_that_is_brought_leaves_no_question_that_hangs_on_the_file(open_app: Open) -> None:
    """The same declaration for a file that raises doubts and for one that does not: what is asked is the same."""
    columns = (
        Column(name="colour", type="category", categories=("red", "blue", "green")),
        Column(name="amount", type="number", low=0.0, high=9.0),
    )
    template = saved(Template(schema=Schema(columns=columns, rows_per_person=2))).encode()
    offers = []
    for amounts, doubtful in (("1.234", True), ("1.5", False)):  # thousands or a fraction; a fraction
        rows = "".join(f"{('red', 'blue', 'red')[n % 3]};{amounts}\n" for n in range(60))
        app = drop(open_app("data"), f"colour;amount\n{rows}".encode())
        assert bool(held(app).doubts) is doubtful
        (box,) = (place for place, one in enumerate(app.file_uploader) if "declaration" in str(one.label))
        drop(app, template, name="declaration.json", place=box)
        assert held(app).doubts == ()
        app.number_input(key="own-rows-None").set_value(2).run()
        (names,) = private_answer.lacking(held(app))
        assert "the names of the columns" in names
        press(app, "own-right")
        assert private_answer.lacking(held(app)) == ()
        offers.append(own_offer(look(app)))
    assert offers[0].request == offers[1].request
    assert NAMED in offers[0].request.suggestions  # type: ignore[attr-defined]


@pytest.mark.thorough
def test_a_plan_priced_by_a_files_own_law_is_marked(open_app: Open) -> None:
    """A goal about a column is priced from the file; a plan by ε is not."""
    app = own(open_app)
    app.switch_page("app_pages/budget.py").run()
    go(app, "Plan answers")
    app.selectbox(key="plan_kind").set_value("permute_and_flip").run()
    assert MAY_SHOW["what_if"] in text(app)
    app.session_state["_set"]["plan_by"] = "epsilon"
    app.get_by_key("plan_by").set_value("epsilon").run()
    assert MAY_SHOW["what_if"] not in text(app)
