"""Whole words against a pattern, by Arrow, and others in place of some.

As ``Series.str.fullmatch``, which reads the pattern anew in Python each time to see whether Arrow can take it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.validate import BoolArray, IntArray

_FEW, _SHORT = 100, 60
_BLANK, _DELETE = 0x20, 0x7F


def words(text: pd.Series) -> pa.Array:
    """The words as Arrow has them."""
    return pa.array(text, pa.large_string())


def instead(text: pd.Series, places: IntArray, others: pd.Series) -> pd.Series:
    """The words with ``others`` at these ascending ``places``, both of shape (places,).

    It is as much work whether there are many places or none: how long a column is read tells of no row that needs it.
    """
    taken = np.arange(len(text))
    taken[places] = len(text) + np.arange(places.size)
    return _like(pa.concat_arrays([_whole(text), _whole(others)]).take(pa.array(taken)), text, text.index)


def at(text: pd.Series, places: IntArray) -> pd.Series:
    """The words at these places, numbered anew; see ``instead``."""
    return _like(words(text).take(pa.array(places)), text, None)


def none_at(text: pd.Series, where: BoolArray) -> pd.Series:
    """The words with "" in these places; see ``instead``."""
    return _like(pc.if_else(pa.array(where), "", words(text)), text, text.index)


def without(text: pd.Series, where: BoolArray) -> pd.Series:
    """The words, missing in these places; see ``instead``."""
    return _like(pc.if_else(pa.array(where), pa.scalar(None, pa.large_string()), words(text)), text, text.index)


def one_after_another(columns: Sequence[pd.Series]) -> pd.Series:
    """The words of all these columns, numbered anew, in one piece of memory."""
    return _like(pa.concat_arrays([_whole(column) for column in columns]), columns[0], None)


def replaced(text: pd.Series, pattern: str, by: str) -> pd.Series:
    """The words with all that matches in them replaced, by Arrow; see ``fullmatch``."""
    return _like(pc.replace_substring_regex(words(text), pattern, by), text, text.index)


def _like(held: pa.Array, text: pd.Series, index: pd.Index | None) -> pd.Series:
    kind: Any = text.dtype if isinstance(text.dtype, pd.StringDtype) else pd.StringDtype(na_value=np.nan)
    return pd.Series(pd.array(held, dtype=kind), index=index, name=text.name)


def fullmatch(text: pd.Series, pattern: str) -> BoolArray:
    r"""Which words match as a whole. The pattern holds nothing of which Arrow and Python think otherwise: no \\d, \\s,
    \\w or \\b, nothing that looks ahead or back, and neither end marked.

    Arrow takes milliseconds to make a long pattern ready, and does so each time; a few short words are matched by
    Python, which keeps the pattern.
    """
    held = words(text)
    if len(held) <= _FEW and not held.null_count:
        few = held.to_pylist()
        if max(map(len, few), default=0) <= _SHORT:
            match = _compiled(pattern).fullmatch
            return np.fromiter((match(word) is not None for word in few), dtype=np.bool_, count=len(few))
    found = pc.match_substring_regex(held, f"^(?:{pattern})$")
    return np.asarray(found, dtype=bool)


def holds(text: pd.Series, sign: str) -> bool:
    """Whether any of the words holds this sign of ASCII, told from their bytes."""
    return any(bool((content == ord(sign)).any()) for content in map(_content, _parts(text)))


def is_below(text: pd.Series, sign: str) -> bool:
    """Whether all signs of all words come before this one of ASCII: before "A" there are digits and marks alone."""
    return all(bool((content < ord(sign)).all()) for content in map(_content, _parts(text)))


def _content(words: pa.LargeStringArray) -> np.ndarray:
    """The bytes of all words, one after the other."""
    _, places, content = words.buffers()
    if not len(words) or content is None:
        return np.zeros(0, dtype=np.uint8)
    first, last = np.frombuffer(places, dtype=np.int64)[[words.offset, words.offset + len(words)]]
    return np.frombuffer(content, dtype=np.uint8)[first:last]


def may_be_blank(text: pd.Series) -> BoolArray:
    """False for words that begin with a visible sign of ASCII, told from their bytes: they are surely not blank."""
    return np.concatenate([np.zeros(0, dtype=bool), *map(_begins_blank, _parts(text))])


def blank_rows(frame: pd.DataFrame) -> BoolArray:
    """Rows of words in which every cell is blank, shape (rows,); looked for only among those blank so far."""
    blank = np.ones(len(frame), dtype=bool)
    for place in range(frame.shape[1]):
        blank &= may_be_blank(frame.iloc[:, place])
        left = np.flatnonzero(blank)
        if left.size == 0:
            break
        blank[left] = (frame.iloc[left, place].str.strip() == "").to_numpy(dtype=bool)
    return blank


def _whole(text: pd.Series) -> pa.LargeStringArray:
    held = words(text)
    return held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held


def _parts(text: pd.Series) -> list[pa.LargeStringArray]:
    found = words(text)
    return list(found.chunks) if isinstance(found, pa.ChunkedArray) else [found]


def _begins_blank(words: pa.LargeStringArray) -> BoolArray:
    _, places, content = words.buffers()
    if not len(words) or content is None:
        return np.ones(len(words), dtype=bool)
    borders = np.frombuffer(places, dtype=np.int64)[words.offset : words.offset + len(words) + 1]
    signs = np.frombuffer(content, dtype=np.uint8)
    first = signs[np.minimum(borders[:-1], signs.size - 1)] if signs.size else np.zeros(len(words), dtype=np.uint8)
    return np.asarray((np.diff(borders) == 0) | (first <= _BLANK) | (first >= _DELETE))


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
