"""What kind of file it is, from its first bytes and never from its name."""

from __future__ import annotations

import re

from dpcore.errors import UnreadableFile

_ASK = "open it in the program it comes from and save the table as CSV"
_MAGIC = (
    (b"PK\x03\x04", "an Excel workbook or another zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook or another Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"FEA1", "a Feather file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"RDX", "an R data file"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
)
_MARKUP = re.compile(rb"\s*<(?:!doctype|html|head|body|table|\?xml|svg|!--)", re.IGNORECASE)
_JSON = re.compile(rb'\s*(?:\{\s*"|\[\s*[\[{])')
_START = 4096
_NOTHING = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"


def is_parquet(data: bytes) -> bool:
    return data[:4] == b"PAR1" and data[-4:] == b"PAR1"


def refuse_other_kinds(data: bytes) -> None:
    """Raises UnreadableFile, naming the kind, for anything that is not text or Parquet. Archives are never unpacked."""
    if not data[:_START].strip(_NOTHING) and not data.strip(_NOTHING):
        raise UnreadableFile("The file is empty.")
    if data[:4] == b"PAR1" and not is_parquet(data):
        raise UnreadableFile("This is a Parquet file that breaks off before its end; copy it again.")
    if data[257:262] == b"ustar":
        raise UnreadableFile("This is a tar archive, not a table; unpack it and save the table as CSV.")
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise UnreadableFile(f"This is {kind}, not a CSV file; {_ASK}.")
    start = data[:_START].removeprefix(b"\xef\xbb\xbf")
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        start = start[2:].replace(b"\x00", b"")
    if _MARKUP.match(start):
        raise UnreadableFile(f"This is a web page or XML document, not a CSV file; {_ASK}.")
    if _JSON.match(start):
        raise UnreadableFile(f"This is a JSON document, not a CSV file; {_ASK}.")
