"""What a person may decide about reading a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dpcore.datasets.reading.bounds import MOST_COLUMNS
from dpcore.datasets.reading.decoding import known
from dpcore.datasets.report import Breaks, Escape, Merged, Objects, Returns
from dpcore.datasets.schema import DateOrder, Decimal
from dpcore.errors import InvalidArgument
from dpcore.validate import boolean, one_of, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a person may decide instead of the guess; None leaves it to the guess. Raises InvalidArgument.

    ``delimiter`` is one character, "" for one column, or ``BLANKS`` or ``BLANKS_NAMED`` where blanks are between cells.
    Where it is said, a text that begins as JSON is none. ``encoding`` is a name such as "cp1252". ``quote`` is '"',
    "'", or "" for none; inside a cell it is ``doubled`` or stands behind a ``backslash``, as ``escape`` says.
    Carriage ``returns`` without a line feed stand "in cells", as blanks, or "at ends" of lines, where line feeds
    are blanks. Line ``breaks`` stand "inside" cells in quotation marks too, or "between" rows alone: then a line on
    which a mark stays open or has text behind it, or a backslash that means more than itself stands before what ends a
    cell, holds nothing.
    ``header_rows`` (0 to 2) lines name the columns, from line ``header_line`` on; where none does there are ``columns``
    of them. ``decimal`` and ``date_order`` hold for every column, whatever its cells show; but where cells can be
    numbers already, as in a sheet, ``decimal`` is for columns that show none. ``keep_footer`` says whether lines that
    look like totals or notes are rows; where nothing is said those at the foot are none, and the report asks.
    ``merged`` says in which of its rows a cell of a sheet that is merged over several holds its value. ``objects`` says
    how a JSON document that is an object holds its rows: as a list of objects, each under a name, or each name as a
    column. ``coded`` are the columns of a file of SPSS, Stata or SAS that are read by their codes, labelled or not, by
    the names that the table gives them; in all others a labelled value reads as its label.
    ``uneven`` says whether rows with too many cells are set aside or, beyond one in a hundred, refused. ``part`` names
    the sheet of a workbook, or the file of a zip archive.
    """

    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    escape: Escape | None = None
    header_rows: int | None = None
    header_line: int | None = None
    columns: int | None = None
    decimal: Decimal | None = None
    date_order: DateOrder | None = None
    keep_footer: bool | None = None
    returns: Returns | None = None
    breaks: Breaks | None = None
    merged: Merged | None = None
    objects: Objects | None = None
    coded: tuple[str, ...] = ()
    uneven: Literal["refuse", "set aside"] = "refuse"
    part: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            known(self.encoding)
        if self.header_rows is not None:
            whole(0, 2, header_rows=self.header_rows)
        if self.header_line is not None:
            whole(1, header_line=self.header_line)
        if self.columns is not None:
            whole(1, MOST_COLUMNS, columns=self.columns)
        if self.quote is not None:
            one_of(('"', "'", ""), quote=self.quote)
        if self.escape is not None:
            one_of(get_args(Escape), escape=self.escape)
        if self.keep_footer is not None:
            boolean(keep_footer=self.keep_footer)
        if self.returns is not None:
            one_of(get_args(Returns), returns=self.returns)
        if self.breaks is not None:
            one_of(get_args(Breaks), breaks=self.breaks)
        if self.merged is not None:
            one_of(get_args(Merged), merged=self.merged)
        if self.objects is not None:
            one_of(get_args(Objects), objects=self.objects)
        if not isinstance(self.coded, tuple | list) or not all(isinstance(name, str) for name in self.coded):
            raise InvalidArgument("coded", "must be names of columns")
        object.__setattr__(self, "coded", tuple(sorted(set(self.coded))))  # in whatever order, it is one choice
        if self.decimal is not None:
            one_of((".", ","), decimal=self.decimal)
        if self.date_order is not None:
            one_of(("ymd", "dmy", "mdy"), date_order=self.date_order)
        one_of(("refuse", "set aside"), uneven=self.uneven)
