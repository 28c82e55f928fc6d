"""Tables that DuckDB reads where they are: folders of Parquet or CSV files, and databases of its own.

Nothing is written.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from sqlalchemy import literal_column

from dpcore.datasets.in_place import rows_apart, views, watched
from dpcore.datasets.in_place.aggregates import InPlace, Query, Rows
from dpcore.datasets.in_place.arrow_beside import Beside
from dpcore.datasets.in_place.connection import in_memory, of_database
from dpcore.datasets.in_place.form import Form
from dpcore.datasets.in_place.lines import Lines, header
from dpcore.datasets.in_place.shape import one_table
from dpcore.datasets.in_place.tongue import AROUND, DUCKDB, PARQUET, DuckDB, Kind
from dpcore.datasets.schema import NO_WORDS, YES_WORDS
from dpcore.datasets.temporary import private_folder
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

_IN_MEMORY = ":memory:"
_VIEW, _LINES = "rows of the folder", "lines_of_the_folder"
_OF_THE_SYSTEM = (
    *("IO", "HTTP", "Connection", "TransactionContext", "Transaction", "Permission", "Dependency", "Serialization"),
    *("Out of Memory", "INTERRUPT", "Interrupt", "Catalog", "Binder", "Parser", "Syntax"),
)
_ELSE = ("[Errno ", *(f"{kind} Error" for kind in _OF_THE_SYSTEM))
"""How errors of DuckDB's begin, whoever raises them, that are of files, memory, the clock, or a statement itself."""
_KINDS: dict[str, Kind] = {
    "VARCHAR": "text",
    "ENUM": "text",
    "BOOLEAN": "yes/no",
    **dict.fromkeys(("DATE", "TIMESTAMP_NS"), "date"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"), "moment"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys((f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")), "integer"),
    **dict.fromkeys(("INTEGER", "UINTEGER"), "integer"),
    **dict.fromkeys(("UUID", "TIME WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"), "fixed"),
    "TIME": "time",
    "BLOB": "bytes",
    '"NULL"': "nothing",
}
_ANY_NUMBER: dict[Kind, Kind] = {"integer": "number"}
"""In a file whether its numbers are whole is no word of a schema: one row without a number makes doubles of them."""
_AWAY = "The source cannot be reached, or does not let this server read; ask the people who run the server."
_ONLY_READ = "A source is only read."
_NO_MEMORY = "This question needs more memory than it may take; choose another column."
_CHANGED = "The CSV files of this folder cannot be read any more, or no longer begin with the names that are stated."
_UNREADABLE = "The Parquet files of this folder cannot be read as one table of this kind."


def open_folder(folder: str | Path) -> InPlace:
    """All Parquet files in ``folder`` and below it, of one shape.

    The connection reaches no other file and no network. What does not fit into its memory while it counts goes into a
    private folder, which is gone afterwards. Raises UnreadableFile.
    """
    place = Path(folder).resolve()
    files = _files(place, "parquet")
    if not files:
        raise UnreadableFile("The folder holds no Parquet file.")
    state = _state(files)
    shape = one_table(place, state)
    if shape.late:
        before = Beside(shape=shape, reach=str(place), view=_VIEW).show
        found = _open(
            _IN_MEMORY, _VIEW, reach=str(place), key=state, trouble=_UNREADABLE, before=before, texts=shape.texts
        )
    else:
        view = f"CREATE VIEW {_identifier(_VIEW)} AS {shape.selection}"
        found = _open(
            _IN_MEMORY, _VIEW, reach=str(place), first=view, key=state, trouble=_UNREADABLE, texts=shape.texts
        )
    if not shape.stated:
        found = replace(found, kinds={name: _ANY_NUMBER.get(kind, kind) for name, kind in found.kinds.items()})
    return replace(found, form=shape.form, kinds_stated=shape.stated)


def open_lines(folder: str | Path, form: Form) -> InPlace:
    """All CSV files in ``folder`` and below it, of one form: see ``lines``. A cell that is not of its column's type is
    missing. The connection reaches no file. Raises UnreadableFile.
    """
    files = tuple(_files(Path(folder).resolve(), "csv"))
    if not files:
        raise UnreadableFile("The folder holds no CSV file.")
    state = _state(files)
    try:
        for path in files:
            with path.open("rb") as file:
                header(file, form)
    except OSError:
        raise UnreadableFile(_AWAY) from None
    rows = _Rows(files=files, form=form)
    return _open(_IN_MEMORY, _VIEW, key=f"{form!r}\n{state}", trouble=_CHANGED, before=rows.show)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """CSV files as a view, made anew before each query: of those columns alone that it names."""

    files: tuple[Path, ...]
    form: Form

    def show(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        named = [(name, kind) for name, kind in self.form.columns if "SELECT * " in sql or _identifier(name) in sql]
        named = named or [self.form.columns[0]]  # for rows that are only counted
        cells = ", ".join(f"{self._read(name, kind)} AS {_identifier(name)}" for name, kind in named)
        lines = Lines(files=self.files, form=self.form, names=tuple(name for name, _ in named))
        connection.register(_LINES, lines)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {_identifier(_VIEW)} AS SELECT {cells} FROM {_LINES}")  # noqa: S608

    def _read(self, name: str, kind: Kind) -> str:
        cell = _identifier(name)
        if kind == "date":
            return f"TRY_CAST({cell} AS TIMESTAMP)"
        if kind == "text":
            return cell
        if kind == "yes/no":
            yes, no = (", ".join(map(_quoted, words)) for words in (YES_WORDS, NO_WORDS))
            told = f"lower(regexp_replace({cell}, {AROUND}, '', 'g'))"
            one = f"CASE {_plain(told)} WHEN '1' THEN true WHEN '0' THEN false END"
            return f"CASE WHEN {told} IN ({yes}) THEN true WHEN {told} IN ({no}) THEN false ELSE {one} END"
        if self.form.decimal == ",":
            whole = _plain(f"CASE WHEN NOT suffix({cell}, '.000') THEN {cell} END")  # which may be thousands
            marked = f"CASE WHEN NOT contains({cell}, '.') THEN replace({cell}, ',', '.') END"
            cell = f"coalesce(nullif(regexp_extract({whole}, '\\A-?[0-9]+\\z'), ''), {marked})"
        else:
            cell = _plain(cell)
        number, whole = f"TRY_CAST({cell} AS DOUBLE)", f"TRY_CAST({cell} AS BIGINT)"
        return number if kind == "number" else f"CASE WHEN {number} = {whole} THEN {whole} END"  # 1.5 is none


def _plain(text: str) -> str:
    """A text in a query as ``plain_words.plain`` has it."""
    return str(DUCKDB.plain(literal_column(text)).compile(dialect=DuckDB(), compile_kwargs={"literal_binds": True}))


def _files(place: Path, ending: str) -> list[Path]:
    return sorted(place.rglob(f"*.{ending}")) if place.is_dir() else []


def _state(files: Sequence[Path]) -> str:
    """What tells whether files have changed. Raises UnreadableFile."""
    try:
        return "".join(f"{file}|{file.stat().st_size}|{file.stat().st_mtime_ns}\n" for file in files)
    except OSError:
        raise UnreadableFile(_AWAY) from None


def duckdb_tables(file: str | Path) -> tuple[str, ...]:
    """Names of the tables and views of a database of DuckDB's. Raises UnreadableFile."""
    try:
        with of_database(str(_there(file))) as connection:
            found = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
            ).fetchall()
    except duckdb.Error:
        raise UnreadableFile(_AWAY) from None
    return tuple(str(row[0]) for row in found)


def open_duckdb(
    file: str | Path, table: str, *, never_fail: tuple[str, ...] = (), row_by_row: tuple[str, ...] = ()
) -> InPlace:
    """One table or view of a database of DuckDB's, opened read-only. As ``open_folder``, and ``open_database``."""
    place = _there(file)
    state = f"{place}|{place.stat().st_mtime_ns}|{table}"
    stored = _open(str(place), table, key=state, trouble=_AWAY)
    if table not in never_fail:
        views.check("duckdb", stored.run, stored.quoted, table)
    if table in row_by_row:
        return replace(stored, form=("row by row",))
    rows_apart.check("duckdb", stored.run, stored.quoted, table)
    return stored


def _there(file: str | Path) -> Path:
    place = Path(file).resolve()
    if not place.is_file():
        raise UnreadableFile(_AWAY)
    return place


def _open(
    database: str,
    name: str,
    *,
    key: str,
    trouble: str,
    reach: str = "",
    first: str = "",
    before: Callable[[duckdb.DuckDBPyConnection, str], None] = lambda *_: None,
    texts: Mapping[str, str] = MappingProxyType({}),
) -> InPlace:
    """``first`` makes the view ``name`` once, or ``before`` anew for each query; ``texts`` as in ``Shape``."""
    stack = ExitStack()
    try:
        if database == _IN_MEMORY:
            overflow = stack.enter_context(private_folder())
            connection = in_memory(overflow, reach=reach)
            stack.callback(connection.close)
            if first:
                connection.execute(first)
            before(connection, "")
        else:
            connection = of_database(database)
            stack.callback(connection.close)
    except duckdb.Error:
        stack.close()
        raise UnreadableFile(trouble) from None
    lock = threading.Lock()

    def run(sql: str, given: list[Any] | None = None) -> Rows:
        with lock:
            try:
                asked = connection.extract_statements(sql)
                if any(one.type != duckdb.StatementType.SELECT for one in asked):
                    raise UnreadableFile(_ONLY_READ)  # a folder that may be read could be copied into
                before(connection, sql)
                with _bounded(connection):
                    return connection.execute(sql, given).fetchall()
            except duckdb.OutOfMemoryException:
                raise UnreadableFile(_NO_MEMORY) from None
            except duckdb.Error as error:
                _tell(name, error)
                raise UnreadableFile(trouble) from None

    def select(asked: Query) -> Rows:
        written = asked.compile(dialect=DuckDB(), compile_kwargs={"render_postcompile": True})
        given = written.params  # which is made anew each time that it is asked for
        return run(str(written), [given[name] for name in written.positiontup or ()])

    def stream(asked: Query, size: int) -> Iterator[IntArray]:
        # with its literals written out: with parameters all of the answer would be held at once
        sql = str(asked.compile(dialect=DuckDB(), compile_kwargs={"literal_binds": True}))
        with lock:
            try:
                before(connection, sql)
                with _bounded(connection):
                    batches = connection.sql(sql).to_arrow_reader(size)
                while True:
                    with _bounded(connection):
                        batch = next(batches, None)
                    if batch is None:
                        return
                    yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
            except duckdb.OutOfMemoryException:
                raise UnreadableFile(_NO_MEMORY) from None
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                _tell(name, error)
                raise UnreadableFile(trouble) from None

    try:
        described = run(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {_identifier(name)})")  # noqa: S608 - the server's own
        keys = run(
            "SELECT list_extract(constraint_column_names, 1) FROM duckdb_constraints() WHERE table_name = ? AND "
            "constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1",
            [name],
        )
    except UnreadableFile:
        stack.close()
        raise
    described = [row for row in described if row[0] not in texts.values()]
    stored = InPlace(
        names=tuple(str(row[0]) for row in described),
        kinds={str(row[0]): _kind(str(row[1])) for row in described},
        name=name,
        run=run,
        select=select,
        stream=stream,
        quoted=_identifier,
        tongue=PARQUET if database == _IN_MEMORY else DUCKDB,
        key=hashlib.sha256(key.encode()).hexdigest(),
        keys=frozenset(str(row[0]) for row in keys),
        texts=texts,
    )
    weakref.finalize(run, stack.close)
    return stored


def _tell(name: str, error: Exception) -> None:
    """Of what fails by a cell; while rows are fetched each error is one of the system's by its type."""
    if not str(error).startswith(_ELSE):
        views.failed(name)


@contextmanager
def _bounded(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let what is asked end within its time."""
    end = threading.Timer(watched.MOST, connection.interrupt)
    end.daemon = True
    end.start()
    try:
        yield
    finally:
        end.cancel()


def _kind(named: str) -> Kind:
    """What cells of a type hold; a list of numbers, ``DECIMAL(9,2)[]``, is not a number."""
    return "other" if named.endswith("]") else _KINDS.get(named.partition("(")[0], "other")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
