"""The Budget page and the sidebar's tracker, driven as a person would, without a browser."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.background.once import forget_all
from dashboard.budget import screen, totals, tracker
from dashboard.budget.kinds import Wish, kinds, planned
from dashboard.budget.receipts import answer_text, plain
from dashboard.budget.spending import ALWAYS, OWN_RULES, SETTLED, Spending, alike, caption
from dashboard.budget.state import State
from dashboard.data.source import Source
from dpcore.accounting import VALID_WHEN, RunningTotal, compose
from dpcore.costs import Cost
from dpcore.datasets import load_sample
from dpcore.grid import on_grid
from dpcore.ledger import Budget, Ledger, Receipt
from dpcore.ledger.budget import Caps
from dpcore.selection import PermuteAndFlip
from tests.dashboard.conftest import CLINIC, text
from tests.dashboard.keys import about

Open = Callable[..., AppTest]
PRACTICE = "practice about the sample “clinic”, which is open to everybody"
HOSTILE = "=1+1 <b>&</b> **bold** $x$ [l](http://x) `c`"


@pytest.fixture
def ledger(ledger_file: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{ledger_file}") as found:
        yield found


def charge(ledger: Ledger, cost: Cost, *, what: str = "How many?", neighbours: str = "replace_one") -> Receipt:
    """One answered question about the clinic's people."""
    request = uuid.uuid4().hex
    ledger.charge(request, CLINIC, cost, what, mechanism="Some noise", neighbours=neighbours, question=what)
    return ledger.store_answer(request, {"how_many": 7, "names": ["a", "b"]})


def practice(
    ledger: Ledger, *costs: Cost, delta: float = 0.0, counting: str = "sum", neighbours: str = "replace_one"
) -> list[Receipt]:
    """The clinic's practice budget of ε = 3 with these charges."""
    ledger.open_budget(CLINIC, epsilon=3.0, delta=delta, counting=counting, practice=True, name="Town clinic")
    return [charge(ledger, cost, what=f"Question {i}?", neighbours=neighbours) for i, cost in enumerate(costs)]


def lines(app: AppTest) -> list[dict]:
    """The lines of the cumulative chart as the browser gets them."""
    found = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return next(figure["data"] for figure in found if any("together cost" in str(t) for t in figure["data"]))


def go(app: AppTest, tab: str) -> AppTest:
    app.session_state["budget_tab"] = tab
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


# -- first screen -----------------------------------------------------------------------------------------------------


def test_before_any_charge_the_page_shows_a_finished_example_and_writes_nothing(open_app: Open, ledger: Ledger) -> None:
    app = open_app("budget")
    assert "Nothing is spent yet. **6 answers** at ε = 0.5 would fit." in text(app)
    assert {line["name"] for line in lines(app)} >= {"Simple sum", "One number each"}
    assert "On the line of “simple sum”, so not drawn again: “one curve each” and “everything counted" in text(app)
    assert "No charges yet" in text(app)
    assert ledger.budgets() == []


def test_spending_is_told_in_the_unit_of_the_cap(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(0.5), Cost.pure(0.7))
    app = open_app("budget")
    assert "2 answers have spent **ε = 1.2 of 3**. **2 more answers** like the last one would fit." in text(app)
    assert f"right at most **{words.at_most(words.odds(1.2))}** times in 100" in text(app)


def test_a_budget_with_delta_that_adds_up_tells_both(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(0.5), Cost.gaussian(20.0, 1e-7), delta=1e-5)
    left = ledger.remaining(CLINIC)
    app = open_app("budget")
    assert f"2 answers have spent **ε = {words.amount(round(3 - left.epsilon, 9))} of 3**" in text(app)
    assert "Of δ = 10⁻⁵, 9.9 × 10⁻⁶ is left" in tracker.spent_words(ledger.budget(CLINIC)).replace("\u00a0", " ")
    assert "δ (10⁻⁶ is one in a million) adds up too." in text(app)


def test_a_budget_that_counts_in_rho_is_told_by_its_share(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.gaussian(20.0, 1e-7), delta=1e-5, counting="zcdp")
    share = ledger.budget(CLINIC).share_spent
    app = open_app("budget")
    assert f"has spent **{words.in_100(share)} in 100 of their budget**" in text(app)
    assert "right at most" in text(app)


def never_short(sizes: list[float], delta: float, *, stops: bool) -> float:
    """The true δ over the told one, at most so small, of Gaussian answers of these sizes in a budget counted in ρ.

    ``stops``: whoever asks goes on or stops by what was answered, and the ε told then is the one that is left standing.
    """
    total, told = RunningTotal(), []
    for size in sizes:
        total = total.add(Cost.gaussian(1 / size, delta / 10))
        told.append(min(epsilon for rule, epsilon in total.epsilons(delta).items() if rule in ALWAYS))
    grid = np.linspace(-30.0, 40.0, 4001)  # of the log-ratio so far, which is rounded down
    step = grid[1] - grid[0]

    def excess(epsilon: float) -> np.ndarray:
        return np.maximum(-np.expm1(np.minimum(epsilon - grid, 0.0)), 0.0)

    value = excess(told[-1])
    for size, epsilon in reversed(list(zip(sizes[1:], told[:-1], strict=True))):
        reach = int(9 * size / step) + 2
        law = np.diff(norm.cdf((np.arange(-reach, reach + 2) * step - size * size / 2) / size))
        value = np.correlate(np.concatenate([np.zeros(reach), value, np.full(reach, value[-1])]), law, mode="valid")
        value = np.maximum(value, excess(epsilon)) if stops else value
    law = np.diff(norm.cdf((np.append(grid, np.inf) - sizes[0] ** 2 / 2) / sizes[0]))
    return float(law @ value) / delta


def test_an_epsilon_so_far_holds_of_a_number_of_answers_that_hangs_on_none() -> None:
    sizes = [0.02 * 2 ** (i / 2) for i in range(14)]
    assert never_short(sizes, 1e-5, stops=False) <= 1.0
    assert never_short(sizes, 1e-5, stops=True) > 1.2, "so it must not be told as holding however they go on"


@pytest.mark.parametrize("counting", ["pure", "sum", "zcdp"])
def test_of_answers_so_far_it_is_said_when_their_epsilon_holds(counting: str, open_app: Open, ledger: Ledger) -> None:
    """On the page, its card and the report alike; not where there is no δ, for then it holds whatever is asked."""
    if counting == "pure":
        practice(ledger, Cost.pure(0.5))
    else:
        practice(ledger, Cost.gaussian(20.0, 1e-7), delta=1e-5, counting=counting)
    budget, receipts = ledger.budget(CLINIC), tuple(ledger.receipts())
    drawn = Spending(
        receipts=receipts, next_cost=receipts[0].cost, more=0, delta=1e-5, frame=pd.DataFrame(), rules=(), alike={}
    )
    card = screen._card(State(source=None, unit="person", receipts=receipts), budget, 0.5, budget.cap.delta)
    told = caption(State(source=None, unit="person", receipts=receipts), budget, 0.5, budget.cap.delta)
    assert [SETTLED in one for one in (told, card.lines()[0])] == [counting != "pure"] * 2
    assert SETTLED in screen._note(budget, drawn), "of lines, which all have a δ"
    assert (text(open_app("budget")).count(SETTLED)) >= (1 if counting == "pure" else 2)


def test_the_lines_are_what_the_accountants_say(open_app: Open, ledger: Ledger) -> None:
    """After every charge each line is ``compose`` of the charges so far, at the δ that the axis names."""
    costs = [Cost.pure(0.4), Cost.bounded_range(0.3), Cost.laplace(5.0), Cost.pure(0.2)]
    receipts = practice(ledger, *costs)
    _, rows = totals.so_far(receipts, totals.SHOWN_DELTA)
    assert [receipt.cost for receipt in receipts] == costs
    for count in range(1, 5):
        wanted = compose(costs[:count], totals.SHOWN_DELTA)
        del wanted["best"]
        found = {rule: epsilon for at, rule, epsilon in rows if at == count}
        assert found == pytest.approx(wanted, rel=1e-6)
    app = open_app("budget")
    dashes = {line["name"]: line["line"]["dash"] for line in lines(app)}
    assert dashes["Simple sum"] == dashes["One number each"] == "solid"
    assert dashes["Textbook's theorem (if planned)"] == "dash"


def test_one_more_answer_adds_one_step_to_the_composed_state(open_app: Open, ledger: Ledger) -> None:
    """Composing on from the kept state gives what composing from the start gives."""
    receipts = practice(ledger, *[Cost.pure(0.1 + 0.01 * i) for i in range(12)])
    at_once, _ = totals.so_far(receipts, 1e-6)
    in_steps = totals.added(
        totals.added(totals.RunningTotal(), [r.cost for r in receipts[:5]]), [r.cost for r in receipts[5:]]
    )
    assert in_steps.epsilons(1e-6) == pytest.approx(at_once.epsilons(1e-6), rel=1e-9)


def test_an_answer_that_hides_less_than_the_budget_counts_twice(open_app: Open, ledger: Ledger) -> None:
    """One that hides a person added or removed, where a row may change: 0.5 + 2 · 0.3."""
    practice(ledger, Cost.pure(0.5))
    receipt = charge(ledger, Cost.pure(0.3), neighbours="add_remove")
    app = open_app("budget")
    assert "2 answers have spent **ε = 1.1 of 3**" in text(app)
    assert f"right at most **{words.at_most(words.odds(1.1))}** times in 100" in text(app)
    assert "Hides one person's row changed." in text(app)
    frame = app.dataframe[0].value
    assert list(frame["epsilon"]) == [0.6, 0.5]
    assert list(frame["protected"]) == [
        "one person added or removed; charged for one person's row changed",
        "one person's row changed",
    ]
    assert receipt.cost == Cost.pure(0.6)


def test_everyone_shows_every_budget_and_every_charge(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(0.5))
    ledger.open_budget("own:x", epsilon=1.0, delta=1e-6, name="Ours")
    ledger.charge("r", "own:x", Cost.pure(0.25), HOSTILE)
    app = open_app("budget", whose="everyone in this ledger")
    assert "1 private answer about 2 groups of people, 1 of them real." in text(app)
    budgets, charges = (frame.value for frame in app.dataframe)
    assert set(budgets["people"]) == {"Town clinic", "Ours"}
    assert list(charges["epsilon"]) == [0.25, 0.5]
    assert next(iter(charges["answer"])).startswith("No answer: a crash came before anything was drawn")


def test_a_charge_whose_answer_a_crash_took_is_never_told_as_an_answer(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(0.5))
    for name in ("before", "during"):
        ledger.charge(name, CLINIC, Cost.pure(0.25), "?", neighbours="replace_one")
    ledger.begin_draw("during")
    app = open_app("budget")
    assert "1 answer and 2 charges without an answer have spent **ε = 1 of 3**" in text(app)
    told = list(app.dataframe[0].value["answer"])
    assert told[0].startswith("No answer is stored: it is being drawn or waits to be stored, or a crash came.")
    assert told[1].startswith("No answer: a crash came before anything was drawn.")


# -- charges and receipts ---------------------------------------------------------------------------------------------


def test_every_charge_is_a_row_with_its_answer(open_app: Open, ledger: Ledger) -> None:
    first, second = practice(ledger, Cost.pure(0.5), Cost.bounded_range(0.3))
    frame = open_app("budget").dataframe[0].value
    assert list(frame["question"]) == ["Question 1?", "Question 0?"]
    assert list(frame["answer"]) == ["how many: 7; names: a, b"] * 2
    assert list(frame["receipt"]) == [second.journal_hash[:12], first.journal_hash[:12]]
    assert list(frame["protected"]) == ["one person's row changed"] * 2


def test_a_receipt_is_checked_against_the_journal(open_app: Open, ledger: Ledger) -> None:
    first, _ = practice(ledger, Cost.pure(0.5), Cost.pure(0.3))
    app = open_app("budget")
    app.selectbox(key="budget_receipt").set_value(first.request_id).run()
    app.button(key="receipt-check").click().run()
    (told,) = (one.value for one in app.success)
    whose = f"About: P{PRACTICE[1:]} (budget “Town clinic”)."
    assert told.replace("\\", "") == f"Confirmed: the journal holds exactly this receipt. {whose}"
    assert PRACTICE[1:] in str(app.table[0].value.loc["About", "value"]).replace("\\", ""), (
        "nor is the receipt itself without it"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda receipt: receipt.replace('"epsilon": 0.5', '"epsilon": 0.05'),
        lambda receipt: receipt.replace('"how_many": 7', '"how_many": 8'),
        lambda receipt: receipt.replace("Question 0?", "Question 9?"),
        lambda receipt: receipt.replace("{", '{"answer": {"how_many": 4000}, "what": "Who?",', 1),
        lambda receipt: "not a receipt",
        lambda receipt: "[1, 2]",
        lambda receipt: "[" * 100_000,
        lambda receipt: "0" * 64,
    ],
)
def test_a_changed_receipt_is_not_confirmed(open_app: Open, ledger: Ledger, change: Callable[[str], str]) -> None:
    (receipt,) = practice(ledger, Cost.pure(0.5))
    app = go(open_app("budget"), "Check a receipt")
    app.text_area(key="receipt-text").set_value(change(receipt.to_json()))
    app.button(key="receipt-text-check").click().run()
    assert not app.exception
    assert not app.success
    assert len(app.warning) == 1


def test_a_receipt_is_confirmed_by_its_text_and_found_by_its_hash(open_app: Open, ledger: Ledger) -> None:
    (receipt,) = practice(ledger, Cost.pure(0.5))
    app = go(open_app("budget"), "Check a receipt")
    in_parts = f"{receipt.journal_hash[:16]} {receipt.journal_hash[16:32]}"  # as the page shows it
    for brought in (receipt.to_json(), receipt.journal_hash[:12], in_parts):
        app.text_area(key="receipt-text").set_value(brought)
        app.button(key="receipt-text-check").click().run()
        (told,) = (note.value for note in app.success)
        if brought == receipt.to_json():  # nothing else shows what the journal says
            assert told.startswith("Confirmed: the journal holds exactly this receipt. About: Practice ")
            assert "Question 0? Private answer: " in told
            assert "how many: 7; names: a, b" in told.replace("\\", "")
            assert "ε = 0.5" in told
    assert "Question 0" in str(app.table[0].value)


def test_text_in_charges_stays_text(open_app: Open, ledger: Ledger) -> None:
    ledger.open_budget(CLINIC, epsilon=3.0, practice=True, name=HOSTILE)
    charge(ledger, Cost.pure(0.5), what=HOSTILE)
    app = open_app("budget")
    assert f"'{HOSTILE}" in list(app.dataframe[0].value["question"]), "nor a formula, in what the table's corner saves"
    shown = str(app.table[0].value)
    assert "**bold**" not in shown
    assert "<b>" not in shown


def test_answers_are_read_out_whatever_they_are() -> None:
    assert plain({"chosen_option": "x", "flags": [True, None], "none": []}) == (
        "chosen option: x; flags: yes, none; none: none"
    )
    assert plain(1.5) == "1.5"


def test_an_answer_is_told_without_what_only_a_program_needs(ledger: Ledger) -> None:
    (receipt,) = practice(ledger, Cost.pure(0.5))
    for answer, said in (
        ({"option": "Knee pain", "index": 0}, "Knee pain"),
        ({"value": 42.5, "index": 3}, "42.5"),
        ({"rule": "age ≥ 40", "index": 7, "flipped": False}, "rule: age ≥ 40; flipped: no"),
        ({"alarm_at": 5}, "alarm at: 5"),
        ({"index": 5}, "index: 5"),
    ):
        assert answer_text(replace(receipt, answer=answer)) == said
    assert json.loads(receipt.to_json())["answer"] == {"how_many": 7, "names": ["a", "b"]}


# -- practice ---------------------------------------------------------------------------------------------------------


def test_a_practice_budget_is_reset_once_and_brought_back(open_app: Open, ledger: Ledger) -> None:
    """A second window's click on the same reset does nothing; the undo brings the spending back."""
    practice(ledger, Cost.pure(0.5))
    app, other = open_app("budget"), open_app("budget")
    app.button(key="budget-reset").click().run()
    assert "The practice budget is whole again" in text(app)
    assert "Nothing is spent yet" in text(app)
    assert "Also the 1 charge from before a reset" in [toggle.label for toggle in app.toggle]
    other.button(key="budget-reset").click().run()
    assert ledger.budget(CLINIC).generation == 2
    app.button(key="budget-undo").click().run()
    assert ledger.budget(CLINIC).remaining.epsilon == 2.5
    assert "1 answer has spent **ε = 0.5 of 3**" in text(app)
    assert "budget-undo" not in [button.key for button in app.button]


def test_charges_from_before_a_reset_are_kept(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(0.5))
    ledger.reset_practice(CLINIC)
    app = open_app("budget")
    app.toggle(key="budget_before").set_value(True).run()
    assert len(app.dataframe[0].value) == 1


def test_a_practice_budget_has_another_size_in_one_click(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(0.5))
    app = open_app("budget")
    assert app.button(key="budget-size-3").disabled
    app.button(key="budget-size-10").click().run()
    assert "The practice budget is ε = 10 now, and whole" in text(app)
    assert ledger.remaining(CLINIC).epsilon == 10.0
    app.button(key="budget-undo").click().run()
    assert ledger.remaining(CLINIC).epsilon == 2.5


# -- planner ----------------------------------------------------------------------------------------------------------


def test_the_plan_is_priced_by_calibration(open_app: Open) -> None:
    """Five choices, right 95 times in 100: the smallest such ε by the exact law, five times."""
    app = go(open_app("budget"), "Plan answers")
    counts = load_sample("clinic").counts("complaint")
    each = planned([Wish(kind="permute_and_flip", count=5, target=95.0, column="complaint")], 1e-6, _source())
    assert each is not None
    epsilon = each[0].epsilon
    law = PermuteAndFlip(epsilon=epsilon, monotonic=True).probabilities(counts)
    assert law[counts.argmax()] == pytest.approx(0.95, abs=1e-6)
    assert f"These 5 answers cost **ε = {5 * epsilon:.3g}** together (simple sum)" in text(app)


def _source() -> Source:
    table = load_sample("clinic")
    return Source(key="clinic", title="", mode="demo", table=table, lineage=CLINIC, practice=True)


def test_a_goal_looked_up_in_a_person_s_data_is_priced_on_the_public_list_and_a_typed_epsilon_as_it_is() -> None:
    own = replace(_source(), mode="what_if", practice=False)
    goal = Wish(kind="permute_and_flip", count=5, target=95.0, column="complaint")
    typed = Wish(kind="permute_and_flip", count=5, epsilon=0.7, column="complaint")

    def priced(wish: Wish, source: Source) -> float:
        found = planned([wish], 1e-6, source)
        assert found is not None
        return found[0].epsilon

    assert not on_grid(priced(goal, _source())), "what shows that it can fail"
    assert on_grid(priced(goal, own))
    assert priced(goal, own) >= priced(goal, _source())
    assert priced(typed, own) == priced(typed, _source()) == 0.7


@pytest.mark.parametrize("kind", list(kinds()))
@pytest.mark.parametrize("count", ["1", "50"])
def test_every_kind_of_answer_has_a_price_and_a_fit(open_app: Open, kind: str, count: str) -> None:
    app = go(open_app("budget", plan_kind=kind, plan_count=count), "Plan answers")
    assert f"{count} answer" in text(app)
    assert "fit" in text(app)
    assert len(app.get("plotly_chart")) == 3


@pytest.mark.parametrize(
    ("kind", "target", "near"),
    [("count", 10.0, 0.2843485), ("count_gaussian", 10.0, None), ("alarm", 50.0, None)],
)
def test_accuracy_targets_are_met(kind: str, target: float, near: float | None) -> None:
    """In whole people. Laplace: 2p^(t+1) = 0.05(1 + p) with p = e^(−ε); Gaussian: the tail of the discrete one at
    σ = 1/√(2ρ), nearly that of t + ½; an alarm: the exact α at that ε."""
    answers = planned([Wish(kind=kind, count=3, target=target)], 1e-6, None)
    assert answers is not None
    (answer,) = answers
    if near is not None:
        assert answer.epsilon == pytest.approx(near, rel=1e-6)
    if kind == "count_gaussian":
        assert (2 * answer.cost(answer.epsilon).zcdp) ** -0.5 == pytest.approx((target + 0.5) / 1.959964, rel=2e-3)
    if kind == "alarm":
        from dpcore.thresholding import AboveThreshold

        run = AboveThreshold.tuned(epsilon=answer.epsilon, k=100, noise="exponential")
        assert run.exact_alpha(100, 0.05) == pytest.approx(target, rel=1e-6)


def test_plans_of_several_lines_add_up(open_app: Open) -> None:
    app = go(open_app("budget", plan_kind="any", plan_count="4"), "Plan answers")
    assert "These 4 answers cost **ε = 2** together" in text(app)
    app.button(key="plan-add").click().run()
    assert "These 8 answers cost **ε = 4** together" in text(app)
    assert "do not fit" in text(app)
    app.button(key="plan-remove-0").click().run()
    assert "These 4 answers cost **ε = 2** together" in text(app)


def test_what_fits_is_what_the_ledger_would_take(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(2.0), neighbours="add_remove")
    app = go(open_app("budget", plan_kind="any", plan_count="2"), "Plan answers")
    assert "They fit the budget of these people: 0 in 100 of it would be left." in text(app)
    charge(ledger, Cost.pure(0.001), neighbours="add_remove")
    assert "do not fit" in text(app.run())


@pytest.mark.parametrize("link", [{"plan_count": "0"}, {"plan_count": "1e9"}, {"plan_kind": "x"}, {"whose": "x"}])
def test_links_with_nonsense_change_nothing(open_app: Open, link: dict[str, str]) -> None:
    app = go(open_app("budget", **link), "Plan answers")
    assert "These 5 answers" in text(app)


# -- what the guarantee means -----------------------------------------------------------------------------------------


# -- the tracker ------------------------------------------------------------------------------------------------------


def budget(epsilon: float, delta: float, *costs: Cost, counting: str = "sum") -> Budget:
    found = Budget(lineage="x", name="x", practice=True, generation=1, caps=Caps.of(epsilon, delta, counting))
    for cost in costs:
        taken = found.charge_for(cost)
        assert taken is not None
        found = found.after(taken)
    return found


def test_the_tracker_counts_in_the_unit_of_the_cap() -> None:
    pure = budget(0.3, 0.0, Cost.pure(0.1), Cost.pure(0.1))
    assert tracker.spent_words(pure) == "ε\u00a0=\u00a00.1 of 0.3 is left."
    assert (
        tracker.answers_words(pure, Cost.pure(0.1), "", "person")
        == "**1 more answer** to this question at this ε; after one, 0."
    )
    wanting = "Not enough is left for one more answer to this question at this ε."
    assert tracker.answers_words(pure, Cost.pure(0.11), "", "person") == wanting
    assert "need a δ" in tracker.answers_words(pure, Cost.gaussian(20.0, 1e-7), "", "person")
    both = budget(1.0, 1e-6, Cost.gaussian(50.0, 1e-8), counting="zcdp")
    assert f"About {100 - 100 * both.share_spent:.0f} in 100" in tracker.spent_words(both)
    assert "δ\u00a0=\u00a010⁻⁶" in tracker.spent_words(both)
    more = both.answers_left(Cost.gaussian(50.0, 1e-8))
    assert (
        tracker.answers_words(both, Cost.gaussian(50.0, 1e-8), "", "person")
        == f"**{more} more answers** to this question at this ε; after one, {more - 1}."
    )


def test_the_count_of_the_tracker_is_what_the_ledger_takes(ledger: Ledger) -> None:
    """As many as promised are charged, and the next one is refused: for both kinds of cap."""
    for lineage, delta in (("pure", 0.0), ("both", 1e-6)):
        cost = Cost.bounded_range(0.3)
        promised = ledger.open_budget(lineage, epsilon=1.0, delta=delta).answers_left(cost)
        for number in range(promised):
            ledger.charge(f"{lineage}{number}", lineage, cost, "q")
        assert ledger.budget(lineage).answers_left(cost) == 0
        assert not ledger.budget(lineage).fits(cost)


def test_the_tracker_follows_the_page(open_app: Open, ledger: Ledger) -> None:
    practice(ledger, Cost.pure(1.0))
    app = open_app("selection", neighbours="replace_one")
    side = [one.value for one in app.sidebar.markdown]
    assert "**4 more answers** to this question at this ε; after one, 3, with ε\u00a0=\u00a01.5 left." in side
    assert any("It protects any one person" in one.value for one in app.sidebar.caption)


# -- a closed ledger --------------------------------------------------------------------------------------------------


def test_a_closed_ledger_is_one_sentence_and_the_other_pages_go_on(
    open_app: Open, ledger: Ledger, ledger_file: Path
) -> None:
    practice(ledger, Cost.pure(0.5))
    journal = ledger_file.with_name(ledger_file.name + ".journal")
    shutil.move(journal, ledger_file.with_name("kept"))
    for page in ("budget", "selection"):
        app = open_app(page)
        assert all("put the journal file back" in error.value for error in app.error)
        assert len(app.error) == (2 if page == "budget" else 1)
        assert len(app.get("plotly_chart")) >= 1
    app = go(open_app("budget", whose="everyone in this ledger"), "What does the guarantee mean?")
    assert "From an even start" in text(app)
    assert not app.dataframe
    shutil.move(ledger_file.with_name("kept"), journal)
    forget_all()  # that it was closed is kept for some seconds
    assert "has spent **ε = 0.5 of 3**" in text(open_app("budget"))


@pytest.mark.parametrize("location", ["mysql://x", "sqlite:////proc/none/ledger.db"])
def test_a_ledger_that_cannot_be_reached_is_one_sentence(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    monkeypatch.setenv("EPSILON_LAB_LEDGER", location)
    app = open_app("budget")
    assert len({error.value for error in app.error}) == 1


def test_rules_know_when_they_hold() -> None:
    from dashboard.budget import rules

    assert set(rules.LABELS) == set(rules.WHY) == set(VALID_WHEN)
    for rule, when in VALID_WHEN.items():
        assert (rules.PLANNED in rules.label(rule)) == (when == "planned")


# -- a person's own people --------------------------------------------------------------------------------------------


def own(app: AppTest, lineage: str | None) -> AppTest:
    """The page about a person's own table, as the Data page leaves it in the session."""
    table = load_sample("meeting_dates")
    app.session_state["_own_name"] = "own.csv"
    app.session_state["_own_source"] = Source(
        key="own-1", title="own.csv", mode="what_if", table=table, lineage=lineage, practice=False
    )
    app.run()
    app.selectbox(key="data").set_value("own").run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def test_own_people_get_their_budget_here_and_by_review_only(open_app: Open, ledger: Ledger) -> None:
    app = own(open_app("budget"), "own:people")
    assert "set the budget of these people" in text(app)
    assert "no budget has been opened for these people" in text(app)
    app.text_input(key=about(app, "budget-name")).set_value("Ours").run()
    assert ledger.budgets() == []
    app.button(key="open-budget-review").click().run()
    app.button(key="budget-open").click().run()
    assert ledger.budget("own:people").cap.epsilon == 1.0
    assert "Nothing is spent yet" in text(app)
    assert "What is left** · for good" in text(app)
    assert "budget-reset" not in [button.key for button in app.button]


def test_own_people_who_are_not_named_yet_are_sent_to_the_data_page(open_app: Open, ledger: Ledger) -> None:
    assert "Say on the Data page whose data these are" in text(own(open_app("budget"), None))


def test_lines_that_nobody_could_tell_apart_are_one_and_named() -> None:
    """Answers of a plain sum: what counts whole curves finds the same total, and stands below, not on top."""
    frame = totals.frame([], totals.repeated(RunningTotal(), 0, Cost.pure(0.5), 6, 1e-5))
    for counting, own, hidden in (("sum", "Simple sum", "One curve each"), ("zcdp", "One number each", "none")):
        budget = Budget.planned(epsilon=3.0, delta=1e-5, counting=counting)
        drawn = Spending(
            receipts=(),
            next_cost=Cost.pure(0.5),
            more=6,
            delta=1e-5,
            frame=frame,
            rules=("basic",),
            alike=alike(frame, OWN_RULES[counting]),
        )
        names = [trace["name"] for trace in screen._figure(budget, drawn, dark=False)["data"]]
        assert own in names
        assert hidden not in names
        assert "On the line of “simple sum”, so not drawn again: “" in screen._note(budget, drawn)
