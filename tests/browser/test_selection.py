"""Start and Selection in Chromium: from the first picture to a link, and points that are dragged."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.looks import can_be_read

Open = Callable[[str], Page]


def headline(page: Page) -> str:
    found = page.get_by_role("heading", name=re.compile("^At ε = ")).first
    expect(found).to_be_visible()
    return found.inner_text()


def test_from_the_start_to_a_link_that_shows_the_same(open_page: Open, tmp_path: Path) -> None:
    """Type ε, go to the page, move the slider by keyboard, take the chart away, and open the address once more."""
    page = open_page("/")
    expect(page.get_by_role("heading", name=re.compile("How much privacy can you afford"))).to_be_visible()
    before = headline(page)
    can_be_read(page)
    page.set_viewport_size({"width": 1440, "height": 1000})
    box = page.get_by_label("ε, typed")
    box.fill("0.1")
    box.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.1 "))).to_be_visible()
    assert headline(page) != before
    page.get_by_role("link", name="Explore this example").click()
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.1 the private answer"))).to_be_visible()
    expect(page).to_have_url(re.compile("epsilon=0.1"))  # the address is written last in a run
    slider = page.get_by_role("slider", name=re.compile("Privacy loss")).first
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.1 "))).to_be_hidden()
    settled(page)
    taken_away(page, tmp_path)
    first = headline(page)
    page.goto(page.url)
    settled(page)
    assert headline(page) == first


def taken_away(page: Page, folder: Path) -> None:
    page.get_by_role("button", name="Save this chart").first.click()
    for name, start in (
        ("Numbers (CSV)", "method,epsilon,n,metric"),
        ("Python that computes it", "# Needs epsilon-lab"),
    ):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        file = folder / waiting.value.suggested_filename
        waiting.value.save_as(file)
        assert file.read_text(encoding="utf-8-sig").startswith(start)


def test_an_open_menu_takes_no_click_for_another_page(open_page: Open) -> None:
    """It closes by that click and says so after it, for the page that is left."""
    page = open_page("/selection")
    settled(page)
    for menu in ("Save this chart", "Report"):
        page.get_by_role("button", name=menu).first.click()
        settled(page)
        page.get_by_role("link", name="Live demos").first.click()
        expect(page).to_have_url(re.compile("/demos"))
        settled(page)
        page.get_by_role("link", name="Selection").first.click()
        expect(page).to_have_url(re.compile("/selection"))
        settled(page)


def test_a_point_is_dragged_and_its_ghost_stays(open_page: Open) -> None:
    """Handles lie over the points; where one is let go the picture is drawn anew, and the link opens it so."""
    page = open_page("/selection?question=one_ball&ball_people=10&epsilon=3")
    ghost = page.locator("p", has_text="Look at the ghost")
    first = ghost.inner_text()
    grip = page.locator("[data-handle='1']")
    expect(grip).to_be_attached()
    page.locator(".st-key-ball-ball").first.scroll_into_view_if_needed()
    before, box = None, grip.bounding_box()
    while box is None or box != before:  # the page still moves
        settled(page)
        before, box = box, grip.bounding_box()
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] - 120, at[1] - 60, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"ball_to_0-clinic-.*ball_to_1-clinic-"))
    expect(ghost).not_to_have_text(first)
    expect(page.locator("[data-handle]")).to_have_count(10)
    assert violations(page) == []
