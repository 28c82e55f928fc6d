"""From a file to a frame of text, with everything that was understood, repaired or set aside on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import Applied, apply
from dpcore.datasets.declaration import shown
from dpcore.datasets.guessing import each_row, read_columns
from dpcore.datasets.held import held_by
from dpcore.datasets.matching import blank_rows
from dpcore.datasets.private_rows import PrivateRows
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.brought import Brought
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.kinds import table_of
from dpcore.datasets.reading.naming import alphabetical
from dpcore.datasets.reading.tabulate import Tabulated
from dpcore.datasets.report import (
    LABELLED,
    Breaks,
    Container,
    Escape,
    Merged,
    Notice,
    Objects,
    ReadColumn,
    Report,
    Returns,
)
from dpcore.datasets.schema import DateOrder, Decimal, Schema
from dpcore.datasets.size import Fits, Size
from dpcore.datasets.steps import (
    Look,
    OneRowPer,
    Step,
    by_words,
    is_made,
    left_out_by,
    names_in,
    puts_rows_together,
    suggested,
)
from dpcore.datasets.table import Table
from dpcore.defects import as_defects
from dpcore.errors import InvalidArgument, ReadingCancelled, UnreadableFile
from dpcore.validate import IntArray

Tables = Callable[[bytes, Choices, Callable[[float, str], None]], Tabulated]
"""Reads the cells of a file, as ``table_of`` does."""
LARGEST = 200 << 20
COLUMN, NAMED = 5_000, 16
"""Bytes that a column takes beside its cells, with what pages hold of it, and each letter of its name, which stands in
many places: five hundred columns of a file of 230 kB took 7 MB."""
_VERSION = "1"
_SUGGESTED = "_suggested"
_BEYOND = "Columns that only rows name were left out, because the table has more than can be shown."


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """A file as understood.

    ``frame`` holds every cell as text exactly as in the file, missing ones as "". ``columns`` hold a suggestion each.
    ``lines`` gives the line of the file each row starts on, shape (rows,). ``key`` tells readings apart to the last
    byte and choice: the key for caches. ``original`` is the frame before any steps. ``places`` says which of the
    ``records`` of the file each row is: others were set aside or left out. ``together`` and ``left_out_by`` say what
    decides which rows there are, as for ``PrivateRows``. ``from_rows`` are the columns that exist only because
    rows name or fill them: good for looking, and in no release. ``kept`` is how many bytes stay in memory for as long
    as its cells do, as for ``Tabulated``. ``decimal`` and ``date_order`` are what a person stated of all columns;
    numbers in the ``computed`` ones were written by a step, with a decimal point. ``stated`` are the names of columns
    that a declaration has: where rows name the columns, one that no row names is there without a value.
    """

    frame: pd.DataFrame
    columns: tuple[ReadColumn, ...]
    report: Report
    lines: IntArray
    key: str
    places: IntArray
    records: int
    original: pd.DataFrame
    together: bool = False
    left_out_by: frozenset[str] = frozenset()
    from_rows: frozenset[str] = frozenset()
    kept: int = 0
    decimal: Decimal | None = None
    date_order: DateOrder | None = None
    computed: frozenset[str] = frozenset()
    stated: frozenset[str] = frozenset()

    @cached_property
    def fingerprint(self) -> str:
        """Tells files apart by what they hold: the order of rows and columns, line ends, padding and encoding do not.

        Anybody could work it out from a guess of the data, so it stays in this session, and ``Ledger.link`` keys it.

        Taken when it is first asked for, which for 10⁶ rows is about as long as reading them.
        """
        return as_defects("the fingerprint was taken", lambda: fingerprint(self.original))

    @property
    def rows(self) -> int:
        return len(self.frame)

    @property
    def named_by_rows(self) -> bool:
        """Whether each row names its own cells, as objects of JSON do, so that one row more can bring a column."""
        return self.report.container == "json" and not self.report.header_lines and not self.report.columns

    def column(self, name: str) -> ReadColumn:
        """One column. Raises InvalidArgument."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidArgument("column", "must be one of the file's columns")

    @property
    def stated_decimal(self) -> Decimal | None:
        """The decimal mark that binds all columns of the file: where some of its cells can be numbers already, which
        have no mark, it is only for columns that show none."""
        return self.decimal if self.report.container == "text" else None

    def suggested(self) -> Schema:
        """The suggested types and what a row is: a start for declaring, without bounds or categories."""
        columns = tuple(column.suggestion for column in self.columns)
        named = tuple(column for column in self.columns if column.name not in self.from_rows)  # others one row brings
        return Schema(columns=columns, each_row=each_row(self.frame, named))

    @cached_property
    def size(self) -> int:
        """Bytes that it takes in memory: its table, where its rows were, and what the file says beside its cells."""
        cells = int(self.frame.memory_usage(index=False).sum()) + self.lines.nbytes + self.places.nbytes
        named = sum(COLUMN + NAMED * len(column.name) for column in self.columns)
        return max(cells, self.kept) + named + held_by(self.columns, self.report)

    @property
    def suggested_steps(self) -> tuple[Step, ...]:
        """What the table seems to want before it is declared; each for the person to take or leave."""
        return self.suggest(lambda: None)

    def suggest(self, look: Look) -> tuple[Step, ...]:
        """``suggested_steps``, worked out once; meanwhile ``look`` is called again and again, and may raise."""
        found: tuple[Step, ...] | None = vars(self).get(_SUGGESTED)
        if found is None:
            every = suggested(self.frame, self.columns, look)
            found = vars(self)[_SUGGESTED] = tuple(step for step in every if not names_in(step) & self.from_rows)
        return found

    def after(self, steps: tuple[Step, ...], fits: Fits | None = None, *, names: Collection[str] = ()) -> Reading:
        """This table with steps done to it, one after the other; a step is taken back by leaving it out.

        Where it is ``named_by_rows``, a declaration's columns of these ``names`` are there too, without a value where
        no row names them. The people stay those of the file, and so does ``fingerprint``. ``fits`` is asked about each
        table before it is made, about what was made, and again while that is looked at. Raises InvalidArgument, and
        what ``fits`` does: NoRoom, say.
        """
        stated = self.stated | (frozenset(names) if self.named_by_rows else frozenset())
        if not steps and stated == self.stated:
            return self
        return as_defects("these steps were done", lambda: _after(self, steps, stated, fits))

    def could_hold(self, name: str, steps: Iterable[Step]) -> bool:
        """Whether after these steps a row could name a column of this name, so that none decides whether it is there;
        one that a step could make of cells is good for looking only."""
        return self.named_by_rows and name not in self.from_rows and not is_made(name, by_words(steps))

    def apply(self, schema: Schema) -> Applied:
        """Typed columns, with an account of every cell by row (see ``lines``). Raises InvalidArgument."""
        return apply(schema, self.frame)

    @property
    def in_public_columns(self) -> pd.DataFrame:
        """The cells of the columns that are there whatever the rows hold."""
        return self.frame.drop(columns=list(self.from_rows)) if self.from_rows else self.frame

    @property
    def private(self) -> PrivateRows:
        """The rows for a release, which only a request of ``dpcore.releases`` opens.

        Records that were set aside, as those without anything in them, or that a step left out, are here as rows of
        missing cells: where rows stand for steps in time, the others must not move up. Which columns there are is
        public, so those ``from_rows`` are not: one row more could bring one.
        """
        return PrivateRows(
            self.in_public_columns,
            together=self.together,
            left_out_by=self.left_out_by,
            named_by_rows=self.named_by_rows,
            container=self.report.container,
            places=self.places,
            records=self.records,
        )

    def table(self, schema: Schema) -> Table:
        """The typed table for the pages. Raises InvalidArgument."""
        declared = hashlib.sha256(repr(schema).encode()).hexdigest()
        return self.apply(schema).table(fingerprint=f"{self.key}:{declared}", lineage="")


def read_table(
    source: bytes | str | Path | IO[bytes],
    *,
    name: str = "",
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    escape: Escape | None = None,
    header_rows: int | None = None,
    header_line: int | None = None,
    columns: int | None = None,
    decimal: Decimal | None = None,
    date_order: DateOrder | None = None,
    keep_footer: bool | None = None,
    returns: Returns | None = None,
    breaks: Breaks | None = None,
    merged: Merged | None = None,
    objects: Objects | None = None,
    coded: tuple[str, ...] = (),
    uneven: Literal["refuse", "set aside"] = "refuse",
    part: str | None = None,
    progress: Callable[[float, str], None] | None = None,
    cancel: Callable[[], bool] | None = None,
    tables: Tables | None = None,
) -> Reading:
    """Reads a table of any kind (bytes, a path, or a binary file object), told from its bytes and never from its name.

    Text with delimiters, Excel and OpenDocument sheets, JSON and JSON lines, Parquet, Arrow and Feather, SPSS, Stata,
    SAS, and one of these in a zip, gzip, bzip2 or xz archive. ``name`` is what the person calls the file; it is only
    compared with what the file turned out to be. ``tables`` reads the cells: in this process unless it is given,
    by ``dpcore.datasets.apart.Apart`` in one of its own, as a server should. Other arguments override guesses, see
    ``Choices``. ``progress(fraction, words)`` is called as the work goes on; it stops soon after ``cancel()`` is true.
    Raises UnreadableFile with one sentence for anything that cannot be read without guessing or unpacks to too much,
    ReadingCancelled, InvalidArgument for a choice that is none, and Defect where this program itself fails.
    """
    choices = Choices(
        delimiter=delimiter,
        encoding=encoding,
        quote=quote,
        escape=escape,
        header_rows=header_rows,
        header_line=header_line,
        columns=columns,
        decimal=decimal,
        date_order=date_order,
        keep_footer=keep_footer,
        returns=returns,
        breaks=breaks,
        merged=merged,
        objects=objects,
        coded=coded,
        uneven=uneven,
        part=part,
    )

    def say(fraction: float, what: str) -> None:
        if cancel is not None and cancel():
            raise ReadingCancelled("Reading was cancelled.")
        if progress is not None:
            progress(min(max(fraction, 0.0), 1.0), what)

    say(0.0, "Opening the file")
    data = _bytes(source)
    return as_defects("this file was read", lambda: _reading(data, name, choices, say, tables or table_of))


def read_csv(source: bytes | str | Path | IO[bytes], **choices: Any) -> Reading:
    """``read_table`` with the fingerprint taken already; it takes every kind and argument as well."""
    with engine.together():
        reading = read_table(source, **choices)
        _ = reading.fingerprint
    return reading


def read_pasted(text: str, **choices: Any) -> Reading:
    """Reads a table pasted from a sheet, a page or a mail: cells end at tabs, or as in a file. See ``read_table``."""
    return read_table(text.encode("utf-8", "replace"), **choices)


def _reading(data: bytes, name: str, choices: Choices, say: Callable[[float, str], None], tables: Tables) -> Reading:
    with engine.together(), ThreadPoolExecutor(max_workers=1, thread_name_prefix="key") as beside:
        key = beside.submit(_key, data, choices)
        table = tables(data, choices, say)
    _check_coded(table, choices)
    reading = Reading(
        frame=table.frame,
        columns=(),
        report=_named(table.report, name),
        lines=table.lines,
        key=key.result(),
        original=table.frame,
        places=np.arange(len(table.frame)) if table.places is None else table.places,
        records=len(table.frame) if table.records is None else table.records,
        kept=table.kept,
        left_out_by=_left_out_by(table, choices),
        from_rows=table.from_rows,
        decimal=choices.decimal,
        date_order=choices.date_order,
    )
    read = _looked_at(reading, lambda part: say(0.4 + 0.6 * part, "Looking at the columns"))
    say(1.0, "Done")
    return replace(reading, columns=tuple(_described(column, table) for column in read))


def _check_coded(table: Tabulated, choices: Choices) -> None:
    """Raises UnreadableFile where a column that is to be read by its codes is called otherwise, which would be read by
    its labels in silence."""
    lacking = [name for name in choices.coded if name not in table.frame.columns]
    if lacking and table.report.container in LABELLED:
        raise UnreadableFile(
            f"The file has no column “{shown(lacking[0])}”, which is to be read by its codes; choose anew which are."
        )


def _left_out_by(table: Tabulated, choices: Choices) -> frozenset[str]:
    """The named columns by whose cells rows are left out as totals and notes: the first; all where there are more than
    two, for then a row that holds one cell alone is a note. "" stands for all where a person said that rows with too
    many cells are set aside."""
    names = [] if table.report.keep_footer else [name for name in table.frame.columns if name not in table.from_rows]
    found = frozenset(names if len(names) > 2 else names[:1])
    return found | {""} if choices.uneven == "set aside" else found


def _looked_at(reading: Reading, say: Callable[[float], None]) -> tuple[ReadColumn, ...]:
    """Its columns as their cells look, by what a person stated of all of them."""
    return read_columns(
        reading.frame,
        reading.lines,
        decimal=reading.stated_decimal,
        order=reading.date_order,
        usual=reading.decimal,
        computed=reading.computed,
        commas=reading.report.delimiter == ",",
        say=say,
    )


def done(reading: Reading, steps: tuple[Step, ...], fits: Fits | None = None) -> Reading:
    """``reading`` with its rows as these steps leave them, its columns not looked at anew. See ``Reading.after``.

    Rows without anything in them are left out before the first one, which would write into them.
    """
    frame, lines, places, records = reading.frame, reading.lines, reading.places, reading.records
    if steps and (empty := blank_rows(reading.in_public_columns)).any():
        frame, lines, places = frame[~empty].reset_index(drop=True), lines[~empty], places[~empty]
    named, computed = reading.named_by_rows, reading.computed
    names = frozenset(frame.columns) if named else reading.from_rows
    brought = Brought(names=names, loose=reading.from_rows, open=named)
    notices = list(reading.report.notices)
    for step in steps:
        frame, brought = brought.ready(frame, step)
        look = _looks(fits, frame)
        if fits is not None:
            fits(step.size(frame, look))
        worked = step.apply(frame, lines, look)
        frame, brought = brought.after(step, frame, worked)
        lines = worked.lines
        computed = (computed | ({step.name} if isinstance(step, OneRowPer) else set())).intersection(frame.columns)
        places, records = worked.places(places, records)
        if fits is not None:
            fits(Size.of(frame))
        notices.append(Notice(what="repaired", sentence=step.sentence))
        if beyond := worked.frame.shape[1] - frame.shape[1]:
            notices.append(Notice(what="set aside", sentence=_BEYOND, count=beyond))
    return replace(
        reading,
        frame=frame,
        report=replace(reading.report, rows=len(frame), notices=tuple(notices)),
        lines=lines,
        places=places,
        records=records,
        key=hashlib.sha256(f"{reading.key}{steps!r}".encode()).hexdigest(),
        together=puts_rows_together(steps),
        left_out_by=left_out_by(steps, reading.left_out_by),
        from_rows=brought.loose,
        kept=0,
        computed=computed,
    )


def _looks(fits: Fits | None, frame: pd.DataFrame) -> Look:
    """While a table that is there is worked on: ``fits`` is asked about it once more."""
    if fits is None:
        return lambda: None
    return partial(fits, Size.of(frame))


def _after(reading: Reading, steps: tuple[Step, ...], stated: frozenset[str], fits: Fits | None) -> Reading:
    named = _naming(reading, stated, steps, fits, in_order=reading.report.objects != "columns")
    if not steps:
        return named
    after = _naming(done(named, steps, fits), stated, steps, fits)  # of what a step used up nothing is left
    look = _looks(fits, after.frame)
    columns = (
        replace(column, suggestion=replace(column.suggestion, from_file=column.name in after.from_rows))
        for column in _looked_at(after, lambda _: look())
    )
    return replace(after, columns=tuple(columns))


def _naming(
    reading: Reading, stated: frozenset[str], steps: tuple[Step, ...], fits: Fits | None, *, in_order: bool = False
) -> Reading:
    """With a column without a value for each that is ``stated`` and no row names, behind the others or in order."""
    here = reading.frame
    lacking = sorted(name for name in stated - set(here.columns) if reading.could_hold(name, steps))
    if not lacking:
        return replace(reading, stated=stated, key=_key_of(reading, stated))
    if fits is not None:
        fits(Size.of(here).beside(Size.expected(reading.rows, [0] * len(lacking))))
    nothing = pd.DataFrame("", index=here.index, columns=lacking, dtype=here.dtypes.iloc[0])
    looks = {one.name: one for one in (*reading.columns, *_looked_at(replace(reading, frame=nothing), lambda _: None))}
    names = [*map(str, here.columns), *lacking]
    if in_order:
        names.sort(key=alphabetical)
    frame = pd.concat([here, nothing], axis=1)[names]
    return replace(
        reading,
        frame=frame,
        columns=tuple(looks[name] for name in frame.columns if name in looks),
        stated=stated,
        key=_key_of(reading, stated),
    )


def _key_of(reading: Reading, stated: frozenset[str]) -> str:
    return hashlib.sha256(f"{reading.key}{sorted(stated)!r}".encode()).hexdigest() if stated else reading.key


def _described(column: ReadColumn, table: Tabulated) -> ReadColumn:
    """With what the file itself says about the column: its description, and the labels of its values."""
    if column.name in table.from_rows:
        return replace(column, suggestion=replace(column.suggestion, from_file=True))
    codebook, about = table.codebooks.get(column.name, ()), table.about.get(column.name, "")
    if not codebook and not about:
        return column
    suggestion = replace(column.suggestion, about=about)
    reason = column.reason
    if codebook and column.type in ("text", "category"):
        suggestion = replace(suggestion, type="category")
        reason = f"The file's own codebook names {len(codebook)} options."
    return replace(column, suggestion=suggestion, codebook=codebook, reason=reason)


_ENDINGS: dict[Container, tuple[str, ...]] = {
    "text": ("csv", "tsv", "txt", "tab", "dat", "data", "asc"),
    "workbook": ("xlsx", "xlsm", "xls", "ods"),
    "json": ("json", "jsonl", "ndjson", "geojson", "txt"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc", "arrows"),
    "transport": ("xpt",),
    "labelled": ("sav", "zsav", "por", "dta", "sas7bdat", "xpt"),
}


def _named(report: Report, name: str) -> Report:
    """Say it where the name of a file promises another kind than it holds."""
    ending = name.rpartition(".")[2].lower()
    promised = next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)
    if "." not in name or promised is None or ending in _ENDINGS.get(report.container, (ending,)):
        return report
    sentence = "The file is of another kind than its name says; what it holds was read."
    return replace(report, notices=(Notice(what="noticed", sentence=sentence), *report.notices))


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
    return data


_TOO_LARGE = f"The file is larger than {LARGEST >> 20} MB; keep fewer rows or columns."
