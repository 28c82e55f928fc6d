"""Whose data these are: what one row is, how many rows one person can have, and which budget they have."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.data import actions, source
from dashboard.data.own_file import OwnFile
from dpcore.datasets.schema import EachRow
from dpcore.errors import DpcoreError, LedgerError

ROWS = {"record": "one person or record", "option": "an option with its score", "step": "a step in time"}
NEW = ""


def rows(own: OwnFile) -> None:
    """What one row is, and how many rows one person can have; the second is asked because it cannot be read."""
    schema = own.schema
    said = schema.rows_per_person if own.decisions.said_rows else None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "One row is",
            list(ROWS),
            index=list(ROWS).index(schema.each_row),
            key=f"own-each-row-{schema.each_row}",
            format_func=ROWS.__getitem__,
            on_change=_each_row,
            args=(f"own-each-row-{schema.each_row}",),
            width=200,
        )
        st.text_input(
            "Protected: one",
            value=schema.unit,
            max_chars=30,
            key=f"own-unit-{schema.unit}",
            on_change=_unit,
            args=(f"own-unit-{schema.unit}",),
            width=110,
        )
    if schema.each_row == "option":
        st.caption("How far one person can move a score is asked for each column of scores, under Columns.")
        return
    st.number_input(
        f"Rows one {words.safe(schema.unit)} can have, at most",
        value=said,
        min_value=1,
        max_value=1_000_000,
        placeholder="please say",
        key=f"own-rows-{said}",
        on_change=_rows,
        args=(f"own-rows-{said}",),
        help="Private answers hide a person with all their rows. A file cannot show how many there could have been.",
    )
    if not own.decisions.said_rows and not own.described:
        st.caption("Until you say how many rows one person can have, charts take one, and nothing can be released.")


def _each_row(key: str) -> None:
    chosen: EachRow = session.entered(key, "record")
    actions.declare(lambda schema: replace(schema, each_row=chosen if chosen in ROWS else "record"))


def _rows(key: str) -> None:
    count: float | None = session.entered(key, None)
    if count is None:
        actions.declare(lambda schema: replace(schema, rows_per_person=1), said_rows=False)
    else:
        actions.declare(lambda schema: replace(schema, rows_per_person=int(count)), said_rows=True)


def _unit(key: str) -> None:
    unit = str(session.entered(key, "")).strip()
    actions.declare(lambda schema: replace(schema, unit=unit or "person"))


def budget(own: OwnFile) -> None:
    """Which people the ledger takes these rows to be about, and how to say that they are others it knows."""
    if own.reading is None:
        return
    if own.lineage is None:
        st.warning("The budget ledger cannot be used now, so nothing can be released from this file.")
        return
    if own.alike is not None:
        _alike(own)
        return
    try:
        known = [found for found in compute.ledger().budgets() if not found.practice]
    except LedgerError as error:
        st.warning(words.sentence(error))
        return
    here = next((found for found in known if found.lineage == own.lineage), None)
    if here is not None:
        st.caption(
            f"These are the people of “{words.safe(here.name)}”. Releases from this file are charged to their budget, "
            "whatever the file is called."
        )
    elif known:
        names = {found.lineage: found.name for found in known}
        with st.form("own-group", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox(
                "Are these people in an earlier file?",
                [NEW, *names],
                key="own-group-name",
                format_func=lambda lineage: words.visible(names.get(lineage, "No, other people")),
                width=300,
                help="Two files about the same people share one budget, because an answer from either reveals them.",
            )
            st.form_submit_button("Use that budget for good", on_click=_join_chosen, key="own-group-join")
    else:
        st.caption("These people have no budget yet. You set one before the first release.")


def _alike(own: OwnFile) -> None:
    if own.alike is None:
        return
    share = max(1, round(100 * own.alike.share))
    st.warning(
        f"About {share} in 100 rows of this file are also in an earlier file about “{words.safe(own.alike.name)}”. "
        "Are these the same people? If they are, they share one budget, and that cannot be undone.",
        icon=":material/group:",
    )
    with st.container(horizontal=True):
        st.button("Yes, the same people", key="own-same", on_click=_join, args=(own.alike.lineage,))
        st.button("No, other people", key="own-other", on_click=_others)


def _join_chosen() -> None:
    chosen = str(session.entered("own-group-name", NEW))
    if chosen == NEW:
        session.say("own", "Choose the earlier group first; for other people there is nothing to do here.")
        return
    _join(chosen)


def _join(lineage: str) -> None:
    own = source.own_file()
    if own is None or own.reading is None:
        return
    try:
        compute.ledger().link(own.reading.fingerprint, lineage, own.marks)
    except DpcoreError as error:
        session.say("own", words.sentence(error))
        return
    source.keep(replace(own, lineage=lineage, alike=None).noted("You said whose data these are."))


def _others() -> None:
    own = source.own_file()
    if own is not None:
        source.keep(replace(own, alike=None).noted("You said that these are other people than in the earlier file."))
