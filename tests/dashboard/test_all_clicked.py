"""A page that is sent a click of everything on it at once draws itself all the same: no part of it is there twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.report import deck_button
from tests.dashboard.conftest import Idle

Open = Callable[..., AppTest]
PAGES = ("start", "data", "selection", "thresholding", "experts", "training", "budget", "poll", "demos")
CLICKS = ("bool_value", "trigger_value")
TIMES = 2


def click_all(app: AppTest) -> int:
    """One message that says of everything that can be clicked, opened or ticked that it was; of how many."""
    session = app.session_state._state._state
    message, known = WidgetStates(), session._new_widget_state.widget_metadata
    for name in session._key_id_mapper.id_key_mapping:
        if name in known and known[name].value_type in CLICKS:
            setattr(message.widgets.add(id=name), known[name].value_type, True)
    app._run(message)
    return len(message.widgets)


def defects(app: AppTest) -> list[str]:
    """What a page says where a part of it could not be drawn."""
    return [str(one.value) for kind in (app.exception, app.error) for one in kind]


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_everything_on_a_page_is_clicked_at_once(open_app: Open, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """Again and again: what opens has buttons of its own."""
    idle = Idle()
    app = open_app(page)
    monkeypatch.setattr(compute, "pool", lambda: idle)
    clicked = [click_all(app) for _ in range(TIMES)]
    assert min(clicked) > 0
    assert defects(app) == []


def test_a_part_that_is_there_twice_is_found(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: decks that had one place together, with one button to cancel all of them."""
    idle, begin = Idle(), deck_button.begin
    monkeypatch.setattr(deck_button, "begin", lambda slot, *rest, **more: begin("report-deck", *rest, **more))
    app = open_app("demos")
    monkeypatch.setattr(compute, "pool", lambda: idle)
    assert all(click_all(app) for _ in range(TIMES))
    assert defects(app)
