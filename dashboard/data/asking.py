"""The question first: what was understood in three lines, what can be asked, and what the chosen question needs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import catalogue, session
from dashboard.case import OWN, Source
from dashboard.data import actions, checklist, configured, doubts, naming, source, suits, use, working
from dashboard.data.asked import Asked
from dashboard.data.columns import TYPES
from dashboard.data.held import OWN_ASKED
from dashboard.data.own_file import OwnFile
from dashboard.data.people import ROWS
from dashboard.data.suits import Suited
from dashboard.widgets import inputs
from dashboard.words import asking as said
from dashboard.words import columns as columns_said
from dpcore.datasets import OneRowPer, Schema, SplitOptions, TicksToRows
from dpcore.datasets.schema import EachRow

MOST_OPTIONS = 20
"""Different words of a column of options that are still easily asked about."""
FIRST = 3
"""Questions that are seen at once; more are folded."""


def show_asking(own: OwnFile) -> bool:
    """Draw it; whether a question was chosen, which then stands alone."""
    asked = OWN_ASKED.get()
    chosen = None if asked is None else asked.among(own.schema)
    if asked is not None and chosen is None:
        OWN_ASKED.forget()
    if asked is not None and chosen is not None and asked.opening:
        _open(chosen)
        return True
    with st.container(border=True, key="own-asking"):
        if own.place is not None:
            configured.understood(own, own.place)
        if own.reading is not None:
            _understood(own)
        files = [doubt for doubt in own.doubts if doubt.startswith("file:")]
        if files:
            doubts.show_doubts(own, files)
            return False
        if chosen is None:
            _questions(own)
        else:
            _needs(own, chosen)
    return chosen is not None


def _understood(own: OwnFile) -> None:
    """Rows, columns, who one row is: three lines, the last to be corrected in one click."""
    if own.reading is None:
        return
    schema, report = own.schema, own.reading.report
    aside = sum(notice.count or len(notice.lines) for notice in report.set_aside)
    with st.container(gap="xsmall"):
        st.markdown(f":material/table_rows: {said.rows_read(report.rows, aside)}")
        st.markdown(f":material/view_column: {said.columns_read({kind: len(schema.of_type(kind)) for kind in TYPES})}")
        by_time = schema.each_row == "step" and schema.unit == said.USUAL_UNIT
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            stated = own.decisions.said_row
            told = [said.one_row(ROWS[schema.each_row], stated), *([said.hidden(schema.unit)] if by_time else [])]
            st.markdown(f":material/person: {' '.join(told)}", width="content")
            with st.popover(said.CHANGE_ROW if stated else said.NOT_SO, type="tertiary", key="own-not-so"):
                for each, what in ROWS.items():
                    if each != schema.each_row:
                        st.button(
                            said.row_instead(what),
                            key=f"own-row-{each}",
                            type="tertiary",
                            on_click=actions.of(own, _row),
                            args=(each,),
                        )
                for unit in said.UNITS if by_time else ():
                    st.button(
                        said.hidden_instead(unit),
                        key=f"own-unit-{unit}",
                        type="tertiary",
                        on_click=actions.of(own, _unit),
                        args=(unit,),
                    )
            for step in own.reading.suggested_steps:
                if isinstance(step, OneRowPer) and step.how == "count" and step not in own.steps:
                    st.button(
                        said.row_per(step.by),
                        key="own-row-per",
                        type="tertiary",
                        on_click=actions.of(own, _one_row_per),
                        args=(step,),
                    )


def _row(each: EachRow) -> None:
    actions.decide(lambda old: old.rows_are(each_row=each))


def _one_row_per(step: OneRowPer) -> None:
    own = source.own_file()
    if own is not None:
        working.do((*own.steps, step), columns_said.step_taken(step.sentence))


def _unit(unit: str) -> None:
    actions.decide(lambda old: old.rows_are(unit=unit))


def _questions(own: OwnFile) -> None:
    """What these columns can be asked, the best first, each a click."""
    shown = source.held()
    schema = own.schema if shown is None else both(shown.table.schema, own.schema)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(gap="xxsmall", width="stretch"):
            st.header(said.ASK, anchor=False)
            st.caption(said.ASK_FIRST)
        name = suits.about(schema, key="own")
    found = suits.best_first(suits.questions(_telling_first(own, schema), name))
    there = () if shown is None else shown.table.schema.names
    found.sort(key=lambda suited: (not set(suited.way.about) <= set(there), _tells_nothing(own, suited)))
    if not found:
        st.caption(said.NOTHING_SUITS)
        return
    few = len(found) if len(found) <= FIRST + 1 else FIRST
    with st.grid(2, min_column_width=330, gap="small"):
        _buttons(own, found, shown, range(few))
    if few < len(found):
        with st.expander(said.more_questions(len(found) - few)), st.grid(2, min_column_width=330, gap="small"):
            _buttons(own, found, shown, range(few, len(found)))


def _buttons(own: OwnFile, found: list[Suited], shown: Source | None, places: range) -> None:
    """Some of the questions; the first of all is the one that stands out."""
    there = () if shown is None else shown.table.schema.names
    for place in places:
        suited = found[place]
        page = suited.page.key
        before = sum(other.page.key == page for other in found[:place])
        label = suits.sentence(suited) if place else inputs.primary(suits.sentence(suited))
        look: dict[str, Any] = {
            "key": f"own-{page}-{before}",
            "icon": suited.page.icon,
            "width": "stretch",
            "type": "primary" if place == 0 else "secondary",
        }
        if shown is not None and set(suited.way.about) <= set(there):
            suits.button(label, suited.page, suits.choices(suited.way, shown.key), OWN, **look)
        else:
            st.button(label, on_click=actions.of(own, _ask), args=(Asked.of(suited),), **look)


def both(shown: Schema, schema: Schema) -> Schema:
    """The columns that pages show, then those that still need something: not declared, or to be read in two ways.

    Columns that a step has taken away are shown until the table after it is prepared, and left out here.
    """
    kept = tuple(column for column in shown.columns if column.name in schema.names)
    rest = tuple(column for column in schema.columns if column.name not in shown.names)
    whose = shown.id_column if shown.id_column in schema.names else None
    return replace(shown, columns=(*kept, *rest), id_column=whose)


def _telling_first(own: OwnFile, schema: Schema) -> Schema:
    """Columns of a few options before those of many, those whose cells name several and those whose options are equally
    common: questions begin with the first.

    Only what is offered follows from it: a person clicks on the question, and so names its column.
    """
    reading = own.reading
    if reading is None:
        return schema
    several = {step.column for step in reading.suggested_steps if isinstance(step, SplitOptions)}

    def rank(name: str) -> int:
        if schema.column(name).type != "category":
            return 0
        return 2 if name in several or reading.column(name).distinct > MOST_OPTIONS else int(_even(own, name))

    return schema.only(*sorted(schema.names, key=rank))


def _tells_nothing(own: OwnFile, suited: Suited) -> bool:
    """Whether it asks for the most common of options that are equally common."""
    return suited.way.form == "most_common" and _even(own, suited.way.about[0])


def _even(own: OwnFile, name: str) -> bool:
    typed = source.typed_columns(own)
    return typed is not None and typed.even(name)


def _ask(asked: Asked) -> None:
    """Callback: a table without values here in which all is declared needs nothing more."""
    OWN_ASKED.put(asked)
    own = source.own_file()
    suited = None if own is None else asked.among(own.schema)
    if own is not None and suited is not None and own.unseen and not checklist.asks(own, suited):
        checklist.made_up(own)
        OWN_ASKED.put(replace(asked, opening=True))


def _needs(own: OwnFile, suited: Suited) -> None:
    """The chosen question, and what it needs before its chart."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(suits.sentence(suited), anchor=False, width="stretch")
        st.button(said.OTHER_QUESTION, icon=":material/arrow_back:", key="own-ask-other", on_click=OWN_ASKED.forget)
    lead = [doubt for doubt in own.doubts if doubt in suited.way.about]
    if lead:
        doubts.show_doubts(own, doubts.with_those_alike(own, lead), key="own-asked-reading")
        return
    if own.unseen:
        checklist.show(own, suited)
        return
    several = _several(own, suited)
    if several is not None:
        _cells(own, several)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left, st.container(border=True):
        st.markdown(f":material/lock: **{said.PRIVATE}**")
        checklist.show(own, suited)
    with right, st.container(border=True):
        _look(own)


def _several(own: OwnFile, suited: Suited) -> SplitOptions | None:
    """The column asked about, where its cells seem to name several options and nobody said how they count."""
    asked = OWN_ASKED.get()
    if own.reading is None or asked is None or asked.whole:
        return None
    steps = [step for step in own.reading.suggested_steps if isinstance(step, SplitOptions)]
    return next((step for step in steps if step.column == suited.way.about[0]), None)


def _cells(own: OwnFile, step: SplitOptions) -> None:
    """Two ways to count cells that name several options: in the wrong one single ticks alone would win."""
    st.markdown(f":material/rule: **{said.several(step.column)}**")
    left, right = st.columns(2, gap="medium")
    key = _ticks(step)
    with left, st.form("own-ticks", border=False):
        working.sign(key)
        st.number_input(
            columns_said.SPLIT_MOST, key=f"{key}-most", value=None, min_value=1, max_value=200, placeholder=said.SAY
        )
        st.form_submit_button(
            inputs.primary(said.EACH_OPTION),
            key="own-ticks-go",
            type="primary",
            on_click=actions.of(own, _each_option),
            args=(step,),
        )
    with right:
        st.caption(said.WHOLE_CELL_ABOUT)
        st.button(said.WHOLE_CELL, key="own-ticks-whole", on_click=actions.of(own, _whole_cell))


def _ticks(step: SplitOptions) -> str:
    """How the form's entries are named: those about another column are others."""
    return naming.about(f"own-ticks-{naming.named(step.column)}")


def _each_option(step: SplitOptions) -> None:
    own = source.own_file()
    most: float | None = session.entered(f"{_ticks(step)}-most", None)
    if own is None or most is None:
        session.say("own", said.SAY_MOST)
        return
    separator = working.stated_sign(_ticks(step))
    if separator is None:
        return
    mark = working.decimal_mark()
    ticks = TicksToRows(column=step.column, separator=separator, most=int(most), decimal=mark)
    working.do((*own.steps, ticks), columns_said.step_taken(ticks.sentence))


def _whole_cell() -> None:
    asked = OWN_ASKED.get()
    if asked is not None:
        OWN_ASKED.put(replace(asked, whole=True))


def _look(own: OwnFile) -> None:
    st.markdown(f":material/visibility: **{said.LOOK}**")
    st.checkbox(use.PUBLIC, key=actions.public_key(own), value=own.confirmed, help=f"{said.NOT_SHOWN} {said.LOOKED_AT}")
    if own.doubts:
        st.caption(said.left_out(own.doubts))
    st.button(
        said.SHOW_FILE,
        icon=":material/show_chart:",
        key="own-asked-look",
        on_click=actions.of(own, _looked),
    )


def _looked() -> None:
    actions.look()
    asked, own = OWN_ASKED.get(), source.own_file()
    if asked is not None and own is not None and own.use == "what_if":
        OWN_ASKED.put(replace(asked, opening=True))


def _open(suited: Suited) -> None:
    """Go to the question's page once its data are there; where they cannot be prepared, back to what it needs."""
    shown, own = source.held(), source.own_file()
    if actions.running() is not None:
        return
    OWN_ASKED.forget()
    if (
        shown is None
        or own is None
        or shown.mode != own.use
        or not set(suited.way.about) <= set(shown.table.schema.names)
    ):
        st.rerun()
    sets: dict[str, Hashable] = suits.choices(suited.way, shown.key)
    suits.choose(sets, OWN)
    session.leave("own-about")
    st.switch_page(catalogue.address(suited.page.key))
