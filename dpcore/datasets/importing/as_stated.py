"""How CSV files are read is stated, or the usual; what the cells suggest instead is asked about, and never taken.

One row can decide what a file suggests for all others: the only number with a comma, the only day above 12. In a folder
whose rows are counted privately that would change every row, and no receipt could say so.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn

from dpcore.datasets.importing.cells import Signs
from dpcore.datasets.reading import Reading
from dpcore.datasets.report import Breaks, ReadColumn
from dpcore.datasets.schema import Column, ColumnType, DateOrder, Decimal
from dpcore.errors import UnreadableFile

ENCODING, DELIMITER, QUOTE, LINE = "utf-8", ",", '"', 1
"""The usual, of what nobody stated; in a column whose type nobody stated is text."""
BREAKS: Breaks = "between"
"""Each line is a row: with a quotation mark too many one person's row would take those after it along."""
DECIMAL: Decimal = "."
ORDER: DateOrder = "ymd"
_NUMBERS = ("integer", "number")


def check_stated(reading: Reading, choices: Mapping[str, object], types: Mapping[str, ColumnType]) -> None:
    """Whether a file that was read with these choices suggests nothing that is neither stated nor usual.

    Raises UnreadableFile, which names the options that state it.
    """
    asked = [*_of_the_form(reading, choices), *_of_the_columns(reading.columns, choices, types)]
    if asked:
        _refuse(asked)


def stated_signs(choices: Mapping[str, object]) -> Signs:
    return Signs(
        delimiter=str(choices.get("delimiter", DELIMITER)),
        quote=str(choices.get("quote", QUOTE)),
        lines_in_cells=choices.get("breaks", BREAKS) == "inside",
    )


def form_stated(choices: Mapping[str, object]) -> dict[str, object]:
    """How the files are read, by what was stated or is usual."""
    usual = {"encoding": ENCODING, "delimiter": DELIMITER, "quote": QUOTE, "header_line": LINE, "breaks": BREAKS}
    return {
        name: choices.get(name, value) for name, value in (usual | {"decimal": DECIMAL, "date_order": ORDER}).items()
    }


def stated_columns(
    names: Iterable[str], choices: Mapping[str, object], types: Mapping[str, ColumnType]
) -> tuple[Column, ...]:
    """As what each column is read: by what was stated alone."""
    decimal: Decimal = "," if choices.get("decimal", DECIMAL) == "," else "."
    order = choices.get("date_order", ORDER)
    one: DateOrder = "dmy" if order == "dmy" else "mdy" if order == "mdy" else "ymd"
    return tuple(Column(name=name, type=types.get(name, "text"), decimal=decimal, date_order=one) for name in names)


def _of_the_form(reading: Reading, choices: Mapping[str, object]) -> Iterator[str]:
    report = reading.report
    if "encoding" not in choices and report.encoding not in ("ascii", ENCODING):
        yield f"--encoding {report.encoding}"
    if "delimiter" not in choices and report.delimiter not in ("", DELIMITER):
        yield _option("--delimiter", ["tab" if report.delimiter == "\t" else report.delimiter])
    if "quote" not in choices and report.quote != QUOTE:
        yield _option("--quote", [report.quote])
    if "header_line" not in choices and report.header_lines[0] != LINE:
        yield f"--header-line {report.header_lines[0]}"


def _of_the_columns(
    found: Iterable[ReadColumn], choices: Mapping[str, object], types: Mapping[str, ColumnType]
) -> Iterator[str]:
    marks: set[Decimal] = set()
    orders: set[DateOrder] = set()
    for column in found:
        ways = [one.column for one in column.readings] or [column.suggestion]
        kinds = list(dict.fromkeys("text" if one.type == "category" else one.type for one in ways))
        if column.name not in types and kinds != ["text"]:
            yield _option("--column", [f"{column.name}={kind}" for kind in kinds])
        told = [types[column.name]] if column.name in types else kinds
        if set(told) & set(_NUMBERS):  # whole numbers without a mark say nothing of it
            marks |= {one.decimal for one in ways if column.readings or one.type == "number" or one.decimal != DECIMAL}
        if "date" in told:  # days that begin with the year are read in every order
            orders |= {one.date_order for one in ways} - {ORDER}
    if "decimal" not in choices and marks - {DECIMAL}:
        yield _option("--decimal", sorted(marks))
    if "date_order" not in choices and orders:
        yield _option("--date-order", sorted(orders))


_STEERS = ("Cc", "Cf", "Zl", "Zp")


def _option(name: str, values: Iterable[str]) -> str:
    return " or ".join(f"{name} {_quoted(value)}" for value in values)


def _quoted(value: str) -> str:
    """For a shell and for a screen: what would steer a terminal is written as its number, as bash and zsh read it."""
    if all(unicodedata.category(one) not in _STEERS for one in value):
        return shlex.quote(value)
    written = (
        f"\\U{ord(one):08x}" if unicodedata.category(one) in _STEERS else f"\\{one}" if one in "\\'" else one
        for one in value
    )
    return f"$'{''.join(written)}'"


def _refuse(asked: Iterable[str]) -> NoReturn:
    raise UnreadableFile(
        "How the file is read must be stated, since one row could decide it for all others; its beginning suggests "
        f"this, which you may state or correct: {' '.join(asked)}"
    )
