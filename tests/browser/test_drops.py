"""Two real tables from the drop to the first right chart; ``python -m benchmarks.drops`` does it with all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from playwright.sync_api import Page

from benchmarks.drops.__main__ import CLICKS, SECONDS, judged
from benchmarks.drops.expected import Commonest, Middle, right_in_100
from benchmarks.drops.seen import Person
from benchmarks.drops.tables import DROPS
from tests.browser.conftest import settled

Open = Callable[..., Page]


def test_a_table_of_records_and_one_of_steps_come_to_their_right_chart(open_page: Open) -> None:
    """Clicks and words are those of a person; wrong expectations are found wrong."""
    page = open_page("/data")
    for file in ("penguins.csv", "nile.csv"):
        drop = next(one for one in DROPS if one.file == file)
        seen = Person(page, settled).go(drop, drop.path)
        assert judged(drop, seen) == ""
        assert seen.offered[0] == drop.question
        assert seen.clicks <= CLICKS
        assert seen.words > 30
        assert seen.reading < SECONDS
        for wrong in (Commonest(column="year"), Middle(column="year")):
            assert judged(replace(drop, expected=wrong), seen) != ""
        assert judged(replace(drop, row="an option with its score"), seen) != ""
        page.get_by_role("link", name="Data", exact=True).first.click()
        page.get_by_role("button", name="Remove", exact=True).click()
        settled(page)


def test_the_chance_of_naming_the_winner_is_that_of_the_law() -> None:
    """One integral against sums written out: two options, and a tie of all."""
    assert abs(right_in_100([10, 10, 10]) - 100.0) < 1e-6
    # of two options the second wins only if its coin is not flipped away: half of e^(-0.5 · gap)
    assert abs(right_in_100([7, 3]) - 100.0 * (1.0 - 0.5 * 2.718281828459045 ** (-0.5 * 4))) < 1e-6
