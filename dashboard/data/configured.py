"""Sources that the people who run this server have configured: chosen on the Data page, and never typed there."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import session, words
from dashboard.background import compute, places
from dashboard.background.once import once
from dashboard.data import actions, remembered
from dashboard.data import people as whose
from dashboard.data.own_file import OwnFile
from dashboard.data.place import Place, placed
from dashboard.people import visitors
from dashboard.widgets.apart import apart
from dashboard.words import place as said
from dpcore.datasets.in_place import ConfiguredSource, configured_sources
from dpcore.errors import DpcoreError, InvalidArgument, UnreadableFile

_KEPT = 20  # seconds for which a database's list of tables is good


def offered() -> bool:
    """Whether there is anything to choose; not for visitors who could be answered nothing: those that nobody vouches
    for, and where there is a login those who may not ask."""
    if visitors.restricted() or compute.no_files():
        return False
    try:
        return bool(configured_sources())
    except InvalidArgument:
        return True  # choosing says what is wrong


def choose() -> None:
    """Source and table, and the button that takes them."""
    try:
        listed = {one.name: one for one in configured_sources()}
    except InvalidArgument:
        st.warning(said.UNLISTED)
        return
    st.caption(said.ABOUT_SOURCES)
    labels = {one.name: words.visible(one.label) for one in listed.values()}
    name = st.selectbox(
        said.CHOOSE, list(labels), key="place-source", format_func=apart(labels, labels.__getitem__), width=420
    )
    if name is None or name not in listed:
        return
    try:
        with places.aside():  # a database may be silent
            tables = _tables(listed[name])
    except UnreadableFile as error:
        st.warning(words.reason(error))
        return
    if not tables:
        st.warning(said.NO_TABLES)
        return
    table: str | None = tables[0]
    if tables != ("",):
        table = st.selectbox(
            said.TABLE, tables, key=f"place-table-{name}", format_func=apart(tables, words.visible), width=420
        )
    st.caption(said.budget(listed[name].epsilon, listed[name].delta))
    st.button(said.USE, key="place-use", type="primary", icon=":material/database:", on_click=_use, args=(name, table))


@once(most=32, seconds=_KEPT)
def _tables(source: ConfiguredSource) -> tuple[str, ...]:
    return source.tables()


def _use(name: str, table: str | None) -> None:
    """Callback: take the table, and open the source's budget where that is not yet done."""
    source = next((one for one in _listed() if one.name == name), None)
    if no_files := compute.no_files():
        session.say("own", no_files)
        return
    if source is None or table is None or visitors.restricted():
        return
    try:
        with places.aside():
            own = placed(source, table)
    except InvalidArgument:
        session.say("own", said.NO_PERSON)
        return
    except UnreadableFile as error:
        session.say("own", words.sentence(error))
        return
    _open_budget(source)
    # whose it is can be told now that there is a budget, and is before anything else is kept for them
    actions.put_in_place(replace(own, remembered=remembered.known(own)))


def _listed() -> tuple[ConfiguredSource, ...]:
    try:
        return configured_sources()
    except InvalidArgument:
        return ()


def _open_budget(source: ConfiguredSource) -> None:
    """The budget as configured, by whoever may open one; one that was opened otherwise stays, and that is said."""
    try:
        ledger = compute.ledger()
        if "owner" not in compute.roles() and source.lineage in {budget.lineage for budget in ledger.budgets()}:
            return
        ledger.open_budget(
            source.lineage,
            epsilon=source.epsilon,
            delta=source.delta,
            neighbours=source.hides,
            unit=source.unit,
            name=source.label,
        )
    except InvalidArgument as error:
        session.say("own", said.OTHER_BUDGET if error.argument == "lineage" else words.sentence(error))
    except DpcoreError as error:
        session.say("own", words.sentence(error))


def held(own: OwnFile) -> None:
    """Which source is in use, and a way out of it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/database: **{words.safe(own.name)}**", width="stretch")
        st.button(said.OTHER, icon=":material/swap_horiz:", key="own-remove", on_click=actions.of(own, actions.remove))


def understood(own: OwnFile, place: Place) -> None:
    """What is known before anything is asked: the schema, and what its owner states."""
    with st.container(gap="xsmall"):
        st.markdown(f":material/view_column: {said.rows_stay(len(own.schema.names))}")
        st.markdown(f":material/person: {_stated(place)}")
        st.caption(said.ASKED_PRIVATELY)


def people(own: OwnFile, place: Place) -> None:
    """Whose data these are, as their owner states; about how many, anyone may say."""
    source = place.source
    st.markdown(_stated(place))
    whose.how_many(own)
    st.caption(said.budget(source.epsilon, source.delta))


def _stated(place: Place) -> str:
    """What the owner of the source states of its people, and of the table."""
    source = place.source
    told = said.whose(source.unit, source.rows_per_person, source.id_column)
    return f"{told} {said.ROW_BY_ROW}" if "row by row" in place.form else told
