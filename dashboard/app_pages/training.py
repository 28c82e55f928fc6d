"""Private training: the best private model for the budget."""

from __future__ import annotations

import streamlit as st

from dashboard.data import source
from dashboard.questions.training import predict

current = source.current()
if current is None:
    st.title("Private training")
    st.info("Decide on the Data page how your file may be used; then come back here.")
else:
    predict.show(current)
