"""A file is read in the encodings that the page offers or that can be found in it, and in no other codec of Python's.

Text is decoded where everybody's pages are made: a codec that is slow there, or is no text, must not be asked.
"""

from __future__ import annotations

import codecs
import encodings
import pkgutil
from collections.abc import Callable
from encodings.aliases import aliases

import pytest

from dashboard.data import understood
from dpcore.datasets import read_table
from dpcore.datasets.reading import decoding
from dpcore.errors import InvalidArgument

EVERY = sorted({each.name for each in pkgutil.iter_modules(encodings.__path__)} | set(aliases) | set(aliases.values()))
STRANGE = ("", "../os", "klingon", "utf-8\x00", "\ud800", "cp1252 ", "x" * 100_000, 8, ("utf-8",))


def taken(known: Callable[[str], str]) -> set[str]:
    """The codecs of Python that are asked, by whatever name."""
    found = set()
    for name in EVERY:
        try:
            found.add(codecs.lookup(known(name)).name)
        except (InvalidArgument, LookupError):
            continue
    return found


def as_before(name: str) -> str:
    return codecs.lookup(name).name


def test_of_all_codecs_of_python_only_those_of_tables_are_taken() -> None:
    allowed = {codecs.lookup(name).name for name in decoding.ENCODINGS}
    assert len(EVERY) > 300
    assert taken(decoding.known) == allowed
    assert taken(as_before) - allowed >= {"punycode", "idna", "zlib", "base64", "unicode-escape"}, "this test can fail"


def test_a_page_offers_and_names_exactly_those() -> None:
    assert set(understood.ENCODINGS) <= set(decoding.ENCODINGS)
    for name in understood.ENCODINGS:
        assert read_table("a,b\n1,2\n".encode(name), encoding=name).rows == 1


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_none_is_refused_before_python_looks_for_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(codecs, "lookup", asked.append)
    with pytest.raises(InvalidArgument) as caught:
        decoding.decode(b"a,b\n1,2\n", name)
    assert (caught.value.argument, asked) == ("encoding", [])


def test_what_a_guess_finds_can_be_chosen() -> None:
    found = decoding.decode("nom;ville\nBénédicte;Orléans\nNoël;Nîmes\n".encode("cp1252"), None)
    for name in (found.encoding, *(str(each.value) for each in found.alternatives)):
        assert decoding.decode("a;b\né;ü\n".encode(name), name).encoding == name
