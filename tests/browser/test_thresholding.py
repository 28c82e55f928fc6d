"""Thresholding in Chromium: the line by typing and by clicking, and released alarm runs, one of a file of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import own_file
from tests.browser.conftest import settled

OUTBREAK = "/thresholding?data=An+outbreak%2C+120+days+%28simulated%29"


def test_the_line_moves_by_typing_and_by_clicking_and_an_alarm_is_released(open_page: Callable[[str], Page]) -> None:
    page = open_page(f"{OUTBREAK}&epsilon=2")
    expect(page.get_by_role("heading", name=re.compile("the private alarm is raised on time"))).to_be_visible()
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


def test_own_counts_become_a_released_alarm(context: BrowserContext, address: str, tmp_path: Path) -> None:
    """Sixty quiet days and three loud ones, from a CSV of one's own to one charged alarm run."""
    counts = [4 + day % 3 for day in range(60)] + [90, 120, 110]
    lines = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d},{count}" for day, count in enumerate(counts)]
    file = tmp_path / "counts.csv"
    file.write_text("\n".join(["day,cases", *lines]) + "\n")
    page = context.new_page()
    page.set_viewport_size({"width": 1440, "height": 1400})
    own_file.bring(page, address, file)
    own_file.declare_numbers(page, {"cases": (0, 1000)})
    page.get_by_label("One person can move an entry by at most").fill("1")
    page.get_by_role("button", name="Save", exact=True).click()
    settled(page)
    own_file.one_row_each(page)
    own_file.look(page)
    page.get_by_role("link", name="Thresholding").first.click()
    expect(page.get_by_role("heading", name=re.compile("the private alarm stays silent"))).to_be_visible()
    line = page.get_by_role("spinbutton", name="The line")
    expect(line).to_have_value("500")  # the middle of what was declared: nothing of the file
    line.fill("50")
    line.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("the private alarm is raised on time"))).to_be_visible()
    own_file.open_release(page)
    own_file.open_budget(page, "People of the test")
    own_file.release(page)
    expect(page.get_by_role("heading", name=re.compile("^(Alarm at |No alarm was raised)"))).to_be_visible()
