"""How many rows fall where, counted by the engine that has them: each row is read by itself, whatever the others hold.

So one row more moves one number by one and no other, however an engine compares texts, and no cell makes a question
fail: a column is only read as what its own type always fits, and there are never more groups than were declared.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, String, and_, case, cast, false, func, literal, literal_column, not_, select, true
from sqlalchemy.sql import ColumnElement, FromClause
from sqlalchemy.sql.elements import Label

from dpcore.datasets.declaration import shown
from dpcore.datasets.fills import fill_day, fill_yes
from dpcore.datasets.in_place.tongue import FITS, Cell, Kind, Tongue, number
from dpcore.datasets.plain_words import is_plain, place, plain, told_by
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument

if TYPE_CHECKING:
    from dpcore.datasets.in_place.aggregates import InPlace

MOST_OPTIONS = 1000
"""Options that one question about a table in place may have: each of them is part of what its engine is asked."""
MOST_TOGETHER = 10_000
"""Options and cuts of all columns of one question together: more take an engine seconds to read."""
_KEY = "epsilon-lab rows"  # public: which rows of a person stay need only be the same for everyone


def _as_it_is(cell: Cell) -> Cell:
    return cell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """What is counted of a row, in two steps: ``raw`` about its cell, then ``place`` about that.

    The first has a name in a query before the second is asked of it, which may name it as often as there are cuts.
    """

    raw: Cell
    place: Callable[[Cell], Cell] = _as_it_is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """An expression about one row, what each of its values means as a place from 0, and how many places there are.

    ``rest`` is the place of all other values, None where they count for none.
    """

    cell: Cell
    places: Mapping[Hashable, int]
    count: int
    rest: int | None = None

    def place(self, value: Any) -> int | None:
        """Where a row with this value counts."""
        known = value.isoformat()[:10] if isinstance(value, date) else value
        return self.places.get(known, self.rest)


def check(column: Column, kind: Kind, *, whose: bool) -> None:
    """Whether a column of this kind can be read as declared. ``whose``: it tells rows or people apart.

    Raises InvalidArgument.
    """
    name = shown(column.name)
    _check_words(column)
    if kind not in FITS[column.type]:
        raise InvalidArgument("columns", f"cannot include “{name}” as declared: the source holds another type there")
    if whose and column.type != "text":
        raise InvalidArgument("columns", f"cannot include “{name}”: it tells rows apart, so that each counts one")


def _check_words(column: Column) -> None:
    """Whether an engine can be told the words that are declared for a column. Raises InvalidArgument."""
    if any("\0" in word for word in (*column.categories, *column.missing_words, *column.yes_words, *column.no_words)):
        raise InvalidArgument(
            "columns", f"cannot include “{shown(column.name)}”: a word that is declared for it holds a zero byte"
        )


def check_size(columns: Sequence[Column], cuts: Mapping[str, int]) -> None:
    """Whether a question is small enough to be written for an engine, by what was declared. Raises InvalidArgument."""
    sizes = {column.name: cuts.get(column.name) or len(column.categories) for column in columns}
    for name, size in sizes.items():
        if size > MOST_OPTIONS:
            kind = "cuts" if cuts.get(name) else "options"
            raise InvalidArgument(
                "columns", f"cannot include “{shown(name)}” of this source: it has more than {MOST_OPTIONS:,} {kind}"
            )
    together = sum(sizes.values())
    if together > MOST_TOGETHER:
        raise InvalidArgument(
            "columns",
            f"have {together:,} options and cuts together, and one question about a source may have "
            f"{MOST_TOGETHER:,}; leave some columns out",
        )


def check_person(column: Column, kind: Kind) -> None:
    """Whether a column of this kind can say whose a row is: how long a cell is must be told without a look at it, and
    cells that an engine takes for equal must have one text (``whose``), as spans of time have none.

    Raises InvalidArgument.
    """
    _check_words(column)
    if kind == "other":
        name = shown(column.name)
        raise InvalidArgument(
            "id_column",
            f"cannot be “{name}”: the source holds another type there than texts, numbers, days, bytes or UUIDs",
        )


def check_spelled(name: str, stored: InPlace) -> None:
    """Whether a column can say whose a row is by its texts: of several that its database takes for one each would count
    as a person. Raises InvalidArgument, UnreadableFile."""
    if stored.takes_several_for_one(name):
        raise InvalidArgument(
            "id_column",
            f"cannot be “{shown(name)}”: the source takes texts for one there that are written in several ways, as "
            "“Ann” and “ann”; ask the people who run the server for a view that writes each in one way",
        )


def by_option(column: Column, cell: Cell, kind: Kind, tongue: Tongue) -> Groups:
    """Declared options; no and yes. Raises InvalidArgument for a column without."""
    return by_options(column, kind, tongue)(cell)


def by_options(column: Column, kind: Kind, tongue: Tongue) -> Callable[[Cell], Groups]:
    """``by_option`` of any cell, where several are read as one column: what its words are is found once."""
    missing = _missing(column)
    if column.type == "yes/no":
        yes = fill_yes(column)
        rest = None if yes is None else int(yes)
        answer = _answers(column, kind, tongue, missing)
        return lambda cell: Groups(cell=answer(cell), places={1: 1, 0: 0}, count=2, rest=rest)
    if column.type != "category" or not column.categories:
        raise InvalidArgument("column", "must have declared options")
    if len(column.categories) > MOST_OPTIONS:
        raise InvalidArgument(
            "columns",
            f"cannot include “{shown(column.name)}” of this source: it has more than {MOST_OPTIONS:,} options",
        )
    told = {word: at for word, at in told_by(column.categories).items() if place(word.strip().lower(), missing) < 0}
    written, words = _written(kind, tongue, told), tuple(told)
    return lambda cell: Groups(
        cell=tongue.option(written(cell), words) if words else literal_column("-1"),
        places=dict(enumerate(told.values())),
        count=len(column.categories),
        rest=None if column.fill is None else column.categories.index(str(column.fill)),
    )


def by_day(column: Column, cell: Cell, tongue: Tongue, first: date, days: int) -> Groups:
    """The days from ``first`` on; rows of other days count for none."""
    day = tongue.day(cell)
    if (filled := fill_day(column)) is not None:
        day = func.coalesce(day, literal(filled))
    last = first + timedelta(days=days - 1)
    return Groups(
        cell=case((and_(day >= literal(first), day <= literal(last)), day)),
        places={(first + timedelta(days=place)).isoformat(): place for place in range(days)},
        count=days,
    )


def by_unit(column: Column, cell: Cell, tongue: Tongue, unit: float) -> tuple[int, Cell]:
    """A number, and how many ``unit`` more each value is, moved to the nearer declared bound: to the nearest whole
    number, halves up. None for what is not finite. Raises InvalidArgument.
    """
    low, _ = bounds_of(column)
    base = math.floor(low / unit)
    away = tongue.quotient(inside(column, cell, tongue), unit) - literal(float(base)) + literal(0.5)
    return base, case((finite(cell), tongue.whole(away)))


def bounds_of(column: Column) -> tuple[float, float]:
    """Between which numbers the values of a column lie. Raises InvalidArgument."""
    if not column.is_numeric or column.low is None or column.high is None:
        raise InvalidArgument("column", "must hold numbers with declared bounds")
    low, high = float(column.low), float(column.high)
    if not math.isfinite(high - low):
        raise InvalidArgument("column", "must have declared bounds that are less far apart")
    return (float(math.ceil(low)), float(math.floor(high))) if column.type == "integer" else (low, high)


def inside(column: Column, cell: Cell, tongue: Tongue) -> Cell:
    """Each value moved to the nearer declared bound, as a double. Raises InvalidArgument.

    Written out, so that an engine compares in the column's own type first: no cell is too large for that.
    """
    low, high = bounds_of(column)
    least, most = number(low), number(high)
    return case((cell < least, least), (cell > most, most), else_=tongue.double(cell))


def finite(cell: Cell) -> ColumnElement[bool]:
    """Whether a cell is a number that is not infinite."""
    largest = number(sys.float_info.max)
    return and_(cell >= -largest, cell <= largest)


def is_yes(column: Column, cell: Cell, kind: Kind, tongue: Tongue) -> ColumnElement[bool]:
    """Whether a cell says yes."""
    answer = _answers(column, kind, tongue, _missing(column))(cell)
    return answer != literal_column("0") if fill_yes(column) else answer == literal_column("1")


def counted(source: FromClause, place: Cell, where: ColumnElement[bool] | None) -> Select[Any]:
    """Rows per group."""
    rows = select(place.label("place")).select_from(source)
    return _sizes(rows if where is None else rows.where(where))


def options_counted(
    source: FromClause, column: Column, cell: Cell, kind: Kind, tongue: Tongue, where: ColumnElement[bool] | None
) -> tuple[Groups, Select[Any]]:
    """Rows per declared option. Raises InvalidArgument for a column without.

    Where an engine tells texts apart letter by letter, equal ones are gathered first, which is quicker and the same.
    """
    if kind != "text" or not tongue.letter_by_letter:
        groups = by_option(column, cell, kind, tongue)
        return groups, counted(source, groups.cell, where)
    texts = select(cell.label("text"), func.count().label("size")).select_from(source).group_by(cell)
    found = (texts if where is None else texts.where(where)).subquery()
    groups = by_option(column, found.c.text, kind, tongue)
    placed = select(groups.cell.label("place"), found.c.size).subquery()
    return groups, select(placed.c.place, func.sum(placed.c.size)).group_by(placed.c.place)


def counted_of_each(
    source: FromClause,
    place: Cell,
    where: ColumnElement[bool] | None,
    *,
    person: Cell,
    there: ColumnElement[bool],
    most: int,
    tongue: Tongue,
) -> Select[Any]:
    """Rows per group, at most ``most`` of each person, those of nobody (not ``there``) left out: see ``kept``."""
    told = case((true() if where is None else where, literal_column("1")), else_=literal_column("0"))
    looks = (Look(raw=place), Look(raw=told))
    found = kept(source, looks, person=person, there=there, most=most, tongue=tongue).subquery()
    return _sizes(select(found.c.c0.label("place")).where(found.c.c1 == 1))


def kept(
    source: FromClause,
    looks: Sequence[Look],
    *,
    person: Cell,
    there: ColumnElement[bool],
    most: int,
    tongue: Tongue,
) -> Select[Any]:
    """What is looked at of the rows that count, as c0, c1, …: at most ``most`` of each person, none of nobody (not
    ``there``).

    Each row draws a number from its person, its cells (which are whole numbers, days or options: what is counted) and
    how many equal rows of that person came before it; the smallest stay. So what is kept of a person depends on that
    person's rows alone. A row is carried by what its person's text is hashed to, not by that text: all rows of a person
    are sorted together, and must fit into what an engine may hold however long a text and however many rows there are.

    One is named after the other instead of standing inside it: SQLite's parser goes a hundred parts deep and no deeper.
    """
    raw = raws(source, looks, *_key(person, tongue)).where(there).subquery()
    named = placed(raw, looks)
    rows = select(raw.c.who, raw.c.whose, *named).cte()
    before = func.row_number().over(partition_by=tuple(rows.c), order_by=rows.c.who)
    numbered = select(rows, before.label("before")).cte()
    text: Cell = literal(_KEY)
    for part in numbered.c:
        text = text + "|" + func.coalesce(cast(part, String()), "")
    own = [numbered.c[cell.name] for cell in named]
    nth = func.row_number().over(partition_by=(numbered.c.who, numbered.c.whose), order_by=(tongue.digest(text), *own))
    ranked = select(*own, nth.label("nth")).cte()
    return select(*(ranked.c[cell.name] for cell in named)).where(ranked.c.nth <= most)


def raws(source: FromClause, looks: Sequence[Look], *more: ColumnElement[Any]) -> Select[Any]:
    """The first step of each look, by a name that ``placed`` knows."""
    return select(*more, *(look.raw.label(f"r{at}") for at, look in enumerate(looks))).select_from(source)


def placed(raw: FromClause, looks: Sequence[Look]) -> list[Label[Any]]:
    """The second step of each look, as c0, c1, …"""
    return [look.place(raw.c[f"r{at}"]).label(f"c{at}") for at, look in enumerate(looks)]


def rows_of_each(
    source: FromClause, *, person: Cell, there: ColumnElement[bool], most: int, tongue: Tongue
) -> Select[Any]:
    """How many rows count in all: of each person at most ``most``, of nobody none."""
    rows = select(*_key(person, tongue)).select_from(source).where(there).subquery()
    sizes = select(func.count().label("size")).select_from(rows).group_by(*rows.c).subquery()
    return select(func.sum(case((sizes.c.size > most, literal(most)), else_=sizes.c.size)))


def whose(column: Column, cell: Cell, kind: Kind, tongue: Tongue) -> tuple[Cell, ColumnElement[bool]]:
    """Who a row's person is, as a text, and whether it says so.

    By that text rows are put together and numbered (``kept``): of one person written in two ways some would else be
    numbered alike, and which of them stay would hang on how an engine sorts, so on all other rows.
    """
    named = tongue.named(cell, kind, tongue.trimmed)
    one = _plain(named, kind, tongue)
    missing = _missing(column) | {"": 0}
    there = and_(named.is_not(None), not_(tongue.among(tongue.small(named, missing), tuple(sorted(missing)))))
    return tongue.exact(one), and_(there, not_(_among(one, _plain_ones(missing), tongue)))


def _key(person: Cell, tongue: Tongue) -> tuple[Cell, Cell]:
    """A person's text in 32 bytes: of two texts nobody can make the same."""
    who, rest = tongue.key(person)
    return who.label("who"), rest.label("whose")


def _sizes(rows: Select[Any]) -> Select[Any]:
    found = rows.subquery()
    return select(found.c.place, func.count()).group_by(found.c.place)


def _missing(column: Column) -> dict[str, int]:
    return told_by(word.strip().lower() for word in column.missing_words)


def _answers(column: Column, kind: Kind, tongue: Tongue, missing: Mapping[str, int]) -> Callable[[Cell], Cell]:
    """Of a cell 1 for yes, 0 for no, −1 for neither."""
    words = [word.lower() for word in (*column.yes_words, *column.no_words)]
    told = {word: at for word, at in told_by(words).items() if place(word, missing) < 0}
    of_yes = {word for word, at in told.items() if at < len(column.yes_words)}
    of_no = told.keys() - of_yes
    if kind == "yes/no":  # by the words that such a cell is, as where another row makes numbers of them
        of_true, of_false = (_says(word, of_yes, of_no) for word in ("true", "false"))
        return lambda cell: case((cell.is_(true()), of_true), (cell.is_(false()), of_false), else_=literal_column("-1"))

    def answer(cell: Cell) -> Cell:
        text = tongue.named(cell, kind, tongue.trimmed)
        small, one = tongue.small(text, told), _plain(text, kind, tongue)
        return case(
            (_among(small, of_yes, tongue), literal_column("1")),
            (_among(small, of_no, tongue), literal_column("0")),
            (_among(one, _plain_ones(of_yes), tongue), literal_column("1")),
            (_among(one, _plain_ones(of_no), tongue), literal_column("0")),
            else_=literal_column("-1"),
        )

    return answer


def _says(word: str, of_yes: Collection[str], of_no: Collection[str]) -> Cell:
    """1 where a word is among those of yes, 0 of no, −1 of neither: as it stands, else as ``plain`` has it."""
    said = word if word in of_yes or word in of_no else plain(word)
    return literal_column("1" if said in of_yes else "0" if said in of_no else "-1")


def _written(kind: Kind, tongue: Tongue, known: Mapping[str, int]) -> Callable[[Cell], Cell]:
    """A cell as the text that is looked up among what is ``known``: as ``plain_words.place`` does."""
    of_numbers = _plain_ones(known)
    as_they_are = [word for word in known if plain(word) != word] if of_numbers else []

    def written(cell: Cell) -> Cell:
        text = tongue.named(cell, kind, tongue.trimmed)
        if not of_numbers:
            return text
        one = _plain(text, kind, tongue)
        return case((_among(text, as_they_are, tongue), text), else_=one) if as_they_are else one

    return written


def _among(text: Cell, words: Collection[str], tongue: Tongue) -> ColumnElement[bool]:
    return tongue.among(text, tuple(sorted(words))) if words else false()


def _plain(text: Cell, kind: Kind, tongue: Tongue) -> Cell:
    """Of a text that ``named`` made of a cell: numbers are plain already."""
    return tongue.plain(text) if kind in ("text", "bytes", "yes/no", "date", "moment") else text


def _plain_ones(words: Iterable[str]) -> list[str]:
    return sorted(filter(is_plain, words))


def whole_number(value: object) -> int:
    """A whole number, however an engine gives it."""
    return int(str(value).partition(".")[0])
