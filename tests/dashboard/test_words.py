"""Sentences say what the numbers say, and text from files stays text."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dashboard import words
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, Needed, Proviso
from dashboard.words import needs, tracker
from dpcore.costs import Cost
from dpcore.datasets.text import UNSEEN
from dpcore.ledger import Budget


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.934, "93 times in 100"),
        (0.01, "1 time in 100"),
        (0.004, "fewer than 1 time in 100"),
        (0.0, "fewer than 1 time in 100"),
        (0.993, "99.3 times in 100"),
        (0.9999, "practically always"),
        (1.0, "every time"),
    ],
)
def test_chances_are_counts_and_never_rounded_to_certainty(chance: float, said: str) -> None:
    assert words.times_in_100(chance) == said


@pytest.mark.parametrize(("epsilon", "best"), [(0.1, 52.5), (0.5, 62.2), (1.0, 73.1), (2.0, 88.1), (5.0, 99.3)])
def test_odds_are_those_of_even_prior_odds(epsilon: float, best: float) -> None:
    """e^ε/(1+e^ε), the table of the interface guide, to the decimal it is given in."""
    assert words.odds(epsilon) == pytest.approx(best, abs=0.05)
    assert words.odds(epsilon) == pytest.approx(100 * math.exp(epsilon) / (1 + math.exp(epsilon)))


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (0.01, "0.01"), (0.000012345, "0.0000123"), (2.5, "2.5"), (1234.6, "1,235"), (10.0, "10")],
)
def test_numbers_are_written_as_people_write_them(value: float, said: str) -> None:
    assert words.number(value) == said


@pytest.mark.parametrize(
    "text", ["[click](http://x)", "![i](http://x)", "**b**", "$x$", "`c`", "<b>", ":red[x]", "a_b_c", "# h"]
)
def test_text_from_files_cannot_become_markdown(text: str) -> None:
    """Every character that Markdown or Streamlit's directives read is escaped."""
    escaped = words.safe(text)
    assert escaped.replace("\\", "").replace("&lt;", "<").replace("&gt;", ">").replace(UNSEEN, "") == text
    for position, character in enumerate(escaped):
        if character in "[]()*$`:_#!":
            assert escaped[position - 1] == "\\"


def test_direction_and_zero_width_characters_are_shown_as_code_points() -> None:
    assert words.visible("abc\u202edef\u200b") == "abc⟨U+202E⟩def⟨U+200B⟩"


def test_plotly_text_holds_no_tags() -> None:
    assert words.html("<a href='x'>&") == "&lt;a href='x'&gt;&amp;"


def test_the_label_card_says_who_is_protected_before_any_number() -> None:
    card = words.LabelCard(neighbours="replace_one", epsilon=0.5, delta=1e-6, unit="visit")
    assert "any one visit" in card.protected
    assert not any(letter.isdigit() for letter in card.protected)
    lines = card.lines()
    assert "62.3" in lines[0], "rounded up: 62.25 would be an under-statement as 62.2"
    assert [line.split(":**")[0] for line in lines[1:]] == [
        "**δ = 10⁻⁶",
        "**Sees the raw data",
        "**Where that comes from",
    ]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (0.5, 1e-5), (2.0, 0.01)])
def test_the_odds_bound_is_reached_and_never_passed(epsilon: float, delta: float) -> None:
    """The best test of randomised response with a δ of certainty is right exactly that often."""
    keep = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    right = delta + keep
    assert words.odds(epsilon, delta) == pytest.approx(100 * right)
    assert float(words.at_most(words.odds(epsilon, delta))) >= words.odds(epsilon, delta) - 1e-9


def test_a_rare_fact_stays_rare() -> None:
    assert words.rare(0.5, 0.001) == pytest.approx(0.0016477, abs=1e-7)
    assert "1.7 in 1,000" in words.LabelCard(neighbours="replace_one", epsilon=0.5, unit="person").lines()[1]


@pytest.mark.parametrize(
    ("least", "size", "epsilon", "said"),
    [
        (0.25, 162.0, 0.5, "more than enough. ε = 0.25 would do"),
        (0.5, 162.0, 0.5, "just enough"),
        (0.8, 900.0, 0.5, "ε = 0.5 is not enough. Spend more on it, bring 900 people in all, or settle for less."),
        (0.8, None, 0.5, "Spend more on it, or settle for less."),
        (None, 900.0, 0.5, ""),
        (EPSILON_LOW, 9.0, 0.5, ""),
        (2 * EPSILON_HIGH, None, 0.5, ""),
    ],
)
def test_the_card_says_what_to_do_next(least: float | None, size: float | None, epsilon: float, said: str) -> None:
    """Of four pages a first reader could say of none what to do next."""
    told = needs.next_step(Needed(epsilon=least, size=size, size_word="people", possible=True), epsilon)
    assert said in told
    assert bool(told) == bool(said)
    if "enough." in told and "not enough" not in told:
        proviso = Proviso(
            decide="decide whether so few will do.", there="If more will do too", otherwise="If not, take more."
        )
        but = needs.next_step(Needed(epsilon=least, size=size, size_word="people", possible=True), epsilon, proviso)
        where = "If more will do too, ε = " if "would do" in told else "If so, get a private answer."
        assert but.startswith(f"**Next:** decide whether so few will do. {where}")
        assert but.endswith(" If not, take more.")
        assert ("would do" in but) == ("would do" in told)
        assert "enough" not in but


def test_what_two_answers_tell_is_said_of_one_and_not_of_several_together() -> None:
    """Of all that a budget pays for it was told what two of them would, as if there were two such budgets."""
    of_one = words.LabelCard(neighbours="add_remove", epsilon=0.5, delta=1e-6, unit="person")
    twice = words.at_most(words.odds(1.0, 2e-6))
    assert of_one.judged.endswith(
        f"two such answers a guess whether somebody is in the data is right at most {twice} times."
    )
    assert "two such" not in replace(of_one, of="all answers that fit").judged


@pytest.mark.parametrize("cap", [1.0, 3.0, 9.0])
def test_what_is_said_of_budgets_in_rho_is_what_fits(cap: float) -> None:
    """It said that more answers fit, where an ε of 0.5 by itself fits once of 3 and not six times."""

    def fitting(epsilon: float, rho: float) -> list[int]:
        cost = Cost(epsilon=epsilon, delta=0.0, rho=rho)
        budgets = (Budget.planned(epsilon=cap, delta=1e-6, counting=counting) for counting in ("sum", "zcdp"))
        return [budget.answers_left(cost) for budget in budgets]

    assert "many small answers fit and few large ones" in tracker.IN_RHO
    for epsilon, more in ((cap / 100, True), (cap / 2, False)):
        by_sum, in_rho = fitting(epsilon, epsilon**2 / 2)
        assert (in_rho > by_sum, in_rho < by_sum) == (more, not more)
    large, small = fitting(cap / 20, (cap / 20) ** 2 / 2)[1], fitting(cap / 20, (cap / 20) ** 2 / 8)[1]
    assert large < small, "one ε, by two kinds of answers"
