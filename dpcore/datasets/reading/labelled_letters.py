"""Words of SPSS, Stata and SAS files: each cell and label is decoded by itself, by what the file states for all.

Their reader gives a file up as a whole for one word that it cannot decode. So its bytes are always read one letter
each, which it can, and each word is decoded here: one that cannot be is missing, and no other hangs on it.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any

from dpcore.datasets.reading.labelled_stata import stands_apart, version
from dpcore.errors import UnreadableFile

Decode = Callable[[bytes], str]
"""The word that some bytes are; raises UnicodeDecodeError where they are none."""
_BYTE_BY_BYTE = "ISO-8859-1"
_LAST_OLD_STATA = 117  # later ones are UTF-8
_WIDE = ("UTF-16", "UTF16", "UTF-32", "UTF32", "UCS")
"""Letters of which single bytes are none: no word is cut into bytes by these."""
_OTHERWISE_CALLED = {"BIG-5": "big5", "WINDOWS-936": "cp936"}


def decoder(data: bytes, kind: str, stated: str | None) -> Decode:
    """How the words of a file are written, by the encoding that it has ``stated``.

    One of Stata 13 and before states nothing: Stata wrote these in Windows' letters, others do in UTF-8, and some write
    short words so and long ones so. One of SPSS may lack the records that would. Raises UnreadableFile for an encoding
    that is not known, and for a Stata file of no version.
    """
    if kind == "spss" and not stated:
        return _of_no_encoding
    said = stated or "utf-8"
    if kind == "stata":
        if (version(data) if stands_apart(data) else data[0]) <= _LAST_OLD_STATA:
            return _of_no_encoding
        said = "utf-8"
    elif kind == "transport":
        said = "utf-8"
    try:
        start = codecs.getincrementaldecoder(_OTHERWISE_CALLED.get(said, said))
    except LookupError:
        start = None
    if start is None or said.upper().startswith(_WIDE):
        raise UnreadableFile(
            f"Words in this file are in the encoding {said}, which cannot be read; save it in UTF-8, or as CSV."
        )

    def decode(word: bytes) -> str:
        """Without the last letter, where a program cut the word within it."""
        return start().decode(word.rstrip(b" "))

    return decode


def _of_no_encoding(word: bytes) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return word.decode("cp1252")


def beside(read: Callable[..., Any], file: str, kind: str, **given: Any) -> Any:
    """What a file says beside its rows, to be taken by ``raw``. Raises what ``read`` does."""
    return read(file, metadataonly=True, **_letters(kind), **given)[1]


def rows_of(read: Callable[..., Any], file: str, kind: str, **given: Any) -> list[list[Any]]:
    """The cells of each column, as ``raw``. Raises what ``read`` does."""
    return [[raw(cell, kind) for cell in column] for column in read(file, **_letters(kind), **given)[0].values()]


def raw(cell: Any, kind: str) -> Any:
    """A number, or a word as its bytes; as such in a portable file, which states what each byte is."""
    return cell.encode("latin-1") if isinstance(cell, str) and _letters(kind) else cell


def _letters(kind: str) -> dict[str, str]:
    return {} if kind == "portable" else {"encoding": _BYTE_BY_BYTE}


def decoded(cells: Iterable[Any], decode: Decode) -> tuple[list[Any], int]:
    """Cells with words in place of bytes, those that are none empty; and how many of them there are."""
    words, unreadable = [], 0
    for cell in cells:
        try:
            words.append(decode(cell) if isinstance(cell, bytes) else cell)
        except UnicodeDecodeError:
            words.append("")
            unreadable += 1
    return words, unreadable
