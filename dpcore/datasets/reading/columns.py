"""Which columns a table has: those that the lines above it name, whatever its rows hold.

What one row holds must move nothing of another. So a column without a name that is there because rows fill it is good
for looking alone, and where no line names the columns, how many there are is for a person to state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from dpcore.datasets.reading.layout import unnamed_index
from dpcore.datasets.reading.naming import names
from dpcore.datasets.report import Notice
from dpcore.datasets.unnamed_index import NOTHING_ELSE
from dpcore.errors import UnreadableFile

Filled = Callable[[int], bool]
"""Whether any row holds something at this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Columns called ``labels`` stand at ``places`` of the cells of a row.

    A row with cells from place ``most`` on has too many of them; None where none is too many. ``loose`` are the columns
    that are there because rows fill them. ``single`` is whether there is only one other. At the places ``index`` are
    the cells of an index without a name, which say nothing of a row.
    """

    labels: tuple[str, ...]
    places: tuple[int, ...]
    most: int | None
    loose: frozenset[str]
    single: bool
    notices: tuple[Notice, ...]
    index: tuple[int, ...] = ()


def of_lines(heading: list[list[str]], lines: tuple[int, ...], filled: Filled) -> Columns:
    """As the first lines of a text file name them: in order, each with its delimiter. A delimiter at the end of every
    line makes no column."""
    most = max(map(len, heading))
    named = max((place + 1 for record in heading for place, cell in enumerate(record) if cell.strip()), default=most)
    loose = [place for place in range(named, most) if filled(place)]
    found = _columns(heading, lines, range(named), loose, most)
    empty = most - named - len(loose)
    if not empty:
        return found
    sentence = "Empty columns without a name at the right were left out."
    return _noticed(found, Notice(what="repaired", sentence=sentence, count=empty))


def of_cells(heading: list[list[str]], lines: tuple[int, ...], filled: Filled) -> Columns:
    """As rows of a sheet name them: a name stands above its column, and cells elsewhere are in none."""
    width = max(map(len, heading))
    named = [place for place in range(width) if any(record[place].strip() for record in heading)]
    loose = [place for place in range(width) if place not in named and filled(place)]
    if not named and not loose:  # a heading of nothing, with no row that says anything
        loose = [0]
    return _columns(heading, lines, named, loose, None)


def numbered(width: int, *, too_many: bool) -> Columns:
    """As many as were stated, or guessed, where no line names them."""
    labels, notices = names([], width, ())
    return Columns(
        labels=tuple(labels),
        places=tuple(range(width)),
        most=width if too_many else None,
        loose=frozenset(),
        single=width == 1,
        notices=tuple(notices),
    )


def _columns(
    heading: list[list[str]], lines: tuple[int, ...], named: Iterable[int], loose: list[int], most: int | None
) -> Columns:
    index = unnamed_index(heading)
    sure = [place for place in named if place not in index]
    if index and not sure:
        raise UnreadableFile(NOTHING_ELSE)
    labels, notices = names(
        [[record[place] if place < len(record) else "" for place in sure] for record in heading], len(sure), lines
    )
    by_place = dict(zip(sure, labels, strict=True))
    for place in loose:
        fresh = f"column {place + 1}"
        while fresh in by_place.values():
            fresh = f"{fresh} without a name"
        by_place[place] = fresh
    fresh_labels = tuple(by_place[place] for place in loose)
    found = Columns(
        labels=tuple(by_place[place] for place in sorted(by_place)),
        places=tuple(sorted(by_place)),
        most=most,
        loose=frozenset(fresh_labels),
        single=len(sure) == 1 and (most is None or most == 1),
        notices=tuple(notices),
        index=index,
    )
    if not loose:
        return found
    sentence = "Columns without a name are shown, and in no private answer; name them in the file to ask about them."
    return _noticed(
        found, Notice(what="repaired", sentence=sentence, count=len(loose), lines=lines, columns=fresh_labels)
    )


def _noticed(columns: Columns, notice: Notice) -> Columns:
    return replace(columns, notices=(notice, *columns.notices))
