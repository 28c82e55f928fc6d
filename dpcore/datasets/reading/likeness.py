"""How much two files share: a file that is nearly another one is probably about the same people."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.datasets.reading import engine
from dpcore.datasets.reading.reader import Reading
from dpcore.datasets.schema import NO_WORDS, YES_WORDS
from dpcore.sketches import LEAST_APART, LEAST_SHARED, MOST_MARKS, Combination, Sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TELLING = 8  # columns that are looked at in pairs and triples: those with most different values
_WIDEST = 40  # columns of which all together are looked at
_LEFT_OUT = 12  # up to so many columns, also all but one of them
_MOST = 48  # combinations that a sketch holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """``rows`` is the share of equal rows, counted with repeats, among those of the smaller file; ``columns`` likewise
    the share of columns with equal contents in any order. ``same_people`` says that a person should be asked."""

    rows: float
    columns: float

    @property
    def same_people(self) -> bool:
        return self.rows >= 0.2 or self.columns >= 0.5


def likeness(one: Reading, other: Reading) -> Likeness:
    """Compares two files row by row and column by column. Neither's order matters."""
    columns = engine.column_marks(one.frame), engine.column_marks(other.frame)
    rows = engine.row_marks(one.frame), engine.row_marks(other.frame)
    return Likeness(
        rows=_shared(rows[0], rows[1]),
        columns=_shared(np.array(columns[0], dtype=object), np.array(columns[1], dtype=object)),
    )


def sketch(reading: Reading, key: bytes) -> Sketch:
    """What the file can be recognised by later, keyed (``Ledger.sketch_key``); ``dpcore.sketches`` says by what.

    Values count, not how they are written: numbers, dates, yes and no by meaning, text without case and blanks.
    """
    key = hmac.digest(key, b"sketch 1", "sha256")
    columns = [_Column.of(series, key) for series in _canonical(reading)]
    telling = sorted((one for one in columns if one.tells), key=lambda one: -one.different)
    found: list[Combination] = []
    for chosen in _chosen(telling):
        if len(found) == _MOST:
            break
        made = _combination(chosen, key)
        if made is not None:
            found.append(made)
    contents = sorted({(one.contents(key), one.bits) for one in telling if not one.running and one.bits > 0})
    return Sketch(columns=tuple(contents), combinations=tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    """One column as keyed 64-bit hashes of its values, shape (rows,).

    ``running`` says that it only counts the rows, as any file's can; ``alone`` that it tells them apart by itself.
    """

    hashes: NDArray[np.uint64]
    different: int
    running: bool
    alone: bool

    @classmethod
    def of(cls, series: pd.Series, key: bytes) -> _Column:
        from pandas.util import hash_array

        codes, values = pd.factorize(series, use_na_sentinel=False)
        words = ["" if value is None or value != value else str(value) for value in values]
        # SipHash, which takes 16 ASCII characters of a key
        short = base64.b64encode(hmac.digest(key, b"values", "sha256"))[:16].decode("ascii")
        keyed = hash_array(np.array(words, dtype=object), hash_key=short, categorize=False)
        hashes = keyed[codes] if len(words) else np.zeros(0, dtype=np.uint64)
        running = _is_running(words, len(series))
        fine = len(words) >= LEAST_APART * len(series) and not _all_whole(words)
        return cls(hashes=hashes, different=len(words), running=running, alone=fine and not running)

    @property
    def tells(self) -> bool:
        return self.different > 1

    @property
    def bits(self) -> int:
        """About how unlikely it is, in bits, that another column of this kind holds the same values as often."""
        return min(int((self.different - 1) * 0.5 * math.log2(max(self.hashes.size, 1))), 63)

    def contents(self, key: bytes) -> int:
        """A mark of all values with their counts, in any order."""
        mixed = _mixed(self.hashes)
        parts = (self.hashes.size, int(mixed.sum(dtype=np.uint64)), int(_mixed(mixed).sum(dtype=np.uint64)))
        return _mark(key, b"column", *parts)


def _canonical(reading: Reading) -> Iterable[pd.Series]:
    """Each column as text that two spellings of one value share."""
    typed = reading.apply(reading.suggested()).frame
    for name in typed.columns:
        series = typed[name]
        if pd.api.types.is_bool_dtype(series):
            yield series.astype("Int8").astype("string").fillna("")
        elif pd.api.types.is_datetime64_any_dtype(series):
            yield series.astype("string").fillna("").str.removesuffix(" 00:00:00")
        elif pd.api.types.is_numeric_dtype(series):
            codes, numbers = pd.factorize(series.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan))
            words = np.array([*(format(number, ".12g") for number in numbers), ""], dtype=object)
            yield pd.Series(words[codes], dtype="string")
        else:
            codes, values = pd.factorize(series.astype("string").fillna(""))
            words = np.array([*(_folded(str(value)) for value in values), ""], dtype=object)
            yield pd.Series(words[codes], dtype="string")


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
    """Whether a column only counts the rows, from wherever: any other file can have the same."""
    if len(words) < rows or rows < 2 or not _all_whole(words):
        return False
    numbers = [int(word) for word in words]
    return max(numbers) - min(numbers) < 1.5 * rows


def _all_whole(words: list[str]) -> bool:
    return all(word.removeprefix("-").isdecimal() for word in words)


def _chosen(telling: list[_Column]) -> Iterable[list[_Column]]:
    """Combinations of columns, those first that survive a column being dropped or added."""
    widest = telling[:_WIDEST]
    if len(widest) > 1:
        yield widest
    if 2 < len(widest) <= _LEFT_OUT:
        for place in range(len(widest)):
            yield [*widest[:place], *widest[place + 1 :]]
    for column in telling:
        if column.alone:
            yield [column]
    for size in (2, 3):
        for some in combinations(telling[:_TELLING], size):
            if size < len(widest):
                yield list(some)


def _combination(columns: list[_Column], key: bytes) -> Combination | None:
    """Marks of some tuples; None where they hardly tell rows apart."""
    hashes = _together(columns)
    depth = max(0, math.ceil(math.log2(max(hashes.size, 1) / MOST_MARKS)))
    values, counts = np.unique(hashes[_depths(hashes) >= depth], return_counts=True)
    if values.size == 0:
        return None
    rest = [column for column in columns if not column.running]
    if len(rest) == len(columns):
        apart = float((counts == 1).sum() / counts.sum())
    elif rest:  # strangers count their rows too: they share what stands beside the same number by chance
        beside = np.unique(_together(rest)[_depths(hashes) >= depth], return_counts=True)[1].astype(np.float64)
        rows = max(float(beside.sum()), 2.0)
        apart = 1.0 - float((beside * (beside - 1)).sum()) / (rows * (rows - 1))
    else:
        return None
    if apart < LEAST_APART or values.size < LEAST_SHARED:
        return None
    depths = _depths(values)
    while int((depths >= depth).sum()) > MOST_MARKS:
        depth += 1
    chosen = depths >= depth
    kept = zip(values[chosen], depths[chosen], strict=True)
    marks = sorted((_mark(key, b"tuple", int(value)), int(own)) for value, own in kept)
    return Combination(depth=depth, apart=int(100 * apart), marks=tuple(marks))


def _together(columns: list[_Column]) -> NDArray[np.uint64]:
    """One hash per row of what stands in these columns."""
    total = columns[0].hashes.copy()
    for column in columns[1:]:
        total += column.hashes  # wraps around, on purpose
    return _mixed(total)


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
