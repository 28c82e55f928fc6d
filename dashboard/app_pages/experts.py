"""Online experts: whom to follow, day after day, without revealing any single day."""

from __future__ import annotations

import streamlit as st

from dashboard.data import source
from dashboard.questions.experts import follow, linear

QUESTIONS = {
    "Whom to follow": follow.show,
    "Best fixed choice for a linear cost": linear.show,
}

current = source.current()
if current is None:
    st.title("Online experts")
    st.info("Decide on the Data page how your file may be used; then come back here.")
else:
    asked = st.segmented_control(
        "Question",
        list(QUESTIONS),
        default="Whom to follow",
        required=True,
        key="experts_question",
        bind="query-params",
        label_visibility="collapsed",
    )
    QUESTIONS[str(asked)](current)
