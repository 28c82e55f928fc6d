"""A column that a declaration has read by its codes is found in another file as every declared column is."""

from __future__ import annotations

import random

import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Template, fitted, read_table, template
from dpcore.datasets.schema import Schema
from dpcore.datasets.template import form_for
from tests.datasets.test_labelled_letters import by_readstat

SPELLED = ("pain", "Pain", "PAIN", "pain_score", "Pain_Score", "other")


def alike(declared: tuple[str, ...], header: tuple[str, ...]) -> None:
    """Raises AssertionError where the two do not find a column under the same name."""
    columns = tuple(Column(name=name, type="number", low=0, high=9) for name in declared)
    facts = Template(schema=Schema(columns=columns), choices=(("coded", declared),))
    data = by_readstat(pyreadstat.write_sav)({name: [1.0] for name in header})  # type: ignore[list-item]
    fit = fitted(facts, read_table(data))
    found = set(fit.schema.names) - set(fit.undeclared)
    assert form_for(facts, header)["coded"] == tuple(sorted({*found, *fit.lacking}))


def test_both_find_a_column_alike() -> None:
    alike(("pain",), ("Pain", "other"))
    draw = random.Random(1)
    for _ in range(60):
        alike(*(tuple(draw.sample(SPELLED, draw.randint(1, 4))) for _ in "ab"))  # type: ignore[arg-type]


def test_a_name_by_its_letters_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "_spelled", lambda names, header: {name: name for name in names if name in header})
    facts = Template(schema=Schema(columns=(Column(name="pain", type="text"),)), choices=(("coded", ("pain",)),))
    assert form_for(facts, ("Pain",)) == {"coded": ("pain",)}


def test_a_file_is_read_so_under_its_own_names() -> None:
    facts = Template(
        schema=Schema(columns=(Column(name="pain", type="number", low=0, high=9),)),
        choices=(("coded", ("pain",)), ("decimal", ",")),
    )
    data = by_readstat(pyreadstat.write_sav, variable_value_labels={"Pain": {1: "none"}})({"Pain": [1.0, 2.0]})  # type: ignore[list-item]
    header = tuple(read_table(data).frame.columns)
    form = form_for(facts, header)
    assert form == {"coded": ("Pain",), "decimal": ","}
    pd.testing.assert_series_equal(
        read_table(data, **form).frame["Pain"], pd.Series(["1", "2"], name="Pain"), check_dtype=False
    )
    assert form_for(facts, ("other",)) == dict(facts.choices), "what is not there is refused in a sentence"
