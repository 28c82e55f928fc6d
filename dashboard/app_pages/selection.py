"""Selection: one private choice."""

from __future__ import annotations

import streamlit as st

from dashboard import source
from dashboard.panels.selection import most_common

current = source.current()
if current is None:
    st.info("Decide on the Data page how your file may be used.")
    st.stop()
most_common.show(current)
