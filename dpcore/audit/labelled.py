"""Tables as bytes of SPSS and Stata: codes with a codebook, of which a row may have one that is in none, and days as
numbers, of which a row may have one that no calendar has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal

import pandas as pd
import pyreadstat

from dpcore.datasets import Column, Schema
from dpcore.datasets.temporary import private_folder

Program = Literal["SPSS", "Stata"]
_BEGINS = {"SPSS": date(1582, 10, 14), "Stata": date(1960, 1, 1)}
_LENGTH = {"SPSS": 86_400.0, "Stata": 1.0}
_FORMAT = {"SPSS": "DATE11", "Stata": "%td"}
_NOT_LABELLED, _NO_DAY, _NONE = 9.0, 1e12, float("nan")


def labelled_bytes(schema: Schema, rows: Sequence[tuple[str, ...]], program: Program) -> bytes:
    """The file of these rows; options and yes and no have labels."""
    cells = zip(*rows, strict=True)
    columns = {
        column.name: [_number(column, cell, program) for cell in own]
        for column, own in zip(schema.columns, cells, strict=True)
    }
    labels: dict[str, dict[int | float, str]] = {
        column.name: {code: word for word, code in _codes(column).items()}
        for column in schema.columns
        if _codes(column)
    }
    days = {column.name: _FORMAT[program] for column in schema.columns if column.type == "date"}
    write = pyreadstat.write_sav if program == "SPSS" else pyreadstat.write_dta
    with private_folder() as folder:
        file = folder / "rows"
        write(pd.DataFrame(columns), str(file), variable_value_labels=labels, variable_format=days)
        return file.read_bytes()


def _codes(column: Column) -> Mapping[str, int]:
    if column.type == "yes/no":
        return {"no": 0, "yes": 1}
    return {word: place for place, word in enumerate(column.categories, 1)}


def _number(column: Column, cell: str, program: Program) -> float:
    if not cell:
        return _NONE
    if column.type == "date":
        try:
            return (date.fromisoformat(cell[:10]) - _BEGINS[program]).days * _LENGTH[program]
        except ValueError:
            return _NO_DAY
    if book := _codes(column):
        return float(book.get(cell, _NOT_LABELLED))
    try:
        return float(cell)
    except ValueError:
        return _NONE
