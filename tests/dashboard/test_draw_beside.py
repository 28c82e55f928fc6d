"""One private answer beside the chart: one click for practice, a dialog for one's own; kept, counted, never twice."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.budget import tracker
from dashboard.catalogue import address
from dashboard.question import RELEASE, Outcomes
from dashboard.widgets import release as panel
from dashboard.widgets.cards import _rings
from dashboard.words import needs
from dashboard.words import release as said
from dashboard.words.page import ONLY_RELEASE
from dpcore.costs import Cost
from dpcore.ledger import Budget, Known, Ledger
from dpcore.ledger.budget import Caps
from tests.dashboard.conftest import CLINIC, text
from tests.dashboard.test_data_page import declare, drop, held, look

Open = Callable[..., AppTest]


def ledger(file: Path) -> Ledger:
    return Ledger.open(f"sqlite:///{file}")


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def rings(app: AppTest) -> int:
    """Rings in the picture of what one might see."""
    for chart in app.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        for trace in spec["data"]:
            if isinstance(trace.get("marker"), dict) and trace["marker"].get("symbol") == "circle-open":
                return len(trace["text"]) if "text" in trace else _length(trace["x"])
    return 0


def _length(packed: Any) -> int:
    import base64

    return len(packed) if isinstance(packed, list) else len(base64.b64decode(packed["bdata"])) // 4


def test_one_click_draws_charges_and_stays_after_a_refresh(open_app: Open, ledger_file: Path) -> None:
    app = open_app("selection")
    button = app.button(key="selection-now-0")
    assert "ε = 0.5" in button.label
    with ledger(ledger_file) as found:
        assert found.budgets() == [], "looking writes nothing"
    assert rings(app) == 0
    press(app, "selection-now-0")
    assert "Most common:" in text(app)
    assert any("2.5 of 3" in bar.proto.text.replace("\u00a0", " ") for bar in app.get("progress")), "the bar falls"
    assert rings(app) == 1
    press(app, "selection-now-1")
    with ledger(ledger_file) as found:
        receipts = found.history(CLINIC)
        assert [receipt.cost.epsilon for receipt in receipts] == [0.5, 0.5]
        last = receipts[-1].answer["option"]
    again = open_app("selection")
    assert rings(again) == 2
    assert last in text(again)
    assert "the last of 2" in text(again)
    assert said.KEPT_PRACTICE in text(again)
    assert said.KEPT not in text(again), "of a sample nothing is printed elsewhere"


def test_a_click_that_comes_late_shows_the_answer_and_charges_nothing(open_app: Open, ledger_file: Path) -> None:
    """Two windows that both know of no answer: the second click is answered with the first one's."""
    one, other = open_app("selection"), open_app("selection")
    press(one, "selection-now-0")
    press(other, "selection-now-0")
    with ledger(ledger_file) as found:
        assert len(found.history(CLINIC)) == 1
    assert said.ELSEWHERE in text(other)


def test_a_click_while_another_window_s_answer_is_drawn_shows_that_one(open_app: Open, ledger_file: Path) -> None:
    """Twelve clicks at one moment were three charges: each looked before any other had its answer."""
    press(open_app("selection"), "selection-now-0")
    late = open_app("selection")
    with ledger(ledger_file) as found:
        (first,) = found.history(CLINIC)
        asked = {"mechanism": first.mechanism, "neighbours": first.neighbours, "question": first.question}
        found.charge("elsewhere", CLINIC, first.asked_cost, first.what, **asked)

    def drawn() -> None:
        with ledger(ledger_file) as found:
            found.store_answer("elsewhere", first.answer)

    drawing = threading.Timer(0.6, drawn)
    drawing.start()
    press(late, "selection-now-1")
    drawing.join()
    with ledger(ledger_file) as found:
        assert [one.request_id for one in found.history(CLINIC)] == [first.request_id, "elsewhere"]
    assert said.ELSEWHERE in text(late)
    press(late, "selection-now-2")
    with ledger(ledger_file) as found:
        assert len(found.history(CLINIC)) == 3, "who has seen it may ask again"


def test_a_click_that_came_twice_is_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that hangs up and comes back by its id sends the click again, while the first is under way."""
    waiting: list[tuple[str, str, Known]] = []
    asked: list[str | None] = []
    monkeypatch.setattr(session, "begin_release", lambda slot, seen: waiting.append((slot, f"{len(waiting)}", seen)))
    monkeypatch.setattr(session, "request_id", lambda slot: waiting[-1][1] if waiting else None)
    monkeypatch.setattr(session, "seen_before", lambda slot: waiting[-1][2] if waiting else None)
    monkeypatch.setattr(panel, "_release", lambda here, request_id, seen: asked.append(request_id))
    here: Any = SimpleNamespace(slot="selection")
    for known in (Known(), Known(), Known(answers=1), Known(answers=1)):
        panel._draw_now(here, known)
    assert asked == ["0", "0", "1", "1"], "a later look is another request"


def test_what_does_not_fit_cannot_be_clicked(open_app: Open, ledger_file: Path) -> None:
    with ledger(ledger_file) as found:
        found.open_budget(CLINIC, epsilon=0.3, practice=True)
        found.charge("r", CLINIC, Cost.pure(0.1), "?", neighbours="add_remove")
    app = open_app("selection")
    assert app.button(key="selection-now-0").disabled
    assert needs.too_dear(0.2) in text(app), "the card warns of an ε that the budget cannot pay"


def shown(lineage: str | None) -> None:
    from dataclasses import replace

    from dashboard import session
    from dashboard.data import source
    from dashboard.question import Offer
    from dashboard.widgets.release import draw_beside
    from tests.dashboard.asking import Draw

    session.begin()
    current = source.current()
    assert current is not None
    if lineage is not None:
        current = replace(current, lineage=lineage, practice=False, mode="what_if", title="own.csv")
    request = Draw(epsilon=0.5)
    offer = Offer(
        request=request,
        data=lambda: ["row"],
        forecast="not at all",
        describe=lambda one: f"Number {one['number']}",
        gives="one number",
    )
    draw_beside(current, offer, slot="test", tab="test_open")


@pytest.fixture
def window(ledger_file: Path) -> Open:
    st.cache_resource.clear()
    st.cache_data.clear()
    return lambda lineage=None: AppTest.from_function(shown, args=(lineage,), default_timeout=600).run()


def test_ones_own_file_asks_before_it_draws(window: Open, ledger_file: Path) -> None:
    with ledger(ledger_file) as found:
        found.open_budget("ours", epsilon=2.0)
    app = window("ours")
    press(app, "test-now-0")
    with ledger(ledger_file) as found:
        assert found.history("ours") == []
    press(app, "test-confirm")
    with ledger(ledger_file) as found:
        assert len(found.history("ours")) == 1


def test_without_a_budget_or_with_a_broken_ledger_no_button_draws(window: Open, ledger_file: Path) -> None:
    assert [one.key for one in window("nobody yet").button] == ["test-below"], "it draws nothing"
    shutil.copy(ledger_file, ledger_file.with_suffix(".kept"))
    ledger_file.write_bytes(b"no ledger")
    st.cache_resource.clear()
    st.cache_data.clear()
    assert not window().button


def test_an_answer_that_is_nobodys_row_is_among_the_others() -> None:
    found = Outcomes(
        names=("a", "b", "c"), chances=(1.0, 0.0, 0.0), good=(True, False, False), place=lambda one: "abc".find(one)
    )
    assert _rings(found, [0], ["a", "c", "c"]) == [1, 2]
    assert _rings(Outcomes(names=("a",), chances=(1.0,), good=(True,)), [0], ["a"]) == [0, 0]


@pytest.mark.parametrize(("delta", "told"), [(1e-5, True), (1e-7, False), (0.0, False)])
def test_the_tracker_says_when_the_tiny_chance_runs_out_first(delta: float, told: bool) -> None:
    caps = Caps.of(3.0, 1e-5, "sum")
    found = Budget(lineage="x", name="x", practice=True, generation=1, caps=caps)
    text = tracker.answers_words(found, Cost(epsilon=0.5, delta=delta), "", "person")
    assert ("δ runs out first" in text) == told


def test_an_answer_is_confirmed_where_the_file_gives_no_picture(open_app: Open, ledger_file: Path) -> None:
    """Nothing stands beside a chart there, so the tab itself asks: whether one can be drawn must not hang on rows."""
    app = drop(open_app("data"), ("ward\n" + "north\nsouth\n" * 9).encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "ward", categories="east\nwest", public=True)
    look(app)
    with ledger(ledger_file) as found:
        found.open_budget(str(held(app).lineage), epsilon=3.0)
    app.switch_page(address("selection")).run()
    assert ONLY_RELEASE in text(app)
    for count in (1, 2):
        press(app, "selection-begin")
        press(app, "selection-confirm")
        with ledger(ledger_file) as found:
            assert len(found.history(str(held(app).lineage))) == count
    assert all(button.key != "selection-confirm" for button in app.button), "it asks when it is pressed, and no more"


def test_without_a_budget_a_button_leads_to_where_one_is_opened(window: Open, ledger_file: Path) -> None:
    app = window("ours")
    assert not [one.key for one in app.button if one.key == "test-now-0"]
    press(app, "test-below")
    assert app.session_state["_set"]["test_open"] == RELEASE
    with ledger(ledger_file) as found:
        found.open_budget("ours", epsilon=2.0)
    assert [one.key for one in window("ours").button] == ["test-now-0"]
