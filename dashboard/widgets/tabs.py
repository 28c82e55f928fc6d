"""Peer views of a page of the product's own: Data and Budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st


def tabs(page: str, bodies: Mapping[str, Callable[[], None]]) -> None:
    """Views side by side; only the open one runs."""
    names = list(bodies)
    for tab, name in zip(st.tabs(names, key=f"{page}_tab", on_change="rerun"), names, strict=True):
        if tab.open:
            with tab:
                bodies[name]()
