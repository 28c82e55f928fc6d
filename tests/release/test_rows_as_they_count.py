"""What is proved of an answer is told of the rows as they count: of all that a file holds it may be false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dashboard.words import alarm, best_rule, fixed_choice, follow, most_common
from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.releases.best_rule import BestRule
from dpcore.releases.least_cost import LeastCost
from dpcore.releases.selection import BestScore, MostCommonOption

WHO = Column(name="who", type="text")
COLOUR = Column(name="colour", type="category", categories=("red", "blue"))
ILL = Column(name="ill", type="yes/no")
COSTS = tuple(Column(name=name, type="number", low=0.0, high=100.0) for name in ("a", "b"))
PEOPLE = Declaration(columns=(WHO, COLOUR, ILL, *COSTS), id_column="who")
"""Of each person one row counts: of the file's 1,199 rows 1,000 are one's."""
ALL_ROWS = replace(PEOPLE, id_column=None)
FILE = pd.DataFrame(
    {
        "who": ["p0"] * 1000 + [f"p{n}" for n in range(1, 200)],
        "colour": ["red"] * 1000 + ["blue"] * 199,
        "ill": ["no"] * 1000 + ["yes"] * 199,
        "a": ["90"] * 1000 + ["10"] * 199,
        "b": ["10"] * 1000 + ["90"] * 199,
    },
    dtype="str",
)
OPTION = Column(name="option", type="category", categories=("x", "y"))
SCORES = Declaration(
    columns=(OPTION, Column(name="score", type="number", low=0.0, high=100.0, sensitivity=1.0)), each_row="option"
)
BEYOND = pd.DataFrame({"option": ["x", "y"], "score": ["100", "900"]}, dtype="str")
"""Both count as 100."""
WIDE = replace(SCORES, columns=(OPTION, replace(SCORES.columns[1], high=1000.0)))
Ask = Callable[[Declaration], Any]
KINDS: dict[str, tuple[Ask, Declaration, Declaration, pd.DataFrame]] = {
    "an option": (lambda facts: MostCommonOption.of(facts, "colour", epsilon=1.0), PEOPLE, ALL_ROWS, FILE),
    "a rule": (
        lambda facts: BestRule.of(facts, columns=("colour",), target="ill", positive="yes", epsilon=1.0),
        PEOPLE,
        ALL_ROWS,
        FILE.assign(colour=["red"] * 1100 + ["blue"] * 99, ill=["no"] * 1000 + ["yes"] * 100 + ["no"] * 99),
    ),
    "a column's costs": (lambda facts: LeastCost.of(facts, ("a", "b"), epsilon=1.0), PEOPLE, ALL_ROWS, FILE),
    "a score": (lambda facts: BestScore.of(facts, option="option", score="score", epsilon=1.0), SCORES, WIDE, BEYOND),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_bound_holds_of_what_counts_and_not_of_all_that_is_there(name: str) -> None:
    """At most one row of each person, and numbers moved to their bounds."""
    ask, facts, everything, frame = KINDS[name]
    rows, asked = PrivateRows(frame), ask(facts)
    law = asked.law(rows)
    behind = asked.choice.behind(law.size, 0.05)
    counted, written = asked.read(rows), ask(everything).read(rows)
    assert law[counted < counted.max() - behind].sum() <= 0.05
    assert law[written < written.max() - behind].sum() > 0.3
    assert "count" in asked.error_bound(0.05).about


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_bound_says_of_what_it_holds(question: Question) -> None:
    asked = question.ask(question.declaration, question.file(question.tables[0], from_bytes=False))
    bound = asked.error_bound(0.05)
    assert (
        bound is None
        or any(words in bound.about for words in ("as they count", "losses count", "scores count"))
        or ("that counts as" in bound.about)
    )


def test_pages_say_it_too() -> None:
    """Before an answer, and of what may be said of it."""
    option, rule = (KINDS[name][0](PEOPLE).error_bound(0.05) for name in ("an option", "a rule"))
    assert "of the rows as they count: 3.69 rows" in most_common.conclude(option, "person")
    told = [
        most_common.forecast_bound(option),
        best_rule.conclude(rule, "person"),
        best_rule.forecast_bound(rule),
        fixed_choice.forecast_bound(3.0, 0.05),
    ]
    assert all("of the rows as they count" in one or "over the rows as they count" in one for one in told)
    assert "as losses count" in follow.forecast_bound(3.0, 100, "day")
    assert "as losses count" in follow.forecast_naming_bound(3.0, 0.05, 100, "day")
    assert "an entry that counts as more than 3 visits above the line" in alarm.forecast_bound(3.0, 0.05, "visits")
