"""Whoever looks at a page is known to its server alone: nothing is fetched from anywhere else."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page

from dashboard import catalogue
from dashboard.app import OWN_PAGES
from tests.browser.conftest import settled


def test_no_page_asks_another_server_for_anything(context: BrowserContext, address: str) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    pages = (*(key for key, _, _ in OWN_PAGES), *(page.key for page in catalogue.pages()))
    for name in pages:
        page.goto(f"{address}/{'' if name == 'start' else name}")
        settled(page)
        _open_everything(page)
    elsewhere = [url for url in asked if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))]
    assert len(asked) > len(pages)
    assert not elsewhere


def _open_everything(page: Page) -> None:
    """Pictures, fonts and scripts of what is folded away are fetched when it opens."""
    buttons, place = page.locator("[data-testid=stPopoverButton]:visible"), 0
    while place < buttons.count():  # what is opened may change how many there are
        button, place = buttons.nth(place), place + 1
        button.click()
        page.locator("[data-testid=stPopoverBody]").first.wait_for()
        settled(page)
        page.keyboard.press("Escape")  # what is under way moves the page, and a second click would meet something else
        page.locator("[data-testid=stPopoverBody]").first.wait_for(state="hidden")
    for folded in page.locator("details:not([open]) summary:visible").all():
        folded.click()
    settled(page)
