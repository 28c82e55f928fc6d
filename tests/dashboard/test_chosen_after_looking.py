"""ε and what is asked of a file that was looked at: card, release and receipt say so, whatever was clicked, typed or
left as it was; of a sample, or a file that was kept private, nothing is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, offering, session
from dashboard.blocks import Small
from dashboard.case import Mode, Source
from dashboard.controls import Choice, Number, Setting, Switch
from dashboard.data import private_answer
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dashboard.question import CannotAsk, Kind, NoOffer, Offer
from dashboard.questions.selection.most_common import MostCommon
from dashboard.words import safe
from dashboard.words.columns import CONFIRMED
from dashboard.words.page import MAY_SHOW
from dashboard.words.release import LOOKED_AT, RECEIPT_SAYS_LOOKED, SUGGESTED, UNCHECKED, answers_for
from dpcore.datasets import Column, Schema, Template, saved
from dpcore.grid import on_grid
from dpcore.release import sentence
from dpcore.releases.asked import CHOSEN
from tests.dashboard.conftest import text, widget
from tests.dashboard.test_budget_page import go
from tests.dashboard.test_data_page import declare, drop, held, look, press, shown, tick
from tests.dashboard.test_finger import suitable
from tests.questions.samples import sample_case

Open = Callable[..., AppTest]


def own_case(mode: Mode, *, shown: bool = False, sample: str = "clinic", epsilon: float = 0.5) -> offering.Case:
    case = sample_case(sample, epsilon)
    source: Source = replace(case.source, mode=mode, lineage="people", practice=False, shown=shown)
    return replace(case, source=source)


def test_card_and_request_say_that_the_file_was_looked_at_and_only_then() -> None:
    """Also of a twin that took the place of charts of the file itself."""
    plain = offering.ask(MostCommon, own_case("twin"), Setting()).question
    assert isinstance(plain.offer, Offer)
    assert LOOKED_AT not in plain.protected.not_protected
    assert CHOSEN not in sentence(plain.offer.request)
    assert UNCHECKED in plain.protected.not_protected, "nobody checks how many rows one person has without an id"
    sampled = offering.ask(MostCommon, replace(own_case("demo", shown=True)), Setting()).question
    assert UNCHECKED not in sampled.protected.not_protected
    assert LOOKED_AT not in sampled.protected.not_protected
    for case in (own_case("what_if"), own_case("twin", shown=True)):
        looked = offering.ask(MostCommon, case, Setting()).question
        assert isinstance(looked.offer, Offer)
        assert LOOKED_AT in looked.protected.not_protected
        assert sentence(looked.offer.request) == f"{sentence(plain.offer.request)} {CHOSEN}"
        assert looked.offer.before == (*plain.offer.before, Small(RECEIPT_SAYS_LOOKED))
        assert looked.offer.request.cost == plain.offer.request.cost


def test_a_question_without_a_release_stays_without_one() -> None:
    found = offering.ask(MostCommon, own_case("what_if"), Setting({"selection_method": "naive_laplace"})).question
    assert isinstance(found.offer, NoOffer)


def set_by_hand(kind: type[Kind], sample: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Every choice of the question set to something else, one by one, by whatever sets it: a value says not by what."""
    read = Setting()
    with suppress(CannotAsk):
        offering.ask(kind, own_case("what_if", sample=sample), read)
    yield from ((epsilon, {}) for epsilon in (0.5, 0.08, 0.131))  # as it was; of the public grid; to the last digit
    for _, control in read.seen.values():
        others: tuple[Any, ...] = ()
        if isinstance(control, Choice):
            others = tuple(control.options)[:4]
        elif isinstance(control, Number):
            others = (*(control.default + more for more in (7.0, 0.01)), control.low, control.high)
        elif isinstance(control, Switch):
            others = True, False
        yield from ((0.5, {control.key: one}) for one in others if control.checked(one) == one != control.default)


def unmarked(kind: type[Kind], sample: str) -> tuple[list[str], int]:
    """Of a file that was looked at: what was set where card, panel or receipt do not say so in the same words; and how
    many answers were offered."""
    found, offers = [], 0
    for epsilon, values in set_by_hand(kind, sample):
        for settled in ({}, None):
            try:
                case = own_case("what_if", sample=sample, epsilon=epsilon)
                question = offering.ask(kind, case, Setting(values if settled is None else values | settled)).question
            except CannotAsk:
                break
            if isinstance(question.offer, NoOffer):
                key, value, _ = question.offer.instead or ("", None, "")
                values = {**values, key: value}  # such as to keep the line that a file begins with
                continue
            offers += 1
            marks = [
                question.protected.not_protected.endswith(f"; {LOOKED_AT}"),
                question.offer.before[-1:] == (Small(RECEIPT_SAYS_LOOKED),),
                sentence(question.offer.request).endswith(f" {CHOSEN}"),
            ]
            found += [] if all(marks) else [f"ε = {epsilon}, {values}: {marks}"]
            break
    return found, offers


KINDS = [(kind, suitable(page.key, kind.key)) for page, kind in catalogue.every() if kind.key != "one_ball"]
"""All that offer a release."""


@pytest.mark.parametrize(("kind", "sample"), KINDS, ids=lambda one: getattr(one, "key", one))
def test_whatever_sets_it_is_chosen_with_the_picture_in_view(kind: type[Kind], sample: str) -> None:
    found, offers = unmarked(kind, sample)
    assert found == []
    assert offers > 3


def test_a_mark_by_the_button_that_was_clicked_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the very number that the button gives, typed, went without."""
    marked, clicked = offering._looked_at, {0.08}

    def by_button(offer: Offer | NoOffer) -> Offer | NoOffer:
        own = isinstance(offer, Offer) and offer.request.epsilon not in clicked  # type: ignore[attr-defined]
        return offer if own else marked(offer)

    monkeypatch.setattr(offering, "_looked_at", by_button)
    found, _ = unmarked(MostCommon, "clinic")
    assert [one for one in found if one.startswith("ε = 0.131")]


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


def held_epsilon(app: AppTest) -> float:
    return float(app.session_state["_set"].get(session.EPSILON.key, session.EPSILON.default))


@pytest.mark.thorough
@pytest.mark.parametrize("data", ["own", "sample"])
def test_the_button_rounds_to_the_public_grid_and_marks_what_comes_from_a_file(data: str, open_app: Open) -> None:
    app = own(open_app) if data == "own" else open_app("start")
    app.switch_page("questions/selection/page.py").run()
    press(app, "selection-use")
    assert (LOOKED_AT in text(app)) == (data == "own")
    assert ("epsilon" in app.query_params) == (data == "sample"), "no link carries what a file's picture said"
    if data == "own":
        assert on_grid(held_epsilon(app))


@pytest.mark.thorough
def test_however_epsilon_is_set_beside_the_picture_it_goes_with_the_file(open_app: Open) -> None:
    """By its button, typed, by the slider, or left as it was: the page says one thing, and no link carries it, nor once
    the page shows a sample."""
    app = own(open_app)
    app.switch_page("questions/selection/page.py").run()
    found = float(app.button(key="selection-use").label.removeprefix("Use ε = "))
    told = set()

    def seen(level: float) -> None:
        assert held_epsilon(app) == level
        told.add(tuple(one for one in text(app).splitlines() if LOOKED_AT in one))
        assert "epsilon" not in app.query_params

    seen(session.EPSILON.default)
    widget(app, "epsilon-typed").set_value(found).run()
    seen(found)
    widget(app, "epsilon-typed").set_value(0.131).run()
    seen(0.131)
    widget(app, "epsilon-slider").set_value(0.8).run()
    seen(0.8)
    press(app, "selection-use")
    seen(found)
    assert len(told) == 1
    assert all(told)
    app.selectbox(key="data").set_value("clinic").run()
    assert LOOKED_AT not in text(app)
    assert held_epsilon(app) == found
    assert "epsilon" not in app.query_params
    widget(app, "epsilon-typed").set_value(0.7).run()
    assert app.query_params["epsilon"] == "0.7", "it was set beside a sample"


def followed(level: float, link: dict[str, str]) -> None:
    import streamlit as st

    from dashboard import session
    from dashboard.view import EPSILON

    session.begin()
    session.change(EPSILON.key, level)
    session.take_epsilon()
    session.follow(link)
    st.text(f"{session.epsilon()} {EPSILON.key in session.link()}")


@pytest.mark.parametrize(
    ("link", "level", "carried"),
    [
        ({"data": "own"}, 0.37, False),
        ({"data": "own", "epsilon": "2"}, 2.0, True),
        ({"data": "clinic"}, session.EPSILON.default, False),
        ({}, session.EPSILON.default, False),
    ],
)
def test_a_link_about_the_file_leaves_epsilon_as_it_is(link: dict[str, str], level: float, *, carried: bool) -> None:
    """None carries it: the next scene about the file would be shown at another one."""
    app = AppTest.from_function(followed, args=(0.37, link), default_timeout=60).run()
    assert [one.value for one in app.text] == [f"{level} {carried}"]


@pytest.mark.thorough
def test_who_has_looked_has_looked_in_the_private_way_too(open_app: Open) -> None:
    app = own(open_app)
    press(app, "own-stop")
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    assert held(app).use == "twin"
    app.switch_page("questions/selection/page.py").run()
    assert LOOKED_AT in text(app)
    widget(app, "epsilon-typed").set_value(0.7).run()
    assert LOOKED_AT in text(app)
    app.switch_page("app_pages/data.py").run()
    press(app, "own-remove")
    assert held_epsilon(app) == session.EPSILON.default


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
    assert offer.before == (Small(RECEIPT_SAYS_LOOKED),)
    assert all(f"- {safe(one, 1000)}\n" in answers_for(offer.request.notes) for one in (note, named))
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
