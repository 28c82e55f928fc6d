"""XML followed tag by tag in bounded memory, the way the library that reads workbooks sees it.

Patterns over the bytes would not do: they miss spellings that the library takes, and some take time that grows with
the square of the text.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import IO
from xml.parsers import expat
from zipfile import BadZipFile

from dpcore.datasets.reading.no_memory import check_memory
from dpcore.errors import UnreadableFile

DAMAGED = "The workbook cannot be opened: it is damaged or of a kind that cannot be read; save it again or as CSV."
_PART = 1 << 20
_MOST_NAMES = 10_000  # of tags and attributes; each is kept
Start = Callable[[str, dict[str, str]], None]


def follow(
    opened: IO[bytes],
    start: Start,
    end: Callable[[str], None] | None = None,
    parser: expat.XMLParserType | None = None,
    turn: Callable[[], None] = lambda: None,
) -> None:
    """Call ``start`` and ``end`` for each tag, as it is spelt, and ``turn`` after each piece, which may raise.

    Raises UnreadableFile for what is not well-formed, declares a document type or entities, or holds a tag of more
    than a megabyte: scanned anew with each piece, it would take the square of its length.
    """
    parser = parser or new_parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    fed = 0
    try:
        while piece := opened.read(_PART):
            parser.Parse(piece, False)
            fed += len(piece)
            if fed - parser.CurrentByteIndex > _PART or len(parser.intern) > _MOST_NAMES:
                raise UnreadableFile(DAMAGED)
            turn()
        parser.Parse(b"", True)
    except (expat.ExpatError, BadZipFile, zlib.error, EOFError, ValueError) as error:
        check_memory(error)
        raise UnreadableFile(DAMAGED) from None


def new_parser() -> expat.XMLParserType:
    """One that takes the bytes as UTF-8 whatever they declare, as the library does, and no document type."""
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
    return parser


def _refuse(*_: object) -> None:
    raise UnreadableFile(DAMAGED)


class LocalNames(dict[str, str]):
    """Names of tags without the prefix of their namespace."""

    def __missing__(self, tag: str) -> str:
        local = self[tag] = tag.rpartition(":")[2]
        return local
