"""The page follows the finger on the slider of ε, and the server's own words take over when it is let go."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.looks import can_be_read

Open = Callable[[str], Page]
SLIDER, AT_THE_EDGE = "[class*=st-key-epsilon-slider]", "[class*=st-key-epsilon-at-the-edge]"


def test_sentences_and_point_follow_the_finger_and_agree_with_the_server(open_page: Open) -> None:
    page = open_page("/selection")
    head = page.locator(".st-key-selection-headline")
    expect(head).to_contain_text("At ε = 0.5")
    slider = page.locator(f"{SLIDER} input[type=range]")
    track = page.locator(f"{SLIDER} [role=group] > div").first.bounding_box()
    assert track is not None
    y = track["y"] + track["height"] / 2
    page.wait_for_selector(".st-key-selection-epsilon .js-plotly-plot")
    page.mouse.move(track["x"] + track["width"] * 17 / 30, y)  # the thumb stands at 0.5, step 17 of 30
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * 10 / 30, y, steps=6)
    expect(slider).to_have_attribute("aria-valuetext", "0.1")
    layer = page.locator("[data-finger='0.1']")
    expect(layer).to_contain_text("At ε = 0.1")
    expect(layer).to_have_attribute("aria-hidden", "true")
    expect(head).to_contain_text("At ε = 0.5")  # the server has not been asked
    assert page.locator("circle[data-finger=point]").count() == 1
    told = layer.inner_text().splitlines()
    page.mouse.up()
    expect(head).to_contain_text("At ε = 0.1")
    expect(page.locator("[data-finger]")).to_have_count(0)
    shown = [head.inner_text(), page.locator(".st-key-selection-odds-words").inner_text()]
    for sentence in shown:
        assert sentence.strip() in told, "what followed the finger is what the server says"
    slider.press("ArrowRight")
    expect(head).to_contain_text("At ε = 0.12")
    expect(page.locator("[data-finger]")).to_have_count(0)
    can_be_read(page)


def test_the_curve_itself_can_be_dragged(open_page: Open) -> None:
    page = open_page("/selection?question=quantile")
    head = page.locator(".st-key-quantile-headline")
    expect(head).to_contain_text("At ε = 0.5")
    plot = page.locator(".st-key-quantile-epsilon .nsewdrag").first
    expect(plot).to_have_css("cursor", "ew-resize")  # the page follows by now
    box = plot.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 2, y)
    page.mouse.down()
    layer = page.locator("div[data-finger='10']")  # where the scale ends
    expect(layer).to_contain_text("At ε = 10")
    page.mouse.move(box["x"] + box["width"] - 200, y, steps=4)
    expect(layer).to_have_count(0)
    layer = page.locator("div[data-finger]")
    step = layer.get_attribute("data-finger")
    told = layer.inner_text().splitlines()
    expect(head).to_contain_text("At ε = 0.5")  # the server has not been asked
    page.mouse.up()
    expect(head).to_contain_text(f"At ε = {step} ")
    expect(page.locator("[data-finger]")).to_have_count(0)
    assert head.inner_text().strip() in told
    can_be_read(page)


def test_a_drag_goes_on_where_the_server_answers_meanwhile(open_page: Open) -> None:
    """On a busy machine what was asked before is answered while the finger is down; what it chose once was lost."""
    page = open_page("/selection?question=quantile")
    head = page.locator(".st-key-quantile-headline")
    plot = page.locator(".st-key-quantile-epsilon .nsewdrag").first
    expect(plot).to_have_css("cursor", "ew-resize")
    box = plot.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 2, y)
    page.mouse.down()
    expect(page.locator("div[data-finger='10']")).to_contain_text("At ε = 10")
    page.get_by_test_id("stSidebar").get_by_role("slider", name="Privacy loss ε").press("ArrowLeft")
    expect(head).to_contain_text("At ε = 0.4")
    settled(page)
    expect(page.locator("div[data-finger='10']")).to_contain_text("At ε = 10")
    page.mouse.up()
    expect(head).to_contain_text("At ε = 10 ")
    expect(page.locator("[data-finger]")).to_have_count(0)


def test_on_a_phone_the_slider_is_under_the_thumb_and_the_headline_in_sight(
    context: BrowserContext, address: str
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}/thresholding")
    settled(page)
    page.locator("[data-testid=stExpandSidebarButton]").click()
    sidebar = page.locator("[data-testid=stSidebar]")
    expect(sidebar).to_have_attribute("data-collapsed", "false")
    page.locator("[data-testid=stSidebarNav]").get_by_role("link", name="Selection").click()
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    head = page.locator(".st-key-selection-headline")
    expect(head).to_contain_text("At ε = 0.5")
    settled(page)
    expect(page.locator(AT_THE_EDGE)).to_be_in_viewport(ratio=1)
    expect(head).to_be_in_viewport(ratio=1)
    track = page.locator(f"{AT_THE_EDGE} [role=group] > div").first.bounding_box()
    assert track is not None
    y = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + track["width"] * 17 / 30, y)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * 10 / 30, y, steps=6)
    expect(page.locator("div[data-finger='0.1']")).to_contain_text("At ε = 0.1")
    page.mouse.up()
    expect(head).to_contain_text("At ε = 0.1")
    assert violations(page) == []


@pytest.mark.parametrize("between", [30, 90, 200])  # milliseconds: within a run, as long as one, after one
def test_no_step_of_quick_keys_is_lost(open_page: Open, between: int) -> None:
    """What the server says of a former step, and what other widgets of ε still hold, takes nothing back."""
    page = open_page("/selection")
    head = page.locator(".st-key-selection-headline")
    expect(head).to_contain_text("At ε = 0.5")
    slider = page.get_by_test_id("stSidebar").get_by_role("slider", name="Privacy loss ε")
    slider.focus()
    seen = []
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
        seen.append(slider.get_attribute("aria-valuetext"))
        page.wait_for_timeout(between)
    assert seen == ["0.4", "0.3", "0.25", "0.2", "0.15", "0.12", "0.1", "0.08"]
    expect(head).to_contain_text("At ε = 0.08")
    settled(page)
    expect(slider).to_have_attribute("aria-valuetext", "0.08")
    expect(page.get_by_role("spinbutton", name="Privacy loss ε, typed")).to_have_value("0.08")
    slider.press("ArrowRight")
    expect(head).to_contain_text("At ε = 0.1")


def test_slider_and_box_take_turns(open_page: Open) -> None:
    """Each shows at once what the other was set to, also back at a value it had before, and goes on from there."""
    page = open_page("/selection")
    head = page.locator(".st-key-selection-headline")
    slider = page.get_by_test_id("stSidebar").get_by_role("slider", name="Privacy loss ε")
    box = page.get_by_role("spinbutton", name="Privacy loss ε, typed")
    slider.press("ArrowLeft")
    expect(box).to_have_value("0.4")
    box.fill("0.5")
    box.press("Enter")
    expect(slider).to_have_attribute("aria-valuetext", "0.5")
    slider.press("ArrowLeft")
    expect(box).to_have_value("0.4")
    box.fill("77")
    box.press("Enter")
    expect(page.get_by_text("ε must be a number from 0.01 to 10")).to_be_visible()
    expect(box).to_have_value("0.4")
    expect(head).to_contain_text("At ε = 0.4")
    slider.press("ArrowRight")
    expect(head).to_contain_text("At ε = 0.5")
