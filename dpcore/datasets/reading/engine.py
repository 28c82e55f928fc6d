"""DuckDB: the reader, its sniffer, and digests of rows. The only file that imports it.

Every connection is closed off: no network, no extensions, no file but the one in its private folder.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from dpcore.datasets.believing import BELIEVING
from dpcore.datasets.decimal_texts import in_duckdb, writable
from dpcore.datasets.pandas_index import NOTE, noted
from dpcore.datasets.parquet_columns import columns, duckdb_names
from dpcore.datasets.reading.bounds import LONGEST_CELL, MOST_TEXT, check_size, check_text
from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.no_memory import check_memory
from dpcore.datasets.reading.parquet_cells import apart
from dpcore.datasets.temporary import drop, private_file, private_folder
from dpcore.datasets.unnamed_index import NOTHING_ELSE
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST_RECORD = 8 << 20
_BATCH = 100_000
_COLUMNS = 64
_BYTES = 4  # of a letter at most
_TOLERANT = ("replace", "ignore")
_ANY_BYTES = "binary_as_string=true, utf8_validation='{}'"
_LARGEST_WHOLE = 2.0**62
_NOT_READ = re.compile(r"(?s:(STRUCT|MAP|UNION|BLOB|GEOMETRY|VARIANT)\b.*|.*\])")
_FOOTER = (
    "SELECT name, num_children, type = 'FIXED_LEN_BYTE_ARRAY' AND logical_type IS NULL AND converted_type IS NULL "
    "FROM parquet_schema(?)"
)
"""The last says of a column that it holds bytes, so many to a cell, which no row makes of texts."""
_FIRST = "TIMESTAMP '290309-12-22 (BC) 00:00:00'"  # that is written as a text, or the whole file is given up
_SHARED: ContextVar[_Shared | None] = ContextVar("shared connection", default=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Every record as text cells: a frame of columns 0, 1, … and how many cells each record has, shape (records,)."""

    frame: pd.DataFrame
    counts: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Typed:
    """A table of text that was made of one with types: its columns, the names of those of which no cell is read, since
    they hold no text, number, day …, and what the ``index`` of pandas is called, which is none of them."""

    frame: pd.DataFrame
    not_read: tuple[str, ...] = ()
    index: tuple[str, ...] = ()


@contextmanager
def together() -> Iterator[None]:
    """What is read inside shares one closed-off connection: to open one takes longer than to read a small table.

    It is opened when it is first needed, which for most tables is never.
    """
    if _SHARED.get() is not None:
        yield
        return
    with ExitStack() as until_the_end:
        mark = _SHARED.set(_Shared(until_the_end))
        try:
            yield
        finally:
            _SHARED.reset(mark)


class _Shared:
    """A connection that is opened when it is first asked for."""

    def __init__(self, until_the_end: ExitStack) -> None:
        self._until_the_end = until_the_end
        self._opened: tuple[duckdb.DuckDBPyConnection, Path] | None = None

    def connection(self) -> tuple[duckdb.DuckDBPyConnection, Path]:
        if self._opened is None:
            self._opened = self._until_the_end.enter_context(_closed_off())
        return self._opened


@contextmanager
def _connected() -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """The shared connection where there is one, else one of its own."""
    shared = _SHARED.get()
    if shared is not None:
        yield shared.connection()
        return
    with _closed_off() as own:
        yield own


@contextmanager
def _session(data: bytes | None = None) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """A closed-off connection, and the path of a private copy of ``data`` that is gone afterwards."""
    with _connected() as (connection, folder):
        file = folder / "none" if data is None else private_file(folder, data, f"table-{uuid.uuid4().hex}")
        cursor = connection.cursor()
        try:
            yield cursor, str(file)
        finally:
            cursor.close()
            drop(file)


@contextmanager
def _closed_off() -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A connection that reaches no network, no extension and no file outside of its private folder, which is gone
    afterwards.
    """
    with private_folder() as folder:
        connection = duckdb.connect(":memory:", config={"threads": 2, "memory_limit": "700MB", "temp_directory": ""})
        try:
            connection.execute(f"SET disabled_optimizers='{','.join(BELIEVING)}'")  # or one cell decides about others
            connection.execute("SET GLOBAL TimeZone='UTC'")  # else a cell would read as the server's own clock says
            connection.execute("SET autoinstall_known_extensions=false")
            connection.execute("SET autoload_known_extensions=false")
            connection.execute("SET allow_community_extensions=false")
            connection.execute("SET enable_progress_bar=false")
            connection.execute(f"SET allowed_directories=[{_quoted(str(folder))}]")
            connection.execute("SET enable_external_access=false")
            connection.execute("SET lock_configuration=true")
            yield connection, folder
        finally:
            connection.close()


def sniffed_delimiter(sample: bytes) -> str | None:
    """What DuckDB's sniffer takes for the delimiter of a sample, or None when it gives up."""
    with _session(sample) as (connection, file):
        try:
            rows = connection.table_function("sniff_csv", [file]).project("Delimiter").fetchall()
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        except duckdb.Error:
            return None
    return str(rows[0][0]) if rows else None


def cells(data: bytes, dialect: Dialect, width: int, *, even: bool, say: Callable[[float], None]) -> Cells:
    """The records of a text file, blank lines left out, padded to ``width`` cells. Raises UnreadableFile.

    ``even`` says that every record should have ``width`` cells and no line is blank: then nothing has to be counted,
    and a record that has another number of cells is refused. ``say`` is called with the share done, every so often.
    """
    absent = "\x01" + secrets.token_hex(16)  # no file that was there before can hold it
    names = [f"c{place}" for place in range(width if even else width + 1)]
    count = " + ".join(f"({name} IS NOT NULL)::INTEGER" for name in names)
    parts = [*(f"coalesce({name}, '') AS {name}" for name in names[:width]), f"({count}) AS n"]
    with _session(data) as (connection, file):
        try:
            relation = connection.read_csv(
                file,
                auto_detect=False,
                header=False,
                columns=dict.fromkeys(names, "VARCHAR"),
                delimiter=dialect.separator,
                quotechar=dialect.quote,
                escapechar=dialect.escape if dialect.quote else "",
                lineterminator=duckdb.CSVLineTerminator.LINE_FEED,
                comment="",
                na_values=absent,
                null_padding=not even,
                parallel=False,
                strict_mode=True,
                max_line_size=_LONGEST_RECORD,
            )
            table = _batches(relation if even else relation.project(", ".join(parts)), len(data), say)
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        except duckdb.Error as error:
            raise UnreadableFile(_sentence(error)) from None
    frame = text_frame(table.columns[:width], list(range(width)))
    if even:
        return Cells(frame=frame, counts=np.full(len(frame), width, dtype=np.int64))
    return Cells(frame=frame, counts=np.asarray(table.column("n").to_numpy(), dtype=np.int64))


def _batches(relation: duckdb.DuckDBPyRelation, size: int, say: Callable[[float], None]) -> pa.Table:
    """The rows of a relation, a batch at a time, so that the person can stop in between."""
    reader = relation.to_arrow_reader(_BATCH)
    batches, done = [], 0
    for batch in reader:
        batches.append(batch)
        done += batch.nbytes
        say(min(done / max(size, 1), 1.0))
    return pa.Table.from_batches(batches, schema=reader.schema)


def parquet(data: bytes) -> Typed:
    """The columns of a Parquet file as text, missing values and what is no value as empty cells. Raises
    UnreadableFile."""
    from pyarrow.parquet import read_metadata

    with _session(data) as (connection, file):
        try:
            about = read_metadata(file)
            told = noted((about.metadata or {}).get(NOTE, b""))
            if told.levels and not about.num_columns:  # which DuckDB takes for no Parquet file
                raise UnreadableFile(NOTHING_ELSE)
            relation = connection.read_parquet(file, binary_as_string=True)
            footer = connection.execute(_FOOTER, [file]).fetchall()
            placed = columns([inside for _, inside, _ in footer])
            own = [footer[element][0] for element, _ in placed]
            places = told.columns(own)
            if not places:
                raise UnreadableFile(NOTHING_ELSE)
            check_size(_rows_in(relation), len(places))
            kinds = [str(kind) for kind in relation.types]
            not_read = {place for place, kind in enumerate(kinds) if _NOT_READ.fullmatch(kind)}
            not_read |= {place for place, (element, _) in enumerate(placed) if footer[element][2]}
            left_out = not_read | (set(range(len(own))) - set(places))
            leaves = {place: leaf for place, (_, leaf) in enumerate(placed) if place not in left_out}
            beside = _beside(connection, apart(file, leaves), left_out)
            try:
                found = _as_text(relation, beside)
            except duckdb.OutOfMemoryException:
                raise
            except duckdb.Error:  # at bytes that are no text, if it is not damaged
                found = _legible(connection, file, relation, beside)
            names = dict(zip(places, duckdb_names(connection, [own[place] for place in places]), strict=True))
            found = found.iloc[:, places].set_axis(pd.Index(names.values()), axis=1)
            return Typed(
                frame=found,
                not_read=tuple(name for place, name in names.items() if place in not_read),
                index=told.names,
            )
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        except (duckdb.Error, pa.ArrowException, OSError, ValueError) as error:
            check_memory(error)
            raise UnreadableFile(
                "This Parquet file is damaged or of a kind that cannot be read; save it as CSV."
            ) from None


def _beside(
    connection: duckdb.DuckDBPyConnection, found: Mapping[int, pa.ChunkedArray], not_read: Collection[int]
) -> dict[int, duckdb.DuckDBPyRelation | None]:
    """What is read instead of some columns, by their place: those of which a cell can be what makes DuckDB give a whole
    Parquet file up; and None of those that are not read."""
    read = {place: connection.from_arrow(pa.table({"c": column})) for place, column in found.items()}
    return {**read, **dict.fromkeys(not_read)}


def _legible(
    connection: duckdb.DuckDBPyConnection,
    file: str,
    relation: duckdb.DuckDBPyRelation,
    beside: dict[int, duckdb.DuckDBPyRelation | None],
) -> pd.DataFrame:
    """Without the texts that hold bytes which are none: those that differ where such bytes are left out or replaced."""
    named = zip(relation.columns, relation.types, strict=True)
    cells = [
        f"CAST(NULL AS {kind}) AS {_identifier(name)}" if place in beside else _identifier(name)
        for place, (name, kind) in enumerate(named)
    ]
    found = []
    for way in _TOLERANT:
        view = _identifier(f"as {way}")
        read = f"SELECT {', '.join(cells)} FROM read_parquet({_quoted(file)}, {_ANY_BYTES.format(way)})"  # noqa: S608 - names and path are quoted
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS {read}")
        found.append(_as_text(connection.view(view), beside))
    replaced, left_out = found
    for place in range(replaced.shape[1]):
        texts = replaced.iloc[:, place]
        unlike = texts != left_out.iloc[:, place]
        if unlike.any():
            replaced.isetitem(place, texts.mask(unlike, "").array)
    return replaced


def arrow(table: pa.Table) -> pd.DataFrame:
    """The columns of an Arrow table as text, missing values as empty cells. Raises UnreadableFile."""
    with _session() as (connection, _):
        try:
            return _as_text(connection.from_arrow(table))
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        except duckdb.Error:
            raise UnreadableFile("This Arrow file holds a type that cannot be read; save it as CSV.") from None


def _check_texts(cells: Collection[tuple[duckdb.DuckDBPyRelation, str]], rows: int) -> None:
    """Raises UnreadableFile for more letters than can be held, ValueError where columns differ in length.

    The bytes of a word are known, its letters have to be counted, for each row anew: only where bytes leave it open.
    """
    for measure, each in (("strlen", _BYTES), ("length", 1)):
        total = longest = 0
        for read, some in _together(cells):
            texts = [f"{measure}({cell})" for cell in some]
            found = read.aggregate(", ".join(["count(*)", *(f"max({text}), sum({text})" for text in texts)]))
            count, *sizes = found.fetchall()[0]
            longest = max(longest, *(int(size or 0) for size in sizes[::2]))
            total += sum(int(size or 0) for size in sizes[1::2])
            check_text(total // each, longest // each)
            if count != rows:
                raise ValueError("columns of several lengths")
        if total <= MOST_TEXT and longest <= LONGEST_CELL:
            return


def _together(
    cells: Collection[tuple[duckdb.DuckDBPyRelation, str]],
) -> Iterator[tuple[duckdb.DuckDBPyRelation, list[str]]]:
    """Cells of the same rows, some columns at a time: for each question DuckDB reads what a file says of its columns
    anew, of all of them in every group of its rows."""
    same: dict[int, list[tuple[duckdb.DuckDBPyRelation, str]]] = {}
    for one in cells:
        same.setdefault(id(one[0]), []).append(one)
    for found in same.values():
        for at in range(0, len(found), _COLUMNS):
            yield found[at][0], [cell for _, cell in found[at : at + _COLUMNS]]


def _as_text(
    relation: duckdb.DuckDBPyRelation, beside: Mapping[int, duckdb.DuckDBPyRelation | None] = MappingProxyType({})
) -> pd.DataFrame:
    """Sizes are added up inside DuckDB, which holds a piece at a time, before the cells are copied out of it.

    A number is written in one way, whatever kind of number its column holds, which one row can decide. Columns at the
    places ``beside`` are read from what is there instead, and where nothing is all of their cells are missing.
    """
    rows = _rows_in(relation)
    check_size(rows, len(relation.columns))
    cells = {}
    for place, (name, kind) in enumerate(zip(relation.columns, relation.types, strict=True)):
        other = beside.get(place)
        if other is None:
            cells[place] = relation, "CAST(NULL AS VARCHAR)" if place in beside else _cell(name, str(kind))
            continue
        (own,) = other.types
        of_day = str(kind) == "TIME WITH TIME ZONE"  # which Arrow has none for
        cells[place] = other, _cell("c", str(own)) + (" || '+00'" if of_day else "")
    _check_texts(cells.values(), rows)
    texts: list[Any] = [None] * len(cells)
    for place, (read, cell) in cells.items():
        if read is not relation:
            (texts[place],) = read.project(f"coalesce({cell}, '') AS c").to_arrow_table().columns
    plain = [place for place, (read, _) in cells.items() if read is relation]
    if plain:
        parts = (f"coalesce({cells[place][1]}, '') AS c{place}" for place in plain)
        for place, column in zip(plain, relation.project(", ".join(parts)).to_arrow_table().columns, strict=True):
            texts[place] = column
    return text_frame(texts, list(relation.columns))


def _rows_in(relation: duckdb.DuckDBPyRelation) -> int:
    return int(relation.aggregate("count(*)").fetchall()[0][0])


def _cell(name: str, kind: str) -> str:
    """An expression for the text of a cell: of a number the same however many bits, or decimals, its column has."""
    cell = _identifier(name)
    if kind in ("FLOAT", "DOUBLE"):
        whole = f"{cell} = trunc({cell}) AND abs({cell}) < {_LARGEST_WHOLE}"
        return f"CASE WHEN {whole} THEN TRY_CAST({cell} AS BIGINT)::VARCHAR ELSE {cell}::DOUBLE::VARCHAR END"
    if kind in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"):
        return writable(cell, f"{_FIRST}::{kind}")
    if kind.startswith("DECIMAL"):
        return in_duckdb(cell, *map(int, re.findall(r"\d+", kind)))
    return f"{cell}::VARCHAR"


def row_sums(frame: pd.DataFrame) -> tuple[int, int]:
    """Two sums over all rows of 64-bit halves of MD5 digests: equal for equal rows in any order."""
    with _rows(frame) as rows:
        digests = rows.project(_joined(frame)).project("md5_number(r) AS m")
        halves = "sum((m & 18446744073709551615)::HUGEINT), sum((m >> 64)::HUGEINT)"
        low, high = digests.aggregate(halves).fetchall()[0]
    return int(low or 0), int(high or 0)


def row_marks(frame: pd.DataFrame, salt: str = "") -> NDArray[np.uint64]:
    """One 64-bit digest per row, in order."""
    with _rows(frame) as rows:
        found = rows.project(_joined(frame)).project(f"md5_number_lower({_quoted(salt)} || r) AS mark").fetchnumpy()
    return np.asarray(found["mark"], dtype=np.uint64)


def column_marks(frame: pd.DataFrame) -> tuple[int, ...]:
    """One number per column that the order of its cells does not change. For comparing within one process only."""
    parts = (f"sum(hash(c{place})::HUGEINT)" for place in range(frame.shape[1]))
    with _rows(frame) as rows:
        found = rows.aggregate(", ".join(parts)).fetchall()[0]
    return tuple(int(value or 0) for value in found)


@contextmanager
def _rows(frame: pd.DataFrame) -> Iterator[duckdb.DuckDBPyRelation]:
    """The frame in DuckDB as columns c0, c1, …, cells without padding."""
    bare = pd.DataFrame({f"c{place}": frame.iloc[:, place].str.strip() for place in range(frame.shape[1])})
    with _session() as (connection, _):
        yield connection.from_df(bare)


def _joined(frame: pd.DataFrame) -> str:
    """An expression for one text per row: cells by column name, told apart without doubt."""
    order = sorted(range(frame.shape[1]), key=lambda place: (str(frame.columns[place]), place))
    parts = ", ".join(f"replace(c{place}, chr(31), chr(31) || '0')" for place in order)
    return f"concat_ws(chr(31) || '1', {parts}) AS r"


def text_frame(columns: Sequence[Any], names: list[Any]) -> pd.DataFrame:
    """Arrow columns of text as pandas ones, by position: a file may use one name twice."""
    text = pd.StringDtype(na_value=np.nan)
    frame = pd.DataFrame({place: pd.Series(pd.array(column, dtype=text)) for place, column in enumerate(columns)})
    frame.columns = pd.Index(names)
    return frame


def _sentence(error: duckdb.Error) -> str:
    """One sentence without the file's text, which DuckDB's own message would quote."""
    message = str(error)
    found = re.search(r"CSV Error on Line: (\d+)", message)
    place = f" near line {int(found[1]):,}" if found else ""
    if "maximum line size" in message.lower():
        return f"A line{place} is longer than {_LONGEST_RECORD >> 20} MB, so this is hardly a table; check the file."
    return f"The file cannot be split into rows and cells without guessing{place}; check its quotation marks."


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
