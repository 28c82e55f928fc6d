"""A table of a configured source as a session holds it: where it is, and what its own schema says. No value of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from dashboard.data.decisions import Decisions
from dashboard.data.own_file import OwnFile
from dashboard.words import place as said
from dpcore.datasets import Column, PrivateRows, Schema
from dpcore.datasets.declaration import Stated, shown
from dpcore.datasets.in_place import ConfiguredSource, InPlace, PrivateSource, configured_sources
from dpcore.datasets.in_place.tongue import FITS, Kind
from dpcore.datasets.schema import ColumnType
from dpcore.errors import InvalidArgument, UnreadableFile

_USUAL: dict[Kind, ColumnType] = {
    "text": "category",
    "yes/no": "yes/no",
    "integer": "integer",
    "number": "number",
    "date": "date",
    "moment": "date",
    **dict.fromkeys(("bytes", "time", "fixed", "nothing", "other"), "text"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """``table`` of ``source``; ``kinds`` are its columns' by its schema, ``alone`` those that tell its rows apart.
    ``form`` is what its owner stated of the text files that it was made of, or of its rows, which answers say, and
    ``kinds_stated`` whether the types are somebody's word, and not what a program made of the rows."""

    source: ConfiguredSource
    table: str
    kinds: Mapping[str, Kind]
    alone: frozenset[str]
    form: tuple[Stated, ...] = ()
    kinds_stated: bool = True

    @property
    def title(self) -> str:
        """What pages call it."""
        return f"{self.source.label}, {self.table}" if self.table else self.source.label

    def types(self, name: str) -> tuple[ColumnType, ...]:
        """As what a column may be declared; one that tells rows or people apart is not asked about."""
        if name in self.alone:
            return ("text",)
        kind = self.kinds.get(name, "other")
        return tuple(known for known in get_args(ColumnType) if kind in FITS[known])

    def stated(self, schema: Schema) -> Schema:
        """``schema`` with what the owner of the source states of its people. Raises InvalidArgument for a column that
        is declared as what the source does not hold."""
        for column in schema.columns:
            if column.type not in self.types(column.name):
                raise InvalidArgument(
                    "columns", f"cannot declare “{shown(column.name)}” as that: the source says otherwise"
                )
        source = self.source
        return replace(
            schema,
            each_row="record",
            unit=source.unit,
            rows_per_person=source.rows_per_person,
            id_column=source.id_column,
        )

    def rows(self) -> PrivateRows:
        """The door to its rows, for one private answer."""
        return PrivateSource(self._open)

    def _open(self) -> InPlace:
        """The table as its owner offers it now. Raises UnreadableFile where they state something else of it than when
        it was chosen, or offer it no more."""
        try:
            listed = {one.name: one for one in configured_sources()}
        except InvalidArgument:
            raise UnreadableFile(said.STATED_ANEW) from None
        now = listed.get(self.source.name)
        same = {"label": self.source.label, "epsilon": self.source.epsilon, "delta": self.source.delta}
        if now is None or replace(now, **same) != self.source:  # type: ignore[arg-type]
            raise UnreadableFile(said.STATED_ANEW)
        return self.source.open(self.table)


def _begins(stored: InPlace, name: str) -> ColumnType:
    """As what the page begins with a column that is asked about. Where no person stated the types of a folder, one row
    may have made any of any other, so all begin as what fits every one: what is asked, and a receipt that says so,
    must not hang on that."""
    return _USUAL[stored.kinds[name]] if stored.kinds_stated else "text"


def placed(source: ConfiguredSource, table: str) -> OwnFile:
    """The table as the Data page begins with it: types by its own schema where they are somebody's word, people as its
    owner states them.

    Raises UnreadableFile where it cannot be reached, or takes several texts for one in the column that says whose a row
    is, InvalidArgument where it lacks that.
    """
    stored = source.open(table)
    if source.id_column in stored.names and stored.takes_several_for_one(str(source.id_column)):
        raise UnreadableFile(said.SEVERAL_FOR_ONE)
    whose = () if source.id_column is None else (source.id_column,)
    alone = stored.keys | frozenset(whose)
    place = Place(
        source=source,
        table=table,
        kinds=dict(stored.kinds),
        alone=alone,
        form=stored.form,
        kinds_stated=stored.kinds_stated,
    )
    columns = tuple(
        Column(name=name, type="text" if name in place.alone else _begins(stored, name)) for name in stored.names
    )
    schema = Schema(
        columns=columns, unit=source.unit, rows_per_person=source.rows_per_person, id_column=source.id_column
    )
    return OwnFile(
        name=place.title,
        data=b"",
        choices=(),
        reading=None,
        decisions=Decisions(schema=schema, said_rows=True, said_row=True),
        place=place,
        lineage=source.lineage,
    )
