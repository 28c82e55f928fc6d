"""All that a private answer from a file still waits for, and one click for what the file suggested."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dashboard import session
from dashboard.budget import tracker
from dashboard.budget.may_open import barred
from dashboard.data import actions, private_answer, source, understood
from dashboard.data.bulk import undeclared
from dashboard.data.columns import kind
from dashboard.data.own_file import OwnFile
from dashboard.data.people import row_is, rows_each
from dashboard.words import asking as asking_said
from dashboard.words import columns as columns_said
from dashboard.words import data as said
from dpcore.datasets import Column
from dpcore.errors import LedgerError


def still_needed(own: OwnFile) -> None:
    """All that a private answer from this file waits for, at once."""
    lacking = private_answer.lacking(own)
    if own.described or not lacking:
        return
    with st.container(border=True):
        st.markdown(f"**{said.NEEDED}**")
        st.caption(said.NEEDED_ABOUT)
        for place, sentence in enumerate(lacking, 1):
            st.markdown(said.step(place, sentence))
            if sentence == private_answer.say_rows(own):
                rows_each(own)
        if private_answer.asks_confirmation(own):
            _suggested(own)
        open_ = [column.name for column in undeclared(own)]
        if open_:
            st.caption(asking_said.not_said(open_))
        open_ = [column.name for column in _declared_numbers(own) if column.sensitivity is None]
        if open_:
            st.caption(said.reach_open(own.schema.unit, open_))
        if own.lineage is not None and not _has_budget(own.lineage):
            why = barred()
            st.markdown(said.step(len(lacking) + 1, said.THEN_A_BUDGET if why is None else why[0]))


def _declared_numbers(own: OwnFile) -> tuple[Column, ...]:
    """The columns of numbers of a table of steps or options that may be asked about in private."""
    declared = own.columns.declared
    if declared is None or own.schema.each_row == "record" or own.rows.any_reach:
        return ()
    return tuple(column for column in declared.columns if column.is_numeric)


def _has_budget(lineage: str) -> bool:
    """Whether these people have a budget, as far as the ledger can say."""
    try:
        return tracker.in_ledger(lineage) is not None
    except LedgerError:
        return True  # the sidebar says why it cannot be asked


def _suggested(own: OwnFile) -> None:
    """What the file suggested, to be called right in one click."""
    open_, naming = own.columns.open, own.columns.naming
    st.caption(guessed(own, open_))
    if named := [name for name in open_ if name in naming]:
        st.markdown(columns_said.names_shown(named, own.schema.each_row))
    st.button(
        columns_said.RIGHT,
        icon=":material/check:",
        key="own-right",
        on_click=actions.of(own, _right),
        args=(whole(own),),
        help=columns_said.RIGHT_HELP,
    )


def whole(own: OwnFile) -> str:
    """All that one click calls right, also what the page has no room to tell."""
    return guessed(own, own.columns.open, most=None)


def guessed(own: OwnFile, names: Iterable[str], most: int | None = columns_said.MOST_TYPES) -> str:
    """What these columns hold, as far as the first ``most``, and what else the file suggested, for a person to call
    right; "" for nothing. What names rows comes first, and is told however many there are."""
    named, each = own.columns.naming, own.schema.each_row
    listed = sorted(names, key=lambda name: name not in named)
    found = ((name, kind(own.schema.column(name))) for name in listed)
    types = [(name, columns_said.names_rows(what, each) if name in named else what) for name, what in found]
    form = understood.form_suggested(own)
    if not (types or own.rows.open or form):
        return ""
    shown = None if most is None else max(most, sum(name in named for name in listed))
    return columns_said.suggested(types, row_is(own) if own.rows.open else "", form, shown)


def _right(told: str) -> None:
    """Callback: the person states what the file suggested, all of it being ``told``; nothing where that is no longer
    so, as when another table took its place meanwhile."""
    own = source.own_file()
    if own is None:
        return
    if whole(own) != told:
        session.say("own", said.CHANGED_MEANWHILE)
        return
    actions.decide(lambda _: own.confirm(own.columns.open))
