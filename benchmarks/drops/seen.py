"""A table on its way from the drop to its first chart, in a browser: what was shown, and what it took."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from benchmarks.drops.tables import Drop

PATIENCE = 60_000
WORDS = 200.0  # that a reader reads in a minute
ASKING, HEADLINE = ".st-key-own-asking", "[class*='-headline'] h3"

# Texts that can be seen, each as often as it stands there; icons are pictures, whatever their letters.
_TEXTS = """(boxes) => {
  const pictures = '[data-testid^=stIcon], [data-testid=stExpanderIcon], [role=img], script, style, svg';
  return boxes.flatMap(box => {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), found = [];
    for (let node; (node = walker.nextNode());) {
      const holder = node.parentElement, text = node.textContent.trim();
      if (text && holder.checkVisibility() && !holder.closest(pictures)) found.push(text);
    }
    return found;
  });
}"""
# The one point of the main chart that stands at the chosen ε.
_MARKED = """() => {
  for (const plot of document.querySelectorAll('.js-plotly-plot'))
    for (const trace of plot.data || [])
      if ((trace.type || 'scatter') === 'scatter' && trace.x && trace.x.length === 1 && trace.x[0] === 0.5)
        return Number(trace.y[0]);
  return null;
}"""


@dataclass(kw_only=True)
class Seen:
    """``question``, ``headline``, ``caption``, ``outcomes`` and ``all`` are texts of the last page, ``marked`` the
    height of its point at ε, ``line`` what its sentence compares with.

    ``row`` is what one row was taken for before anything was corrected, ``offered`` the questions then, the best first.
    """

    row: str = ""
    offered: list[str] = field(default_factory=list)
    clicks: int = 0
    words: int = 0
    waited: float = 0.0
    question: str = ""
    headline: str = ""
    caption: str = ""
    outcomes: str = ""
    all: str = ""
    marked: float | None = None
    line: float | None = None

    @property
    def reading(self) -> float:
        """Seconds at ``WORDS`` a minute."""
        return 60.0 * self.words / WORDS


class Person:
    """Somebody at the Data page with a file: drops, reads all that is new, clicks, waits until the page rests."""

    def __init__(self, page: Page, settled: Callable[[Page], None]) -> None:
        self._page, self._settled, self._read = page, settled, list[str]()
        self.seen = Seen()

    def go(self, drop: Drop, file: Path) -> Seen:
        """From the drop to the first chart, or to the sentence that says why there is none."""
        page, seen = self._page, self.seen
        area = page.get_by_test_id("stFileUploader").filter(has_text="Drop a table")
        self._clicked(lambda: area.locator("input[type=file]").set_input_files(file), page.locator(ASKING).wait_for)
        seen.row = next(iter(re.findall(r"One row is ([a-z ]+)\.", self._reads(ASKING))), "")
        seen.offered = [button.inner_text().split("\n")[-1] for button in self._questions()]
        for name in drop.before:
            self._press(name)
        if drop.question:
            if self._button(drop.question).count() == 0:
                self._asks_about(drop.about)
            self._press(drop.question)
            for name in drop.then:
                self._press(name)
            self._clicked(lambda: page.get_by_text("Treat this file as public or test data").click(), lambda: None)
            self._clicked(
                lambda: page.get_by_role("button", name="Show the chart of the file").click(),
                lambda: page.wait_for_url(lambda address: "/data" not in address),
            )
            self._drawn()
        seen.all = page.get_by_test_id("stMain").inner_text()
        return seen

    def _drawn(self) -> None:
        page, seen = self._page, self.seen
        start = time.perf_counter()
        headline = page.locator(HEADLINE).or_(page.get_by_test_id("stAlert"))
        headline.first.wait_for()
        if page.locator(HEADLINE).count():
            page.locator(".js-plotly-plot .main-svg").first.wait_for()
        self._settled(page)
        seen.waited += time.perf_counter() - start
        seen.headline = self._reads(HEADLINE)
        told = page.get_by_test_id("stMain").inner_text()
        seen.question = " ".join(told.split("At ε")[0].split("\n"))
        seen.caption = " ".join(page.locator("[class*='-caption']").all_inner_texts())
        seen.outcomes = " ".join(told.partition("What you might see in")[2].split("Who is protected")[0].split("\n"))
        seen.marked = page.evaluate(_MARKED)
        typed = page.get_by_test_id("stMain").get_by_role("spinbutton")
        seen.line = float(typed.first.input_value().replace(",", "")) if typed.count() else None

    def _press(self, name: str) -> None:
        button = self._button(name)
        self._clicked(button.first.click, lambda: expect(button).to_have_count(0))
        self._reads(ASKING)

    def _button(self, name: str) -> Locator:
        return self._page.locator(ASKING).get_by_role("button", name=name, exact=True)

    def _asks_about(self, column: str) -> None:
        """Two clicks: the list of columns, and the one that the person wants to know about."""
        self._clicked(self._page.locator(".st-key-own-about [role=combobox]").click, lambda: None)
        option = self._page.get_by_role("option", name=column, exact=True)
        self._clicked(option.click, lambda: expect(option).to_have_count(0))
        self._reads(ASKING)

    def _questions(self) -> list:  # type: ignore[type-arg]
        return self._page.locator(f"{ASKING} [data-testid=stButton] button").filter(has_text="?").all()

    def _clicked(self, act: Callable[[], object], then: Callable[[], object]) -> None:
        start = time.perf_counter()
        act()
        then()
        self._settled(self._page)
        self.seen.waited += time.perf_counter() - start
        self.seen.clicks += 1

    def _reads(self, where: str) -> str:
        """What stands there; only what was not there before is read again."""
        boxes = self._page.locator(where).element_handles()
        texts: list[str] = self._page.evaluate(_TEXTS, boxes)
        fresh = list(texts)
        for known in self._read:
            if known in fresh:
                fresh.remove(known)
        self._read += fresh
        self.seen.words += sum(len(text.split()) for text in fresh)
        return " ".join(texts)
