"""Which folders and databases this server offers: a TOML file that its owner writes, named by an environment variable.

::

    [trips]
    label = "Taxi trips"
    folder = "/srv/data/trips"
    epsilon = 2.0                # all that private answers about its people may ever reveal together
    rows_per_person = 1          # that nobody has more is the owner's word
    unit = "rider"               # who is protected; "person" when left out

    [clinic]
    label = "Clinic"
    address = "postgresql+psycopg://reader@db/clinic"
    epsilon = 1.0
    rows_per_person = 3
    id_column = "patient"        # whose row it is: at most three rows of each are ever counted
    tables = ["visits"]          # leave out for all tables and views
    never_fail = ["visits"]      # views of which its owner states that no cell makes them fail
    row_by_row = ["visits"]      # and that none of their rows hangs on rows of others

    [rides]
    folder = "/srv/data/rides"
    format = "csv"               # one line one row; Parquet when left out
    delimiter = ";"              # a comma when left out
    decimal = ","                # a point when left out
    columns = { rider = "text", kilometres = "number", day = "date" }
    epsilon = 1.0
    rows_per_person = 40
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from dpcore.datasets.in_place.form import Form
from dpcore.datasets.schema import MOST_PEOPLE
from dpcore.errors import DpcoreError, InvalidArgument
from dpcore.secret_files import warn_if_others_read
from dpcore.validate import Neighbours, in_range, one_of, whole

if TYPE_CHECKING:
    from dpcore.datasets.in_place.aggregates import InPlace

SETTING = "EPSILON_LAB_SOURCES"
MOST_EPSILON = 20.0
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TEXTS = {"label": 80, "folder": 4000, "address": 4000, "unit": 30, "id_column": 200, "hides": 20}
_FORM = ("format", "delimiter", "decimal", "columns")
_LISTS = ("tables", "never_fail", "row_by_row")
_NUMBERS = ("epsilon", "delta", "rows_per_person")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredSource:
    """One folder of Parquet or CSV files, or one database, and what its owner states about the people in it.

    ``epsilon``, ``delta`` and ``hides`` are the one budget that all its tables have together, under the name
    ``lineage``. Of each ``unit`` at most ``rows_per_person`` rows of a table count where ``id_column`` says whose a row
    is; else that there are no more is the owner's word. ``never_fail`` are views of which it is their owner's word that
    they give an answer whatever their cells hold, and ``row_by_row`` that none of their rows hangs on rows of others.
    ``form`` is that of CSV files. The address is kept out of its representation.
    """

    name: str
    label: str
    epsilon: float
    rows_per_person: int
    delta: float = 0.0
    hides: Neighbours = "add_remove"
    unit: str = "person"
    id_column: str | None = None
    folder: str = ""
    address: str = ""
    allowed: tuple[str, ...] = ()
    never_fail: tuple[str, ...] = ()
    row_by_row: tuple[str, ...] = ()
    form: Form | None = None

    def __repr__(self) -> str:
        return f"ConfiguredSource(name={self.name!r}, label={self.label!r})"

    @property
    def lineage(self) -> str:
        """Whose budget it is: that of all people in this source, whatever the table."""
        return f"configured:{self.name}"

    def tables(self) -> tuple[str, ...]:
        """Tables and views to choose from; one without a name for a folder. Raises UnreadableFile."""
        from dpcore.datasets.in_place.database import tables_of  # loads the database's driver

        return ("",) if self.folder else tables_of(self.address, allowed=self.allowed)

    def open(self, table: str = "") -> InPlace:
        """The table, to be counted where it is. Raises UnreadableFile."""
        from dpcore.datasets.in_place.database import open_database
        from dpcore.datasets.in_place.duck import open_folder, open_lines

        if self.form is not None:
            return open_lines(self.folder, self.form)
        if self.folder:
            return open_folder(self.folder)
        return open_database(
            self.address, table, allowed=self.allowed, never_fail=self.never_fail, row_by_row=self.row_by_row
        )


def configured_sources(file: str | Path | None = None) -> tuple[ConfiguredSource, ...]:
    """What the file lists (by default the one that EPSILON_LAB_SOURCES names); nothing without one.

    Raises InvalidArgument when it is not written as it should be.
    """
    place = file if file is not None else os.environ.get(SETTING, "")
    if not place:
        return ()
    try:
        listed = tomllib.loads(Path(place).read_text(encoding="utf-8"))
        warn_if_others_read(Path(place), f"the file that {SETTING} names")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise InvalidArgument(SETTING, "must name a TOML file that lists folders and databases") from None
    return tuple(_source(name, entry) for name, entry in listed.items())


def _source(name: str, entry: object) -> ConfiguredSource:
    if not isinstance(entry, dict) or not set(entry) <= {*_TEXTS, *_NUMBERS, *_FORM, *_LISTS}:
        raise _wrong(name, f"must hold only {', '.join((*_TEXTS, *_NUMBERS, *_FORM, *_LISTS[:-1]))} and {_LISTS[-1]}")
    if not _NAME.fullmatch(name):
        raise _wrong(name, "must be named by letters, digits, - and _, at most 40 of them")
    if ("folder" in entry) == ("address" in entry):
        raise _wrong(name, "must have either a folder or an address")
    for key, longest in _TEXTS.items():
        value = entry.get(key, "-")
        if not isinstance(value, str) or not 0 < len(value.strip()) <= longest:
            raise _wrong(name, f"must have a text of at most {longest} characters as its {key}")
    lists: dict[str, Any] = {key: entry.get(key, []) for key in _LISTS}
    for key, found in lists.items():
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise _wrong(name, f"must have a list of texts as its {key}")
    tables = lists["tables"]
    if "tables" in entry and not tables:
        raise _wrong(name, "must offer one table at least; take the whole source out of the list to offer none")
    missing = [key for key in ("epsilon", "rows_per_person") if key not in entry]
    if missing:
        raise _wrong(name, f"must state its {' and its '.join(missing)}: nothing private is answered without")
    try:
        budget = in_range(0.01, MOST_EPSILON, epsilon=entry["epsilon"])
        delta = in_range(0.0, 0.01, delta=entry.get("delta", 0.0))
        rows = whole(1, MOST_PEOPLE, rows_per_person=entry["rows_per_person"])
        hides = one_of(get_args(Neighbours), hides=entry.get("hides", "add_remove"))
        form = _form(entry)
    except DpcoreError as error:
        raise _wrong(name, f"is not written as it should be: {error}") from None
    return ConfiguredSource(
        name=name,
        label=str(entry.get("label", name)).strip(),
        epsilon=budget,
        delta=delta,
        hides=cast(Neighbours, hides),
        rows_per_person=rows,
        unit=str(entry.get("unit", "person")).strip(),
        id_column=entry.get("id_column"),
        folder=entry.get("folder", ""),
        address=entry.get("address", ""),
        allowed=tuple(tables),
        never_fail=tuple(lists["never_fail"]),
        row_by_row=tuple(lists["row_by_row"]),
        form=form,
    )


def _form(entry: dict[str, Any]) -> Form | None:
    """That of CSV files; none for Parquet. Raises InvalidArgument."""
    stated = {key: entry[key] for key in _FORM if key in entry}
    if not stated:
        return None
    if stated.pop("format", None) != "csv" or "folder" not in entry:
        raise InvalidArgument("format", 'must be "csv", of a folder, where its columns or delimiter are stated')
    columns = stated.pop("columns", {})
    if not isinstance(columns, dict) or not all(
        isinstance(text, str) for text in (*columns.values(), *stated.values())
    ):
        raise InvalidArgument("columns", 'must give each column\'s type, such as { age = "integer", ward = "text" }')
    form = Form(columns=tuple(columns.items()), **stated)
    if entry.get("id_column", next(iter(columns))) not in columns:
        raise InvalidArgument("id_column", "must be one of the columns")
    return form


def _wrong(name: str, what: str) -> InvalidArgument:
    return InvalidArgument(SETTING, f"names a file in which [{name[:40]}] {what}")
