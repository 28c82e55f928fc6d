"""Many programs write a codebook of just the words that occur: what is taken over from one is marked as theirs."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import columns, declarations, read_again, template
from dashboard.data.decisions import Decisions
from dashboard.data.own_file import OwnFile
from dpcore.datasets import Column, Declaration, Schema, Template, read_table
from dpcore.datasets.template import without_rows
from dpcore.release import sentence
from dpcore.releases.selection import MostCommonOption
from tests.dashboard.test_data_page import declare, drop, held, press

PEOPLE = ["flu", "cold"] * 20
NOTE = "The options of “ill” are words of the file, or of an earlier one: that a word occurs there is not hidden."


def survey(cells: Sequence[str]) -> bytes:
    """As pandas writes it: each label is of a word that occurs."""
    file = io.BytesIO()
    pd.DataFrame({"nr": range(len(cells)), "ill": pd.Categorical(cells)}).to_stata(file, write_index=False)
    return file.getvalue()


def taken(app: AppTest) -> AppTest:
    app.selectbox(key="own-column").set_value("ill").run()
    return press(app, next(str(one.key) for one in app.button if str(one.key).startswith("own-codebook")))


def notes(own: OwnFile) -> str:
    assert own.columns.declared is not None
    return sentence(MostCommonOption.of(Declaration.of(own.columns.declared), "ill", epsilon=1.0))


def test_the_options_of_a_codebook_are_words_of_the_file_until_a_person_says_otherwise(
    open_app: Callable[..., AppTest],
) -> None:
    app = taken(drop(open_app("data"), survey([*PEOPLE, "hiv"]), name="survey.dta"))
    column = held(app).schema.column("ill")
    assert (column.categories, column.from_file, column.releasable) == (("cold", "flu", "hiv"), True, False)
    assert held(app).columns.declared is None
    assert not any(str(one.key).startswith("own-codebook") for one in app.button)
    declare(app, "ill", public=True)
    assert held(app).schema.column("ill").words_from_file
    assert held(app).decisions.copied == {"ill"}
    assert NOTE in notes(held(app))
    declare(app, "ill", anyone=True)
    column = held(app).schema.column("ill")
    assert (column.releasable, column.words_from_file, held(app).decisions.copied) == (True, False, frozenset())
    assert NOTE not in notes(held(app))
    declare(app, "ill", public=False)
    assert not held(app).schema.column("ill").releasable


def take(cells: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> OwnFile:
    """What the click makes of a file, without a page."""
    reading = read_table(survey(cells))
    own = read_again.opened("survey.dta", b"", (), reading, None, None)
    changes: list[Callable[[Decisions], Decisions]] = []
    monkeypatch.setattr(columns.actions, "decide", changes.append)
    columns._take_codebook("ill", reading.column("ill").codebook)
    return own.decide(changes[0](own.decisions))


def test_one_person_brings_no_option_to_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = (take(cells, monkeypatch) for cells in (PEOPLE, [*PEOPLE, "hiv"]))
    assert here.schema.column("ill").categories != there.schema.column("ill").categories
    assert (here.columns.declared, there.columns.declared) == (None, None)


@pytest.mark.parametrize("named", [True, False])
def test_a_declaration_takes_no_mark_from_a_codebooks_words(named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Used on this file it left the words as a draft without the mark: “Anyone could write this list”, it asked."""
    own = take([*PEOPLE, "hiv"], monkeypatch)
    bare = Template(schema=Schema(columns=(Column(name="nr", type="integer", low=0, high=99),)))
    kept: list[OwnFile] = []
    monkeypatch.setattr(declarations.actions, "commit", kept.append)
    assert own.reading is not None
    declarations._declare(own, own.reading, without_rows(template.template(own)) if named else bare)
    column = kept[-1].schema.column("ill")
    left = () if named else ("cold", "flu", "hiv")
    assert (column.categories, column.from_file) == (left, not named)
    assert kept[-1].decisions.copied == ({"ill"} if left else set())
