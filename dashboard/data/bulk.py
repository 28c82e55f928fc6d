"""What several columns could hold, said in one form instead of column by column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.data import actions, naming, source
from dashboard.data.decisions import WORDS, Decisions, as_type
from dashboard.data.declaring import days_offered, problem
from dashboard.data.own_file import OwnFile
from dashboard.widgets.inputs import LONGEST_OPTIONS, text_box
from dashboard.words import columns as said
from dpcore.datasets import Column
from dpcore.errors import InvalidArgument

MOST = 40
"""Columns in one form; the others come after it was saved."""
FEWEST = 2
_PARTS = ("usual", "low", "high", "earliest", "latest", "options", "lines", "binary")


def undeclared(own: OwnFile) -> tuple[Column, ...]:
    """Columns that lack bounds or public options, or the word that they hold yes or no, in their order; text and whose
    row it is need none, and those that only rows name or fill are in no private answer, whatever is said of them."""
    others, stands = own.from_rows | {own.schema.id_column}, own.columns.stands
    return tuple(
        column
        for column in own.schema.columns
        if column.type != "text" and column.name not in others and not stands(column)
    )


def show_bulk(own: OwnFile) -> None:
    """The form, where more than one column waits for its declaration."""
    waiting = undeclared(own)
    if len(waiting) < FEWEST:
        return
    listed = [column.name for column in waiting[:MOST] if column.type in WORDS]
    with st.expander(said.bulk(len(waiting)), icon=":material/checklist:"), st.form("own-bulk", border=False):
        st.caption(said.BULK_WHY)
        for column in waiting[:MOST]:
            row(column, _key(column), either="yes/no" in own.types(column.name))
        if listed and not own.unseen:
            st.checkbox(said.BULK_PUBLIC, key=_public_key(listed), help=said.ANYONE_HELP)
        st.form_submit_button(
            said.BULK_SAVE,
            key="own-bulk-go",
            on_click=actions.of(own, _save),
            args=(tuple(column.name for column in waiting[:MOST]),),
        )
        if len(waiting) > MOST:
            st.caption(said.bulk_rest(len(waiting) - MOST))


def _key(column: Column) -> str:
    return naming.about(f"own-bulk-{column.name}")


def _public_key(listed: Sequence[str]) -> str:
    """Another one for each statement, which is about these columns: a tick must not stay for others."""
    return naming.about(f"own-bulk-public-{naming.named(repr(tuple(listed)))}")


def row(column: Column, key: str, *, draft: bool = False, either: bool = True) -> None:
    """One column's row of a form; ``draft`` shows options that are there but were not called public yet; ``either``
    whether a column of options could be declared as yes or no."""
    name = words.safe(column.name, 40)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if column.is_numeric:
            st.selectbox(
                said.usual(name),
                list(said.USUAL_RANGES),
                index=None,
                placeholder=said.USUAL_PLACEHOLDER,
                key=f"{key}-usual",
                help=said.USUAL_HELP,
                width=210,
            )
            st.number_input(said.smallest(name), value=column.low, format="%g", key=f"{key}-low", width=190)
            st.number_input(said.largest(name), value=column.high, format="%g", key=f"{key}-high", width=190)
        elif column.type == "date":
            limits: dict[str, Any] = {**days_offered(column), "width": 150}
            st.date_input(said.earliest(name), value=column.earliest, key=f"{key}-earliest", **limits)
            st.date_input(said.latest(name), value=column.latest, key=f"{key}-latest", **limits)
        elif draft:
            # one on each line, as an option may have any sign in it
            text_box(
                said.draft_options(name),
                value="\n".join(column.categories),
                key=f"{key}-lines",
                most=LONGEST_OPTIONS,
                height=130,
                lines=True,
            )
        else:
            text_box(said.bulk_options(name), key=f"{key}-options", most=LONGEST_OPTIONS)
        if column.type in WORDS and either:
            st.checkbox(said.binary(name), key=f"{key}-binary", help=said.BINARY_HELP)


def stated(column: Column, entries: Mapping[str, Any], *, public: bool) -> Column | None:
    """The column as one row of the form states it; None where nothing was stated.

    ``entries`` are ``usual``, ``low`` and ``high``, or ``earliest`` and ``latest``, or ``options`` (with ; between
    them) or ``lines`` (one on each) or ``binary``, that it holds yes or no. A number that was typed goes before the
    usual range, yes or no before options. Raises InvalidArgument for half a statement and for bounds that cannot be.
    """
    if column.type in WORDS:
        if entries.get("binary"):
            return column if column.type == "yes/no" else as_type(column, "yes/no")
        parts = [*str(entries.get("lines") or "").splitlines(), *str(entries.get("options") or "").split(";")]
        named = tuple(dict.fromkeys(part.strip() for part in parts))
        named = tuple(name for name in named if name)
        if not named:
            return None
        words_ = column if column.type == "category" else as_type(column, "category")
        return replace(words_, categories=named, from_file=not public, words_from_file=False, fill=None)
    if column.type == "date":
        bounds: tuple[Any, Any] = entries.get("earliest"), entries.get("latest")
        names = ("earliest", "latest")
    else:
        low, high = said.USUAL_RANGES.get(str(entries.get("usual")), (None, None))
        typed = entries.get("low"), entries.get("high")
        bounds = (low if typed[0] is None else typed[0], high if typed[1] is None else typed[1])
        names = ("low", "high")
    if bounds == (None, None):
        return None
    if None in bounds:
        raise InvalidArgument("Both bounds", "are needed")
    if column.is_numeric:
        bounds = float(bounds[0]), float(bounds[1])
    return replace(column, **dict(zip(names, bounds, strict=True)), from_file=False)


def statements(
    own: OwnFile,
    names: Sequence[str],
    key: Callable[[Column], str],
    *,
    public: bool,
    common: Mapping[str, Any] | None = None,
) -> tuple[list[Column], list[str]]:
    """The columns that the rows of a form state, and a sentence for each that cannot be.

    ``key`` gives the key of a column's row. ``common`` states, under the names of ``stated``, what holds for every
    column of numbers of which its own row states nothing.
    """
    fresh: list[Column] = []
    wrong: list[str] = []
    for name in names:
        if name not in own.schema.names:
            continue
        column = own.schema.column(name)
        entries = {part: session.entered(f"{key(column)}-{part}", None) for part in _PARTS}
        if column.is_numeric and common is not None and all(entries[part] is None for part in _PARTS):
            entries |= common
        try:
            found = stated(column, entries, public=public)
        except InvalidArgument as error:
            wrong.append(said.bulk_wrong(words.visible(name), problem(error)))
            continue
        if found is not None:
            fresh.append(found)
    return fresh, wrong


def binary(stated_: Sequence[Column]) -> frozenset[str]:
    """Those of the columns that rows of a form state of which they say that they hold yes or no."""
    return frozenset(column.name for column in stated_ if column.type == "yes/no")


def _save(names: tuple[str, ...]) -> None:
    """Callback: every column that was stated, as one change; what cannot be is said of all of them at once."""
    own = source.own_file()
    if own is None:
        return
    listed = [name for name in names if name in own.schema.names and own.schema.column(name).type in WORDS]
    public = own.unseen or bool(session.entered(_public_key(listed), False))
    fresh, wrong = statements(own, names, _key, public=public)

    def change(before: Decisions) -> Decisions:
        return replace(
            before.says(*fresh, binary=binary(fresh)), copied=before.copied - {column.name for column in fresh}
        )

    if fresh:
        actions.decide(change)
    told = [*wrong]
    if not fresh and not wrong:
        told.append(said.BULK_NOTHING)
    if any(column.from_file for column in fresh):
        told.append(said.BULK_CHARTS_ONLY)
    if told:
        session.say("own", " ".join(told))
