"""A table without a file: its columns are only described, and a twin is simulated from that."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import session, words
from dashboard.data import actions, declarations, source
from dashboard.data.columns import TYPES
from dashboard.data.decisions import Decisions
from dashboard.data.held import DESCRIBED_ROUND
from dashboard.data.own_file import OwnFile
from dashboard.widgets.inputs import text_box
from dashboard.words import data as said
from dpcore.datasets import Column, Schema
from dpcore.datasets.schema import ColumnType
from dpcore.errors import InvalidArgument


def start() -> None:
    """The first column of a new description."""
    st.markdown(
        "No file is needed to see what privacy would cost. Describe the columns, say how many people there are, "
        "and look at rows simulated from that alone."
    )
    _add("Start with this column")
    with st.popover(said.BRING, icon=":material/upload_file:"):
        declarations.bring(source.own_file())


def more(own: OwnFile) -> None:
    """One more column, or one fewer."""
    _add("Add this column")
    last = own.schema.names[-1]
    if len(own.schema.names) > 1:
        st.button(
            "Take the last column out",
            icon=":material/remove:",
            key="own-drop",
            on_click=actions.of(own, _drop),
            args=(last,),
        )


def _add(label: str) -> None:
    own = source.own_file()
    round_ = DESCRIBED_ROUND.get()
    with st.form("own-describe", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        text_box("Name of a column", most=80, key=f"own-new-name-{round_}", placeholder="age", width=220)
        st.selectbox(
            "Type",
            [kind for kind in TYPES if kind != "text"],
            key=f"own-new-type-{round_}",
            format_func=TYPES.__getitem__,
            width=180,
        )
        st.form_submit_button(label, on_click=actions.of(own, _added), args=(round_,), key="own-describe-go")


def _added(round_: int) -> None:
    name = " ".join(str(session.entered(f"own-new-name-{round_}", "")).split())
    kind: ColumnType = session.entered(f"own-new-type-{round_}", "category")
    own = source.own_file()
    if not name:
        session.say("own", "Give the column a name first.")
        return
    try:
        column = Column(name=name, type=kind)
        if own is None or not own.described:
            schema = Schema(columns=(column,))
            decisions = actions.after_reading(True, Decisions(schema=schema))
            fresh = OwnFile(name=said.DESCRIBED, data=b"", choices=(), reading=None, decisions=decisions)
            actions.put_in_place(fresh)
        else:
            actions.declare(lambda old: replace(old, columns=(*old.columns, column)))
    except InvalidArgument as error:
        session.say("own", words.sentence(error))
        return
    session.enter("own-column", name)
    DESCRIBED_ROUND.put(round_ + 1)


def _drop(name: str) -> None:
    actions.declare(lambda old: old.only(*(column for column in old.names if column != name)))
