"""What a tab says whose page was loaded anew: the name it keeps, once; again and again only while its file waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from dashboard.data import tab

SCRIPT = Path(tab.__file__).with_suffix(".js")
PAGE = "http://127.0.0.1/tab"
NAME = "tab" + "0" * 32
BEGIN = """async (script) => {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }))
  const draw = (await import(address)).default
  const setTriggerValue = (key, name) => window.said.push([key, name])
  window.said = []
  window.drawn = (data) => { window.end = draw({ data, setTriggerValue }) }
}"""
OURS = "setInterval(ask, AGAIN)"


def begun(context: BrowserContext, script: str) -> Page:
    """A page that has just been loaded in a tab that keeps a name; its clock stands."""
    page = context.new_page()
    page.route(PAGE, lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.clock.install()
    page.goto(PAGE)
    page.evaluate("(name) => sessionStorage.setItem('epsilon-lab-tab', name)", NAME)
    page.evaluate(BEGIN, script)
    return page


def said(page: Page, seconds: int, **data: Any) -> int:
    """How often the name is said in so many seconds after the server drew this."""
    page.evaluate("(data) => { window.said.length = 0; window.drawn(data) }", {"name": "", "waits": False} | data)
    page.clock.run_for(1000 * seconds)
    found: list[list[str]] = page.evaluate("window.said")
    assert all(one == ["back", NAME] for one in found)
    return len(found)


@pytest.mark.parametrize("again", [True, False], ids=["", "as it was"])
def test_a_tab_asks_once_and_while_its_file_waits_again_and_again(context: BrowserContext, again: bool) -> None:
    """However often the page is drawn meanwhile, from one clock; and no more once that is over, or it is left."""
    script = SCRIPT.read_text(encoding="utf-8")
    assert OURS in script
    page = begun(context, script if again else script.replace(OURS, "0"))
    assert said(page, 60) == 1
    assert said(page, 60) == 0, "not for a file that is gone"
    assert said(page, 60, waits=True) == (12 if again else 0)
    if not again:
        return
    assert said(page, 3, waits=True) == 0
    assert said(page, 60, waits=True) == 12
    assert said(page, 60) == 0
    assert said(page, 7, waits=True) == 1
    assert said(page, 60, name="tab" + "1" * 32) == 0
    page.evaluate("(name) => sessionStorage.setItem('epsilon-lab-tab', name)", NAME)
    assert said(page, 7, waits=True) == 1
    page.evaluate("window.end()")  # the part is on this page no more
    page.evaluate("window.said.length = 0")
    page.clock.run_for(60_000)
    assert page.evaluate("window.said") == []
