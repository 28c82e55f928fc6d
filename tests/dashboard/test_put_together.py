"""Rows that a step put together are asked only where each holds what one protected unit did alone, whatever its name.

The law is checked by the rows themselves: of a table in which everybody is in several places, leaving somebody out
takes rows away where the rule allows, and what it refuses has a neighbour whose rows change.
"""

from __future__ import annotations

import pytest

from dashboard.data.put_together import refusal, whole_of
from dpcore.datasets import OneRowPer, Step, read_csv

UNITS = ("person", "Person", "patient", "Patients", "pupil", "ward", "visit", "employee", "day", "")
COLUMNS = ("who", "ward", "Ward_ID", "visit", "patient", "PatientID", "employee no.", "e-mail", "number", "first name")
WHOLE = {
    "who": {"person", "Person", "patient", "Patients", "pupil", "employee", ""},
    "ward": {"ward"},
    "Ward_ID": {"ward"},
    "visit": {"visit"},
    "patient": {"person", "Person", "patient", "Patients", ""},
    "PatientID": {"person", "Person", "patient", "Patients", ""},
    "employee no.": {"person", "Person", "employee", ""},
    "e-mail": {"person", "Person", "patient", "Patients", "pupil", "employee", ""},
    "number": set(),
    "first name": set(),
}


@pytest.mark.parametrize("by", COLUMNS)
def test_a_name_must_say_for_certain_that_it_is_of_the_unit(by: str) -> None:
    assert {unit for unit in UNITS if whole_of(by, unit)} == WHOLE[by]
    for unit in UNITS:
        steps: tuple[Step, ...] = (OneRowPer(by=by),)
        assert bool(refusal(steps, unit)) == (unit not in WHOLE[by])
        assert bool(refusal((*steps, OneRowPer(by="ward")), unit)) or unit == "ward", "each step must be"


def as_before(by: str, unit: str) -> bool:
    return unit != "person" or by == "who"


def test_what_is_allowed_takes_rows_away_and_changes_none() -> None:
    """The table says what is so: everybody goes to both wards, on two days, each time as another visit."""
    people, wards = ("ann", "bob", "eva"), ("A", "B")
    rows: list[tuple[str, ...]] = [
        (who, ward, f"{who}{ward}{day}", f"2024-01-0{day}") for who in people for ward in wards for day in (1, 2)
    ]  # fmt: skip
    names = ("who", "ward", "visit", "day")

    def after(step: OneRowPer, kept: list[tuple[str, ...]]) -> set[tuple[str, ...]]:
        text = "\n".join(",".join(row) for row in (names, *kept)) + "\n"
        frame = read_csv(text.encode()).after((step,)).frame
        return set(frame.itertuples(index=False, name=None))

    def only_loses(step: OneRowPer, unit: str) -> bool:
        """Whether leaving out one unit, any of them, only takes rows away."""
        at = names.index("who" if unit in ("person", "patient") else unit)
        whole = after(step, rows)
        return all(after(step, [row for row in rows if row[at] != one]) < whole for one in {row[at] for row in rows})

    wrong = set()
    for step in (*(OneRowPer(by=by) for by in names[:3]), OneRowPer(by="day", day=True)):
        for unit in ("person", "patient", "ward", "visit", "day"):
            if not refusal((step,), unit):
                assert only_loses(step, unit), (step, unit)
            if as_before(step.by, unit) and not only_loses(step, unit):
                wrong.add((step.by, unit))
    assert ("ward", "patient") in wrong, "this test can fail"
