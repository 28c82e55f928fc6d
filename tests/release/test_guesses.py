"""How often somebody's guess may be right, as pages say it, against the exact laws of answers."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard import words
from dpcore.datasets import Column, Declaration
from dpcore.releases.draws import Rule
from dpcore.releases.selection import MostCommonOption
from dpcore.validate import Neighbours

VOTE = Column(name="vote", type="category", categories=("A", "B"))
OTHERS = ((0, 0), (6, 6), (3, 5), (40, 41))
RULES: tuple[Rule, ...] = ("exponential", "permute_and_flip")


def right(request: MostCommonOption, one: tuple[int, int], other: tuple[int, int]) -> float:
    """How often of 100 the best guess between two tables is right, each as likely as the other."""
    here, there = (request.law_of(np.array(counts)) for counts in (one, other))
    return 50.0 + 25.0 * float(np.abs(here - there).sum())


def best_guesses(rule: Rule, epsilon: float, neighbours: Neighbours) -> tuple[float, float]:
    """Of whether somebody is in the data, and of how somebody voted, the most among tables of these others."""
    declared = Declaration(columns=(VOTE,), rows_per_person=1)
    request = MostCommonOption.of(declared, "vote", epsilon=epsilon, neighbours=neighbours, rule=rule)
    there = max(right(request, (a, b), (a + 1, b)) for a, b in OTHERS)
    said = max(right(request, (a + 1, b), (a, b + 1)) for a, b in OTHERS)
    return there, said


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("rule", RULES)
def test_no_guess_is_right_more_often_than_is_said(rule: Rule, epsilon: float) -> None:
    """What a person had voted was guessed right 69.7 times in 100 where the card said 62.3."""
    there, said = best_guesses(rule, epsilon, "add_remove")
    assert there <= words.odds(epsilon) + 1e-9
    assert said <= words.odds(*words.of_a_value(epsilon, 0.0, "add_remove")) + 1e-9
    _, said = best_guesses(rule, epsilon, "replace_one")
    assert said <= words.odds(*words.of_a_value(epsilon, 0.0, "replace_one")) + 1e-9


def test_a_guess_of_a_value_is_right_more_often_than_whether_somebody_is_there() -> None:
    """Or one number would do for both."""
    assert best_guesses("permute_and_flip", 0.5, "add_remove")[1] > words.odds(0.5) + 5.0


@pytest.mark.parametrize(("neighbours", "about", "numbers"), [
    ("add_remove", "whether somebody is in the data", ("62.3", "73.2")),
    ("replace_one", "what the data say of somebody", ("62.3",)),
])  # fmt: skip
def test_the_sentence_says_of_what_each_number_is(neighbours: Neighbours, about: str, numbers: tuple[str, ...]) -> None:
    card = words.LabelCard(neighbours=neighbours, epsilon=0.5, unit="person")
    sentence, rare = card.lines()[:2]
    assert about in sentence
    assert [number in sentence for number in ("62.3", "73.2")] == [number in numbers for number in ("62.3", "73.2")]
    apart, _ = words.of_a_value(0.5, 0.0, neighbours)
    assert f"at most {words.at_most(1000 * words.rare(apart, 0.001))} in 1,000" in rare


def test_a_slack_goes_both_ways() -> None:
    """P(A) ≤ e^ε·P(nobody) + δ ≤ e^2ε·P(B) + (1 + e^ε)·δ."""
    assert words.of_a_value(1.0, 1e-6, "add_remove") == (2.0, pytest.approx(1e-6 * (1.0 + np.e)))
    assert words.of_a_value(1.0, 1e-6, "replace_one") == (1.0, 1e-6)
    assert words.of_a_value(3.0, 0.9, "") == (6.0, 1.0)
