"""Private training in Chromium: a file of one's own, how its picture looks, a model that is released and predicts,
and how often it is right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from dpcore.training import load_model, predict
from tests.browser import own_file
from tests.browser.looks import can_be_read

PEOPLE = 400
SIZE: ViewportSize = {"width": 1440, "height": 1400}


def patients(file: Path) -> Path:
    """Older people and those who waited longer came back, with few exceptions."""
    rng = np.random.default_rng(6)
    age, hours = rng.uniform(18, 90, PEOPLE), rng.uniform(0, 60, PEOPLE)
    back = (age - 54) / 15 + (hours - 30) / 10 + rng.normal(0, 0.5, PEOPLE) > 0
    lines = [f"{a:.1f},{h:.1f},{'yes' if b else 'no'}" for a, h, b in zip(age, hours, back, strict=True)]
    file.write_text("\n".join(["age,hours,returned", *lines]) + "\n")
    return file


def test_a_model_of_an_own_file_predicts_and_keeps_its_number_of_rows_private(
    context: BrowserContext, address: str, tmp_path: Path
) -> None:
    """The page fills in at ε = 2; the release buys about how many rows there are, and its model tells who came back."""
    page = context.new_page()
    page.set_viewport_size(SIZE)
    own_file.bring(page, address, patients(tmp_path / "patients.csv"))
    own_file.declare_numbers(page, {"age": (0, 110), "hours": (0, 60)})
    own_file.declare_binary(page, "returned")
    own_file.one_row_each(page)
    own_file.look(page)
    page.get_by_role("link", name="Private training").first.click()
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.5 "))).to_be_visible()
    own_file.choose(page, "Column to predict", "returned")
    expect(page.get_by_role("heading", name=re.compile("the private model is right about"))).to_be_visible()
    box = page.get_by_label("ε, typed")
    box.fill("2")
    box.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 2 "))).to_be_visible()
    expect(page.get_by_text("smallest ε")).to_be_visible()
    can_be_read(page)
    page.set_viewport_size(SIZE)
    own_file.open_release(page)
    own_file.open_budget(page, "Patients of the tests")
    expect(page.get_by_text("a noisy count is bought")).to_be_visible()
    expect(page.get_by_text("cannot be told without looking at the data")).to_be_visible()
    own_file.release(page)
    expect(page.get_by_text("It predicts")).to_be_visible()
    file = saved(page, tmp_path)
    model = load_model(file)
    assert model.about["epsilon"] == 2
    assert model.about["people_from"] == "noisy count"
    assert predict(file, [{"age": 85, "hours": 55}, {"age": 20, "hours": 5}]) == ["yes", "no"]
    how_often_it_is_right(page)


def how_often_it_is_right(page: Page) -> None:
    """One click leads to it, where it can be read; its counts are drawn at an ε that is left, and stay."""
    page.get_by_role("button", name="How often is this model right on your rows?").last.click()
    expect(page.get_by_role("heading", name=re.compile("the private count tells how often"))).to_be_visible()
    page.emulate_media(color_scheme="light")  # as before the last look at a page, which ended in the dark
    can_be_read(page)
    page.set_viewport_size(SIZE)
    box = page.get_by_label("ε, typed")
    box.fill("0.3")
    box.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.3 the private count"))).to_be_visible()
    own_file.open_release(page)
    own_file.release(page)
    expect(page.get_by_text("The four counts as told.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Right about").first).to_be_visible()


def saved(page: Page, folder: Path) -> Path:
    """The model's file, taken away."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Model (JSON)").click()
    file = folder / "model.json"
    download.value.save_as(file)
    return file
