"""ε has several widgets; each is obeyed by what it holds, and one that holds nothing says nothing."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def called_back() -> None:
    import streamlit as st

    from dashboard import session

    st.session_state["drawn"], st.session_state[session.EPSILON.key] = 2.0, 1.0
    session.epsilon_from("never drawn", "drawn")
    shown = session._EPSILON_WIDGETS.once().setdefault("slider", {})
    shown.update({"drawn": 1.0, "gone": 1.0})
    session.epsilon_from("slider", "gone")
    st.text(str(st.session_state.get(session.EPSILON.key)))
    session.epsilon_from("slider", "drawn")
    st.text(str(st.session_state.get(session.EPSILON.key)))


def test_a_widget_without_a_value_moves_nothing() -> None:
    app = AppTest.from_function(called_back).run()
    assert not app.exception
    assert [one.value for one in app.text] == ["1.0", "2.0"]
