"""What was done to a table before it is read, as a receipt says it: chosen by somebody who had seen its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from dpcore.datasets.declaration import Reads, shown
from dpcore.datasets.done import Done, StepKind

SEEN = "a person who had seen the file or an earlier one"
UNCOVERED = "not covered by ε"
"""In every sentence of a receipt that says what a person who had seen the data added to an answer."""
_MOST, _NAME = 3, 30  # steps told in a sentence, and characters of a name there


def steps_chosen(reads: Reads) -> tuple[str, ...]:
    """One sentence about what was done to the table before it is read, none where nothing was."""
    if not reads.done:
        return ()
    times = Counter(reads.done)
    told = [_DONE[one.kind](one, number) for one, number in times.items()]
    rest = len(told) - _MOST
    if rest > 0:
        told = [*told[:_MOST], f"{rest:,} more {'step is' if rest == 1 else 'steps are'} done"]
    return (f"That {' and '.join(told)} was chosen by {SEEN}: {UNCOVERED}.",)


def _column(done: Done, place: int = 0) -> str:
    name = done.columns[place]
    return f"“{shown(name, _NAME)}”" if name else "a column"


def _missing(done: Done, number: int) -> str:
    words = "one word" if number == 1 else f"{number:,} words"
    return f"{words} of {_column(done)} {'is' if number == 1 else 'are'} read as missing"


def _split(done: Done, what: str) -> str:
    sign, most, *options = done.stated
    which = {"": "all options", "1": "the first option"}.get(most, f"the first {most} options")
    listed = f", one for each of the {len(options):,} that are listed" if options else ""
    between = f"with “{shown(sign[0])}” between them{' and before decimals' if sign[1:] else ''}"
    return f"{which} of each cell of {_column(done)}, {between}, are {what}{listed}"


def _months(done: Done) -> str:
    return f"{len(done.columns):,} columns, {_column(done)} to {_column(done, -1)}, are rows"


def _together(done: Done) -> str:
    how, day, mark, *missing = done.stated
    number = "their number" if how == "count" else f"the {how} of {_column(done, 1)}"
    number += {"": "", ".": ", with a decimal point", ",": ", with a decimal comma"}[mark]
    one = f"one {'day of ' if day else ''}{_column(done)}" if day or done.columns[0] else "one value of a column"
    stated = ", with words that mean missing stated" if missing else ""
    return f"all rows of {one} are one row with {number}{stated}"


_DONE: dict[StepKind, Callable[[Done, int], str]] = {
    "totals": lambda done, _: f"rows whose {_column(done)} says total or subtotal are left out",
    "missing": _missing,
    "columns": lambda done, _: _split(done, "columns"),
    "rows": lambda done, _: _split(done, "rows"),
    "months": lambda done, _: _months(done),
    "together": lambda done, _: _together(done),
}
