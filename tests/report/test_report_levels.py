"""A level of ε that is found from a person's own values is of the public list wherever it is told, not on the card
alone: who reads one off a report or a tab can type it, and no answer then says where it is from."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard import view
from dashboard.blocks import Keep
from dashboard.case import Source
from dashboard.question import Question
from dashboard.report import again
from dashboard.report.value import Facts
from dashboard.view import View
from dashboard.words import report as said
from dpcore.grid import on_grid
from tests.report.made import FAST, KINDS, section
from tests.report.test_report_modes import own

_BEGIN = ("smallest ε", "smallest ε for 9 of 10")


def question(page: str, key: str, source: Source) -> Question:
    return again.asked(page, key, source, epsilon=0.5, delta=1e-6, settings=FAST.get(key, {}))


def kept(asked: Question) -> list[float]:
    """The levels that scenarios side by side are given as needed."""
    blocks: list[Any] = [block for tab in asked.tabs if tab.key == "what_if" for block in tab.blocks()]
    found = [dict(block.current)["ε needed"] for block in blocks if isinstance(block, Keep)]
    return [float(one.replace(",", "")) for one in found if one != "none"]


def told(page: str, key: str) -> list[float]:
    source, data = own(key, "what_if")
    found = section(page, key, source, data, **FAST.get(key, {}))
    (facts,) = [part for part in found.parts if isinstance(part, Facts) and part.caption == said.NEEDED]
    assert facts.rows
    asked = question(page, key, source)
    return [value for name, value in found.numbers if name in _BEGIN] + (
        kept(asked) if isinstance(asked.view, View) else []
    )


@pytest.mark.parametrize(("page", "key"), KINDS)
def test_a_level_found_from_ones_own_values_is_of_the_public_list(page: str, key: str) -> None:
    assert all(on_grid(level) for level in told(page, key))


@pytest.mark.parametrize("key", ["quantile", "most_common"])
def test_levels_to_the_last_digit_are_found_out(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "round_up", lambda level: level)
    levels = told("selection", key)
    assert len(levels) >= 2, "report and tab"
    assert not any(on_grid(level) for level in levels)


def test_those_of_a_sample_are_exact() -> None:
    source = again.sample_source("clinic")
    found = question("selection", "quantile", source).need.found
    assert found is not None
    assert found.epsilon is not None
    assert not on_grid(found.epsilon)
