"""What kind of file it is, from its first bytes and never from its name."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Literal

from dpcore.datasets.reading.decoding import beginning_by
from dpcore.errors import UnreadableFile

Kind = Literal[
    "text", "json", "parquet", "arrow", "arrow stream", "zip", "gzip", "bzip2", "xz", "ole", "spss", "portable",
    "stata", "sas", "transport",
]  # fmt: skip

_ASK = "open it in the program it comes from and save the table as CSV"
_READ: tuple[tuple[bytes, Kind], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow stream"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    (b"\x00" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00", "sas"),
    (b"HEADER RECORD*******LIB", "transport"),
)
_REFUSED = (
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"FEA1", "a Feather file of the first version"),
    (b"\x89HDF", "an HDF5 file"),
    (b"RDX", "an R data file"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
)
_MARKUP = re.compile(rb"\s*<(?:!doctype|html|head|body|table|\?xml|svg|!--)", re.IGNORECASE)
_JSON_LINE = re.compile(r"""\[\s*(?:["\[{\]\-0-9tfnNI]|$)|\{\s*(?:["}]|$)""")
"""How a line begins that can be the first of a JSON document of rows."""
# Stata before version 13: the release, the byte order (1 or 2), file type 1 and a zero.
_OLD_STATA = re.compile(rb"[\x68\x69\x6c\x6e\x6f\x71-\x73][\x01\x02]\x01\x00")
_START = 4096
_PIECE = 1 << 20
_NOTHING_ON_LINES = re.compile(r"\A(?:[ \t\n]++|null(?=[ \t]*+(?:\n|\Z)))*+")
_NOTHING = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"


def kind_of(data: bytes, encoding: str | None = None) -> Kind:
    """The kind of a file that can be read, told from its bytes, or those of a text in this ``encoding``. Raises
    UnreadableFile, naming the kind, for others."""
    if not data[:_START].strip(_NOTHING) and not data.strip(_NOTHING):
        raise UnreadableFile("The file is empty.")
    if data[:4] == b"PAR1":
        if data[-4:] != b"PAR1":
            raise UnreadableFile("This is a Parquet file that breaks off before its end; copy it again.")
        return "parquet"
    if data[257:262] == b"ustar":
        raise UnreadableFile("This is a tar archive, not a table; unpack it and save the table as CSV.")
    for magic, kind in _READ:
        if data.startswith(magic):
            return kind
    if _OLD_STATA.match(data):
        return "stata"
    if b"ASCII SPSS PORT FILE" in data[:500]:
        return "portable"
    for magic, what in _REFUSED:
        if data.startswith(magic):
            raise UnreadableFile(f"This is {what}, not a table; {_ASK}.")
    start = data[:_START].removeprefix(b"\xef\xbb\xbf")
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        start = start[2:].replace(b"\x00", b"")
    if _MARKUP.match(start):
        raise UnreadableFile(f"This is a web page or XML document, not a table; {_ASK}.")
    return _kind_of_text(data, encoding)


def _kind_of_text(data: bytes, encoding: str | None) -> Kind:
    """JSON by its first sign alone, however its first row goes on, which must not make text of the others; nor must a
    row in front of them that is none, so that the next line is looked at too. Whoever reads JSON says what is wrong."""
    lines = _begun(data, encoding)
    first = next(lines, "")
    return "json" if first == "null" or first[:1] in ("[", "{") or _JSON_LINE.match(next(lines, "")) else "text"


def _begun(data: bytes, encoding: str | None) -> Iterator[str]:
    """How the first line begins, and each below it that holds more than null; a piece of the text is held at once."""
    text = io.TextIOWrapper(io.BytesIO(data), beginning_by(data, encoding), "replace")
    rest, first, inside, more = text.read(1).removeprefix("\ufeff"), True, False, True
    while more:
        piece = text.read(_PIECE)
        rest, more = rest + piece, bool(piece)
        while rest:
            if inside:
                rest = "".join(rest.partition("\n")[1:])
                inside = not rest
            empty = _NOTHING_ON_LINES.match(rest)
            if empty is not None:
                rest = rest[empty.end() :]
                if first and "null" in empty[0]:
                    yield "null"
            if not rest or (more and len(rest) < _START):
                break
            yield rest[:_START].partition("\n")[0].strip()
            first, inside = False, True
