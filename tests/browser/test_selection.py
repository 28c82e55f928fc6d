"""Start and Selection in Chromium: the whole flow a person goes through, from the first picture to a release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import own_file
from tests.browser.axe import violations
from tests.browser.conftest import settled
from tests.browser.server import running

Open = Callable[[str], Page]


def headline(page: Page) -> str:
    found = page.get_by_role("heading", name=re.compile("^At ε = ")).first
    expect(found).to_be_visible()
    return found.inner_text()


def test_start_leads_to_selection_and_epsilon_moves_the_picture(open_page: Open) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", name=re.compile("How much privacy can you afford"))).to_be_visible()
    before = headline(page)
    box = page.get_by_label("ε, typed")
    box.fill("0.1")
    box.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.1 "))).to_be_visible()
    assert headline(page) != before
    page.get_by_role("link", name="Explore this example").click()
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.1 the private answer"))).to_be_visible()
    expect(page).to_have_url(re.compile("epsilon=0.1"))  # the address is written last in a run


def test_a_copied_link_reopens_the_same_picture(open_page: Open) -> None:
    page = open_page("/selection?epsilon=0.2&question=Median+or+quantile&quantile_column=waiting+minutes")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.2 the private median"))).to_be_visible()
    first = headline(page)
    again = page.context.new_page()
    again.goto(page.url)
    settled(again)
    assert headline(again) == first


def test_a_wrong_epsilon_in_a_link_gets_one_sentence(open_page: Open) -> None:
    page = open_page("/selection?epsilon=1e9")
    expect(page.get_by_text("ε must be a number from 0.01 to 10")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.5 "))).to_be_visible()


def test_the_slider_answers_to_the_keyboard(open_page: Open) -> None:
    page = open_page("/selection")
    slider = page.get_by_role("slider", name=re.compile("Privacy loss")).first
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    expect(page.get_by_role("heading", name=re.compile("^At ε = 0.5 "))).to_be_hidden()


def test_a_point_is_dragged_and_its_ghost_stays(open_page: Open) -> None:
    """Handles lie over the points; where one is let go the picture is drawn anew, and the link opens it so."""
    page = open_page("/selection?question=one_ball&ball_people=10&epsilon=3")
    ghost = page.locator("p", has_text="Look at the ghost")
    first = ghost.inner_text()
    grip = page.locator("[data-handle='1']")
    expect(grip).to_be_attached()
    page.locator(".st-key-ball-ball").first.scroll_into_view_if_needed()
    before, box = None, grip.bounding_box()
    while box is None or box != before:  # the page still moves
        settled(page)
        before, box = box, grip.bounding_box()
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] - 120, at[1] - 60, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"ball_to_0-clinic-.*ball_to_1-clinic-"))
    expect(ghost).not_to_have_text(first)
    expect(page.locator("[data-handle]")).to_have_count(10)
    assert violations(page) == []


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own: releases change its ledger."""
    with running(tmp_path_factory.mktemp("releases")) as address:
        yield address


def spent(page: Page) -> str:
    """The tracker's sentence in the sidebar."""
    found = page.get_by_test_id("stSidebar").get_by_text(re.compile(r"\bleft\b")).first
    expect(found).to_be_visible()
    return found.inner_text()


def release_once(page: Page, *, clicks: int = 1) -> None:
    page.get_by_role("button", name="Draw one private answer").click()
    confirm = page.get_by_role("button", name=re.compile("Confirm"))
    expect(confirm).to_be_visible()
    confirm.click(click_count=clicks, delay=20)
    expect(page.get_by_text(re.compile("^Most common: "))).to_be_visible()


def test_release_refresh_second_tab_double_click_and_refusal(browser: Browser, own_server: str) -> None:
    """One confirmed release is one charge, whatever is clicked or reloaded, and the budget comes to an end."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"{own_server}/selection?epsilon=1")
    settled(page)
    untouched = spent(page)
    own_file.open_release(page)
    release_once(page, clicks=2)
    after = spent(page)
    assert after != untouched
    page.reload()
    settled(page)
    assert spent(page) == after
    other = context.new_page()
    other.goto(f"{own_server}/selection?epsilon=1")
    settled(other)
    assert spent(other) == after
    own_file.open_release(other)
    release_once(other)
    assert spent(other) != after
    # The practice budget of ε = 3 (δ aside) takes no unlimited number of answers at ε = 1.
    for _ in range(12):
        button = other.get_by_role("button", name="Draw one private answer")
        expect(button).to_be_visible()
        if button.is_disabled():
            break
        release_once(other)
    assert other.get_by_role("button", name="Draw one private answer").is_disabled()
    context.close()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/selection",
        "/selection?question=Median+or+quantile",
        "/selection?question=Best+simple+rule",
        "/thresholding?data=An+outbreak%2C+120+days+%28simulated%29",
    ],
)
def test_axe_finds_nothing(browser: Browser, address: str, path: str) -> None:
    """In light and, after the person has changed over, in dark."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, color_scheme="light")
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(address + path)
    settled(page)
    page.wait_for_selector(".js-plotly-plot")
    assert violations(page) == []
    grounds = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    light = page.evaluate(grounds)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => {grounds} !== before", arg=light)
    settled(page)
    assert violations(page) == []
    context.close()


def test_the_phone_has_no_sideways_scroll(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(address + "/selection")
    settled(page)
    page.wait_for_selector(".js-plotly-plot")
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390
    context.close()


FITS = """() => [...document.querySelectorAll('.js-plotly-plot')].every(chart =>
    Math.abs(chart.querySelector('.main-svg').getBoundingClientRect().width - chart.clientWidth) < 2)"""
OUTSIDE = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
    const frame = chart.getBoundingClientRect()
    return [...chart.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect()
        return box.width > 1 && (box.left < frame.left - 1 || box.right > frame.right + 1)
    }).map(text => text.textContent)
})"""


@pytest.mark.parametrize(
    "path",
    [
        "/selection",
        "/selection?question=Median+or+quantile",
        "/selection?selection_axis=Both",
        "/thresholding?thresholding_axis=Privacy+level+ε",
        "/experts",
        "/experts?experts_question=Best+fixed+choice+for+a+linear+cost",
    ],
)
def test_no_word_of_a_chart_is_cut(browser: Browser, address: str, path: str) -> None:
    """On a screen, a tablet and a phone."""
    context = browser.new_context(viewport={"width": 1440, "height": 844})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(address + path)
    settled(page)
    page.wait_for_selector(".js-plotly-plot .annotation-text, .js-plotly-plot .cbtitle")
    for width in (1440, 768, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(FITS)
        assert page.evaluate(OUTSIDE) == [], width
    context.close()


def test_a_chart_can_be_taken_away(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/selection")
    page.get_by_role("button", name="Save this chart").first.click()
    for name, start in (
        ("Numbers (CSV)", "method,epsilon,n,metric"),
        ("Python that computes it", "# Needs epsilon-lab"),
    ):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        file = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(file)
        assert file.read_text(encoding="utf-8-sig").startswith(start)
