"""Keyed sketches of tables, by which a file about the same people is recognised without keeping any of it.

A row is known by what stands together in it: in pairs and triples of its columns, in all of them, and in all but one;
and, since in questionnaires all columns hold the same values, in all of them in the file's order, and in all and all
but one by their names. From each such *combination* a sketch holds marks of a few dozen of its different value tuples.
Which ones is decided by a keyed hash of the tuple alone, so two files about the same people keep the same ones,
whatever the order of rows or the names of columns (coordinated sampling; Cohen, 1997; Broder, 1997). A mark is a keyed
hash again: without the key (``dpcore.ledger.key``) marks are random numbers, and no guess of the data can be tested on
them. Besides, each column has a mark of all it holds, in any order.

Which of two numbers is the day, and whether a comma stands before decimals, one row can decide for its column. So a few
combinations are looked at a second time, with each cell spelled for all that it could say.

Recognised: columns dropped, added, renamed or reordered; rows reordered, a few changed, or only a part of them (from a
sixth on); ids shifted; another spelling of numbers, dates, yes and no, capitals or blanks, also where a row more or
less decides how such are read. Not recognised: fewer rows, or a part of the rows of a file whose columns are so coarse
that not even three, or all, tell most rows apart (five questions with three answers each); fewer or more rows of a file
whose columns share their values (all answered 1 to 5) and were renamed and also moved or dropped, or of more than
twelve of which one was dropped; files whose rows could be any of so few that those of other people hold most of them
too (ages beside three jobs; a calendar with what was counted; groups of equal size); files in which the values
themselves were changed (rounded, jittered, translated, in other units); the same people asked something else.

Beside files of the same person also rows that stand several times, all or many of them, and tables of two to twelve
rows of each person beside one of one row, by what stands in all rows of one (ids that are no plain numbers, dates,
amounts); not where the number of rows of a person is left to chance, so that it could be of strangers who hold the same
(none, one or two visits). Which rows are copies can hang on one row, so what shows without them is a part of its own
(``Sketch.bare``), and never compared with files of others.

Of a file that somebody else linked with its people (``Index.seems_like``) less is recognised, so that one row hardly
decides: neither equal columns nor the very same file, only marks of all rows as they stand, and up to ``MOST_MORE`` of
those more than are needed. How many more, nobody without the key can tell. All rows, or nearly all, are nearly always
recognised from about 40 rows on, two thirds of them eight times in ten, a third two times in five, a sixth seldom; 20
rows every other time.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, IntArray

LEAST_APART = 0.7  # of the rows a combination must tell apart, to say anything about who they are
LEAST_SHARED = 6  # marks: fewer in common may be chance
MARGIN = 0.35  # how much more must be in common than coincidence would explain
LEAST_BITS = 8  # how unlikely equal columns must be by chance, in bits
MOST_COLUMNS = 256  # of which a sketch has marks
MOST_COMBINATIONS = 48
MOST_UNDECIDED = 8  # combinations more, in which days and numbers are spelled each cell by itself
MOST_TOGETHER = 72  # combinations of all rows, those among them, and of rows without copies
MOST_MARKS = 64  # of a combination
MOST_MORE = 20  # marks more than needed that others' people may take, so that one row hardly decides
_DEPTHS = 1 << 8  # as many as a byte of a packed mark tells
APART = range(70, 96)  # hundredths of rows that a combination of others' people may have to tell apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Some tuples of one combination of columns.

    ``depth`` says which were kept: one of 2^depth. ``marks`` maps each one's mark to the depth to which it would be
    kept. ``apart`` is the share of rows, in hundredths, that strangers of the same kind would hardly share: that have
    their tuple to themselves or, beside a running number, differ from most others.
    """

    depth: int
    apart: int
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """``columns`` maps the mark of each column's contents to how unlikely an equal one is by chance, in bits. The first
    of ``combinations`` is the widest that tells rows apart.

    Both parts are of all rows as they stand; ``bare`` is what shows where rows that are copies are left out, of a file
    that has some. Only ``is_like`` looks at it.
    """

    columns: tuple[tuple[int, int], ...] = ()
    combinations: tuple[Combination, ...] = ()
    bare: Sketch | None = None

    @property
    def foremost(self) -> int:
        """The mark of the tuple of the widest combination that would be kept to the greatest depth; 0 where there is
        none. Of n tuples any other is it once in n times (min-wise sampling), so two files with the same columns that
        share nearly all rows nearly always share it."""
        marks = self.combinations[0].marks if self.combinations else ()
        return max(marks, key=itemgetter(1, 0), default=(0, 0))[0]

    def is_like(self, other: Sketch) -> bool:
        """Whether both are probably about the same people; ``Index`` is for one beside many."""
        return Index(self).is_like(other)

    def to_text(self) -> str:
        """Plain text that ``from_text`` reads. Its length hangs on the rows: see ``to_even_text``."""
        parts = [_pack(self.columns)]
        parts += [f"{one.depth},{one.apart},{_pack(one.marks)}" for one in self.combinations]
        text = ";".join(parts)
        return text if self.bare is None else f"{text}|{self.bare.to_text()}"

    def to_even_text(self) -> str:
        """As ``to_text``, and as long as that of every other sketch: sealed, its length would still tell of the rows.

        Raises InvalidArgument for more marks than a sketch has.
        """
        text = self.to_text()
        if len(text) > LONGEST:
            raise InvalidArgument("sketch", "must hold no more marks than a sketch has")
        return text.ljust(LONGEST)

    @classmethod
    def from_text(cls, text: str) -> Sketch | None:
        """The sketch that was written so; None for text that is none (a file from before, without one)."""
        whole, there, without = text.rstrip(" ").partition("|")
        bare = cls.from_text(without) if there and "|" not in without else None
        if there and bare is None:
            return None
        first, *rest = whole.split(";")
        try:
            combinations = []
            for part in rest:
                depth, apart, marks = part.split(",")
                combinations.append(Combination(depth=int(depth), apart=int(apart), marks=_unpack(marks)))
            columns = _unpack(first)
        except (ValueError, struct.error):
            return None
        found = cls(columns=columns, combinations=tuple(combinations), bare=bare)
        return found if columns or combinations or there else None


class Index:
    """The marks of a sketch in order, so that another is gone through once. For one that is compared with many."""

    def __init__(self, sketch: Sketch) -> None:
        self._columns = dict(sketch.columns)
        self._own = _Marks([one for one in sketch.combinations if one.apart >= 100 * LEAST_APART])
        self._order = np.argsort(self._own.mark, kind="stable")
        self._sorted = self._own.mark[self._order]
        self._bare = None if sketch.bare is None else Index(sketch.bare)

    def is_like(self, other: Sketch) -> bool:
        """Whether both are probably about the same people, with copies or without; what neither says more closely."""
        whole = self._is_like(other) or (other.bare is not None and self._is_like(other.bare))
        return whole or (self._bare is not None and self._bare.is_like(other))

    def _is_like(self, other: Sketch) -> bool:
        theirs = _Marks([one for one in other.combinations if one.apart >= 100 * LEAST_APART])
        apart = np.minimum(theirs.apart[:, None], self._own.apart)
        return self._equal_columns(other) or bool(self._shares(theirs, apart).any())

    def seems_like(self, known: Sketch, *, more: int, apart: int) -> bool:
        """As ``is_like``, where nothing of the people of ``known`` may be told to who knows all their rows but one.

        They can bring a file of known rows and a guess that lies on any edge that is always the same. So only marks of
        all rows as they stand are compared, ``more`` (0 to ``MOST_MORE``) than needed are asked for, and a combination
        of ``known`` counts only where it tells ``apart`` hundredths of its rows apart. A keyed hash chooses both.
        It is as much work for people who are alike as for strangers: how long it takes shall not tell.
        """
        theirs = _Marks(known.combinations)
        counts = theirs.apart >= apart
        return bool((self._shares(theirs, self._own.apart, more) & counts[:, None]).any())

    def _shares(self, theirs: _Marks, apart: IntArray, more: int = 0) -> BoolArray:
        """Which combinations share ``more`` marks than coincidence explains, shape (theirs, own); ``apart`` of that
        shape is in hundredths of the rows."""
        own, shape = self._own, (theirs.depth.size, self._own.depth.size)
        first = np.searchsorted(self._sorted, theirs.mark, side="left")
        times = np.searchsorted(self._sorted, theirs.mark, side="right") - first
        at = np.repeat(np.arange(theirs.mark.size), times)  # each of their marks that stands here, as often as it does
        here = self._order[np.repeat(first, times) + np.arange(at.size) - np.repeat(np.cumsum(times) - times, times)]
        depth = np.maximum(theirs.depth[:, None], own.depth)
        pair = theirs.place[at], own.place[here]
        both = np.minimum(theirs.own[at], own.own[here]) >= depth[pair]
        shared = np.bincount(np.ravel_multi_index(pair, shape)[both], minlength=depth.size).reshape(shape)
        fewer = np.minimum(theirs.kept[np.arange(shape[0])[:, None], depth], own.kept[np.arange(shape[1]), depth])
        # strangers of the same kind would share about as many as do not tell rows apart
        chance = 1.0 - apart / 100
        return np.asarray(shared - more >= np.maximum(LEAST_SHARED, fewer * np.maximum(0.5, chance + MARGIN)))

    def _equal_columns(self, other: Sketch) -> bool:
        mine, theirs = self._columns, dict(other.columns)
        both = mine.keys() & theirs.keys()
        enough = 2 * len(both) >= min(len(mine), len(theirs)) > 0
        return enough and sum(min(mine[mark], theirs[mark]) for mark in both) >= LEAST_BITS


class _Marks:
    """The marks of some combinations one after the other: ``mark``, ``own`` (to which depth it is kept) and ``place``
    (of its combination), shape (marks,); and of each combination its ``depth``, ``apart`` and how many marks are
    ``kept`` at each depth, shape (combinations, depths).
    """

    def __init__(self, combinations: Sequence[Combination]) -> None:
        each = [dict(one.marks) for one in combinations]
        total = sum(map(len, each))
        self.mark = np.fromiter(chain.from_iterable(each), dtype=np.int64, count=total)
        self.own = np.fromiter(chain.from_iterable(map(dict.values, each)), dtype=np.int64, count=total)
        self.place = np.repeat(np.arange(len(each)), [len(one) for one in each])
        self.depth = np.array([one.depth for one in combinations], dtype=np.int64)
        self.apart = np.array([one.apart for one in combinations], dtype=np.int64)
        there = np.bincount(self.place * _DEPTHS + self.own, minlength=len(each) * _DEPTHS).reshape(len(each), _DEPTHS)
        self.kept = there[:, ::-1].cumsum(axis=1)[:, ::-1]


def _pack(pairs: tuple[tuple[int, int], ...]) -> str:
    data = b"".join(struct.pack(">Q", mark << 8 | small) for mark, small in pairs)
    return base64.urlsafe_b64encode(data).decode("ascii")


def _unpack(text: str) -> tuple[tuple[int, int], ...]:
    data = base64.urlsafe_b64decode(text.encode("ascii"))
    found = struct.unpack(f">{len(data) // 8}Q", data)
    return tuple((number >> 8, number & 0xFF) for number in found)


def _packed(pairs: int) -> int:
    """The characters that so many pairs are packed into."""
    return 4 * math.ceil(8 * pairs / 3)


LONGEST = 2 * _packed(MOST_COLUMNS) + len("|") + MOST_TOGETHER * (len(";99,100,") + _packed(MOST_MARKS))
"""Characters of the longest sketch there can be, whatever the rows."""
