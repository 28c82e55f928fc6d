"""Up to four named scenarios side by side, in the link and in the export."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.widgets.picture import csv

LIMIT = 4
_BETWEEN, _INSIDE, _EQUALS = " | ", "; ", " = "


def show(page: str, current: Mapping[str, str], mark: str | None) -> None:
    """The kept scenarios of ``page`` as a table, and a button that keeps ``current`` as one more."""
    key = f"{page}_kept"
    kept = read(session.get(key, ""))
    st.markdown("**Kept scenarios**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name", placeholder=f"Scenario {len(kept) + 1}", key=f"{page}-kept-name", width=200, max_chars=30
        )
        st.button(
            "Keep this scenario",
            icon=":material/push_pin:",
            disabled=len(kept) >= LIMIT,
            help=f"Up to {LIMIT}; forget one to keep another." if len(kept) >= LIMIT else None,
            on_click=_keep,
            args=(key, name or f"Scenario {len(kept) + 1}", dict(current)),
        )
        if kept:
            st.button("Forget the last", icon=":material/undo:", on_click=_forget_last, args=(key,))
            st.download_button("Export", lambda: csv(table(kept), mark), f"{page}-scenarios.csv", on_click="ignore")
        with st.popover("In the link", type="tertiary", icon=":material/link:"):
            st.text_input(
                "Kept scenarios as text; they travel in the link", key=key, bind="query-params", max_chars=1500
            )
    if kept:
        st.table(table(kept).set_index("scenario").T, alt="Kept scenarios side by side")


def read(text: str) -> list[dict[str, str]]:
    """Scenarios from their text; entries that make no sense are left out, as a link may hold anything."""
    found = []
    for part in text[:1500].split(_BETWEEN.strip()):
        fields = [field.partition(_EQUALS.strip()) for field in part.split(_INSIDE.strip())]
        pairs = {name.strip(): value.strip() for name, sign, value in fields if sign}
        if "scenario" in pairs:
            found.append(pairs)
    return found[:LIMIT]


def table(kept: list[dict[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(kept).fillna("")


def write(kept: list[dict[str, str]]) -> str:
    return _BETWEEN.join(
        _INSIDE.join(f"{_clean(name)}{_EQUALS}{_clean(value)}" for name, value in pairs.items()) for pairs in kept
    )


def _clean(text: str) -> str:
    return "".join(c for c in text if c not in "|;=").strip()


def _keep(key: str, name: str, current: dict[str, str]) -> None:
    kept = read(session.get(key, ""))
    session.put(key, write([*kept, {"scenario": _clean(name) or f"Scenario {len(kept) + 1}", **current}][:LIMIT]))


def _forget_last(key: str) -> None:
    session.put(key, write(read(session.get(key, ""))[:-1]))
