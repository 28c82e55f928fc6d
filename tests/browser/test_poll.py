"""A private poll in Chromium, a receipt on each phone: one reloads, votes in two tabs and guesses, one comes late.

Three phones in process are in ``tests/poll``, a hundred of them in ``benchmarks/poll.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from dpcore.ledger import Ledger, Receipt
from tests.browser.axe import violations
from tests.browser.conftest import settled


def receipts(folder: Path) -> list[Receipt]:
    with Ledger.open(f"sqlite:///{folder / 'ledger.db'}") as ledger:
        return ledger.receipts()


def test_three_phones_end_with_a_receipt_on_each(
    contexts: Callable[..., BrowserContext], address: str, folder: Path
) -> None:
    asked: list[str] = []
    others = {receipt.journal_hash for receipt in receipts(folder)}

    def tab(context: BrowserContext, path: str, width: int = 390, height: int = 844) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}{path}", wait_until="commit")
        return page

    desk = tab(contexts(), "/poll", 1440, 1000)
    settled(desk)
    desk.get_by_role("button", name="Open the poll").click()
    expect(desk.get_by_role("img", name="QR code")).to_be_visible()
    code = desk.locator("h1 code").last.inner_text()
    assert violations(desk) == []

    once, twice = (tab(contexts(), f"/?join={code}") for _ in range(2))  # at once
    settled(once)
    settled(twice)
    expect(desk.get_by_role("heading", name="2 phones are in")).to_be_visible()
    once.get_by_role("button", name="Fruit").click()
    twice.get_by_role("button", name="Cake").click()
    expect(once.get_by_text("Your vote: Fruit")).to_be_visible()
    expect(twice.get_by_text("Your vote: Cake")).to_be_visible()
    assert violations(once) == []
    assert once.evaluate("document.documentElement.scrollWidth") <= 390

    twice.reload()
    settled(twice)
    expect(twice.get_by_text("Your vote: Cake")).to_be_visible()
    second = tab(twice.context, f"/?join={code}")  # the same phone, another tab: the same one vote
    settled(second)
    expect(second.get_by_text("Your vote: Cake")).to_be_visible()
    second.get_by_role("button", name="Nothing").click()
    expect(second.get_by_text("Your vote: Nothing")).to_be_visible()
    desk.reload()
    settled(desk)
    expect(desk.get_by_role("heading", name="2 phones are in")).to_be_visible()

    desk.get_by_role("button", name="Close voting").click()
    late = tab(contexts(), "/?join")  # without a code
    settled(late)
    for typed, told in (("2222-2222", "There is no poll with this code"), (code, "so it looks on")):
        late.get_by_role("textbox").fill(typed)
        late.get_by_role("button", name="Join").click()
        expect(late.get_by_text(told)).to_be_visible()
    once.get_by_role("button", name="90 times in 100").click()
    expect(desk.get_by_role("figure", name=re.compile("90 times in 100: 1"))).to_be_visible()
    desk.get_by_role("button", name="Close the guesses").click()
    expect(desk.get_by_role("heading", name=re.compile("In a simulated room of 30 people"))).to_be_visible()
    desk.get_by_role("button", name="Draw the one private answer").dblclick()
    expect(desk.get_by_role("heading", name=re.compile("^Most common: "))).to_be_visible()
    settled(desk)

    (receipt,) = (one for one in receipts(folder) if one.journal_hash not in others)
    for page in (once, twice, second, late):
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
    local = (address, address.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(local)] == []
