"""One suggestion per column, numbers before dates before words, and what the columns of one file tell each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pandas as pd

from dpcore.datasets.at_once import at_once
from dpcore.datasets.different import among
from dpcore.datasets.guessing import dates, numerals
from dpcore.datasets.guessing.dates import Both
from dpcore.datasets.guessing.numerals import Marks
from dpcore.datasets.guessing.plain_numbers import PlainNumbers, plain_numbers
from dpcore.datasets.guessing.plain_times import PlainTimes, plain_times
from dpcore.datasets.guessing.words import Guess, Hint, Words, words_of
from dpcore.datasets.numerals import tidy
from dpcore.datasets.plain_words import plain
from dpcore.datasets.report import ReadColumn, listed
from dpcore.datasets.schema import NO_WORDS, SPREADSHEET_ERRORS, YES_WORDS, Column, DateOrder, Decimal
from dpcore.validate import IntArray

_FEW, _MANY = 60, 20
_FLAGS = {*YES_WORDS, *NO_WORDS}
_ANSWERS = {"none", "nil", "na", "null", "missing"}
_WORDS_SHOWN = 12
_PERSON = re.compile(
    r"(?:^|[\W_])(?:id|person|patient|customer|client|user|member|pupil|student|employee|name|email)", re.I
)
T = TypeVar("T")
Plain = PlainNumbers | PlainTimes
Say = Callable[[float], None]


def read_columns(
    frame: pd.DataFrame,
    lines: IntArray,
    *,
    decimal: Decimal | None,
    order: DateOrder | None,
    say: Say,
    commas: bool = False,
    usual: Decimal | None = None,
    computed: Collection[str] = (),
) -> tuple[ReadColumn, ...]:
    """``lines`` holds the line number of each row; ``decimal`` and ``order`` are what the person stated.

    ``usual`` is the decimal mark where a column shows none. In the ``computed`` columns it is a point.
    """
    marked: list[Decimal | None] = ["." if name in computed else decimal for name in map(str, frame.columns)]
    found = _found(frame, marked, lambda part: say(0.5 * part))
    listed_ones = [words for words in found if isinstance(words, Words)]
    seen: list[_Listed] = []
    for one in at_once(_looked, listed_ones, lambda: say(0.5)):
        seen.append(one)
        say(0.5)
    decimals = [each.marks.decisive for each in seen]
    decimals += [each.decisive for each in found if isinstance(each, PlainNumbers)]
    orders = [dates.decisive_order(each.dates) for each in seen]
    agreed = Hint(order=order, agreed=usual or _agreed(decimals), agreed_order=_agreed(orders), commas=commas)
    left, hints = iter(seen), [replace(agreed, decimal=one) for one in marked]
    looks = [each if isinstance(each, Plain) else next(left) for each in found]
    columns: list[ReadColumn] = []

    def part(done: int) -> float:
        return 0.5 + 0.5 * done / frame.shape[1]

    known = list(zip(looks, hints, strict=True))
    guesses = at_once(lambda pair: _guessed(*pair), known, lambda: say(part(len(columns))))
    for place, (look, guess) in enumerate(zip(looks, guesses, strict=True)):
        say(part(place))
        columns.append(_column(look, guess, frame.iloc[:, place], lines))
    return tuple(columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """The different words of a column, and which of them are numbers or dates."""

    words: Words
    marks: Marks
    dates: Both | None


def _looked(words: Words) -> _Listed:
    return _Listed(words=words, marks=numerals.marks(words), dates=dates.both(words))


def _guessed(look: _Listed | Plain, hint: Hint) -> Guess:
    return look.guess(hint) if isinstance(look, Plain) else _guess(look, hint)


def _found(frame: pd.DataFrame, marked: list[Decimal | None], say: Say) -> list[Words | Plain]:
    """What is known of every column, those of many plain numbers or times without a list of their words.

    Where a person said that another sign is the decimal mark, a column with points in it is not plain.
    """
    width = frame.shape[1]
    quick: list[Plain | None] = []
    for seen in at_once(_plain, [frame.iloc[:, place] for place in range(width)], lambda: say(0.3)):
        pointed = isinstance(seen, PlainNumbers) and seen.pointed
        quick.append(None if pointed and marked[len(quick)] == "," else seen)
        say(0.3 * len(quick) / width)
    rest = [place for place, seen in enumerate(quick) if seen is None]
    words = iter(words_of(frame.iloc[:, rest], lambda part: say(0.3 + 0.7 * part)) if rest else [])
    return [next(words) if seen is None else seen for seen in quick]


def _plain(cells: pd.Series) -> Plain | None:
    return plain_numbers(cells) or plain_times(cells)


def _column(look: _Listed | Plain, guess: Guess, cells: pd.Series, lines: IntArray) -> ReadColumn:
    words: Words | Plain = look if isinstance(look, Plain) else look.words
    unread, places = 0, np.zeros(0, dtype=np.int64)
    notes = (*guess.notes, *_notes(words, guess))
    if isinstance(look, _Listed):
        bad = look.words.words[guess.bad]
        unread = look.words.cells(guess.bad)
        places = np.flatnonzero(among(tidy(cells), tuple(bad)) >= 0) if len(bad) else places
        notes += _change(look.words, look.marks, guess, cells, lines)
    return ReadColumn(
        name=words.name,
        suggestion=guess.column,
        reason=guess.reason,
        missing=sum(count for _, count in words.missing),
        missing_words=words.missing[:_WORDS_SHOWN],
        unparsable=unread,
        unparsable_lines=listed([int(line) for line in lines[places[:200]]]),
        distinct=words.distinct,
        identifier=guess.identifier,
        readings=guess.readings,
        stand_in=guess.stand_in,
        notes=notes,
    )


def _change(words: Words, seen: Marks, guess: Guess, text: pd.Series, lines: IntArray) -> tuple[str, ...]:
    """Where a column of numbers turns into words, or the other way round, once and for all."""
    number = seen.point | seen.comma
    if guess.column.type not in ("category", "text") or not 0.2 <= words.share(number) <= 0.999:
        return ()
    tidied = tidy(text)
    numeric = np.flatnonzero(among(tidied, tuple(words.words[number])) >= 0)
    other = np.flatnonzero(among(tidied, tuple(words.words[~number])) >= 0)
    if numeric[-1] < other[0]:
        return (f"Numbers before line {lines[other[0]]:,} and words from there on.",)
    return (f"Words before line {lines[numeric[0]]:,} and numbers from there on.",) if other[-1] < numeric[0] else ()


def _agreed(seen: Iterable[T | None]) -> T | None:
    """What some columns show and no other one contradicts."""
    found = {one for one in seen if one is not None}
    return found.pop() if len(found) == 1 else None


def _guess(look: _Listed, hint: Hint) -> Guess:
    words, seen = look.words, look.marks
    if words.present == 0:
        return Guess(
            column=Column(name=words.name, type="text"),
            reason="Every cell is missing.",
            bad=np.zeros(0, dtype=bool),
        )
    dated = _flags(words) or dates.guess(words, look.dates, hint)
    return dated or numerals.guess(words, seen, hint) or _words(words, seen)


def _flags(words: Words) -> Guess | None:
    """Yes and no in any spelling; a column of 1 and 0 needs both."""
    if words.distinct > 12:
        return None
    lower = {word if word in _FLAGS else plain(word) for word in words.words.str.lower()}
    if not lower <= _FLAGS or (lower <= {"0", "1"} and len(lower) < 2):
        return None
    spellings = "" if len(lower) <= 2 else ", in more than one spelling"
    return Guess(
        column=Column(name=words.name, type="yes/no"),
        reason=f"Only words for yes and no{spellings}.",
        bad=np.zeros(words.distinct, dtype=bool),
    )


def _words(words: Words, seen: Marks) -> Guess:
    nothing = np.zeros(words.distinct, dtype=bool)
    mixed = _mixture(words, seen)
    if words.distinct == 1 and words.present > 1:
        reason = "Every cell that is not missing holds the same word: nothing to choose from."
        return Guess(column=Column(name=words.name, type="text"), reason=reason, bad=nothing)
    if words.distinct <= max(2, min(_FEW, words.present // 2)):
        return Guess(
            column=Column(name=words.name, type="category"),
            reason=f"{words.present:,} cells with {words.distinct} different words{mixed}.",
            bad=nothing,
        )
    alone = words.distinct == words.present and words.present >= _MANY
    return Guess(
        column=Column(name=words.name, type="text"),
        reason=f"{'Every value is different' if alone else f'{words.distinct:,} different words'}: text{mixed}.",
        bad=nothing,
        identifier=alone,
    )


def _mixture(words: Words, seen: Marks) -> str:
    count = words.cells(seen.point | seen.comma)
    return f", {count:,} of them numbers: too few for a column of numbers" if count >= 0.2 * words.present else ""


def _notes(words: Words | Plain, guess: Guess) -> tuple[str, ...]:
    notes = []
    if words.distinct == 1:
        notes.append("Every cell that is not missing holds the same value, so there is nothing to choose or predict.")
    errors = sum(count for word, count in words.missing if word.upper() in SPREADSHEET_ERRORS)
    if errors:
        notes.append(f"{errors:,} cells hold an error of a spreadsheet, such as #DIV/0!, and count as missing.")
    answers = sum(count for word, count in words.missing if word.lower() in _ANSWERS)
    if answers and guess.column.type in ("category", "text"):
        notes.append(f"{answers:,} cells say none or the like and count as missing, though that may be an answer.")
    if isinstance(words, Words):
        notes += _notes_on_words(words, guess)
    if guess.identifier:
        notes.append("It tells one person from another, so no question can be asked about it.")
    elif words.distinct < words.present and words.distinct > 2 and _PERSON.search(words.name):
        notes.append("Values repeat: if they name people, one person has several rows; say how many at most.")
    return tuple(notes)


def _notes_on_words(words: Words, guess: Guess) -> list[str]:
    notes = []
    formula = words.words[~words.plain]
    if len(formula):
        formula = formula[formula.str.startswith(("=", "+", "-", "@"))]
    if len(formula) and not formula.str.fullmatch(r"[-+][0-9.,(€$£ ].*").all():
        notes.append("Some cells start like a formula; they are only text here and made harmless in exports.")
    if guess.column.type in ("category", "text") and dates.spoiled_names(words.words):
        notes.append("Some cells look like dates without a year, which spreadsheets make of names such as SEPT2.")
    return notes
