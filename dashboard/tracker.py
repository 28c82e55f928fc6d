"""The sidebar's budget tracker."""

from __future__ import annotations

import streamlit as st

from dashboard.source import Source


def sidebar(source: Source | None) -> None:
    with st.container(border=True):
        st.markdown("**Budget**")
