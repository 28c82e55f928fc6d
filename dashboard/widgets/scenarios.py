"""Up to four named scenarios side by side, in the link and in the export."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.controls import Kept
from dashboard.widgets.download import download
from dashboard.widgets.inputs import text_box
from dashboard.widgets.picture import csv
from dashboard.widgets.tables import show_table

NAME = "scenario"


def control(page: str, *, linked: bool) -> Kept:
    """What is kept on a page."""
    return Kept(key=f"{page}_kept", label="Kept scenarios", default=(), linked=linked)


def show_scenarios(page: str, current: Sequence[tuple[str, str]], mark: str | None, *, linked: bool) -> None:
    """The kept scenarios of ``page`` as a table, and a button that keeps ``current`` as one more."""
    kept_here = control(page, linked=linked)
    kept = session.ask(kept_here)
    st.markdown("**Kept scenarios**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = text_box("Name", placeholder=f"Scenario {len(kept) + 1}", key=f"{page}-kept-name", width=200, most=30)
        full = len(kept) >= kept_here.most
        st.button(
            "Keep this scenario",
            icon=":material/push_pin:",
            disabled=full,
            help=f"Up to {kept_here.most}; forget one to keep another." if full else None,
            on_click=_keep,
            args=(kept_here, name, tuple(current)),
        )
        if kept:
            st.button("Forget the last", icon=":material/undo:", on_click=_forget_last, args=(kept_here,))
            download("Export", lambda: csv(table(kept), mark), f"{page}-scenarios.csv", "text/csv", icon=None)
    if kept:
        show_table(table(kept).set_index(NAME).T, alt="Kept scenarios side by side", border=True)


def table(kept: Sequence[Sequence[tuple[str, str]]]) -> pd.DataFrame:
    """One row a scenario; a name that was given twice is told apart by its place."""
    rows = [dict(pairs) for pairs in kept]
    for place, row in enumerate(rows):
        row.setdefault(NAME, f"Scenario {place + 1}")
    names = [row[NAME] for row in rows]
    for place, row in enumerate(rows):
        if names.count(row[NAME]) > 1:
            row[NAME] = f"{row[NAME]} ({names[: place + 1].count(row[NAME])})"
    return pd.DataFrame(rows).fillna("")


def _keep(kept_here: Kept, name: str, current: tuple[tuple[str, str], ...]) -> None:
    kept = session.value(kept_here)
    called = name.strip() or f"Scenario {len(kept) + 1}"
    session.change(kept_here.key, (*kept, ((NAME, called), *current))[: kept_here.most])


def _forget_last(kept_here: Kept) -> None:
    session.change(kept_here.key, session.value(kept_here)[:-1])
