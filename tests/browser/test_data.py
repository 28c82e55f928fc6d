"""The Data page in a browser: from a colleague's messy export to a right chart, and free of axe violations."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dashboard.case import MARK
from dashboard.words import data as said
from dpcore.selection import PermuteAndFlip
from tests.browser import own_file
from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.looks import WIDTH, in_the_dark

Open = Callable[..., Page]
JOBS = {"Pflege": 40, "Büro": 34, "Verkauf": 25, "Handwerk": 18, "Straßenbau": 9}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """Semicolons, cp1252, decimal commas, titles above, and a TOTAL row at the foot."""
    rng = random.Random(7)
    jobs = [job for job, count in JOBS.items() for _ in range(count)]
    rng.shuffle(jobs)
    lines = ["Umfrage Grünwald;;;", "Nr;Beruf;Größe (m);zufrieden"]
    lines += [
        f"{number};{job};{rng.choice(['1,62', '1,75', '1,9'])};{rng.choice(['ja', 'nein'])}"
        for number, job in enumerate(jobs, start=1)
    ]
    lines.append(f"TOTAL;{len(jobs)};;")
    file = tmp_path / "Umfrage März.csv"
    file.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return file


def drop(page: Page, file: Path) -> None:
    # the samples below have an uploader of their own, which may be drawn first
    uploader = page.get_by_test_id("stFileUploader").filter(has_text="Drop a table")
    uploader.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("How may this file be used?")).to_be_visible(timeout=60_000)
    settled(page)


def test_a_messy_export_ends_at_a_right_chart(open_page: Open, export: Path) -> None:
    """Drop, read what was understood, ask, say that it is test data: the headline is the exact law on its counts.

    Four clicks with the one that picks the file. A second tab is a session of its own and sees nothing of the file, and
    a tab loaded anew still has it, with what was chosen.
    """
    page = open_page("/data")
    drop(page, export)
    expect(page.get_by_text("126 rows and 4 columns.")).to_be_visible()
    expect(page.get_by_text("Cells end at a semicolon.")).to_be_visible()
    expect(page.get_by_text("Windows Western European (cp1252)").first).to_be_visible()
    expect(page.get_by_text("Set aside, line 129:")).to_be_visible()
    page.get_by_role("button", name="Which Beruf is most common?").click()
    expect(page.get_by_text("Everything about these data")).to_have_count(0)
    page.get_by_text("Treat this file as public or test data").click()
    page.get_by_role("button", name="Show the chart of the file").click()
    law = PermuteAndFlip(epsilon=0.5, monotonic=True).probabilities(np.array(list(JOBS.values())))
    right = f"about {round(100 * law[0])} times in 100"
    expect(page.get_by_text(f"the private answer names these people's winner {right}")).to_be_visible()
    expect(page.get_by_text("What-if: your file, not private")).to_be_visible()
    expect(page.locator(".st-key-selection-epsilon .js-plotly-plot").get_by_text(MARK)).to_be_visible()
    assert "Umfrage" not in page.url, "the name of a file stays out of the link"
    page.get_by_role("link", name="Data", exact=True).first.click()
    page.get_by_role("button", name="What is the median of Größe (m)?").click()
    expect(page.get_by_text("The true median is 1.75")).to_be_visible()  # a decimal comma is a number
    other = open_page("/data")
    expect(other.get_by_text("Drop a table here")).to_be_visible()
    assert "Umfrage" not in other.content()
    assert other.get_by_text("Your own data").count() == 0
    page.reload()
    settled(page)
    expect(page.get_by_text("The true median is 1.75")).to_be_visible()
    expect(page.get_by_text("What-if: your file, not private")).to_be_visible()
    expect(page).to_have_url(re.compile("data=own"))  # the browser is told of it after the page is drawn
    other.goto(page.url)
    expect(other.get_by_text("a file of your own is forgotten some minutes after its tab was closed")).to_be_visible()
    expect(other.get_by_text("Demo: simulated sample, truth shown")).to_be_visible()


def test_the_page_can_be_read_by_everybody(open_page: Open, export: Path) -> None:
    """axe-core in light and dark before and after a file; on a phone nothing sticks out sideways, the questions come
    first, and the decision before the columns."""
    page = open_page("/data")
    # The mend of Streamlit's drop area runs a moment after it is drawn.
    expect(page.locator("[data-testid=stFileUploaderDropzone][role=presentation]")).to_have_count(0)
    assert violations(page) == []
    drop(page, export)
    own_file.choose(page, "Column to change", "Beruf")
    expect(page.get_by_label("Options, one on each line")).to_be_visible()
    settled(page)
    assert violations(page) == []
    in_the_dark(page)
    assert violations(page, only="color-contrast") == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"{WIDTH} <= 390")
    ask = page.get_by_text("What do you want to know?").bounding_box()
    decision = page.get_by_text("How may this file be used?").bounding_box()
    columns = page.get_by_role("tab", name="Columns").bounding_box()
    assert ask is not None
    assert decision is not None
    assert columns is not None
    assert ask["y"] < decision["y"] < columns["y"]
    page.get_by_role("button", name="Which Beruf is most common?").click()
    page.get_by_text("Say which values are possible", exact=True).click()
    expect(page.get_by_role("button", name="Show the chart of made-up rows")).to_be_visible()
    settled(page)
    assert violations(page) == []
    page.wait_for_function(f"{WIDTH} <= 390")


SET = """(box, text) => {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, text)
  box.dispatchEvent(new Event("input", { bubbles: true }))
}"""


@pytest.mark.parametrize("way", ["click", "link"])
def test_from_the_list_of_samples_to_a_question(open_page: Open, way: str) -> None:
    page = open_page("/data?from=samples" if way == "link" else "/data")
    if way == "click":
        page.get_by_role("radio", name="Samples", exact=True).click()
        settled(page)
    page.get_by_role("button", name="Thresholding").first.click()
    page.wait_for_url("**/thresholding*")
    settled(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_pasted_table_comes_whole(open_page: Open) -> None:
    """One that is longer than what any other box takes: the server knows which page the box for it stands on."""
    page = open_page("/data")
    page.get_by_text(said.PASTE, exact=True).click()
    page.get_by_label(said.PASTE_LABEL).evaluate(SET, "age\tcity\n" + "34\tHaifa\n51\tLod\n" * 10_000)
    page.get_by_role("button", name=said.PASTE_GO).click()
    expect(page.get_by_text("20,000 rows").first).to_be_visible()
