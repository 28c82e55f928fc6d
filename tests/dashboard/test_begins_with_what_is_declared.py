"""What a question about a person's own file begins with follows from what was declared, however other columns look."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd
import pytest

from dashboard import catalogue, offering
from dashboard.case import Case, Source
from dashboard.controls import Setting
from dashboard.question import CannotAsk, Offer
from dashboard.questions.thresholding import alarm
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply
from dpcore.datasets.completion import completed_from
from dpcore.datasets.schema import ColumnType, EachRow
from dpcore.release import question_digest

KNOWN = {
    "colour": Column(name="colour", type="category", categories=("red", "blue")),
    "size": Column(name="size", type="category", categories=("small", "large", "huge")),
    "age": Column(name="age", type="integer", low=0, high=100),
    "cost": Column(name="cost", type="number", low=0, high=10),
    "cases": Column(name="cases", type="integer", low=0, high=10, sensitivity=1, counts=True),
    "answer": Column(name="answer", type="yes/no"),
    "day": Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 12, 31)),
    "century": Column(name="century", type="date", earliest=date(1924, 1, 1), latest=date(2024, 12, 31)),
}
ROWS = [
    {
        **{"colour": ("red", "blue")[n % 2], "size": ("small", "large", "huge")[n % 3], "age": str(20 + n % 50)},
        **{"cost": str(n % 11), "cases": str(n % 5), "answer": ("yes", "no")[n % 2]},
        **{"day": f"2024-01-{n % 28 + 1:02}", "century": f"1984-01-{n % 28 + 1:02}"},
    }
    for n in range(60)
]
LOOKS: dict[ColumnType, list[str]] = {
    "text": [f"some words {n}" for n in range(60)],
    "date": [f"2024-02-{n % 28 + 1:02}" for n in range(60)],
    "category": [("a", "b")[n % 2] for n in range(60)],
    "yes/no": [("yes", "no")[n % 2] for n in range(60)],
    "number": [f"{n % 7}.5" for n in range(60)],
    "integer": [str(n % 7) for n in range(60)],
}
DECLARED = [
    *(
        ("colour",),
        ("age",),
        ("day",),
        ("answer",),
        ("century",),
        ("colour", "age"),
        ("answer", "size"),
        ("day", "colour"),
    ),
    *(("age", "cost"), ("cases",), ("cases", "cost"), ("answer", "age", "cost"), ("age", "day", "colour", "answer")),
]


def began(each_row: EachRow, declared: tuple[str, ...], looks: ColumnType, *, first: bool) -> dict[str, Any]:
    """By question, what all of its controls begin with, and the private answer that it offers."""
    other = Column(name="other", type=looks)
    known = [KNOWN[name] for name in declared]
    schema = Schema(columns=(other, *known) if first else (*known, other), each_row=each_row)
    frame = pd.DataFrame(ROWS, dtype="str").assign(other=pd.Series(LOOKS[looks], dtype="str"))[list(schema.names)]
    source = Source(
        key="own-x",
        title="file",
        mode="what_if",
        table=apply(completed_from(schema, frame), frame).table(fingerprint=f"{declared}{looks}{first}", lineage=""),
        lineage="people",
        practice=False,
        declared=Declaration.of(schema.only(*declared)),
        rows=lambda: PrivateRows(frame),
    )
    found: dict[str, Any] = {}
    for _, kind in catalogue.every():
        read = Setting()
        try:
            offer = offering.ask(kind, Case(source=source, epsilon=0.5), read).question.offer
        except CannotAsk:
            continue
        told = question_digest(offer.request) if isinstance(offer, Offer) else offer.sentence
        begins = {
            key: control.default for key, (place, control) in read.seen.items() if place in ("sentence", "options")
        }
        found[kind.key] = (begins, told)
    return found


@pytest.mark.parametrize("first", [True, False], ids=["before", "behind"])
@pytest.mark.parametrize("each_row", ["record", "step", "option"])
@pytest.mark.parametrize("declared", DECLARED, ids="+".join)
def test_no_column_that_nobody_spoke_of_decides_what_is_asked(
    declared: tuple[str, ...], each_row: EachRow, first: bool
) -> None:
    """Wherever it stands. Of text nothing is asked, so what is asked beside it is asked about what was declared."""
    plain = began(each_row, declared, "text", first=first)
    for looks in LOOKS:
        found = began(each_row, declared, looks, first=first)
        assert {key: found[key] for key in plain} == plain, looks


def test_a_page_that_begins_with_what_looks_fit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: an alarm watched days before options, whoever had spoken of which."""
    monkeypatch.setattr(alarm, "_first", lambda case, possible: possible[0])
    plain, found = (began("record", ("colour",), looks, first=False)["alarm"] for looks in ("text", "date"))
    assert plain != found
