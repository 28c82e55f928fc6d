"""What of a file's declaration is taken along, to be saved and for the next table of its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpcore.datasets import Column, Template
from dpcore.datasets.schema import unmoved, whose_row
from dpcore.datasets.template import Choice

if TYPE_CHECKING:
    from dashboard.data.own_file import OwnFile

_NO_NAME = "column 1"  # a declaration has one column at least; this one is no word of a file


def template(own: OwnFile) -> Template:
    """What was declared about the table and stated of its form, for the next one of its kind; no column whose name is a
    word of its rows, and where each row names its own cells none that nobody declared or spoke of; not how far one
    moves an entry, which is said of these alone; and of a file what says whose row it is as it is asked: as plain text
    where nothing else was declared of it, however it looks."""
    columns = own.columns
    schema = own.schema if own.described else replace(own.schema, columns=unmoved(own.schema.columns))
    if own.named_by_rows:
        schema = replace(schema, columns=unmoved(_said(own)) or (Column(name=_NO_NAME, type="text"),))
    elif own.from_rows and own.as_read is not None:
        public = tuple(one for one in schema.columns if one.name not in own.from_rows)
        named = (str(name) for name in own.as_read.frame.columns if name not in own.as_read.from_rows)
        read = tuple(Column(name=name, type="text") for name in named)
        schema = replace(schema, columns=public or read)
    if not own.decisions.said_rows:
        schema = replace(schema, rows_per_person=own.made)
    if own.worded:  # a word may say of nobody whose row it is, and no declaration names it
        schema = replace(schema, id_column=None)
    told = tuple(one for one in schema.columns if columns.after_looking(one))
    whose = own.schema.id_column
    if not own.unseen and whose in schema.names and not columns.stands(schema.column(whose)):
        schema = schema.with_column(whose_row(schema.column(whose)))
    spoken = set(columns.told_of(told))
    return Template(
        schema=schema,
        steps=own.steps,
        choices=stated_form(own),
        suggested=tuple(one.name for one in told),
        confirmed=tuple(one.name for one in told if one.name in spoken or schema.column(one.name).type == "text"),
        row_suggested=own.rows.suggested,
    )


def says_nothing(own: OwnFile) -> bool:
    """Whether a declaration would name no column of the table: each row names its own cells, and nobody has declared
    one."""
    return own.named_by_rows and not _said(own)


def _said(own: OwnFile) -> tuple[Column, ...]:
    """Where rows name the columns those of which all was declared that an answer needs, be it that nobody called right
    yet how they are read, and those that somebody spoke of."""
    spoken = {column.name: column for column in own.columns.spoken_of}
    stands = own.columns.stands
    here = [one for one in own.schema.columns if one.name in spoken or (one.name not in own.from_rows and stands(one))]
    return tuple(spoken.get(one.name, one) for one in here)


def stated_form(own: OwnFile) -> tuple[tuple[str, Choice], ...]:
    """What a person stated of the form of a file, as a declaration keeps it: no value of a row is in it."""
    return tuple(sorted(own.form.stated.items()))
