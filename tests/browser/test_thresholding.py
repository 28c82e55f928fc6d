"""Thresholding in Chromium: the line by typing and by clicking, and one released alarm run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import own_file
from tests.browser.conftest import settled
from tests.browser.server import running

OUTBREAK = "/thresholding?data=An+outbreak%2C+120+days+%28simulated%29"


def test_the_line_moves_by_typing_and_by_clicking(open_page: Callable[[str], Page]) -> None:
    page = open_page(OUTBREAK)
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


def test_one_alarm_run_is_released_and_charged(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("alarm")) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 1000})
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(f"{address}{OUTBREAK}&epsilon=2")
        settled(page)
        own_file.open_release(page)
        page.get_by_role("button", name="Draw one private answer").click()
        page.get_by_role("button", name=re.compile("Confirm")).click()
        expect(page.get_by_role("heading", name=re.compile("^(Alarm at |No alarm was raised)"))).to_be_visible()
        expect(page.get_by_test_id("stSidebar").get_by_text(re.compile(r"\bis left\b")).first).to_be_visible()
        context.close()


def test_own_counts_become_a_released_alarm(
    browser: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Sixty quiet days and three loud ones, from a CSV of one's own to one charged alarm run."""
    counts = [4 + day % 3 for day in range(60)] + [90, 120, 110]
    lines = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d},{count}" for day, count in enumerate(counts)]
    file = tmp_path / "counts.csv"
    file.write_text("\n".join(["day,cases", *lines]) + "\n")
    with running(tmp_path_factory.mktemp("own-alarm")) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 1400})
        context.set_default_timeout(60_000)
        page = context.new_page()
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
        context.close()
