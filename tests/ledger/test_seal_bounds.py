"""A report that is brought to be checked is looked at in little memory, whatever it is and whatever it unpacks to.

It is read in the server itself, and anybody may bring one.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import re
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from dashboard.budget import receipts
from dashboard.words import report as report_words
from dpcore.errors import InvalidArgument
from dpcore.ledger import seal

KEY, OTHER = b"k" * 32, b"j" * 32
CHARGES = ("ab" * 32, "cd" * 32)
BLANK = b"epsilon-lab-seal  " + b"0" * 64
SMALL = 4 << 20
"""Bytes beyond the file's own that may be taken."""


def package(parts: dict[str, bytes], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packed, compresslevel=9) as made:
        for name, body in parts.items():
            made.writestr(name, body)
    return stream.getvalue()


def taken(data: bytes) -> int:
    """Bytes taken at most while a file is looked at, which is found to be no report of this server."""
    tracemalloc.start()
    try:
        with suppress(InvalidArgument):
            assert seal.read(data, KEY)[1] is False
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


BOMBS: dict[str, Callable[[], bytes]] = {
    "seals without end in a package": lambda: package({"a": BLANK * (48_000_000 // len(BLANK))}),
    "many parts": lambda: package({f"p{place}": bytes(49_000) for place in range(990)}),
    "properties without end": lambda: package({"docProps/core.xml": BLANK * (48_000_000 // len(BLANK))}),
    "seals without end in a page": lambda: b"<p>" + BLANK * (19_000_000 // len(BLANK)),
    "seals without end in a PDF": lambda: b"%PDF" + BLANK * (19_000_000 // len(BLANK)),
    "charges without end": lambda: b"<p>epsilon-lab-seal " + b"0123456789abcdef," * 1_000_000 + b" " + b"0" * 64,
    "blanks without end": lambda: b"<p>" + b" " * 19_000_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_nothing_is_held_a_second_time(name: str) -> None:
    data = BOMBS[name]()
    assert len(data) < seal.LARGEST
    assert seal.is_document(data)
    assert taken(data) < SMALL


@pytest.mark.parametrize("packed", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_what_holds_a_seal_is_not_packed(packed: int) -> None:
    """Nothing is unpacked; and a document sealed over its parts alone, as once, is not confirmed."""
    with pytest.raises(InvalidArgument, match="carries no seal"):
        seal.read(package({"a": b"x", "docProps/core.xml": BLANK}, packed), KEY)


def test_what_is_larger_than_a_page_takes_is_not_looked_at() -> None:
    with pytest.raises(InvalidArgument, match="too large"):
        seal.read(b"%PDF" + bytes(seal.LARGEST), KEY)


# -- as it always was --------------------------------------------------------------------------------------------------


def as_before(data: bytes, key: bytes) -> tuple[tuple[str, ...], bool]:
    """All at once: what earlier versions said of a file."""
    found = list(re.finditer(rb"epsilon-lab-seal ([0-9a-f,]*) ([0-9a-f]{64})", data))[-1]
    blank = data[: found.start(2)] + b"0" * 64 + data[found.end(2) :]
    words = tuple(one for one in found.group(1).decode().split(",") if len(one) == 16)
    return words, hmac.new(key, blank, hashlib.sha256).hexdigest().encode() == found.group(2)


CORE = b"<cp:coreProperties><dc:title>x</dc:title></cp:coreProperties>"
DOCX = package({"z.xml": b"<z/>" * 9, "docProps/core.xml": CORE, "\u00e9.xml": BLANK, "empty": b""})
FILES = {
    "page": b"  <html><p>epsilon-lab-seal  " + b"1" * 64 + b"</p></html>\n",
    "pdf": b"%PDF-1.7\nbody",
}


@pytest.mark.parametrize("kind", FILES)
def test_seals_of_earlier_versions_are_the_same(kind: str) -> None:
    made = seal.sealed(FILES[kind], CHARGES, KEY)
    assert as_before(made, KEY) == seal.read(made, KEY) == (tuple(one[:16] for one in CHARGES), True)
    assert as_before(made, OTHER) == seal.read(made, OTHER) == (tuple(one[:16] for one in CHARGES), False)


def unchanged(data: bytes) -> bool:
    with suppress(InvalidArgument):
        return seal.read(data, KEY)[1]
    return False


def changed(data: bytes) -> Iterator[bytes]:
    """With one byte another, with bytes before, behind and anywhere between, with one less, and packed anew."""
    for at in range(len(data)):
        yield data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    for at in range(0, len(data) + 1, 7):
        yield data[:at] + b"<p>forged</p>" + data[at:]
        yield data[:at] + data[at + 1 :]
    yield b"PK<!doctype html><p>forged</p><!--" + data
    yield data + data
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            yield package({name: parts.read(name) for name in reversed(parts.namelist())}, zipfile.ZIP_STORED)


@pytest.mark.parametrize("data", [*FILES.values(), DOCX, package({"docProps/core.xml": CORE})])
def test_what_is_confirmed_is_under_the_seal_wholly(data: bytes) -> None:
    made = seal.sealed(data, CHARGES, KEY)
    assert seal.read(made, KEY) == (tuple(one[:16] for one in CHARGES), True)
    assert not seal.read(made, OTHER)[1]
    assert [one for one in changed(made) if one != made and unchanged(one)] == []
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(made)) as parts:  # check sums and all
            assert parts.testzip() is None
            assert b"<dc:identifier>epsilon-lab-seal abab" in parts.read("docProps/core.xml")


def test_the_check_finds_a_seal_over_less_than_all(monkeypatch) -> None:
    code = seal._code
    monkeypatch.setattr(seal, "_code", lambda data, key, digits, sums: code(data[digits - 20 : digits], key, 20, ()))
    made = seal.sealed(DOCX, CHARGES, KEY)
    assert any(unchanged(one) for one in changed(made))


def test_these_tests_can_fail() -> None:
    """As it was: unpacked, joined, copied, and every seal in it kept."""
    data = BOMBS["seals without end in a page"]()
    tracemalloc.start()
    try:
        as_before(data[:4_000_000], KEY)
        assert tracemalloc.get_traced_memory()[1] > SMALL
    finally:
        tracemalloc.stop()


class Unread(bytes):
    """A file in which nothing may be looked for but its beginning."""

    def startswith(self, *_: object) -> bool:
        raise AssertionError("it is looked at")


def test_a_file_that_is_too_large_is_told_so_before_it_is_looked_at() -> None:
    assert receipts.checked(Unread(seal.LARGEST + 1)) == report_words.TOO_LARGE
    with pytest.raises(AssertionError, match="looked at"):
        receipts.checked(Unread(seal.LARGEST))


def test_a_web_page_is_looked_for_where_it_begins() -> None:
    assert seal.is_document(b"\n <html>")
    assert not seal.is_document(b" " * seal._START + b"<html>")
