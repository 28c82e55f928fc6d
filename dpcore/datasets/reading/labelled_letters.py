"""Rows of SPSS, Stata and SAS of which a cell holds bytes that its file's encoding does not have.

Their reader gives such a file up as a whole. Then its bytes are read one letter each, which is always possible, and
every cell is decoded by itself: one that cannot be is missing, and no other cell hangs on it. So that all others read
as before this is done in encodings alone in which Python and that reader agree about every byte.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

_BYTE_BY_BYTE = "ISO-8859-1"
_ALIKE = frozenset(
    codecs.lookup(name).name
    for name in ("utf-8", "ascii", "latin-1", "iso8859-2", "iso8859-15", "cp1250", "cp1251", "cp1252", "cp1254")
)
_LAST_OLD_STATA = 117  # later ones are UTF-8


def encoding_of(data: bytes, kind: str, meta: Any) -> str | None:
    """In which encoding a file's words are, by what it says itself; None for one in which cells are not told apart."""
    said = meta.file_encoding
    if kind == "stata":
        version = int(data[28:31]) if data.startswith(b"<stata_dta>") else data[0]
        said = "cp1252" if version <= _LAST_OLD_STATA else "utf-8"
    elif kind == "transport":
        said = "utf-8"
    try:
        name = codecs.lookup(said or "").name
    except LookupError:
        return None
    return name if name in _ALIKE else None


def rows_of(
    read: Callable[..., Any], file: str, encoding: str | None, **given: Any
) -> tuple[list[list[Any]], list[int]]:
    """The cells of each column, and in how many of them were bytes that the file's encoding does not have.

    Raises what ``read`` does.
    """
    from pyreadstat import ReadstatError

    try:
        columns = [list(values) for values in read(file, **given)[0].values()]
    except (ReadstatError, UnicodeDecodeError) as error:
        if encoding is None or not (isinstance(error, UnicodeDecodeError) or "invalid byte" in str(error)):
            raise
        found = [_decoded(values, encoding) for values in read(file, **given, encoding=_BYTE_BY_BYTE)[0].values()]
        return [values for values, _ in found], [unreadable for _, unreadable in found]
    return columns, [0] * len(columns)


def _decoded(values: Any, encoding: str) -> tuple[list[Any], int]:
    cells, unreadable = [], 0
    for value in values:
        try:
            cells.append(_word(value, encoding) if isinstance(value, str) else value)
        except UnicodeDecodeError:
            cells.append("")
            unreadable += 1
    return cells, unreadable


def _word(letters: str, encoding: str) -> str:
    """A word whose bytes stand as a letter each; one that a program cut within its last letter, without that letter."""
    if letters.isascii():
        return letters
    return codecs.getincrementaldecoder(encoding)().decode(letters.rstrip(" ").encode("latin-1"))
