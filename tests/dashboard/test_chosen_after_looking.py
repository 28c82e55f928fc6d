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
from dashboard.question import NoOffer, Offer
from dashboard.questions.selection.most_common import MostCommon
from dashboard.words.page import MAY_SHOW
from dashboard.words.release import EPSILON_LOOKED, TYPES_TAKEN, types_taken
from dpcore.grid import on_grid
from dpcore.release import sentence
from tests.dashboard.conftest import text
from tests.dashboard.test_budget_page import go
from tests.dashboard.test_data_page import declare, drop, held, look, press
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
    app.number_input(key=session.EPSILON.key).set_value(0.7).run()
    assert EPSILON_LOOKED not in text(app), "a level of one's own"
    press(app, "selection-use")
    app.switch_page("app_pages/data.py").run()
    press(app, "own-remove")
    assert app.session_state["_set"].get(session.EPSILON.key, session.EPSILON.default) == session.EPSILON.default


def test_a_type_that_the_file_suggested_is_said_to_be_not_covered() -> None:
    """One cell of 0.5 makes whole numbers numbers: who takes the file's word for it is told."""
    case = own_case(looked=False)
    column = str(offering.ask(MostCommon, case, Setting()).question.offer.request.reads.names[0])  # type: ignore[union-attr]
    taken = replace(case, source=replace(case.source, guessed=(column, "another")))
    plain, said = (offering.ask(MostCommon, one, Setting()).question for one in (case, taken))
    assert isinstance(plain.offer, Offer)
    assert isinstance(said.offer, Offer)
    assert TYPES_TAKEN in said.protected.not_protected
    assert TYPES_TAKEN not in plain.protected.not_protected
    assert said.offer.before == (*plain.offer.before, Small(types_taken((column,))))
    assert said.offer.request == plain.offer.request


def test_a_type_chosen_by_hand_is_the_persons_own(open_app: Open) -> None:
    app = own(open_app)
    assert held(app).guessed == ("colour",)
    for kind in ("text", "category"):
        app.selectbox(key=next(str(box.key) for box in app.selectbox if "type" in str(box.key))).set_value(kind).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    assert held(app).declared is not None
    assert held(app).guessed == ()


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
