"""A deck in front of a room: by keyboard at 1280 × 720, its type measured, with the speaker's window; and a frame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.charts.projector import LEAST
from dashboard.scenes.deck import bundled
from dashboard.words import scenes as words
from tests.browser.axe import violations
from tests.browser.conftest import settled

LINKS = json.loads((Path(__file__).parents[1] / "golden" / "links.json").read_text(encoding="utf-8"))
DECK = bundled()["five_minutes"]
BODY = 24  # pixels: the least of what is read from the back of a room

# Every text that is shown, with its size, by whether it is part of a chart; a help sign has no text.
TEXTS = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement, text = node.textContent.trim();
    if (!text || !parent.checkVisibility() || parent.closest("script, style, [aria-hidden=true], noscript")) continue;
    const box = parent.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || parent.closest("[data-testid=stIconMaterial]")) continue;
    const style = getComputedStyle(parent);
    if (style.opacity === "0" || style.fill === "rgba(0, 0, 0, 0)" || style.clipPath === "inset(50%)") continue;
    found.push({ text, chart: !!parent.closest(".js-plotly-plot"), size: parseFloat(style.fontSize) });
  }
  return found;
}"""


@pytest.fixture
def stage(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{address}/?present=five_minutes")
    at(page, 1)
    return page


def at(page: Page, number: int) -> None:
    """Wait until a scene is drawn whole."""
    title = page.get_by_role("heading", name=DECK.scenes[number - 1].title, exact=True)
    expect(title).to_be_visible()
    expect(page.get_by_role("button", name=words.BACK)).to_be_visible()  # drawn last, with what comes next
    settled(page)
    if DECK.scenes[number - 1].address.part != "release":
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()


def texts(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(TEXTS)
    return found


def test_a_deck_is_shown_by_keyboard_in_type_for_the_back_of_the_room(stage: Page) -> None:
    box = None
    for number in range(1, len(DECK.scenes) + 1):
        if number > 1:
            stage.keyboard.press("PageDown" if number % 2 else "ArrowRight")
            at(stage, number)
        found = texts(stage)
        small = [one for one in found if one["size"] < (LEAST if one["chart"] else BODY)]
        assert not small, f"scene {number}: {small[:5]}"
        assert any(one["chart"] for one in found) or DECK.scenes[number - 1].address.part in ("release", "protected")
        assert any("next" in one["text"].lower() for one in found) or number == len(DECK.scenes)
        place = stage.get_by_role("button", name=words.BACK).bounding_box()
        assert box is None or place == box, "the way on stands where it stood"
        box = place
        inside = stage.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        assert inside <= 720, f"scene {number} does not fit: {inside} pixels"
        assert not stage.get_by_test_id("stSidebar").is_visible()
        if number in (1, len(DECK.scenes) - 1):
            assert violations(stage) == []
    stage.keyboard.press("ArrowRight")  # there is nothing after the last one
    stage.keyboard.press("PageUp")
    at(stage, len(DECK.scenes) - 1)
    stage.get_by_role("button", name=words.DRAW).click()
    expect(stage.get_by_text(words.drawn(1))).to_be_visible()
    expect(stage.locator(".st-key-drawn-answers path.point, .st-key-box-drawn-answers path.point")).to_have_count(1)
    settled(stage)
    small = [one for one in texts(stage) if one["size"] < (LEAST if one["chart"] else BODY)]
    assert not small, small


def test_notes_follow_in_a_second_window_and_the_screen_goes_black(
    stage: Page, context: BrowserContext, address: str
) -> None:
    notes = context.new_page()
    notes.goto(f"{address}/demos?notes=on")
    expect(notes.get_by_role("heading", name=DECK.scenes[0].title)).to_be_visible()
    expect(notes.get_by_text(DECK.scenes[0].notes.splitlines()[0])).to_be_visible()
    expect(notes.get_by_text(DECK.scenes[1].title)).to_be_visible()
    notes.get_by_role("button", name=words.NEXT).click()
    at(stage, 2)
    expect(notes.get_by_role("heading", name=DECK.scenes[1].title)).to_be_visible()
    black = stage.locator(".black")
    expect(black).to_be_hidden()
    stage.keyboard.press("b")
    expect(black).to_be_visible()
    assert black.bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 720}
    expect(notes.get_by_text(words.BLANKED)).to_be_visible()
    assert violations(notes) == []
    stage.keyboard.press("b")
    expect(black).to_be_hidden()
    assert "scene=2" in stage.url


def test_a_tour_names_the_control_and_can_be_left_and_a_frame_holds_one_chart(
    context: BrowserContext, address: str
) -> None:
    page = context.new_page()
    page.goto(f"{address}/?tour=five_minutes")
    settled(page)
    page.get_by_role("button", name=words.TRY).click()
    slider = page.get_by_role("slider", name="Privacy loss ε").first
    expect(slider).to_be_focused()
    settled(page)
    assert violations(page) == []
    page.keyboard.press("ArrowRight")  # the slider has the focus: its key, and not the deck's
    page.wait_for_function("location.search.includes('epsilon=0.06')")
    assert "scene=1" in page.url
    page.locator(".st-key-scene-next button").click()  # the others: tests/scenes/test_tour.py
    expect(page.locator(".st-key-tour-bar")).to_contain_text(DECK.scenes[1].title)
    page.wait_for_function("location.search.includes('scene=2')")
    settled(page)
    page.get_by_role("button", name=words.END).click()
    expect(page.locator(".st-key-tour-bar")).to_have_count(0)
    settled(page)
    assert "tour" not in page.url
    golden = "selection?epsilon=0.1&selection_method=exponential"
    assert golden in {one["link"] for one in LINKS}
    page.goto(f"{address}/{golden}&embed=true")
    expect(page.get_by_role("heading", level=1)).to_contain_text("At ε = 0.1")
    settled(page)
    assert golden in page.url
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    assert not page.get_by_test_id("stSidebar").is_visible()
    assert violations(page) == []


def test_a_deck_s_mistakes_are_told_and_a_room_stands_on_the_stage(context: BrowserContext, address: str) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{address}/demos")
    settled(page)
    scenes = [{"title": "One", "sentense": "Look.", "address": "elsewhere?epsilon=1"}]
    wrong = json.dumps({"title": "Mine", "scenes": scenes}).encode()
    page.locator("input[type=file]").set_input_files(
        {"name": "d.json", "mimeType": "application/json", "buffer": wrong}
    )
    for told in ("did you mean “sentence”?", "has no “sentence”", "a page “elsewhere” that is not here"):
        expect(page.get_by_text(told)).to_be_visible()
    assert page.get_by_test_id("stSidebar").is_visible()
    page.locator(".st-key-present-with_the_room button").click()
    room = bundled()["with_the_room"].scenes
    expect(page.get_by_role("heading", name=room[0].title)).to_be_visible()
    settled(page)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    assert_large(page)
    page.get_by_role("button", name="Open the poll").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    settled(page)
    assert_large(page)
    assert violations(page) == []
    page.keyboard.press("PageDown")
    expect(page.get_by_role("heading", name=room[1].title)).to_be_visible()
    settled(page)
    assert_large(page, whole=False)


def assert_large(page: Page, *, whole: bool = True) -> None:
    """What is shown can be read from the back of the room; ``whole``: and nothing has to be scrolled for."""
    small = [one for one in texts(page) if one["size"] < (LEAST if one["chart"] else BODY)]
    assert not small, small[:5]
    inside = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    assert inside <= 720 or not whole, f"{inside} pixels"
