"""Which character ends a cell: every candidate tried on a sample, and DuckDB's sniffer asked for its opinion."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.datasets.report import Alternative
from dpcore.errors import InvalidArgument

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = (",", ";", "\t", "|")
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", "": "none (one column)"}
_ONE_COLUMN = ""
_UNUSUAL = (" ", "^", "~", ":")
SIGNS = (*DELIMITERS, *_UNUSUAL)
"""All at which cells can be found to end, where nobody says by what else."""
_RECORDS = 2000
_SUPPORT = 0.5  # of all records must have the usual number of cells
_DECLARED = re.compile(rb'\s*"?sep=(.)"?[ \t,;]*\n', re.IGNORECASE)
PLAIN_MARK, SINGLE_MARK = '"', "'"
_SEVERAL = 3
"""Cells in single quotation marks from which on these are taken for the file's."""
_NUMBERISH = re.compile(r"[-+(]?[^\w\s]?\s?\d[\d.,' ]*[)%]?")
_QUOTED = re.compile(r"(?:^|[,;\t|])'[^']*'(?=[,;\t|\n])", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """``delimiter`` is empty for one column; ``escape`` is the quote itself when doubled, or a backslash."""

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    certain: bool = True
    alternatives: tuple[Alternative, ...] = ()

    @property
    def name(self) -> str:
        return NAMES.get(self.delimiter, repr(self.delimiter))

    def reader(self, lines: Iterable[str], *, strict: bool) -> Reader:
        return csv.reader(
            lines,
            delimiter=self.separator,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            doublequote=self.escape != "\\",
            escapechar="\\" if self.escape == "\\" else None,
            skipinitialspace=self.separator != " ",
            strict=strict,
        )

    @property
    def separator(self) -> str:
        """The delimiter, or for one column a character that text files do not hold."""
        return self.delimiter or "\x1f"


def declared(data: bytes) -> tuple[str | None, int]:
    """The delimiter of a first line such as "sep=;", and how many bytes that line takes."""
    found = _DECLARED.match(data[:64])
    return (None, 0) if found is None else (found[1].decode("latin-1"), found.end())


def checked(delimiter: str) -> str:
    """A delimiter chosen by the person; "" means one column. Raises InvalidArgument."""
    if not isinstance(delimiter, str) or len(delimiter) > 1 or delimiter in ('"', "'", "\n", "\r", "\x1f", "\x00"):
        raise InvalidArgument("delimiter", "must be one character, or empty for a file of one column")
    if delimiter and ord(delimiter) > 0x7F:
        raise InvalidArgument("delimiter", "must be an ASCII character")
    return delimiter


def find(sample: str, sniffed: Callable[[], str | None], quote: str | None) -> Dialect:
    """The most plausible dialect of the first lines of a file. ``quote`` overrides the guess.

    ``sniffed()`` is another opinion, asked for where it could make a difference.
    """
    mark = quote if quote is not None else likely_quote(sample)
    scores = {_ONE_COLUMN: _one_column(sample)}
    for delimiter in DELIMITERS:
        if delimiter in sample:
            scores[delimiter] = _score(sample, delimiter, mark)
    order = sorted(scores, key=lambda key: -scores[key])
    best = order[0]
    rivals = [key for key in order[1:] if scores[key] > 0.8 * scores[best]]
    near = [key for key in order[1:] if key not in rivals and scores[key] > 0.5 * scores[best]]
    if near and (other := sniffed()) in near:
        rivals.append(other)
    if best == _ONE_COLUMN:
        lines = [line for line in sample.splitlines() if line.strip()] or [sample]
        rivals += [mark for mark in _UNUSUAL if mark in lines[0] and len({line.count(mark) for line in lines}) == 1]
    line = next((line for line in sample.splitlines()[1:] if line.strip()), sample[:80])[:80]
    alternatives = tuple(
        Alternative(argument="delimiter", value=key, example=shown(line, Dialect(delimiter=key, quote=mark)))
        for key in ([best, *rivals] if rivals else [])
    )
    return Dialect(delimiter=best, quote=mark, escape=mark, certain=not rivals, alternatives=alternatives)


def records(sample: str, dialect: Dialect, limit: int = _RECORDS) -> list[list[str]]:
    """The first records that are not blank, leniently read."""
    found: list[list[str]] = []
    try:
        for record in dialect.reader(io.StringIO(sample, newline=""), strict=False):
            if record:
                found.append(record)
            if len(found) >= limit:
                break
    except csv.Error:
        return found
    return found


def likely_quote(sample: str) -> str:
    return SINGLE_MARK if PLAIN_MARK not in sample and len(_QUOTED.findall(sample)) >= _SEVERAL else PLAIN_MARK


def has_single_marks(data: bytes, separator: str) -> bool:
    """Whether any cell of the whole file could stand in single quotation marks, where cells end so or as usual."""
    signs = {*DELIMITERS, separator}
    borders = re.escape("".join(signs)).encode()
    # where a blank ends a cell the last one before a mark does; to go through the others would be quadratic
    blanks = b"" if " " in signs else b" *+"
    return b"'" in data and re.search(rb"(?:^|[\n" + borders + rb"])" + blanks + rb"'", data) is not None


def shown(line: str, dialect: Dialect) -> str:
    """How one line falls into cells."""
    return " ¦ ".join(next(iter(records(line, dialect)), [line]))


def _score(sample: str, delimiter: str, quote: str) -> float:
    """Between 0 and 1: how many rows have the usual number of cells, and how few cells hold another delimiter."""
    rows = records(sample, Dialect(delimiter=delimiter, quote=quote))
    counts = [len(row) for row in rows]
    several = Counter(count for count in counts if count > 1)
    if not several:
        return 0.0
    usual = max(several, key=lambda count: (several[count], count))
    start, end = counts.index(usual), len(counts)
    while end > start + 1 and end > len(counts) - 3 and counts[end - 1] == 1:
        end -= 1
    body = rows[start:end]
    consistent = sum(len(row) == usual for row in body) / len(body)
    others = [other for other in DELIMITERS if other != delimiter]
    cells = [cell for row in body for cell in row if cell.strip()]
    clean = sum(not any(other in cell for other in others) or _is_number(cell) for cell in cells) / max(len(cells), 1)
    score = consistent * (0.5 + 0.5 * clean) * min(1.0, several[usual] / (_SUPPORT * len(rows)))
    if start > 0 and len(rows[start - 1]) == 1:
        # A name above rows that split: rather a column of decimal commas or of "Surname, Name" than a title.
        if all(_is_number(cell) for cell in body[0]):
            score *= 0.5
        elif usual == 2 and sample.count(delimiter) == sample.count(f"{delimiter} "):
            score *= 0.3
    return score


def _one_column(sample: str) -> float:
    lines = [line.strip().strip('"') for line in sample.splitlines() if line.strip()][:_RECORDS]
    clean = sum(not any(mark in line for mark in DELIMITERS) or _is_number(line) for line in lines)
    return 0.6 * (0.5 + 0.5 * clean / max(len(lines), 1))


def _is_number(cell: str) -> bool:
    return len(cell) < 40 and _NUMBERISH.fullmatch(cell.strip()) is not None
