"""CSV files read where they are, one line one row: what a line holds, and whether it counts, is up to that line alone.

Where cells may be quoted a quotation mark too many takes the lines after it along, so quotation marks are letters here
as any other. A line that cannot be read (``readable``) or has more or fewer cells than its file's first line is left
out, and no other with it; nothing is guessed from what the lines hold, and none of them makes a question fail.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from dpcore.datasets.in_place.form import Form
from dpcore.errors import UnreadableFile

LONGEST = 65_536
"""Bytes that a line may have, without its end."""
AT_ONCE = 4 * 2**20
"""Bytes that are read at once."""
_FEW = 4096  # bytes of lines that are looked at one by one
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()  # at the start of a file: that it is UTF-8
_HEADER = "The first line of each CSV file of this folder must name all the columns that are stated, each once."


def readable(line: bytes) -> bool:
    """Whether a line, without its end, is UTF-8 of at most ``LONGEST`` bytes, without a zero byte or a carriage return
    within it, or the mark of a file's beginning at its own."""
    if len(line) > LONGEST or b"\r" in line or b"\0" in line or line.startswith(_MARK):
        return False
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def readable_lines(file: BinaryIO, at_once: int) -> Iterator[bytes]:
    """The readable lines from where a file is, many at once, each ended by a newline; lines end with \\n or \\r\\n.

    However long a line may be no more than ``at_once`` bytes are read at once, and some ``LONGEST`` kept.
    """
    rest, too_long = b"", False
    while block := file.read(at_once):
        cut = block.rfind(b"\n") + 1
        if not cut:
            too_long = too_long or len(rest) + len(block) > LONGEST + 1
            rest = b"" if too_long else rest + block
            continue
        first = block.find(b"\n") + 1 if too_long else 0
        yield from _checked(rest + block[first:cut])
        rest = block[cut:]
        too_long = len(rest) > LONGEST + 1
        rest = b"" if too_long else rest
    if rest:
        yield from _checked(rest + b"\n")


def _checked(lines: bytes) -> Iterator[bytes]:
    """The readable ones among whole lines."""
    if b"\r" in lines:
        lines = lines.replace(b"\r\n", b"\n")
    kept: list[bytes] = []
    _keep_readable(_without_too_long(lines), kept)
    lines = kept[0] if len(kept) == 1 else b"".join(kept)
    if lines.strip(b"\n"):
        yield lines


def _without_too_long(lines: bytes) -> bytes:
    ends = np.flatnonzero(np.frombuffer(lines, dtype=np.uint8) == ord("\n"))
    sizes = np.diff(ends, prepend=-1)
    too_long = np.flatnonzero(sizes > LONGEST + 1)
    if not too_long.size:
        return lines
    after = (ends[too_long] + 1).tolist()
    before = (np.array(after) - sizes[too_long]).tolist()
    return b"".join(lines[start:end] for start, end in zip([0, *after], [*before, len(lines)], strict=True))


def _keep_readable(lines: bytes, kept: list[bytes]) -> None:
    """Add to ``kept`` the readable ones among whole lines that are not too long.

    What is not readable is narrowed down by halves, so that one such line costs next to nothing: if all lines beside it
    were looked at one by one, the time that a question takes would tell whether it is there.
    """
    if _all_readable(lines):
        kept.append(lines)
        return
    half = len(lines) // 2
    middle = lines.rfind(b"\n", 0, half) + 1 or lines.find(b"\n", half) + 1
    if len(lines) <= _FEW or middle == len(lines):
        kept += [line + b"\n" for line in lines.split(b"\n")[:-1] if readable(line)]
        return
    _keep_readable(lines[:middle], kept)
    _keep_readable(lines[middle:], kept)


def _all_readable(lines: bytes) -> bool:
    """Whether all of them are; where it says no they may still be."""
    if b"\r" in lines or b"\0" in lines:
        return False
    if lines.isascii():
        return True
    try:
        lines.decode()
    except UnicodeDecodeError:
        return False
    return _MARK not in lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The rows of several files as texts: a stream for DuckDB, begun anew each time one is asked for.

    ``names`` are the columns that are brought.
    """

    files: tuple[Path, ...]
    form: Form
    names: tuple[str, ...]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([(name, pa.string()) for name in self.names])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for path in self.files:
            with path.open("rb") as file:
                places = header(file, self.form)
                width, wanted = places.width, [str(places.of[name]) for name in self.names]
                for lines in readable_lines(file, AT_ONCE):
                    found = _parsed(lines, self.form.delimiter, width, wanted)
                    yield from found.rename_columns(self.names).to_batches()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """How many cells the lines of a file have, and which of them is a column's."""

    width: int
    of: dict[str, int]


def header(file: BinaryIO, form: Form) -> Header:
    """What the first line of a file says, after which the file stands then. Raises UnreadableFile.

    It holds names and no person's values; here a cell may be quoted.
    """
    line = file.readline(LONGEST + 2).removeprefix(_MARK).removesuffix(b"\n").removesuffix(b"\r")
    if not readable(line):
        raise UnreadableFile(_HEADER)
    try:
        cells = next(csv.reader([line.decode()], delimiter=form.delimiter, strict=True), [])
    except csv.Error:
        raise UnreadableFile(_HEADER) from None
    names = [cell.strip() for cell in cells]
    if any(names.count(name) != 1 for name, _ in form.columns):
        raise UnreadableFile(_HEADER)
    return Header(width=len(names), of={name: names.index(name) for name, _ in form.columns})


def _parsed(lines: bytes, delimiter: str, width: int, wanted: Sequence[str]) -> pa.Table:
    """The ``wanted`` cells of those lines that have ``width`` cells; empty lines are none."""
    every = [str(place) for place in range(width)]
    return arrow_csv.read_csv(
        pa.py_buffer(lines),
        read_options=arrow_csv.ReadOptions(column_names=every, use_threads=False, block_size=len(lines) + 1),
        parse_options=arrow_csv.ParseOptions(
            delimiter=delimiter,
            quote_char=False,
            double_quote=False,
            escape_char=False,
            newlines_in_values=False,
            ignore_empty_lines=True,
            invalid_row_handler=lambda _: "skip",
        ),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(every, pa.string()),
            strings_can_be_null=False,
            check_utf8=False,  # each line is known to be
        ),
    )
