"""People are taken several times only as far as an exact law of so many values can be worked out in a page."""

from __future__ import annotations

import pytest

from dashboard.controls import Setting
from dashboard.questions.selection import quantile
from dashboard.questions.selection.quantile import Quantile
from dashboard.words import quantile as said
from tests.questions.samples import sample_case


@pytest.mark.parametrize(("most", "times"), [(1_000_000, 10), (1_000, 3), (10, 1)])
def test_more_values_than_are_looked_at_are_never_made(most: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million taken ten times were ten million numbers in each of six pages, and ended a server."""
    monkeypatch.setattr(quantile, "MOST_VALUES", most)
    case = sample_case("clinic")
    asked = Quantile.ask(case, Setting({"quantile_factor": 10.0}))
    as_is = Quantile.ask(case, Setting({}))
    size = asked.view.problem.n  # type: ignore[attr-defined]
    assert size <= max(most, as_is.view.problem.n)  # type: ignore[attr-defined]
    assert size // as_is.view.problem.n == times  # type: ignore[attr-defined]
    (tab,) = [one for one in asked.tabs if one.key == "what_if"]
    told = [str(getattr(block, "markdown", "")) for block in tab.blocks()]
    counted = min(10.0, max(1.0, most / as_is.view.problem.n))  # type: ignore[attr-defined]
    assert (said.no_more_than(most, counted) in told) == (times < 10)
