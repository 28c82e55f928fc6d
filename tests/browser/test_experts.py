"""Online experts in Chromium: from a file of one's own to released plays, and no violation of accessibility rules."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import own_file
from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.server import running

DAYS = 120


def forecasts(file: Path) -> Path:
    """Three forecasters, of whom Ann knows something."""
    rng = np.random.default_rng(5)
    rain = rng.random(DAYS) < 0.4
    ann = np.clip(np.where(rain, 0.7, 0.3) + rng.normal(0, 0.1, DAYS), 0, 1)
    rows = zip(ann, rng.random(DAYS), np.clip(rng.normal(0.5, 0.1, DAYS), 0, 1), rain, strict=True)
    lines = [f"{a:.2f},{b:.2f},{c:.2f},{'yes' if r else 'no'}" for a, b, c, r in rows]
    file.write_text("\n".join(["Ann,Bo,Cy,rain", *lines]) + "\n")
    return file


def test_own_forecasts_become_released_plays(
    browser: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The downloaded plays cover all days, in order, by the names of the file's columns, with their receipt."""
    with running(tmp_path_factory.mktemp("experts")) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 1400})
        context.set_default_timeout(60_000)
        page = context.new_page()
        own_file.bring(page, address, forecasts(tmp_path / "forecasts.csv"))
        own_file.declare_numbers(page, {"Ann": (0, 1), "Bo": (0, 1), "Cy": (0, 1)})
        own_file.one_row_each(page)
        own_file.look(page)
        page.get_by_role("link", name="Online experts").first.click()
        expect(page.get_by_text("3 experts over 120")).to_be_visible()
        expect(page.get_by_text("the best one, Ann")).to_be_visible()
        own_file.open_release(page)
        own_file.open_budget(page, "Days of the test")
        own_file.release(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Plays (CSV)").click()
        rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
        starts = [int(row["from round"]) for row in rows]
        assert starts == sorted(set(starts))
        assert starts[0] == 1
        assert starts[-1] <= DAYS
        assert {row["follow"] for row in rows} <= {"Ann", "Bo", "Cy"}
        assert len({row["receipt"] for row in rows}) == 1
        context.close()


@pytest.mark.parametrize("question", ["Whom+to+follow", "Best+fixed+choice+for+a+linear+cost"])
def test_no_accessibility_violations(open_page: Callable[[str], Page], question: str) -> None:
    page = open_page(f"/experts?data=A+town%2C+10%2C000+people+%28simulated%29&experts_question={question}")
    expect(page.get_by_role("heading", name=re.compile("^At ε = "))).to_be_visible()
    page.wait_for_selector(".js-plotly-plot .main-svg")
    settled(page)
    assert violations(page) == []
