"""All that one question needs to be shown with the file kept private, in one form."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.data import actions, bulk, doubts, editor, naming, source
from dashboard.data.asked import used
from dashboard.data.bulk import row, statements, undeclared
from dashboard.data.decisions import WORDS, Decisions, read_as
from dashboard.data.held import OWN_ASKED
from dashboard.data.needed import guessed
from dashboard.data.own_file import OwnFile, TwinPlan
from dashboard.data.people import ask_rows, row_is, rows_stated
from dashboard.data.suits import Suited
from dashboard.data.use import MOST_ROWS
from dashboard.widgets import inputs
from dashboard.words import asking as said
from dashboard.words import columns as columns_said
from dashboard.words import place
from dpcore.datasets import Column

USUAL_ROWS = 500
_FORM = "own-asked"


def asks(own: OwnFile, suited: Suited) -> tuple[Column, ...]:
    """Columns that take part in a question and lack bounds or public options, the leading ones first."""
    return _open(own, suited)[: bulk.MOST]


def _open(own: OwnFile, suited: Suited) -> tuple[Column, ...]:
    open_ = {column.name: column for column in undeclared(own)}
    return tuple(open_[name] for name in used(suited) if name in open_)


def show(own: OwnFile, suited: Suited) -> None:
    """What happens on this way, and the form: folded while there are values to say, so that whoever may look at the
    file reads no more than that."""
    private = said.DESCRIBED_ABOUT if own.described else said.PRIVATE_ABOUT
    st.caption(private if own.place is None else place.ABOUT)
    problem = session.note(_FORM)
    waiting = asks(own, suited)
    if own.unseen or not waiting:
        _fields(own, suited, problem)
        return
    begun = bool(problem) or any(column.name in own.decisions.copied for column in waiting)
    with st.expander(said.FIELDS, icon=":material/edit_note:", key="own-asked-fields", expanded=begun):
        _fields(own, suited, problem)


def _fields(own: OwnFile, suited: Suited, problem: str | None) -> None:
    """What takes part, and a field for each thing that is to be said of it."""
    waiting = asks(own, suited)
    lead = [column for column in waiting if column.name in suited.way.about]
    others = [column for column in waiting if column.name not in suited.way.about]
    about, all_ = suited.way.about, used(suited)
    doubts.show_doubts(own, own.form.doubts, key="own-asked-form")
    st.markdown(said.takes_part(about, [name for name in all_ if name not in about]))
    if waiting:
        st.caption(said.WHAT_COULD_BE if own.place is None else place.WHAT_COULD_BE)
    for column in lead:
        if column.type in WORDS and not column.categories and own.reading is not None:
            st.button(
                columns_said.COPY,
                icon=":material/content_copy:",
                key=f"own-asked-copy-{editor.mark(column)}",
                help=columns_said.COPY_HELP,
                on_click=actions.of(own, editor.copy),
                args=(column.name,),
            )
    with st.form(_FORM, border=False):
        for column in lead:
            row(column, _key(column), draft=True, either=_either(own, column))
        if others:
            st.caption(said.others(suited.way.least, len(suited.way.others)))
        _others(own, others)
        if not own.unseen:
            _public(own, waiting)
            _people(own)
        if not own.described:
            _right(own, suited)
        rows = USUAL_ROWS if own.schema.people is None else min(own.schema.people, MOST_ROWS)
        st.number_input(
            said.ROWS_MADE_UP,
            value=rows,
            min_value=1,
            max_value=MOST_ROWS,
            key=naming.about(f"{_FORM}-made"),
            width=180,
        )
        if problem:
            st.warning(words.safe(problem, 400))
        st.form_submit_button(
            inputs.primary(said.SHOW_MADE_UP),
            icon=":material/show_chart:",
            key=f"{_FORM}-go",
            type="primary",
            on_click=actions.of(own, _stated),
            args=(suited,),
        )


def _either(own: OwnFile, column: Column) -> bool:
    return "yes/no" in own.types(column.name)


def _others(own: OwnFile, others: list[Column]) -> None:
    """Rows of the columns beside the leading one: several of numbers have one row in common, and their own folded."""
    numbers = [column for column in others if column.is_numeric]
    alike = numbers if len(numbers) >= bulk.FEWEST else []
    if alike:
        row(Column(name=said.ALL_NUMBERS, type="number"), naming.about(f"{_FORM}-all"))
        st.caption(said.all_numbers([column.name for column in alike]))
        with st.expander(said.ONE_BY_ONE):
            for column in alike:
                row(column, _key(column), draft=True)
    for column in others:
        if column not in alike:
            row(column, _key(column), draft=True, either=_either(own, column))


def _key(column: Column) -> str:
    return f"{_FORM}-{column.name}-{editor.mark(column)}"


def _public(own: OwnFile, waiting: tuple[Column, ...]) -> None:
    for copied in (False, True):
        listed = _listed(own, waiting, copied=copied)
        if listed:
            st.checkbox(
                columns_said.NOT_HIDDEN if copied else columns_said.BULK_PUBLIC,
                key=_public_key(listed, copied=copied),
                help=f"{columns_said.NOT_HIDDEN_HELP if copied else columns_said.ANYONE_HELP} {said.WORDS_HELP}",
            )


def _listed(own: OwnFile, waiting: tuple[Column, ...], *, copied: bool) -> tuple[str, ...]:
    """Columns of options whose list was taken over from the file, or those whose was not."""
    here = own.decisions.copied
    return tuple(one.name for one in waiting if one.type in WORDS and (one.name in here) == copied)


def _public_key(listed: tuple[str, ...], *, copied: bool) -> str:
    """Another one for each statement and what it is about: a tick must not stay while its sentence changes."""
    return naming.about(f"{_FORM}-public-{naming.named(repr((copied, listed)))}")


def _people(own: OwnFile) -> None:
    if own.decisions.asks_rows and not own.decisions.said_rows:
        ask_rows(own, naming.about(f"{_FORM}-rows"), value=None, width=250)


def _right(own: OwnFile, suited: Suited) -> None:
    """What the file suggested of what takes part, for the person to state."""
    told = guessed(own, _unconfirmed(own, suited))
    if told:
        st.checkbox(said.right(told), key=_right_key(own, suited), help=columns_said.RIGHT_HELP)
        if not set(own.columns.open).isdisjoint(own.columns.naming):
            st.caption(said.names_later(own.schema.each_row))


def _unconfirmed(own: OwnFile, suited: Suited) -> tuple[str, ...]:
    """Without what names rows, which the page asks with what that means."""
    columns = own.columns
    asked, named = dict.fromkeys((*used(suited), *columns.suggested)), columns.naming
    return columns.unconfirmed(name for name in asked if name not in named)


def _right_key(own: OwnFile, suited: Suited) -> str:
    named = [read_as(own.schema.column(name)) for name in _unconfirmed(own, suited)]
    return naming.about(f"{_FORM}-right-{naming.named(repr((named, row_is(own), own.form.suggested)))}")


def _stated(suited: Suited) -> None:
    """Callback of the form: all of it is one change; what the chart still lacks is one sentence."""
    own, asked = source.own_file(), OWN_ASKED.get()
    if own is None or asked is None:
        return
    common = {
        part: session.entered(f"{naming.about(f'{_FORM}-all')}-{part}", None) for part in ("usual", "low", "high")
    }
    waiting = asks(own, suited)
    fresh: list[Column] = []
    wrong: list[str] = []
    for copied in (False, True):
        listed = _listed(own, waiting, copied=copied)
        public = own.unseen or bool(session.entered(_public_key(listed, copied=copied), False))
        names = [column.name for column in waiting if (column.name in own.decisions.copied) == copied]
        lead = [name for name in names if name in suited.way.about]
        for some, shared in ((lead, None), ([name for name in names if name not in lead], common)):
            found = statements(own, some, _key, public=public, common=shared)
            fresh, wrong = [*fresh, *found[0]], [*wrong, *found[1]]
    rows: float | None = session.entered(naming.about(f"{_FORM}-rows"), None)
    most = rows_stated(own, rows)
    right = bool(session.entered(_right_key(own, suited), False))
    named = _unconfirmed(own, suited) if right else ()
    stated = own.confirm(()) if right else own.decisions
    declared_by = partial(_declared_by, own)

    def change(old: Decisions) -> Decisions:
        new = old.says(
            *(replace(one, words_from_file=one.name in old.copied and bool(one.categories)) for one in fresh),
            binary=bulk.binary(fresh),
        )
        return replace(
            new,
            schema=new.schema if rows is None else replace(new.schema, rows_per_person=most),
            said_rows=old.said_rows or rows is not None,
            settled=new.settled | stated.settled,
            confirmed=new.confirmed | {read_as(one) for one in declared_by(new) if one.name in named},
            confirmed_row=stated.confirmed_row,
            row_right=stated.row_right,
        )

    if fresh or rows is not None or right:
        actions.decide(change)
    own = source.own_file()
    wanting = "" if own is None else lacking(own, suited)
    if own is None or wrong or wanting:
        session.say(_FORM, " ".join([*wrong, wanting]).strip())
        return
    made_up(own)
    OWN_ASKED.put(replace(asked, opening=True))


def _declared_by(own: OwnFile, decisions: Decisions) -> list[Column]:
    """The columns of which a form states all that a private answer needs, as it does: none else is called right with
    it, since which of the others it lists hangs on whether the page asks about them."""
    new = replace(own, decisions=decisions)
    return [column for column in new.schema.columns if new.columns.stands(column)]


def lacking(own: OwnFile, suited: Suited) -> str:
    """What the chart cannot do without, in one sentence; "" when nothing."""
    open_ = [column.name for column in _open(own, suited)]
    lead = [words.visible(name, 40) for name in open_ if name in suited.way.about]
    if lead:
        return said.missing(lead)
    here = [name for name in suited.way.others if name not in open_]
    return said.too_few(suited.way.least) if len(here) < suited.way.least else ""


def made_up(own: OwnFile) -> None:
    """Rows made up from the declaration, as many as the form says."""
    said_rows: Any = session.entered(naming.about(f"{_FORM}-made"), None)
    rows = int(said_rows or own.schema.people or USUAL_ROWS)
    actions.simulate(TwinPlan(rows=min(max(rows, 1), MOST_ROWS), seed=inputs.current_seed()))
