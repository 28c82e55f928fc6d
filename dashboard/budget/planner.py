"""The planner: several answers, each this good. What do they cost together, under which rule, and do they fit?"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.budget import rules, totals
from dashboard.budget.held import PLAN
from dashboard.budget.kinds import Wish, kinds
from dashboard.budget.pricing import Priced, code, comparison, priced
from dashboard.budget.tracker import counts_words
from dashboard.case import Source
from dashboard.charts.prices import prices
from dashboard.charts.theme import Figure
from dashboard.controls import Choice, Number
from dashboard.report.drawing import drawn
from dashboard.report.panel import report_button
from dashboard.report.plan import PlannedTotal, planned
from dashboard.report.value import Kind, Section
from dashboard.view import EPSILON_DEFAULT, EPSILON_HIGH, EPSILON_LOW
from dashboard.widgets import controls
from dashboard.widgets.picture import picture
from dashboard.widgets.tables import show_table
from dashboard.words.page import MAY_SHOW
from dpcore.ledger import Budget
from dpcore.ledger.words import PERSON

MOST_LINES, MOST_ANSWERS = 5, 1000
NEARLY = 1.005
COUNT = Number(
    key="plan_count", label="How many answers", default=5.0, low=1.0, high=float(MOST_ANSWERS), whole=True, width=150
)
BY = Choice(
    key="plan_by",
    label="each",
    options=("goal", "epsilon"),
    names={"goal": "this good", "epsilon": "with this ε"},
    default="goal",
    look="buttons",
)
EPSILON = Number(
    key="plan_epsilon", label="ε of each", default=EPSILON_DEFAULT, low=EPSILON_LOW, high=EPSILON_HIGH, width=150
)
# How older links name what can be planned.
ONCE = {
    "the most common option, by permute and flip": "permute_and_flip",
    "the most common option, by the exponential mechanism": "exponential",
}


def show_planner(source: Source | None, budget: Budget | None) -> None:
    """Wishes in one sentence, prices as bars, and one line on whether they fit."""
    delta = totals.accounting_delta(budget)
    kept: tuple[Wish, ...] = PLAN.get()
    wish = _sentence(source)
    _lines(kept, wish)
    wishes = (*kept, wish)
    total, is_left = comparison(budget)
    unit = PERSON if source is None else source.table.schema.unit
    found = priced(wishes, delta, source, budget, total)
    if isinstance(found, str):
        st.warning(found)
        return
    _answer(wishes, found, budget, unit)
    left = total if is_left else None
    shown = [one.rule for one in found.prices]
    figure = _figure(found, left, dark=session.dark())
    table = pd.DataFrame(
        {
            "rule": [rules.LABELS[rule] for rule in shown],
            "epsilon": [one.epsilon for one in found.prices],
            "delta": delta,
            "valid": [rules.PLANNED if rules.planned(rule) else rules.REACTING for rule in shown],
            "each_could_have_times": [found.shares[rule] for rule in shown],
        }
    )
    # a goal about a column is priced by the exact law of the rows in use
    read = source if source is not None and any(one.target is not None and one.column for one in wishes) else None
    mark = None if read is None else read.mark
    picture(figure, key="budget-plan", alt=_described(found), data=table, code=code(found, delta), mark=mark)
    if read is not None and read.mode == "what_if":
        st.caption(MAY_SHOW["what_if"])
    st.caption(_caption(delta))
    _shares(wishes, found, total)
    report_button(lambda: _on_paper(wishes, found, delta, source, budget, left), key="budget-plan")


def _figure(found: Priced, left: float | None, *, dark: bool) -> Figure:
    """The price under each rule, against ``left`` where that is a plain amount."""
    shown = [one.rule for one in found.prices]
    return prices(
        shown,
        [one.epsilon for one in found.prices],
        names={rule: rules.short(rule) for rule in shown},
        colour=rules.colour(dark),
        planned=[rule for rule in shown if rules.planned(rule)],
        left=left,
        dark=dark,
    )


def _on_paper(
    wishes: Sequence[Wish],
    found: Priced,
    delta: float,
    source: Source | None,
    budget: Budget | None,
    left: float | None,
) -> Section:
    """The plan as a section of a report; one whose goals were looked up in a person's data is marked like them."""
    looked = (
        source is not None and not source.public and any(wish.target is not None and wish.column for wish in wishes)
    )
    kind: Kind = "plan"
    if looked and source is not None:
        kind = "twin" if source.simulated else "what_if"
    lines = code(found, delta).replace("print(compose(", "found = (compose(")
    return planned(
        [told(wish) for wish in wishes],
        found.epsilons,
        [
            PlannedTotal(
                rule=one.rule,
                name=rules.LABELS[one.rule],
                epsilon=one.epsilon,
                holds=rules.PLANNED if rules.planned(one.rule) else rules.REACTING,
            )
            for one in found.prices
        ],
        verdict=_verdict(wishes, found),
        picture=drawn(_figure(found, left, dark=False), _described(found), _caption(delta)),
        delta=delta,
        fit=_fit(found, budget, PERSON if source is None else source.table.schema.unit),
        code=lines,
        kind=kind,
        budget=None if budget is None else budget.lineage,
    )


def _sentence(source: Source | None) -> Wish:
    """The controls of one line of the plan."""
    choosable = {
        key: kind.columns(source.table.schema) if kind.columns is not None and source is not None else ()
        for key, kind in kinds().items()
    }
    offered = tuple(key for key, kind in kinds().items() if kind.columns is None or choosable[key])
    which = Choice(
        key="plan_kind",
        label="of which kind",
        options=offered,
        names=_kind_label,
        default=offered[0],
        once=ONCE,
        width=380,
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.draw(COUNT)
        controls.draw(which)
        count, key = int(session.ask(COUNT)), session.ask(which)
        kind, column = kinds()[key], ""
        if kind.columns is not None:
            about = Choice(
                key="plan_column",
                label="about",
                options=choosable[key],
                names=words.visible,
                default=choosable[key][0],
                width=200,
                linked=source is not None and source.public,
            )
            controls.draw(about)
            column = session.ask(about)
        if kind.goal is not None:
            controls.draw(BY)
        if kind.goal is not None and session.ask(BY) == "goal":
            goal = kind.goal
            target = Number(
                key=f"plan_goal_{key}",
                label=goal.label,
                default=goal.default,
                low=goal.low,
                high=goal.high,
                step=float(goal.step),
                width=330,
            )
            controls.draw(target)
            return Wish(kind=key, count=count, target=session.ask(target), column=column)
        controls.draw(EPSILON)
        return Wish(kind=key, count=count, epsilon=session.ask(EPSILON), column=column)


def _kind_label(key: str) -> str:
    return kinds()[key].label


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
    kind = kinds()[wish.kind]
    about = f" of “{words.safe(wish.column)}”" if wish.column else ""
    if wish.target is not None and kind.goal is not None:
        good = kind.goal.words.format(words.number(wish.target))
    else:
        good = f"ε = {words.amount(wish.epsilon or 0.0)}"
    return f"**{wish.count:,} ×** {kind.label}{about}, each {good}"


def _add(wish: Wish) -> None:
    kept: tuple[Wish, ...] = PLAN.get()
    PLAN.put((*kept, wish)[: MOST_LINES - 1])


def _remove(place: int) -> None:
    kept: tuple[Wish, ...] = PLAN.get()
    PLAN.put(kept[:place] + kept[place + 1 :])


def _caption(delta: float) -> str:
    """What stands below the picture of the prices."""
    return (
        f"ε at δ = {words.failing(delta)}. Hatched rules hold only {rules.PLANNED}: the list of questions and their ε "
        "is written down before the first answer. The ledger itself always counts by the others."
    )


def _answer(wishes: Sequence[Wish], found: Priced, budget: Budget | None, unit: str) -> None:
    st.markdown(f"### {_verdict(wishes, found)}")
    each = ", ".join(f"ε = {words.no_less(epsilon)}" for epsilon in found.epsilons)
    st.caption(
        f"{'Each needs' if len(wishes) == 1 else 'Line by line, each answer needs'} {each}. {_fit(found, budget, unit)}"
    )


def _verdict(wishes: Sequence[Wish], found: Priced) -> str:
    """What the plan costs together, in one sentence (Markdown)."""
    count = sum(wish.count for wish in wishes)
    by_rule = {one.rule: one.epsilon for one in found.prices}
    rule = min((name for name in by_rule if not rules.planned(name)), key=by_rule.__getitem__)
    if by_rule.get("basic", float("inf")) <= by_rule[rule] * NEARLY:
        rule = "basic"
    in_advance = min(by_rule, key=by_rule.__getitem__)
    always, fixed = by_rule[rule], by_rule[in_advance]
    less = (
        f", and **ε = {words.no_less(fixed)}** if the list is fixed in advance ({rules.LABELS[in_advance]})"
        if fixed * NEARLY < always
        else ", whether or not the list is fixed in advance"
    )
    return (
        f"{'This' if count == 1 else 'These'} {words.plural(count, 'answer')} cost **ε = {words.no_less(always)}** "
        f"together ({rules.LABELS[rule].lower() if rule == 'basic' else rules.LABELS[rule]}){less}."
    )


def _fit(found: Priced, budget: Budget | None, unit: str) -> str:
    if budget is None or found.fits is None:
        return "There is no budget yet to compare with."
    counts = counts_words(budget, found.hidden, unit)
    if found.fits:
        left = words.in_100(found.left_after, left=True)
        return f"They fit the budget of these people: {left} in 100 of it would be left.{counts}"
    return f"They do not fit what is left of the budget of these people.{counts}"


def _shares(wishes: Sequence[Wish], found: Priced, total: float) -> None:
    """What each answer could have if the whole of ``total`` went to this plan."""
    with st.expander(f"If ε = {words.amount(total, left=True)} went to this plan: how good could each answer be?"):
        rows = {}
        for one in found.prices:
            share = found.shares[one.rule]
            each = ", ".join(f"ε = {words.no_more(epsilon * share)}" for epsilon in found.epsilons)
            rows[rules.label(one.rule)] = f"{each} each"
        show_table(rows, alt="ε of each answer under each rule")
        st.caption("Found by calibration: the largest ε of each answer, in the same proportions, that keeps the total.")


def _described(found: Priced) -> str:
    parts = [f"{rules.label(one.rule)} {words.no_less(one.epsilon)}" for one in found.prices]
    return f"ε of the plan under each rule: {', '.join(parts)}."
