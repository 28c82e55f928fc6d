"""The page itself, as Streamlit runs it; discovery only imports it."""

from __future__ import annotations

from dashboard.widgets import page

if __name__ == "__main__":
    page.draw_page("training")
