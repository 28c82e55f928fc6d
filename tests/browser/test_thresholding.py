"""Thresholding in Chromium: how it looks, the line by typing and by clicking, and a released alarm run.

One of a file of one's own is in ``test_login``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser import own_file
from tests.browser.looks import can_be_read

OUTBREAK = "/thresholding?data=An+outbreak%2C+120+days+%28simulated%29"


def test_the_line_moves_by_typing_and_by_clicking_and_an_alarm_is_released(open_page: Callable[[str], Page]) -> None:
    page = open_page(f"{OUTBREAK}&epsilon=2")
    expect(page.get_by_role("heading", name=re.compile("the private alarm is raised on time"))).to_be_visible()
    can_be_read(page)
    page.set_viewport_size({"width": 1440, "height": 1000})
    line = page.get_by_role("spinbutton", name="The line")
    line.fill("5000")
    line.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("the private alarm stays silent"))).to_be_visible()
    line.fill("50")
    line.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("raised on time"))).to_be_visible()
    day = page.locator(".st-key-thresholding-when .barlayer").nth(1).locator(".point path").nth(95)
    expect(day).to_be_visible()
    bar = day.bounding_box()
    assert bar is not None
    page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    expect(line).not_to_have_value("50")
    own_file.open_release(page)
    own_file.release(page)
    expect(page.get_by_role("heading", name=re.compile("^(Alarm at |No alarm was raised)"))).to_be_visible()
    expect(page.get_by_test_id("stSidebar").get_by_text(re.compile(r"\bis left\b")).first).to_be_visible()
