"""The start page: a finished, living example, and the way to the questions."""

from __future__ import annotations

import streamlit as st

st.title("What does privacy cost in accuracy?")
