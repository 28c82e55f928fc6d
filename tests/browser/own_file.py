"""What a person does on the Data page with a file of their own, before a private answer is made from it."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import settled


def bring(page: Page, address: str, file: Path) -> None:
    """Drop the file on the Data page and wait until it was read."""
    page.goto(f"{address}/data?from=Your+own+file")
    settled(page)
    # the samples below have an uploader of their own, which may be drawn first
    drop = page.get_by_test_id("stFileUploader").filter(has_text="Drop a table")
    drop.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("Before a private answer").first).to_be_visible(timeout=60_000)
    settled(page)


def declare_numbers(page: Page, bounds: dict[str, tuple[float, float]]) -> None:
    """State what each of these columns could hold."""
    for name, (low, high) in bounds.items():
        choose(page, "Column to change", name)
        # the form of the column before may still stand there: what is typed into that one is lost
        expect(page.get_by_text("What “", exact=False)).to_have_count(1)
        expect(page.get_by_text(f"What “{name}” could hold")).to_be_visible()
        smallest, largest = (
            page.get_by_label("Lowest possible", exact=True),
            page.get_by_label("Highest possible", exact=True),
        )
        expect(smallest).to_have_count(1)
        smallest.fill(str(low))
        largest.fill(str(high))
        before = largest.element_handle()
        page.get_by_role("button", name="Save", exact=True).click()
        before.wait_for_element_state("hidden")  # a saved declaration gets a form of its own
        expect(largest).to_have_count(1)
        expect(smallest).to_have_value(f"{low:g}")
        expect(largest).to_have_value(f"{high:g}")


def declare_at_once(page: Page, bounds: dict[str, tuple[float, float]], *, binary: str) -> None:
    """State in one form what these columns could hold, which with ``binary`` are all that wait for it."""
    page.get_by_text(f"Say what {len(bounds) + 1} columns could hold, all at once").click()
    for name, (low, high) in bounds.items():
        page.get_by_label(f"Lowest possible {name}").fill(str(low))
        page.get_by_label(f"Highest possible {name}").fill(str(high))
    page.get_by_test_id("stCheckbox").filter(has_text=f"{binary} holds yes or no").locator("label").click()
    save = page.get_by_role("button", name="Save all of these")
    save.click()
    expect(save).to_have_count(0)
    settled(page)


def declare_binary(page: Page, name: str) -> None:
    """State in its form that a column holds yes or no."""
    choose(page, "Column to change", name)
    expect(page.get_by_text(f"What “{name}” could hold")).to_be_visible()
    tick = page.get_by_test_id("stCheckbox").filter(has_text=f"{name} holds yes or no").locator("label")
    tick.last.click()  # the form of several columns has one, too, folded, while more than one waits
    page.get_by_role("button", name="Save", exact=True).click()
    settled(page)


def choose(page: Page, label: str, option: str) -> None:
    """Pick an option of a select box, which a page that is drawn at that moment may close again."""
    box = page.get_by_role("combobox", name=label).first
    settled(page)
    box.hover()  # scrolls to it, and again where it was drawn anew meanwhile
    settled(page)  # a list that opens while the page scrolls or is drawn closes again
    box.click()
    wanted = page.get_by_role("option", name=option, exact=True)
    for _ in range(3):
        try:
            expect(wanted).to_be_visible(timeout=5_000)
        except AssertionError:
            settled(page)
            box.click()
    wanted.click()
    settled(page)


def enter(page: Page, label: str | re.Pattern[str], number: str) -> None:
    """Type a number until it stays: a box that is drawn anew at that moment shows what stood there before."""
    box = page.get_by_role("spinbutton", name=label)
    for _ in range(5):
        box.fill(number)
        box.press("Enter")
        settled(page)
        try:
            expect(box).to_have_value(number, timeout=2_000)
        except AssertionError:
            continue
        return
    expect(box).to_have_value(number)


def one_row_each(page: Page) -> None:
    """Say that one person, or day, has one row, or changes one step."""
    enter(page, re.compile("Rows one|Steps whose"), "1")


def look(page: Page) -> None:
    """Call right what the file suggested, and confirm that its own values may be looked at."""
    right = page.get_by_role("button", name="I checked all of this: it is right")
    right.click()
    expect(right).to_have_count(0)
    settled(page)
    page.get_by_test_id("stCheckbox").first.locator("label").click()
    settled(page)
    page.get_by_role("button", name="Look at this file").click()
    expect(page.get_by_text("Charts are computed from the file's own values")).to_be_visible()


def open_release(page: Page) -> None:
    """Open the tab of the release."""
    settled(page)
    page.get_by_role("tab", name="A private answer").click()
    there = page.get_by_text("What leaves this page").or_(page.get_by_role("textbox", name="Whose data are these"))
    expect(there.first).to_be_visible()


def open_budget(page: Page, name: str) -> None:
    """Open a budget that takes many small answers for the people in the file, where a release asks for it."""
    page.get_by_role("textbox", name="Whose data are these").fill(name)
    page.get_by_text("Many small answers: counted in ρ").click()
    settled(page)
    enter(page, "Total ε", "3")
    page.get_by_role("button", name="Review this budget").click()
    page.get_by_role("button", name="Open it for good").click()


def release(page: Page) -> None:
    """Ask for the private answer and confirm."""
    page.get_by_role("button", name="Draw one private answer").click()
    page.get_by_role("button", name="Confirm and draw").click()
    expect(page.get_by_text("Private answer", exact=True)).to_be_visible(timeout=60_000)
    settled(page)
