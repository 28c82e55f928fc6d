"""Real tables from the drop to the first right chart, in a browser: ``python -m benchmarks.drops [--write] [FILE …]``.

Each table comes to a fresh tab of the real server in Chromium, as a person would bring it. The question, what one row
is and the answer are written by hand or computed by pandas (``tables.py``, ``expected.py``). Counted are clicks, words
that are new on the way, and the seconds of waiting; processor seconds of server, workers and browser stand beside
DuckDB's own read and one count of the same file in the same run. ``--write`` puts the table into docs/data.md. Exits
with 1 when a table ends otherwise, or a goal is missed. ``--pictures FOLDER`` keeps the last page of each.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Error, sync_playwright

from benchmarks.document import plain, put
from benchmarks.drops.seen import PATIENCE, WORDS, Person, Seen
from benchmarks.drops.spent import spent
from benchmarks.drops.tables import DROPS, Drop
from benchmarks.tables import DOCUMENT, PACKAGES, by_duckdb

SECONDS, CLICKS, MEDIAN = 60.0, 6, 20.0
FEWEST, IN = 40, 10  # tables; of so many one may be over the goal, where something must be asked about the file
TITLE = "# Real tables, from the drop to the first right chart"
INTRODUCTION = f"""
Written by `python -m benchmarks.drops --write`; nothing here is typed by hand. Each file comes to a tab of its own in
Chromium as it lies in its package. What a person with that table would ask, what one row is, and the answer are written
down beforehand or computed by pandas and by formulas of their own (`benchmarks/drops`); “right” means that the page
shows just that. “First” says whether that question stood first; “clicks” begin with choosing the file and end with the
chart, corrections included. “Reading” is all that is new on the way up to the headline above the chart, at
{WORDS:.0f} words a minute; “machine” is processor time of server, workers and browser together, as one core would take
it. “× DuckDB” is that over the processor time of DuckDB's own read and one count in the same run: pages cost the same
few seconds whatever the file, and most of these are small.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Went:
    """How one table went; ``wrong`` is "" where all was right."""

    drop: Drop
    seen: Seen
    spent: float
    duckdb: float | None
    wrong: str

    @property
    def first(self) -> bool:
        return bool(self.seen.offered) and self.seen.offered[0] == self.drop.question

    @property
    def seconds(self) -> float:
        """Reading, and machine time as one core would take it: what other work on the machine does not lengthen."""
        return self.seen.reading + self.spent

    @property
    def within(self) -> bool:
        return self.seconds <= SECONDS and self.seen.clicks <= CLICKS

    @property
    def told(self) -> str:
        seen, end = self.seen, "" if self.within else "; over the goal"
        return (
            f"{self.drop.package} {self.drop.file}: {self.wrong or 'right'}; {seen.clicks} clicks, {seen.words} words, "
            f"waited {seen.waited:.1f} s, spent {self.spent:.1f} s{end}"
        )


def judged(drop: Drop, seen: Seen) -> str:
    """What is not as it was expected, "" where nothing is."""
    if seen.row != drop.row and f"It is {drop.row}" not in drop.before:
        return f"one row is taken for {seen.row}"
    return drop.expected.wrong(drop.frame(drop.path), seen)


def went(drop: Drop, browser: Browser, address: str, pictures: Path | None) -> Went:
    from tests.browser.conftest import settled

    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{address}/data")
    settled(page)
    person, before, wrong = Person(page, settled), spent(), ""
    try:
        wrong = judged(drop, person.go(drop, drop.path))
    except (Error, AssertionError) as error:
        wrong = f"stopped: {str(error).splitlines()[0]}"
    used = spent() - before
    if pictures is not None:
        page.screenshot(path=pictures / f"{drop.package}-{drop.file}.png")
    context.close()
    return Went(drop=drop, seen=person.seen, spent=used, duckdb=_duckdb(drop), wrong=wrong)


def _duckdb(drop: Drop) -> float | None:
    """Processor seconds of DuckDB's own read and one count; None for a kind that it does not read."""
    if drop.path.suffix == ".dta":
        return None
    start = time.process_time()
    return None if by_duckdb(drop.path) is None else time.process_time() - start


@contextmanager
def chromium(address: str) -> Iterator[Browser]:
    """A browser in which one small page of the server stays open, so that what it compiled once is kept."""
    from tests.browser.server import CHROMIUM, FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        browser.new_context().new_page().goto(f"{address}/_stcore/health")
        yield browser
        browser.close()


def document(found: list[Went]) -> str:
    licences = {package.name: package.licence for package in PACKAGES}
    names = list(dict.fromkeys(one.drop.package for one in found))
    ratios = [one.spent / one.duckdb for one in found if one.duckdb]
    clicks, seconds = [one.seen.clicks for one in found], [one.seconds for one in found]
    lines = [
        TITLE,
        "",
        *INTRODUCTION.strip().splitlines(),
        "",
        f"{len(found)} tables from {len(names)} packages; {sum(not one.wrong for one in found)} right, "
        f"{sum(one.first for one in found)} with the question first. Median {statistics.median(clicks):.0f} clicks (at "
        f"most {max(clicks)}) and {statistics.median(seconds):.0f} s (at most {max(seconds):.0f}), of which machine "
        f"time {statistics.median(one.spent for one in found):.1f} s, {statistics.median(ratios):.0f} × DuckDB.",
        "",
        "| package | version | licence | tables |",
        "|---|---|---|---|",
        *(
            f"| {name} | {importlib.metadata.version(name)} | {licences[name]} | "
            f"{sum(one.drop.package == name for one in found)} |"
            for name in names
        ),
        "",
        "| package | file | question | first | right | clicks | reading | machine | × DuckDB |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {one.drop.package} | {one.drop.file} | {plain(one.drop.question) or 'none; a sentence says why'} | "
            f"{'yes' if one.first else 'no' if one.drop.question else '–'} | {plain(one.wrong) or 'yes'} | "
            f"{one.seen.clicks} | {one.seen.reading:.0f} s | {one.spent:.1f} s | "
            f"{'–' if not one.duckdb else f'{one.spent / one.duckdb:.0f}'} |"
            for one in found
        ),
    ]  # fmt: skip
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    from tests.browser.server import running

    parser = argparse.ArgumentParser(prog="python -m benchmarks.drops")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("files", nargs="*")
    chosen = parser.parse_args(arguments)
    wanted = [drop for drop in DROPS if not chosen.files or drop.file in chosen.files]
    found: list[Went] = []
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as address, chromium(address) as browser:
        for drop in wanted:
            found.append(went(drop, browser, address, chosen.pictures))
            print(found[-1].told, flush=True)
    print(document(found))
    if chosen.write:
        put(DOCUMENT, document(found))
    short = not chosen.files and len(found) < FEWEST
    slow = statistics.median(one.spent for one in found) > MEDIAN
    late = [one for one in found if not one.within]
    print(f"over {SECONDS:.0f} s or {CLICKS} clicks: {', '.join(one.drop.file for one in late) or 'none'}")
    return 1 if short or slow or any(one.wrong for one in found) or len(late) * IN > len(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
