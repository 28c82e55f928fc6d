"""Public rules by which any cell counts: sentences for the label card, and the numbers that stand for missing cells."""

from __future__ import annotations

import math

import numpy as np

from dpcore.datasets.declaration import shown
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument
from dpcore.in_units import FARTHEST, to_units
from dpcore.validate import FloatArray, IntArray, Neighbours
from dpcore.written import exact


def options_of(column: Column) -> tuple[str, ...]:
    """The declared options of a column, in their public order."""
    return ("no", "yes") if column.type == "yes/no" else column.categories


def option_rules(column: Column) -> tuple[str, ...]:
    """What happens to cells of a column of options that are no option."""
    name = shown(column.name)
    if column.fill is None:
        found = f"A cell of “{name}” that is missing or not among the options counts for none."
    else:
        found = f"A cell of “{name}” that is missing or not among the options counts as “{shown(str(column.fill))}”."
    if not column.words_from_file:
        return (found,)
    return (found, words_rule(f"“{shown(column.name, 40)}”"))


def words_rule(listed: str) -> str:
    """Said where the options of these columns were taken over from the file."""
    told = f"The options of {listed} are words of the file, or of an earlier one"
    return f"{told}: that a word occurs there is not hidden."


def bound_rule(column: Column) -> str:
    """What happens to numbers beyond the bounds."""
    return f"Values of “{shown(column.name)}” outside {_range(column)} are moved to the nearer bound."


def _range(column: Column) -> str:
    """The declared bounds of a column that has both."""
    return f"{exact(column.low or 0.0)} to {exact(column.high or 0.0)}"


def stand_in(column: Column) -> float:
    """The public number that stands for a missing cell of scores: the declared fill, else 0, within the bounds."""
    low, high = _bounds(column)
    return float(min(max(0.0 if column.fill is None else float(column.fill), low), high))


def _bounds(column: Column) -> tuple[float, float]:
    low = -math.inf if column.low is None else column.low
    high = math.inf if column.high is None else column.high
    if column.type == "integer":
        return float(np.ceil(low)), float(np.floor(high))
    return low, high


def missing_rule(column: Column) -> str:
    """What a missing score counts as."""
    return f"A missing or unreadable cell of “{shown(column.name)}” counts as {exact(stand_in(column))}."


def entry_rules(column: Column) -> tuple[str, ...]:
    """What scores count as where they are missing, or beyond the bounds that were declared."""
    low, high = column.low, column.high
    other = (missing_rule(column), *_rounding_rule(column))
    if low is not None and high is not None:
        return (bound_rule(column), *other)
    if low is None and high is None:
        return other
    end = f"below {exact(low)}" if low is not None else f"above {exact(high or 0.0)}"
    return (f"Values of “{shown(column.name)}” {end} are moved to that bound.", *other)


def _rounding_rule(column: Column) -> tuple[str, ...]:
    """What a number with a fraction counts as among whole ones."""
    if column.type != "integer" or column.sensitivity is None:
        return ()
    counts = f"A number with a fraction counts in “{shown(column.name)}”"
    return (f"{counts} as the nearest whole one, one halfway between two as the larger.",)


def entry_sensitivity(column: Column, neighbours: Neighbours = "add_remove") -> float:
    """How far one person can move one entry of a table of options or steps: as declared, else over the whole range.

    It was said of one who comes or goes: who takes another's place moves an entry twice as far, unless entries count
    people, which both move the same way. How many rows one person has says nothing of it, whatever entries count: one
    can be in an entry several times. Raises InvalidArgument where neither was declared.
    """
    if column.moved is not None:
        whole = math.inf if column.low is None or column.high is None else column.high - column.low
        return float(column.moved if _both_alike(column, neighbours) else min(2 * column.moved, whole))
    if column.low is None or column.high is None:
        raise InvalidArgument(
            "sensitivity", f"of “{shown(column.name)}” must be declared, or its lowest and highest values"
        )
    return float(column.high - column.low)


def _both_alike(column: Column, neighbours: Neighbours) -> bool:
    """Whether who takes another's place moves an entry no farther than one of the two does."""
    return neighbours == "add_remove" or column.reads_as_counts


def sensitivity_rule(column: Column, unit: str, neighbours: Neighbours) -> str:
    """How far one person can move an entry, and how that is known."""
    name, step = shown(column.name), entry_sensitivity(column, neighbours)
    if column.moved is None or column.sensitivity is None:
        told = f"One {shown(unit)} may move an entry of “{name}” over its whole declared range of {_range(column)}"
        return f"{told}: nothing less was stated, or none that holds of this kind of file, as it does of CSV."
    told = (
        f"That one {shown(unit)} can move an entry of “{name}”, as it is read for this answer, by at most "
        f"{exact(column.sensitivity)} was stated and not checked"
        + ("." if column.moved == column.sensitivity else f", which is at most {exact(column.moved)} in whole numbers.")
    )
    if _both_alike(column, neighbours):
        return told
    reach = f"by {exact(step)}" if step == 2 * column.moved else f"over its whole declared range of {_range(column)}"
    return f"{told} One in another's place may move it {reach}."


def resolution_of(column: Column, sensitivity: float) -> float | None:
    """None where scores are whole numbers by their declaration; else what they are rounded to."""
    return None if column.type == "integer" else sensitivity / 1000.0


def score_units(values: FloatArray, column: Column, unit: float) -> IntArray:
    """Scores as whole units, shape of ``values``: NaN by ``stand_in``, all within bounds that can be added up."""
    low, high = _bounds(column)
    filled = np.clip(np.where(np.isnan(values), stand_in(column), values), low, high)
    return to_units(np.clip(filled, -FARTHEST * unit, FARTHEST * unit), unit)


def check_scores(column: Column) -> Column:
    """``column`` if its cells can be scores. Raises InvalidArgument."""
    if not column.is_numeric:
        raise InvalidArgument("columns", f"cannot include “{shown(column.name)}”: it does not hold numbers")
    return column
