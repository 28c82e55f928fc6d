"""A private model of a table of steps: its page offers none and says why, and Python can have one that hides a step."""

from __future__ import annotations

from datetime import date

import pytest

from dashboard.questions.training.released_model import ON_STEPS, model_request
from dpcore.datasets import Column, Declaration, Schema
from dpcore.datasets.declaration import STEPS_STAY
from dpcore.datasets.schema import EachRow

COLUMNS = (
    Column(name="hot", type="yes/no"),
    Column(name="rain", type="integer", low=0, high=10),
    Column(name="wind", type="category", categories=("north", "south")),
    Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 12, 31)),
)
ASKED = {"target": "hot", "columns": ("rain", "wind"), "positive": None, "epsilon": 1.0, "delta": 1e-6}


def declared(each_row: EachRow) -> Declaration:
    return Declaration.of(Schema(columns=COLUMNS, each_row=each_row, unit="day"))


@pytest.mark.parametrize("kind", ["model", *ON_STEPS])
def test_its_page_hides_who_comes_or_goes_and_so_offers_none_of_steps(kind: str) -> None:
    of_steps = model_request(kind, declared("step"), steps=True, **ASKED)
    assert isinstance(of_steps, str)
    assert STEPS_STAY in of_steps
    of_people = model_request(kind, declared("record"), steps=True, **ASKED)
    assert not isinstance(of_people, str)
    assert of_people.neighbours == "add_remove"


@pytest.mark.parametrize("kind", ON_STEPS)
def test_python_can_ask_for_one_that_hides_a_step_that_changes(kind: str) -> None:
    found = ON_STEPS[kind].of(declared("step"), neighbours="replace_one", **ASKED)
    assert found.neighbours == "replace_one"
