"""From a file to a frame of text, with everything that was understood, repaired or set aside on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import Applied
from dpcore.datasets.guessing import each_row, read_columns
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.container import is_parquet, refuse_other_kinds
from dpcore.datasets.reading.tabulate import Tabulated, tabulate
from dpcore.datasets.report import Notice, ReadColumn, Report
from dpcore.datasets.schema import DateOrder, Decimal, Schema
from dpcore.datasets.table import Table
from dpcore.errors import InvalidArgument, ReadingCancelled, UnreadableFile
from dpcore.validate import IntArray, one_of, whole

LARGEST = 200 << 20
_VERSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a person may decide instead of the guess; None leaves it to the guess. Raises InvalidArgument.

    ``delimiter`` is one character, or "" for one column. ``encoding`` is a name such as "cp1252". ``quote`` is '"',
    "'", or "" for none. ``header_rows`` (0 to 2) lines name the columns, from line ``header_line`` on. ``decimal`` and
    ``date_order`` hold for every column that does not show its own. ``keep_footer`` keeps totals and notes at the foot
    as rows. ``uneven`` says whether rows with too many cells are set aside or, beyond one in a hundred, refused.
    """

    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    header_rows: int | None = None
    header_line: int | None = None
    decimal: Decimal | None = None
    date_order: DateOrder | None = None
    keep_footer: bool = False
    uneven: Literal["refuse", "set aside"] = "refuse"

    def __post_init__(self) -> None:
        if self.header_rows is not None:
            whole(0, 2, header_rows=self.header_rows)
        if self.header_line is not None:
            whole(1, header_line=self.header_line)
        if self.quote is not None:
            one_of(('"', "'", ""), quote=self.quote)
        if self.decimal is not None:
            one_of((".", ","), decimal=self.decimal)
        if self.date_order is not None:
            one_of(("ymd", "dmy", "mdy"), date_order=self.date_order)
        one_of(("refuse", "set aside"), uneven=self.uneven)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A file as understood.

    ``frame`` holds every cell as text exactly as in the file, missing ones as "". ``columns`` hold a suggestion each.
    ``lines`` gives the line of the file each row starts on, shape (rows,). ``fingerprint`` tells files apart by what
    they hold: the order of rows and columns, line ends, padding and encoding do not change it. Anybody could work it
    out from a guess of the data, so it stays in this session, and ``Ledger.link`` keys it. ``key`` tells readings apart
    to the last byte and choice: the key for caches.
    """

    frame: pd.DataFrame
    columns: tuple[ReadColumn, ...]
    report: Report
    lines: IntArray
    fingerprint: str
    key: str

    @property
    def rows(self) -> int:
        return len(self.frame)

    def column(self, name: str) -> ReadColumn:
        """One column. Raises InvalidArgument."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidArgument("column", "must be one of the file's columns")

    def suggested(self) -> Schema:
        """The suggested types and what a row is: a start for declaring, without bounds or categories."""
        columns = tuple(column.suggestion for column in self.columns)
        return Schema(columns=columns, each_row=each_row(self.frame, self.columns))

    def apply(self, schema: Schema) -> Applied:
        """Typed columns, with an account of every cell by row (see ``lines``). Raises InvalidArgument."""
        return schema.apply(self.frame)

    def table(self, schema: Schema) -> Table:
        """The typed table for the pages. Raises InvalidArgument."""
        declared = hashlib.sha256(repr(schema).encode()).hexdigest()
        return self.apply(schema).table(fingerprint=f"{self.key}:{declared}", lineage="")


def read_csv(
    source: bytes | str | Path | IO[bytes],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    header_rows: int | None = None,
    header_line: int | None = None,
    decimal: Decimal | None = None,
    date_order: DateOrder | None = None,
    keep_footer: bool = False,
    uneven: Literal["refuse", "set aside"] = "refuse",
    progress: Callable[[float, str], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Reading:
    """Reads a CSV, TSV or Parquet file (bytes, a path, or a binary file object) without trusting its name.

    The other arguments override guesses (see ``Choices``). ``progress(fraction, words)`` is called as the work goes on;
    it stops soon after ``cancel()`` is true. Raises UnreadableFile with one sentence for anything that cannot be read
    without guessing, ReadingCancelled, and InvalidArgument for a choice that is none.
    """
    choices = Choices(
        delimiter=delimiter,
        encoding=encoding,
        quote=quote,
        header_rows=header_rows,
        header_line=header_line,
        decimal=decimal,
        date_order=date_order,
        keep_footer=keep_footer,
        uneven=uneven,
    )

    def say(fraction: float, what: str) -> None:
        if cancel is not None and cancel():
            raise ReadingCancelled("Reading was cancelled.")
        if progress is not None:
            progress(min(max(fraction, 0.0), 1.0), what)

    say(0.0, "Opening the file")
    data = _bytes(source)
    key = _key(data, choices)
    table = _parquet(data, say) if is_parquet(data) else _text(data, choices, say)
    columns = read_columns(
        table.frame,
        table.lines,
        decimal=choices.decimal,
        order=choices.date_order,
        say=lambda part: say(0.4 + 0.4 * part, "Looking at the columns"),
    )
    say(0.85, "Taking the fingerprint")
    found = fingerprint(table.frame)
    say(1.0, "Done")
    return Reading(
        frame=table.frame, columns=columns, report=table.report, lines=table.lines, fingerprint=found, key=key
    )


def fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 over names, number of rows and the digests of all rows; neither their order nor padding changes it."""
    low, high = engine.row_sums(frame)
    names = sorted(str(name) for name in frame.columns)
    digest = hashlib.sha256(f"{_VERSION}|{len(frame)}|{low:x}|{high:x}".encode())
    for name in names:
        digest.update(f"|{len(name)}:{name}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _key(data: bytes, choices: Choices) -> str:
    digest = hashlib.sha256(repr(choices).encode())
    digest.update(data)
    return digest.hexdigest()


def _bytes(source: bytes | str | Path | IO[bytes]) -> bytes:
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_file():
            raise UnreadableFile("There is no file at that place.")
        if path.stat().st_size > LARGEST:
            raise UnreadableFile(_TOO_LARGE)
        try:
            data = path.read_bytes()
        except OSError:
            raise UnreadableFile("The file cannot be opened.") from None
    else:
        data = bytes(source) if isinstance(source, bytes | bytearray | memoryview) else source.read(LARGEST + 1)
    if not isinstance(data, bytes):
        raise InvalidArgument("source", "must be bytes, a path, or a file opened in binary mode")
    if len(data) > LARGEST:
        raise UnreadableFile(_TOO_LARGE)
    refuse_other_kinds(data)
    return data


_TOO_LARGE = f"The file is larger than {LARGEST >> 20} MB; keep fewer rows or columns."


def _text(data: bytes, choices: Choices, say: Callable[[float, str], None]) -> Tabulated:
    return tabulate(
        data,
        delimiter=choices.delimiter,
        encoding=choices.encoding,
        quote=choices.quote,
        header_rows=choices.header_rows,
        header_line=choices.header_line,
        keep_footer=choices.keep_footer,
        uneven=choices.uneven == "set aside",
        say=say,
    )


def _parquet(data: bytes, say: Callable[[float, str], None]) -> Tabulated:
    say(0.1, "Reading the Parquet file")
    frame = engine.parquet(data)
    if frame.empty:
        raise UnreadableFile("The file has column names but no rows.")
    notices: tuple[Notice, ...] = ()
    report = Report(
        container="parquet",
        rows=len(frame),
        delimiter="",
        delimiter_certain=True,
        encoding="utf-8",
        encoding_certain=True,
        header_lines=(),
        header_certain=True,
        first_line=1,
        notices=notices,
    )
    return Tabulated(frame=frame, lines=np.arange(1, len(frame) + 1, dtype=np.int64), report=report)
