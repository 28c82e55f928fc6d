"""The glossary, one tap away on every page."""

from __future__ import annotations

import streamlit as st

from dashboard import session
from dashboard.replay import part
from dashboard.widgets.inputs import text_box
from dashboard.words import glossary


def words() -> None:
    """Draw the button that opens it."""
    part(("glossary", session.entered("glossary-find", "")), _book)


def _book() -> None:
    with st.popover(glossary.TITLE, icon=":material/menu_book:", type="tertiary", key="glossary"):
        st.markdown(glossary.found(text_box(glossary.FIND, key="glossary-find", most=glossary.LONGEST_SOUGHT)))
