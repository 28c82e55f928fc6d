"""The page follows the finger on the slider of ε, and the server's own words take over when it is let go."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.axe import violations

Open = Callable[[str], Page]


def test_sentences_and_point_follow_the_finger_and_agree_with_the_server(open_page: Open) -> None:
    page = open_page("/selection")
    head = page.locator(".st-key-selection-headline")
    expect(head).to_contain_text("At ε = 0.5")
    slider = page.locator(".st-key-_slider input[type=range]")
    track = page.locator(".st-key-_slider [role=group] > div").first.bounding_box()
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
    assert violations(page) == []
