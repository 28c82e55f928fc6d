"""CSV files into a folder of Parquet files: each cell as its column's type, or missing, and then said where.

How the files are read is stated, or the usual (``as_stated``), and refused where the beginning of the first one
suggests something else; every cell is then read by itself. The folder is there whole or not at all. For whoever may
look at the rows: the account says how many cells did not fit, and where.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute
from pyarrow import parquet as pq

from dpcore.datasets import made_of
from dpcore.datasets.conversion import apply
from dpcore.datasets.importing.as_stated import ENCODING, check_stated, form_stated, stated_columns, stated_signs
from dpcore.datasets.importing.cells import Signs, rows
from dpcore.datasets.importing.text_lines import Aside, Lines, Source, Text, text_lines
from dpcore.datasets.reading import Reading, read_table
from dpcore.datasets.schema import Column, ColumnType, DateOrder, Decimal, Schema
from dpcore.datasets.unnamed_index import is_unnamed_index
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.validate import IntArray, one_of

STATED: tuple[ColumnType, ...] = ("text", "integer", "number", "date", "yes/no")
_HEADS = (2 * 2**20, 2**18, 2**15, 2**12)  # a line that is none is no matter where the lines before it tell enough
_TEXT = pd.StringDtype(na_value=np.nan)
_ARROW = {"integer": pa.int64(), "number": pa.float64(), "date": pa.timestamp("s"), "yes/no": pa.bool_()}


@dataclass(slots=True, kw_only=True)
class Fitted:
    """One column as it was read: how many cells are missing, and of those that did not fit how many, and where."""

    name: str
    type: ColumnType
    missing: int
    misfit: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of the files: how many rows, and what did not fit, by column and by file."""

    folder: Path
    rows: int
    columns: tuple[Fitted, ...]
    aside: dict[str, Aside]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How the files are written, as the first of them is: names as they stand, without those of an index that has none,
    and columns as read."""

    encoding: str
    signs: Signs
    line: int
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    told: str

    @property
    def schema(self) -> pa.Schema:
        fields = [(column.name, _ARROW.get(column.type, pa.string())) for column in self.columns]
        return pa.schema(fields, metadata={made_of.KEY: self.told})


def import_csv(
    sources: Sequence[Path],
    folder: Path,
    *,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    decimal: Decimal | None = None,
    date_order: DateOrder | None = None,
    header_line: int | None = None,
    lines_in_cells: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Imported:
    """All rows of ``sources``, which have the same line of names, as Parquet in ``folder``, which must not exist.

    ``types`` states those of columns that are no text. With ``lines_in_cells`` quoted cells run over lines; else each
    line is a row by itself, and one on which a quotation mark stays open is set aside. The other choices are those of
    ``read_table``, for all files; all of them stand in the metadata of each Parquet file (``made_of``).
    ``progress(bytes)`` is called as bytes are read. Raises UnreadableFile, InvalidArgument, OSError; then nothing is
    left behind.
    """
    if not sources:
        raise InvalidArgument("sources", "must be at least one file")
    stated: dict[str, ColumnType] = {name: _kind(kind) for name, kind in (types or {}).items()}
    choices = {
        "delimiter": delimiter,
        "encoding": encoding,
        "quote": quote,
        "decimal": decimal,
        "date_order": date_order,
        "header_line": header_line,
        "header_rows": None if header_line is None else 1,
        "breaks": "inside" if lines_in_cells else "between",
    }
    form = _form(sources[0], {key: value for key, value in choices.items() if value is not None}, stated)
    if folder.exists():
        raise InvalidArgument("folder", "must not exist yet: it is made whole, or not at all")
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    try:
        unfinished.mkdir(mode=0o700)
    except FileExistsError:
        raise InvalidArgument(
            "folder",
            f"cannot be made: “{unfinished.name}” beside it is of an import that runs or was stopped; remove it",
        ) from None
    try:
        found = _written(sources, unfinished, form, progress)
        if not found.rows:
            raise UnreadableFile("The files name columns and have no row that can be read.")
        _sync(unfinished)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    _sync(folder.parent)
    return replace(found, folder=folder)


def _written(sources: Sequence[Path], folder: Path, form: _Form, progress: Callable[[int], None]) -> Imported:
    fitted = tuple(Fitted(name=one.name, type=one.type, missing=0, misfit=Lines()) for one in form.columns)
    asides, count = {str(source): Aside() for source in sources}, 0
    for number, source in enumerate(sources):
        target, aside = folder / f"part-{number:05}.unfinished", asides[str(source)]
        with source.open("rb") as file, pq.ParquetWriter(target, form.schema, compression="zstd") as writer:
            named, body = _body(_Counting(file, progress), form, aside)
            places = [place for place, name in enumerate(named) if not is_unnamed_index(name)]
            for table, lines in rows(body, form.signs, len(named), aside):
                if table.num_rows:
                    writer.write_table(_typed(table.select(places), lines, form, fitted))
                    count += table.num_rows
        _sync(target)
    for part in list(folder.iterdir()):  # only now: whoever counts the folder around it takes none that is half there
        part.rename(part.with_suffix(".parquet"))
    return Imported(folder=folder, rows=count, columns=fitted, aside=asides)


def _body(file: Source, form: _Form, aside: Aside) -> tuple[tuple[str, ...], Iterator[Text]]:
    """What the line of names holds, and the lines after it. Raises UnreadableFile where it names other columns."""
    texts = text_lines(file, form.encoding, aside)
    for text in texts:
        at = int(np.searchsorted(text.numbers, form.line))
        if at == text.ends.size:
            continue
        named = _names(text, at, form.signs)
        if text.numbers[at] != form.line or _columns(named) != form.names:
            break
        rest = [text.part(at + 1, text.ends.size)] if at + 1 < text.ends.size else []
        return named, chain(rest, texts)
    raise UnreadableFile("The files do not all have the same line of names at the same place; import others alone.")


def _columns(named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in named if not is_unnamed_index(name))


def _names(text: Text, line: int, signs: Signs) -> tuple[str, ...]:
    """What a line names; nothing where its cells cannot be told apart."""
    return tuple(cell.strip() for cell in signs.cells(text.record(line, line + 1)))


def _typed(table: pa.Table, lines: IntArray, form: _Form, fitted: tuple[Fitted, ...]) -> pa.Table:
    columns = []
    for place, (column, found) in enumerate(zip(form.columns, fitted, strict=True)):
        cells = table.column(place)
        if column.type == "text":
            empty = compute.equal(compute.utf8_trim_whitespace(cells), "")
            found.missing += int(compute.sum(empty).as_py() or 0)
            columns.append(compute.if_else(empty, pa.scalar(None, pa.string()), cells))
            continue
        text = pd.DataFrame({column.name: pd.Series(cells.to_pandas(), dtype=_TEXT)})
        read = apply(Schema(columns=(column,)), text)
        account = read.account(column.name)
        found.missing += account.missing.size
        found.misfit.note(*lines[account.unparsable].tolist())
        columns.append(pa.array(read.frame[column.name], type=_ARROW[column.type], from_pandas=True))
    return pa.table(columns, schema=form.schema)


def _form(source: Path, choices: Mapping[str, object], stated: Mapping[str, ColumnType]) -> _Form:
    """As it was stated, where the head of the first file is written so. Raises UnreadableFile, InvalidArgument."""
    encoding, signs = str(choices.get("encoding", ENCODING)), stated_signs(choices)
    for size in _HEADS:
        head = _head(source, size, signs)
        try:
            reading: Reading = read_table(head, uneven="set aside", **choices)  # type: ignore[arg-type]
        except UnreadableFile:
            if size == _HEADS[-1]:
                raise
        else:
            break
    report = reading.report
    if report.container != "text" or len(report.delimiter) > 1:
        raise UnreadableFile("This is no text with a delimiter; only CSV files are imported.")
    if len(report.header_lines) != 1:
        raise UnreadableFile("The file must have one line that names its columns.")
    names = tuple(column.name for column in reading.columns)
    unknown = set(stated) - set(names)
    if unknown:
        # which ones there are is not printed: where another line was stated than that of the names, these are cells
        raise InvalidArgument("types", "must be of columns of the file, by their names as its line of names has them")
    check_stated(reading, choices, stated)
    found = _columns(_head_names(head, encoding, signs, report.header_lines[0]))
    if len(found) != len(names) or len(set(map(str.casefold, names))) != len(names):
        raise UnreadableFile("Each column must have a name of its own in the line of names.")
    columns = stated_columns(names, choices, stated)
    told = made_of.told(form_stated(choices))
    return _Form(encoding=encoding, signs=signs, line=report.header_lines[0], names=found, columns=columns, told=told)


def _kind(stated: str) -> ColumnType:
    return STATED[STATED.index(one_of(STATED, types=stated))]


def _head_names(head: bytes, encoding: str, signs: Signs, line: int) -> tuple[str, ...]:
    for text in text_lines(io.BytesIO(head), encoding, Aside()):
        for at in np.flatnonzero(text.numbers == line).tolist():
            return _names(text, at, signs)
    return ()


def _head(source: Path, size: int, signs: Signs) -> bytes:
    """The beginning of a file, up to the end of a line, and where cells run over lines as far as can be told of a
    record."""
    with source.open("rb") as file:
        head = file.read(size)
        if len(head) < size:
            return head
    cut = head.rfind(b"\n") + 1
    for _ in range(1000):
        if not signs.lines_in_cells or head.count(b'"', 0, cut) % 2 == 0:
            return head[:cut]
        cut = head.rfind(b"\n", 0, cut - 1) + 1
    return head[: head.rfind(b"\n") + 1]


class _Counting:
    """A file that tells how much of it was read."""

    def __init__(self, file: BinaryIO, progress: Callable[[int], None]) -> None:
        self._file, self._progress = file, progress

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(size)
        self._progress(len(found))
        return found


def _sync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
