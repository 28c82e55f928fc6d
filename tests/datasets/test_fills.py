"""What stands for a missing cell is refused when it is declared, or can be written wherever a cell is missing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.audit.declared import BOUNDS, FILLS, WORDS
from dpcore.datasets import Column, Schema, apply, conversion, loaded, saved, schema
from dpcore.datasets.fills import fill_number
from dpcore.datasets.template import Template
from dpcore.errors import InvalidArgument

CELLS = {"number": "3", "integer": "3", "date": "2024-01-03", "category": "a", "yes/no": "yes", "text": "one"}


def columns(kind: str) -> list[Column]:
    """Columns of a type that can be constructed of the extremes: every stand-in with every bound, and all the words."""
    ends = ("earliest", "latest") if kind == "date" else ("low", "high")
    bounds: list[dict[str, Any]] = [dict(zip(ends, both, strict=True)) for both in BOUNDS.get(kind, ())]
    named = [name for name in WORDS if name == "missing_words" or kind in ("category", "yes/no")]
    words: list[dict[str, Any]] = [{name: some} for name in named for some in WORDS[name]]
    found = []
    of_file = [one | {"from_file": True} for one in bounds[:1]]
    for fill, others in (*product(FILLS[kind], [{}, *bounds, *of_file]), *product(FILLS[kind][:2], words)):
        with suppress(InvalidArgument):
            found.append(Column(name="x", type=kind, fill=fill, **others))  # type: ignore[arg-type]
    return found


def fails(column: Column) -> set[tuple[str, ...]]:
    """The columns of cells that cannot be read; a missing one must change neither the type of the values nor others."""
    cell = CELLS[column.type]
    found, wrong = {}, set[tuple[str, ...]]()
    for cells in ((cell, cell), (cell, ""), ("zebra",)):
        frame = pd.DataFrame({"x": pd.Series(cells, dtype="str")})
        try:
            found[cells] = apply(Schema(columns=(column,)), frame).frame["x"]
        except (TypeError, ValueError, ArithmeticError, LookupError):
            wrong.add(cells)
    types = {str(values.dtype) for values in found.values()}
    assert len(types) <= 1, column
    return wrong


@pytest.mark.parametrize("kind", CELLS)
def test_every_column_that_can_be_declared_reads_any_cell(kind: str) -> None:
    several = columns(kind)
    assert len(several) >= 8
    assert not [column for column in several if fails(column)]


def test_what_cannot_be_written_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "check_fill", lambda column: None)
    monkeypatch.setattr(conversion, "_filled", lambda values, column: values.fillna(int(float(column.fill))))
    wide = Column(name="x", type="integer", fill=1e30)
    assert fails(wide) == {("3", ""), ("zebra",)}, "and only where a cell is missing"


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"type": "integer", "fill": 1e30}, "whole number"),
        ({"type": "integer", "fill": 3.5}, "whole number"),
        ({"type": "integer", "low": 0, "high": 9, "fill": 10}, "between the smallest and the largest"),
        ({"type": "number", "low": 0, "high": 9, "fill": -0.5}, "between the smallest and the largest"),
        ({"type": "number", "fill": "9" * 400}, "a number"),
        ({"type": "date", "latest": date(2024, 1, 1), "fill": "2024-01-02"}, "between the earliest and the latest"),
        ({"type": "yes/no", "fill": "perhaps"}, "yes or no"),
        ({"type": "category", "categories": ("a",), "fill": "b"}, "one of the options"),
        ({"type": "text", "fill": "\ud800"}, "text that can be written"),
    ],
)
def test_a_stand_in_that_its_column_cannot_hold_is_refused_in_a_sentence(declared: dict, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said) as caught:
        Column(name="x", **declared)
    assert caught.value.argument == "fill"


def test_a_declaration_that_is_brought_is_refused_alike() -> None:
    good = saved(Template(schema=Schema(columns=(Column(name="x", type="integer", low=0, high=9, fill=4.0),))))
    assert loaded(good).schema.columns[0].fill == 4.0
    for wrong in ("1e30", "1" + "0" * 400, "3.5", '"many"', "11.0", '"\\ud800"'):
        with pytest.raises(InvalidArgument):
            loaded(good.replace("4.0", wrong))


def test_yes_is_yes_whatever_the_words_for_it() -> None:
    frame = pd.DataFrame({"x": pd.Series(["ja", ""], dtype="str")})
    column = Column(name="x", type="yes/no", yes_words=("Ja",), no_words=("nein",), fill="yes")
    assert apply(Schema(columns=(column,)), frame).frame["x"].tolist() == [True, True]
    assert apply(Schema(columns=(replace(column, fill="NEIN"),)), frame).frame["x"].tolist() == [True, False]


def test_options_of_the_file_hold_the_stand_in_whether_a_cell_is_missing_or_not() -> None:
    column = Column(name="x", type="category", fill="none")
    for cells in (["a", ""], ["a", "a"]):
        applied = apply(Schema(columns=(column,)), pd.DataFrame({"x": pd.Series(cells, dtype="str")}))
        assert applied.schema.columns[0].categories == ("a", "none")


def test_bounds_beyond_what_a_table_holds_still_hold_its_values() -> None:
    frame = pd.DataFrame({"x": pd.Series(["-9223372036854775808", "9223372036854775807", "5"], dtype="str")})
    column = Column(name="x", type="integer", low=-1e30, high=1e30)
    assert apply(Schema(columns=(column,)), frame).frame["x"].tolist() == [-(2**63), 2**63 - 1, 5]
    with pytest.raises(InvalidArgument, match="whole number between"):
        Column(name="x", type="integer", low=0.2, high=0.8)
    assert np.isnan(fill_number(column))
