"""Every column with its type and why, and one of them open for changes."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.data import actions, bulk, declarations, editor, private_answer, source
from dashboard.data.decisions import Decisions, notation
from dashboard.data.own_file import OwnFile
from dashboard.widgets.apart import apart
from dashboard.words import columns as said
from dpcore.datasets import Column, ReadColumn
from dpcore.datasets.schema import ColumnType
from dpcore.datasets.text import safe_cells

TYPES: dict[ColumnType, str] = {
    "category": "Options",
    "number": "Number",
    "integer": "Whole number",
    "yes/no": "Yes or no",
    "date": "Date",
    "text": "Text",
}
_PICKED = "own-column"


def show_columns(own: OwnFile) -> None:
    """The overview, and the editor of the column picked in it."""
    _overview(own)
    declarations.show_declarations(own)
    bulk.show_bulk(own)
    names = list(own.schema.names)
    if session.entered(_PICKED, None) not in [None, *names]:
        session.enter(_PICKED, None)
    with st.container(border=True, key="own-editor"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.selectbox(
                "Column to change",
                names,
                index=None,
                key=_PICKED,
                format_func=apart(names, words.visible),
                placeholder="Pick a column",
                width=260,
            )
            if name is None:
                st.caption("to change its type, or to say what private answers need.", width="stretch")
                return
            column = own.schema.column(str(name))
            key = f"own-type-{editor.mark(column)}"
            types = [kind for kind in TYPES if kind in own.types(column.name)]
            st.selectbox(
                "Type",
                types,
                index=types.index(column.type),
                key=key,
                format_func=TYPES.__getitem__,
                on_change=actions.of(own, _retype),
                args=(column.name, key),
                width=160,
            )
        _why(own, column)
        _codebook(own, column)
        editor.show_editor(own, column)


def _overview(own: OwnFile) -> None:
    rows = []
    for column in own.schema.columns:
        read = None if own.reading is None else own.reading.column(column.name)
        same = read is not None and read.suggestion.type == column.type
        rows.append(
            {
                "Column": words.visible(column.name),
                "Type": TYPES[column.type],
                "Missing": 0 if read is None else read.missing,
                "Unreadable": 0 if read is None or not same else read.unparsable,
                "Declared": declared_words(own, column),
                "Why this type": "You chose it." if read is None else _reason(own, column, read),
            }
        )
    frame = pd.DataFrame(rows)
    if own.unseen:
        frame = frame[["Column", "Type", "Declared"]]
    st.dataframe(
        safe_cells(frame),
        key="own-columns",
        hide_index=True,
        height=min(36 * (len(frame) + 1) + 2, 320),
        on_select=actions.of(own, _pick),
        selection_mode="single-row",
        column_config={
            "Column": st.column_config.TextColumn(pinned=True),
            "Declared": st.column_config.TextColumn(width=160),
            "Why this type": st.column_config.TextColumn(width="large"),
        },
        alt="The columns with their types, what is declared about them, why, and how many cells are missing",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        told = "" if own.unseen else "Nothing was dropped, renamed or turned into a number unseen."
        st.caption(
            f"{told} {said.CONFIRMED}"
            if own.decisions.confirmed and not private_answer.asks_confirmation(own)
            else told,
            width="stretch",
        )
        st.button(
            "Undo the last change",
            icon=":material/undo:",
            type="tertiary",
            key="own-undo",
            disabled=not own.earlier,
            on_click=actions.of(own, actions.undo),
        )


def _codebook(own: OwnFile, column: Column) -> None:
    """The options of the file's own codebook, as a draft: many programs write down just the words that occur."""
    read = None if own.reading is None else own.reading.column(column.name)
    if read is None or not read.codebook or set(column.categories) == set(read.codebook):
        return
    key = f"own-codebook-{editor.mark(column)}"
    st.button(
        f"{said.CODEBOOK} ({len(read.codebook)})",
        icon=":material/menu_book:",
        key=key,
        help=said.CODEBOOK_HELP,
        on_click=actions.of(own, _take_codebook),
        args=(column.name, read.codebook),
    )


def _take_codebook(name: str, options: tuple[str, ...]) -> None:
    def change(old: Decisions) -> Decisions:
        new = old.retyped(name, "category", None)
        column = replace(new.schema.column(name), categories=options, fill=None, from_file=True)
        return replace(new, schema=new.schema.with_column(column), copied=new.copied | {name})

    actions.decide(change)


def _pick() -> None:
    chosen = session.entered("own-columns", None)
    own = source.own_file()
    rows: list[int] = [] if chosen is None else chosen.selection.rows
    if rows and own is not None and 0 <= rows[0] < len(own.schema.names):
        session.enter(_PICKED, own.schema.names[rows[0]])


def _retype(name: str, key: str) -> None:
    kind: ColumnType = session.entered(key, "text")
    own = source.own_file()
    if own is None or name not in own.schema.names or kind not in own.types(name):
        return
    read = None if own.reading is None else own.reading.column(name).suggestion
    actions.decide(lambda old: old.retyped(name, kind, read))


def kind(column: Column) -> str:
    """The type of a column with how its numbers or days are written, in a few words."""
    what = notation(column)
    return TYPES[column.type] + ("" if what is None else said.NOTATION.get(getattr(column, what), ""))


def declared_words(own: OwnFile, column: Column) -> str:
    """What was declared about a column, in a few words."""
    if column.name in own.from_rows:
        return said.NAMED_BY_ROWS
    if column.type == "text":
        return said.names_each(own.schema.each_row) if column.name in own.columns.naming else "text: not asked about"
    if column.type == "yes/no":
        return "yes or no" if own.columns.stands(column) else "nothing yet"
    if not column.bounded:
        return "nothing yet"
    if column.from_file:
        return "taken from the file: charts only"
    if column.type == "category":
        options = f"{len(column.categories):,} options"
        each = own.schema.each_row
        return said.names_rows(options, each) if column.name in own.columns.naming and not own.described else options
    if column.type == "date":
        return f"{column.earliest} to {column.latest}"
    return f"{words.number(float(column.low or 0))} to {words.number(float(column.high or 0))}"


def _reason(own: OwnFile, column: Column, read: ReadColumn) -> str:
    """Why it is read so. How many different words there are, and what they look like, tells beside declared options
    whether some are none of them."""
    same = read.suggestion.type == column.type
    if own.columns.withheld(column) and not (same and column.type in ("number", "integer", "date")):
        return said.DECLARED
    if same:
        return read.reason
    return f"You chose this type. Suggested: {kind(read.suggestion).lower()}. {read.reason}"


def _why(own: OwnFile, column: Column) -> None:
    if own.reading is None:
        return
    read = own.reading.column(column.name)
    lines = [_reason(own, column, read)]
    lines += [] if own.columns.withheld(column) else read.notes
    if column.name in own.from_rows:
        lines.append(said.FROM_ROWS)
    if read.missing:
        found = ", ".join(
            f"“{words.safe(word)}” {count:,}×" if word else f"empty {count:,}×" for word, count in read.missing_words
        )
        lines.append(f"Missing cells: {read.missing:,} ({found}).")
    st.caption(" ".join(lines))
