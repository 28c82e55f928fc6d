"""Selection: one private choice, three questions."""

from __future__ import annotations

import streamlit as st

from dashboard.data import source
from dashboard.questions.selection import most_common, quantile, rule

QUESTIONS = {
    "Most common or best": most_common.show,
    "Median or quantile": quantile.show,
    "Best simple rule": rule.show,
}

current = source.current()
if current is None:
    st.title("Selection")
    st.info("Decide on the Data page how your file may be used; then come back here.")
else:
    asked = st.segmented_control(
        "Question",
        list(QUESTIONS),
        default="Most common or best",
        required=True,
        key="question",
        bind="query-params",
        label_visibility="collapsed",
    )
    QUESTIONS[str(asked)](current)
