"""A page's own figure as a picture of a report, drawn without a browser."""

from __future__ import annotations

from dashboard import words
from dashboard.charts.svg import HEIGHT, WIDTH, svg
from dashboard.charts.theme import Figure
from dashboard.report import text
from dashboard.report.value import Drawing

FONT = "Libertinus Serif, Source Sans, Helvetica, Arial, sans-serif"
LONGEST_ALT = 2000
LEAST_TALL = 150


def drawn(figure: Figure, alt: str, note: str, *, height: int | None = None) -> Drawing:
    """``figure`` in light colours with its words for who does not see it, and ``note`` (Markdown) below it.

    ``height`` in pixels is its layout's own where it is not given, at most ``HEIGHT``.
    """
    own = figure["layout"].get("height", HEIGHT) if height is None else height
    tall = int(min(max(own, LEAST_TALL), HEIGHT))
    return Drawing(
        svg=svg(figure, font=FONT, title=alt, height=tall),
        width=WIDTH,
        height=tall,
        alt=words.visible(alt, LONGEST_ALT),
        caption=text.line(note),
    )
