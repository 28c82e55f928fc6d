"""Of entries of SPSS, Stata and SAS files, workbooks and JSON nobody is asked how far one moves them: by the kind of
the file alone the whole range counts, and the page says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import needed
from dashboard.data.file_rows import FileRows
from dashboard.data.own_file import OwnFile
from dashboard.words import columns as columns_said
from dashboard.words import data as said
from dpcore.datasets import Column, Declaration, Schema, read_table
from tests.dashboard.conftest import text
from tests.dashboard.test_coded_choice import LABELLED, OTHERS, opened
from tests.dashboard.test_data_page import drop, held

KINDS = LABELLED | OTHERS
RECODED = {*LABELLED, "sheet", "json"}


def stating(kind: str) -> OwnFile:
    """A table of options of which somebody says how far one moves an entry of each column."""
    own = opened(read_table(KINDS[kind](), **({"header_rows": 1} if kind in ("csv", "sheet") else {})))
    columns = tuple(Column(name=one, type="integer", low=0, high=9) for one in own.schema.names)
    own = own.decide(replace(own.decisions, schema=Schema(columns=columns, each_row="option"), said_row=True))
    for column in columns:
        own = own.decide(own.decisions.moved(replace(column, sensitivity=1.0, counts=True), own.entries))
    return own


def tell(kind: str) -> None:
    """Raises AssertionError unless the page and the rows take what was said alike."""
    own = stating(kind)
    assert own.reading is not None
    declared = Declaration.of(own.schema)
    engine = own.reading.private.said_of_entries(declared, None)
    assert engine == declared, "what the page holds to is what an answer holds to"
    counts = {column.sensitivity for column in own.schema.columns}
    assert counts == ({None} if kind in RECODED else {1.0})
    container = own.reading.report.container
    assert (own.rows.moves == said.moves_recoded("person", container)) == (kind in RECODED)
    asked = needed._declared_numbers(own)
    assert not asked or kind not in RECODED


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_of_entries_counts_by_the_kind_of_the_file(kind: str) -> None:
    tell(kind)


@pytest.mark.parametrize("kind", sorted(RECODED))
def test_what_counts_for_nothing_and_is_asked_is_found_out(kind: str) -> None:
    with patch.object(FileRows, "any_reach", property(lambda rows: rows.protected)), pytest.raises(AssertionError):
        tell(kind)


def asks(app: AppTest, kind: str) -> bool:
    """Whether the form of a column of numbers asks for it; the page says instead why not."""
    drop(app, KINDS[kind](), name=kind)
    app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value("option").run()
    app.selectbox(key="own-column").set_value("pain").run()
    shown = text(app)
    reading = held(app).reading
    assert reading is not None
    recoded = said.moves_recoded("person", reading.report.container).partition(":")[0]
    told = recoded in shown, said.moves_asked("person") in shown
    assert told == (kind in RECODED, kind not in RECODED)
    return any(one.label == columns_said.moves("person") for one in app.number_input)


def test_the_page_asks_for_it_where_it_counts(open_app: Callable[..., AppTest]) -> None:
    app = open_app("data")
    assert [asks(app, kind) for kind in ("sav without a label", "csv", "sheet", "json")] == [False, True, False, False]
