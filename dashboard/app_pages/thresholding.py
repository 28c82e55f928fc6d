"""Thresholding: tell me when a count passes the line, and answer nothing else."""

from __future__ import annotations

import streamlit as st

from dashboard.data import source
from dashboard.questions.thresholding import watch

current = source.current()
if current is None:
    st.title("Thresholding")
    st.info("Decide on the Data page how your file may be used; then come back here.")
else:
    watch.show(current)
