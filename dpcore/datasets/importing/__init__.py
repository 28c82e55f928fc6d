"""CSV files of any size made into a folder of Parquet files, by whoever owns them, who sees what did not fit."""

from dpcore.datasets.importing.folder import Imported, import_csv

__all__ = ["Imported", "import_csv"]
