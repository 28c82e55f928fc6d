"""Is it a column of numbers, and is the comma a decimal mark?"""

from __future__ import annotations

import re

import numpy as np

from dpcore.datasets.guessing.words import MOSTLY, Guess, Words
from dpcore.datasets.numerals import integers, is_number, numbers
from dpcore.datasets.report import ColumnReading
from dpcore.datasets.schema import Column, Decimal
from dpcore.validate import BoolArray, FloatArray

_ID_NAME = re.compile(
    r"(?:^|[\W_])(?:id|ids|uid|uuid|nr|no|num|number|code|key|index|row|zip|postcode|plz|phone)$", re.I
)
_DATE_NAME = re.compile(r"date|datum|fecha|data|dato|day|tag|dob|birth|admitted|since|when", re.I)
_MANY = 20


def decisive_decimal(words: Words) -> Decimal | None:
    """The decimal mark, where the column shows it beyond doubt."""
    if words.distinct == 0 or not words.words.str.contains(r"[0-9][.,][0-9]", regex=True).any():
        return None
    point, comma = is_number(words.words, "."), is_number(words.words, ",")
    if max(words.share(point), words.share(comma)) < MOSTLY:
        return None
    if (point & ~comma).any() and not (comma & ~point).any():
        return "."
    return "," if (comma & ~point).any() and not (point & ~comma).any() else None


def guess(words: Words, hint: Decimal | None) -> Guess | None:
    """A number or integer column, a column of digits that are not numbers, or None."""
    point, comma = is_number(words.words, "."), is_number(words.words, ",")
    if max(words.share(point), words.share(comma)) < MOSTLY:
        return None
    if (codes := _codes(words)) is not None:
        return codes
    own = decisive_decimal(words)
    by_point, by_comma = numbers(words.words, "."), numbers(words.words, ",")
    both = point & comma
    differ = both & ~((by_point == by_comma) | (np.isnan(by_point) & np.isnan(by_comma)))
    if own is None and not differ.any():
        return _finish(words, "." if words.share(point) >= words.share(comma) else ",", "")
    if own is not None or hint is not None:
        decimal: Decimal = own or hint or "."
        mark = "comma" if decimal == "," else "point"
        why = "" if own is not None else ", as in other columns of this file"
        return _finish(words, decimal, f" with a decimal {mark}{why}")
    decimal = "," if words.words.str.contains(r",[0-9]{3}$", regex=True).sum() == 0 else "."
    chosen = _finish(words, decimal, "")
    other = _finish(words, "," if decimal == "." else ".", "")
    readings = tuple(_reading(each.column, words, differ) for each in (chosen, other))
    reason = "Numbers, but a comma or point in them can mark decimals or thousands: please choose."
    return Guess(column=chosen.column, reason=reason, bad=chosen.bad, readings=readings, notes=chosen.notes)


def _codes(words: Words) -> Guess | None:
    """Digits that would lose something as numbers: leading zeros, or more digits than a number can hold."""
    nothing = np.zeros(words.distinct, dtype=bool)
    padded = words.words.str.fullmatch(r"0[0-9]+").to_numpy(dtype=bool)
    if padded.any():
        few = words.distinct <= min(50, words.present // 2)
        return Guess(
            column=Column(name=words.name, type="category" if few else "text"),
            reason="Codes rather than numbers: some start with 0, which a number would lose.",
            bad=nothing,
            identifier=not few,
        )
    long = words.words.str.fullmatch(r"[+-]?[0-9]{19,}").to_numpy(dtype=bool)
    if long.any() and not integers(words.words[long], ".")[1].all():
        return Guess(
            column=Column(name=words.name, type="text"),
            reason="Codes rather than numbers: they have more digits than a number can hold.",
            bad=nothing,
            identifier=True,
        )
    return None


def _finish(words: Words, decimal: Decimal, how: str) -> Guess:
    values = numbers(words.words, decimal)
    good = ~np.isnan(values)
    marked = words.words.str.contains("." if decimal == "." else ",", regex=False).to_numpy(dtype=bool) & good
    spelled = words.words.str.contains(r"[eE]", regex=True).to_numpy(dtype=bool) & good
    counted = integers(words.words, decimal)[1]
    whole = bool(good.any()) and not marked.any() and not (spelled & good).any() and bool(counted[good].all())
    if whole and _identifies(words, values[good]):
        return Guess(
            column=Column(name=words.name, type="text"),
            reason="Every value is different and the numbers only count or name rows: an identifier, kept as text.",
            bad=np.zeros(words.distinct, dtype=bool),
            identifier=True,
        )
    column = Column(name=words.name, type="integer" if whole else "number", decimal=decimal)
    kind = "Whole numbers" if whole else "Numbers"
    rest = words.cells(~good)
    share = "all cells" if rest == 0 else f"all but {rest:,} cells"
    return Guess(
        column=column,
        reason=f"{kind}{how} in {share} that are not missing.",
        bad=~good,
        readings=_serial_dates(words, column, values) if whole else (),
        notes=_notes(words, values, good),
    )


def _identifies(words: Words, values: FloatArray) -> bool:
    if words.distinct < _MANY or words.distinct != words.present:
        return False
    run = float(values.max() - values.min()) == values.size - 1
    return run or _ID_NAME.search(words.name) is not None


def _notes(words: Words, values: FloatArray, good: BoolArray) -> tuple[str, ...]:
    notes = []
    percent = words.words.str.endswith("%").to_numpy(dtype=bool) & good
    if percent.any():
        some = "" if percent[good].all() else " in some cells only"
        notes.append(f"Percent signs{some} are left out: 12% reads as 12.")
    signs = {sign for sign in "€$£¥₹" if words.words[good].str.contains(sign, regex=False).any()}
    if signs:
        notes.append(f"Currency signs ({' '.join(sorted(signs))}) are left out; amounts are not converted.")
    if len(signs) > 1:
        notes.append("More than one currency occurs in this column.")
    if words.words[good].str.startswith("(").any():
        notes.append("Numbers in brackets are read as negative.")
    if (np.abs(values[good]) >= 2.0**53).any():
        notes.append("Some numbers are too long for exact decimals; whole ones are kept exact.")
    if (~good & is_number(words.words, ".")).any():
        notes.append("Some numbers are too large to be read and count as unreadable.")
    return tuple(notes)


def _serial_dates(words: Words, column: Column, values: FloatArray) -> tuple[ColumnReading, ...]:
    """Whole numbers under a name like "date" may be a spreadsheet's day count."""
    present = values[~np.isnan(values)]
    if _DATE_NAME.search(words.name) is None or not ((present >= 20_000) & (present <= 80_000)).all():
        return ()
    every = np.ones(words.distinct, dtype=bool)
    dated = Column(name=words.name, type="date", date_order="serial")
    return (_reading(column, words, every), _reading(dated, words, every))


def _reading(column: Column, words: Words, telling: BoolArray) -> ColumnReading:
    from dpcore.datasets.guessing.examples import reading

    return reading(column, words, telling)
