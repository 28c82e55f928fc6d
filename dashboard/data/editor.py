"""One column's declaration: bounds, options, spellings and what a missing cell means; and what becomes of its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import all_held, session, words
from dashboard.data import actions, naming, source
from dashboard.data.decisions import Decisions, as_type, notation
from dashboard.data.declaring import days_offered, declared, problem
from dashboard.data.entries import says
from dashboard.data.own_file import OwnFile
from dashboard.data.understood import lines_words
from dashboard.people import visitors
from dashboard.widgets.inputs import text_box
from dashboard.words import columns as said
from dpcore.datasets import MOST_WORDS, Column
from dpcore.errors import InvalidArgument, NoRoom, UnreadableFile

WHY_BOUNDS = (
    "Asked, not read from the file: a minimum taken from the data gives that person away. "
    "Say what is possible, from what everyone knows and not from the file. Values beyond are moved to the bound. "
    "Answers say that you had seen the file."
)
WHY_OPTIONS = (
    "Asked, not read from the file: an option that only one person has would give that person away. "
    "List what could be chosen. Cells with anything else count as missing. Answers say that you had seen the file."
)
ORDERS = {"ymd": "2024-12-31", "dmy": "31/12/2024", "mdy": "12/31/2024", "serial": "a spreadsheet's day count"}
LONGEST_LIST, LONGEST_WORDS = 200_000, 2_000
"""Characters of a list of options, and of the words that mean one thing."""


def mark(column: Column) -> str:
    """Changes with the declaration, so that its controls start afresh from it, and with the table."""
    return naming.about(naming.named(repr(column)))


def show_editor(own: OwnFile, column: Column) -> None:
    """The form that fits the column's type, and the account of its cells."""
    key = f"own-{mark(column)}"
    if column.type == "category" and own.reading is not None:
        st.button(
            said.COPY,
            icon=":material/content_copy:",
            key=f"{key}-copy",
            help=said.COPY_HELP,
            on_click=actions.of(own, copy),
            args=(column.name,),
        )
    if column.type != "text":
        with st.form(f"{key}-form", border=False):
            # while the page is drawn anew the last column's form is still there: each says whose it is
            st.markdown(f"**What “{words.safe(column.name)}” could hold**")
            if not own.unseen and column.type != "yes/no":
                st.caption(WHY_OPTIONS if column.type == "category" else WHY_BOUNDS)
            _FIELDS[column.type](column, key, own.columns.states(column))
            if own.columns.asks_binary(column) and "yes/no" in own.types(column.name):
                _binary_field(column, key, said_so=column.name in own.decisions.binary)
            if column.type == "category" and not own.unseen:
                _public_field(column, key, copied=column.name in own.decisions.copied)
                if _of_codebook(own, column):
                    st.checkbox(said.ANYONE, key=f"{key}-anyone", help=said.CODEBOOK_ANYONE_HELP)
            if own.schema.each_row != "record" and column.is_numeric:
                _score_fields(column, key, own)
            if not own.unseen:
                _missing_fields(column, key, entry=own.schema.each_row != "record" and column.is_numeric)
            st.form_submit_button("Save", on_click=actions.of(own, _save), args=(column.name, key), key=f"{key}-save")
    _account(own, column)


def _number_fields(column: Column, key: str, stated: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input("Lowest possible", value=column.low, format="%g", key=f"{key}-low", width=160)
        st.number_input("Highest possible", value=column.high, format="%g", key=f"{key}-high", width=160)
        text_box("Unit", value=column.unit, most=20, key=f"{key}-unit", width=110)
        marks = {".": "point", ",": "comma"}
        st.segmented_control(
            "Decimal mark",
            list(marks),
            default=column.decimal if stated else None,
            required=stated,
            key=f"{key}-decimal",
            format_func=(marks if stated else _suggesting(marks, column.decimal)).__getitem__,
            help=None if stated else said.NOTATION_HELP,
        )


def _date_fields(column: Column, key: str, stated: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bounds: dict[str, Any] = {**days_offered(column), "width": 150}
        st.date_input("Earliest possible", value=column.earliest, key=f"{key}-earliest", **bounds)
        st.date_input("Latest possible", value=column.latest, key=f"{key}-latest", **bounds)
        st.selectbox(
            "Written like",
            list(ORDERS),
            index=list(ORDERS).index(column.date_order) if stated else None,
            placeholder=said.NOTATION_SUGGESTED.format(ORDERS[column.date_order]),
            key=f"{key}-date_order",
            format_func=ORDERS.__getitem__,
            help=None if stated else said.NOTATION_HELP,
            width=200,
        )


def _suggesting(names: dict[str, str], one: str) -> dict[str, str]:
    """These names, of which the file suggested one."""
    return names | {one: said.NOTATION_SUGGESTED.format(names[one])}


def _category_fields(column: Column, key: str, _stated: bool) -> None:
    text_box(
        "Options, one on each line",
        value="\n".join(column.categories),
        key=f"{key}-categories",
        most=LONGEST_LIST,
        height=130,
        lines=True,
    )


def _public_field(column: Column, key: str, *, copied: bool) -> None:
    st.checkbox(
        said.NOT_HIDDEN if copied else said.ANYONE,
        value=bool(column.categories) and not column.from_file,
        key=f"{key}-public",
        help=said.NOT_HIDDEN_HELP if copied else said.ANYONE_HELP,
    )


def _of_codebook(own: OwnFile, column: Column) -> bool:
    """Whether the options were taken over from the file's codebook, and nobody has said that anyone could list them."""
    if own.reading is None or column.name not in own.decisions.copied:
        return False
    return bool(column.categories) and set(column.categories) == set(own.reading.column(column.name).codebook)


def _yes_no_fields(column: Column, key: str, _stated: bool) -> None:
    with st.container(horizontal=True):
        text_box("Words for yes", value=", ".join(column.yes_words), key=f"{key}-yes", most=LONGEST_WORDS)
        text_box("Words for no", value=", ".join(column.no_words), key=f"{key}-no", most=LONGEST_WORDS)


def _binary_field(column: Column, key: str, *, said_so: bool) -> None:
    st.checkbox(
        said.binary(words.safe(column.name, 40)),
        value=said_so,
        key=_binary_key(key, said_so=said_so),
        help=said.BINARY_HELP,
    )


def _binary_key(key: str, *, said_so: bool) -> str:
    """Another one once it was said: a tick must not stay where that is taken back."""
    return f"{key}-binary{'-said' if said_so else ''}"


def _score_fields(column: Column, key: str, own: OwnFile) -> None:
    """Which numbers are better and, where it is not by any number, how far one moves an entry."""
    unit, moves = own.schema.unit, not own.rows.any_reach
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if moves:
            st.number_input(
                said.moves(unit),
                value=column.sensitivity, min_value=0.0, format="%g", key=f"{key}-sensitivity", width=280,
                placeholder=said.MOVES_PLACEHOLDER,
            )  # fmt: skip
        st.segmented_control(
            "Better is", ["higher", "lower"], default=column.better, required=True, key=f"{key}-better"
        )
    if not moves:
        st.caption(own.rows.moves)
        return
    if column.type == "integer":
        st.checkbox(said.counts(unit), value=column.counts, key=f"{key}-counts", help=said.counts_help(unit))
    st.caption(said.MOVES_READ)


def _missing_fields(column: Column, key: str, *, entry: bool) -> None:
    """``entry``: a cell is the number of a step or an option, which is there whatever it holds."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text_box(
            "A missing cell counts as",
            value="" if column.fill is None else str(column.fill),
            placeholder="0, or the nearest bound" if entry else "nothing: its row is left out",
            key=f"{key}-fill",
            most=LONGEST_WORDS,
            width=260,
            help=said.FILL_ENTRY_HELP
            if entry
            else "Leave it empty to leave such rows out of questions about this column.",
        )
        text_box(
            "Words that mean missing",
            value=", ".join(word for word in column.missing_words if word),
            key=f"{key}-missing",
            most=LONGEST_WORDS,
            help="Separated by commas; capitals and blanks around do not matter. Empty cells are always missing.",
        )


_FIELDS: dict[str, Callable[[Column, str, bool], None]] = {
    "number": _number_fields,
    "integer": _number_fields,
    "date": _date_fields,
    "category": _category_fields,
    "yes/no": _yes_no_fields,
}


def _save(name: str, key: str) -> None:
    """Callback of the form: everything in it becomes one change, or one sentence says what cannot be."""
    own = source.own_file()
    if own is None:
        return
    old = own.schema.column(name)
    binary = bool(session.entered(_binary_key(key, said_so=name in own.decisions.binary), False))
    try:
        either = as_type(old, "yes/no") if binary and old.type != "yes/no" else old
        column = declared(either, key, copied=name in own.decisions.copied)
    except InvalidArgument as error:
        session.say("own", problem(error))
        return
    public = column.type != "category" or not column.from_file
    what = notation(column)
    signs = what is not None and session.entered(f"{key}-{what}", None) is not None

    def change(before: Decisions) -> Decisions:
        copied = before.copied if column.words_from_file else before.copied - {name}
        told = before.moved(column, own.entries) if says(column) else before
        new = replace(told.says(column, binary={name} if binary else ()), copied=copied)
        return new.stating(column) if signs else new

    actions.decide(change)
    if name in own.from_rows:
        session.say("own", said.FROM_ROWS)
    elif not public:
        session.say("own", said.SAVED_FOR_CHARTS)


def copy(name: str) -> None:
    """The words of the file as a draft: marked as read from it until the person says that the list is public."""
    own = source.own_file()
    typed = None if own is None else source.typed_columns(own)
    if own is None or typed is None:
        return
    bare = replace(as_type(own.schema.column(name), "category"), fill=None)
    try:
        with typed.turn(bare), all_held.AtWork(visitors.address()) as work:
            work.takes(all_held.beside(typed.reading.frame[[name]]))
            if typed.account(bare).unlisted.number:
                return  # too many, as is said below the list
            column = typed.completed(bare)
    except (UnreadableFile, NoRoom) as error:
        session.say("own", words.sentence(error))
        return
    own = own.noted(f"The different words of “{words.safe(name)}” were copied into its list of options, as you asked.")
    decisions = own.decisions
    actions.commit(own.decide(replace(decisions.says(column), copied=decisions.copied | {name})))


def _account(own: OwnFile, column: Column) -> None:
    """What becomes of the cells; of those beyond what was declared neither how many nor where, but to who called the
    file public."""
    typed = source.typed_columns(own)
    if typed is None or own.reading is None:
        return
    try:
        with typed.turn(column), all_held.AtWork(visitors.address()) as work:
            work.takes(typed.takes(column))
            account = typed.account(column)
    except (UnreadableFile, NoRoom) as error:
        st.caption(words.reason(error))
        return
    kinds = [(account.missing, "missing")]
    beyond = [
        (account.unlisted, "not among the options"),
        (account.outside, "beyond the bounds and moved to the nearest"),
    ]
    # what is neither yes nor no is beside its words as any other is beside options
    (beyond if column.type == "yes/no" else kinds).append((account.unparsable, "cannot be read as this type"))
    hides = own.columns.withheld(column)
    if not hides:
        parts, kinds = [f"{account.taken:,} as written"], kinds + beyond
    else:
        parts = [f"{account.taken + sum(found.number for found, _ in beyond):,} read"]
    for found, what in kinds:
        if found.number:
            lines = tuple(int(line) for line in own.reading.lines[list(found.rows)])
            parts.append(f"{found.number:,} {what} ({lines_words(lines, found.number)})")
    st.caption(f"Of {account.rows:,} cells: {'; '.join(parts)}.")
    if hides:
        st.caption(said.BEYOND[{"category": "options", "yes/no": "words"}.get(column.type, "bounds")])
    if account.unlisted.number and not column.categories:  # all words are options, unless they are too many
        st.caption(said.too_many_words(MOST_WORDS))
