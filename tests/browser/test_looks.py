"""How every kind of chart page looks in Chromium: axe-core in light and dark, and no word cut at any width."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.words import page as said
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

SHOWN = "document.querySelector('.slider-group').closest('.js-plotly-plot')._fullLayout.sliders[0].active"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/selection",
        "/selection?question=Median+or+quantile",
        "/selection?question=Best+simple+rule",
        "/selection?selection_axis=Both",
        "/thresholding?data=An+outbreak%2C+120+days+%28simulated%29",
        "/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question=Whom+to+follow",
        "/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question=Best+fixed+choice+for+a+linear+cost",
        "/training?data=Italian+wines%2C+178+bottles",
    ],
)
def test_a_page_of_charts_can_be_read_by_everybody(context: BrowserContext, address: str, path: str) -> None:
    can_be_read(context.new_page(), address + path)


def test_a_picture_in_steps_is_played_by_keyboard(context: BrowserContext, address: str) -> None:
    """Plotly draws play, pause and the slider for a pointer: each is reached by Tab, named, and does the same."""
    page = context.new_page()
    can_be_read(page, f"{address}/experts")
    play, pause = (page.get_by_role("button", name=name) for name in (said.PLAY, said.PAUSE))
    slider = page.get_by_role("slider", name=said.STEPS)
    for control in (play, pause, slider):
        expect(control).to_have_attribute("tabindex", "0")
    slider.focus()
    last = str(slider.get_attribute("aria-valuemax"))
    for key, place in (("Home", "1"), ("ArrowRight", "2"), ("PageUp", "6"), ("ArrowLeft", "5"), ("End", last)):
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", place)
        assert page.evaluate(SHOWN) == int(place) - 1
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^day 2,000"))
    play.focus()
    page.keyboard.press("Tab")
    expect(pause).to_be_focused()
    play.focus()
    page.keyboard.press("Enter")
    expect(slider).not_to_have_attribute("aria-valuenow", last)
    pause.focus()
    page.keyboard.press("Space")
    page.wait_for_timeout(200)
    stopped = page.evaluate(SHOWN)
    page.wait_for_timeout(500)
    assert page.evaluate(SHOWN) == stopped < int(last) - 1


def can_be_read(page: Page, at: str) -> None:
    """In light and, after the person has changed over, in dark; then on a screen, a tablet and a phone."""
    page.goto(at)
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
