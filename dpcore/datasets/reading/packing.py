"""One table out of an archive, never unpacked further than its bounds allow."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Literal

from dpcore.datasets.reading.container import kind_of
from dpcore.datasets.reading.no_memory import check_memory
from dpcore.datasets.reading.zip_heads import check_heads, most_parts
from dpcore.errors import UnreadableFile

MOST_UNPACKED = 200 << 20
_MOST_RATIO = 200  # tables pack to a tenth or so; a thousandth is a bomb
_SMALL = 8 << 20  # nothing this small is a bomb
_LZMA_MEMORY = 128 << 20
_PART = 1 << 20
_LOCKED = "The file is locked with a password; save it without one and choose it again."
_OTHERWISE = "The archive is packed in a way that cannot be read; pack it as plain zip."
_ENDINGS = ("csv", "tsv", "txt", "tab", "dat", "json", "jsonl", "ndjson", "parquet", "xlsx", "xlsm", "xls", "ods",
            "sav", "zsav", "dta", "sas7bdat", "xpt", "por", "arrow", "feather")  # fmt: skip
_MOST_MEMBERS = 10_000
_OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
Packed = Literal["zip", "gzip", "bzip2", "xz"]
Workbook = Literal["xlsx", "ods"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """The bytes of one file of an archive, its name there ("" when it has none), and its neighbours'."""

    data: bytes
    name: str = ""
    names: tuple[str, ...] = ()


def workbook_kind(data: bytes) -> Workbook | None:
    """Which kind of workbook a zip archive is, or None. Raises UnreadableFile for other documents of offices."""
    with _archive(data) as archive:
        names = set(archive.namelist())
        if "xl/workbook.xml" in names:
            return "xlsx"
        if "xl/workbook.bin" in names:
            raise UnreadableFile("This is a binary Excel workbook; save it as .xlsx and choose it again.")
        for folder, what in (("word/", "a Word document"), ("ppt/", "a presentation")):
            if any(name.startswith(folder) for name in names):
                raise UnreadableFile(f"This is {what}, not a table; save the table as CSV.")
        if "mimetype" in names and "content.xml" in names:
            if _beginning(archive, "mimetype", 100).startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
                if b"encryption-data" in _beginning(archive, "META-INF/manifest.xml", _PART):
                    raise UnreadableFile(_LOCKED)
                return "ods"
            raise UnreadableFile("This is a text or drawing of an office program, not a table; save the table as CSV.")
    return None


def check_members(data: bytes, most: int) -> None:
    """Unpack every part of a workbook into nothing, counting: sizes that an archive states can lie.

    Raises UnreadableFile when they unpack to more than ``most`` bytes in all, or not at all, and for an archive whose
    parts are not as its list says.
    """
    total = 0
    with _archive(data) as archive:
        check_heads(data, archive)
        for info in archive.infolist():
            with _member(archive, info, most) as opened:
                while part := _read(opened, _PART, "workbook"):
                    total += len(part)
                    if total > most:
                        raise UnreadableFile(
                            f"The workbook unpacks to more than {most >> 20} MB; save the one sheet as CSV."
                        )


def unpacked(data: bytes, kind: Packed, chosen: str | None, *, most: int = MOST_UNPACKED) -> Unpacked:
    """The table in a gzip, bzip2, xz or zip archive; ``chosen`` names the file of a zip.

    Raises UnreadableFile, as soon as it is more than ``most`` bytes.
    """
    if kind == "zip":
        return _from_zip(data, chosen, most)
    if kind == "xz":
        _check_lzma(data)
    with _OPENERS[kind](io.BytesIO(data)) as opened:
        inner = _bounded(opened, len(data), kind, most)
    _check_inner(inner)
    return Unpacked(data=inner)


def _from_zip(data: bytes, chosen: str | None, most: int) -> Unpacked:
    with _archive(data) as archive:
        files = [info for info in archive.infolist() if not info.is_dir() and not _is_clutter(info.filename)]
        tables = [info for info in files if info.filename.rpartition(".")[2].lower() in _ENDINGS]
        among = tables or files
        if not among:
            raise UnreadableFile("The archive holds no file.")
        names = tuple(info.filename for info in among)
        if chosen is not None and chosen not in names:
            raise UnreadableFile("The archive has no file of that name; choose one that is in it.")
        info = among[0] if chosen is None else among[names.index(chosen)]
        if info.flag_bits & 1:
            raise UnreadableFile(_LOCKED)
        with _member(archive, info, most) as opened:
            inner = _bounded(opened, max(info.compress_size, 1), "zip", most)
    _check_inner(inner)
    return Unpacked(data=inner, name=info.filename, names=names)


def _is_clutter(name: str) -> bool:
    """What computers put into archives unasked."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _check_inner(data: bytes) -> None:
    kind = kind_of(data, is_text=True)  # whoever reads it is told what a person stated
    if kind in ("gzip", "bzip2", "xz") or (kind == "zip" and workbook_kind(data) is None):
        raise UnreadableFile("This is an archive inside an archive; unpack it and choose the table itself.")


def _archive(data: bytes) -> zipfile.ZipFile:
    if most_parts(data) > _MOST_MEMBERS:  # each is looked up in Python before anything is known of the archive
        raise UnreadableFile("The archive holds far more files than a table needs; choose the table itself.")
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except NotImplementedError:  # it asks for a newer reader
        raise UnreadableFile(_OTHERWISE) from None
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        check_memory(error)
        raise UnreadableFile(
            "The archive cannot be opened: it breaks off or is damaged; copy it again, or save the table as CSV."
        ) from None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> IO[bytes]:
    """A part of the archive, read on to its true end whatever size the archive states for it."""
    info.file_size = most + 1
    try:
        return archive.open(info)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        check_memory(error)
        raise UnreadableFile(_OTHERWISE) from None
    except RuntimeError:  # after NotImplementedError, which is one
        raise UnreadableFile(_LOCKED) from None


def _beginning(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """The first bytes of a part of the archive; none of one that it does not have."""
    if name not in archive.namelist():
        return b""
    with _member(archive, archive.getinfo(name), MOST_UNPACKED) as opened:
        return _read(opened, size, "workbook")


def _bounded(opened: IO[bytes], packed: int, kind: Packed, most: int) -> bytes:
    """All of an archive's content, given up as soon as it is too much."""
    parts, total = [], 0
    while part := _read(opened, _PART, f"{kind} archive"):
        parts.append(part)
        total += len(part)
        if total > most:
            raise UnreadableFile(f"The archive unpacks to more than {most >> 20} MB; keep fewer rows or columns.")
        if total > _SMALL and total > _MOST_RATIO * packed:
            raise UnreadableFile("The archive unpacks to far more than a table would; save the table itself.")
    return b"".join(parts)


def _read(opened: IO[bytes], size: int, what: str) -> bytes:
    try:
        return opened.read(size)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError) as error:
        check_memory(error)
        raise UnreadableFile(f"This {what} breaks off or is damaged; copy it again.") from None


def _check_lzma(data: bytes) -> None:
    """Refuse streams that ask for more memory than any table needs."""
    try:
        lzma.LZMADecompressor(memlimit=_LZMA_MEMORY).decompress(data, max_length=1)
    except lzma.LZMAError:
        raise UnreadableFile("This xz archive breaks off, is damaged or asks for too much memory.") from None
