"""Three persons, one budget: logged in by a real provider, shared, asked above a limit, granted, drawn, audited."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dpcore.ledger import Ledger
from tests.browser import own_file
from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.login_server import SECRET, product, provider

TOKEN = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.")
"""A signed JSON token: parts in base64 with points between, of which what else is random here has none."""


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with provider(["olga", "anna", "ursel"]) as at:
        yield at


def log_in(page: Page, address: str, issuer: str, name: str) -> None:
    """By the provider's own page; there is nothing of the product to be seen before. It ends at ``address``."""
    page.goto(address)
    expect(page.get_by_role("heading", name="Log in to Epsilon Lab")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    assert page.url.rstrip("/") == address, "the link stays"
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_test_id("stSidebar").get_by_text(f"{name} at {issuer}")).to_be_visible()
    settled(page)
    assert page.url.rstrip("/").startswith(address), "what was wanted before the login"


def log_out(page: Page, issuer: str) -> None:
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{issuer}/**")  # the provider ends its own part as well


def open_tab(page: Page, title: str) -> None:
    page.get_by_role("tab", name=title).click()
    settled(page)


def test_two_people_and_an_auditor(contexts: Callable[..., BrowserContext], issuer: str, tmp_path: Path) -> None:
    olga, anna, ursel = (f"{name} at {issuer}" for name in ("olga", "anna", "ursel"))
    with product(tmp_path, issuer) as address:
        with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
            for subject, role in ((olga, "owner"), (anna, "analyst"), (ursel, "auditor")):
                ledger.give_roles(subject, [role])

        owner = contexts().new_page()
        log_in(owner, f"{address}/budget?epsilon=0.7", issuer, "olga")
        open_tab(owner, "Who may do what")
        assert violations(owner) == []
        owner.get_by_text("Open a budget for data that others bring").click()
        settled(owner)
        named = owner.get_by_role("textbox", name="Whose data are these")
        named.fill("North clinic")
        named.press("Tab")  # left first: what runs when a field is left may lose the click that left it
        settled(owner)
        owner.get_by_role("checkbox", name="It can never be raised").press("Space")  # charts above may still move it
        expect(owner.get_by_role("checkbox", name="It can never be raised")).to_be_checked()
        expect(named).to_have_value("North clinic")
        owner.get_by_role("button", name="Open it for good").press("Enter")
        expect(owner.get_by_text("The budget of “North clinic” is open.")).to_be_visible()
        own_file.choose(owner, "Share it with", anna)
        owner.get_by_text("Also ask for private answers from it").click()
        owner.get_by_role("button", name="Share it").press("Enter")
        expect(owner.get_by_text("asks from it, on record")).to_be_visible()
        limit = owner.get_by_role("spinbutton", name="What one person may take alone")
        limit.fill("0.1")
        owner.get_by_role("button", name="Set this limit").press("Enter")
        expect(owner.get_by_text("what goes beyond waits").first).to_be_visible()

        counts = [4 + day % 3 for day in range(60)] + [90, 120, 110]
        lines = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d},{count}" for day, count in enumerate(counts)]
        file = tmp_path / "counts.csv"
        file.write_text("\n".join(["day,cases", *lines]) + "\n")
        analyst = contexts().new_page()
        analyst.set_viewport_size({"width": 1440, "height": 1400})
        log_in(analyst, address, issuer, "anna")
        own_file.bring(analyst, address, file)
        own_file.declare_numbers(analyst, {"cases": (0, 1000)})
        analyst.get_by_label("If one person is added or removed, a number here changes by at most").fill("1")
        analyst.get_by_role("button", name="Save", exact=True).click()
        settled(analyst)
        own_file.one_row_each(analyst)
        own_file.choose(analyst, "If these people are in an earlier file", "North clinic")
        analyst.get_by_role("button", name="Use that budget for good").click()
        expect(analyst.get_by_text("These are the people of “North clinic”")).to_be_visible()
        own_file.look(analyst)
        analyst.get_by_role("link", name="Thresholding").first.click()
        expect(analyst.get_by_role("heading", name=re.compile("the private alarm stays silent"))).to_be_visible()
        line = analyst.get_by_role("spinbutton", name="The line")
        expect(line).to_have_value("500")  # the middle of what was declared: nothing of the file
        own_file.enter(analyst, "The line", "50")
        expect(analyst.get_by_role("heading", name=re.compile("the private alarm is raised on time"))).to_be_visible()
        own_file.open_release(analyst)
        analyst.get_by_role("button", name="Ask for approval").click()
        analyst.get_by_role("button", name="Send the request").click()
        expect(analyst.get_by_text("waits for an owner of this budget").first).to_be_visible()

        owner.get_by_role("tab", name="Requests").click()
        settled(owner)
        expect(owner.get_by_text(f"Asked by {anna}")).to_be_visible()
        assert violations(owner) == []
        owner.get_by_role("textbox", name="Why?").fill("For the weekly report.")
        owner.get_by_role("button", name="Grant it").press("Enter")
        expect(owner.get_by_text("Granted, on the record")).to_be_visible()

        analyst.get_by_role("button", name="Look again").click()
        analyst.get_by_role("button", name="Draw the answer that was granted").click()
        expect(analyst.get_by_text("Private answer", exact=True)).to_be_visible()
        expect(analyst.get_by_role("heading", name=re.compile("^(Alarm at |No alarm was raised)"))).to_be_visible()
        log_out(analyst, issuer)

        auditor = analyst  # another person at the same browser
        log_in(auditor, f"{address}/budget", issuer, "ursel")
        open_tab(auditor, "All records")
        assert violations(auditor) == []
        with auditor.expect_download() as coming:
            auditor.get_by_role("button", name="All records (JSON lines)").click()
        records = [json.loads(line) for line in coming.value.path().read_text().splitlines()]
        told = [(one["kind"], json.loads(one["body"])) for one in records]
        assert [kind for kind, _ in told] == [
            *("role", "role", "role", "open", "share", "limit", "link", "ask", "grant", "charge", "draw", "answer"),
        ]
        charged = next(body for kind, body in told if kind == "charge")
        assert (charged["subject"], charged["granted_by"]) == (anna, olga)
        record = [path for path in tmp_path.rglob("*") if path.is_file() and "ledger.db" in str(path)]
        everything = "".join(path.read_text("utf-8", "replace") for path in record)
        assert SECRET not in everything
        assert TOKEN.search("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln")
        assert not TOKEN.search(everything), "a token is nowhere on the record"
        auditor.get_by_role("button", name="Check all of it now").click()
        expect(auditor.get_by_text("Sound: 12 records, 1 charges")).to_be_visible()
        log_out(auditor, issuer)
        auditor.goto(address)
        expect(auditor.get_by_role("heading", name="Log in to Epsilon Lab")).to_be_visible()
        assert violations(auditor) == []
