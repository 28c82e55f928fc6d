"""The planner: several answers, each this good. What do they cost together, under which rule, and do they fit?"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.budget import rules, totals
from dashboard.budget.kinds import KINDS, Wish
from dashboard.budget.pricing import Priced, code, comparison, priced
from dashboard.case import Source
from dashboard.charts.prices import prices
from dashboard.questions.selection.candidates import columns
from dashboard.view import EPSILON_DEFAULT, EPSILON_HIGH, EPSILON_LOW
from dashboard.widgets.picture import picture
from dpcore.ledger import Budget

MOST_LINES, MOST_ANSWERS = 5, 1000
NEARLY = 1.005
_PLAN = "_plan"


def show(source: Source | None, budget: Budget | None) -> None:
    """Wishes in one sentence, prices as bars, and one line on whether they fit."""
    delta = totals.accounting_delta(budget)
    kept: tuple[Wish, ...] = session.get(_PLAN, ())
    wish = _sentence(source)
    _lines(kept, wish)
    wishes = (*kept, wish)
    total, is_left = comparison(budget)
    found = priced(wishes, delta, source, budget, total)
    if isinstance(found, str):
        st.warning(found)
        return
    _answer(wishes, found, budget)
    shown = [one.rule for one in found.prices]
    figure = prices(
        shown,
        [one.epsilon for one in found.prices],
        names={rule: rules.short(rule) for rule in shown},
        colour=rules.colour(session.dark()),
        planned=[rule for rule in shown if rules.planned(rule)],
        left=total if is_left else None,
        dark=session.dark(),
    )
    table = pd.DataFrame(
        {
            "rule": [rules.LABELS[rule] for rule in shown],
            "epsilon": [one.epsilon for one in found.prices],
            "delta": delta,
            "valid": [rules.PLANNED if rules.planned(rule) else "always" for rule in shown],
            "each_could_have_times": [found.shares[rule] for rule in shown],
        }
    )
    picture(figure, key="budget-plan", alt=_described(found), data=table, code=code(wishes, found, delta))
    st.caption(
        f"ε at δ = {words.tiny(delta)}. Hatched rules hold only {rules.PLANNED}: the list of questions and their ε is "
        "written down before the first answer. The ledger itself always counts by the others."
    )
    _shares(wishes, found, total)


def _sentence(source: Source | None) -> Wish:
    """The controls of one line of the plan."""
    choosable = list(columns(source.table.schema)) if source is not None else []
    kinds = [key for key, kind in KINDS.items() if choosable or not kind.column]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = st.number_input(
            "How many answers", 1, MOST_ANSWERS, 5, key="plan_count", bind="query-params", width=150
        )
        key = st.selectbox(
            "of which kind", kinds, key="plan_kind", bind="query-params", format_func=_kind_label, width=380
        )
        kind = KINDS[str(key)]
        column = ""
        if kind.column:
            column = str(
                st.selectbox(
                    "about", choosable, key="plan_column", bind="query-params", format_func=words.visible, width=200
                )
            )
        by_goal = kind.goal is not None
        if kind.goal is not None:
            by_goal = (
                st.segmented_control(
                    "each",
                    ["this good", "with this ε"],
                    default="this good",
                    required=True,
                    key="plan_by",
                    bind="query-params",
                )
                == "this good"
            )
        if by_goal and kind.goal is not None:
            goal = kind.goal
            target = st.number_input(
                goal.label,
                min_value=goal.low,
                max_value=goal.high,
                value=goal.default,
                step=float(goal.step),
                format="%g",
                key=f"plan_goal_{key}",
                persist_state="session",
                width=330,
            )
            return Wish(kind=str(key), count=int(count or 1), target=float(target or goal.default), column=column)
        st.number_input(
            "ε of each",
            min_value=EPSILON_LOW,
            max_value=EPSILON_HIGH,
            value=EPSILON_DEFAULT,
            format="%g",
            key="plan_epsilon",
            persist_state="session",
            width=150,
        )
        epsilon = float(session.get("plan_epsilon", EPSILON_DEFAULT) or EPSILON_DEFAULT)
        return Wish(kind=str(key), count=int(count or 1), epsilon=epsilon, column=column)


def _kind_label(key: str) -> str:
    return KINDS[key].label


def _lines(kept: tuple[Wish, ...], wish: Wish) -> None:
    """What is in the plan besides the line being written."""
    for place, one in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"and {told(one)}", width="content")
            st.button(
                "Remove",
                key=f"plan-remove-{place}",
                type="tertiary",
                icon=":material/close:",
                on_click=_remove,
                args=(place,),
            )
    st.button(
        "Add this to the plan and write another line",
        icon=":material/add:",
        key="plan-add",
        disabled=len(kept) >= MOST_LINES - 1,
        on_click=_add,
        args=(wish,),
    )


def told(wish: Wish) -> str:
    """One line of the plan in words."""
    kind = KINDS[wish.kind]
    about = f" of “{words.safe(wish.column)}”" if wish.column else ""
    if wish.target is not None and kind.goal is not None:
        good = kind.goal.words.format(words.number(wish.target))
    else:
        good = f"ε = {words.number(wish.epsilon or 0.0)}"
    return f"**{wish.count:,} ×** {kind.label}{about}, each {good}"


def _add(wish: Wish) -> None:
    kept: tuple[Wish, ...] = session.get(_PLAN, ())
    session.put(_PLAN, (*kept, wish)[: MOST_LINES - 1])


def _remove(place: int) -> None:
    kept: tuple[Wish, ...] = session.get(_PLAN, ())
    session.put(_PLAN, kept[:place] + kept[place + 1 :])


def _answer(wishes: Sequence[Wish], found: Priced, budget: Budget | None) -> None:
    count = sum(wish.count for wish in wishes)
    by_rule = {one.rule: one.epsilon for one in found.prices}
    rule = min((name for name in by_rule if not rules.planned(name)), key=by_rule.__getitem__)
    if by_rule.get("basic", float("inf")) <= by_rule[rule] * NEARLY:
        rule = "basic"
    in_advance = min(by_rule, key=by_rule.__getitem__)
    always, fixed = by_rule[rule], by_rule[in_advance]
    less = (
        f", and **ε = {words.number(fixed)}** if the list is fixed in advance ({rules.LABELS[in_advance]})"
        if fixed * NEARLY < always
        else ", whether or not the list is fixed in advance"
    )
    st.markdown(
        f"### {'This' if count == 1 else 'These'} {words.plural(count, 'answer')} cost **ε = {words.number(always)}** "
        f"together ({rules.LABELS[rule].lower() if rule == 'basic' else rules.LABELS[rule]}){less}."
    )
    each = ", ".join(f"ε = {words.number(epsilon)}" for epsilon in found.epsilons)
    st.caption(
        f"{'Each needs' if len(wishes) == 1 else 'Line by line, each answer needs'} {each}. {_fit(found, budget)}"
    )


def _fit(found: Priced, budget: Budget | None) -> str:
    if budget is None or found.fits is None:
        return "There is no budget yet to compare with."
    if found.fits:
        return f"They fit the budget of these people: {100 * found.left_after:.0f} in 100 of it would be left."
    return "They do not fit what is left of the budget of these people."


def _shares(wishes: Sequence[Wish], found: Priced, total: float) -> None:
    """What each answer could have if the whole of ``total`` went to this plan."""
    with st.expander(f"If ε = {words.number(total)} went to this plan: how good could each answer be?"):
        rows = {}
        for one in found.prices:
            share = found.shares[one.rule]
            each = ", ".join(f"ε = {words.number(epsilon * share)}" for epsilon in found.epsilons)
            rows[rules.label(one.rule)] = f"{each} each"
        st.table(rows, border="horizontal", alt="ε of each answer under each rule")
        st.caption("Found by calibration: the largest ε of each answer, in the same proportions, that keeps the total.")


def _described(found: Priced) -> str:
    parts = [f"{rules.label(one.rule)} {words.number(one.epsilon)}" for one in found.prices]
    return f"ε of the plan under each rule: {', '.join(parts)}."
