"""A declaration as a file of its own: saved here, brought again, and known again by the columns of a later table."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import streamlit as st
from streamlit.typing import UploadedFile

from dashboard import session, words
from dashboard.data import actions, arrivals, remembered, source, working
from dashboard.data.arrivals import taken
from dashboard.data.decisions import Decisions, read_as, read_so, stated
from dashboard.data.declared_before import known, remember, saving
from dashboard.data.held import OWN_ROUND
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import worked
from dashboard.data.remembered import Remembered
from dashboard.data.template import says_nothing, template
from dashboard.widgets.download import download
from dashboard.words import data as said
from dpcore.datasets import Column, Reading, Template, fitted, loaded_file, saved
from dpcore.datasets.steps import in_full, rows_made
from dpcore.datasets.template import form_for, without_rows
from dpcore.datasets.text import skeleton
from dpcore.errors import InvalidArgument

MOST_TOLD = 20_000
"""Letters up to which a declaration from before is told, whole, and offered."""


def offer(own: OwnFile) -> None:
    """The declarations from before whose columns this table has all: one click takes one. Each is told by all of its
    columns and steps, without a cut: one row may decide which can be done to the table, so no two may look the same."""
    if own.place is not None:
        offer_remembered(own)
    for place, declared in enumerate(own.known):
        with st.container(border=True):
            begins = f":material/bookmark: **{said.KNOWN}** " if place == 0 else f"**{said.KNOWN_ALSO}** "
            columns = said.columns(declared.schema.names)
            steps = " ".join(map(in_full, declared.steps)) or (said.AS_THEY_ARE if len(own.known) > 1 else "")
            if len(columns) + len(steps) > MOST_TOLD:
                st.markdown(begins + said.KNOWN_TOO_LONG)
                continue
            st.markdown(begins + words.safe(columns, MOST_TOLD))
            if steps:
                st.caption(words.safe(steps, MOST_TOLD))
            st.button(
                said.KNOWN_USE,
                key=f"own-declaration-known-{place}",
                on_click=actions.of(own, _use_known),
                args=(declared,),
            )
    if own.too_large:
        st.caption(f":material/bookmark: {said.KNOWN} {words.safe(own.too_large, 400)}")


def offer_remembered(own: OwnFile) -> None:
    """What this server remembers of these people; it stands where a person has just said whose data they are."""
    if own.remembered is None:
        return
    with st.container(border=True):
        known = own.remembered.template.schema
        names = known.names
        st.markdown(f":material/bookmark: **{said.REMEMBERED}** {words.safe(said.columns(names), 400)}")
        with st.container(horizontal=True):
            st.button(said.KNOWN_USE, key="own-declaration-remembered", on_click=actions.of(own, _use_remembered))
            st.button(
                said.FORGET_DECLARED, key="own-declaration-forget", type="tertiary", on_click=actions.of(own, _forget)
            )


def show_declarations(own: OwnFile) -> None:
    """To keep what was declared as a file, and to bring one."""
    known()  # with one that was saved just now, which counts from here on
    try:
        declared = without_rows(template(own))
        make, problem = saving(declared, saved(declared)), said.NOTHING_TO_SAVE if says_nothing(own) else ""
    except InvalidArgument as error:
        make, problem = str, words.sentence(error)
    if problem:
        st.caption(words.safe(problem, 600))
    with st.container(horizontal=True):
        download(
            said.SAVE,
            make,
            said.SAVED_AS,
            "application/json",
            icon=":material/save:",
            key="own-declaration-save",
            disabled=bool(problem),
            help=said.SAVE_HELP,
        )
        with st.popover(said.BRING, icon=":material/upload_file:"):
            bring(own)


def bring(own: OwnFile | None) -> None:
    """The box for a saved declaration of this table; it is empty again after each."""
    key = f"own-declaration-{OWN_ROUND.get()}"
    st.file_uploader(
        said.BRING_LABEL, type=["json"], key=key, max_upload_size=1, on_change=actions.of(own, _brought), args=(key,)
    )


def _brought(key: str) -> None:
    file: UploadedFile | None = session.entered(key, None)
    if not isinstance(file, UploadedFile):
        return
    data = taken(file)
    OWN_ROUND.put(int(OWN_ROUND.get()) + 1)
    try:
        found = loaded_file(data)
    except InvalidArgument as error:
        session.say("own", words.sentence(error))
        return
    remember(found)
    own = source.own_file()
    if own is not None and own.place is not None:
        _onto(own, found, found)
    elif own is None or own.described:
        actions.put_in_place(described(found))
    else:
        use(found)


def described(declared: Template) -> OwnFile:
    """A table that is only described, with what a file had suggested still marked."""
    schema = declared.schema
    decisions = _marked(Decisions(schema=schema), schema.columns, declared, declared.row_suggested)
    return OwnFile(name=said.DESCRIBED, data=b"", choices=declared.choices, reading=None, decisions=decisions)


def _onto(own: OwnFile, declared: Template, marks: Template | Remembered) -> None:
    """Declare the columns of a source as before, where their types fit; whose rows they are stays its owner's word.

    ``marks`` name those of which a file had suggested how they are read: answers about the source say so too. About how
    many there are was said of that file, where one was there; what is remembered was said of this very table, and is
    marked where a file had been seen.
    """
    here = isinstance(marks, Remembered)
    known = {column.name: column for column in declared.schema.columns if column.type in own.types(column.name)}
    columns = tuple(known.get(column.name, column) for column in own.schema.columns)
    people = declared.schema.people if here or not declared.row_suggested else None
    schema = replace(own.schema, columns=columns, people=people or own.schema.people)
    decisions = replace(own.decisions, schema=schema)
    for name in known:
        decisions = replace(decisions, marked=decisions.unmarked(name))
    row = here and declared.row_suggested
    decisions = _marked(decisions, [one for one in columns if one.name in known], marks, row)
    actions.commit(own.decide(decisions).noted(said.DECLARED_AS_BEFORE))


def _marked(
    decisions: Decisions, columns: Iterable[Column], marks: Template | Remembered, row: bool = False
) -> Decisions:
    """With those of these columns marked that a file had suggested, and with ``row`` what one row is; called right are
    those that were so before."""
    columns = tuple(columns)
    types = {one.name: one.type for one in columns}
    open_, right = _marks(marks, types)
    return replace(
        decisions,
        marked=decisions.marked | {(name, types[name]) for name in open_ | right},
        settled=(decisions.settled - open_) | right,
        binary=(decisions.binary - open_) | _binary(columns, right),
        marked_row=decisions.marked_row or row,
    )


def _binary(columns: Iterable[Column], stated: Collection[str]) -> frozenset[str]:
    """Those of these columns that were ``stated`` to hold yes or no."""
    return frozenset(one.name for one in columns if one.type == "yes/no" and one.name in stated)


def _use_known(declared: Template) -> None:
    own = source.own_file()
    if own is not None and declared in own.known:
        use(declared)


def _use_remembered() -> None:
    own = source.own_file()
    found = None if own is None else own.remembered
    if own is None or found is None:
        return
    if own.place is not None:
        _onto(replace(own, remembered=None), found.template, found)
        return
    use(found.template, found)


def _forget() -> None:
    own = source.own_file()
    if own is None:
        return
    try:
        remembered.forget(own)
    except OSError:
        session.say("own", said.NOT_REMEMBERED)
        return
    source.keep(replace(own, remembered=None).noted(said.DECLARED_FORGOTTEN))


def use(declared: Template, before: Remembered | None = None) -> None:
    """Declare the table as before, read in the form that was stated, after the same steps."""

    def declare() -> None:
        names = declared.schema.names
        working.beside(declared.steps, lambda own, reading: _declare(own, reading, declared, before), names)

    arrivals.read_in_form(declared, declare, lambda: _offer_without_form(declared, before))


def _offer_without_form(declared: Template, before: Remembered | None) -> None:
    """The file cannot be read in the form that was stated, and one row may be why: a person decides whether its columns
    are declared all the same. It may be another table of these people, so of its rows nothing is said."""
    own = source.own_file()
    if own is None:
        return
    if before is not None:  # what a file had suggested stays marked
        marked = tuple(name for name in before.suggested if name in declared.schema.names)
        right = tuple(name for name in marked if name in before.confirmed)
        declared = replace(declared, suggested=marked, confirmed=right)
    made = rows_made(declared.steps, declared.schema.each_row)
    columns_alone = replace(declared.schema, rows_per_person=made, id_column=None, people=None)
    session.say("own", said.NOT_IN_FORM)
    source.keep(replace(own, known=(replace(declared, schema=columns_alone, choices=(), row_suggested=True),)))


def _spelled_here(names: Iterable[str], here: Iterable[str]) -> set[str]:
    """Those of the columns ``here`` that have these names, which another file may have spelled otherwise."""
    looks = {skeleton(name) for name in names}
    return {name for name in here if skeleton(name) in looks}


def _marks(marks: Template | Remembered, here: Iterable[str]) -> tuple[set[str], set[str]]:
    """Of the columns ``here`` of which a file had suggested how they are read those that nobody called right, and those
    that somebody did."""
    names = tuple(here)
    open_ = _spelled_here(set(marks.suggested) - set(marks.confirmed), names)
    return open_, _spelled_here(marks.confirmed, names) - open_


def _declare(own: OwnFile, reading: Reading, declared: Template, before: Remembered | None = None) -> None:
    """What a file had suggested of it stays marked, as ``before`` says it where it was remembered; of that it settles
    what was called right then, and nothing else: the rest is asked as of any file that suggests it. Of the form of the
    file it settles what it states itself and the file was read by. That the columns are all named settles nothing:
    another line could name them too, and one row may decide which is taken."""
    try:
        fit = fitted(declared, reading)
    except InvalidArgument as error:
        session.say("own", words.sentence(error))
        return
    own = worked(own, reading, declared.steps)
    here = set(fit.schema.names) - set(fit.undeclared)
    # what the declaration does not name stays what was said of it
    kept = tuple(one if one.name in here else own.schema.column(one.name) for one in fit.schema.columns)
    marks = declared if before is None else before
    open_, right = _marks(marks, here)
    answered: frozenset[str] = frozenset()
    header = () if own.as_read is None else own.as_read.frame.columns
    choices = dict(own.choices) | form_for(declared, header)
    if fit.recognised and own.as_read is not None and (found := read_so(own.as_read, choices)) is not None:
        own, answered = replace(own, choices=tuple(sorted(choices.items()))), found
    decisions = replace(
        own.decisions,
        schema=replace(fit.schema, columns=kept),
        settled=(own.decisions.settled - open_) | (here - open_) | answered,
        binary=(own.decisions.binary - here) | _binary(kept, here - open_),
        confirmed=own.decisions.confirmed | {read_as(one) for one in fit.schema.columns if one.name in right},
        confirmed_row=False,
        copied=own.decisions.copied - here | {one.name for one in kept if one.words_from_file},
        said_rows=False,
        said_row=False,
        marked=frozenset(mark for mark in own.decisions.marked if mark[0] not in here)
        | {(one.name, one.type) for one in fit.schema.columns if one.name in right},
        marked_row=declared.row_suggested,
        brought=frozenset(one for one in own.decisions.brought if one[0] not in here)
        | {stated(one) for one in fit.schema.columns if one.name in here - open_ - right},
    )
    decisions = decisions.stating(*(one for one in fit.schema.columns if one.name in here - open_ - right))
    # whose row it is, and of how many, holds of another table alone: a part of how many rows one has
    decisions = replace(decisions, schema=replace(decisions.schema, id_column=None, people=None))
    own = replace(own.decide(decisions), known=(), remembered=None)
    actions.commit(own.noted(said.DECLARED_AS_BEFORE))
    if fit.lacking:
        session.say("own", said.lacking(fit.lacking))
    elif own.named_by_rows:
        session.say("own", said.ROWS_NAME_COLUMNS)
