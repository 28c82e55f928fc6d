"""Cells of sheets that hold what the library that reads workbooks knows no value for: it refuses all rows for one.

Each is written as one that holds nothing before the library is asked, so that it is missing in its row.
"""

from __future__ import annotations

import io
import re
import zipfile
from array import array
from typing import IO

ERROR_NAMES = frozenset(("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"))
"""Errors of Excel that the library knows by name; newer programs write others, such as #CALC! and #SPILL!."""
NOT_AVAILABLE = 0x2A
ERROR_CODES = frozenset((0x00, 0x07, 0x0F, 0x17, 0x1D, 0x24, NOT_AVAILABLE, 0x2B))
"""Those of an old workbook; the first is #N/A."""
TEXTS = frozenset({None, "str", "inlineStr", "is", "d"})
"""Kinds of cells of a newer Excel sheet whose text the library takes as it is; None is that of one that names none."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_PART = 1 << 20


def is_number(text: str) -> bool:
    """Whether a text of a workbook's XML is a number, without anything around it."""
    return _NUMBER.fullmatch(text) is not None


def is_known(kind: str | None, text: str, strings: int) -> bool:
    """Whether the library knows what a cell of a newer Excel sheet holds, by its ``t``, which is none of ``TEXTS``, and
    the text of its ``v``; ``strings`` is how many shared ones the workbook has."""
    if kind == "s":
        return (is_count(text) and int(text) < strings) or not text
    if kind == "n":
        return is_number(text) or not text
    if kind == "e":
        return text in ERROR_NAMES or not text
    return kind == "b" and text.lower() in ("", "0", "1", "true", "false")


def is_count(text: str) -> bool:
    """Whether a text is a whole number from 0 to 99,999,999 in plain digits."""
    return len(text) < 9 and text.isascii() and text.isdigit()


def mended(data: bytes, part: str, places: array[int], text: bytes) -> bytes:
    """An archive in which ``text`` stands at places of one part: from which byte up to which, one pair after another,
    in their order."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, True, 1) as new:
        for name in old.namelist():
            with old.open(name) as source, new.open(name, "w") as target:
                at, pairs = 0, iter(places if name == part else ())
                for start, end in zip(pairs, pairs, strict=True):
                    _copy(source, target, start - at)
                    target.write(text)
                    source.seek(end)
                    at = end
                _copy(source, target, None)
    return made.getvalue()


def _copy(source: IO[bytes], target: IO[bytes], size: int | None) -> None:
    """So many bytes, or all there are, in pieces: a part may be larger than the memory."""
    while size != 0 and (piece := source.read(_PART if size is None else min(size, _PART))):
        target.write(piece)
        size = None if size is None else size - len(piece)
