"""Online experts in Chromium: from a file of one's own to released plays."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from playwright.sync_api import BrowserContext, expect

from tests.browser import own_file

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


def test_own_forecasts_become_released_plays(context: BrowserContext, address: str, tmp_path: Path) -> None:
    """The downloaded plays cover all days, in order, by the names of the file's columns, with their receipt."""
    page = context.new_page()
    page.set_viewport_size({"width": 1440, "height": 1400})
    own_file.bring(page, address, forecasts(tmp_path / "forecasts.csv"))
    own_file.declare_at_once(page, {"Ann": (0, 1), "Bo": (0, 1), "Cy": (0, 1)}, binary="rain")
    own_file.one_row_each(page)
    own_file.look(page)
    page.get_by_role("link", name="Online experts").first.click()
    expect(page.get_by_text("3 experts over 120")).to_be_visible()
    expect(page.get_by_text("the best one, Ann")).to_be_visible()
    own_file.settled(page)
    page.get_by_role("tab", name="A private answer").click()
    expect(page.get_by_text("how many rounds there are: 120, down to the last row")).to_be_visible()
    page.get_by_role("button", name="I checked this").click()
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
