"""Is it a column of numbers, and is the comma a decimal mark?"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from dpcore.datasets.guessing.examples import reading
from dpcore.datasets.guessing.words import MOSTLY, Guess, Hint, Words
from dpcore.datasets.matching import fullmatch
from dpcore.datasets.numerals import integers, is_number, numbers, whole
from dpcore.datasets.plain_words import plain
from dpcore.datasets.report import ColumnReading
from dpcore.datasets.schema import Column, Decimal
from dpcore.datasets.suitability import counts_time
from dpcore.validate import BoolArray, FloatArray

_ID_NAME = re.compile(
    r"(?:^|[\W_])(?:id|ids|uid|uuid|nr|no|num|number|code|key|index|row|zip|postcode|plz|phone)$", re.I
)
_DATE_NAME = re.compile(r"date|datum|fecha|data|dato|day|tag|dob|birth|admitted|since|when", re.I)
_MANY, _SAMPLE = 20, 500
_FEWEST_OTHERS = 5
_NAMES: dict[Decimal, str] = {".": "point", ",": "comma"}
_NINES = (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marks:
    """Which words are numbers when a point, and when a comma, marks decimals, shape (distinct,)."""

    point: BoolArray
    comma: BoolArray
    mostly: bool
    plain: bool = False  # every word is a number as computers write them

    def read(self, decimal: Decimal) -> BoolArray:
        """Which words are numbers with this decimal mark."""
        return self.point if decimal == "." else self.comma

    @property
    def decisive(self) -> Decimal | None:
        """The decimal mark, where the column shows it beyond doubt."""
        point, comma = bool((self.point & ~self.comma).any()), bool((self.comma & ~self.point).any())
        if not self.mostly or point == comma:
            return None
        return "." if point else ","


def marks(words: Words) -> Marks:
    """Looked for in a sample first: most columns without numbers are told apart by a few hundred words."""
    nothing = np.zeros(words.distinct, dtype=bool)
    few = words.words.iloc[:: max(words.distinct // _SAMPLE, 1)]
    if not words.plain.any() and not (is_number(few, ".") | is_number(few, ",")).any():
        return Marks(point=nothing, comma=nothing, mostly=False)
    plain, dotted = words.plain, words.dotted
    point, comma = plain, plain & ~dotted
    if not plain.all():
        point = plain.copy()
        point[~plain] = is_number(words.words[~plain], ".")
    rest = dotted | ~plain
    if rest.any():
        comma[rest] = is_number(words.words[rest], ",")
    mostly = max(words.share(point), words.share(comma)) >= MOSTLY
    return Marks(point=point, comma=comma, mostly=mostly, plain=bool(plain.all()))


def guess(words: Words, seen: Marks, hint: Hint) -> Guess | None:
    """A number or integer column, a column of digits that are not numbers, or None."""
    stated = hint.decimal
    mostly = seen.mostly if stated is None else words.share(_as_stated(words, seen, stated)) >= MOSTLY
    if not mostly:
        return None
    if (codes := _codes(words)) is not None:
        return codes
    differ = seen.point & seen.comma & (words.dotted | ~words.plain)
    differ &= words.words.str.contains(r"[.,]", regex=True).to_numpy(dtype=bool) if differ.any() else False
    if stated is not None:
        marked = differ.any() or (seen.point != seen.comma).any()
        return _finish(words, stated, seen, f" with the decimal {_NAMES[stated]} that was stated" if marked else "")
    if seen.decisive is None and not differ.any():
        return _finish(words, "." if words.share(seen.point) >= words.share(seen.comma) else ",", seen, "")
    if seen.decisive is not None or hint.agreed is not None:
        decimal: Decimal = seen.decisive or hint.agreed or "."
        why = "" if seen.decisive is not None else ", as in other columns of this file"
        return _finish(words, decimal, seen, f" with a decimal {_NAMES[decimal]}{why}")
    # Where cells end at commas, people who write numbers with a decimal comma would not get a table.
    pointed = words.words.str.contains(r",[0-9]{3}[^0-9]*$", regex=True).sum() == 0
    decimal = "," if pointed and not hint.commas else "."
    chosen = _finish(words, decimal, seen, "")
    other = _finish(words, "," if decimal == "." else ".", seen, "")
    # Either mark may turn them into numbers that only count rows: then that reading is text, and shown as such.
    readings = tuple(reading(each.column, words, differ) for each in (chosen, other))
    reason = "Numbers, but a comma or point in them can mark decimals or thousands: please choose."
    return Guess(column=chosen.column, reason=reason, bad=chosen.bad, readings=readings, notes=chosen.notes)


def _as_stated(words: Words, seen: Marks, decimal: Decimal) -> BoolArray:
    """Which words are numbers with this decimal mark, or whole ones that a program wrote with the other."""
    return seen.read(decimal) | ((seen.point | seen.comma) & ~np.isnan(numbers(words.words, decimal)))


def _codes(words: Words) -> Guess | None:
    """Digits that would lose something as numbers: leading zeros, or more digits than a number can hold."""
    nothing = np.zeros(words.distinct, dtype=bool)
    zeros = words.words.str.startswith("0")
    if zeros.any() and fullmatch(words.words[zeros], r"0[0-9]+").any():
        few = words.distinct <= min(50, words.present // 2)
        return Guess(
            column=Column(name=words.name, type="category" if few else "text"),
            reason="Codes rather than numbers: some start with 0, which a number would lose.",
            bad=nothing,
            identifier=not few,
        )
    long = words.words.str.len() >= 19
    digits = words.words[long & fullmatch(words.words, r"[+-]?[0-9]+")] if long.any() else words.words[:0]
    if len(digits) and not integers(digits, ".")[1].all():
        return Guess(
            column=Column(name=words.name, type="text"),
            reason="Codes rather than numbers: they have more digits than a number can hold.",
            bad=nothing,
            identifier=True,
        )
    return None


def _finish(words: Words, decimal: Decimal, seen: Marks, how: str) -> Guess:
    good = seen.read(decimal)
    values = numbers(words.words, decimal, plain=seen.plain and (decimal == "." or not words.dotted.any()))
    read = ~np.isnan(values)
    marked = words.dotted if decimal == "." else words.words.str.contains(",", regex=False).to_numpy(dtype=bool)
    broken = marked & read
    counts = bool(read.any()) and not broken.any() and bool((values[read] == np.floor(values[read])).all())
    if counts:
        exact = whole(values, words.words, decimal)[1]
        counts = bool(exact.any())  # none is a whole number where all are too large for one
        read = exact if counts else read
    if counts and identifies(words.name, words.distinct, words.present, float(np.ptp(values[read]))):
        return identifier(words.name, words.distinct)
    apart = _stand_in(values, read, words)
    return numeric(
        Column(name=words.name, type="integer" if counts else "number", decimal=decimal),
        how,
        bad=~read,
        rest=words.cells(~read),
        readings=_serial_dates(words, decimal, values) if counts else (),
        notes=(*_notes(words, values, read, good, seen.plain), *_stands(apart)),
        stand_in=apart,
    )


def numeric(
    column: Column,
    how: str,
    *,
    bad: BoolArray,
    rest: int = 0,
    readings: tuple[ColumnReading, ...] = (),
    notes: tuple[str, ...] = (),
    stand_in: str = "",
) -> Guess:
    """The guess that it is a column of numbers, in all but ``rest`` of its cells; ``how`` says more about them."""
    share = "all cells" if rest == 0 else f"all but {rest:,} cells"
    what = "Whole numbers" if column.type == "integer" else "Numbers"
    reason = f"{what}{how} in {share} that are not missing."
    return Guess(column=column, reason=reason, bad=bad, readings=readings, notes=notes, stand_in=stand_in)


def identifies(name: str, distinct: int, present: int, spread: float) -> bool:
    """Whether whole numbers, ``spread`` far out, tell rows apart: all differ, and they run on or are called an id."""
    if distinct < _MANY or distinct != present:
        return False
    run = spread == present - 1 and not counts_time(name)
    return run or _ID_NAME.search(name) is not None


def identifier(name: str, distinct: int) -> Guess:
    """The guess that numbers only tell rows apart."""
    return Guess(
        column=Column(name=name, type="text"),
        reason="Every value is different and the numbers only count or name rows: an identifier, kept as text.",
        bad=np.zeros(distinct, dtype=bool),
        identifier=True,
    )


def _notes(words: Words, values: FloatArray, read: BoolArray, good: BoolArray, plain: bool) -> tuple[str, ...]:
    notes = [] if plain else _signs(words, read)
    if (np.abs(values[read]) >= 2.0**53).any():
        notes.append("Some numbers are too long for exact decimals; whole ones are kept exact.")
    if (good & ~read).any():
        notes.append("Some numbers are too large to be read and count as unreadable.")
    return tuple(notes)


def _stand_in(values: FloatArray, read: BoolArray, words: Words) -> str:
    """A word such as −99 or 999 that is all nines, lies far outside the others, and probably means "no answer".

    Beyond the largest of the others by their whole range, or negative among numbers that are not; "" when none is.
    """
    for place in np.flatnonzero(read & nines(values)):
        value = float(values[place])
        others = values[read & ~(nines(values) & (np.sign(values) == np.sign(value)))]
        if others.size >= _FEWEST_OTHERS and stands_apart(value, others):
            return plain(str(words.words.iloc[place]))
    return ""


def nines(values: FloatArray) -> BoolArray:
    """Which values are all nines, of either sign."""
    return np.asarray(np.isin(np.abs(values), _NINES), dtype=bool)


def stands_apart(value: float, others: FloatArray) -> bool:
    """Whether a value of nines lies so far from the others that it probably means "no answer"."""
    halves = others / 2  # or the largest numbers lie beyond any
    beyond = value / 2 - halves.max() > max(float(np.ptp(halves)), 0.5)
    return (value < 0 <= others.min()) or (value > 0 and bool(beyond))


def _stands(word: str) -> tuple[str, ...]:
    if not word:
        return ()
    return (f"{word} lies far from all other values: it may stand for a missing answer.",)


def _signs(words: Words, read: BoolArray) -> list[str]:
    """What was written around the numbers."""
    notes = []
    odd = words.words[read & ~fullmatch(words.words, r"[-+]?[0-9.,]*[0-9]")]
    if (percent := odd.str.endswith("%")).any():
        some = "" if percent.sum() == read.sum() else " in some cells only"
        notes.append(f"Percent signs{some} are left out: 12% reads as 12.")
    signs = [sign for sign in "€$£¥₹₪₽₩₺" if odd.str.contains(sign, regex=False).any()]
    if signs:
        notes.append(f"Currency signs ({' '.join(signs)}) are left out; amounts are not converted.")
    if len(signs) > 1:
        notes.append("More than one currency occurs in this column.")
    if odd.str.startswith("(").any():
        notes.append("Numbers in brackets are read as negative.")
    return notes


def may_count_days(name: str, least: float, most: float) -> bool:
    """Whether whole numbers, under a name like "date", may be a spreadsheet's day count."""
    return _DATE_NAME.search(name) is not None and least >= 20_000 and most <= 80_000


def _serial_dates(words: Words, decimal: Decimal, values: FloatArray) -> tuple[ColumnReading, ...]:
    if not may_count_days(words.name, float(np.nanmin(values)), float(np.nanmax(values))):
        return ()
    column = Column(name=words.name, type="integer", decimal=decimal)
    every = np.ones(words.distinct, dtype=bool)
    dated = Column(name=words.name, type="date", date_order="serial")
    return (reading(column, words, every), reading(dated, words, every))
