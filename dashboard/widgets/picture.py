"""A chart as every page shows it: described in words, marked where it is not private, and ready to be taken away."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.projector import projected
from dashboard.charts.ready import Ready, packed
from dashboard.charts.theme import Figure, palette
from dashboard.scenes.held import PICTURE_HEIGHT, STAGE
from dpcore.datasets.text import safe_csv


def picture(
    figure: Figure,
    *,
    key: str,
    alt: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    code: str | None = None,
    mark: str | None = None,
    on_select: Callable[[], None] | None = None,
) -> Any:
    """Draw ``figure`` with its words (``alt``), its ``mark`` and, where ``data`` is given, a menu to save it.

    ``data`` may be a function, called once the menu is open. ``code`` is Python that computes the same numbers with
    dpcore. Returns what ``st.plotly_chart`` returns.
    """
    shown = fitted(marked(figure, mark) if mark else figure)
    with st.container(key=f"box-{key}", gap="small"):
        kind = session.entered(f"{key}-format", "PNG")
        clicks: dict[str, Any] = {"on_select": on_select, "selection_mode": "points"} if on_select else {}
        drawn = st.plotly_chart(
            Ready(shown),
            key=key,
            theme=None,
            alt=alt,
            config={
                "displaylogo": False,
                "displayModeBar": "hover" if data is not None else False,
                "modeBarButtons": [["toImage"]],
                "toImageButtonOptions": {"format": str(kind).lower(), "filename": key, "scale": 2},
                "responsive": True,
            },
            **clicks,
        )
        if data is not None and STAGE.get() is None:
            _menu(shown, key, alt, data, code, mark)
    return drawn


def _menu(
    figure: Figure,
    key: str,
    alt: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame],
    code: str | None,
    mark: str | None,
) -> None:
    menu = st.popover(
        "Save this chart", icon=":material/download:", type="tertiary", key=f"{key}-menu", on_change="rerun"
    )
    if not menu.open:
        return
    frame = data() if callable(data) else data
    with menu:
        if mark:
            st.caption(mark)
        st.download_button(
            "Numbers (CSV)", lambda: csv(frame, mark), f"{key}.csv", "text/csv", on_click="ignore", key=f"{key}-csv"
        )
        st.download_button(
            "Interactive page (HTML)",
            lambda: html_page(figure, alt),
            f"{key}.html",
            "text/html",
            on_click="ignore",
            key=f"{key}-html",
        )
        if code:
            st.download_button(
                "Python that computes it",
                _commented(code, mark),
                f"{key}.py",
                "text/x-python",
                on_click="ignore",
                key=f"{key}-py",
            )
        st.segmented_control(
            "Picture: choose a format, then the camera at the chart's corner",
            ["PNG", "SVG"],
            default="PNG",
            required=True,
            key=f"{key}-format",
            persist_state="session",
        )


def fitted(figure: Figure) -> Figure:
    """The figure as it is shown: in the size of a projector while it is presented."""
    height = PICTURE_HEIGHT.get()
    return figure if height is None else projected(figure, height)


def csv(data: pd.DataFrame, mark: str | None) -> bytes:
    """A CSV that a spreadsheet opens without running anything in it; the mark is its last column."""
    return safe_csv(data.assign(note=mark) if mark else data).encode("utf-8-sig")


def html_page(figure: Figure, alt: str) -> bytes:
    """A page of its own with the chart, which needs no network."""
    import plotly.io

    solid = packed(copy.deepcopy(figure))
    paper = solid["layout"].get("paper_bgcolor")
    if paper == "rgba(0,0,0,0)":
        solid["layout"]["paper_bgcolor"] = palette(session.dark()).paper
    page: str = plotly.io.to_html(solid, include_plotlyjs=True, full_html=True, validate=False)
    label = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return page.replace("<body>", f'<body role="img" aria-label="{label}">', 1).encode()


def _commented(code: str, mark: str | None) -> str:
    return f"# {mark}\n{code}" if mark else code


def marked(figure: Figure, mark: str) -> Figure:
    """The figure with ``mark`` in a row of its own above it, so that a saved picture carries it too."""
    look = palette(session.dark())
    base = figure["layout"]
    margin = dict(base.get("margin", {}))
    margin["t"] = margin.get("t", 0) + 22
    note = {
        "text": f"<b>{mark}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1,
        "yshift": 4,
        "xanchor": "right",  # a phone has room for it from the right edge on, over the axis' numbers
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": look.bad, "size": 11},
    }
    # What stood above the picture moves up by a row; legends and scales are placed in shares of the picture's height.
    row = 22 / (0.6 * (base["height"] - margin.get("b", 0)))
    marked = base | {"margin": margin, "annotations": [*base.get("annotations", []), note]}
    if "legend" in base:
        marked["legend"] = _raised(base["legend"], row)
    data = [
        trace | {"colorbar": _raised(trace["colorbar"], row)} if "colorbar" in trace else trace
        for trace in figure["data"]
    ]
    return figure | {"data": data, "layout": marked}


def _raised(part: dict[str, Any], row: float) -> dict[str, Any]:
    return part | {"y": part["y"] + row} if part.get("y", 0) >= 1 else part
