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
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dpcore.errors import InvalidArgument
from dpcore.ledger.receipt import Receipt

WORD = "epsilon-lab-seal"
LARGEST = 50_000_000
_MOST_PARTS = 1000
"""Bytes of a file that is looked at, and of what it unpacks to."""
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
        return _with_property(data, blank.decode().replace(_BLANK.decode(), _mac(_parts(whole), key)))
    ends = _ends(data)
    whole = data + ends[0] + blank + ends[1]
    return data + ends[0] + blank.replace(_BLANK, _mac(whole, key).encode()) + ends[1]


def read(data: bytes, key: bytes) -> tuple[tuple[str, ...], bool]:
    """The charges a file names, by how their hashes begin, and whether it is as it was sealed.

    Raises InvalidArgument for a file without a seal, one that is too large, or none of the kinds that carry one.
    """
    if len(data) > LARGEST:
        raise InvalidArgument("file", "is too large to be a report")
    try:
        whole = _parts(data) if data.startswith(b"PK") else data
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError):
        raise InvalidArgument("file", "is a damaged document") from None
    found = list(_SEAL.finditer(whole))
    if not found:
        raise InvalidArgument("file", NO_SEAL)
    seal = found[-1]
    blank = whole[: seal.start(2)] + _BLANK + whole[seal.end(2) :]
    same = hmac.compare_digest(_mac(blank, key).encode(), seal.group(2))
    words = tuple(one for one in seal.group(1).decode().split(",") if len(one) == _DIGITS)
    return words[:MOST], same


def is_document(data: bytes) -> bool:
    """Whether it is a PDF, a DOCX or a web page, rather than the text of a receipt."""
    return data.startswith((b"%PDF", b"PK")) or data.lstrip()[:1] == b"<"


def _mac(whole: bytes, key: bytes) -> str:
    return hmac.new(key, whole, hashlib.sha256).hexdigest()


def _ends(data: bytes) -> tuple[bytes, bytes]:
    """A comment of the format around the seal. Raises InvalidArgument."""
    if data.startswith(b"%PDF"):
        return b"\n%", b"\n"
    if data.lstrip()[:1] == b"<":
        return b"<!-- ", b" -->\n"
    raise InvalidArgument("file", "must be a PDF, a DOCX or a web page")


def _parts(package: bytes) -> bytes:
    """The names and contents of a package's parts, whatever their order and packing. Raises InvalidArgument."""
    if package.count(b"PK\x01\x02") > _MOST_PARTS:  # each is looked up before anything is known of the package
        raise InvalidArgument("file", "has too many parts to be a report")
    with zipfile.ZipFile(io.BytesIO(package)) as parts:
        names = sorted(parts.namelist())
        if len(set(names)) != len(names):
            raise InvalidArgument("file", "is a damaged document")
        pieces, left = [], LARGEST
        for name in names:
            info = parts.getinfo(name)
            info.file_size = left + 2  # to its true end, whatever the package states
            with parts.open(info) as opened:
                body = opened.read(left + 1)
            left -= len(body)
            if left < 0:
                raise InvalidArgument("file", "unpacks to too much to be a report")
            pieces.append((name.encode(), body))
    # the properties last, so that what they hold comes after whatever the text says
    pieces.sort(key=lambda piece: (piece[0] == _PROPERTIES.encode(), piece[0]))
    return b"".join(
        str(len(name)).encode() + b":" + name + str(len(body)).encode() + b":" + body for name, body in pieces
    )


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
