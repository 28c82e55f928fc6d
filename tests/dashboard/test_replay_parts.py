"""A part of a page is said again as a whole where its key and its widgets say that it is the same, and only there."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.replay import parts, widgets

HEAD = """
import streamlit as st
from functools import partial
from dashboard import replay
state = st.session_state
state["runs"] = state.get("runs", 0) + 1
drawn = state.setdefault("drawn", [])
drawn.clear()

def noted(name, draw):
    def do():
        drawn.append(name)
        draw()
    return do
"""


def page(body: str) -> AppTest:
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    script = f"{HEAD}\nwith replay.drawing(state.setdefault('_memory', replay.Memory())):\n{indented}\n"
    app = AppTest.from_string(script, default_timeout=60).run()
    assert not app.exception, app.exception
    return app


def run(app: AppTest) -> list[str]:
    app.run()
    assert not app.exception, app.exception
    return list(app.session_state["drawn"])


CARD = """
def card():
    with st.container(border=True):
        st.caption(f"one of {state.get('of', 1)}")
        with st.popover("more"):
            st.markdown("inside")
st.title("above")
replay.part(("card", state.get("of", 1)), noted("card", card))
st.caption("below")
"""


def test_a_part_is_drawn_once_for_one_key() -> None:
    app = page(CARD)
    assert run(app) == []
    assert [one.value for one in app.caption] == ["one of 1", "below"]
    assert app.markdown[0].value == "inside"
    app.session_state["of"] = 2
    assert run(app) == ["card"]
    assert [one.value for one in app.caption] == ["one of 2", "below"]
    app.session_state["of"] = 1
    assert run(app) == []
    assert app.caption[0].value == "one of 1"


def test_what_stands_above_moves_a_part() -> None:
    app = page('if state.get("more"):\n    st.info("first")\n' + CARD)
    app.session_state["more"] = True
    assert run(app) == []
    assert app.info[0].value == "first"
    assert [one.value for one in app.caption] == ["one of 1", "below"]


WIDGETS = """
def asks():
    state["which"] = state.get("wanted", "a")
    st.selectbox("which", ("a", "b"), key="which")
    st.number_input("n", 0, 9, key="n")
    if st.button("press", key="press"):
        state["pressed"] = True
replay.part(("asks", state.get("wanted", "a")), noted("asks", asks))
state["seen"] = (state["which"], state["n"])
"""


def test_a_widget_of_a_part_holds_what_it_is_set_to() -> None:
    app = page(WIDGETS)
    run(app)
    assert run(app) == []
    assert app.session_state["seen"] == ("a", 0)
    app.number_input(key="n").set_value(4).run()
    assert app.session_state["drawn"] == ["asks"], "it holds something else"
    assert app.session_state["seen"] == ("a", 4)
    assert run(app) == []
    assert app.number_input(key="n").value == 4
    app.button(key="press").click().run()
    assert app.session_state["drawn"] == ["asks"]
    assert app.session_state["pressed"] is True
    app.session_state["wanted"] = "b"
    assert run(app) == ["asks"]
    assert app.session_state["seen"] == ("b", 4)
    run(app)  # the browser says what it was told
    assert run(app) == []
    assert app.selectbox(key="which").value == "b", "what the page put there is put there again"


def test_a_part_that_does_not_look_at_its_widgets_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "alike", lambda now, then: True)
    app = page(WIDGETS)
    run(app)
    run(app)
    app.button(key="press").click().run()
    assert "pressed" not in app.session_state, "the mutant: nobody hears of the click"


def test_a_key_that_is_too_short_would_be_found() -> None:
    app = page(CARD.replace('("card", state.get("of", 1))', '("card",)'))
    run(app)
    app.session_state["of"] = 2
    run(app)
    assert app.caption[0].value == "one of 1", "the mutant: what the part hangs on is not in its key"


@pytest.mark.parametrize(
    ("element", "again"),
    [
        ('st.button("x", key="x", on_click=lambda: None)', False),
        ('st.button("x", key="x", on_click=partial(print, 1))', False),
        ('st.button("x", key="x", on_click=session_change, args=("key", 1))', True),
        ('st.button("x", key="x", on_click=session_change, args=("key", object()))', False),
        ('st.download_button("x", b"x", "x.txt", key="x")', False),
        ('st.file_uploader("x", key="x")', False),
        ('st.form("x").caption("x")', False),
        ('st.fragment(lambda: st.caption("x"))()', False),
        ('st.caption("x")', True),
    ],
)
def test_only_what_its_key_can_tell_is_said_again(element: str, again: bool) -> None:
    body = "from dashboard.session import change as session_change\n"
    body += f"replay.part(('one',), noted('one', lambda: {element}))"
    app = page(body)
    run(app)
    assert run(app) == ([] if again else ["one"])


def test_whom_a_part_calls_is_the_one_of_its_key_where_it_says_so() -> None:
    app = page("""
wanted = state.get("wanted", 1)
def press():
    state["told"] = wanted
replay.part(("press", wanted), noted("press", lambda: st.button("press", key="press", on_click=press)), told=True)
""")
    run(app)
    assert run(app) == []
    app.button(key="press").click().run()
    assert app.session_state["told"] == 1
    app.session_state["wanted"] = 2
    assert run(app) == ["press"]
    app.run()
    app.button(key="press").click().run()
    assert app.session_state["told"] == 2


def test_a_part_within_a_part() -> None:
    app = page("""
def inner():
    st.caption("inner")
def outer():
    st.caption("outer")
    replay.part(("inner",), noted("inner", inner))
    st.number_input("n", 0, 9, key="n")
replay.part(("outer", state.get("more", 0)), noted("outer", outer))
""")
    assert run(app) == []
    assert [one.value for one in app.caption] == ["outer", "inner"]
    app.session_state["more"] = 1
    assert run(app) == ["outer"], "what is within is known"
    assert [one.value for one in app.caption] == ["outer", "inner"]
    assert run(app) == []
    app.number_input(key="n").set_value(2).run()
    assert app.session_state["drawn"] == ["outer"]


def test_a_key_twice_is_refused_as_before(caplog: pytest.LogCaptureFixture) -> None:
    app = page("""
for _ in range(state.get("times", 1)):
    replay.part(("box",), lambda: st.container(key="box").caption("x"))
""")
    app.run()
    app.session_state["times"] = 2
    app.run()
    assert app.exception
    assert "multiple elements with the same `key='box'`" in caplog.text


def test_outside_of_a_run_a_part_is_drawn() -> None:
    drawn: list[Any] = []
    for _ in range(2):
        parts.part(("x",), lambda: drawn.append(None))
    assert len(drawn) == 2
