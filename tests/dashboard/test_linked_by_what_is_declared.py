"""Which controls of a person's own data a link could carry, and what they offer, follows from what was declared."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd
import pytest

from dashboard import catalogue, offering
from dashboard.case import Case, Source
from dashboard.controls import Setting
from dashboard.question import CannotAsk
from dashboard.questions.thresholding import alarm_setting
from dashboard.words import alarm as said
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply
from dpcore.datasets.schema import EachRow

Rows = list[list[str]]
COLUMNS = (
    Column(name="cases", type="integer", sensitivity=1, counts=True),
    Column(name="cost", type="number", low=0, high=10),
    Column(name="price", type="number", low=0, high=10),
    Column(name="answer", type="yes/no"),
    Column(name="colour", type="category", categories=("red", "blue", "green")),
    Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 12, 31)),
)


def rows(count: int) -> Rows:
    return [
        [str(n % 5), str(n % 11), str(n % 7), ("yes", "no")[n % 2], ("red", "blue")[n % 2], f"2024-01-{n % 28 + 1:02}"]
        for n in range(count)
    ]


def with_one(table: Rows, other: list[str]) -> Rows:
    return [table[0], other, *table[2:]]


HOSTILE = {
    "below nothing": ["-1", "-1", "-1", "no", "green", "2023-01-01"],
    "empty": [""] * 6,
    "large": ["999999999", "1e300", "1e300", "maybe", "violet", "9999-12-31"],
    "like the others": ["1", "1", "1", "yes", "red", "2024-01-02"],
}


def linked(each_row: EachRow, table: Rows) -> dict[str, Any]:
    """By question, the linked controls that it reads, with what each offers and begins with."""
    schema = Schema(columns=COLUMNS, each_row=each_row, unit="person")
    frame = pd.DataFrame(table, columns=[column.name for column in COLUMNS], dtype="str")
    source = Source(
        key="own-x",
        title="file",
        mode="what_if",
        table=apply(schema, frame).table(fingerprint=repr(table), lineage=""),
        lineage="people",
        practice=False,
        declared=Declaration.of(schema),
        rows=lambda: PrivateRows(frame),
    )
    found: dict[str, Any] = {}
    for _, kind in catalogue.every():
        read = Setting()
        try:
            offering.ask(kind, Case(source=source, epsilon=0.5), read)
        except CannotAsk as error:
            found[kind.key] = str(error)
            continue
        found[kind.key] = {
            control.key: (
                control.default,
                *(repr(getattr(control, name, None)) for name in ("options", "low", "high")),
            )
            for _, control in read.seen.values()
            if control.linked
        }
    return found


@pytest.mark.parametrize("each_row", ["record", "step", "option"])
@pytest.mark.parametrize("other", HOSTILE)
def test_no_row_decides_which_controls_a_link_carries(each_row: EachRow, other: str) -> None:
    table = rows(30)
    assert linked(each_row, with_one(table, HOSTILE[other])) == linked(each_row, table)


@pytest.mark.parametrize("count", [4, 14, 24])
@pytest.mark.parametrize("other", HOSTILE)
def test_nor_does_a_row_that_comes(count: int, other: str) -> None:
    """As at 15 rows, from which on a tenth of them are two."""
    assert linked("record", [*rows(count), HOSTILE[other]]) == linked("record", rows(count))


def test_where_runs_of_other_counts_were_asked_for_and_there_are_none_the_chart_says_so() -> None:
    counted = [column for column in COLUMNS if column.counts]
    notes = []
    for entry in ("4", "-1"):
        schema = Schema(columns=tuple(counted), each_row="step", unit="person")
        frame = pd.DataFrame({"cases": [*"0659" * 5, entry]}, dtype="str")
        table = apply(schema, frame).table(fingerprint=entry, lineage="")
        source = Source(key="own-x", title="", mode="what_if", table=table, lineage="people", practice=False)
        kind = next(kind for _, kind in catalogue.every() if kind.key == "alarm")
        question = kind.ask(Case(source=source, epsilon=0.5), Setting({"sampling": True}))
        notes.append([said.BAND in question.view.band, said.UNSHADED in question.view.band])
    assert notes == [[True, False], [False, True]]


def test_a_control_that_the_values_have_read_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: whether runs of other counts can be drawn was asked where all counts could be drawn anew."""
    plain, lower = rows(30), with_one(rows(30), HOSTILE["below nothing"])
    assert "sampling" in linked("step", plain)["alarm"]
    of = alarm_setting.Setting.of.__func__  # type: ignore[attr-defined]

    def before(cls: type, case: Any, watched: Any, series: Any, read: Any) -> Any:
        def asked(control: Any, place: Any = "options") -> Any:
            if control.key == "sampling" and (series.answers < 0).any():
                return control.default
            return read(control, place)

        return of(cls, case, watched, series, asked)

    monkeypatch.setattr(alarm_setting.Setting, "of", classmethod(before))
    assert linked("step", plain) != linked("step", lower)
