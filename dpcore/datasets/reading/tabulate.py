"""From a text file or the rows of a sheet to a frame: decoding, dialect, two readers, layout, uneven rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from dpcore.datasets.matching import blank_rows
from dpcore.datasets.reading import bulk, columns, decided, engine, layout, spacing
from dpcore.datasets.reading import dialect as dialects
from dpcore.datasets.reading.bounds import MOST_COLUMNS, check_size
from dpcore.datasets.reading.columns import Columns
from dpcore.datasets.reading.decoding import Decoded, decode
from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.layout import Layout
from dpcore.datasets.reading.lines_apart import lines_apart, narrowed
from dpcore.datasets.reading.scanning import WholeUntil
from dpcore.datasets.reading.survey import WIDEST, Survey, check_agreement, survey
from dpcore.datasets.reading.whole_lines import beginning
from dpcore.datasets.reading.workbook import Sheet
from dpcore.datasets.report import (
    BLANKS,
    BLANKS_NAMED,
    Alternative,
    Breaks,
    Escape,
    Merged,
    Notice,
    Report,
    Returns,
    What,
    listed,
)
from dpcore.errors import UnreadableFile
from dpcore.validate import BoolArray, IntArray

_BEARABLE = 0.01
_SPACED = (BLANKS, BLANKS_NAMED)
_OTHER_SHEET = "choose another one of the workbook"
_UNCLEAR = (
    "Lines of which it is not clear where their cells end, as where a quotation mark stays open or has text behind it,"
)
_Say = Callable[[float, str], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tabulated:
    """Rows of text under their names, the line each starts on, and the report.

    ``codebooks`` hold labels that the file itself declares for a column's values, ``about`` its descriptions.
    ``places`` says which of the ``records`` of the file, those set aside as blank or too long too, each row is; None
    where none was set aside. ``kept`` is how many bytes stay in memory for as long as its cells do, where they lie in
    what another process wrote. ``from_rows`` are the columns that exist only because rows fill them.
    """

    frame: pd.DataFrame
    lines: IntArray
    report: Report
    codebooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    places: IntArray | None = None
    records: int | None = None
    kept: int = 0
    from_rows: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Body:
    frame: pd.DataFrame
    lines: IntArray
    columns: Columns
    header_lines: tuple[int, ...]
    notices: tuple[Notice, ...]
    alternatives: tuple[Alternative, ...]
    places: IntArray
    records: int
    line: int
    spilled: int
    cells: int

    @property
    def first_line(self) -> int:
        """Where the data start: on the first line of the table where none names the columns, whatever it holds."""
        if not self.header_lines:
            return self.line
        return int(self.lines[0]) if self.lines.size else self.header_lines[-1] + 1

    @property
    def unnamed(self) -> int:
        """How many columns there are where no line names them."""
        return 0 if self.header_lines else len(self.columns.labels)

    def tabulated(self, report: Report) -> Tabulated:
        return Tabulated(
            frame=self.frame,
            lines=self.lines,
            report=report,
            places=self.places,
            records=self.records,
            from_rows=self.columns.loose,
        )


def tabulate(
    raw: bytes,
    *,
    delimiter: str | None,
    encoding: str | None,
    quote: str | None,
    escape: Escape | None,
    header_rows: int | None,
    header_line: int | None,
    columns: int | None,
    keep_footer: bool | None,
    returns: Returns | None,
    breaks: Breaks | None,
    uneven: bool,
    say: _Say,
) -> Tabulated:
    """Raises UnreadableFile. The arguments are those of ``Choices``."""
    say(0.02, "Finding the encoding")
    decoded = decode(raw, encoding, returns)
    declared, skipped = dialects.declared(decoded.data)
    if delimiter is not None or header_rows == 0:
        declared, skipped = None, 0  # nothing is left for such a line to say: it is a row as any other
    data = decoded.data[skipped:]
    if not beginning(data).strip() and not data.strip():
        raise UnreadableFile("The file is empty.")
    say(0.05, "Finding the delimiter")
    way, spaces = delimiter if delimiter in _SPACED else None, list[Notice]()
    dialect = _dialect(data, declared if delimiter is None or way is not None else delimiter, quote)
    if not dialect.delimiter and delimiter is None:
        way = spacing.found(data)
    if way is not None:
        data, spaces = spacing.tabbed(data, way)
        dialect = _dialect(data, "\t", quote)
    if escape == "backslash" and dialect.quote:
        dialect = replace(dialect, escape="\\")
    first_line, opened = 2 if skipped else 1, np.zeros(0, dtype=np.int64)
    if breaks == "between":
        dialect, data, opened = _apart(data, dialect, first_line, escape)
    with bulk.Ahead(data, dialect) as ahead:
        dialect, seen = _surveyed(data, dialect, first_line, escape, ahead.whole_until, say)
        found = layout.find(seen, header_rows=header_rows, header_line=header_line, keep_footer=keep_footer)
        _check_width(found, seen, columns)
        say(0.2, "Reading the cells")
        read = _cells(data, dialect, seen, ahead, first_line, lambda part: say(0.2 + 0.15 * part, "Reading the cells"))
    say(0.35, "Checking the rows")
    about = [*decoded.notices, *spaces, *_about_dialect(dialect, declared), *_about_lines(seen, found)]
    if opened.size:
        about.append(_aside(_UNCLEAR, opened))
    body = _assembled(read.frame, seen, found, columns, uneven)
    report = Report(
        container="text",
        rows=len(body.frame),
        delimiter=way or dialect.delimiter,
        delimiter_certain=dialect.certain,
        encoding=decoded.encoding,
        encoding_certain=decoded.certain,
        header_lines=body.header_lines,
        header_certain=found.certain,
        header_stated=header_rows == 0 or None not in (header_rows, header_line),
        first_line=body.first_line,
        columns=body.unnamed,
        spilled=opened.size + body.spilled,
        cells=body.cells,
        quote=dialect.quote,
        escape=decided.escape_of(dialect),
        keep_footer=found.end == seen.counts.size and found.keeps is not False,
        foot_guessed=found.keeps is None,
        returns=decoded.returns,
        breaks="between" if breaks == "between" else "inside",
        notices=(*about, *body.notices),
        alternatives=(
            *_of_encoding(decoded, body.header_lines),
            *dialect.alternatives,
            *(
                decided.of_delimiter(data, dialect, seen, found, way, first_line)
                if delimiter is declared is None
                else ()
            ),
            *(decided.of_mark(data, dialect) if quote is None else ()),
            *(decided.of_escape(data, dialect) if escape is None else ()),
            *(decided.of_breaks(data, dialect, seen, first_line) if breaks is None else ()),
            *body.alternatives,
        ),
    )
    return body.tabulated(report)


def _of_encoding(decoded: Decoded, header_lines: tuple[int, ...]) -> tuple[Alternative, ...]:
    """Not asked where a mark told it that stands before the names of the columns, which are no row's."""
    named = decoded.marked and header_lines[:1] == (1,)
    return tuple(one for one in decoded.alternatives if not (named and one.argument == "encoding"))


def tabulate_sheet(
    sheet: Sheet,
    *,
    header_rows: int | None,
    header_line: int | None,
    columns: int | None,
    keep_footer: bool | None,
    merged: Merged | None,
) -> Tabulated:
    """A sheet's rows by the same rules as a text file's lines; ``lines`` are its row numbers. Raises UnreadableFile."""
    seen = sheet.survey
    if not len(sheet.frame):
        raise UnreadableFile(f"The sheet is empty; {_OTHER_SHEET}." if len(sheet.names) > 1 else "The sheet is empty.")
    found = layout.find(seen, header_rows=header_rows, header_line=header_line, keep_footer=keep_footer)
    _check_width(found, seen, columns)
    filled = _filled_rows(sheet, found)
    if merged == "first":
        sheet = replace(sheet, frame=_emptied(sheet, filled))
    body = _assembled(sheet.frame, seen, found, columns, uneven=False, sheet=sheet)
    others = [] if sheet.certain else [name for name in sheet.names if name != sheet.name]
    report = Report(
        container="workbook",
        rows=len(body.frame),
        delimiter="",
        delimiter_certain=True,
        encoding="utf-8",
        encoding_certain=True,
        header_lines=body.header_lines,
        header_certain=found.certain,
        header_stated=header_rows == 0 or None not in (header_rows, header_line),
        first_line=body.first_line,
        columns=body.unnamed,
        keep_footer=found.end == seen.counts.size and found.keeps is not False,
        foot_guessed=found.keeps is None,
        merged=merged or "each",
        part=sheet.name,
        notices=(
            *_about_merged(sheet, merged),
            *sheet.notices,
            *_about_beyond(seen),
            *_about_lines(seen, found),
            *body.notices,
        ),
        alternatives=(
            *(
                Alternative(argument="part", value=name, example="")
                for name in ([sheet.name, *others] if others else [])
            ),
            *(decided.of_merged(sheet, filled) if merged is None else ()),
            *body.alternatives,
        ),
    )
    return body.tabulated(report)


def _filled_rows(sheet: Sheet, found: Layout) -> dict[int, list[int]]:
    """Below the heading, by their numbers: rows with cells that were filled with the value above them."""
    heading = int(sheet.survey.lines[found.start - 1]) if found.start else 0
    return {line: places for line, places in sheet.merged.items() if places and line > heading}


def _emptied(sheet: Sheet, filled: dict[int, list[int]]) -> pd.DataFrame:
    """The frame with the value of merged cells in the first of their rows alone. A row that has no other stays, as one
    without anything in it."""
    rows: dict[int, list[int]] = {}
    for row, line in enumerate(sheet.survey.lines.tolist()):
        for column in filled.get(line, ()):
            rows.setdefault(column, []).append(row)
    frame = sheet.frame.copy()
    for column, here in rows.items():
        frame.iloc[here, column] = ""
    return frame


def _about_merged(sheet: Sheet, merged: Merged | None) -> tuple[Notice, ...]:
    count = sum(map(len, sheet.merged.values()))
    if not count or merged == "first":
        return ()
    return (
        Notice(
            what="repaired",
            sentence="Cells merged over several rows were filled with their value in each of them.",
            count=count,
            lines=listed(sorted(line for line, places in sheet.merged.items() if places)),
        ),
    )


def _dialect(data: bytes, chosen: str | None, quote: str | None) -> Dialect:
    sample = beginning(data).decode("utf-8", "ignore")
    if chosen is not None:
        mark = dialects.likely_quote(sample) if quote is None else quote
        return Dialect(delimiter=dialects.checked(chosen), quote=mark, escape=mark)
    return dialects.find(sample, lambda: _sniffed(_narrow(sample)), quote)


def _narrow(sample: str) -> str:
    """Without the lines of more cells than are read: for one of many thousands DuckDB's sniffer finds no room, and any
    other number of them in one row is no reason to take another delimiter."""
    return "\n".join(line for line in sample.split("\n") if max(map(line.count, dialects.DELIMITERS)) <= WIDEST)


def _sniffed(sample: str) -> str | None:
    return engine.sniffed_delimiter(sample.encode()) if sample.strip() else None


def _surveyed(
    data: bytes, dialect: Dialect, first_line: int, escape: Escape | None, whole_until: WholeUntil | None, say: _Say
) -> tuple[Dialect, Survey]:
    """The survey; when quotation marks do not work out doubled, with backslashes before them, unless it was said."""

    def part(done: float) -> None:
        say(0.05 + 0.15 * done, "Finding the rows")

    try:
        return dialect, survey(data, dialect, first_line, part, whole_until)
    except UnreadableFile:
        if escape is not None or not dialect.quote or f"\\{dialect.quote}".encode() not in data:
            raise
        escaped = replace(dialect, escape="\\")
        return escaped, survey(data, escaped, first_line, part)


def _apart(data: bytes, dialect: Dialect, first_line: int, escape: Escape | None) -> tuple[Dialect, bytes, IntArray]:
    """``lines_apart`` where the file is not plain, or any mark stays open, by the way in which marks are written inside
    cells."""
    if not dialect.quote or not any(sign.encode() in data for sign in (dialect.quote, dialect.escape)):
        return dialect, data, np.zeros(0, dtype=np.int64)
    try:
        dialect, seen = _surveyed(data, dialect, first_line, escape, None, lambda done, doing: None)
    except UnreadableFile:  # where one is open to the end
        pass
    else:
        if seen.cuts is not None and seen.over_lines is None:
            return dialect, data, np.zeros(0, dtype=np.int64)
    return dialect, *lines_apart(data, dialect, first_line)


def _cells(
    data: bytes, dialect: Dialect, seen: Survey, ahead: bulk.Ahead, first_line: int, say: Callable[[float], None]
) -> engine.Cells:
    """By Arrow where the file is plain and even, else by DuckDB; without those of a record of too many, or one row
    could refuse the file. Raises UnreadableFile."""
    if seen.beyond:
        data = narrowed(data, dialect, seen, first_line)
        seen = replace(seen, counts=np.where(seen.counts > WIDEST, 1, seen.counts))
    width = int(seen.counts.max())
    even = width > 1 and not seen.blank.size and int(seen.counts.min()) == width
    read = ahead.cells(seen, width, say) if even else None
    if read is None:
        read = engine.cells(data, dialect, width, even=even, say=say)
        check_agreement(seen, read)
    return read


def _check_width(found: Layout, seen: Survey, columns: int | None) -> None:
    """Raises UnreadableFile for more names of columns than can be read; where none has a name and nobody stated how
    many there are, for rows that have more as a rule."""
    named = (max(len(seen.head[place]), seen.beyond.get(place, 0)) for place in found.header)
    usual = max(seen.beyond.values()) if 2 * len(seen.beyond) > seen.counts.size else found.width
    check_size(0, max(named, default=columns or usual))


def _assembled(
    wide: pd.DataFrame,
    seen: Survey,
    found: Layout,
    width: int | None,
    uneven: bool,
    sheet: Sheet | None = None,
) -> _Body:
    """The rows below the heading. ``width`` is how many columns there are, as stated, where no line names them."""
    notices: list[Notice] = []
    spilled = 0
    if sheet is not None and not found.header:
        wide = sheet.from_the_first_column
    body = slice(found.start, found.end)
    frame, lines, counts = wide.iloc[body].reset_index(drop=True), seen.lines[body], seen.counts[body]
    table = _columns(frame, wide, seen, found, width, sheet)
    frame = _without(frame, table.index)
    overflows = counts > WIDEST
    keep = np.ones(len(frame), dtype=bool) if table.single else overflows | ~blank_rows(frame)
    if not keep.all():
        notices.append(_aside("Rows without anything in them", lines[~keep]))
    if table.most is not None:
        extra = keep & (counts > table.most) & (overflows | ~blank_rows(frame.iloc[:, table.most :]))
        _refuse_uneven(extra, keep, lines, counts, seen, found, table.most, uneven)
        keep &= ~extra
        spilled = int(extra.sum())
        if spilled:
            texts = tuple(" ".join(row) for row in frame[extra].head(20).itertuples(index=False))
            notices.append(_aside("Rows with more cells than the heading", lines[extra], texts))
        short = keep & (counts < table.most - _left_out(table))
        if short.any():
            filled_up = "Rows with fewer cells than the heading were filled up with missing cells."
            notices.append(_about("repaired", filled_up, lines[short]))
    alternatives = decided.of_beginning(seen, found)
    if not found.keeps:
        named = [place for name, place in zip(table.labels, table.places, strict=True) if name not in table.loose]
        cells = frame.iloc[:, [place for place in named if place < frame.shape[1]]]
        whole = table.most or len(named)
        told = keep & layout.left_out(cells, counts if sheet is None else None, len(named), whole)
        texts = tuple(" ".join(filter(None, row)) for row in frame[told].head(20).itertuples(index=False))
        if found.keeps is None:
            alternatives += decided.of_foot(seen, found, texts)
        elif texts:
            notices.append(_aside("Totals or notes", lines[told], texts))
            keep &= ~told
    if sheet is None and not table.single:
        wider, others = _uneven(counts, keep, table)
        spilled += others + _beside(frame, keep, table)
        if wider.any():
            more = "Rows with an empty cell more than others at their end were kept."
            notices.append(_about("noticed", more, lines[wider]))
    header_lines = tuple(int(seen.lines[place]) for place in found.header)
    each_width = counts if sheet is None else np.full(len(frame), len(table.labels))
    if not found.header and width is None:
        alternatives += decided.of_width(frame, each_width, len(table.labels))
    frame = _taken(frame, keep, table)
    # in a text an empty line is a record without anything in it, in a sheet one between others is
    last = math.inf if sheet is None else int(lines[-1]) if lines.size else 0
    top = max(header_lines, default=found.line - 1)
    empty = seen.blank[(seen.blank > top) & (seen.blank < last)]
    places = np.arange(lines.size)
    if empty.size:
        places += np.searchsorted(empty, lines)
    return _Body(
        frame=frame,
        lines=lines if keep.all() else lines[keep],
        columns=table,
        header_lines=header_lines,
        notices=(*notices, *table.notices),
        alternatives=alternatives,
        places=places if keep.all() else places[keep],
        records=int(lines.size + empty.size),
        line=found.line,
        spilled=spilled,
        cells=int(np.bincount(counts[keep]).argmax()) if keep.any() else table.most or 0,
    )


def _columns(
    frame: pd.DataFrame, wide: pd.DataFrame, seen: Survey, found: Layout, width: int | None, sheet: Sheet | None
) -> Columns:
    def filled(place: int) -> bool:
        return bool((frame.iloc[:, place].str.strip() != "").any())

    lines = tuple(int(seen.lines[place]) for place in found.header)
    if found.header and sheet is None:
        return columns.of_lines([seen.head[place] for place in found.header], lines, filled)
    if found.header:
        rows = wide.iloc[list(found.header)].itertuples(index=False, name=None)
        return columns.of_cells([list(row) for row in rows], lines, filled)
    if width is None:
        width = found.width if sheet is None else wide.shape[1]
        while width > 1 and not filled(width - 1):
            width -= 1
    return columns.numbered(width, too_many=sheet is None)


def _without(frame: pd.DataFrame, places: tuple[int, ...]) -> pd.DataFrame:
    """The rows with nothing at these places."""
    found = frame.copy(deep=False)
    for place in places:
        found.isetitem(place, pd.Series("", index=frame.index, dtype=frame.dtypes.iloc[0]))
    return found


def _uneven(counts: IntArray, keep: BoolArray, table: Columns) -> tuple[BoolArray, int]:
    """Rows with nothing but empty cells beyond the columns where not all have them, and how many rows have another
    number of cells than most: in some of those a comma that somebody wrote into a cell moved all others."""
    many = np.bincount(counts[keep])
    if np.count_nonzero(many) <= 1:
        return np.zeros(len(keep), dtype=bool), 0
    beyond = math.inf if table.most is None else table.most
    return keep & (counts > beyond), int(many.sum() - many.max())


def _beside(frame: pd.DataFrame, keep: BoolArray, table: Columns) -> int:
    """How many rows end elsewhere than most right of the last name: programs fill lines up with empty cells, the
    heading too, once one of them has a comma too many. What most hold there, as who wrote them, hides no comma."""
    last = max(place for name, place in zip(table.labels, table.places, strict=True) if name not in table.loose)
    ends = np.zeros(len(frame), dtype=np.int64)
    for place in range(last + 1, frame.shape[1]):
        ends[~blank_rows(frame.iloc[:, [place]])] = place
    many = np.bincount(ends[keep], minlength=1)
    return int(many.sum() - many.max())


def _left_out(table: Columns) -> int:
    """Nameless places at the right that are no columns: a row without them lacks nothing."""
    return (table.most or 0) - (table.places[-1] + 1)


def _taken(frame: pd.DataFrame, keep: BoolArray, table: Columns) -> pd.DataFrame:
    """The rows that are kept, under their names; cells that no row has are missing."""
    lacking = range(frame.shape[1], table.places[-1] + 1)
    if lacking:
        frame = frame.assign(**{str(place): "" for place in lacking}).astype(frame.dtypes.iloc[0])
    places = list(table.places)
    frame = frame.iloc[:, places] if keep.all() else frame.iloc[keep, places].reset_index(drop=True)
    frame.columns = pd.Index(table.labels)
    return frame


def _about_beyond(seen: Survey) -> tuple[Notice, ...]:
    """Of a sheet, whose rows are read without the cells that are too many."""
    what = f"Cells beyond the first {MOST_COLUMNS} columns"
    return (_aside(what, seen.lines[list(seen.beyond)]),) if seen.beyond else ()


def _about_dialect(dialect: Dialect, declared: str | None) -> list[Notice]:
    notices = []
    if declared is not None:
        notices.append(Notice(what="noticed", sentence="The first line names the delimiter.", count=1, lines=(1,)))
    if dialect.escape == "\\":
        notices.append(Notice(what="noticed", sentence="Quotation marks inside cells follow a backslash."))
    return notices


def _about_lines(seen: Survey, found: Layout) -> list[Notice]:
    notices = []
    if seen.blank.size:
        notices.append(_aside("Empty lines", seen.blank))
    title = seen.lines[: found.header[0] if found.header else found.start]
    if title.size:
        texts = tuple(" ".join(record) for record in seen.head[: title.size])
        notices.append(_aside("Lines above the table", title, texts))
    foot = seen.lines[found.end :]
    if foot.size:
        texts = tuple(" ".join(record) for record in seen.tail[-foot.size :])
        notices.append(_aside("Totals or notes at the foot", foot, texts))
    return notices


def _aside(what: str, lines: IntArray, texts: tuple[str, ...] = ()) -> Notice:
    return replace(_about("set aside", f"{what} were set aside.", lines), texts=texts[:20])


def _about(what: What, sentence: str, lines: IntArray) -> Notice:
    return Notice(what=what, sentence=sentence, count=int(lines.size), lines=listed(lines.tolist()))


def _refuse_uneven(
    extra: BoolArray,
    keep: BoolArray,
    lines: IntArray,
    counts: IntArray,
    seen: Survey,
    found: Layout,
    most: int,
    uneven: bool,
) -> None:
    """Too many rows with too many cells are a sign of a wrong delimiter, of commas that should be quoted, or where
    most have as many, of a name that is missing; which one cannot be told."""
    if extra.sum() <= _BEARABLE * keep.sum() or (uneven and not extra[keep].all()):
        return
    if found.header and most < found.width:
        raise UnreadableFile(
            f"The heading on line {int(seen.lines[found.header[0]]):,} has {most} names but the rows have "
            f"{found.width} cells; add the missing names, or check for decimal commas or text with delimiters in it."
        )
    first, others = int(np.argmax(extra)), int(extra.sum()) - 1
    more = f", and {others:,} other rows have too many as well" if others else ""
    raise UnreadableFile(
        f"Line {lines[first]:,} has {counts[first]:,} cells where the table has {most} columns{more}; "
        "check for decimal commas or text with delimiters in it."
    )
