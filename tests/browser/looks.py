"""How a page is looked at: what is measured of it, and the change to dark."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.conftest import settled

GROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
WIDTH = "document.querySelector('[data-testid=stMain]').scrollWidth"


def in_the_dark(page: Page) -> None:
    """Change over to dark and wait until the page has followed."""
    light = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => {GROUND} !== before", arg=light)
    settled(page)
