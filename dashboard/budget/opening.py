"""Opening the budget of a person's own people: explained, reviewed, and confirmed once, because it is for good."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import tracker
from dashboard.budget.kinds import gaussian
from dashboard.budget.may_open import barred
from dashboard.case import Source
from dashboard.charts.dots import odds_grid
from dashboard.charts.ready import Ready
from dashboard.data import naming, people
from dashboard.data.actions import remember
from dashboard.data.source import ask_whose, joined, own_file
from dashboard.people import login, visitors
from dashboard.usual import hides, requested
from dashboard.widgets import inputs as controls
from dashboard.widgets import onward
from dashboard.widgets.inputs import text_box
from dashboard.widgets.tables import show_table
from dashboard.words import login as login_words
from dashboard.words import place
from dpcore.costs import Cost
from dpcore.errors import DpcoreError, InvalidArgument, KnownPeople
from dpcore.ledger import Budget
from dpcore.ledger.budget import Caps
from dpcore.validate import Neighbours

SUM, RHO = "sum", "zcdp"
KINDS = {SUM: "Plain sum: ε and δ add up like money", RHO: "Many small answers: counted in ρ"}
CAPTIONS = {
    SUM: "What is left can be spent on any page, and every bill is easy to check by hand. The usual choice.",
    RHO: "Worth it for dozens of small answers: more of them fit, and fewer large ones (“What each would allow” counts "
    "both). Needs a δ, and some questions cannot be asked then.",
}
_SIZES = (0.05, 0.5)  # ε of one answer, for what a budget would allow
HIDDEN = {
    "add_remove": "Hides whether any one of them is in the data, and what is said of them. The usual choice. It pays "
    "for every question but whom to follow day by day (Online experts).",
    "replace_one": "Hides what the data say of any one of them, and not whether they are in the data. It pays for "
    "every question; those that hide one added or removed cost twice the ε (four times the ρ).",
}
FITS = "Fits the question in view."
DELTAS = tuple(10.0**-power for power in range(5, 13))
KNOWN = "These people have a budget already, as below, and a cap is never changed. Nothing was opened."
STAYS = "This very file is about other people already, and stays with them. Nothing was opened."
HOW_LARGE = (
    "How large? What the answers that you plan need together, and no more: it can be neither raised nor lowered. Up to "
    "1 in all protects strongly, above 3 weakly."
)
_NOTE = "open-budget"


def offered(source: Source) -> bool:
    """Whether ``open_budget`` lets this person open one, once they said whose data these are; else it says why not."""
    return _barred(source) is None and source.lineage is not None


def _barred(source: Source) -> tuple[str, str | None] | None:
    """Why this person opens none at this page, in a sentence with its icon; None where they may."""
    if visitors.restricted():
        return barred()
    if tracker.lost(source):
        return login_words.NO_MORE, ":material/lock_person:"
    if source.in_place:  # its owner states it, and nobody at a page
        return place.NO_BUDGET if login.person() is None else place.NOT_SEEN, None
    return barred()


def open_budget(source: Source, neighbours: str = "replace_one", cost: Cost | None = None) -> None:
    """Say what a budget is, let the person choose, and open it after one more look. Nothing is written before.

    ``neighbours`` is what the question in view hides, offered first, and ``cost`` that of one answer to it.
    """
    if (why := _barred(source)) is not None:
        st.info(why[0], icon=why[1])
        return
    if source.lineage is None:
        onward.say(source.unreleased or "Say on the Data page whose data these are; then their budget can be opened.")
        return
    if asks_whose(source):
        return
    st.markdown(
        "**Before the first release, set the budget of these people.** It is the most that all private answers about "
        "them may reveal together, whatever file they come in. It is opened once and can never be changed, so whoever "
        "answers for these people's data sets it, by how much anybody may ever learn of one of them."
    )
    st.caption(
        "Several questions in mind? Try each of them at the ε that it needs, and add them up: “Plan answers” on the "
        "Budget page does, before anything is fixed. Other people's data get a budget of their own; new data about the "
        "same people, next year's too, are paid from this one."
    )
    left, right = st.columns([2, 1], gap="medium")
    unit = source.table.schema.unit
    with left:
        text_box(
            "Whose data are these? A name you will recognise later",
            most=80,
            key=naming.about("budget-name"),
            persist_state="session",
            placeholder="Patients of the north clinic, 2024",
        )
        st.radio(
            "How to count",
            list(KINDS),
            key=naming.about("budget-kind"),
            persist_state="session",
            format_func=KINDS.__getitem__,
            captions=list(CAPTIONS.values()),
        )
        st.radio(
            "Who is hidden",
            list(HIDDEN),
            index=list(HIDDEN).index(neighbours),
            key=naming.about("budget-neighbours"),
            persist_state="session",
            format_func=lambda name: f"Any {words.one_of(name, unit)}",
            captions=[f"{FITS} {told}" if cost and name == neighbours else told for name, told in HIDDEN.items()],
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.number_input(
                "Total ε",
                min_value=0.01,
                max_value=20.0,
                value=tracker.OFFERED_EPSILON,
                step=0.5,
                format="%g",
                key=naming.about("budget-epsilon"),
                persist_state="session",
                width=160,
            )
            offered = (0.0, *DELTAS) if _counting() == SUM else DELTAS
            st.selectbox(
                "δ",
                offered,
                index=offered.index(tracker.OFFERED_DELTA),
                key=naming.about("budget-delta"),
                persist_state="session",
                format_func=words.tiny,
                width=160,
                help="Keep it far below one in the number of people: one in a hundred times as many, or less. With 0, "
                "private training and advice followed day by day cannot be paid for.",
            )
        st.caption(HOW_LARGE)
        _pays_for(cost, neighbours)
        _allowed(source)
    with right:
        _promise(source)
    st.button(
        "Review this budget",
        icon=":material/visibility:",
        key="open-budget-review",
        on_click=session.begin_release,
        args=(_NOTE,),
    )
    told()
    if session.request_id(_NOTE) is not None:
        _confirm(source, cost, neighbours)


def asks_whose(source: Source) -> bool:
    """Ask here, too, whether these are people who have a budget, as long as that is open; whether it is."""
    own = own_file()
    if own is None or not own.alike or own.lineage != source.lineage:
        return False
    problem = session.note("own")
    if problem:
        st.warning(words.safe(problem, 400))
    people.ask_whose(own)
    return True


def told() -> None:
    """Why a budget was not opened, if so; also for where it turned out to be open already."""
    problem = session.note(_NOTE)
    if problem:
        st.error(problem)


def _counting() -> str:
    return RHO if session.entered(naming.about("budget-kind"), SUM) == RHO else SUM


def _allowed(source: Source) -> None:
    """What each way of counting would allow of each kind, as they are asked unless chosen otherwise, before one is
    chosen for good."""
    _, epsilon, delta = _chosen()
    schema = source.table.schema
    hidden = hides(schema)
    rows = []
    for counting, title in KINDS.items():
        try:
            planned = Budget.planned(epsilon=epsilon, delta=delta or DELTAS[1], counting=counting, neighbours=_hidden())
        except InvalidArgument:
            return
        fitting = {f"{kind} at ε = {words.amount(each)}": f"{many:,}" for kind, each, many in allowed(planned, hidden)}
        rows.append({"counting": title.split(":")[0], **fitting})
    with st.expander(f"What each would allow, of one kind alone that hides {words.one_of(hidden, schema.unit)}"):
        show_table(pd.DataFrame(rows).set_index("counting").T, alt="Answers that would fit")
        if not delta:
            st.caption(f"Trainings and ρ need a δ; reckoned here with δ = {words.failing(DELTAS[1])}.")


def allowed(planned: Budget, hidden: Neighbours) -> Iterator[tuple[str, float, int]]:
    """How many answers of each kind alone, at each ε of one, a budget pays for: as pages ask them unless chosen
    otherwise, also for their δ."""
    for epsilon in _SIZES:
        for kind, cost in _usual(epsilon, requested(planned.request_delta())).items():
            yield kind, epsilon, planned.answers_left(cost, hidden)


def _usual(epsilon: float, delta: float) -> dict[str, Cost]:
    return {
        "choices or counts": Cost.pure(epsilon),
        "medians": Cost.bounded_range(epsilon),
        "trainings": gaussian(epsilon, delta),
    }


def _pays_for(cost: Cost | None, neighbours: str) -> None:
    """How many answers to the question in view the budget would pay for. One with a δ takes another, by the budget's
    own, once that is open."""
    if cost is None or cost.delta:
        return
    _, epsilon, delta = _chosen()
    try:
        planned = Budget.planned(epsilon=epsilon, delta=delta, counting=_counting(), neighbours=_hidden())
    except InvalidArgument:
        return  # the review says why
    many = words.plural(planned.answers_left(cost, neighbours), "answer")
    st.markdown(f"This pays for **{many}** like the one in view, at its ε = {words.number(session.epsilon())}.")


def _hidden() -> Neighbours:
    hidden = session.entered(naming.about("budget-neighbours"), "add_remove")
    return "replace_one" if hidden == "replace_one" else "add_remove"


def _chosen() -> tuple[str, float, float]:
    """Name, ε and δ as they stand in the controls, and not yet checked."""
    name = str(session.entered(naming.about("budget-name"), "") or "").strip()
    epsilon = session.entered(naming.about("budget-epsilon"), 1.0)
    delta = session.entered(naming.about("budget-delta"), DELTAS[1])
    if delta is None or (delta == 0.0 and _counting() == RHO):  # chosen for the other way of counting
        delta = DELTAS[1]
    return name, float("nan") if epsilon is None else float(epsilon), float(delta)


def _promise(source: Source) -> None:
    _, epsilon, delta = _chosen()
    try:
        Caps.of(epsilon, delta, _counting())
    except InvalidArgument:
        return
    with st.container(border=True):
        st.markdown("**Once all of it is spent**")
        right = words.odds(epsilon, delta)
        st.plotly_chart(
            Ready(odds_grid(right, dark=session.dark())),
            key="budget-promise",
            theme=None,
            alt=f"100 dots: 50 right guesses before, at most {words.at_most(right)} with all answers.",
            config={"displayModeBar": False},
        )
        spent = _all_spent(_hidden(), epsilon, delta, source.table.schema.unit)
        st.markdown(spent.lines()[0])
        st.caption(spent.judged)
        st.caption(f"For each {words.safe(source.table.schema.unit)}, over all answers you will ever release.")


def _all_spent(hidden: Neighbours, epsilon: float, delta: float, unit: str) -> words.LabelCard:
    """What somebody could guess once all of it is spent, and whether that is usual."""
    return words.LabelCard(neighbours=hidden, epsilon=epsilon, delta=delta, unit=unit, of="all answers that fit")


def _confirm(source: Source, cost: Cost | None, neighbours: str) -> None:
    (name, epsilon, delta), hidden, counting = _chosen(), _hidden(), _counting()
    unit = source.table.schema.unit

    @st.dialog("Open this budget for good?", on_dismiss=lambda: session.end_release(_NOTE))
    def dialog() -> None:
        delta_words = f" with δ = {words.failing(delta)}" if delta else ""
        st.markdown(f"“{words.safe(name)}”: **ε = {words.amount(epsilon)}**{delta_words} for all answers together.")
        st.markdown(
            f"It hides **any {words.one_of(hidden, unit)}**, and counts by "
            f"**{KINDS[counting][0].lower()}{KINDS[counting][1:]}**."
        )
        _pays_for(cost, neighbours)
        st.markdown(_all_spent(hidden, epsilon, delta, unit).lines()[0])
        st.markdown(
            "It is for good, not for a year: it cannot be raised, refilled or deleted, and every later file about the "
            "same people, next year's too, is paid from it. Opening it charges nothing."
        )
        with st.container(horizontal=True):
            if st.button(
                controls.primary("Open it for good"),
                type="primary",
                key="budget-open",
                on_click=_open,
                args=(source.lineage, session.request_id(_NOTE), name, epsilon, delta, counting, hidden, unit),
            ):
                st.rerun()
            if st.button("Not yet", key="budget-not-yet", on_click=session.end_release, args=(_NOTE,)):
                st.rerun()

    if not name:
        session.end_release(_NOTE)
        st.error("Give the group a name first, so that you recognise its budget later.")
    elif not 0.01 <= epsilon <= 20.0:
        session.end_release(_NOTE)
        st.error("The total ε must be a number from 0.01 to 20.")
    else:
        dialog()


def _open(
    lineage: str,
    request_id: str | None,
    name: str,
    epsilon: float,
    delta: float,
    counting: str,
    hidden: Neighbours,
    unit: str,
) -> None:
    """Callback: open exactly what was reviewed. A second click, and opening the same budget twice, change nothing.

    The file becomes one of these people's with it, or nothing is opened: where somebody else has opened a budget for
    people who may be these, the person is asked first.
    """
    if request_id is None or session.request_id(_NOTE) != request_id:
        return
    session.end_release(_NOTE)
    own = own_file()
    own = None if own is None or own.lineage != lineage else own
    try:
        ledger = compute.ledger()
        file = None if own is None else own.brought(ledger.sketch_key)
        ledger.open_budget(
            lineage,
            epsilon=epsilon,
            delta=delta,
            counting=counting,
            neighbours=hidden,
            unit=unit,
            name=name,
            file=file,
        )
    except KnownPeople as error:
        if own is not None:
            ask_whose(own, error)
    except InvalidArgument as error:
        known = {"lineage": KNOWN, "fingerprint": STAYS}.get(error.argument)
        session.say(_NOTE, known or words.reason(f"The budget was not opened: {error}"))
    except DpcoreError as error:
        session.say(_NOTE, words.reason(error))
    else:
        if own is not None:
            joined(own)
            remember(own)
