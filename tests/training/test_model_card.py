"""The card of a released model promises no more than its receipt: whom it hides, and what ε does not cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dashboard.questions.training.released_model import KINDS
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.done import Done
from dpcore.datasets.text import plain_markdown, plain_sentence
from dpcore.release import sentence
from dpcore.releases.asked_model import AskedModel
from dpcore.releases.model import PrivateModel
from dpcore.training import PrivateClassifier, load_model
from dpcore.training.model import LinearModel

ALL = (PrivateModel, *KINDS)
WARD = Column(name="ward", type="category", categories=("a word of one", "north", "south"), words_from_file=True)
AGE = Column(name="age", type="number", low=0.0, high=100.0)
ILL = Column(name="ill", type="yes/no")
WHO = Column(name="who", type="text")
STATED = Declaration(columns=(replace(WARD, words_from_file=False), AGE, ILL), people=60)
TOLD = Declaration(
    columns=(WARD, AGE, ILL, WHO),
    rows_per_person=3,
    unit="household",
    people=60,
    suggested=("age",),
    row_suggested=True,
    form=("foot left out",),
    named_by_rows=True,
    done=(Done(kind="missing", columns=("age",)),),
)
FRAME = pd.DataFrame(
    {
        "ward": ["north", "south", "a word of one"] * 20,
        "age": [str(20 + row) for row in range(60)],
        "ill": ["yes", "no"] * 30,
        "who": [str(row // 3) for row in range(60)],
    },
    dtype=str,
)


def asked(kind: type[AskedModel], declared: Declaration) -> AskedModel:
    return kind.of(declared, target="ill", columns=("ward", "age"), epsilon=1.0, delta=1e-6)


def carded(kind: type[AskedModel], declared: Declaration) -> tuple[AskedModel, str]:
    request = asked(kind, declared)
    return request, load_model(request.answer(PrivateRows(FRAME))).card()


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.key)
def test_whatever_the_receipt_says_the_card_says(kind: type[AskedModel]) -> None:
    request, card = carded(kind, TOLD)
    assert len(request.notes) >= 7
    for note in request.notes:
        assert note in sentence(request)
        assert plain_sentence(note) in card, note
    assert "one household with at most 3 rows" in card
    assert "one person" not in card
    assert "for everything in the file together" not in card
    declared = next(line for line in card.splitlines() if "declared, not read from the data" in line)
    assert declared.startswith(("Bounds, other options and cuts", "Bounds and other options")), "no column names"


@pytest.mark.parametrize(
    ("unit", "hidden", "said"),
    [
        ("visit", "add_remove", "adding or removing one visit with one row"),
        ("day", "replace_one", "replacing one day with one row"),
        ("person", "add_remove", "adding or removing one person with one row"),
        ("[x](http://e)", "add_remove", r"removing one \[x\]\(http\:⁠//e\) with one row"),
    ],
)
def test_whom_a_model_hides(unit: str, hidden: Any, said: str) -> None:
    _, card = carded(PrivateModel, replace(STATED, unit=unit, hidden=hidden))
    assert said in card
    assert "Column names, bounds, options and cuts were declared, not read from the data." in card
    assert "words of the file" not in card


def test_what_a_column_of_persons_bounds_is_said_as_on_the_receipt() -> None:
    _, card = carded(PrivateModel, replace(TOLD, id_column="who"))
    assert "At most 3 rows of one household count, by the column “who”." in card
    assert "That each “who” is all of one household and never spelled in two ways was stated and not checked." in card


def test_a_model_from_before_claims_nothing_that_it_does_not_know() -> None:
    plain = asked(PrivateModel, TOLD).answer(PrivateRows(FRAME))
    about: Mapping[str, Any] = {
        name: said
        for name, said in plain["about"].items()
        if name not in ("unit", "notes", "words_from_file", "named_by_rows")
    }
    card = load_model(plain | {"about": about}).card()
    assert "one person" not in card
    assert "not read from the data" not in card
    assert "the unit that its receipt names" in card
    assert "What was declared, and what was taken over from the file, is on its receipt." in card


def test_the_check_notices_a_card_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    told = AskedModel.about

    def silent(self: AskedModel, people: int) -> dict[str, Any]:
        return told(self, people) | {"notes": []}

    monkeypatch.setattr(AskedModel, "about", silent)
    with pytest.raises(AssertionError):
        test_whatever_the_receipt_says_the_card_says(PrivateModel)


SIGNS = "![x](https://e.org) **b** `c` <i> #"


def test_names_in_a_card_are_never_markup() -> None:
    frame = FRAME.rename(columns={"ward": SIGNS, "ill": f"{SIGNS}2"})
    columns = (
        Column(name=SIGNS, type="category", categories=("north", "south"), words_from_file=True),
        AGE,
        Column(name=f"{SIGNS}2", type="yes/no"),
    )
    declared = Declaration(columns=columns, unit=SIGNS, people=60, suggested=(SIGNS,), rows_per_person=2)
    request = PrivateModel.of(declared, target=f"{SIGNS}2", columns=(SIGNS, "age"), epsilon=1.0, delta=1e-6)
    model = load_model(request.answer(PrivateRows(frame)))
    assert isinstance(model, LinearModel)
    other = PrivateClassifier(epsilon=2.0, columns={SIGNS: ["north", "south"], "age": (0, 100)}, random_state=1).fit(
        frame[[SIGNS, "age"]].astype({"age": float}), frame[f"{SIGNS}2"]
    )
    for card in (model.card(), other.card()):
        assert plain_markdown(SIGNS) in card
        for markup in ("![x]", "**b", " `c", "<i>", "https://"):
            assert markup not in card, markup
