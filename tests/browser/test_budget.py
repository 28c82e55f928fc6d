"""The Budget page in Chromium: impatient fingers, two windows, a refresh, and what axe-core finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.people.browser_token import VISITOR
from dpcore.ledger import Ledger
from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.looks import in_the_dark

TOKEN = "0123456789abcdef" * 2
CLINIC = Ledger.practice_lineage(TOKEN, "clinic")
BEGIN = re.compile("Draw (one|another) private answer")
TABS = ("Charges", "Plan answers", "What does the guarantee mean?", "Check a receipt")


@pytest.fixture
def visit(context: BrowserContext, address: str, open_page: Callable[[str], Page]) -> Callable[[str], Page]:
    """Opens pages as a visitor whose budget nobody else spends from."""
    context.add_cookies([{"name": VISITOR.name, "value": TOKEN, "url": address}])
    return open_page


def charges(folder: Path) -> int:
    with Ledger.open(f"sqlite:///{folder / 'ledger.db'}") as ledger:
        return sum(receipt.lineage == CLINIC for receipt in ledger.receipts())


def at_release(page: Page) -> Page:
    page.get_by_role("tab", name="A private answer").click()
    expect(page.get_by_role("button", name=BEGIN)).to_be_enabled()
    return page


def done(page: Page) -> None:
    """The answer is on the page and no run is under way."""
    expect(page.get_by_role("heading", name=re.compile("^Most common: "))).to_be_visible(timeout=60_000)
    settled(page)


def test_impatient_fingers_pay_once(visit: Callable[[str], Page], folder: Path) -> None:
    """Escape charges nothing; double clicks charge once; a refresh neither loses nor returns anything."""
    before = charges(folder)
    page = at_release(visit("/selection"))
    page.get_by_role("button", name=BEGIN).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    settled(page)
    assert charges(folder) == before
    page.get_by_role("button", name=BEGIN).dblclick()
    page.get_by_role("button", name="Confirm and draw").dblclick()
    done(page)
    assert charges(folder) == before + 1
    answer = page.get_by_role("heading", name=re.compile("^Most common: ")).inner_text()
    page.reload()
    settled(page)
    at_release(page)
    expect(page.get_by_text("Answered before.")).to_be_visible()
    expect(page.get_by_role("heading", name=answer)).to_be_visible()
    assert charges(folder) == before + 1


def test_two_windows_before_one_question_pay_once_and_the_budget_page_has_it(
    visit: Callable[[str], Page], folder: Path
) -> None:
    """The charge is there with its answer; the page can be taken away and read by everybody."""
    before = charges(folder)
    windows = [at_release(visit("/selection?epsilon=0.25")) for _ in range(2)]
    for page in windows:
        page.get_by_role("button", name=BEGIN).click()
        expect(page.get_by_role("dialog")).to_be_visible()
    for page in windows:
        page.get_by_role("button", name="Confirm and draw").click()
        done(page)
    assert charges(folder) == before + 1
    expect(windows[1].get_by_text("answered in another window a moment ago")).to_be_visible()
    page = windows[1]
    answer = page.get_by_role("heading", name=re.compile("^Most common: ")).inner_text().removeprefix("Most common: ")
    page.get_by_role("link", name="All charges").click()
    expect(page.get_by_role("heading", name=re.compile("What is spent about"))).to_be_visible()
    expect(page.get_by_role("table").get_by_text(answer).first).to_be_visible()
    page.get_by_role("button", name="Check it against the journal").click()
    expect(page.get_by_text("Confirmed: the journal holds exactly this receipt.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Charges (CSV)").click()
    lines = Path(download.value.path()).read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("time,lineage,what")
    assert len(lines) == 1 + charges(folder)
    for only in (None, "color-contrast"):
        if only is not None:
            in_the_dark(page)
        for tab in TABS:
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
            settled(page)
            # the mend of Streamlit's drop area runs a moment after it is drawn
            expect(page.locator("[data-testid=stFileUploaderDropzone][role=presentation]")).to_have_count(0)
            assert violations(page, only) == []
