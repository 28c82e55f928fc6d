"""Pages are walked to and fro by their links in Chromium: each click leads where it says, whatever was open before."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import settled


def links(page: Page) -> dict[str, Locator]:
    """By the name that a page has in its address, which the first one has not."""
    every = page.get_by_test_id("stSidebarNavLink")
    names = [str(link.get_attribute("href")).rpartition("/")[2] for link in every.all()]
    return {name: every.nth(place) for place, name in enumerate(names)}


def arrived(page: Page, link: Locator) -> None:
    expect(link).to_have_attribute("aria-current", "page")
    settled(page)


@pytest.mark.thorough
def test_every_two_pages_are_walked_to_and_fro(open_page: Callable[[str], Page]) -> None:
    """Whoever came to the room's page a second time from the same page was shown that one again, for good."""
    page = open_page("/")
    every = links(page)
    assert {"", "selection", "budget", "poll"} < set(every)
    for one, other in combinations(every.values(), 2):
        for link in (one, other) * 2:
            link.click()
            arrived(page, link)


@pytest.mark.thorough
@pytest.mark.parametrize("came", [False, True], ids=["by its address", "by a link"])
def test_a_value_that_is_typed_takes_no_tap_for_another_page(came: bool, open_page: Callable[[str], Page]) -> None:
    """Pressed and let go at once, as on a touch screen, so that the box that is left says so after the link."""
    page = open_page("/budget" if came else "/selection")
    every = links(page)
    if came:
        every["selection"].click()
        arrived(page, every["selection"])
    box = page.get_by_test_id("stSidebar").get_by_role("spinbutton").first
    box.fill("0.7")
    place = every["budget"].bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    arrived(page, every["budget"])
    expect(box).to_have_value("0.7")
