"""How every kind of chart page looks in Chromium: axe-core in light and dark, and no word cut at any width."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.looks import WIDTH, in_the_dark

CHARTS = ".js-plotly-plot .annotation-text, .js-plotly-plot .cbtitle"
FITS = """() => [...document.querySelectorAll('.js-plotly-plot')].every(chart =>
    Math.abs(chart.querySelector('.main-svg').getBoundingClientRect().width - chart.clientWidth) < 2)"""
OUTSIDE = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
    const frame = chart.getBoundingClientRect()
    return [...chart.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect()
        return box.width > 1 && (box.left < frame.left - 1 || box.right > frame.right + 1)
    }).map(text => text.textContent)
})"""


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/selection",
        "/selection?question=Median+or+quantile",
        "/selection?question=Best+simple+rule",
        "/selection?selection_axis=Both",
        "/thresholding?data=An+outbreak%2C+120+days+%28simulated%29",
        "/experts",
        "/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question=Whom+to+follow",
        "/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question=Best+fixed+choice+for+a+linear+cost",
        "/training?data=Italian+wines%2C+178+bottles",
    ],
)
def test_a_page_of_charts_can_be_read_by_everybody(
    contexts: Callable[..., BrowserContext], address: str, path: str
) -> None:
    """In light and, after the person has changed over, in dark; then on a screen, a tablet and a phone."""
    page = contexts(color_scheme="light").new_page()
    page.goto(address + path)
    settled(page)
    page.wait_for_selector(CHARTS)
    settled(page)
    assert violations(page) == []
    in_the_dark(page)
    assert violations(page, only="color-contrast") == []  # the one rule that dark can break
    for width in (1440, 768, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(FITS)
        assert page.evaluate(OUTSIDE) == [], width
    page.wait_for_function(f"{WIDTH} <= 390")
