"""Seals on files that tell of answers: which charges a file names, and whether a byte of it was changed since.

A seal is keyed with the server's secret, so that only a server with this ledger's key can make one. In a PDF and in a
web page it stands behind the end, where readers do not look; in a DOCX among the document's properties. It is over all
bytes of the file, whatever they are to a reader. Hashes of charges are all it names: no data, and no digest of any.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import re
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dpcore.errors import InvalidArgument
from dpcore.ledger.receipt import Receipt

WORD = "epsilon-lab-seal"
LARGEST = 20 << 20
"""Bytes of a file that is looked at; none is held a second time, and nothing is unpacked."""
_START = 4096
"""Bytes in which a web page begins."""
_MOST_PARTS = 1000
MOST = 12
"""Charges that one file can name."""
_DIGITS = 16  # of each charge's hash: enough to find it, short enough that a PDF's end stays near its end
_SEAL = re.compile(rb"epsilon-lab-seal ([0-9a-f,]*) ([0-9a-f]{64})")
_PROPERTIES = "docProps/core.xml"
_BLANK = b"0" * 64
NO_SEAL = "carries no seal of a report; bring it as it was downloaded, or its receipt"
EARLIER = "carries no seal of a report, or one that was not yet over all of it; bring its receipt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found of a file: whether it is ``unchanged``, the receipts of charges it names, and those not known: of
    a file that was changed not known, or not to be seen by whoever asks. Of receipts a page shows no more than a hash,
    which the file has."""

    unchanged: bool
    receipts: tuple[Receipt, ...]
    unknown: tuple[str, ...]
    since: str = ""
    """Of a file that was changed: from when on (UTC) this ledger's seals are by another key than before, by which every
    report from before counts as changed, too; empty where they always were by this one."""


def sealed(data: bytes, charges: Sequence[str], key: bytes) -> bytes:
    """A PDF, DOCX or HTML file with its seal. ``charges`` are hashes of the journal. Raises InvalidArgument."""
    if len(charges) > MOST or any(not re.fullmatch(r"[0-9a-f]{64}", one) for one in charges):
        raise InvalidArgument("charges", f"must be at most {MOST} hashes of the journal")
    named = ",".join(one[:_DIGITS] for one in charges).encode()
    blank = WORD.encode() + b" " + named + b" " + _BLANK
    if data.startswith(b"PK"):
        made = bytearray(_with_property(data, blank.decode()))
        place = _properties(bytes(made))
        digits = made.rindex(_BLANK, place.start, place.end)
        made[digits : digits + len(_BLANK)] = _code(bytes(made), key, digits, place.sums)
        for at in place.sums:
            made[at : at + 4] = place.sum_of(bytes(made))
        return bytes(made)
    ends = _ends(data)
    whole = data + ends[0] + blank + ends[1]
    return data + ends[0] + blank.replace(_BLANK, hmac.new(key, whole, hashlib.sha256).hexdigest().encode()) + ends[1]


def read(data: bytes, key: bytes) -> tuple[tuple[str, ...], bool]:
    """The charges a file names, by how their hashes begin, and whether it is as it was sealed.

    Raises InvalidArgument for a file without a seal, one that is too large, or none of the kinds that carry one.
    """
    if len(data) > LARGEST:
        raise InvalidArgument("file", "is too large to be a report")
    place = _Place(start=0, end=len(data))
    if data.startswith(b"PK"):
        try:
            place = _properties(data)
        except InvalidArgument:
            raise
        except (zipfile.BadZipFile, struct.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError):
            raise InvalidArgument("file", "is a damaged document") from None
    # the last one, wherever texts before it look like one
    last = deque(_SEAL.finditer(data, place.start, place.end), maxlen=1)
    if not last:
        raise InvalidArgument("file", NO_SEAL)
    seal = last[0]
    same = hmac.compare_digest(_code(data, key, seal.start(2), place.sums), seal.group(2))
    same = same and all(data[at : at + 4] == place.sum_of(data) for at in place.sums)
    start, end = seal.span(1)
    named = data[start : min(end, start + MOST * (_DIGITS + 1))].decode().split(",")
    words = tuple(one for one in named if len(one) == _DIGITS)[:MOST]
    return words, same


def is_document(data: bytes) -> bool:
    """Whether it is a PDF, a DOCX or a web page, rather than the text of a receipt."""
    return data.startswith((b"%PDF", b"PK")) or _begins_page(data)


def _begins_page(data: bytes) -> bool:
    return data[:_START].lstrip().startswith(b"<")


def _ends(data: bytes) -> tuple[bytes, bytes]:
    """A comment of the format around the seal. Raises InvalidArgument."""
    if data.startswith(b"%PDF"):
        return b"\n%", b"\n"
    if _begins_page(data):
        return b"<!-- ", b" -->\n"
    raise InvalidArgument("file", "must be a PDF, a DOCX or a web page")


def _code(data: bytes, key: bytes, digits: int, sums: tuple[int, ...]) -> bytes:
    """The code over all bytes of a file, with the digits of its seal, and check sums that hang on them, left blank."""
    mac, whole, at = hmac.new(key, digestmod=hashlib.sha256), memoryview(data), 0
    for place, blank in sorted([(digits, _BLANK), *((one, bytes(4)) for one in sums)]):
        mac.update(whole[at:place])
        mac.update(blank)
        at = place + len(blank)
    mac.update(whole[at:])
    return mac.hexdigest().encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Between which bytes the seal stands, and where a package says the check sum of these."""

    start: int
    end: int
    sums: tuple[int, ...] = ()

    def sum_of(self, data: bytes) -> bytes:
        return zlib.crc32(memoryview(data)[self.start : self.end]).to_bytes(4, "little")


def _properties(data: bytes) -> _Place:
    """Where a package's properties are, which are not packed where they hold a seal. Raises InvalidArgument."""
    if data.count(b"PK\x01\x02") > _MOST_PARTS:  # each is looked up before anything is known of the package
        raise InvalidArgument("file", "has too many parts to be a report")
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        names, line = parts.namelist(), parts.start_dir
        if _PROPERTIES not in names or parts.getinfo(_PROPERTIES).compress_type != zipfile.ZIP_STORED:
            raise InvalidArgument("file", EARLIER)
        if len(set(names)) != len(names):
            raise InvalidArgument("file", "is a damaged document")
        info = parts.getinfo(_PROPERTIES)
    for _ in range(names.index(_PROPERTIES)):
        line += 46 + sum(struct.unpack_from("<HHH", data, line + 28))
    start = info.header_offset + 30 + sum(struct.unpack_from("<HH", data, info.header_offset + 26))
    place = _Place(start=start, end=start + info.file_size, sums=(info.header_offset + 14, line + 16))
    if not 0 <= info.header_offset < start <= place.end <= line:  # what is left blank must not overlap
        raise InvalidArgument("file", "is a damaged document")
    return place


def _with_property(package: bytes, seal: str) -> bytes:
    """The package with the seal as its identifier."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as parts, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for info in parts.infolist():
            body = parts.read(info)
            if info.filename == _PROPERTIES:
                told = f"<dc:identifier>{escape(seal)}</dc:identifier></cp:coreProperties>".encode()
                body = body.replace(b"</cp:coreProperties>", told, 1)
            packed = zipfile.ZIP_STORED if info.filename == _PROPERTIES else zipfile.ZIP_DEFLATED
            made.writestr(info, body, packed)
    return stream.getvalue()
