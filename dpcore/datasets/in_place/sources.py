"""Which folders and databases this server offers: a TOML file that its owner writes, named by an environment variable.

::

    [trips]
    label = "Taxi trips"
    folder = "/srv/data/trips"

    [clinic]
    label = "Clinic"
    address = "postgresql+psycopg://reader@db/clinic"
    tables = ["visits"]          # leave out for all tables and views
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from dpcore.datasets.in_place.aggregates import InPlace
from dpcore.datasets.in_place.database import open_database, tables_of
from dpcore.datasets.in_place.folder import open_folder
from dpcore.errors import InvalidArgument

SETTING = "EPSILON_LAB_SOURCES"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredSource:
    """One folder of Parquet files, or one database. The address is kept out of its representation."""

    name: str
    label: str
    folder: str = ""
    address: str = ""
    allowed: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ConfiguredSource(name={self.name!r}, label={self.label!r})"

    def tables(self) -> tuple[str, ...]:
        """Tables and views to choose from; one without a name for a folder. Raises UnreadableFile."""
        return ("",) if self.folder else tables_of(self.address, allowed=self.allowed)

    def open(self, table: str = "") -> InPlace:
        """Raises UnreadableFile."""
        if self.folder:
            return open_folder(self.folder, name=self.name)
        return open_database(self.address, table, name=self.name, allowed=self.allowed)


def configured_sources(file: str | Path | None = None) -> tuple[ConfiguredSource, ...]:
    """What the file lists (by default the one that EPSILON_LAB_SOURCES names); nothing without one.

    Raises InvalidArgument when it is not written as it should be.
    """
    place = file if file is not None else os.environ.get(SETTING, "")
    if not place:
        return ()
    try:
        listed = tomllib.loads(Path(place).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise InvalidArgument(SETTING, "must name a TOML file that lists folders and databases") from None
    return tuple(_source(name, entry) for name, entry in listed.items())


def _source(name: str, entry: object) -> ConfiguredSource:
    known = {"label", "folder", "address", "tables"}
    if not isinstance(entry, dict) or not set(entry) <= known or ("folder" in entry) == ("address" in entry):
        raise InvalidArgument(name, "must have either a folder or an address, and else only a label and tables")
    tables = entry.get("tables", [])
    texts = [entry.get(key, "") for key in ("label", "folder", "address")]
    if not all(isinstance(text, str) for text in (*texts, *tables)) or not isinstance(tables, list):
        raise InvalidArgument(name, "must hold texts, and tables a list of texts")
    label, folder, address = texts
    return ConfiguredSource(name=name, label=label or name, folder=folder, address=address, allowed=tuple(tables))
