"""Under every chart stands what half and twice the ε would do: the very numbers that the page says when ε is so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, words
from dashboard.words import levels as said
from tests.dashboard.conftest import rested, text

Open = Callable[..., AppTest]
PAGES = ("selection", "thresholding", "experts")
ASKED = [(page, key) for page in PAGES for key in catalogue.questions(page)]
"""Of training every point is simulated: see ``test_training_tells_what_is_missed``."""


def rows(app: AppTest) -> dict[str, list[str]]:
    """The rows of the table by their names."""
    shown = next(
        part for part in text(app).split("\n\n") + text(app).split("\n") if part.startswith("| privacy loss ε |")
    )
    start = text(app).index(shown)
    lines = [line for line in text(app)[start:].split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {one[0]: one[1:] for one in cells}


@pytest.mark.parametrize(("page", "question"), ASKED)
def test_half_and_twice_are_what_the_page_says_there(open_app: Open, page: str, question: str) -> None:
    choice = catalogue.question_choice(next(one for one in catalogue.pages() if one.key == page))
    app = open_app(page, **{choice.key: question})
    app.number_input(key="epsilon-typed").set_value(0.5).run()
    told = rows(app)
    assert told["privacy loss ε"] == ["half: 0.25", "now: 0.5", "twice: 1"]
    for place, level in ((0, 0.25), (2, 1.0)):
        app.number_input(key="epsilon-typed").set_value(level).run()
        there = rows(app)
        assert there["privacy loss ε"][1] == f"now: {words.number(level)}"
        assert {name: cells[place] for name, cells in told.items() if name != "privacy loss ε"} == {
            name: cells[1].removeprefix("**").removesuffix("**")
            for name, cells in there.items()
            if name != "privacy loss ε"
        }


@pytest.mark.parametrize("page", PAGES)
def test_what_the_budget_pays_for_is_what_the_sidebar_says(open_app: Open, page: str) -> None:
    app = open_app(page)
    app.number_input(key="epsilon-typed").set_value(0.5).run()
    assert f"{rows(app)[said.ANSWERS][1]} more answers".replace("**", "") in text(app).replace("**", "")


@pytest.mark.parametrize(
    ("value", "hundred", "told"),
    [(99.96, True, "almost 100"), (99.96, False, "100"), (100.0, True, "100"), (5e-5, True, "about 0")],
)
def test_nothing_is_rounded_to_certainty(value: float, hundred: bool, told: str) -> None:
    assert words.height(value, hundred=hundred) == told


@pytest.mark.parametrize(("level", "shown"), [(0.01, ["now: 0.01", "twice: 0.02"]), (10.0, ["half: 5", "now: 10"])])
def test_no_level_is_off_the_scale(open_app: Open, level: float, shown: list[str]) -> None:
    app = open_app("selection")
    app.number_input(key="epsilon-typed").set_value(level).run()
    assert rows(app)["privacy loss ε"] == shown


def test_training_tells_what_is_missed(open_app: Open) -> None:
    app = rested(open_app("training"))
    told = rows(app)
    missed = told["missed, of 100 that are “malignant”"]
    assert len(missed) == 3
    assert f"it misses {missed[1].strip('*')} (" in text(app)
    assert f"**{missed[1].strip('*')} of 100 that are “malignant”** wrong" in text(app)
    low, high = (float(cells) for cells in (missed[0], missed[2]))
    assert low > high  # half the ε misses more


def test_where_delta_runs_out_first_that_is_said(open_app: Open) -> None:
    """As the sidebar does: by ε alone more answers would fit."""
    app = open_app("experts")
    app.number_input(key="epsilon-typed").set_value(0.5).run()
    assert rows(app)[said.ANSWERS] == ["10\\*", "**6**", "3"]
    assert said.BY_DELTA in text(app)
    app.number_input(key="epsilon-typed").set_value(2.0).run()
    assert said.BY_DELTA not in text(app)


@pytest.mark.parametrize("page", PAGES)
def test_whether_a_level_is_enough_is_what_the_headline_says_there(open_app: Open, page: str) -> None:
    app, seen = open_app(page), set()
    for level in (0.05, 0.5, 10.0):
        app.number_input(key="epsilon-typed").set_value(level).run()
        listed = rows(app)
        told = next(listed[name] for average in (False, True) if (name := said.enough(average=average)) in listed)
        now = told[0 if level == 0.05 and len(told) == 2 else 1].strip("*")
        headline = next(line for line in text(app).split("\n") if line.startswith("### "))
        assert now == said.MET[any(word in headline for word in ("enough for", "within the"))], headline
        seen.add(now)
    assert seen == set(said.MET), "both are seen"
