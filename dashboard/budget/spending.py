"""What is spent, how it adds up under each rule, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import totals, tracker
from dashboard.budget.rules import LABELS
from dashboard.budget.state import State
from dashboard.replay import Same, kept
from dashboard.usual import hides
from dpcore.accounting import RunningTotal
from dpcore.costs import Cost
from dpcore.errors import InvalidCost
from dpcore.ledger import Budget, Receipt

MOST_MORE, LEAST_MORE, PER_ANSWER = 40, 12, 3  # repeats drawn after the answers so far
MOST_COSTS = 500  # written out in Python
OWN_RULES = {"sum": ("basic",), "zcdp": ("zcdp",), "both": ("basic", "zcdp")}
ONE_LINE = 0.01
"""Share of ε within which two lines are one to the eye."""
ALWAYS = ("basic", "zcdp", "rdp")  # rules that hold while each question reacts to earlier answers
SETTLED = "as long as how many are asked, and at what cost, hangs on no answer"
"""Under which the ε so far holds at a budget's δ: who goes on or stops by what was answered passes that δ where it is
taken at each number of answers anew. Without δ, and of all of a budget, it holds whatever is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What is drawn: the receipts that add up, the cost that is repeated after them, and both as a frame.

    ``alike`` names the rules that are drawn as one line, by the one that is drawn.
    """

    receipts: tuple[Receipt, ...]
    next_cost: Cost
    more: int
    delta: float
    frame: pd.DataFrame
    rules: tuple[str, ...]
    alike: Mapping[str, Sequence[str]]

    @property
    def epsilon_now(self) -> float:
        """The smallest ε of everything so far, however the questions were chosen; with a δ it holds of a number of
        answers and costs that hang on no answer (``SETTLED``). 0 before any."""
        past = self.frame[(self.frame["part"] == totals.SO_FAR) & self.frame["rule"].isin(self.rules)]
        last = past[past["answers"] == len(self.receipts)]
        return float(last["epsilon"].min()) if len(last) else 0.0


def spending(state: State, budget: Budget) -> Spending:
    """What the answers to the people in view cost together, and what more like the last one would."""
    receipts = state.receipts
    asked, hidden = one_more(state)
    cost = budget.counted(asked, hidden) or asked
    more = min(fitting(budget, asked, hidden), MOST_MORE)
    more = min(more, max(LEAST_MORE, PER_ANSWER * len(receipts))) if receipts else max(more, LEAST_MORE // 2)
    delta = totals.accounting_delta(budget)
    last = receipts[-1].journal_hash if receipts else ""

    def make() -> pd.DataFrame:
        total, past = totals.so_far(receipts, delta) if receipts else (RunningTotal(), [])
        return totals.frame(past, totals.repeated(total, len(receipts), cost, more, delta))

    key = ("spending", last, len(receipts), repr(cost), more, delta)
    frame = compute.MEMORY(key, make)
    same = compute.MEMORY((*key, budget.counting), lambda: alike(frame, OWN_RULES[budget.counting]))
    valid = ("basic",) if budget.counting == "sum" else ALWAYS
    return kept(
        (*key, budget.lineage, budget.counting, Same(frame)),
        lambda: Spending(
            receipts=receipts, next_cost=cost, more=more, delta=delta, frame=frame, rules=valid, alike=same
        ),
    )


def alike(frame: pd.DataFrame, own: Sequence[str]) -> dict[str, list[str]]:
    """Rules of ``frame`` whose line nobody could tell from another's, by the one that is drawn; each of ``own`` is."""
    answers, place = np.unique(frame["answers"].to_numpy(), return_inverse=True)
    of, levels = frame["rule"].to_numpy(), frame["epsilon"].to_numpy()
    lines = {rule: np.full(len(answers), np.nan) for rule in dict.fromkeys(of.tolist())}
    for rule, line in lines.items():
        line[place[of == rule]] = levels[of == rule]
    found: dict[str, list[str]] = {}
    for rule in sorted(lines, key=lambda rule: (rule not in own, list(LABELS).index(rule))):
        close = (drawn for drawn in found if np.allclose(lines[rule], lines[drawn], rtol=ONE_LINE, equal_nan=True))
        drawn = None if rule in own else next(close, None)
        if drawn is None:
            found[rule] = []
        else:
            found[drawn].append(rule)
    return {drawn: others for drawn, others in found.items() if others}


def one_more(state: State) -> tuple[Cost, str]:
    """What one more answer like the last would cost as it was counted, or one at the ε in view before there is any, and
    what it would hide."""
    if state.receipts:
        return state.receipts[-1].cost, state.receipts[-1].counted_for
    return Cost.pure(session.epsilon()), "" if state.source is None else hides(state.source.table.schema)


def fitting(budget: Budget, cost: Cost, neighbours: str) -> int:
    """How many more answers of this cost that hide ``neighbours`` the ledger would take."""
    try:
        return budget.answers_left(cost, neighbours)
    except InvalidCost:
        return 0


def exposure(state: State, budget: Budget) -> tuple[float, float]:
    """(ε, δ) of all answers so far; (0, 0) before any."""
    drawn = spending(state, budget)
    now = kept(("epsilon now", Same(drawn)), lambda: drawn.epsilon_now)
    return now, budget.cap.delta if state.receipts else 0.0


def headline(state: State, budget: Budget) -> str:
    """What is spent, in one sentence."""
    count = len(state.receipts)
    like = "like the last one" if count else f"at ε = {words.number(session.epsilon())}"
    left = fitting(budget, *one_more(state))
    fit = f"**{words.plural(left, 'more answer')}** {like} would fit."
    if left == 0:
        fit = f"Not enough is left for one more {like}."
    if not count:
        return f"Nothing is spent yet. {fit.replace('more ', '', 1) if left else fit}"
    if budget.counting == "sum":
        spent = f"ε = {words.amount(tracker.spent(budget))} of {words.amount(tracker.total(budget))}"
    else:
        spent = f"{words.in_100(budget.share_spent)} in 100 of their budget"
    lost = sum(receipt.state != "answered" for receipt in state.receipts)
    parts = [words.plural(count - lost, "answer")] if count > lost else []
    if lost:
        parts.append(f"{words.plural(lost, 'charge')} without an answer")
    return f"{' and '.join(parts)} {'has' if count == 1 else 'have'} spent **{spent}**. {fit}"


def caption(state: State, budget: Budget, now: float, delta: float) -> str:
    """The same in odds."""
    about = words.guessed(budget.neighbours, state.unit)
    who = f"Someone whose guess {about} is right 50 times in 100 without any answer"
    end = _odds(tracker.total(budget), budget.cap.delta)
    if now == 0.0:
        return f"{who} could be right at most {end} times in 100 once all of it is spent."
    settled = f" {SETTLED}" if delta > 0.0 else ""
    return (
        f"{who} could now be right at most **{_odds(now, delta)}** times in 100{settled}, and {end} times once all of "
        "it is spent, whatever is asked."
    )


def _odds(epsilon: float, delta: float) -> str:
    return words.at_most(words.odds(epsilon, delta))


def code(drawn: Spending) -> str:
    """Python that computes the totals; nothing where that would be too many costs to be written out."""
    if len(drawn.receipts) > MOST_COSTS:
        return ""
    costs = [receipt.cost for receipt in drawn.receipts] or [drawn.next_cost]
    lines = "".join(f"    {cost!r},\n" for cost in costs)
    return (
        "from dpcore.accounting import Cost, compose\n"
        "from dpcore.events import *  # the events that the costs name\n\n"
        f"costs = [\n{lines}]\nprint(compose(costs, delta={drawn.delta!r}))\n"
    )
