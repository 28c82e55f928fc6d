"""What pages count of a budget is what its ledger charges, whatever the budget and the answer hide."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dashboard
import dpcore
from dashboard.budget import pricing, spending, tracker
from dashboard.budget.kinds import Wish
from dashboard.budget.state import State
from dashboard.case import Source
from dashboard.catalogue import address
from dpcore.costs import Cost
from dpcore.datasets import load_sample
from dpcore.errors import BudgetExceeded
from dpcore.ledger import Budget, Ledger
from dpcore.validate import Neighbours
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_two_windows import ROWS, Open, opens, release, window

COUNTS = {"fits", "charge_for", "answers_left", "share_of", "counted"}
"""What a budget is asked about one answer: its cost, and what it hides."""
BUDGETS = [(1.0, 0.0, "sum"), (1.0, 1e-5, "sum"), (1.0, 1e-5, "zcdp")]
HIDDEN: list[Neighbours] = ["add_remove", "replace_one"]


def unnamed(code: str) -> Iterator[str]:
    """Calls that ask a budget about a cost and do not say what the answer hides."""
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in COUNTS:
            given = len(call.args) + len(call.keywords) + any(isinstance(one, ast.Starred) for one in call.args)
            if given == 1 or (given == 2 and any(word.arg == "pure" for word in call.keywords)):
                yield ast.unparse(call)


def test_whoever_asks_a_budget_about_an_answer_says_what_it_hides() -> None:
    """Without that a budget takes the cost to be about what it hides itself, which is half of what it charges where a
    row is replaced."""
    assert list(unnamed("budget.fits(cost)\nbudget.fits(cost, hides)\nfitting(*one)")) == ["budget.fits(cost)"]
    assert list(unnamed("planned.answers_left(cost=cost)")) == ["planned.answers_left(cost=cost)"]
    files = [file for package in (dashboard, dpcore) for file in Path(str(package.__file__)).parent.rglob("*.py")]
    assert len(files) > 300
    found = [f"{file.name}: {call}" for file in files for call in unnamed(file.read_text(encoding="utf-8"))]
    words_alone = [call for call in found if "said.counted(" in call]  # a sentence, and no budget
    assert [call for call in found if call not in words_alone] == []


def source(hidden: Neighbours) -> Source:
    """People's rows of which one comes or goes; or steps of which one is changed."""
    table = load_sample("clinic")
    schema = table.schema if hidden == "add_remove" else replace(table.schema, each_row="step", unit="day")
    assert schema.protects_rows == (hidden == "replace_one")
    return Source(
        key="own-x", title="", mode="what_if", table=replace(table, schema=schema), lineage="people", practice=False
    )


def taken(
    promised: Neighbours, budget: tuple[float, float, str], costs: list[Cost], hidden: Neighbours
) -> Budget | int:
    """The budget after the ledger has charged all of these, or how many it took."""
    epsilon, delta, counting = budget
    with Ledger.open(":memory:") as ledger:
        ledger.open_budget("people", epsilon=epsilon, delta=delta, counting=counting, neighbours=promised, name="P")
        for number, cost in enumerate(costs):
            try:
                ledger.charge(f"request-{number}", "people", cost, "?", neighbours=hidden)
            except BudgetExceeded:
                return number
        return ledger.budget("people")


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("promised", HIDDEN)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("kind", "count", "epsilon"), [("permute_and_flip", 2, 0.5), ("count", 2, 0.2), ("count_gaussian", 2, 0.2)]
)
def test_a_plan_fits_where_the_ledger_would_take_it(
    kind: str, count: int, epsilon: float, budget: tuple[float, float, str], promised: Neighbours, hidden: Neighbours
) -> None:
    wishes, about = [Wish(kind=kind, count=count, epsilon=epsilon)], source(hidden)
    now = Budget.planned(epsilon=budget[0], delta=budget[1], counting=budget[2], neighbours=promised)
    found = pricing.priced(wishes, 1e-6, about, now, 1.0)
    assert not isinstance(found, str)
    costs = [answer.cost(answer.epsilon) for answer in pricing.planned(wishes, 1e-6, None) or [] for _ in range(count)]
    after = taken(promised, budget, costs, hidden)
    assert found.fits == isinstance(after, Budget)
    if isinstance(after, Budget):
        assert found.left_after == pytest.approx(1 - after.share_spent, abs=1e-9)
        if budget[2] == "sum" and kind != "count_gaussian":
            simple = next(one.epsilon for one in found.prices if one.rule == "basic")
            assert simple == pytest.approx(1 - after.remaining.epsilon, abs=1e-9), "the total is what was charged"
            assert found.shares["basic"] == pytest.approx(1 / simple, rel=2e-3)
    told = tracker.counts_words(now, hidden, "person")
    assert bool(told) == (promised != hidden)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("promised", HIDDEN)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_answers_that_fit_are_those_that_the_ledger_takes(
    budget: tuple[float, float, str], promised: Neighbours, hidden: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First screen, tracker, levels of ε and what is too dear, before the first one."""
    now = Budget.planned(epsilon=budget[0], delta=budget[1], counting=budget[2], neighbours=promised)
    monkeypatch.setattr(spending.session, "epsilon", lambda: 0.02)
    monkeypatch.setattr(tracker, "budget", lambda source: now)
    about = source(hidden)
    cost, hides = spending.one_more(State(source=about, budget=now))
    assert hides == hidden
    after = taken(promised, budget, [cost] * 200, hidden)
    assert isinstance(after, int)
    assert spending.fitting(now, cost, hides) == after
    for epsilon in (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 1.1, 2.1):
        dear = taken(promised, budget, [Cost.pure(epsilon)], hidden) == 0
        assert bool(tracker.too_dear(about, hidden, None, epsilon)) == dear
    if after:
        told = tracker.answers_words(now, cost, hidden, "person")
        assert f"**{after} more answers**" in told
        if budget[2] == "sum":
            first = taken(promised, budget, [cost], hidden)
            assert isinstance(first, Budget)
            assert f"with ε\u00a0=\u00a0{first.remaining.epsilon:g} left" in told
    for ratio in (0.5, 1.0, 2.0) if budget[2] == "sum" else ():
        level = taken(promised, budget, [Cost.pure(0.02 * ratio)] * 200, hidden)
        assert tracker.fit_at(about, cost, hidden, ratio) == (level, False)


def test_how_many_fit_at_another_level_is_told_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an answer with a δ counts as follows from its noise, and is no multiple of what it counts as here."""
    now = Budget.planned(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    monkeypatch.setattr(tracker, "budget", lambda source: now)
    cost = Cost.gaussian(20.0, 1e-7)
    whole = taken("replace_one", (1.0, 1e-5, "sum"), [cost] * 50, "add_remove")
    found = [tracker.fit_at(source("add_remove"), cost, "add_remove", ratio) for ratio in (0.5, 1.0, 2.0)]
    assert found == [None, (whole, False), None]


def test_what_the_pages_say_of_a_budget_that_hides_a_changed_row_is_what_is_charged(
    open_app: Open, ledger_file: Path
) -> None:
    """As the Budget page offers it, by two answers at half of its ε each, of which the first takes all."""
    app = opens(window(open_app, ROWS), "People")
    shown = text(app)
    assert "Nothing is spent yet. **1 answer** at ε = 0.5 would fit." in shown
    assert next(one.value for one in app.metric if one.label == "at ε = 0.5") == "1"
    assert "**1 more answer** to this question at this ε; after one, 0." in shown.replace("\u00a0", " ")
    more = "counts more here (twice in ε, four times in ρ)"
    assert more in shown
    app.switch_page(address("budget"))
    chosen: dict[str, Any] = {"by": "epsilon", "kind": "permute_and_flip", "count": 2, "epsilon": 0.5}
    for name, value in chosen.items():
        app.session_state[f"plan_{name}"] = value
    app.session_state["budget_tab"] = "Plan answers"
    shown = text(app.run())
    assert "These 2 answers cost **ε = 2** together" in shown
    assert "They do not fit what is left of the budget of these people." in shown
    assert more in shown
    app.session_state["plan_count"] = 1
    assert "They fit the budget of these people: 0 in 100 of it would be left." in text(app.run())
    release(app)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (receipt,) = ledger.receipts()
        assert (receipt.asked_cost.epsilon, receipt.epsilon) == (0.5, 1.0)
        assert ledger.budget(receipt.lineage).remaining.epsilon == 0.0
    app.switch_page(address("budget")).run()
    assert "Not enough is left for one more like the last one." in text(app)


def test_before_a_budget_is_opened_its_page_counts_what_questions_hide(open_app: Open) -> None:
    """One that hides a changed row, as it is offered, pays for half as many; one that hides who comes or goes for all
    of them."""
    app = window(open_app, ROWS)

    def allowed() -> str:
        frame = next(one.value for one in app.table if "Plain sum" in one.value.columns)
        return str(frame["Plain sum"].iloc[0])

    assert any("that hides one person added or removed" in one.label for one in app.expander)
    assert allowed() == "10"
    app.radio(key=about(app, "budget-neighbours")).set_value("add_remove").run()
    assert allowed() == "20"
