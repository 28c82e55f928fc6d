"""What an answer calls its rows is given away: one column, about which no question asks in private."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Any

import pandas as pd
import pytest

from dashboard import catalogue, offering
from dashboard.case import Case, Source
from dashboard.controls import Setting, Several
from dashboard.question import CannotAsk, Kind, NoOffer, Offer
from dashboard.questions.thresholding.alarm_request import alarm_request
from dashboard.questions.thresholding.watched import Watched
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, private_rows
from dpcore.datasets.conversion import apply
from dpcore.datasets.private_rows import _days
from dpcore.errors import InvalidArgument
from dpcore.release import question_digest
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestScore

DAYS = {"earliest": date(1920, 1, 1), "latest": date(2020, 1, 1)}
VALUE = Column(name="v", type="integer", low=0, high=10, sensitivity=1.0)
ILL = Column(name="ill", type="yes/no")
KIND = Column(name="kind", type="category", categories=("flu", "cold", "other"))
BORN, SEEN = (Column(name=name, type="date", **DAYS) for name in ("born", "seen"))  # type: ignore[arg-type]
SHOP, COMMENT = (Column(name=name, type="text") for name in ("shop", "comment"))
ROWS = 24


def frame(columns: tuple[Column, ...], **second: str) -> pd.DataFrame:
    """``second``: what the second row holds in some columns."""
    cells = {
        "date": [f"{1950 + place}-03-01" for place in range(ROWS)],
        "text": [f"thing {place}" for place in range(ROWS)],
        "category": ["flu", "cold", "other"] * (ROWS // 3),
        "integer": [str(place % 10) for place in range(ROWS)],
        "yes/no": ["yes", "no"] * (ROWS // 2),
    }
    found = {column.name: list(cells[column.type]) for column in columns}
    for name, cell in second.items():
        found[name][1] = cell
    return pd.DataFrame(found, dtype="str")


def case_of(columns: tuple[Column, ...], each_row: Any) -> Case:
    schema, text = Schema(columns=columns, each_row=each_row), frame(columns)
    declared = Declaration.of(schema, hidden="replace_one")
    source = Source(
        key="own-x",
        title="t",
        mode="what_if",
        table=apply(schema, text).table(fingerprint="f", lineage=""),
        lineage=None,
        practice=False,
        declared=declared,
        so_far=declared,
        rows=lambda: PrivateRows(text),
    )
    return Case(source=source, epsilon=0.5)


def offers(columns: tuple[Column, ...], each_row: Any) -> list[Offer | NoOffer]:
    """What every question offers in each of its ways, and with every column that can be chosen."""
    case, found = case_of(columns, each_row), []
    for _, kind in catalogue.every():
        for values in ({}, *(dict(way.sets) for way in kind.ways(case.table.schema))):
            seen = Setting(values)
            with suppress(CannotAsk):
                found.append(offered(kind, case, values, seen))
            every = {key: tuple(one.options) for key, (_, one) in seen.seen.items() if isinstance(one, Several)}
            with suppress(CannotAsk):
                found.append(offered(kind, case, {**values, **every}, Setting()))
    return found


def offered(kind: type[Kind], case: Case, values: dict[str, Any], seen: Setting) -> Offer | NoOffer:
    """What is offered once what the page lacks for it is said, as by its button."""
    offer = offering.ask(kind, case, seen).question.offer
    if isinstance(offer, NoOffer) and offer.instead is not None:
        key, value, _ = offer.instead
        offer = offering.ask(kind, case, Setting({**values, key: value})).question.offer
    return offer


@pytest.mark.parametrize("each_row", ["step", "option"])
@pytest.mark.parametrize("named", [(BORN,), (SHOP,), (BORN, SHOP), ()])
def test_nothing_is_asked_about_what_names_the_rows(each_row: Any, named: tuple[Column, ...]) -> None:
    requests = [one.request for one in offers((*named, KIND, VALUE, ILL), each_row) if isinstance(one, Offer)]
    cells = frame((*named, KIND, VALUE, ILL))
    given = {
        name
        for request in requests
        if isinstance(request, AlarmRun)
        for name in cells
        if set(cells[name]) & set(request.labels)
    }
    assert given == {one.name for one in named if one.type == ("date" if each_row == "step" else "text")}
    options = {request.option for request in requests if isinstance(request, BestScore)}
    asked = {column.name for request in requests for column in request.reads.columns} - options
    assert {"v"} <= asked <= {"v", "ill", "kind"}


def alarm(columns: tuple[Column, ...], each_row: Any, text: pd.DataFrame) -> AlarmRun | str:
    return alarm_over(Declaration(columns=columns, each_row=each_row, hidden="replace_one"), "v", PrivateRows(text))


def alarm_over(declared: Declaration, column: str, rows: PrivateRows) -> AlarmRun | str:
    """What a page would ask for, with a line that every entry reaches."""
    return alarm_request(
        declared,
        Watched("column", column),
        rows=lambda: rows,
        line=-100.0,
        epsilon=0.05,
        neighbours="replace_one",
        method="exponential",
        limit=20,
        beta=0.05,
    )


@pytest.mark.parametrize(
    ("each_row", "columns"),
    [
        ("step", (BORN, SEEN)),
        ("step", (SEEN, SHOP, BORN)),
        ("option", (COMMENT, SHOP)),
        ("option", (SHOP, BORN, COMMENT)),
    ],
)
def test_where_several_could_name_the_rows_the_first_does_not(each_row: Any, columns: tuple[Column, ...]) -> None:
    every = (*columns, VALUE)
    found = alarm(every, each_row, frame(every))
    assert isinstance(found, str)
    assert f"not said which column names the {each_row}s" in found


@pytest.mark.parametrize("each_row", ["step", "option"])
@pytest.mark.parametrize("private", [{"kind": "other"}, {"ill": "yes"}, {"v": "9"}])
def test_no_cell_that_is_asked_about_is_in_what_a_receipt_is_by(each_row: Any, private: dict[str, str]) -> None:
    """A diagnosis named the days of an alarm, and a receipt's digest told a guess of it from the truth."""
    columns = (BORN, SHOP, KIND, ILL, VALUE)
    one, other = (alarm(columns, each_row, frame(columns, **second)) for second in ({}, private))
    assert isinstance(one, AlarmRun)
    assert isinstance(other, AlarmRun)
    assert question_digest(one) == question_digest(other)
    assert not {"flu", "cold", "other", "yes"} & set(other.labels)
    assert "not hidden" in " ".join(one.rules)


def test_the_engine_refuses_both_whoever_asks() -> None:
    """A day of infection was a column of a private model and named the days of an alarm over another, for ε 0.05."""
    steps = Declaration(columns=(BORN, SHOP, KIND, VALUE, ILL), each_row="step", hidden="replace_one", people=ROWS)
    model: dict[str, Any] = {"target": "ill", "epsilon": 1.0, "delta": 1e-6}
    with pytest.raises(InvalidArgument, match="say what a step is called"):
        ScaledModel.of(steps, columns=["v", "born"], **model)
    assert ScaledModel.of(steps, columns=["v", "kind"], **model)
    rows = PrivateRows(frame(steps.columns))
    assert rows.public_names(steps, "born")[0] == "1950-03-01"
    for private in ("kind", "v", "ill"):
        with pytest.raises(InvalidArgument, match="entries of any other are private"):
            rows.public_names(steps, private)


def test_names_are_days_and_not_what_stands_in_a_cell() -> None:
    """ "HIV since May", in a column of days, is no day."""
    cells = ["1950-03-01 08:30", "HIV since May", "", "1950-03-01", "1890-01-01"]
    rows = PrivateRows(pd.DataFrame({"born": cells}, dtype="str"))
    names = rows.public_names(Declaration(columns=(BORN,), each_row="step"), "born")
    assert names == ("1. 1950-03-01", "", "", "4. 1950-03-01", "1920-01-01")


def test_no_cell_is_so_long_a_name_that_there_is_no_answer() -> None:
    columns = (SHOP, VALUE)
    found = alarm(columns, "option", frame(columns, shop="x" * 300_000))
    assert isinstance(found, AlarmRun)
    assert max(map(len, found.labels)) == 200


def test_a_question_that_cannot_be_answered_says_so() -> None:
    columns = (BORN, SEEN, VALUE)
    kind = next(kind for _, kind in catalogue.every() if kind.key == "alarm")
    offer = offered(kind, case_of(columns, "step"), {}, Setting())
    assert isinstance(offer, NoOffer)
    assert "leave the type “Date” to it alone" in offer.sentence


def test_names_are_read_once_for_a_column_as_it_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page asks at every ε; of another column, or other days of it, they are read anew."""
    rows = PrivateRows(frame((BORN, SHOP)))
    steps = Declaration(columns=(BORN, SHOP), each_row="step")
    late = Declaration(columns=(replace(BORN, earliest=date(1960, 1, 1)), SHOP), each_row="step")
    first = rows.public_names(steps, "born")
    read: list[str] = []
    monkeypatch.setattr(private_rows, "_days", lambda column, cells: read.append(column.name) or _days(column, cells))
    assert rows.public_names(steps, "born") == first
    assert not read
    assert rows.public_names(late, "born") != first
    assert rows.public_names(steps, "shop")[0] == "thing 0"
    assert rows.public_names(steps, "born") == first
    assert read == ["born", "born"]
