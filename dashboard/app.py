"""Epsilon Lab: page configuration, navigation and the sidebar frame.

Everything is inside ``main``: a worker process imports this file under another name, and must not run the app.
"""

from __future__ import annotations

import sys
from pathlib import Path

# `streamlit run dashboard/app.py` puts this folder, not the project's root, on the path.
if str(Path(__file__).parents[1]) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parents[1]))

SIDEBAR = 330  # pixels, so that the names of most samples fit
ICON = Path(__file__).parent / "icon.svg"  # a named icon would be fetched from a third party by every visitor
PAGES = Path(__file__).parent / "app_pages"
# (file, title, icon); a page that is not there does not appear.
ORDER = (
    ("start", "Start", ":material/home:"),
    ("data", "Data", ":material/table:"),
    ("selection", "Selection", ":material/how_to_vote:"),
    ("thresholding", "Thresholding", ":material/notifications_active:"),
    ("experts", "Online experts", ":material/groups:"),
    ("training", "Private training", ":material/model_training:"),
    ("budget", "Budget", ":material/account_balance_wallet:"),
)


def main() -> None:
    """One run of the script."""
    import streamlit as st

    from dashboard import session, words
    from dashboard.background import compute
    from dashboard.budget import tracker
    from dashboard.data import source
    from dashboard.widgets import inputs as controls
    from dpcore.datasets import samples

    st.set_page_config(
        page_title="Epsilon Lab",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=SIDEBAR,
        menu_items={"About": "Epsilon Lab: what privacy costs in accuracy, before you pay for it."},
    )
    session.begin()
    compute.warm_up()

    pages = {
        name: st.Page(PAGES / f"{name}.py", title=title, icon=icon, url_path=name, default=name == "start")
        for name, title, icon in ORDER
        if (PAGES / f"{name}.py").exists()
    }
    page = st.navigation(list(pages.values()))
    session.page_opened(page.url_path)

    with st.sidebar:
        top = st.container()
        keys = [known.key for known in samples()]
        st.selectbox(
            "Data",
            [*keys, source.OWN] if session.get("_own_name", None) else keys,
            key="data",
            bind="query-params",
            format_func=source.title,
            help="A sample to explore, or your own file from the Data page.",
        )
        current = source.current()
        if current is not None:
            with top:
                source.badge(current.mode)
                if current.mode != "demo":
                    st.caption(words.safe(current.title))
        controls.epsilon()
        budget_slot = st.container()

    session.next_cost(None)
    problem = session.note("data") or source.not_here()
    if problem:  # on the page: a phone folds the sidebar away
        st.warning(problem)
    page.run()
    with st.sidebar, budget_slot:
        tracker.sidebar(source.current(), session.get("_next_cost", None))


if __name__ == "__main__":
    from dashboard.background.turns import turn

    with turn():
        main()
