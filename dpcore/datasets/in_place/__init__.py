"""Tables that stay where they are: counted and added up in place, for folders of files and databases."""

from dpcore.datasets.in_place.aggregates import InPlace
from dpcore.datasets.in_place.database import open_database, tables_of
from dpcore.datasets.in_place.duck import open_folder, open_lines
from dpcore.datasets.in_place.form import Form
from dpcore.datasets.in_place.private import PrivateSource
from dpcore.datasets.in_place.sources import ConfiguredSource, configured_sources

__all__ = [
    "ConfiguredSource",
    "Form",
    "InPlace",
    "PrivateSource",
    "configured_sources",
    "open_database",
    "open_folder",
    "open_lines",
    "tables_of",
]
