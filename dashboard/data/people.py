"""Whose data these are: what one row is, how many rows one person can have, and which budget they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget.may_open import barred
from dashboard.data import actions, naming, private_answer, remembered, source
from dashboard.data.own_file import OwnFile
from dashboard.people import login
from dashboard.widgets.apart import apart
from dashboard.widgets.inputs import text_box
from dashboard.words import data as said
from dashboard.words import login as login_said
from dpcore.datasets.schema import MOST_PEOPLE, EachRow
from dpcore.errors import DpcoreError, InvalidArgument, KnownPeople, LedgerError, UnknownLineage
from dpcore.ledger import Budget
from dpcore.ledger.terms import ENDED
from dpcore.ledger.words import PERSON

ROWS = {"record": "one person or record", "option": "an option with its score", "step": "a step in time"}
OTHERS = "others"
NOT_SEEN = (
    "Recognised are files with columns or rows dropped, added, renamed or written otherwise; beside a file that you "
    "linked yourself, also with rows repeated, or several of each person. Not recognised are a few rows alone, a part "
    "of a file with coarse columns only, rows that any such file could hold, several rows of a person where others "
    "have one or none, changed values, and the same people asked something else. People whose file somebody else "
    "linked are recognised less surely, and hardly ever where many rows are repeated."
)


def row_is(own: OwnFile) -> str:
    """What a row is, to be called right: of records also that each is of one alone, of steps and options what none may
    be where people come and go."""
    row, unit = ROWS[own.schema.each_row], own.schema.unit
    if own.schema.each_row == "record":
        return said.row_alone(row, unit, own.together)
    return said.no_row_is(row, unit) if own.rows.stay else row


def rows(own: OwnFile) -> None:
    """What one row is, and how many rows one person can have, once that was said."""
    schema = own.schema
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "One row is",
            list(ROWS),
            index=list(ROWS).index(schema.each_row),
            key=f"own-each-row-{schema.each_row}",
            format_func=ROWS.__getitem__,
            on_change=actions.of(own, _each_row),
            args=(f"own-each-row-{schema.each_row}",),
            width=200,
        )
        text_box(
            "Protected: one",
            value=schema.unit,
            most=30,
            key=f"own-unit-{schema.unit}",
            on_change=actions.of(own, _unit),
            args=(f"own-unit-{schema.unit}",),
            width=110,
        )
    if schema.each_row != "record":
        if (told := row_is(own)) != ROWS[schema.each_row]:
            st.caption(f"One row is {told}.")
        st.caption(own.rows.moves)
    if own.decisions.asks_rows and (own.decisions.said_rows or own.described):  # else among what is needed
        rows_each(own)
    if schema.each_row == "record":
        _whose_row(own)
    how_many(own)


def rows_each(own: OwnFile) -> None:
    """How many rows one person can have, and what is so until somebody says it."""
    stated = stated_rows(own)
    ask_rows(own, f"own-rows-{stated}", value=stated, on_change=actions.of(own, _rows), args=(f"own-rows-{stated}",))
    if stated is None and not own.described:
        st.caption(said.rows_open(own.schema.unit, steps=own.schema.each_row == "step"))


def how_many(own: OwnFile) -> None:
    """About how many people there are, where somebody says so."""
    schema = own.schema
    key = f"own-people-{schema.people}"
    st.number_input(
        said.people(schema.unit),
        value=schema.people,
        min_value=1,
        max_value=MOST_PEOPLE,
        placeholder=said.PEOPLE_PLACEHOLDER,
        key=key,
        on_change=actions.of(own, _people),
        args=(key,),
        help=said.PEOPLE_HELP,
    )


def ask_rows(own: OwnFile, key: str, **shown: Any) -> None:
    """The field for how many rows one person can have: in the file, as what the steps make of each is known."""
    made, told = own.made, said.rows_help(own.schema.unit, steps=own.schema.each_row == "step")
    st.number_input(
        rows_label(own),
        min_value=1,
        max_value=MOST_PEOPLE // made,
        placeholder="please say",
        key=key,
        help=told if made == 1 else f"{told} {said.each_became(made)}",
        **shown,
    )


def rows_label(own: OwnFile) -> str:
    unit, steps = own.schema.unit, own.schema.each_row == "step"
    return said.rows_at_most(unit, steps=steps) if own.made == 1 else said.rows_in_file(unit, steps=steps)


def stated_rows(own: OwnFile) -> int | None:
    """How many rows in the file one person was said to have at most; None where nobody said."""
    return own.schema.rows_per_person // own.made if own.decisions.said_rows else None


def rows_stated(own: OwnFile, count: float | None) -> int:
    """Rows one person can have in the table, for ``count`` in the file; the least there can be where none was said."""
    return own.made * (1 if count is None else int(count))


def _whose_row(own: OwnFile) -> None:
    """The column by which the number of rows is enforced; without one it is the person's promise, and said so."""
    schema = own.schema
    names = list(schema.names)
    key = f"own-id-{len(names)}-{schema.id_column}"
    st.selectbox(
        said.ID_COLUMN,
        range(len(names)),
        index=None if schema.id_column is None else names.index(schema.id_column),
        key=key,
        format_func=apart(range(len(names)), lambda place: words.visible(names[place])),
        placeholder=said.ID_PLACEHOLDER,
        on_change=actions.of(own, _id_column),
        args=(key, tuple(names)),
        help=said.id_help(schema.unit),
    )
    if own.described or not own.decisions.said_rows:
        return
    if schema.id_column is None:
        st.caption(said.promised(schema.unit, own.together))
    else:
        st.caption(said.enforced(schema.unit, schema.rows_per_person, schema.id_column))


def _each_row(key: str) -> None:
    chosen: EachRow = session.entered(key, "record")
    each_row: EachRow = chosen if chosen in ROWS else "record"
    actions.decide(lambda old: old.rows_are(each_row=each_row))


def _id_column(key: str, names: tuple[str, ...]) -> None:
    place: int | None = session.entered(key, None)
    name = None if place is None else names[place]
    actions.decide(lambda old: old.rows_of(name))


def _people(key: str) -> None:
    count: float | None = session.entered(key, None)
    actions.declare(lambda schema: replace(schema, people=None if count is None else int(count)))


def _rows(key: str) -> None:
    count: float | None = session.entered(key, None)
    own = source.own_file()
    if own is not None:
        most = rows_stated(own, count)
        actions.declare(lambda schema: replace(schema, rows_per_person=most), said_rows=count is not None)


def _unit(key: str) -> None:
    unit = str(session.entered(key, "")).strip()
    actions.decide(lambda old: old.rows_are(unit=unit or "person"))


def may_see() -> list[str]:
    """The real people whom a file is compared with: without a login all on this server, else as the ledger says."""
    return compute.ledger().comparable()


def budget(own: OwnFile) -> None:
    """Which people the ledger takes these rows to be about, and how to say that they are others it knows."""
    if own.reading is None:
        return
    if own.lineage is None:
        st.warning("The budget ledger cannot be used now, so no private answer can be given from this file.")
        return
    if own.uncompared:
        st.warning(words.reason(own.uncompared), icon=":material/group:")
    if own.alike:
        ask_whose(own)
        return
    try:
        known = compute.ledger().chargeable()
        told = _whose_budget(own.lineage, known)
    except LedgerError as error:
        st.warning(words.reason(error))
        return
    if told:
        st.caption(told)
    elif known:
        names = {found.lineage: found.name for found in known}
        with st.form("own-group", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox(
                "If these people are in an earlier file, say in which",
                list(names),
                index=None,
                placeholder="It does not look like any; you may know better",
                key=naming.about("own-group-name"),
                format_func=apart(names, lambda lineage: words.visible(names.get(lineage, ""), 60), key=str),
                width=420,
                help="Two files about the same people share one budget, because an answer from either reveals them. "
                f"{NOT_SEEN}",
            )
            st.form_submit_button(
                "Use that budget for good", on_click=actions.of(own, _join_chosen), key=naming.about("own-group-join")
            )
    elif not own.uncompared and not private_answer.lacking(own):  # else it stands among what is lacking
        why = barred()
        st.caption(said.NO_BUDGET_YET if why is None else why[0])


def _whose_budget(lineage: str, known: Sequence[Budget]) -> str:
    """Whose budget the file's people have, and what whoever asks may have of it; empty where they have none that could
    be told. Raises LedgerError."""
    ledger, person = compute.ledger(), login.person()
    here = next((found for found in known if found.lineage == lineage), None)
    if here is None and person is not None:
        try:
            here = ledger.budget(lineage)
        except UnknownLineage:
            return login_said.NO_MORE if ledger.was_mine(lineage) else ""
    if here is None:
        return ""
    then = said.CHARGED_TO_THEM
    if person is not None:
        terms = ledger.terms(lineage)
        then = ENDED if terms.ended else then if terms.at_least(person.subject, "ask") else login_said.NOT_FOR_ASKING
    return f"These are the people of “{words.safe(here.name)}”. {then}"


def ask_whose(own: OwnFile) -> None:
    """Whether these are people the ledger knows: nothing is chosen beforehand, and "others" takes a reason. A file that
    was linked with its people stays with them."""
    names = {one.lineage: f"Yes, the people of “{one.name}”" for one in own.alike}
    st.warning(said.SAME_FILE if own.same else said.LOOKS_ALIKE, icon=":material/group:")
    choices = [*names] if own.same else [*names, OTHERS]
    chosen = st.radio(
        "Are these the same people?",
        choices,
        index=None,
        key=naming.about("own-whose"),
        format_func=apart(choices, lambda one: words.safe(names.get(one, "No, other people")), key=str),
        help=NOT_SEEN,
    )
    rest = [] if chosen in (None, OTHERS) else [one.name for one in own.alike if one.lineage != chosen]
    if rest:
        st.caption(said.SEVERAL)
    if chosen == OTHERS or rest:
        text_box(
            said.why_not_in_it(rest) if rest else said.WHY_OTHERS,
            key=naming.about("own-why"),
            most=1000,
            placeholder="These are the patients of the year after, and nobody came in both years.",
            lines=True,
        )
    st.button(
        "Keep this answer for good",
        key=naming.about("own-whose-keep"),
        disabled=chosen is None,
        on_click=actions.of(own, _others) if chosen == OTHERS else actions.of(own, _join),
        args=() if chosen == OTHERS else (str(chosen),),
    )


def _join_chosen() -> None:
    chosen: str | None = session.entered(naming.about("own-group-name"), None)
    if not chosen:
        session.say("own", "Choose the earlier group first; for other people there is nothing to do here.")
        return
    _join(str(chosen))


def _join(lineage: str) -> None:
    own = source.own_file()
    if own is None or own.as_read is None:
        return
    try:
        ledger = compute.ledger()
        # a hand-made choice may be any text: only people with a budget of their own were offered
        offered = {one.lineage for one in own.alike} | {budget.lineage for budget in ledger.chargeable()}
        if lineage not in offered:
            session.say("own", "Choose one of the groups that are offered; nothing was changed.")
            return
        why = str(session.entered(naming.about("own-why"), "") or "") if len(own.alike) > 1 else ""
        if (file := own.brought(ledger.sketch_key, because=why)) is not None:
            ledger.join(file, lineage)
        protected = ledger.protects(lineage)
    except KnownPeople as error:
        source.ask_whose(own, error)
        if len(error.found) > 1:
            session.say("own", said.SAY_WHY)
        return
    except InvalidArgument as error:
        session.say("own", said.SAY_WHY if error.argument == "because" else words.sentence(error))
        return
    except DpcoreError as error:
        session.say("own", words.sentence(error))
        return
    own = replace(own, lineage=lineage, alike=(), same=False, joined=True, uncompared="")
    source.keep(replace(own, remembered=remembered.known(own)).noted("You said whose data these are."))
    if protected is not None and own.schema.unit == PERSON:  # nobody said otherwise: as all answers about them
        actions.decide(lambda old: old.rows_are(unit=protected))


def _others() -> None:
    """Callback: the reason goes on the record, for each of those that the file looks like, or nothing happens."""
    own = source.own_file()
    if own is None or own.lineage is None or own.same:
        return
    why = str(session.entered(naming.about("own-why"), "") or "")
    lineage = own.lineage
    try:
        ledger = compute.ledger()
        if (file := own.brought(ledger.sketch_key, because=why)) is None:
            return
        if lineage in {one.lineage for one in own.alike}:  # others than whose the file was before it was read anew
            lineage = ledger.new_lineage()
        for one in own.alike:
            ledger.say_others(file, lineage, than=one.lineage)
    except InvalidArgument:
        session.say("own", said.SAY_WHY)
        return
    except DpcoreError as error:
        session.say("own", words.sentence(error))
        return
    source.keep(replace(own, lineage=lineage, alike=()).noted("You said, on the record, why these are other people."))
