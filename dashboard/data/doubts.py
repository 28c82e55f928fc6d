"""What the file alone cannot decide: both readings side by side, one click each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import reduce
from typing import Any

import streamlit as st

from dashboard import words
from dashboard.data import actions, arrivals, naming, source, understood
from dashboard.data.decisions import Decisions
from dashboard.data.own_file import OwnFile
from dashboard.widgets.apart import apart
from dashboard.words import data as said
from dpcore.datasets import ReadColumn, Report

ASKED = {
    "encoding": "Which of these is written right? The file does not say in which alphabet table it was saved.",
    "delimiter": "Where do the cells end?",
    "quote": "Are single marks (') part of what a cell says?",
    "escape": "Is a backslash (`\\`) part of what a cell says?",
    "returns": "Where do lines end?",
    "breaks": "Does one cell run over several lines?",
    "columns": "How many columns are there? The file has no line that names them.",
    "header_line": "On which line is the first row? No line names the columns.",
    "keep_footer": "Are these lines entries of the list?",
    "merged": "Where does a cell that is merged over several rows hold its value?",
    "objects": "What is one row of this file?",
}
ANSWERS = {
    "encoding": understood.ENCODINGS,
    "delimiter": {"": "one cell per line"} | understood.DELIMITERS | understood.SPACED,
    "quote": {"'": "No: they only stand around it", '"': "Yes: keep them"},
    "escape": {"backslash": "No: it only says that the sign after it is text", "doubled": "Yes: keep it"},
    "returns": {
        "in cells": "At line feeds, with a carriage return or without, as in most files",
        "at ends": "At carriage returns alone, as on old Macintoshes",
    },
    "breaks": {"inside": "Yes: these lines are one row", "between": "No: each line is a row of its own"},
    "keep_footer": {"False": "No: leave out such lines", "True": "Yes: keep such lines"},
    "merged": {"each": "In each of its rows", "first": "In the first row alone"},
    "objects": {
        "list": "Each entry of the list in it",
        "rows": "Each object, or the file as a whole",
        "columns": "Each name in it is a column",
    },
}


_NAMED, _EXAMPLES = 3, 2
"""Columns that are named where one answer is for several, and cells that each answer shows; of several, one will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    title: str
    examples: tuple[str, ...]
    key: str
    click: Callable[..., None]
    args: tuple[Any, ...] = ()
    now: bool = False
    """Whether the table is read so already."""


def show_doubts(own: OwnFile, doubts: Collection[str], *, key: str = "own-reading") -> None:
    """These open questions about the file, some of its ``doubts`` and ``form_doubts``; nothing where there are none."""
    if own.reading is None or not doubts:
        return
    of_file = bool(set(doubts) & set(own.doubts))
    why = said.DOUBTS_OF_FILE if of_file else None
    for doubt in doubts:
        if doubt == "file:header":
            _header(own, why)
        elif doubt == "file:part":
            _part(own, why)
        elif doubt.startswith("file:"):
            _alternatives(own, doubt.removeprefix("file:"), why)
    open_ = [column for column in own.reading.columns if column.name in doubts]
    groups: dict[tuple[str, ...], list[ReadColumn]] = {}
    for column in open_:
        groups.setdefault(_ways(column), []).append(column)
    for place, alike in enumerate(groups.values()):
        _columns(own, alike, f"{key}-{place}", why)
    if not of_file:
        st.caption(said.FORM_OF_FILE)


def with_those_alike(own: OwnFile, doubts: Collection[str]) -> list[str]:
    """The questions of these columns, and of those that can be read in the same ways: one click answers for all."""
    if own.reading is None:
        return list(doubts)
    open_ = set(own.doubts)
    ways = {_ways(one) for one in own.reading.columns if one.name in doubts}
    alike = [one.name for one in own.reading.columns if one.name in open_ and _ways(one) in ways]
    return [*doubts, *(name for name in alike if name not in doubts)]


def _ways(column: ReadColumn) -> tuple[str, ...]:
    return tuple(one.label for one in column.readings)


def _ask(own: OwnFile, question: str, answers: list[_Answer], why: str | None) -> None:
    with st.container(border=True):
        st.markdown(f":material/rule: **{question}**", help=why)
        with st.grid(max(len(answers), 2), min_column_width=220, vertical_alignment="bottom"):
            for answer in answers:
                with st.container(gap="small"):
                    shown = [*answer.examples, *([said.READ_SO] if answer.now else [])]
                    if shown:
                        st.markdown("  \n".join(shown))
                    st.button(answer.title, key=answer.key, on_click=actions.of(own, answer.click), args=answer.args)


def _alternatives(own: OwnFile, argument: str, why: str | None) -> None:
    report = own.reading.report if own.reading is not None else None
    parts = [part for part in report.alternatives if part.argument == argument] if report is not None else []
    answers = [
        _Answer(
            title=titled(argument, part.value),
            examples=(words.safe(part.example),),
            key=f"own-{argument}-{place}",
            click=_read_as,
            args=(argument, part.value),
            now=report is not None and _is_so(report, argument, part.value),
        )
        for place, part in enumerate(parts)
    ]
    _ask(own, ASKED.get(argument, f"Which {argument} is right?"), answers, why)


def titled(argument: str, value: str) -> str:
    """What the button says that answers so."""
    if argument == "header_line":
        return f"On line {int(value):,}"
    named = ANSWERS.get(argument, {}).get(value, value)
    if argument == "delimiter":
        return words.safe(named).capitalize()
    return words.plural(int(value), "column") if argument == "columns" else named


def _part(own: OwnFile, why: str | None) -> None:
    """Which sheet of a workbook, or which file of an archive: there can be many, so they are a list."""
    if own.reading is None:
        return
    report = own.reading.report
    names = [part.value for part in report.alternatives if part.argument == "part"]
    with st.container(border=True):
        st.markdown(f":material/rule: **{said.PART_ASKED}**", help=why)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            place = st.selectbox(
                said.PART,
                range(len(names)),
                index=names.index(report.part) if report.part in names else 0,
                key=naming.about("own-part"),
                format_func=apart(range(len(names)), lambda one: words.visible(names[one], 60)),
                width=320,
            )
            st.button(said.PART_GO, key="own-part-go", on_click=actions.of(own, _read_as), args=("part", names[place]))


def _stated(argument: str, value: str) -> dict[str, Any]:
    """The arguments that read the file so."""
    if argument == "keep_footer":
        return {argument: value == "True"}
    if argument == "columns":
        return {argument: int(value)}
    return {"header_rows": 0, "header_line": int(value)} if argument == "header_line" else {argument: value}


def _is_so(report: Report, argument: str, value: str) -> bool:
    if argument == "keep_footer":
        return report.keep_footer == (value == "True")  # guessed or said
    now: dict[str, Any] = report.stated(argument)
    return now == _stated(argument, value)


def _read_as(argument: str, value: str) -> None:
    own = source.own_file()
    stated = _stated(argument, value)
    if own is not None and own.reading is not None and own.reading.report.stated(argument) == stated:
        actions.settle(f"file:{argument}")
    else:
        arrivals.read_again(**stated)


def _header(own: OwnFile, why: str | None) -> None:
    if own.as_read is None:
        return
    report = own.as_read.report
    now = len(report.header_lines)
    told = understood.named_on(report, list(own.as_read.frame.columns))
    answers = [
        _Answer(
            title="Yes, keep these names",
            examples=(f"{told[:1].upper()}{told[1:]}.",),
            key="own-header-keep",
            click=actions.settle,
            args=("file:header",),
        )
    ]
    others = {0: "No line names them", 1: "One line names them", 2: "Two lines name them"}
    answers += [
        _Answer(
            title=title,
            examples=(),
            key=f"own-header-{rows}",
            click=_header_rows,
            args=(rows,),
        )
        for rows, title in others.items()
        if rows != now
    ]
    _ask(own, "Are these the names of the columns?", answers, why)


def _header_rows(rows: int) -> None:
    arrivals.read_again(header_rows=rows)


def _columns(own: OwnFile, alike: list[ReadColumn], key: str, why: str | None) -> None:
    named = ", ".join(f"“{words.safe(column.name, 40)}”" for column in alike[:_NAMED])
    more = f" and {words.plural(len(alike) - _NAMED, 'more column')}" if len(alike) > _NAMED else ""
    cells = 1 if len(alike) > 1 else _EXAMPLES
    answers = [
        _Answer(
            title=f"{reading.label[:1].upper()}{reading.label[1:]}",
            examples=tuple(
                f"{words.safe(raw)} reads as **{words.safe(value)}**" for raw, value in reading.examples[:cells]
            ),
            key=f"{key}-{number}",
            click=_choose,
            args=(tuple(column.name for column in alike), number),
        )
        for number, reading in enumerate(alike[0].readings)
    ]
    _ask(own, f"How is {named}{more} to be read?", answers, why)


def _choose(names: tuple[str, ...], number: int) -> None:
    own = source.own_file()
    if own is None or own.reading is None:
        return
    reading = own.reading
    chosen = [reading.column(name).readings[number].column for name in names]

    actions.decide(lambda old: reduce(Decisions.answered, chosen, old))
