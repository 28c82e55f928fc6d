"""How much two files share: a file that is nearly another one is probably about the same people."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from dpcore.datasets.different import by_value, encoded
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.copies import LEAST_SHARE, bare, share
from dpcore.datasets.reading.reader import Reading
from dpcore.datasets.reading.undecided import as_word, as_words, undecided
from dpcore.datasets.schema import MISSING_WORDS, NO_WORDS, YES_WORDS
from dpcore.datasets.stopping import each
from dpcore.sketches import (
    LEAST_APART,
    LEAST_SHARED,
    MOST_COLUMNS,
    MOST_COMBINATIONS,
    MOST_MARKS,
    MOST_TOGETHER,
    MOST_UNDECIDED,
    Combination,
    Sketch,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TELLING = 8  # columns that are looked at in pairs and triples: those with most different values
_WIDEST = 40  # columns of which all together are looked at
_LEFT_OUT = 12  # up to so many columns, also all but one of them
_ANY, _PLACE = np.uint64(1), 0x94D049BB133111EB  # odd, and no power of it near 1
_CHANCES = 3.0
"""How many times the share of rows that strangers could have as well counts where columns are told apart: these
combinations stand beside the others, and must take no more strangers for the same people than these do."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")  # as ``_canonical`` writes dates
_EVEN = 0.75  # of the gaps of a calendar that are as the others: working days leave the weekend out


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """``rows`` is the share of equal rows, counted with repeats that are no copies (``copies``), among those of the
    smaller file; ``columns`` likewise the share of columns with equal contents in any order. ``same_people`` says that
    a person should be asked."""

    rows: float
    columns: float

    @property
    def same_people(self) -> bool:
        return self.rows >= 0.2 or self.columns >= 0.5


def likeness(one: Reading, other: Reading) -> Likeness:
    """Compares two files row by row and column by column. Neither's order matters."""
    (rows, columns), (other_rows, other_columns) = _row_and_column_marks(one), _row_and_column_marks(other)
    return Likeness(rows=_shared(rows, other_rows), columns=_shared(columns, other_columns))


def _row_and_column_marks(reading: Reading) -> tuple[NDArray[np.uint64], NDArray[np.object_]]:
    frame, rows = reading.frame, engine.row_marks(reading.frame)
    places = bare(rows)
    if places is not None:
        frame, rows = frame.iloc[places], rows[places]
    return rows, np.array(engine.column_marks(frame), dtype=object)


def sketch(reading: Reading, key: bytes) -> Sketch:
    """What the file can be recognised by later, keyed (``Ledger.sketch_key``); ``dpcore.sketches`` says by what.

    Values count, not how they are written: numbers, dates, yes and no by meaning, text without case and blanks. What
    they mean one row can decide for its column, so last there are combinations of cells that are read by themselves,
    in any file: that there are some says nothing of a row.
    """
    key = hmac.digest(key, b"sketch 1", "sha256")
    typed = reading.apply(reading.suggested()).frame
    columns = _columns(typed, key)
    found = tuple(islice(_combinations(columns, key), MOST_COMBINATIONS))
    without = _without_copies(typed, columns, key, min(MOST_COMBINATIONS, MOST_TOGETHER - MOST_UNDECIDED - len(found)))
    by_themselves = islice(_combinations(_undecided(reading.frame, columns, key), key), MOST_UNDECIDED)
    return Sketch(columns=_contents(columns, key), combinations=(*found, *by_themselves), bare=without)


def _without_copies(typed: pd.DataFrame, columns: list[_Column], key: bytes, most: int) -> Sketch | None:
    """What the file shows beside where copies are left out, in ``most`` combinations; None where there are none.

    A column that only counts the rows makes no others of copies. Where some columns alone hold copies, as of one who is
    there with several rows, what stands in these is looked at once.
    """
    own = [at for at, one in enumerate(columns) if not one.running]
    places = bare(_rows([columns[at] for at in own]))
    if places is not None:
        typed = typed.iloc[places, own]
        columns = _columns(typed, key)
    lasting = [at for at, one in enumerate(columns) if one.tells and not one.running and one.copies >= LEAST_SHARE]
    once = bare(_rows([columns[at] for at in lasting]))
    staying: list[_Column] = []
    if once is not None:
        staying = _columns(typed.iloc[once, lasting], key)
    elif places is None:
        return None
    found = list(islice(_combinations(staying, key), most if places is None else most // 2))
    if places is not None:
        found += islice(_combinations(columns, key), most - len(found))
    contents = _contents([*columns, *staying], key)
    return Sketch(columns=contents, combinations=tuple(found)) if contents or found else None


def _contents(columns: list[_Column], key: bytes) -> tuple[tuple[int, int], ...]:
    """The marks of what columns hold that say something about who is in them, each with its bits; of a wide table those
    with the smallest marks: of two files of one table the same."""
    saying = (one for one in columns if one.tells and not one.running and one.bits > 0)
    return tuple(sorted({(one.contents(key), one.bits) for one in saying})[:MOST_COLUMNS])


def _combinations(columns: list[_Column], key: bytes) -> Iterable[Combination]:
    """Those of cells of whatever column first, as all versions keep them; then those of cells of their columns."""
    telling = [one for one in columns if one.tells]
    for some in _chosen(sorted(telling, key=lambda one: -one.different)):
        made = _combination([(one, _ANY) for one in some], key)
        if made is not None:
            yield made
    for tagged in _with_tags(telling):
        made = _combination(tagged, key, chances=_CHANCES)
        if made is not None:
            yield made


def _columns(typed: pd.DataFrame, key: bytes) -> list[_Column]:
    return [_Column.of(str(name), _canonical(typed[name]), key) for name in typed.columns]


def _undecided(text: pd.DataFrame, columns: list[_Column], key: bytes) -> list[_Column]:
    """The same columns, each cell of which is spelled by what stands in it alone: one row can decide whether a column
    holds days or numbers at all."""
    return [one.spelled(_by_itself(text[name]), key) for one, name in zip(columns, text.columns, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    """One column as keyed 64-bit hashes of its values, shape (rows,).

    ``tag`` is a keyed number of its name. ``running`` says that it only counts the rows, as any file's can; ``alone``
    that it tells them apart by itself. ``domain`` is about how many values it could hold, as far as its own can show;
    ``even`` says that each of them is there as often. ``copies`` is the share of copies among the values that are there
    more than once.
    """

    tag: np.uint64
    hashes: NDArray[np.uint64]
    different: int
    running: bool
    alone: bool
    domain: int
    even: bool
    copies: float

    @classmethod
    def of(cls, name: str, cells: _Cells, key: bytes) -> _Column:
        hashes = _hashes(cells, key)
        words: list[str] = cells.words.tolist()
        rows, whole = cells.codes.size, _all_whole(words)
        running = _is_running(words, rows)
        fine = len(words) >= LEAST_APART * rows and not whole
        counts = cells.counts
        domain = cells.domain
        small = _filled(len(words), domain) > 1.0 - LEAST_APART
        return cls(
            tag=_odd(key, name),
            hashes=hashes,
            different=len(words),
            running=running,
            alone=fine and not running and not small,
            domain=domain,
            even=len(words) > 0 and bool((counts == counts[0]).all()),
            copies=share(counts),
        )

    def spelled(self, cells: _Cells, key: bytes) -> _Column:
        """With other words in its cells, which could be any of no more than those that there were."""
        return replace(self, hashes=_hashes(cells, key), domain=min(self.domain, cells.domain))

    @property
    def tells(self) -> bool:
        return self.different > 1

    @property
    def bits(self) -> int:
        """About how unlikely it is, in bits, that another column of this kind holds the same values as often.

        Nothing where each value is there as often, unless it tells rows apart by itself: so are the days of a calendar,
        the places of a plan and groups of equal size, whoever is in them.
        """
        if self.even and not self.alone:
            return 0
        return min(int((self.different - 1) * 0.5 * math.log2(max(self.hashes.size, 1))), 63)

    def contents(self, key: bytes) -> int:
        """A mark of all values with their counts, in any order."""
        mixed = _mixed(self.hashes)
        parts = (self.hashes.size, int(mixed.sum(dtype=np.uint64)), int(_mixed(mixed).sum(dtype=np.uint64)))
        return _mark(key, b"column", *parts)


_Tagged: TypeAlias = list[tuple[_Column, np.uint64]]
"""Columns, each with an odd number by which its cells count: equal ones of two columns are equal where that is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cells:
    """A column's different words, shape (different,), and which of them each row holds, shape (rows,)."""

    words: NDArray[np.object_]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, values: Iterable[object], codes: NDArray[np.intp], spelled: Callable[[Any], str]) -> _Cells:
        """Each different value is spelled once, and those of one spelling are one; ``codes`` is -1 where none is."""
        words = [spelled(value) for value in each(values)]
        absent = codes < 0
        if absent.any():
            codes = np.where(absent, len(words), codes)
            words.append("")
        known: dict[str, int] = {}
        merged = np.array([known.setdefault(word, len(known)) for word in each(words)], dtype=np.int64)
        return cls(words=np.array(list(known), dtype=object), codes=merged[codes] if words else codes)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word is there, shape (different,)."""
        return np.bincount(self.codes, minlength=self.words.size)

    @property
    def domain(self) -> int:
        """About how many words there could be, as far as these can show."""
        return _between(self.words.tolist()) or _at_least(self.counts)


def _by_itself(text: pd.Series) -> _Cells:
    codes, words = encoded(text)
    spelled = undecided(words)
    others = each(list(zip(spelled, words.tolist(), strict=True)))
    return _Cells.of([one or _unless_missing(_folded(word)) for one, word in others], codes, str)


def _unless_missing(word: str) -> str:
    return "" if word in MISSING_WORDS else word


def _hashes(cells: _Cells, key: bytes) -> NDArray[np.uint64]:
    """A keyed hash of each row's word, shape (rows,)."""
    from pandas.util import hash_array

    # SipHash, which takes 16 ASCII characters of a key
    short = base64.b64encode(hmac.digest(key, b"values", "sha256"))[:16].decode("ascii")
    keyed = hash_array(cells.words, hash_key=short, categorize=False)
    return keyed[cells.codes] if cells.words.size else np.zeros(0, dtype=np.uint64)


def _canonical(series: pd.Series) -> _Cells:
    """A column as words that two spellings of one value share."""
    if pd.api.types.is_datetime64_any_dtype(series):
        codes, moments = by_value(series.to_numpy())
        return _Cells.of(as_words(moments), codes, str)
    if pd.api.types.is_numeric_dtype(series):
        codes, numbers = by_value(series.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan))
        return _Cells.of(numbers.tolist(), codes, as_word)
    codes, texts = encoded(series.astype("string"))
    return _Cells.of(texts.tolist(), codes, _folded)


def _folded(word: str) -> str:
    """Text without case and blanks; what reads as yes, no or a number, as that."""
    plain = " ".join(word.split()).casefold()
    if plain in YES_WORDS:
        return "1"
    if plain in NO_WORDS:
        return "0"
    try:
        return format(float(plain), ".12g")
    except ValueError:
        return plain


def _is_running(words: list[str], rows: int) -> bool:
    """Whether a column only counts the rows, from wherever, or is a calendar: any other file can have the same."""
    if len(words) < rows or rows < 2:
        return False
    if _all_whole(words):
        numbers = [int(word) for word in words]
        return max(numbers) - min(numbers) < 1.5 * rows
    if not all(_DAY.fullmatch(word) for word in each(words)):
        return False
    try:
        moments = np.array([word.replace(" ", "T") for word in words], dtype="datetime64[s]")
    except ValueError:  # no calendar has such a day, or its digits are not ours
        return False
    times = np.sort(moments.astype(np.int64))
    gaps = np.diff(times)
    usual = float(np.median(gaps))
    # days, working days, hours; or weeks, months, quarters and years, of which hardly one differs from the others
    return bool(times[-1] - times[0] < 1.5 * rows * usual and (np.abs(gaps - usual) <= 0.1 * usual).mean() >= _EVEN)


def _at_least(counts: NDArray[np.int64]) -> int:
    """At least how many values there are where these were seen so often: more, the more of them were seen but once
    (Chao, Scandinavian Journal of Statistics 11, 1984)."""
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return counts.size + once * (once - 1) // (2 * (twice + 1))


def _between(words: list[str]) -> int | None:
    """How many numbers of as many decimals lie between the smallest and the largest; None for other words."""
    try:
        numbers = np.array([word for word in words if word], dtype=np.float64)
    except ValueError:
        return None
    if not numbers.size or not np.isfinite(numbers).all():
        return None
    decimals = max(_decimals(word) for word in each(words))
    return max(len(words), int(min(float(np.ptp(numbers)) * 10.0**decimals, 2.0**62)) + 1)


def _decimals(word: str) -> int:
    """Digits behind the point of a number as ``_canonical`` writes it."""
    point = word.find(".")
    if point < 0:
        return 0
    power = word.find("e", point)
    return (len(word) if power < 0 else power) - point - 1


def _filled(different: int, domain: int) -> float:
    """The share of what could be there that is: about that much strangers of the same kind have in common."""
    return different / domain


def _all_whole(words: list[str]) -> bool:
    return all(word.removeprefix("-").isdecimal() for word in each(words))


def _chosen(telling: list[_Column]) -> Iterable[list[_Column]]:
    """Combinations of columns, those first that survive a column being dropped or added."""
    widest = telling[:_WIDEST]
    yield from _most_of(widest)
    for column in telling:
        if column.alone:
            yield [column]
    for size in (2, 3):
        for some in combinations(telling[:_TELLING], size):
            if size < len(widest):
                yield list(some)


def _with_tags(telling: list[_Column]) -> Iterable[_Tagged]:
    """Columns by their names, and as they stand in the file: the one stays where they are moved, the other where they
    are renamed. Of columns that share their values a row would else be told by how often it holds each of them alone.
    """
    for some in _most_of(telling):
        yield [(one, one.tag) for one in some]
    if len(telling) > 1:
        yield _placed(telling)


def _most_of(columns: list[_Column]) -> Iterable[list[_Column]]:
    """All of them, and of few also all but one."""
    if len(columns) > 1:
        yield columns
    if 2 < len(columns) <= _LEFT_OUT:
        for place in range(len(columns)):
            yield [*columns[:place], *columns[place + 1 :]]


def _combination(tagged: _Tagged, key: bytes, chances: float = 1.0) -> Combination | None:
    """Marks of some tuples; None where they hardly tell rows apart, ``chances`` times as many taken for strangers'."""
    hashes, columns = _together(tagged), [column for column, _ in tagged]
    depth = max(0, math.ceil(math.log2(max(hashes.size, 1) / MOST_MARKS)))
    values, counts = np.unique(hashes[_depths(hashes) >= depth], return_counts=True)
    if values.size == 0:
        return None
    rest = [(column, tag) for column, tag in tagged if not column.running]
    if len(rest) == len(columns):
        # rows that could be any of a few hardly tell who they are, even where each is there once
        filled = _filled(values.size * 2**depth, math.prod(column.domain for column in columns))
        apart = min(float((counts == 1).sum() / counts.sum()), 1.0 - filled)
    elif rest:  # strangers count their rows too: they share what stands beside the same number by chance
        beside = np.unique(_together(rest)[_depths(hashes) >= depth], return_counts=True)[1].astype(np.float64)
        rows = max(float(beside.sum()), 2.0)
        apart = 1.0 - float((beside * (beside - 1)).sum()) / (rows * (rows - 1))
    else:
        return None
    apart = 1.0 - chances * (1.0 - apart)
    if apart < LEAST_APART or values.size < LEAST_SHARED:
        return None
    depths = _depths(values)
    while int((depths >= depth).sum()) > MOST_MARKS:
        depth += 1
    chosen = depths >= depth
    kept = zip(values[chosen], depths[chosen], strict=True)
    marks = sorted((_mark(key, b"tuple", int(value)), int(own)) for value, own in kept)
    return Combination(depth=depth, apart=int(100 * apart), marks=tuple(marks))


def _rows(columns: list[_Column]) -> NDArray[np.uint64]:
    """One hash per row of all these columns in their order: a row with its cells exchanged is another."""
    return _together(_placed(columns))


def _together(tagged: _Tagged) -> NDArray[np.uint64]:
    """One hash per row of what stands in these columns."""
    total = np.zeros(tagged[0][0].hashes.size if tagged else 0, dtype=np.uint64)
    for column, tag in tagged:
        total += column.hashes * tag  # wraps around, on purpose
    return _mixed(total)


def _placed(columns: list[_Column]) -> _Tagged:
    return [(column, np.uint64(pow(_PLACE, place, 1 << 64))) for place, column in enumerate(columns)]


def _odd(key: bytes, name: str) -> np.uint64:
    """Of each name another odd number, by which nothing of a cell is lost; capitals and blanks make none."""
    digest = hmac.digest(key, b"name " + _folded(name).encode(), "sha256")
    return np.uint64(int.from_bytes(digest[:8], "big") | 1)


def _mark(key: bytes, purpose: bytes, *numbers: int) -> int:
    text = b"".join(number.to_bytes(8, "big") for number in numbers)
    return int.from_bytes(hashlib.blake2b(text, key=key, person=purpose, digest_size=7).digest(), "big")


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One-to-one, with every bit depending on every other (the finaliser of SplitMix64; Steele, Lea & Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _depths(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many leading bits are 0, to 53 of them."""
    top = (values >> np.uint64(11)).astype(np.float64)  # exact: 53 bits
    return np.asarray(53 - np.frexp(top)[1], dtype=np.int64)


def _shared(one: np.ndarray, other: np.ndarray) -> float:
    values, counts = np.unique(one, return_counts=True)
    others, other_counts = np.unique(other, return_counts=True)
    _, here, there = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    common = np.minimum(counts[here], other_counts[there]).sum()
    return float(common) / max(min(one.size, other.size), 1)
