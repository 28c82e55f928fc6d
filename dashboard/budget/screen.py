"""The first screen of the Budget page: the headline, the lines, the cards; and its other states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import charges, practice, rules, totals, tracker
from dashboard.budget.opening import told
from dashboard.budget.receipts import answer_text
from dashboard.budget.spending import (
    MOST_COSTS,
    OWN_RULES,
    SETTLED,
    Spending,
    caption,
    code,
    exposure,
    fitting,
    headline,
    one_more,
    spending,
)
from dashboard.budget.state import State
from dashboard.charts.cumulative import cumulative
from dashboard.charts.theme import Figure
from dashboard.replay import Same, kept
from dashboard.report.drawing import drawn as drawn_on_paper
from dashboard.report.spent import Charged, spent
from dashboard.report.value import Section
from dashboard.widgets import cards
from dashboard.widgets.picture import picture
from dashboard.widgets.receipt_file import seen_still
from dashboard.words import report as report_words
from dashboard.words import tracker as tracker_words
from dpcore.ledger import Budget, Receipt

NOTHING_TO_SEE = "### Nothing is spent that you may see."


def show_budget(state: State, budget: Budget) -> None:
    """The first screen."""
    told()
    head = st.container(gap="xsmall")
    left, right = st.columns([2, 1], gap="medium")
    with left, st.spinner("Adding up under every rule; the first time takes a few seconds"):
        drawn = spending(state, budget)
        now, delta = exposure(state, budget)
    with head:
        st.markdown(f"### {headline(state, budget)}")
        st.caption(caption(state, budget, now, delta))
    with left:
        chart(budget, drawn)
    with right:
        _left(state, budget)
        _protected(state, budget, now, delta)


def everyone(budgets: list[Budget], receipts: Sequence[Receipt]) -> None:
    """One line on the whole ledger, and every budget in it."""
    if not budgets:
        st.markdown("### Nothing is spent about anyone yet." if compute.sees_all() else NOTHING_TO_SEE)
        st.caption(
            "A budget opens with the first private answer about a sample, or when you open one for your own data."
        )
        return
    real = sum(not budget.practice for budget in budgets)
    answers = sum(receipt.state == "answered" for receipt in receipts)
    st.markdown(
        f"### {words.plural(answers, 'private answer')} about {words.plural(len(budgets), 'group')} of people, "
        f"{real} of them real."
    )
    st.caption(
        "Each group has a budget of its own: answers about other people take nothing from it. Someone who is in "
        "several groups is exposed to the sum."
    )
    charges.budgets(budgets)


def closed(problem: str) -> None:
    """The ledger is not in order: one sentence for its owner."""
    st.error(words.reason(problem), icon=":material/lock:")
    st.caption(
        "Until then nothing can be charged, released or looked up, which keeps every promise made so far. All other "
        "pages keep working, and so do the plans and pictures below."
    )


def chart(budget: Budget, drawn: Spending) -> None:
    """The lines, and why they differ."""
    frame, dark, about = drawn.frame, session.dark(), (Same(drawn), budget.counting, tracker.total(budget))
    shown = kept(("rules", *about), lambda: _rules(drawn))
    figure = kept(("lines", *about, dark), lambda: _figure(budget, drawn, dark=dark), large=True)
    alt = kept(("described", *about), lambda: _described(drawn, shown, budget))

    def table() -> pd.DataFrame:
        valid = frame["rule"].map(lambda rule: rules.PLANNED if rules.planned(rule) else rules.REACTING)
        return frame.assign(valid=valid, delta=drawn.delta)

    still = partial(seen_still, (), budgets=(budget.lineage,))
    picture(figure, key="budget-lines", alt=alt, data=table, code=code(drawn), still=still)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_note(budget, drawn), width="stretch")
        with st.popover("Why do they differ?", type="tertiary", icon=":material/help:"):
            st.markdown(rules.explained(shown))
            if budget.counting == "both":
                st.caption(
                    "ε is shown at half of the budget's δ, because its two accounts each have one half to themselves."
                )


def on_paper(state: State, budget: Budget) -> Section:
    """The first screen as a section of a report, with every charge."""
    drawn = spending(state, budget)
    now, delta = exposure(state, budget)
    count = len(state.receipts)
    last = drawn.frame[(drawn.frame["part"] == totals.SO_FAR) & (drawn.frame["answers"] == count)]
    whole = 0 < count <= MOST_COSTS
    return spent(
        budget.name,
        lineage=budget.lineage,
        headline=headline(state, budget),
        caption=caption(state, budget, now, delta),
        picture=drawn_on_paper(
            _figure(budget, drawn, dark=False), _described(drawn, _rules(drawn), budget), _note(budget, drawn)
        ),
        facts=(
            (report_words.CAP, report_words.cost(tracker.total(budget), budget.cap.delta)),
            (report_words.COUNTED, report_words.accountant(budget.counting)),
            (report_words.LARGEST, f"ε = {words.amount(budget.remaining.epsilon, left=True)}"),
        ),
        charges=[Charged(receipt=receipt, answer=answer_text(receipt)) for receipt in state.receipts],
        card=_card(state, budget, now, delta),
        numbers=list(zip(last["rule"], last["epsilon"].map(float), strict=True)) if whole else [],
        code=code(drawn).replace("print(compose(", "found = (compose(") if whole else "",
        practice=budget.practice,
    )


def _rules(drawn: Spending) -> list[str]:
    return [rule for rule in rules.LABELS if (drawn.frame["rule"] == rule).any()]


def _figure(budget: Budget, drawn: Spending, *, dark: bool) -> Figure:
    hidden = {rule for others in drawn.alike.values() for rule in others}
    shown = [rule for rule in _rules(drawn) if rule not in hidden]
    return cumulative(
        drawn.frame[drawn.frame["rule"].isin(shown)],
        names={rule: rules.short(rule) for rule in shown},
        colour=rules.colour(dark),
        planned=[rule for rule in shown if rules.planned(rule)],
        counts_with=OWN_RULES[budget.counting],
        cap=tracker.total(budget),
        done=len(drawn.receipts),
        delta=f", at δ = {words.failing(drawn.delta)}",
        dark=dark,
    )


def _note(budget: Budget, drawn: Spending) -> str:
    """What stands below the lines."""
    own = " and ".join(rules.LABELS[rule] for rule in OWN_RULES[budget.counting])
    asked = "last question" if drawn.receipts else "question in view"
    after = f" Shaded: if the {asked} were asked again and again."
    same = "".join(
        f" On the line of “{rules.LABELS[kept].lower()}”, so not drawn again: "
        f"{' and '.join(f'“{rules.label(other).lower()}”' for other in others)}."
        for kept, others in drawn.alike.items()
    )
    return (
        f"Each line is one way to add up the same answers; a lower one shows that less was given away. Thick: what "
        f"this budget counts with ({own.lower()}). Solid lines hold {rules.ADAPTIVE}, {SETTLED}; dashed ones "
        f"only {rules.PLANNED}. δ = {words.failing(drawn.delta)} is the small chance on top of what ε allows."
        f"{after if drawn.more else ''}{same}"
    )


def _described(drawn: Spending, shown: list[str], budget: Budget) -> str:
    last = int(drawn.frame["answers"].max())
    at = len(drawn.receipts) or last
    rows = drawn.frame[drawn.frame["answers"] == at].drop_duplicates("rule")
    parts = [
        f"{rules.LABELS[rule]} {words.number(epsilon)}" for rule, epsilon in zip(rows.rule, rows.epsilon, strict=True)
    ]
    when = "so far" if drawn.receipts else "would have"
    return (
        f"ε of {words.plural(at, 'answer')} together, {when}: {', '.join(parts)}. "
        f"The budget is ε = {words.amount(tracker.total(budget))}."
    )


def _left(state: State, budget: Budget) -> None:
    with st.container(border=True):
        st.markdown(f"**What is left** · {'practice' if budget.practice else 'for good'}")
        pair = st.container(horizontal=True)
        which = "one answer" if budget.counting == "sum" else "one answer without δ"
        pair.metric(f"most that {which} may cost", f"ε = {words.amount(budget.remaining.epsilon, left=True)}")
        like = "more like the last" if state.receipts else f"at ε = {words.number(session.epsilon())}"
        cost, hidden = one_more(state)
        fit = fitting(budget, cost, hidden)
        pair.metric(like, f"{fit:,}" if fit < tracker_words.MANY else "a million")
        st.progress(1.0 - budget.share_spent, text=tracker.spent_words(budget))
        st.caption(tracker.counted_words(budget) + tracker.counts_words(budget, hidden, state.unit))
        if budget.practice:
            practice.buttons(budget)
        else:
            st.caption("Nothing that was spent comes back: what an answer has told cannot be taken back.")


def _protected(state: State, budget: Budget, now: float, delta: float) -> None:
    if not state.receipts:
        st.caption("Once all of it is spent:")
    cards.protected(_card(state, budget, now, delta), key="budget")


def _card(state: State, budget: Budget, now: float, delta: float) -> words.LabelCard:
    same = budget.neighbours == "replace_one"  # then the number of rows is the same whoever is in it, and no secret
    about = "" if same else "about "
    so_far = f"all answers so far ({SETTLED})" if delta > 0.0 else "all answers so far"
    return words.LabelCard(
        neighbours="replace_one" if same else "add_remove",
        epsilon=now or tracker.total(budget),
        unit=state.unit,
        of=so_far if now else "all answers that fit",
        delta=delta or budget.cap.delta,
        not_protected=f"that the data exist, the questions that were asked, and {about}how many rows there are",
    )
