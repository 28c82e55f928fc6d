"""Strangers in Chromium who click on whatever they see, bring files, go back and on: no page of theirs goes wrong.

What a browser does beside a page's own code (its address, its way back, what a list sends while it closes) is in no
test that drives pages in process. Clicks are seeded, so that what went wrong can be tried again.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from playwright.sync_api import Error, FilePayload, Locator, Page, sync_playwright

from benchmarks.reliability.outcome import Ground, Outcome
from benchmarks.reliability.soak import troubles
from dashboard.words import server as words
from dpcore.ledger import Ledger

TESTS = Path("tests") / "browser" / "test_strangers.py"
PAGES = ("", "data", "selection", "thresholding", "experts", "training", "budget", "demos", "poll")
WIDE, PHONE = 1440, 390  # pixels
CLICKS, FEW = 40, 12  # of one stranger, and of one whom the tests send
WAITS, LONGEST = 2_000, 60.0  # milliseconds for a thing to be there, seconds for a page to be drawn
FAILED = words.failed("").split(";")[0]
TYPED = ("", "0", "-1", "1e308", "0.5", "3", "100", "ä,b;c", "$x$ *a* `b`", "1;2;3", "yes")
AREAS = ("stMain", "stSidebar", "stPopoverBody", "stDialog")
KINDS = ("button", "input:not([type=file])", "textarea", "a", "[role=tab]", "[role=combobox]")
WHATEVER = ", ".join(f"[data-testid={area}] {kind}:visible" for area in AREAS for kind in KINDS)
WHATEVER += ", [role=option]:visible"
_LABEL = "e => [e.tagName, e.type, e.role, (e.innerText || e.ariaLabel || '').slice(0, 60)].join(' ')"


def table(rng: np.random.Generator) -> bytes:
    """A small file such as people have, and now and then one that nobody has."""
    rows = int(rng.choice([1, 3, 40, 400]))
    columns: dict[str, Callable[[], object]] = {
        "age": lambda: int(rng.integers(0, 99)),
        "Größe (m)": lambda: f"{rng.normal(1.7, 0.1):.2f}".replace(".", ","),
        "answer": lambda: rng.choice(["yes", "no", ""]),
        "day": lambda: f"2024-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}",
        "who": lambda: f"p{rng.integers(0, max(2, rows // 3))}",
        "$*_`": lambda: rng.choice(["a", "b|c", "<b>", "=1+1"]),
        "": lambda: "NA",
        "mixed": lambda: rng.choice(["1", "x", "", "1e400", "2024-01-01"]),
    }
    names = list(rng.permutation(list(columns))[: rng.integers(1, len(columns))])
    made = io.StringIO()
    writer = csv.writer(made, delimiter=str(rng.choice([",", ";", "\t"])))
    writer.writerow(names)
    writer.writerows([columns[name]() for name in names] for _ in range(rows))
    return made.getvalue().encode(str(rng.choice(["utf-8", "utf-8-sig", "utf-16"])))


@dataclass(slots=True)
class Stranger:
    """One of them, with a tab of their own; ``trail`` is what they did, ``wrong`` what they saw."""

    page: Page
    address: str
    rng: np.random.Generator
    trail: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def walk(self, clicks: int) -> None:
        self.page.on("pageerror", lambda error: self.wrong.append(f"the browser: {error}"[:200]))
        self.page.on("dialog", lambda dialog: dialog.dismiss())
        self._go(self._one_of(PAGES))
        while len(self.trail) < clicks and not self.wrong:
            try:
                self._act()
            except Error as error:  # what was chosen is covered, or was drawn anew meanwhile
                self.trail[-1] += f" ({str(error).splitlines()[0][:40]})"
                self.page.keyboard.press("Escape")
            self._look()

    def _one_of(self, many: tuple[str, ...]) -> str:
        return many[int(self.rng.integers(len(many)))]

    def _go(self, page: str) -> None:
        self.trail.append(f"to /{page}")
        self.page.goto(f"{self.address}/{page}")
        self._look()

    def _act(self) -> None:
        what, files = self.rng.random(), self.page.locator("input[type=file]")
        if what < 0.06:
            self._go(self._one_of(PAGES))
        elif what < 0.12:
            self.trail.append("back")
            self.page.go_back()
        elif what < 0.14:
            self.trail.append("loaded anew")
            self.page.reload()
        elif what < 0.2 and files.count():
            self.trail.append("a file")
            file: FilePayload = {"name": "table.csv", "mimeType": "text/csv", "buffer": table(self.rng)}
            files.first.set_input_files(file, timeout=WAITS)
        else:
            found = self.page.locator(WHATEVER)
            self.trail.append("nothing is there")
            if found.count():
                self._use(found.nth(int(self.rng.integers(found.count()))))

    def _use(self, one: Locator) -> None:
        self.trail[-1] = label = str(one.evaluate(_LABEL, timeout=WAITS))
        if label.startswith("INPUT range"):  # a slider
            one.focus(timeout=WAITS)
            for _ in range(int(self.rng.integers(1, 6))):
                self.page.keyboard.press(self._one_of(("ArrowLeft", "ArrowRight", "Home", "End")))
        elif label.startswith(("INPUT text", "INPUT number", "TEXTAREA")):
            one.fill(self._one_of(TYPED), timeout=WAITS)
            self.page.keyboard.press(self._one_of(("Enter", "Tab", "Control+Enter")))
        else:
            one.click(timeout=WAITS)

    def _look(self) -> None:
        """Wait for the page, and note what is wrong with it."""
        until = time.monotonic() + LONGEST
        self.page.wait_for_timeout(200)
        while self.page.locator("[data-testid=stStatusWidget], [data-stale=true]").count():
            if time.monotonic() > until:
                self.wrong.append(f"{self.page.url} is not drawn within {LONGEST:.0f} s")
                return
            self.page.wait_for_timeout(200)
        said = self.page.locator("[data-testid=stAlert], [data-testid=stException]").all_inner_texts()
        signs = (FAILED, words.NOT_UNDERSTOOD, "Traceback", "encountered an error")
        self.wrong += [f"{self.page.url}: {one[:200]}" for one in said if any(sign in one for sign in signs)]


def strolling(ground: Ground) -> Iterator[Outcome]:
    """For a third of the minutes of the soak, at a desk and with a phone in turn; the tests send two of them."""
    from tests.browser.server import CHROMIUM, FLAGS, running

    if ground.short:
        tried, found = "left to the tests", f"{TESTS.name} is there"
        yield Outcome(check="strangers", database="SQLite", tried=tried, found=found, good=TESTS.is_file())
        return
    folder = ground.folder / "strangers"
    folder.mkdir()
    end = time.monotonic() + 20.0 * ground.minutes
    wrong: list[str] = []
    seed = clicks = 0
    with running(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        while time.monotonic() < end:
            with browser.new_context(viewport={"width": PHONE if seed % 2 else WIDE, "height": 900}) as context:
                one = Stranger(context.new_page(), address, np.random.Generator(np.random.PCG64(seed)))
                one.walk(CLICKS)
            wrong += [f"stranger {seed}: {what} after {' · '.join(one.trail[-6:])}" for what in one.wrong]
            clicks, seed = clicks + len(one.trail), seed + 1
        browser.close()
    wrong += troubles((folder / "server.log").read_text(errors="replace"))
    with Ledger.open(f"sqlite:///{folder / 'ledger.db'}") as ledger:
        ledger.verify()
    for line in wrong[:20]:
        print(f"     {line}", flush=True)
    yield Outcome(
        check="strangers",
        database="SQLite",
        tried=f"{clicks} clicks of {seed} strangers in a browser",
        found="every page was drawn" if not wrong else f"{len(wrong)} went wrong, first {wrong[0]}",
        good=not wrong,
    )
