"""A chart as every page shows it: described in words, marked where it is not private, and ready to be taken away."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.charts.projector import projected
from dashboard.charts.ready import Ready, packed
from dashboard.charts.theme import Figure, palette
from dashboard.data import source
from dashboard.replay import Same, kept, part
from dashboard.scenes.held import PICTURE_HEIGHT, STAGE
from dashboard.widgets import stepper
from dashboard.widgets.download import download
from dpcore.datasets.text import safe_csv

Guard = Callable[[Callable[[], bytes | str]], Callable[[], bytes | str]]
LONGEST_TITLE = 80
MARKED, TITLED, LINE_NAMED = 22, 56, 16
"""Pixels that a mark takes above a picture, a title with a line under it above a saved one, and the name of a line."""


def picture(
    figure: Figure,
    *,
    key: str,
    alt: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    code: str | None = None,
    mark: str | None = None,
    on_select: Callable[[], None] | None = None,
    at: str = "",
    still: Guard | None = None,
) -> None:
    """Draw ``figure`` with its words (``alt``), its ``mark`` and, where ``data`` is given, a menu to save it.

    ``data`` may be a function, called once the menu is open. ``code`` is Python that computes the same numbers with
    dpcore. While the menu is open the picture wears what a saved one needs: a background, a title, and a line with the
    data in use and ``at``, the setting it is drawn for. ``on_select`` is the same for one ``figure`` under one ``key``.
    ``still`` makes each file of the menu one that is made while its person may see what it tells of.
    """
    ready = kept(
        ("ready", Same(figure), mark, PICTURE_HEIGHT.get(), session.dark()),
        lambda: Ready(fitted(marked(figure, mark) if mark else figure)),
        large=True,
    )
    kind, saved = session.entered(f"{key}-format", "PNG"), data is not None and STAGE.get() is None
    clicks: dict[str, Any] = {"on_select": on_select, "selection_mode": "points"} if on_select else {}
    toolbar = "hover" if data is not None and PICTURE_HEIGHT.get() is None else False

    def draw() -> None:
        _boxed(ready, key, alt, data if saved else None, code, mark, at, kind, toolbar, clicks, still)

    part(("picture", Same(ready), key, alt, kind, saved, toolbar, on_select is None), draw, told=True)


def _boxed(
    ready: Ready,
    key: str,
    alt: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame] | None,
    code: str | None,
    mark: str | None,
    at: str,
    kind: str,
    toolbar: str | bool,
    clicks: dict[str, Any],
    still: Guard | None,
) -> None:
    shown = ready.figure
    with st.container(key=f"box-{key}", gap="small"):
        place = st.container()
        menu = None
        if data is not None:
            menu = st.popover(
                "Save this chart", icon=":material/download:", type="tertiary", key=f"{key}-menu", on_change="rerun"
            )
            if menu.open:
                shown = finished(shown, alt, at)
                ready = Ready(shown)
        place.plotly_chart(
            ready,
            key=key,
            theme=None,
            alt=alt,
            config={
                "displaylogo": False,
                "displayModeBar": toolbar,
                "modeBarButtons": [["toImage"]],
                "toImageButtonOptions": {"format": str(kind).lower(), "filename": key, "scale": 2},
                "responsive": True,
            },
            **clicks,
        )
        if "frames" in shown:
            stepper.attach(key)
        if menu is not None and menu.open and data is not None:
            with menu:
                _menu(shown, key, alt, data, code, mark, still or (lambda make: make))


def _menu(
    figure: Figure,
    key: str,
    alt: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame],
    code: str | None,
    mark: str | None,
    still: Guard,
) -> None:
    """What stands in the menu."""
    frame = data() if callable(data) else data
    if mark:
        st.caption(mark)
    download("Numbers (CSV)", still(lambda: csv(frame, mark)), f"{key}.csv", "text/csv", key=f"{key}-csv", icon=None)
    download(
        "Interactive page (HTML)",
        still(lambda: html_page(figure, alt)),
        f"{key}.html",
        "text/html",
        key=f"{key}-html",
        icon=None,
    )
    if code:
        download(
            "Python that computes it",
            still(lambda: _commented(code, mark)),
            f"{key}.py",
            "text/x-python",
            key=f"{key}-py",
            icon=None,
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
    page: str = plotly.io.to_html(solid, include_plotlyjs=True, full_html=True, validate=False, div_id="chart")
    page = page.replace("<head>", f"<head><title>{words.html(title_of(alt))}</title>", 1)
    label = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return page.replace("<body>", f'<body role="img" aria-label="{label}">', 1).encode()


def _commented(code: str, mark: str | None) -> str:
    needed = "# Needs epsilon-lab, installed from its folder with: pip install .\n"
    return f"{needed}# {mark}\n{code}" if mark else f"{needed}{code}"


def title_of(alt: str) -> str:
    """What a saved picture is called: the first clause of its words."""
    return re.split(r"[:;]|[.] |[.]$", alt, maxsplit=1)[0][:LONGEST_TITLE].strip()


def finished(figure: Figure, alt: str, at: str) -> Figure:
    """The figure as it is saved: on the page's own paper, under its title and the data in use."""
    look, current = palette(session.dark()), source.current()
    line = " · ".join(part for part in ("Epsilon Lab", current.title if current is not None else "", at) if part)
    base = figure["layout"]
    margin = dict(base.get("margin", {}))
    margin["t"] = margin.get("t", 0) + TITLED
    title = (
        f"<b>{words.html(title_of(alt), LONGEST_TITLE)}</b><br><span style='font-size:12px'>{words.html(line)}</span>"
    )
    layout = base | {
        "margin": margin,
        "paper_bgcolor": look.paper,
        "height": base["height"] + TITLED,
        "title": {
            "text": title,
            "font": {"size": 14, "color": look.ink},
            "x": 0.01,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 10},
        },
    }
    return figure | {"layout": layout}


def marked(figure: Figure, mark: str) -> Figure:
    """The figure with ``mark`` in a row of its own above it, so that a saved picture carries it too."""
    look = palette(session.dark())
    base = figure["layout"]
    margin = dict(base.get("margin", {}))
    margin["t"] = margin.get("t", 0) + MARKED
    named = any(shape.get("label", {}).get("text") for shape in base.get("shapes", ()))
    note = {
        "text": f"<b>{mark}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1,
        "yshift": 4 + (LINE_NAMED if named else 0),  # over what an upright line is called
        "xanchor": "right",  # a phone has room for it from the right edge on, over the axis' numbers
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": look.bad, "size": 11},
    }
    # What stood above the picture moves up by a row; legends and scales are placed in shares of the picture's height.
    row = MARKED / (0.6 * (base["height"] - margin.get("b", 0)))
    height = base["height"] + MARKED  # it takes nothing from the picture, whose names have their places
    marked = base | {"margin": margin, "height": height, "annotations": [*base.get("annotations", []), note]}
    if "legend" in base:
        marked["legend"] = _raised(base["legend"], row)
    data = [
        trace | {"colorbar": _raised(trace["colorbar"], row)} if "colorbar" in trace else trace
        for trace in figure["data"]
    ]
    return figure | {"data": data, "layout": marked}


def _raised(part: dict[str, Any], row: float) -> dict[str, Any]:
    return part | {"y": part["y"] + row} if part.get("y", 0) >= 1 else part
