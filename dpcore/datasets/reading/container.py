"""What kind of file it is, from its bytes and never from its name.

Of a text the first bytes, or those at some place, are one person's cell: so no letters make another kind of it, but a
byte at its place that no text has, a checksum, or both ends of the file.
"""

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
_NONE = r"[\x00-\x08\x0e-\x1a\x1c-\x1f]"
"""A byte that is no letter in any text."""
READ: tuple[tuple[str, Kind], ...] = (
    (r"PK\x03\x04", "zip"),
    (r"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (r"\x1f\x8b", "gzip"),
    (r"BZh[1-9](?:1AY&SY.{4}[\x00-\x07]|\x17rE8P\x90)", "bzip2"),  # where its first block begins, below 900,000
    (r"\xfd7zXZ\x00", "xz"),
    (r"ARROW1\x00\x00", "arrow"),
    (rf"\xff{{4}}.{{0,3}}?{_NONE}", "arrow stream"),  # how long its schema is
    (r"\$FL[23].{60}(?:[\x02\x03]\x00{3}|\x00{3}[\x02\x03])", "spss"),
    (rf"<stata_dta><header><release>[0-9]+</release><byteorder>[A-Z]+</byteorder><K>.{{0,3}}?{_NONE}", "stata"),
    # before version 13: the release, the byte order, file type 1 and a zero
    (r"[\x68\x69\x6c\x6e\x6f\x71-\x73][\x01\x02]\x01\x00", "stata"),
    (r"\x00{12}\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00", "sas"),
    (r"HEADER RECORD\*{7}LIB.{537}HEADER RECORD\*{7}NAM.{57}\x00[\x01\x02]", "transport"),  # its first column
)
REFUSED = (
    (r"PK\x05\x06", "an empty zip archive"),
    (rf"\x28\xb5\x2f\xfd.{{0,16}}?{_NONE}", "a zstd archive"),  # how long its first block is
    (r"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (r"Rar!\x1a\x07", "a rar archive"),
    (r"\x89PNG\r\n\x1a\n", "a picture"),
    (rf"\xff\xd8\xff.{{0,8}}?{_NONE}", "a picture"),
    (rf"GIF8[79]a.{{0,6}}?{_NONE}", "a picture"),  # how wide and high it is
    (r"SQLite format 3\x00", "a SQLite database"),
    (r"FEA1\x00", "a Feather file of the first version"),
    (r"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (r"RDX[23]\nX\n\x00", "an R data file"),
    (r"\x80\x04\x95", "a Python pickle"),
    (r"\x7fELF[\x01\x02]", "a program"),
    (r"MZ\x90\x00", "a program"),
)
WRITTEN_IN_LETTERS = (
    (r"%PDF-[0-9].*%%EOF\s*", "a PDF document"),
    (r"\{\\rtf.*\}[\s\x00]*", "an RTF document"),
)
"""Of these the beginning and the end."""


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.DOTALL)


_READ = tuple((_compiled(pattern), kind) for pattern, kind in READ)
_REFUSED = tuple((_compiled(pattern), what) for pattern, what in REFUSED)
_WRITTEN_IN_LETTERS = tuple((_compiled(pattern), what) for pattern, what in WRITTEN_IN_LETTERS)
_MARKUP = re.compile(rb"\s*<(?:!doctype|html|head|body|table|\?xml|svg|!--)", re.IGNORECASE)
_JSON_LINE = re.compile(r"""\[\s*(?:["\[{\]\-0-9tfnNI]|$)|\{\s*(?:["}]|$)""")
"""How a line begins that can be the first of a JSON document of rows."""
_START = 4096
_PIECE = 1 << 20
_NOTHING_ON_LINES = re.compile(r"\A(?:[ \t\n]++|null(?=[ \t]*+(?:\n|\Z)))*+")
_NOTHING = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"


def kind_of(data: bytes, encoding: str | None = None, *, is_text: bool = False) -> Kind:
    """The kind of a file that can be read, told from its bytes, or those of a text in this ``encoding``. Where a person
    stated that it ``is_text``, what is written in letters alone is no other kind. Raises UnreadableFile, naming the
    kind, for others."""
    if not data[:_START].strip(_NOTHING) and not data.strip(_NOTHING):
        raise UnreadableFile("The file is empty.")
    if data[:5] == b"PAR1\x15":  # how its first page begins
        if data[-4:] != b"PAR1":
            raise UnreadableFile("This is a Parquet file that breaks off before its end; copy it again.")
        return "parquet"
    if _is_tar(data):
        raise UnreadableFile("This is a tar archive, not a table; unpack it and save the table as CSV.")
    for pattern, kind in _READ:
        if pattern.match(data):
            return kind
    for pattern, what in _REFUSED:
        if pattern.match(data):
            raise UnreadableFile(f"This is {what}, not a table; {_ASK}.")
    return "text" if is_text else _kind_of_letters(data, encoding)


def _is_tar(data: bytes) -> bool:
    """Whether its head, in which a checksum counts as eight blanks, is one of a tar archive."""
    told = data[148:156].strip(b" \x00")
    octal = data[257:262] == b"ustar" and told.isdigit() and b"8" not in told and b"9" not in told
    return octal and int(told, 8) == sum(data[:148]) + sum(b" " * 8) + sum(data[156:512])


def _is_portable(data: bytes) -> bool:
    """Whether it begins as SPSS' portable files: lines of 80 signs, the second name of its kind in 40 on the first, and
    behind names and letters, on the sixth, its mark."""
    lines = b"".join(line[:80].ljust(80) for line in data[:_START].splitlines())
    return lines[40:60] == b"ASCII SPSS PORT FILE" and lines[456:464] == b"SPSSPORT"


def _kind_of_letters(data: bytes, encoding: str | None) -> Kind:
    if _is_portable(data):
        return "portable"
    ends = data[:_START] + data[-_START:] if len(data) > 2 * _START else data
    for pattern, what in _WRITTEN_IN_LETTERS:
        if pattern.fullmatch(ends):
            raise UnreadableFile(f"This is {what}, not a table; {_ASK}.")
    start = data[:_START].removeprefix(b"\xef\xbb\xbf")
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        start = start[2:].replace(b"\x00", b"")
    if _MARKUP.match(start) and data[-_START:].rstrip(_NOTHING).endswith(b">"):
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
