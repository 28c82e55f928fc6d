"""What is found from a person's own values is shown on the public grid alone, and each ε has a button."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import view
from dashboard.controls import Number
from dashboard.question import Need
from dashboard.view import Needed
from dashboard.widgets import cards
from dpcore.grid import on_grid


def page(epsilon: float, surely: float | None, own: bool) -> None:

    import streamlit as st

    from dashboard import session
    from dashboard.controls import Number
    from dashboard.question import Need
    from dashboard.view import Most, Needed, found_level
    from dashboard.widgets import cards

    session.begin()
    needed = Needed(
        epsilon=found_level(epsilon, own=own),
        size=None,
        size_word="people",
        possible=True,
        sized=False,
        average=True,
        most=Most(answers="models", epsilon=found_level(surely, own=own), found="measured"),
    )
    need = Need(control=Number(key="need", label="I need", default=1.0, low=0.0, high=9.0), found=needed)
    cards.need(need, [], key="a", own=own)
    st.text(f"{session.epsilon()}")


def shown(epsilon: float, surely: float | None, *, own: bool) -> AppTest:
    app = AppTest.from_function(page, args=(epsilon, surely, own), default_timeout=60).run()
    assert not app.exception
    return app


def told(app: AppTest) -> dict[str, Any]:
    return {"metrics": [one.value for one in app.metric], "buttons": [one.label for one in app.button]}


def test_neighbours_between_two_levels_of_the_list_show_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = shown(0.161, 0.269, own=True), shown(0.155, 0.26, own=True)
    assert told(one) == told(other)
    assert all(on_grid(float(value)) for value in told(one)["metrics"])
    assert told(one)["buttons"] == [f"Use ε = {value}" for value in told(one)["metrics"]]
    assert told(shown(0.161, 0.269, own=False)) != told(shown(0.155, 0.26, own=False)), "data that everybody may see"
    monkeypatch.setattr(view, "round_up", lambda level: level)
    assert told(shown(0.161, 0.269, own=True)) != told(shown(0.155, 0.26, own=True)), "what shows that it can fail"


@pytest.mark.parametrize("which", ["use", "use-most"])
def test_each_button_takes_what_it_says(which: str) -> None:
    app = shown(0.161, 0.269, own=True)
    button = app.button(key=f"a-{which}")
    said = button.label
    button.click().run()
    assert [f"Use ε = {one.value}" for one in app.text] == [said]


def test_where_nine_of_ten_never_reach_it_there_is_one_button() -> None:
    assert told(shown(0.161, None, own=True))["buttons"] == ["Use ε = 0.2"]


@pytest.mark.parametrize("own", [True, False])
def test_where_the_average_needs_next_to_nothing_the_other_has_its_button(*, own: bool) -> None:
    app = shown(0.005, 0.269, own=own)
    assert told(app)["buttons"] == [f"Use ε = {told(app)['metrics'][1]}"]
    assert "free here" not in " ".join(str(one.value) for one in app.markdown)


@pytest.mark.parametrize("own", [True, False])
def test_the_card_is_drawn_again_only_for_what_is_found_anew(monkeypatch: pytest.MonkeyPatch, *, own: bool) -> None:
    """What is kept is known by what was found."""
    keys: list[Any] = []
    monkeypatch.setattr(cards.replay, "part", lambda about, draw, **_: keys.append(about))
    monkeypatch.setattr(cards.controls, "now", lambda every: ())
    monkeypatch.setattr(cards.session, "epsilon", lambda: 0.5)
    found = Needed(epsilon=0.161, size=None, size_word="people", possible=True)
    need = Need(control=Number(key="need", label="I need", default=1.0, low=0.0, high=9.0), found=found)
    for asked in (need, need, replace(need, found=replace(found))):
        cards.need(asked, [], key="a", own=own)
    assert keys[0] == keys[1]
    assert keys[1] != keys[2]
