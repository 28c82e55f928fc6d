"""Tables that stay where they are: counted and added up in place, for folders of Parquet files and databases."""

from dpcore.datasets.in_place.aggregates import InPlace
from dpcore.datasets.in_place.database import open_database, tables_of
from dpcore.datasets.in_place.duck import open_folder
from dpcore.datasets.in_place.private import PrivateSource
from dpcore.datasets.in_place.sources import ConfiguredSource, configured_sources

__all__ = [
    "ConfiguredSource",
    "InPlace",
    "PrivateSource",
    "configured_sources",
    "open_database",
    "open_folder",
    "tables_of",
]
