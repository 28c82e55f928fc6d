"""A private poll with eight phones in Chromium: two reload, one votes twice, one is late; a receipt on each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dpcore.ledger import Ledger
from tests.browser.axe import violations
from tests.browser.conftest import PATIENCE, settled
from tests.browser.server import running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("poll")


@pytest.fixture(scope="module")
def own_address(folder: Path) -> Iterator[str]:
    with running(folder) as at:
        yield at


def test_eight_phones_end_with_a_receipt_on_each(browser: Browser, own_address: str, folder: Path) -> None:
    asked: list[str] = []
    with ExitStack() as open_contexts:

        def browser_of(width: int, height: int) -> Page:
            context = browser.new_context(viewport={"width": width, "height": height})
            open_contexts.callback(context.close)
            context.set_default_timeout(PATIENCE)
            context.on("request", lambda request: asked.append(request.url))
            return context.new_page()

        def phones(count: int, code: str) -> list[Page]:
            """So many phones that come at once."""
            pages = [browser_of(390, 844) for _ in range(count)]
            for page in pages:
                page.goto(f"{own_address}/?join={code}", wait_until="commit")
            for page in pages:
                settled(page)
            return pages

        desk = browser_of(1440, 1000)
        desk.goto(f"{own_address}/poll")
        settled(desk)
        desk.get_by_role("button", name="Open the poll").click()
        expect(desk.get_by_role("img", name="QR code")).to_be_visible()
        code = desk.locator("h1 code").last.inner_text()
        assert violations(desk) == []

        once, reloads, twice, again, *others = phones(7, code)
        expect(desk.get_by_role("heading", name="7 phones are in")).to_be_visible()
        votes = [(once, "Fruit"), (reloads, "Cake"), (twice, "Cake"), (again, "Fruit")]
        votes += [(page, ("Fruit", "Cake", "Nothing")[place % 3]) for place, page in enumerate(others)]
        for page, snack in votes:
            page.get_by_role("button", name=snack).click()
        for page, snack in votes:
            expect(page.get_by_text(f"Your vote: {snack}")).to_be_visible()
        assert violations(once) == []
        assert once.evaluate("document.documentElement.scrollWidth") <= 390

        for page, snack in ((reloads, "Cake"), (again, "Fruit")):
            page.reload()
            settled(page)
            expect(page.get_by_text(f"Your vote: {snack}")).to_be_visible()
        second = twice.context.new_page()  # the same phone, another tab: the same one vote
        second.goto(f"{own_address}/?join={code}")
        settled(second)
        expect(second.get_by_text("Your vote: Cake")).to_be_visible()
        second.get_by_role("button", name="Nothing").click()
        expect(second.get_by_text("Your vote: Nothing")).to_be_visible()
        desk.reload()
        settled(desk)
        expect(desk.get_by_role("heading", name="7 phones are in")).to_be_visible()

        desk.get_by_role("button", name="Close voting").click()
        (late,) = phones(1, code)
        expect(late.get_by_text("so it looks on")).to_be_visible()
        once.get_by_role("button", name="90 times in 100").click()
        expect(desk.get_by_role("figure", name=re.compile("90 times in 100: 1"))).to_be_visible()
        desk.get_by_role("button", name="Close the guesses").click()
        expect(desk.get_by_role("heading", name=re.compile("In a simulated room of 30 people"))).to_be_visible()
        desk.get_by_role("button", name="Draw the one private answer").dblclick()
        expect(desk.get_by_role("heading", name=re.compile("^Most common: "))).to_be_visible()
        settled(desk)

        with Ledger.open(f"sqlite:///{folder / 'ledger.db'}") as ledger:
            (receipt,) = ledger.receipts()
        for page in (once, reloads, twice, again, *others, late):
            expect(page.get_by_role("heading", name=f"Most common: {receipt.answer['option']}")).to_be_visible()
            expect(page.get_by_text(f"Receipt {receipt.journal_hash[:12]}")).to_be_visible()
        with once.expect_download() as saved:
            once.get_by_role("button", name="Receipt (JSON)").click()
        with Ledger.open(f"sqlite:///{folder / 'ledger.db'}") as ledger:
            assert ledger.confirms(Path(saved.value.path()).read_text(encoding="utf-8"))
        expect(desk.get_by_role("button", name="Show the true counts")).to_have_count(0)  # it was not announced

        desk.get_by_role("button", name="End it").click()
        expect(once.get_by_text("Your vote is forgotten")).to_be_visible()
        expect(once.get_by_role("heading", name=re.compile("^Most common: "))).to_be_visible()
    local = (own_address, own_address.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(local)] == []


def test_a_phone_without_a_code_types_it(browser: Browser, own_address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{own_address}/?join")
    settled(page)
    page.get_by_role("textbox").fill("2222-2222")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_text("There is no poll with this code")).to_be_visible()
    context.close()
