"""What follows the finger is what the page says at that step, word for word."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, session
from dashboard.case import Case, DrawnModel, Source
from dashboard.catalogue import address
from dashboard.controls import Setting
from dashboard.question import CannotAsk
from dashboard.widgets import finger
from dashboard.widgets.finger import pieces, told
from dpcore.grid import on_grid
from tests.dashboard import conftest
from tests.dashboard.test_data_page import declare, drop, look
from tests.dashboard.test_same_before_the_answer import RECORDS
from tests.questions.following import same
from tests.questions.samples import sample_case

QUICK = [
    (page.key, key) for page in catalogue.pages() if page.key != "training" for key in catalogue.questions(page.key)
]
"""Questions that need no simulation beside the page; for the others see ``tests/questions/test_training.py``."""


@cache
def suitable(page: str, key: str) -> str:
    """A sample that the question can be asked about."""
    for name in ("clinic", "outbreak", "forecasts"):
        try:
            catalogue.questions(page)[key].ask(sample_case(name), Setting())
        except CannotAsk:
            continue
        return name
    raise AssertionError(f"no sample for {key}")


@pytest.mark.parametrize(("page", "key"), QUICK)
@pytest.mark.parametrize("level", [session.EPSILON_STEPS[0], 0.1, 2.0, session.EPSILON_STEPS[-1]])
def test_every_step_says_what_the_question_says(
    page: str, key: str, level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "Reader", Setting)
    kind, name = catalogue.questions(page)[key], suitable(page, key)
    found = told(kind, sample_case(name, 0.5), level, dark=False)
    there = kind.ask(sample_case(name, level), Setting())
    assert there.follows
    same(found, there)
    other = told(kind, sample_case(name, 0.5), 0.02, dark=False)
    assert other["headline"] != found["headline"], "another step says something else"


def test_the_finger_takes_from_a_file_what_lies_on_the_public_grid(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let go of at a level between two steps that was typed, it leaves that as it is."""
    assert all(on_grid(step) for step in session.EPSILON_STEPS)
    app = drop(open_app("data"), "\n".join(["colour,number,answer", *RECORDS, ""]).encode(), name="file.csv")
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    look(app)
    app.switch_page(address("selection")).run()
    app.number_input(key="epsilon-typed").set_value(0.37).run()
    begin: list[float] = []
    now: list[float] = []
    first = session.begin

    def let_go(*given: Any, **named: Any) -> Any:
        """As the callback of the finger, which comes before the page is drawn."""
        found = first(*given, **named)
        while begin:
            st.session_state["finger"] = {"epsilon": begin.pop()}
            session.epsilon_from_picture("finger")
            now.append(session.epsilon())
        return found

    monkeypatch.setattr(session, "begin", let_go)
    for level in (0.37, 0.4, 0.41):
        begin.append(level)
        app.run()
        assert not app.exception
        assert "went wrong" not in conftest.text(app)
    assert now == [0.37, 0.4, 0.4]


UNSAID = {
    *("epsilon", "brief", "memo", "large", "results", "complete", "finished"),
    *("declared", "so_far", "rows", "unreleased", "lineage", "join", "count", "everybodys", "drawn_from", "lines"),
    *("in_place", "shown"),
}
"""What no step says anything of: what is asked for, kept and computed beside it, and what may be released."""
OTHER: dict[str, Any] = {
    "delta": 1e-3,
    "hides": "replace_one",
    "counting": "zcdp",
    "models": (DrawnModel(receipt="a", answer=dict, when="then", same=True),),
    "key": "another",
    "title": "Another",
    "mode": "twin",
    "practice": False,
    "related": frozenset({"age"}),
}


def hangs_on() -> set[str]:
    """The fields of a case, and of its data, of which another value has its steps found anew."""
    case = sample_case("clinic")
    found = set()
    for name, value in OTHER.items():
        own = name in {one.name for one in fields(Case)}
        other = replace(case, **{name: value}) if own else replace(case, source=replace(case.source, **{name: value}))
        found |= {name} if finger.about(other) != finger.about(case) else set()
    alone = replace(OTHER["models"][0], alone=True)
    if finger.about(replace(case, models=(alone,))) == finger.about(replace(case, models=OTHER["models"])):
        found -= {"models"}
    other_rows = replace(case.table, fingerprint="another")
    anew = replace(case, source=replace(case.source, table=other_rows))
    return found | ({"source", "table"} if finger.about(anew) != finger.about(case) else set())


def test_steps_are_found_anew_for_whatever_they_may_say() -> None:
    """Beside a second model they said what had been proved of the only one."""
    assert hangs_on() == {one.name for kind in (Case, Source) for one in fields(kind)} - UNSAID


def test_steps_of_other_models_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    held = finger.about
    monkeypatch.setattr(finger, "about", lambda case: held(replace(case, models=())))
    assert "models" not in hangs_on()


def test_markup_becomes_plain_words() -> None:
    assert pieces(r"At **5** the \*best\* is a\_b &amp; c") == ["At ", "5", " the *best* is a_b & c"]
    for page, key in QUICK:
        question = catalogue.questions(page)[key].ask(sample_case(suitable(page, key)), Setting())
        for text in (question.headline, question.caption):
            plain = "".join(pieces(text))
            assert not re.search(r"\*\*|\\[^ ]|:material/|\]\(", plain), plain
            assert plain == html.unescape(plain)


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page.key for page in catalogue.pages() if page.key != "training"])
def test_a_page_hands_the_browser_every_step(
    page: str, open_app: Callable[..., AppTest], every_step: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[dict[str, Any]] = []
    for component in ("_STEPS", "_FOLLOW"):
        monkeypatch.setattr(finger, component, lambda **sent: handed.append(sent["data"]))
    open_app(page)
    (steps, data) = handed
    assert data["steps"] == steps["name"]
    assert [step["level"] for step in steps["levels"]] == list(session.EPSILON_STEPS)
    assert steps["levels"][data["at"]]["level"] in session.EPSILON_STEPS
    assert len({str(step["headline"]) for step in steps["levels"]}) > 5
