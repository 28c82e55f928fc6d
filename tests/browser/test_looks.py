"""How kinds of chart pages look in Chromium: axe-core in light and dark, and no word cut at any width.

The other kinds are looked at where a test has them open: the start in ``test_selection``, counts and quantiles in
``test_finger``, alarms in ``test_thresholding``, training in ``test_training``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.words import page as said
from tests.browser.looks import can_be_read

Open = Callable[[str], Page]
SHOWN = "document.querySelector('.slider-group').closest('.js-plotly-plot')._fullLayout.sliders[0].active"


@pytest.mark.parametrize(
    "path",
    [
        "/selection?question=Best+simple+rule",
        "/selection?selection_axis=Both",
        "/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question=Whom+to+follow",
        "/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question=Best+fixed+choice+for+a+linear+cost",
    ],
)
def test_a_page_of_charts_can_be_read_by_everybody(open_page: Open, path: str) -> None:
    can_be_read(open_page(path))


def test_a_picture_in_steps_is_played_by_keyboard(open_page: Open) -> None:
    """Plotly draws play, pause and the slider for a pointer: each is reached by Tab, named, and does the same."""
    page = open_page("/experts")
    can_be_read(page)
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
