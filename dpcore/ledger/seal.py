"""Seals on files that tell of answers: which charges a file names, and whether a byte of it was changed since.

A seal is keyed with the server's secret, so that only a server with this ledger's key can make one. In a PDF and in a
web page it stands behind the end, where readers do not look; in a DOCX among the document's properties, over the
contents of its parts. Hashes of charges are all it names: no data, and no digest of any.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import re
import zipfile
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dpcore.errors import InvalidArgument
from dpcore.ledger.receipt import Receipt

WORD = "epsilon-lab-seal"
LARGEST, UNPACKED = 20 << 20, 50_000_000
"""Bytes of a file that is looked at, and of what it unpacks to; neither is held a second time."""
_MOST_PARTS, _MOST_PROPERTIES, _PIECE = 1000, 1 << 20, 1 << 16
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other ways of packing can take memory without end
MOST = 12
"""Charges that one file can name."""
_DIGITS = 16  # of each charge's hash: enough to find it, short enough that a PDF's end stays near its end
_SEAL = re.compile(rb"epsilon-lab-seal ([0-9a-f,]*) ([0-9a-f]{64})")
_PROPERTIES = "docProps/core.xml"
_BLANK = b"0" * 64
NO_SEAL = "carries no seal of a report; bring it as it was downloaded, or its receipt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found of a file: whether it is ``unchanged``, the receipts of charges it names, and those not known."""

    unchanged: bool
    receipts: tuple[Receipt, ...]
    unknown: tuple[str, ...]


def sealed(data: bytes, charges: Sequence[str], key: bytes) -> bytes:
    """A PDF, DOCX or HTML file with its seal. ``charges`` are hashes of the journal. Raises InvalidArgument."""
    if len(charges) > MOST or any(not re.fullmatch(r"[0-9a-f]{64}", one) for one in charges):
        raise InvalidArgument("charges", f"must be at most {MOST} hashes of the journal")
    named = ",".join(one[:_DIGITS] for one in charges).encode()
    blank = WORD.encode() + b" " + named + b" " + _BLANK
    if data.startswith(b"PK"):
        whole = _with_property(data, blank.decode())
        package = _package(whole, key)
        package.mac.update(package.properties)
        return _with_property(data, blank.decode().replace(_BLANK.decode(), package.mac.hexdigest()))
    ends = _ends(data)
    whole = data + ends[0] + blank + ends[1]
    return data + ends[0] + blank.replace(_BLANK, hmac.new(key, whole, hashlib.sha256).hexdigest().encode()) + ends[1]


def read(data: bytes, key: bytes) -> tuple[tuple[str, ...], bool]:
    """The charges a file names, by how their hashes begin, and whether it is as it was sealed.

    Raises InvalidArgument for a file without a seal, one that is too large, or none of the kinds that carry one.
    """
    if len(data) > LARGEST:
        raise InvalidArgument("file", "is too large to be a report")
    package = _Package(mac=hmac.new(key, digestmod=hashlib.sha256), properties=data)
    if data.startswith(b"PK"):
        try:
            package = _package(data, key)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError):
            raise InvalidArgument("file", "is a damaged document") from None
    # the last one, wherever texts before it look like one
    last = deque(_SEAL.finditer(package.properties), maxlen=1)
    if not last:
        raise InvalidArgument("file", NO_SEAL)
    seal, whole = last[0], memoryview(package.properties)
    for piece in (whole[: seal.start(2)], _BLANK, whole[seal.end(2) :]):
        package.mac.update(piece)
    same = package.honest and hmac.compare_digest(package.mac.hexdigest().encode(), seal.group(2))
    start, end = seal.span(1)
    named = bytes(whole[start : min(end, start + MOST * (_DIGITS + 1))]).decode().split(",")
    words = tuple(one for one in named if len(one) == _DIGITS)[:MOST]
    return words, same


def is_document(data: bytes) -> bool:
    """Whether it is a PDF, a DOCX or a web page, rather than the text of a receipt."""
    return data.startswith((b"%PDF", b"PK")) or _begins_page(data)


def _begins_page(data: bytes) -> bool:
    return re.match(rb"\s*<", data) is not None


def _ends(data: bytes) -> tuple[bytes, bytes]:
    """A comment of the format around the seal. Raises InvalidArgument."""
    if data.startswith(b"%PDF"):
        return b"\n%", b"\n"
    if _begins_page(data):
        return b"<!-- ", b" -->\n"
    raise InvalidArgument("file", "must be a PDF, a DOCX or a web page")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Package:
    """The code over all that comes before the part that holds a seal, and that part. ``honest`` is whether every part
    is as long as the package says."""

    mac: hmac.HMAC
    properties: bytes
    honest: bool = True


def _package(data: bytes, key: bytes) -> _Package:
    """Over names and contents of a package's parts, whatever their order and packing. Raises InvalidArgument.

    The properties come last, so that what they hold comes after whatever the text says. Parts are read piece by piece:
    what a package unpacks to is never held.
    """
    if data.count(b"PK\x01\x02") > _MOST_PARTS:  # each is looked up before anything is known of the package
        raise InvalidArgument("file", "has too many parts to be a report")
    mac, left, honest, properties = hmac.new(key, digestmod=hashlib.sha256), UNPACKED, True, b""
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        names = sorted(parts.namelist(), key=lambda name: (name == _PROPERTIES, name.encode()))
        if len(set(names)) != len(names):
            raise InvalidArgument("file", "is a damaged document")
        for name in names:
            info, size = parts.getinfo(name), 0
            if info.compress_type not in _PACKED:
                raise InvalidArgument("file", "is packed as no report is")
            stated, info.file_size = info.file_size, left + 2  # to its true end, whatever the package states
            mac.update(f"{len(name.encode())}:{name}{stated}:".encode())
            most = min(left, _MOST_PROPERTIES) if name == _PROPERTIES else left
            with parts.open(info) as opened:
                while piece := opened.read(min(_PIECE, most + 1 - size)):
                    size += len(piece)
                    if size > most:
                        raise InvalidArgument("file", "unpacks to too much to be a report")
                    if name == _PROPERTIES:
                        properties += piece
                    else:
                        mac.update(piece)
            left, honest = left - size, honest and size == stated
    return _Package(mac=mac, properties=properties, honest=honest)


def _with_property(package: bytes, seal: str) -> bytes:
    """The package with the seal as its identifier."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as parts, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for info in parts.infolist():
            body = parts.read(info)
            if info.filename == _PROPERTIES:
                told = f"<dc:identifier>{escape(seal)}</dc:identifier></cp:coreProperties>".encode()
                body = body.replace(b"</cp:coreProperties>", told, 1)
            made.writestr(info, body, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
