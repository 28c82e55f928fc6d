"""What the Budget page says that the guarantee means is true of this program's own answers, and of who is protected."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.budget import meaning
from dashboard.budget.state import State
from dashboard.charts.dots import odds_grid
from dashboard.words import meaning as said
from dpcore.guarantee import guess_chance, widening
from dpcore.ledger import Budget
from tests.accounting.test_attackers import found_by_trying
from tests.dashboard.conftest import text
from tests.dashboard.test_budget_page import go

Open = Callable[..., AppTest]
TAB = "What does the guarantee mean?"
LEVELS = (0.01, 0.5, 1.0, 3.0, 5.0, 10.0)
OF = {meaning.ANY: "laplace", meaning.GAUSSIAN: "gaussian"}
"""The noise of real answers that each line is as good as."""


def numbers(told: str) -> list[float]:
    return [float(one) for one in re.findall(r"answers? \**([0-9.]*[0-9])", told)]


@pytest.mark.parametrize("kind", OF)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_the_best_attacker_is_the_one_of_real_answers(kind: str, epsilon: float) -> None:
    found = widening(meaning.evidence(kind, epsilon), meaning.COUNTS, meaning.RATES)
    one, three, *more = numbers(said.best(found))
    for count, told in [(1, one), *([(3, three)] if epsilon >= 3.0 else [])]:
        exact = 100 * found_by_trying(OF[kind], epsilon, count)[1]
        assert exact - 1e-6 <= told < exact + 0.1
    assert max(more) <= 100.0, "nobody is right more often than always"
    assert numbers(said.curves(epsilon, found)) == [one, three, *more], "the picture in words says the same"


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("before", meaning.PRIORS)
def test_a_bound_is_rounded_up_wherever_it_is_shown(epsilon: float, before: int) -> None:
    after = 100 * guess_chance(epsilon, before / 100)
    for told in (said.dots(after, 0), said.after_one(epsilon, after)):
        (bound,) = re.findall(r"at most \**([0-9.]+)", told)
        assert after - 1e-6 <= float(bound) <= 100.0
    (points,) = odds_grid(after, before=before)["data"]
    assert points["text"].count("right before") == before
    assert sum(one != "still wrong" for one in points["text"]) == math.ceil(after - 1e-9)


@pytest.mark.parametrize("unit", ["person", "visit"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_guesses_are_of_who_is_protected(neighbours: str, unit: str) -> None:
    what = {"add_remove": "whether {} is in the data", "replace_one": "what the data say of {}"}[neighbours]
    guess = what.format("somebody" if unit == "person" else "one visit")
    told = [said.prior(neighbours, unit), said.attacker(neighbours, unit)]
    assert all(guess in one for one in told)
    told += [said.bounds(unit), *(said.shaded(unit, delta=delta) for delta in (False, True))]
    assert not re.search(r"\byou\b|\byour\b", " ".join(told))
    assert unit == "person" or not re.search(r"\bsomebody\b|\bperson\b", " ".join(told))


def test_they_are_as_the_budget_says_and_without_one_as_the_table_does() -> None:
    planned = Budget.planned(epsilon=1.0, delta=0.0, neighbours="replace_one")
    assert meaning._hidden(State(source=None, budget=planned, unit="visit")) == ("replace_one", "visit")
    schema: Any = type("Schema", (), {"protects_rows": True, "unit": "day"})
    source: Any = type("Source", (), {"table": type("Table", (), {"schema": schema})})
    assert meaning._hidden(State(source=source)) == ("replace_one", "day")
    assert meaning._hidden(State(source=None)) == ("add_remove", "person")


@pytest.mark.parametrize("kind", OF)
def test_the_page_says_so(open_app: Open, kind: str) -> None:
    app = go(open_app("budget", meaning_kind=kind), TAB)
    assert app.segmented_control(key="meaning_kind").value == kind
    told = next(one.value for one in app.markdown if one.value.startswith("**From an even start"))
    exact = 100 * found_by_trying(OF[kind], 0.5, 1)[1]
    assert exact - 1e-6 <= numbers(told)[0] < exact + 0.1
    assert "learns later" not in text(app)
    assert not re.search(r"\byou are in\b|\byour row\b", text(app))


WORDS = {"laplace": meaning.ANY, "Laplace noise": meaning.ANY, "Gaussian noise": meaning.GAUSSIAN}


@pytest.mark.parametrize("linked", WORDS)
def test_a_link_says_what_answers(open_app: Open, linked: str) -> None:
    """Also by the names and words of before; the page can be left all the same."""
    app = go(open_app("budget", meaning_kind=linked), TAB)
    assert app.segmented_control(key="meaning_kind").value == WORDS[linked]
    assert not app.switch_page("app_pages/data.py").run().exception


def test_a_guess_starts_where_the_guesser_stands(open_app: Open) -> None:
    app = go(open_app("budget"), TAB)
    app.select_slider(key="meaning_prior").set_value(10).run()
    after = 100 * 0.1 * math.exp(0.5) / (0.1 * math.exp(0.5) + 0.9)
    assert f"right at most **{math.ceil(10 * after) / 10:g}** times in 100" in text(app)


@pytest.mark.parametrize("kind", OF)
def test_the_code_that_is_shown_finds_the_same(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(meaning._code(kind, 0.5, (1, 3)), {})  # noqa: S102 - the text that a page shows
    found = widening(meaning.evidence(kind, 0.5), (1, 3), np.linspace(0, 1, 201))
    assert capsys.readouterr().out.strip() == str(found.best_attack)


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bounds rounded to nearest."""
    monkeypatch.setattr(said, "at_most", lambda share: f"{share:.0f}")
    with pytest.raises(AssertionError):
        test_a_bound_is_rounded_up_wherever_it_is_shown(0.5, 50)
    with pytest.raises(AssertionError):
        test_the_best_attacker_is_the_one_of_real_answers(meaning.ANY, 0.5)
