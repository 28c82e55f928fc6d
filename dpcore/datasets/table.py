"""A typed table with its declaration: what every page works on, whether it came from a sample, a file or a twin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpcore.datasets.schema import Schema
from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """``frame`` holds one typed pandas column per declared column, missing cells as missing.

    Types: category → categorical with exactly the declared categories, number → float64, integer → Int64,
    yes/no → boolean, date → datetime64[s], text → str. Numbers and dates lie within their declared bounds.
    ``fingerprint`` tells tables apart to the last cell, in order, with their declaration: the key for caches.
    ``lineage`` names whose data a sample is ("sample:clinic"); empty for a file, whose people the ledger names.
    """

    frame: pd.DataFrame
    schema: Schema
    fingerprint: str
    lineage: str

    @property
    def rows(self) -> int:
        return len(self.frame)

    def codes(self, name: str) -> IntArray:
        """Position in the declared categories for every row, −1 where missing; yes/no counts as ("no", "yes")."""
        column = self.schema.column(name)
        if column.type == "category":
            return np.asarray(self.frame[name].cat.codes, dtype=np.int64)
        if column.type == "yes/no":
            return np.asarray(self.frame[name].astype("Int8").fillna(-1), dtype=np.int64)
        raise InvalidArgument("column", "must hold categories or yes/no")

    def options(self, name: str) -> tuple[str, ...]:
        """The declared categories of a column, in the order of ``codes``. Raises InvalidArgument."""
        column = self.schema.column(name)
        if column.type == "yes/no":
            return ("no", "yes")
        if column.type != "category":
            raise InvalidArgument("column", "must hold categories or yes/no")
        return column.categories

    def counts(self, name: str) -> IntArray:
        """Rows in each declared category, shape (k,), zeros included."""
        codes = self.codes(name)
        return np.bincount(codes[codes >= 0], minlength=len(self.options(name))).astype(np.int64)

    def numbers(self, name: str) -> FloatArray:
        """The present values of a number or integer column, float64, within the declared bounds."""
        if not self.schema.column(name).is_numeric:
            raise InvalidArgument("column", "must hold numbers")
        return self.frame[name].dropna().to_numpy(dtype=np.float64)

    def complete(self, *names: str) -> BoolArray:
        """Which rows have a value in every named column."""
        found = np.ones(len(self.frame), dtype=bool)
        for name in names:  # of all columns at once a copy would be made first
            found &= self.frame[name].notna().to_numpy(dtype=bool)
        return found

    def only(self, *names: str) -> Table:
        """The table with some of its columns."""
        tag = "|".join(f"{len(name)}:{name}" for name in names)
        return replace(
            self,
            frame=self.frame[list(names)],
            schema=self.schema.only(*names),
            fingerprint=f"{self.fingerprint}/{tag}",
        )
