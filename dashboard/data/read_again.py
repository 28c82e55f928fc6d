"""A file that was just read, for the first time or again, or whose steps changed: what of what was said of it stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dashboard.data.decisions import Decisions, carried, said_of_rows
from dashboard.data.file_rows import LEFT_OUT
from dashboard.data.own_file import OwnFile
from dpcore.datasets import MonthsToRows, OneRowPer, Step, TicksToRows
from dpcore.datasets.schema import EachRow
from dpcore.datasets.steps import rows_made

if TYPE_CHECKING:
    from dpcore.datasets import Reading
    from dpcore.sketches import Sketch


def opened(
    name: str,
    data: bytes,
    choices: tuple[tuple[str, Any], ...],
    reading: Reading,
    sketch: Sketch | None,
    before: OwnFile | None,
) -> OwnFile:
    """A file just read. ``before`` is the same file read with other choices: what was declared by hand is kept."""
    if before is None or before.reading is None:
        decisions = Decisions(schema=reading.suggested())
        return OwnFile(name=name, data=data, choices=choices, reading=reading, decisions=decisions, sketch=sketch)
    decisions = carried(before.decisions, before.reading, reading)
    others = are_others(before, reading)
    if others:
        decisions = _of_others(decisions)
    if others or _counts_rows(before.steps):
        decisions = _rows_anew(decisions, reading, ())
    elif before.steps or _may_bring_rows(before.choices, choices):
        decisions = _rows_unsaid(decisions)
    return replace(
        before,
        choices=choices,
        reading=reading,
        read=None,
        steps=(),
        decisions=decisions,
        sketch=sketch,
        earlier=(),
        use=None,
        plan=None,
        same=False,
        joined=False,
    )


def worked(own: OwnFile, reading: Reading, steps: tuple[Step, ...]) -> OwnFile:
    """``own`` with these steps done, ``reading`` being the table after them; what was declared by hand is kept.

    Where one row becomes several, or several one, how many a person can have is asked anew; and where a step is taken
    back, for it may have left rows out.
    """
    if own.reading is None:
        return own
    decisions = carried(own.decisions, own.reading, reading)
    if _counts_rows(steps) != _counts_rows(own.steps):
        decisions = _rows_anew(decisions, reading, steps)
    elif not set(own.steps) <= set(steps):
        decisions = _rows_unsaid(decisions)
    decisions = said_of_rows(decisions, rows_made(steps, decisions.schema.each_row), said=decisions.said_rows)
    return replace(
        own, reading=reading, read=own.as_read if steps else None, steps=steps, decisions=decisions, earlier=()
    )


def are_others(before: OwnFile, reading: Reading) -> bool:
    """Whether another table is read of the same file than before, whatever steps made of that: of another sheet or
    part, from below other lines, named or not, or with other columns than were declared."""
    if before.as_read is None:
        return False
    here, there = before.as_read, reading
    places = [(one.report.part, one.report.objects, one.report.stated("header_line")) for one in (here, there)]
    names = [{column.name for column in one.columns} - here.stated - there.stated for one in (here, there)]
    return places[0] != places[1] or names[0] != names[1]


def _of_others(decisions: Decisions) -> Decisions:
    """What was said of one table of a file that holds of another: bounds and options, but nothing of its form, whose
    rows they are, or how a column of the same name is read."""
    return Decisions(
        schema=replace(decisions.schema, id_column=None, people=None), copied=decisions.copied, marked=decisions.marked
    )


def _may_bring_rows(before: Iterable[tuple[str, Any]], choices: Iterable[tuple[str, Any]]) -> bool:
    """Whether these choices can bring rows that those before did not: all but how numbers and days are written, and
    that totals and notes are left out, which takes rows away alone."""
    written = {"decimal", "date_order"}
    old, new = ({one for one in those if one[0] not in written} for those in (before, choices))
    return old != new - ({LEFT_OUT} - old)


def _rows_unsaid(decisions: Decisions) -> Decisions:
    """With how many rows a person has to be said once more: there can be other rows."""
    schema = replace(decisions.schema, rows_per_person=1)
    return replace(decisions, schema=schema, said_rows=False)


def _rows_anew(decisions: Decisions, reading: Reading, steps: tuple[Step, ...]) -> Decisions:
    """With what one row is as these steps leave it, and how many a person has to be said once more."""
    each_row = _each_row(reading, steps)
    schema = replace(
        decisions.schema,
        rows_per_person=rows_made(steps, each_row),
        each_row=each_row,
        id_column=decisions.schema.id_column if each_row == "record" else None,
    )
    return replace(decisions, schema=schema, said_rows=False, said_row=False, confirmed_row=False)


def _each_row(reading: Reading, steps: tuple[Step, ...]) -> EachRow:
    """What one row is after these steps: rows that were put together by person or by day say so themselves."""
    together = [step for step in steps if isinstance(step, OneRowPer)]
    if together:
        return "step" if together[-1].day else "record"
    return reading.suggested().each_row


def _counts_rows(steps: tuple[Step, ...]) -> list[Step]:
    return [step for step in steps if isinstance(step, MonthsToRows | OneRowPer | TicksToRows)]
