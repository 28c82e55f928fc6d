"""What small screens need beside the page: ε under the thumb, a sidebar that closes once a page is chosen, and
margins that leave room for charts."""

from __future__ import annotations

import streamlit as st

from dashboard import session
from dashboard.charts.theme import palette
from dashboard.widgets import inputs

NARROW = 768
"""Pixels of width up to which a page is a phone's; from the next one on the sidebar's slider is in sight."""
# Streamlit opens the sidebar over the page there and leaves it open when one of its links is followed.
_FOLDS = f"""<script>
window.sidebarFolds ??= document.addEventListener("click", (event) => {{
  const link = event.target.closest("[data-testid=stSidebar] a");
  if (!link || window.innerWidth > {NARROW}) return;
  setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click());
}}, true) ?? true;
</script>"""
TABLET = 1200
"""Pixels of width up to which the margins of a page beside the sidebar give their room to the charts."""
_MARGINS = f"""<style>
@media (min-width: {NARROW + 1}px) and (max-width: {TABLET}px) {{
  [data-testid="stMainBlockContainer"] {{ padding-left: 2rem; padding-right: 2rem; }}
}}
[data-testid="stMarkdownContainer"] :is(th, td):first-child {{ overflow-wrap: anywhere; }}
</style>"""


def folds() -> None:
    """Close the sidebar of a phone when one of its links is followed; a constant script, nothing of the page in it."""
    st.html(_FOLDS, unsafe_allow_javascript=True)


def margins() -> None:
    """Narrow margins on a tablet, where the sidebar takes a third of the page; and no table is wider than its page,
    however long the name of a row is."""
    st.html(_MARGINS)


def docked_epsilon() -> None:
    """The slider of ε at the lower edge of a phone, where the thumb is and the headline stays in sight.

    It is the same value as the sidebar's slider; on a wide page it is not there, for nobody.
    """
    look = palette(session.dark())
    with st.container(key="docked-epsilon"):
        st.html(
            f"""<style>
.st-key-docked-epsilon {{ display: none; }}
@media (max-width: {NARROW}px) {{
  .st-key-docked-epsilon {{
    display: flex; position: fixed; left: 0; right: 0; bottom: 0; z-index: 50; gap: 0;
    padding: 6px 28px 10px; background: {look.paper}; border-top: 1px solid {look.grid};
  }}
  [data-testid="stMainBlockContainer"] {{ padding-bottom: 150px; }}
}}
</style>"""
        )
        inputs.docked_epsilon()
