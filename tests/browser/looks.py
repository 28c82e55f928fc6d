"""How a page is looked at: what is measured of it, and the change to dark."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.axe import violations
from tests.browser.conftest import settled

CHARTS = ".js-plotly-plot .annotation-text, .js-plotly-plot .cbtitle"
FITS = """() => [...document.querySelectorAll('.js-plotly-plot')].every(chart =>
    Math.abs(chart.querySelector('.main-svg').getBoundingClientRect().width - chart.clientWidth) < 2)"""
GROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
OUTSIDE = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
    const frame = chart.getBoundingClientRect()
    return [...chart.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect()
        return box.width > 1 && (box.left < frame.left - 1 || box.right > frame.right + 1)
    }).map(text => text.textContent)
})"""
OVER_EACH_OTHER = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
    const boxes = [...chart.querySelectorAll('.annotation rect.bg')].map(one => one.getBoundingClientRect())
    const names = [...chart.querySelectorAll('.annotation')].map(one => one.textContent)
    const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
        && one.top < other.bottom - 1 && other.top < one.bottom - 1
    return boxes.flatMap((one, i) => boxes.slice(0, i).flatMap((other, j) =>
        meet(one, other) ? [[names[j], names[i]]] : []))
})"""
WIDTH = "document.querySelector('[data-testid=stMain]').scrollWidth"


def in_the_dark(page: Page) -> None:
    """Change over to dark and wait until the page has followed."""
    light = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => {GROUND} !== before", arg=light)
    settled(page)


def can_be_read(page: Page) -> None:
    """A page with charts in light and, after the person has changed over, in dark; then on a screen, a tablet held
    both ways and a phone, of which it keeps the size."""
    page.wait_for_selector(CHARTS)
    settled(page)
    assert violations(page) == []
    in_the_dark(page)
    assert violations(page, only="color-contrast") == []  # the one rule that dark can break
    for width in (1440, 1024, 768, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(FITS)
        assert page.evaluate(OUTSIDE) == [], width
        assert page.evaluate(OVER_EACH_OTHER) == [], width
    page.wait_for_function(f"{WIDTH} <= 390")
