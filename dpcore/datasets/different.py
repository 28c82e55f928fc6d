"""The different words or numbers of a column, and which of them each row holds.

Arrow and pandas tell them apart by hashes without a key. Somebody can make words or numbers that share one, and each is
then compared with all before it: a small file takes hours. So hashes here have a key that each process draws, numbers
are sorted, and what comes from a file is looked up by Arrow among few words alone.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.matching import words
from dpcore.datasets.stopping import each, go_on
from dpcore.validate import IntArray

Counted: TypeAlias = tuple[pd.Series, IntArray]
"""Different words, and how often each occurs."""
_FEW = 64
"""So many words may share a hash without a key: a row is compared with all of them."""
_FIRST = 1000
_PORTION, _LETTERS = 1 << 16, 1 << 22
_SHORT, _LANE = 128, 8
_LANES = _SHORT // _LANE
_KEYS = np.frombuffer(os.urandom(16 * (2 + 2 * _LANES)), dtype=np.uint64).reshape(2, -1)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_LANE + 1)], dtype="<u8")
_HALF = np.uint64(32)


def encoded(text: pd.Series) -> tuple[IntArray, pd.Series]:
    """Which of the different words each row holds, −1 for none, shape (rows,), and these in the order they first occur.

    As ``pd.factorize``.
    """
    held = words(text)
    codes, different = _encoded(held.drop_null())
    if held.null_count:
        present = np.asarray(held.is_valid())
        codes, there = np.full(len(held), -1, dtype=np.int64), codes
        codes[present] = there
    kind: Any = text.dtype if isinstance(text.dtype, pd.StringDtype) else pd.StringDtype(na_value=np.nan)
    return codes, pd.Series(pd.array(different, dtype=kind))


def counted(text: pd.Series) -> Counted:
    """The different words, in the order they first occur, and how often each does."""
    codes, different = encoded(text)
    return different, np.bincount(codes[codes >= 0], minlength=len(different)).astype(np.int64)


def among(text: pd.Series, listed: Sequence[str]) -> IntArray:
    """At which place of ``listed``, whose words are all different, each word stands, shape (rows,); −1 for none."""
    held = words(text)
    if len(listed) <= _FEW:
        return _places(held, listed)
    known = {word: place for place, word in enumerate(listed)}
    return np.fromiter((known.get(word, -1) for word in _each(held)), dtype=np.int64, count=len(held))


def by_value(values: np.ndarray) -> tuple[IntArray, np.ndarray]:
    """Which of the different numbers or moments each one is, −1 for none, shape (rows,), and these in rising order."""
    present = ~pd.isna(values)
    different, places = np.unique(values[present], return_inverse=True)
    codes = np.full(values.size, -1, dtype=np.int64)
    codes[present] = places
    return codes, different


def _encoded(held: pa.Array) -> tuple[IntArray, pa.Array]:
    """The same way whatever the first rows hold: how long it takes would tell of one among them."""
    return _one_by_one(held) if len(held) <= _FIRST else _by_marks(held)


def _places(held: pa.Array, few: Sequence[str]) -> IntArray:
    places = pc.index_in(held, value_set=pa.array(few, pa.large_string()))
    return np.array(pc.fill_null(places, -1), dtype=np.int64)


def _one_by_one(held: pa.Array) -> tuple[IntArray, pa.Array]:
    """By a dictionary of Python's, whose hashes of words have a key."""
    known: dict[str | bytes, int] = {}
    words = (word if len(word) <= _SHORT else _mark(word) for word in _each(held))  # long ones are held once
    codes = np.fromiter((known.setdefault(word, len(known)) for word in words), dtype=np.int64, count=len(held))
    first = np.unique(codes, return_index=True)[1]
    different = held.take(pa.array(first, pa.int64()))
    return codes, different.combine_chunks() if isinstance(different, pa.ChunkedArray) else different


def _mark(word: str) -> bytes:
    return hashlib.blake2b(word.encode(), key=_KEYS.tobytes()[:64]).digest()


def _each(held: pa.Array) -> Iterator[str]:
    """The words, of which Python holds few letters at once: each can take four bytes there."""
    for start in range(0, len(held), _PORTION):
        part = held.slice(start, _PORTION)
        ends = np.cumsum(np.asarray(pc.fill_null(pc.binary_length(part), 0), dtype=np.int64))
        cuts = np.searchsorted(ends, np.arange(_LETTERS, int(ends[-1]) + _LETTERS, _LETTERS), side="right") + 1
        for first, last in pairwise(sorted({0, *np.minimum(cuts, len(part)).tolist(), len(part)})):
            yield from each(part.slice(first, last - first).to_pylist())


def _by_marks(held: pa.Array) -> tuple[IntArray, pa.Array]:
    """By Arrow, which is given hashes with a key for the words: which of those share one of its own nobody can know."""
    chunks = held.chunks if isinstance(held, pa.ChunkedArray) else [held]
    portions = [chunk.slice(start, _PORTION) for chunk in chunks for start in range(0, len(chunk), _PORTION)]
    codes = np.asarray(pa.array(np.concatenate([_marks(part) for part in portions])).dictionary_encode().indices)
    first = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(held))[::-1]
    different = held.take(pa.array(first))
    different = different.combine_chunks() if isinstance(different, pa.ChunkedArray) else different
    if not _stand_for(codes, different, portions):
        return _one_by_one(held)
    return codes.astype(np.int64), different


def _stand_for(codes: np.ndarray, different: pa.Array, portions: list[pa.Array]) -> bool:
    """Whether each row holds the word of its code: hardly ever do two words share a mark. As much work whether many
    words come again or none."""
    start = 0
    for part in portions:
        if not pc.all(pc.equal(part, different.take(pa.array(codes[start : start + len(part)])))).as_py():
            return False
        start += len(part)
    return True


def _marks(part: pa.LargeStringArray) -> np.ndarray:
    """A hash of 64 bits with a key for each word, shape (words,)."""
    go_on()
    borders = np.frombuffer(part.buffers()[1], dtype=np.int64)[part.offset : part.offset + len(part) + 1]
    lengths = np.diff(borders)
    marks = _short_marks(part.buffers()[2], borders, lengths)
    long = np.flatnonzero(lengths > _SHORT)
    content = memoryview(part.buffers()[2] or b"")
    each = (hash(content[first:last].tobytes()) for first, last in zip(borders[long], borders[long + 1], strict=True))
    marks[long] = np.fromiter(each, dtype=np.int64, count=long.size).view(np.uint64)  # Python's have a key
    return marks


def _short_marks(content: Any, borders: IntArray, lengths: IntArray) -> np.ndarray:
    """Of words of at most ``_SHORT`` bytes two hashes of 32 bits, each strongly universal (Lemire and Kaser, Computer
    Journal 57, 2014): of two words, whoever chose them, both agree with a chance of 2⁻⁶⁴, up to a small factor."""
    size = int(borders[-1] - borders[0]) if borders.size else 0
    signs = np.zeros(size + _LANE, dtype=np.uint8)
    if size and content is not None:
        signs[:size] = np.frombuffer(content, dtype=np.uint8)[borders[0] : borders[-1]]
    lanes: np.ndarray = np.ndarray((size + 1,), dtype="<u8", buffer=signs, strides=(1,))
    at = borders[:-1] - borders[0]
    one, other = (key[0] + lengths.astype(np.uint64) * key[1] for key in _KEYS)
    long: Any = slice(None)  # all words, then those that go on: one long word is work by itself alone
    for lane in range(_LANES):
        done = _LANE * lane
        signs_here = lanes[at[long] + done]
        signs_here &= _MASKS[np.minimum(lengths[long] - done, _LANE)]
        low, high = signs_here & _MASKS[4], signs_here >> _HALF
        place = 2 + 2 * lane
        one[long] += low * _KEYS[0, place] + high * _KEYS[0, place + 1]
        other[long] += low * _KEYS[1, place] + high * _KEYS[1, place + 1]
        goes_on = lengths[long] > done + _LANE
        long = np.flatnonzero(goes_on) if lane == 0 else long[goes_on]
    marks: np.ndarray = (one & ~_MASKS[4]) | (other >> _HALF)
    return marks
